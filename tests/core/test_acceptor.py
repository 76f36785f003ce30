"""The acceptor: what is missing from what was delivered, and whether it is core (semantics 7)."""

from __future__ import annotations

from dataclasses import replace

from agents.evidence import EvidenceId, claim_of
from agents.results import WorkOutput
from graphs.contract import Criterion
from orchestrator.core.acceptor import Gap, missing_from
from orchestrator.core.claims import ClaimVerdict, Level, Verification, Verified
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
        verification=checked or verification(verdicts=TRACED),
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


def test_width_case_and_closing_punctuation_make_no_other_question() -> None:
    other_width = replace(ANSWERED, claims=(replace(WHY, question=" WHY\uff1f "),))
    assert not missing_from(CONTRACT, [terminal(other_width)])
