"""Classes of failures (specification 5.1, semantics 5)."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from orchestrator.core.blockage import (
    BlockageClass,
    BlockageHistory,
    ClassReason,
    ClassReasonCode,
    FailureKind,
    classify,
)
from orchestrator.core.claims import RootCause
from tests.core.builders import failure

EXPECTED: dict[FailureKind, str] = {
    "timeout": "A",
    "rate_limited": "A",
    "unavailable": "A",
    "not_verified": "A",
    "bad_request": "B",
    "invalid_output": "B",
    "structure": "B",
    "refused": "C",
    "misconfigured": "C",
    "domain_closed": "C",
    "spontaneous_leak": "C",
    "tool_missing": "C",
    "falsified": "B",
    "limit": "D",
    "internal": "D",
}
FRESH = BlockageHistory()
TRANSIENT: tuple[FailureKind, ...] = ("timeout", "rate_limited", "unavailable", "not_verified")


def test_every_kind_has_a_class() -> None:
    assert set(EXPECTED) == set(get_args(FailureKind))


@pytest.mark.parametrize("kind", EXPECTED)
def test_class_of_a_first_failure(kind: FailureKind) -> None:
    blockage = classify(failure(kind), FRESH, max_transient_retries=3)
    assert blockage.cls == EXPECTED[kind]
    assert len(blockage.reasons) == 1
    assert blockage.failure == failure(kind)


@pytest.mark.parametrize(
    ("cause", "cls"),
    [(RootCause.INPUT, "B"), (RootCause.PROCESS, "B"), (RootCause.MASK, "C"), (RootCause.CAPABILITY, "C")],
)
def test_class_of_a_falsification_follows_its_cause(cause: RootCause, cls: str) -> None:
    falsified = failure("falsified", cause=cause, blamed="a", domain="law.contracts")
    blockage = classify(
        falsified, BlockageHistory(required_domains=frozenset({"law.contracts"})), max_transient_retries=3
    )
    assert (blockage.cls, blockage.blamed, blockage.domain) == (cls, "a", "law.contracts")
    assert len(blockage.reasons) == 1


@pytest.mark.parametrize("kind", TRANSIENT)
@pytest.mark.parametrize("retries", [0, 2, 3, 4])
def test_transient_up_to_the_bound(kind: FailureKind, retries: int) -> None:
    blockage = classify(failure(kind), BlockageHistory(transient_retries=retries), max_transient_retries=3)
    late = "B" if kind == "not_verified" else "C"
    assert blockage.cls == ("A" if retries < 3 else late)
    assert len(blockage.reasons) == (1 if retries < 3 else 2)


@pytest.mark.parametrize(("asked_s", "cls"), [(900.0, "A"), (901.0, "C"), (864_000.0, "C")])
def test_a_wait_of_more_than_a_quarter_of_an_hour_is_for_another_agent_or_a_person(
    asked_s: float, cls: str
) -> None:
    blockage = classify(failure("rate_limited", retry_after_s=asked_s), FRESH, max_transient_retries=3)
    assert blockage.cls == cls
    told = blockage.reasons[-1].text("en")
    assert (f"asks to wait {asked_s:.0f} s" in told) == (cls == "C")


def test_transient_with_somebody_to_blame_becomes_parametric_and_then_a_gap() -> None:
    blamed = failure("timeout", blamed="a")
    again = BlockageHistory(transient_retries=3)
    assert classify(blamed, again, max_transient_retries=3).cls is BlockageClass.B
    repaired = BlockageHistory(transient_retries=3, repaired_parameters=True)
    blockage = classify(blamed, repaired, max_transient_retries=3)
    assert blockage.cls is BlockageClass.C
    assert len(blockage.reasons) == 3


@pytest.mark.parametrize("kind", ["bad_request", "invalid_output", "structure"])
def test_parametric_after_its_repair_is_a_gap(kind: FailureKind) -> None:
    repaired = BlockageHistory(repaired_parameters=True)
    assert classify(failure(kind), repaired, max_transient_retries=3).cls is BlockageClass.C


def test_what_is_no_b_is_not_changed_by_the_repair() -> None:
    repaired = BlockageHistory(repaired_parameters=True)
    assert classify(failure("timeout"), repaired, max_transient_retries=3).cls is BlockageClass.A
    assert classify(failure("limit"), repaired, max_transient_retries=3).cls is BlockageClass.D


def test_a_domain_that_nobody_requires_is_said() -> None:
    closed = failure("domain_closed", domain="med.general")
    reason = classify(closed, FRESH, max_transient_retries=3).reasons[-1]
    assert reason == ClassReason(code="domain_not_required", values=("med.general",))
    required = BlockageHistory(required_domains=frozenset({"med.general"}))
    assert len(classify(closed, required, max_transient_retries=3).reasons) == 1


class TestWords:
    """Reasons are stored as codes and said in the reader's language."""

    @pytest.mark.parametrize("code", get_args(ClassReasonCode))
    def test_every_reason_is_said_in_both_languages(self, code: ClassReasonCode) -> None:
        reason = ClassReason(code=code, values=("n7", "n8"))
        english, chinese = reason.text("en"), reason.text("zh")
        assert english.isascii()
        assert any("\u4e00" <= character <= "\u9fff" for character in chinese)
        assert not re.search("[a-z]{2}", chinese), "no English words in a Chinese view"
        assert "{" not in english + chinese

    def test_values_stand_in_the_sentence(self) -> None:
        follows = ClassReason(code="follows", values=("n1", "n2"))
        assert follows.text("en") == "follows a blockage of n1, n2 on one path"
        assert follows.text("zh") == "同一路径上 n1、n2 此前已受阻"

    def test_a_root_cause_is_said_in_the_language(self) -> None:
        falsified = failure("falsified", cause=RootCause.INPUT)
        (reason,) = classify(falsified, FRESH, max_transient_retries=3).reasons
        assert reason == ClassReason(code="root_cause", values=("input",))
        assert str(reason) == "root_cause(input)"
        assert reason.text("en") == "falsified, root cause input"
        assert reason.text("zh") == "被证伪，根因：输入"
