from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from masks.bands import Band, Thresholds, band
from masks.errors import GradientError
from masks.leaks.rules import Judgement, LeakAction, LeakFacts, judge, render_judgement
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
    assert judgement.goes_to_l2
    assert judgement.noted_against_agent is (action is LeakAction.DECLARE_AND_NOTE)
    assert not judgement.may_extend


def test_rule_2a_a_required_silent_domain_is_a_capability_gap() -> None:
    judgement = judge(_facts(SILENT, required=True))
    assert (judgement.action, judgement.rule) == (LeakAction.NECESSARY_GAP, "2a")
    assert judgement.may_extend


def test_rule_2a_a_suppressed_domain_is_a_gap_that_never_extends() -> None:
    judgement = judge(_facts(-100, required=True))
    assert judgement.action is LeakAction.NECESSARY_GAP
    assert not judgement.may_extend
    assert judge(_facts(-99, required=True)).may_extend


@pytest.mark.parametrize("tainted", [True, False])
def test_what_only_the_agent_asks_for_goes_to_a_person(tainted: bool) -> None:
    judgement = judge(_facts(SILENT, needed_by_agent=True, needs_tainted=tainted, spontaneous_before=3))
    assert judgement.action is LeakAction.ASK_PERSON
    assert judgement.tainted is tainted
    assert not judgement.may_extend
    assert ("不可信" in render_judgement(judgement, "zh")) is tainted


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
    assert not judgement.may_extend


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
    st.booleans(),
    st.integers(0, 3),
)
def test_no_mask_is_ever_extended_on_the_word_of_an_agent(
    m100: int, thresholds: Thresholds, path: int, declared: bool, needed: bool, tainted: bool, before: int
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
            needs_tainted=tainted,
            spontaneous_before=before,
        )
    )
    assert not judgement.may_extend
    assert judgement.action is not LeakAction.NECESSARY_GAP
    assert judgement.goes_to_l2


def test_main_use_is_no_leak() -> None:
    with pytest.raises(GradientError, match="71"):
        LeakFacts(m100=71, path=1, declared=False)
    LeakFacts(m100=70, path=1, declared=False)


@pytest.mark.parametrize("action", LeakAction)
def test_every_action_is_explained_in_both_languages(action: LeakAction) -> None:
    judgement = Judgement(
        action=action, rule="1", goes_to_l2=True, noted_against_agent=False, may_extend=False
    )
    assert render_judgement(judgement, "en").startswith("Rule 1: ")
    assert render_judgement(judgement, "en").isascii()
    assert render_judgement(judgement, "zh").startswith("规则1：")
