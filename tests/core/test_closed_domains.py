"""Which silent domains that a worker needs stop an attempt (semantics 2 and 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from agents.evidence import Taint
from agents.results import Need, OpenQuestion, WorkOutput, WorkResult
from masks.domains import DomainId
from orchestrator.core.closed_domains import closed_domain
from tests.core.builders import CONTRACT, CONTRACTS, MEDICINE

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
