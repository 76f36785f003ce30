"""Drive real runs in this or another process, with fixed ids and seeds, so that runs can be compared.

    python -m tests.flows.driver HOME RUN     execute an approved run until it rests; prints its state

The parent process watches the store and kills this one where it likes.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphs.contract import Lang
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.run import approve, execute, submit
from orchestrator.shell.proposing import ProposalOptions
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
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


def workshop(home: Path, *, prefix: str = "r-", in_flight: int | None = None) -> Workshop:
    """Return a workshop on a store in `home`, like the product's own but with fixed ids."""
    settings = Settings(home=home, lang="en", max_in_flight=in_flight)
    return Workshop(settings=settings, store=SqliteStore(settings.store_path), ids=FixedIds(prefix))


def approved_run(shop: Workshop, goal: str, notes: Path, *, allow_unresolved: bool = True) -> RunState:
    """Return a run of `goal` over `notes`, approved as the planner proposed it."""
    drafted = submit(shop, goal, sources=[notes], options=ProposalOptions(allow_unresolved=allow_unresolved))
    assert drafted.sha256 is not None
    return approve(shop, drafted.run, 1, drafted.sha256, by="test")


def main(arguments: Sequence[str]) -> None:
    """Execute a run in this process."""
    home, run = arguments
    state = asyncio.run(execute(workshop(Path(home)), RunId(run)))
    sys.stdout.write(f"{state.status}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
