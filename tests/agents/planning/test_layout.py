from hypothesis import given
from hypothesis import strategies as st

from agents.planning.layout import MAX_WIDTH, QUESTIONS_PER_NODE, layout


def sizes(count: int) -> list[list[int]]:
    return [[len(node) for node in part] for part in layout(count)]


def test_few_questions_get_a_node_each() -> None:
    assert sizes(1) == [[1]]
    assert sizes(5) == [[1, 1, 1, 1, 1]]


def test_more_questions_share_five_nodes() -> None:
    assert sizes(6) == [[2, 1, 1, 1, 1]]
    assert sizes(12) == [[3, 3, 2, 2, 2]]
    assert sizes(15) == [[3, 3, 3, 3, 3]]


def test_many_questions_make_a_second_level() -> None:
    assert sizes(16) == [[3, 3, 3], [3, 2, 2]]
    assert sizes(75) == [[3] * 5] * 5
    assert sizes(0) == []


@given(st.integers(min_value=1, max_value=400))
def test_every_question_has_its_place_and_no_level_is_too_wide(count: int) -> None:
    parts = layout(count)
    assert [index for part in parts for node in part for index in node] == list(range(count))
    assert len(parts) <= MAX_WIDTH
    assert all(1 <= len(part) <= MAX_WIDTH for part in parts)
    if count <= MAX_WIDTH * MAX_WIDTH * QUESTIONS_PER_NODE:
        assert max(len(node) for part in parts for node in part) <= QUESTIONS_PER_NODE
    # Dealt evenly: no node waits on another that has two questions more.
    lengths = [len(node) for part in parts for node in part]
    assert max(lengths) - min(lengths) <= 1
