from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from masks.bands import Band, Thresholds, band
from masks.errors import GradientError
from masks.leaks.rules import LeakAction, LeakFacts, judge
from tests.masks import mask_strategies

BACKGROUND, SILENT = 50, 10


def _facts(m100: int, **given_facts: object) -> LeakFacts:
    base: dict[str, object] = {"m100": m100, "path": 2, "declared": False}
    return TypeAdapter(LeakFacts).validate_python({**base, **given_facts})


@pytest.mark.parametrize(
    ("path", "declared", "action"),
    [
        (2, True, LeakAction.ALLOW_DECLARED),
        (2, False, LeakAction.DECLARE_AND_NOTE),
        (1, True, LeakAction.DECLARE_AND_NOTE),
        (1, False, LeakAction.DECLARE_AND_NOTE),
    ],
)
def test_rule_1_background_is_allowed_when_declared_on_path_2(
    path: int, declared: bool, action: LeakAction
) -> None:
    judgement = judge(_facts(BACKGROUND, path=path, declared=declared))
    assert judgement.action is action
    assert judgement.rule == "1"
    assert judgement.noted_against_agent is (action is LeakAction.DECLARE_AND_NOTE)


def test_rule_2a_a_required_silent_domain_is_a_capability_gap() -> None:
    for m100 in (-100, SILENT):
        judgement = judge(_facts(m100, required=True))
        assert (judgement.action, judgement.rule) == (LeakAction.NECESSARY_GAP, "2a")
        assert not judgement.noted_against_agent


def test_what_only_the_agent_asks_for_goes_to_a_person() -> None:
    judgement = judge(_facts(SILENT, needed_by_agent=True, spontaneous_before=3))
    assert (judgement.action, judgement.rule) == (LeakAction.ASK_PERSON, "2a")
    assert not judgement.noted_against_agent


@pytest.mark.parametrize(
    ("before", "action"),
    [
        (0, LeakAction.BLOCK_AND_REGENERATE),
        (1, LeakAction.CHANGE_AGENT_OR_GUARD),
        (2, LeakAction.CHANGE_AGENT_OR_GUARD),
    ],
)
def test_rule_2b_a_spontaneous_leak_is_blocked_once(before: int, action: LeakAction) -> None:
    judgement = judge(_facts(SILENT, spontaneous_before=before))
    assert (judgement.action, judgement.rule) == (action, "2b")
    assert judgement.noted_against_agent


def test_declaring_a_silent_leak_excuses_nothing() -> None:
    for path, m100 in product((1, 2), (-100, -1, 0, 30)):
        declared = judge(_facts(m100, path=path, declared=True))
        assert declared == judge(_facts(m100, path=path, declared=False))
        assert declared.action is LeakAction.BLOCK_AND_REGENERATE


@given(
    mask_strategies.values,
    mask_strategies.thresholds(),
    st.sampled_from([1, 2]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
)
def test_no_domain_is_necessary_on_the_word_of_an_agent(
    m100: int, thresholds: Thresholds, path: int, declared: bool, needed: bool, before: int
) -> None:
    if band(m100, thresholds) is Band.MAIN:
        return
    judgement = judge(
        _facts(
            m100,
            thresholds=thresholds,
            path=path,
            declared=declared,
            needed_by_agent=needed,
            spontaneous_before=before,
        )
    )
    assert judgement.action is not LeakAction.NECESSARY_GAP


def test_main_use_is_no_leak() -> None:
    with pytest.raises(GradientError, match="71"):
        LeakFacts(m100=71, path=1, declared=False)
    LeakFacts(m100=70, path=1, declared=False)
