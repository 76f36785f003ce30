import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.planning.model.steps import MAX_STEPS_READ, MAX_TEXT, Step, read_steps, text_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["steps", "id", "operation", "title", "after", "questions", "params", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


def test_steps_in_the_form_asked_for_need_no_repair() -> None:
    read = read_steps(
        {
            "steps": [
                {"id": "t1", "operation": "research", "title": "Cost", "questions": ["What does it cost?"]},
                {
                    "id": "t2",
                    "operation": "synthesise",
                    "title": "All",
                    "after": ["t1"],
                    "domains": ["law.tax"],
                },
            ]
        }
    )
    assert read is not None
    assert read.steps == (
        Step(id="t1", operation="research", title="Cost", params={"questions": ["What does it cost?"]}),
        Step(id="t2", operation="synthesise", title="All", after=("t1",), domains=("law.tax",)),
    )
    assert read.repairs == ()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([{"id": "a", "operation": "gather", "title": "T", "topic": "x"}], "a bare list"),
        ({"tasks": [{"id": "a", "operation": "gather", "title": "T", "topic": "x"}]}, "`tasks` for `steps`"),
        ({"steps": {"a": {"operation": "gather", "title": "T", "topic": "x"}}}, "an object for a list"),
        ({"id": "a", "operation": "gather", "title": "T", "topic": "x"}, "one object for a list"),
        ({"steps": [{"id": "a", "op": "gather", "title": "T", "topic": "x"}]}, "`op` for `operation`"),
        (
            {"steps": [{"id": "a", "operation": "Collect", "title": "T", "topic": "x"}]},
            "`collect` for `gather`",
        ),
        (
            {"steps": [{"id": "a", "operation": "gather", "title": "T", "params": {"topic": "x"}}]},
            "`params`",
        ),
    ],
)
def test_another_form_is_read_and_named(data: object, said: str) -> None:
    read = read_steps(data)
    assert read is not None
    assert read.steps == (Step(id="a", operation="gather", title="T", params={"topic": "x"}),)
    assert [(found.kind, found.detail["reason"]) for found in read.repairs] == [("form", said)]


def test_a_number_as_id_and_a_text_for_a_list() -> None:
    read = read_steps(
        {
            "steps": [
                {
                    "id": 3,
                    "operation": "compare",
                    "title": "T",
                    "items": "LFP, NMC，钠电",
                    "aspects": ["cost"],
                    "after": "1、2",
                }
            ]
        }
    )
    assert read is not None
    assert read.steps[0].id == "3"
    assert read.steps[0].texts("items") == ("LFP", "NMC", "钠电")
    assert read.steps[0].after == ("1", "2")


def test_a_question_with_commas_stays_one() -> None:
    read = read_steps(
        {"steps": [{"id": "a", "operation": "research", "title": "", "questions": "Who, and when?"}]}
    )
    assert read is not None
    assert read.steps[0].texts("questions") == ("Who, and when?",)


@pytest.mark.parametrize("data", ["steps", 3, None, {}, {"steps": "t1, t2"}, {"answer": [1]}])
def test_what_holds_no_list_of_steps_is_no_answer(data: object) -> None:
    assert read_steps(data) is None


def test_an_empty_list_is_an_answer_and_an_entry_without_operation_no_step() -> None:
    empty = read_steps({"steps": []})
    assert empty is not None
    assert empty.steps == ()
    read = read_steps({"steps": [{"id": "a", "title": "do it"}, "text", 7]})
    assert read is not None
    assert read.steps == ()


def test_more_steps_than_are_read_are_named() -> None:
    many = [
        {"id": f"t{n}", "operation": "gather", "title": "T", "topic": "x"} for n in range(MAX_STEPS_READ + 3)
    ]
    read = read_steps({"steps": many})
    assert read is not None
    assert len(read.steps) == MAX_STEPS_READ
    assert read.repairs[-1].detail == {"n": str(MAX_STEPS_READ + 3), "kept": str(MAX_STEPS_READ)}


def test_references_and_control_characters_leave_a_text_and_a_long_one_is_cut() -> None:
    assert text_of("Use {{n2.claims}}\x00\nnow") == "Use n2.claims now"
    assert len(text_of("x" * 1000)) == MAX_TEXT


@given(JSON)
def test_no_json_value_is_an_error(data: object) -> None:
    read = read_steps(data)
    for found in read.steps if read is not None else ():
        assert found.operation
        assert found.id
        assert "{{" not in found.title
