import pytest

from agents.planning.patterns.choice import read_choice
from agents.planning.reading import read_goal
from agents.planning.readings import CompareTask, ResearchTask


@pytest.mark.parametrize(
    ("text", "items", "aspects"),
    [
        ("Boats or barges: which costs less?", ("Boats", "barges"), ("cost",)),
        ("Which is quieter: the Heron or the Otter?", ("Heron", "Otter"), ("noise",)),
        ("What is cheaper: A, B or C?", ("A", "B", "C"), ("cost",)),
        ("Which uses less water, the mill or the pump?", ("mill", "pump"), ("water",)),
        ("Which is cheaper and quieter, the mill or the pump?", ("mill", "pump"), ("cost", "noise")),
        ("Is the mill or the pump cheaper?", ("mill", "pump"), ("cost",)),
        ("Do oak posts or steel posts last longer?", ("oak posts", "steel posts"), ("lifetime",)),
        ("甲和乙哪个更便宜", ("甲", "乙"), ("成本",)),
        ("小船与驳船相比，哪个寿命更长？", ("小船", "驳船"), ("寿命",)),
        ("小船和驳船哪种更安静、更省钱？", ("小船", "驳船"), ("噪声", "成本")),
        ("小船还是驳船更便宜？", ("小船", "驳船"), ("成本",)),
        ("哪种船更耐用，小船还是驳船？", ("小船", "驳船"), ("寿命",)),
        ("甲、乙、丙三者中哪个能耗最低？", ("甲", "乙", "丙"), ("能耗",)),
    ],
)
def test_a_choice_between_named_things_compares_them(
    text: str, items: tuple[str, ...], aspects: tuple[str, ...]
) -> None:
    assert read_goal(text).tasks == (CompareTask(items=items, aspects=aspects),)


@pytest.mark.parametrize(
    "text",
    [
        "Which of the two offers is cheaper?",
        "Which is cheaper?",
        "Boats or barges: which were built first?",
        "Is the loan or the subsidy approved?",
        "Is the Heron faster than 12 knots?",
        "What is better: why and how?",
        "哪个更便宜？",
        "甲和乙哪个先投运？",
        "甲和乙的合同哪天到期？",
    ],
)
def test_without_named_things_or_a_measure_it_stays_a_question(text: str) -> None:
    assert read_choice(text, ()) is None
    assert {type(task) for task in read_goal(text).tasks} <= {ResearchTask}
