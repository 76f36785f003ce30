"""Runs over the example notes with fixed ids and seeds, so that they can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphs.contract import Lang
from orchestrator.core.state import RunState
from orchestrator.run import approve, submit
from orchestrator.shell.proposing import ProposalOptions
from orchestrator.shell.wiring import Workshop

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTES: dict[Lang, Path] = {"en": EXAMPLES / "notes-en", "zh": EXAMPLES / "notes-zh"}


@dataclass(slots=True)
class FixedIds:
    """Names runs `r-1`, `r-2`, … after a prefix, and gives every run the same seed."""

    prefix: str = "r-"
    count: int = 0

    def run(self) -> str:
        """Return the next id."""
        self.count += 1
        return f"{self.prefix}{self.count}"

    def seed(self) -> str:
        """Return the one seed."""
        return "0123456789abcdef"


def approved_run(shop: Workshop, goal: str, notes: Path, *, allow_unresolved: bool = True) -> RunState:
    """Return a run of `goal` over `notes`, approved as the planner proposed it."""
    drafted = submit(shop, goal, sources=[notes], options=ProposalOptions(allow_unresolved=allow_unresolved))
    assert drafted.sha256 is not None
    return approve(shop, drafted.run, 1, drafted.sha256, by="test")
