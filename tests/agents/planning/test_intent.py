import pytest

from agents.planning.intent import resolve_prohibitions, state_intent
from agents.planning.reading import read_goal
from graphs.contract import Goal, Lang
from masks.errors import UnknownDomain
from tests.agents.planning.rankers import REGISTRY


def test_prohibitions_that_name_a_domain_are_resolved() -> None:
    found = resolve_prohibitions(
        ("do not use legal knowledge", "不要涉及医学", "don't mention prices"), REGISTRY
    )
    assert found.entries() == ("domain:law", "domain:med", "don't mention prices")


def test_a_prohibition_that_names_a_domain_and_something_else_keeps_both() -> None:
    found = resolve_prohibitions(("do not use legal or gossip knowledge",), REGISTRY)
    assert found.domains == ("law",)
    assert found.words == ("do not use legal or gossip knowledge",)


def test_an_option_must_name_a_known_domain() -> None:
    assert resolve_prohibitions(("domain:econ.finance",), REGISTRY).domains == ("econ.finance",)
    with pytest.raises(UnknownDomain, match="nowhere"):
        resolve_prohibitions(("domain:nowhere",), REGISTRY)


def intent_of(
    text: str, lang: Lang = "en", sources: tuple[str, ...] = ("notes",)
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    goal = Goal(text=text, lang=lang, sources=sources)
    reading = read_goal(text)
    intent = state_intent(goal, reading, resolve_prohibitions(reading.prohibitions, REGISTRY))
    assert all(a.assumed == a.options[0] and len(a.options) > 1 for a in intent.ambiguities)
    return intent.objective, intent.constraints, tuple(a.question for a in intent.ambiguities)


def test_objective_and_constraints_in_the_language_of_the_goal() -> None:
    assert intent_of("Compare A and B on cost, in at most 50 words. Do not use legal knowledge.") == (
        "Compare A and B on cost.",
        ("in at most 50 words", "Do not use legal knowledge"),
        (),
    )
    assert intent_of("比较甲和乙的成本，不超过100字。", "zh") == ("比较甲和乙的成本。", ("不超过100字",), ())


def test_open_points_are_asked() -> None:
    assert intent_of("storage safety")[2] == ("What is to be done with “storage safety”?",)
    assert intent_of("Compare the options on cost")[2] == (
        "Which things are to be compared in “Compare the options on cost”?",
    )
    assert intent_of("Compare A and B")[2] == ("On which aspects are they to be compared?",)
    assert intent_of("提取每份合同的日期，列成表", "zh")[2] == ("表格的一行是什么？",)
    assert intent_of("What is A?", sources=())[2] == ("Which notes are to be searched?",)
    assert intent_of("What is A? Don't use knowledge of astrology.")[2] == (
        "Which knowledge domain does “Don't use knowledge of astrology” mean?",
    )


def test_what_was_carried_over_is_an_assumption() -> None:
    goal = Goal(text="蓝河电站的容量是多少？何时投运？", lang="zh", sources=("n",))
    intent = state_intent(goal, read_goal(goal.text), resolve_prohibitions((), REGISTRY))
    assert "“何时投运？”说的是蓝河电站。" in intent.assumptions
