"""Hand-built verifications and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.results import WorkOutput
from graphs.contract import Lang
from graphs.plan import NodeId
from masks.leaks.provenance import Leak
from orchestrator.core.claims import ClaimVerdict, Level, Verdict, Verification, Verified, confidence
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Sha256
from orchestrator.core.report import DeliveredReport, RunFacts, TerminalOutput, assemble_report


def verification(output: WorkOutput, verdicts: Mapping[str, Verdict] | None = None) -> Verification:
    """Return a check at L2 that traced every claim; `verdicts` by statement, the rest verified."""
    found = tuple(
        ClaimVerdict(
            claim=claim.id,
            verdict=(verdicts or {}).get(claim.statement, Verified(source="a.md:1")),
            level=Level.L2,
            traced=True,
        )
        for claim in output.claims
    )
    return Verification(
        outcome="qualified",
        level=Level.L2,
        confidence=confidence(output.claims, found, Level.L2),
        verdicts=found,
    )


def terminal(node: str, output: WorkOutput, checked: Verification | None = None) -> TerminalOutput:
    """Return a terminal output with a check that verified everything, unless another is given."""
    return TerminalOutput(
        node=NodeId(node),
        title="Write the report",
        output=output,
        verification=checked or verification(output),
        mode="extractive",
    )


def facts(
    *, run: str = "r-1", lang: Lang = "en", objective: str = "What is known?", gaps: tuple[str, ...] = ()
) -> RunFacts:
    """Return the facts of a completed run."""
    return RunFacts(
        run=RunId(run),
        proposal=Sha256("ab" * 32),
        revision=1,
        outcome="completed",
        lang=lang,
        objective=objective,
        gaps=gaps,
    )


def delivered(
    *terminals: TerminalOutput,
    leaks: Mapping[str, Sequence[Leak]] | None = None,
    about: RunFacts | None = None,
) -> DeliveredReport:
    """Return the report over `terminals`."""
    return assemble_report(
        about or facts(), terminals, {NodeId(node): rows for node, rows in (leaks or {}).items()}
    )
