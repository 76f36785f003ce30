"""The acceptor: what is missing from what was delivered, and whether it is core (semantics 7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.citations import anchor
from agents.evidence import EvidenceId, claim_of
from agents.results import OpenQuestion, WorkOutput
from graphs.contract import Criterion
from orchestrator.core.acceptor import Gap, missing_from
from orchestrator.core.claims import (
    ClaimVerdict,
    Contested,
    Deviates,
    Falsified,
    Level,
    Uncertain,
    Verdict,
    Verification,
    Verified,
)
from orchestrator.core.report import TerminalOutput
from tests.core.builders import CONTRACT, n, verification

WHY = claim_of("b", "Because.", (EvidenceId("e-1"),), core=True, question="Why?")
TRACED = (ClaimVerdict(claim=WHY.id, verdict=Verified(source="a.md:1"), level=Level.L2, traced=True),)
NICE = Criterion(id="c2", text="Priced.", kind="field_filled", field="price", core=False)
BOTH = replace(CONTRACT, acceptance=(*CONTRACT.acceptance, NICE))


def terminal(
    output: WorkOutput, checked: Verification | None = None, *, as_is: bool = False
) -> TerminalOutput:
    return TerminalOutput(
        node=n("b"),
        title="Look into b",
        output=output,
        verification=checked or verification(verdicts=TRACED, complete=True),
        mode="scripted",
        accepted_as_is=as_is,
    )


ANSWERED = WorkOutput(text="Because.", claims=(WHY,))


class TestCore:
    def test_what_is_not_core_is_listed_as_such(self) -> None:
        (gap,) = missing_from(BOTH, [terminal(ANSWERED)])
        assert gap == Gap(code="not_filled", subject="price", core=False)
        assert gap.text("en") == "price: not filled (not core)"
        assert gap.text("zh") == "price：未填写（非核心）"

    def test_what_is_core_is_not_marked(self) -> None:
        core, other = missing_from(BOTH, [terminal(WorkOutput(text="Nothing."))])
        assert (core.subject, core.core, other.core) == ("Why?", True, False)
        assert core.text("en") == "Why?: not answered"


class TestCompleteness:
    """`candidate_complete` is the worker's opinion; without the checks' word nothing is completed (seed 000, 7.3)."""

    UNCONFIRMED = verification(verdicts=TRACED)

    def test_what_the_checks_do_not_confirm_is_a_gap_in_the_core(self) -> None:
        (gap,) = missing_from(CONTRACT, [terminal(ANSWERED, self.UNCONFIRMED)])
        assert gap == Gap(code="not_confirmed", subject="Look into b")
        assert gap.text("en").startswith("Look into b: the checks do not confirm")
        assert gap.text("zh").startswith("Look into b：核验未确认")

    def test_a_criterion_says_better_what_a_single_output_lacks(self) -> None:
        gaps = missing_from(CONTRACT, [terminal(WorkOutput(text="Nothing."), self.UNCONFIRMED)])
        assert [gap.code for gap in gaps] == ["not_answered"]

    def test_of_several_outputs_each_is_named(self) -> None:
        other = replace(terminal(WorkOutput(text="Nothing."), self.UNCONFIRMED), title="Look into c")
        gaps = missing_from(CONTRACT, [terminal(WorkOutput(text="No.")), other])
        assert [(gap.code, gap.subject) for gap in gaps] == [
            ("not_answered", "Why?"),
            ("not_confirmed", "Look into c"),
        ]

    def test_an_honestly_open_question_counts_where_the_contract_allows_it(self) -> None:
        honest = WorkOutput(
            text="Open.",
            open_questions=(OpenQuestion(question="Why?", reason="not_found", searched=("why",)),),
        )
        allowed = replace(CONTRACT, allow_unresolved=True)
        assert not missing_from(allowed, [terminal(honest, verification(complete=True))])
        assert [gap.code for gap in missing_from(allowed, [terminal(honest, verification())])] == [
            "not_confirmed"
        ]

    def test_what_a_person_took_is_said_once(self) -> None:
        gaps = missing_from(CONTRACT, [terminal(ANSWERED, self.UNCONFIRMED, as_is=True)])
        assert [gap.code for gap in gaps] == ["not_verified"]


def test_width_case_and_closing_punctuation_make_no_other_question() -> None:
    other_width = replace(ANSWERED, claims=(replace(WHY, question=" WHY\uff1f "),))
    assert not missing_from(CONTRACT, [terminal(other_width)])


TOWER = claim_of("b", "The tower costs 3 million euro.", (EvidenceId("e-2"),), core=True, question="cost")
PRICED = Criterion(id="c1", text="tower / cost", kind="field_filled", field="tower / cost")
COMPARED = replace(CONTRACT, acceptance=(PRICED,))
FILLED = WorkOutput(
    text=f"3 million.{anchor(TOWER.id)}",
    claims=(TOWER,),
    fields={"tower / cost": f"3 million.{anchor(TOWER.id)}"},
)


def checked(verdict: Verdict, *, traced: bool = True) -> Verification:
    found = ClaimVerdict(claim=TOWER.id, verdict=verdict, level=Level.L2, traced=traced)
    return verification(verdicts=(found,), complete=True)


DOUBTS: tuple[tuple[Verification, str], ...] = (
    (checked(Contested(sources=("a.md:1", "b.md:2"))), "contested"),
    (checked(Uncertain(reason="no source can tell")), "uncertain"),
    (checked(Falsified(reason="it says 4")), "falsified"),
    (checked(Verified(source="a.md:1"), traced=False), "uncertain"),
    (verification(complete=True), "uncertain"),
)


class TestDoubtfulCoreClaims:
    """A core claim that is not confirmed is a gap, whatever the criteria ask (semantics 4)."""

    @pytest.mark.parametrize(("doubt", "code"), DOUBTS)
    def test_a_field_is_filled_only_as_far_as_its_claims_hold(self, doubt: Verification, code: str) -> None:
        (gap,) = missing_from(COMPARED, [terminal(FILLED, doubt)])
        assert (gap.code, gap.subject, gap.core) == (code, "tower / cost", True)

    def test_a_field_whose_claims_hold_is_filled(self) -> None:
        for verdict in (Verified(source="a.md:1"), Deviates(source="a.md:1", delta=0.01, found="3.03")):
            assert not missing_from(COMPARED, [terminal(FILLED, checked(verdict))])

    @pytest.mark.parametrize(("doubt", "code"), DOUBTS)
    def test_no_criterion_needs_to_ask_for_the_claim(self, doubt: Verification, code: str) -> None:
        exists = Criterion(id="c1", text="A table.", kind="artefact_exists")
        (gap,) = missing_from(replace(CONTRACT, acceptance=(exists,)), [terminal(FILLED, doubt)])
        assert (gap.code, gap.subject, gap.core) == (code, "cost", True)

    def test_what_is_not_core_is_no_gap(self) -> None:
        beside = replace(FILLED, claims=(replace(TOWER, core=False),), fields={})
        exists = Criterion(id="c1", text="A text.", kind="artefact_exists")
        contested = checked(Contested(sources=("a.md:1", "b.md:2")))
        assert not missing_from(replace(CONTRACT, acceptance=(exists,)), [terminal(beside, contested)])

    def test_claims_of_one_question_are_named_once_by_the_worst(self) -> None:
        second = claim_of("b", "The tower costs 4 million.", (EvidenceId("e-3"),), core=True, question="cost")
        both = verification(
            verdicts=(
                ClaimVerdict(
                    claim=TOWER.id, verdict=Contested(sources=("a", "b")), level=Level.L2, traced=True
                ),
                ClaimVerdict(claim=second.id, verdict=Falsified(reason="no"), level=Level.L2, traced=True),
            ),
            complete=True,
        )
        exists = Criterion(id="c1", text="A text.", kind="artefact_exists")
        output = replace(FILLED, claims=(TOWER, second))
        (gap,) = missing_from(replace(CONTRACT, acceptance=(exists,)), [terminal(output, both)])
        assert (gap.code, gap.subject) == ("falsified", "cost")

    def test_of_an_output_taken_as_it_is_that_is_said_once(self) -> None:
        exists = Criterion(id="c1", text="A text.", kind="artefact_exists")
        contract = replace(CONTRACT, acceptance=(exists,))
        gaps = missing_from(contract, [terminal(FILLED, checked(Falsified(reason="no")), as_is=True)])
        assert [gap.code for gap in gaps] == ["not_verified"]
