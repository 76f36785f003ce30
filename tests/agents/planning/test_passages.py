from hypothesis import given
from hypothesis import strategies as st

from agents.planning.passages import Passage, read_passages


def texts(goal: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(passage.text, passage.items) for passage in read_passages(goal)]


def test_a_markdown_list_belongs_to_the_sentence_before_it() -> None:
    assert texts("Check these statements:\n- A is 5.\n- B is 6, and\n  more\n\nThen stop.") == [
        ("Check these statements", ("A is 5.", "B is 6, and more")),
        ("Then stop.", ()),
    ]


def test_marks_of_markdown_are_no_words() -> None:
    goal = "## Goal\n\n> Compare **A** and [B](https://b.example):\n* cost\n* `life`\n```\n"
    assert texts(goal) == [("Goal", ()), ("Compare A and B", ("cost", "`life`"))]


def test_a_numbered_list_inside_a_line_ends_with_its_last_sentence() -> None:
    assert texts("Answer: (1) What is A? (2) What is B? How much? Within 50 words.") == [
        ("Answer", ("What is A?", "What is B? How much?")),
        ("Within 50 words.", ()),
    ]


def test_semicolons_divide_a_list_after_a_colon() -> None:
    assert texts("Find out: what X costs; who runs it; when it opens. Keep it short.") == [
        ("Find out", ("what X costs", "who runs it", "when it opens.")),
        ("Keep it short.", ()),
    ]


def test_a_wrapped_line_goes_on() -> None:
    assert texts("What does the battery\ncost in total?") == [("What does the battery cost in total?", ())]
    wrapped = "请说明东湾污水处理厂提标改造工程中新增的深床滤池占地\n面积是多少？"
    assert texts(wrapped) == [(wrapped.replace("\n", ""), ())]


def test_lines_of_their_own_stay_apart() -> None:
    assert texts("What is A?\nWhat is B?") == [("What is A?", ()), ("What is B?", ())]


def test_the_number_of_an_only_entry_is_no_word() -> None:
    assert texts("Answer: (1) What is A?") == [("Answer", ("What is A?",))]
    assert texts("回答：（1）甲是什么？") == [("回答", ("甲是什么？",))]
    assert texts("回答：1.甲是什么？") == [("回答", ("甲是什么？",))]


def test_numbers_with_dots_and_colons_are_no_list_marks() -> None:
    assert texts("1.1.6 甲的容量是多少？") == [("1.1.6 甲的容量是多少？", ())]
    assert texts("1.5 MW is what share?") == [("1.5 MW is what share?", ())]
    assert texts("Answer: 2.5 MW is what share?") == [("Answer", ("2.5 MW is what share?",))]
    assert texts("1.2023年的收入\n2.2024年的收入") == [("", ("2023年的收入", "2024年的收入"))]
    assert texts("1.甲是什么？\n2.乙是什么？") == [("", ("甲是什么？", "乙是什么？"))]


def test_references_of_plans_are_pulled_apart() -> None:
    assert texts("What does {{n6.claims}} mean?") == [("What does { {n6.claims} } mean?", ())]


def test_invisible_characters_are_left_out() -> None:
    assert texts("What\u200b is\u202e A?\x00") == [("What is A?", ())]


@given(st.text(max_size=200))
def test_any_text_is_read_and_nothing_refers_to_a_port(text: str) -> None:
    for passage in read_passages(text):
        assert isinstance(passage, Passage)
        assert passage.text or passage.items
        assert "{{" not in passage.whole
        assert "}}" not in passage.whole
