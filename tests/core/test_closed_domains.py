"""Which silent domains that a worker needs stop an attempt (semantics 2 and 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from agents.evidence import Taint
from agents.results import ClosedDomain, Need, OpenQuestion, WorkOutput, WorkResult
from masks.domains import DomainId
from masks.vector import MaskChange, new_mask
from orchestrator.core.closed_domains import closed_domain, with_closed_domains
from tests.core.builders import CONTRACT, CONTRACTS, DATABASES, FORBIDDEN, MEDICINE

LEFT = OpenQuestion(question="Why?", reason="domain_closed", searched=("why",))
LENIENT = replace(CONTRACT, allow_unresolved=True)
NOT_CORE = replace(CONTRACT, acceptance=tuple(replace(c, core=False) for c in CONTRACT.acceptance))


def needing(
    domain: DomainId,
    *,
    band: Literal["BACKGROUND", "SILENT"] = "SILENT",
    taint: Taint = "trusted",
    question: str = "Why?",
) -> WorkResult:
    need = Need(domain=domain, question=question, band=band, match=0.9, taint=taint)
    return WorkResult(
        output=WorkOutput(text="x", open_questions=(LEFT,)),
        candidate_complete=False,
        mode="scripted",
        path=1,
        needs=(need,),
    )


@pytest.mark.parametrize("contract", [CONTRACT, LENIENT, NOT_CORE])
def test_a_required_one_is_a_gap_whatever_the_contract_allows(contract: object) -> None:
    failure = closed_domain(needing(CONTRACTS), {CONTRACTS}, contract)  # type: ignore[arg-type]
    assert failure is not None
    assert (failure.domain, failure.domain_tainted) == (CONTRACTS, False)


def test_a_required_one_that_a_document_asks_for_is_tainted() -> None:
    failure = closed_domain(needing(CONTRACTS, taint="untrusted"), {CONTRACTS}, CONTRACT)
    assert failure is not None
    assert failure.domain_tainted


def test_another_one_under_an_open_core_question_is_for_a_person() -> None:
    failure = closed_domain(needing(MEDICINE, question="why"), {CONTRACTS}, CONTRACT)
    assert failure is not None
    assert (failure.kind, failure.domain) == ("domain_closed", MEDICINE)


@pytest.mark.parametrize("contract", [LENIENT, NOT_CORE])
def test_where_the_question_may_stay_open_it_does(contract: object) -> None:
    assert closed_domain(needing(MEDICINE), {CONTRACTS}, contract) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "work",
    [
        needing(CONTRACTS, band="BACKGROUND"),
        needing(CONTRACTS, question="How?"),
        needing(MEDICINE, taint="untrusted"),
    ],
)
def test_what_stops_nothing(work: WorkResult) -> None:
    assert closed_domain(work, {CONTRACTS}, CONTRACT) is None


MASK = new_mask("A1", {MEDICINE: -100})


@pytest.mark.parametrize("forbidden", [f"domain:{MEDICINE}", "domain:med"])
def test_a_question_left_open_names_the_domain_that_the_contract_forbids(forbidden: str) -> None:
    contract = replace(LENIENT, forbidden=("no guessing", forbidden))
    (question,) = with_closed_domains(needing(MEDICINE), MASK, contract).open_questions
    assert question.closed == (ClosedDomain(domain=MEDICINE, agent="A1", value=-100, by="contract"),)
    assert replace(question, closed=()) == LEFT


@pytest.mark.parametrize(
    ("author", "by"), [("user", "person"), ("person", "person"), ("controller", "plan"), (None, "plan")]
)
def test_it_names_who_closed_it_last(author: str | None, by: str) -> None:
    changes = (
        MaskChange(version=2, domain=MEDICINE, old=0, new=-50, author="user", reason="r", operation="set"),
        MaskChange(
            version=3, domain=MEDICINE, old=-50, new=-100, author=author or "", reason="r", operation="set"
        ),
    )
    mask = MASK if author is None else replace(MASK, version=3, changes=changes)
    (question,) = with_closed_domains(needing(MEDICINE), mask, LENIENT).open_questions
    assert [one.by for one in question.closed] == [by]


def test_only_silent_domains_of_that_question_are_named_the_best_match_first() -> None:
    work = needing(MEDICINE)
    needs = (
        replace(work.needs[0], match=0.2),
        replace(work.needs[0], domain=CONTRACTS, match=0.7),
        replace(work.needs[0], domain=DATABASES, band="BACKGROUND", match=0.9),
        replace(work.needs[0], domain=FORBIDDEN, question="Who?", match=0.9),
    )
    (question,) = with_closed_domains(replace(work, needs=needs), MASK, LENIENT).open_questions
    assert [(one.domain, one.value) for one in question.closed] == [(CONTRACTS, 0), (MEDICINE, -100)]


def test_a_question_that_is_open_for_another_reason_names_none() -> None:
    left = replace(LEFT, reason="not_found")
    work = replace(needing(MEDICINE), output=WorkOutput(text="x", open_questions=(left,)))
    assert with_closed_domains(work, MASK, LENIENT).open_questions == (left,)
