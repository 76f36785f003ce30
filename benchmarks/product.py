"""The whole job, as a user has it done: goal, proposal, approval, masked execution, verification, delivered report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from agents.workers.embedded.inquiry import ResearchLimits
from agents.workers.embedded.registry import EmbeddedWorker
from graphs.contract import Lang
from orchestrator.core.errors import NoReport
from orchestrator.core.ids import RunId
from orchestrator.core.report import DeliveredReport
from orchestrator.core.state import RunState
from orchestrator.run import approve, execute, report_of, submit
from orchestrator.shell.proposing import ProposalOptions
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.wiring import Workshop

ASKED: Mapping[Lang, str] = {"en": "Answer from the notes: {question}", "zh": "根据资料回答：{question}"}
"""The goal in which a question is put."""
_APPROVER = "benchmark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One goal carried out."""

    state: RunState
    """How the run ended, or what it waits for."""
    report: DeliveredReport | None
    """`None`: nothing was delivered."""

    @property
    def left_open(self) -> bool:
        """Whether a delivered report says that something stays unanswered."""
        return self.report is not None and bool(self.report.open_questions)

    @property
    def answered(self) -> bool:
        """Whether a report was delivered and leaves nothing open."""
        return self.report is not None and not self.report.open_questions

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions that the planner read in the goal."""
        proposal = self.state.proposal
        criteria = proposal.contract.acceptance if proposal is not None else ()
        return tuple(one.question for one in criteria if one.question is not None)


@dataclass(slots=True)
class NumberedIds:
    """Names runs `r-1`, `r-2`, … and gives every run the same seed, so that a benchmark can be repeated."""

    given: str
    """What the seed is derived from."""
    count: int = 0

    def run(self) -> str:
        """Return the next id."""
        self.count += 1
        return f"r-{self.count}"

    def seed(self) -> str:
        """Return 16 hex digits, the same each time."""
        return sha256(self.given.encode()).hexdigest()[:16]


WorkshopOf = Callable[[Path, Lang, int], Workshop]
"""Makes the workshop of a benchmark from a home folder, the language and the seed."""


def benchmark_workshop(home: Path, lang: Lang, seed: int) -> Workshop:
    """Return a workshop as users have it, but for its ids and for a store that is gone with the process.

    `home` is where settings point; nothing is written there.
    """
    return Workshop(
        settings=Settings(home=home, lang=lang), store=MemoryStore(), ids=NumberedIds(f"seed {seed}")
    )


def do_job(
    shop: Workshop, question: str, folder: Path, lang: Lang, limits: ResearchLimits | None = None
) -> Job:
    """Carry out the goal that asks `question` of the notes in `folder`, approved as it was proposed.

    Each job has a store of its own, so that none learns from another; embedder, labels and index are `shop`'s.
    `limits` replaces those of the embedded workers.
    """
    _ = shop.labeller  # made here, once: a copy would make its own, and encode all exemplars again
    own = replace(shop, store=MemoryStore())
    if limits is not None:
        own.worker_for = lambda _: EmbeddedWorker(limits)
    goal = ASKED[lang].format(question=question)
    drafted = submit(own, goal, sources=[folder], lang=lang, options=ProposalOptions(allow_unresolved=True))
    assert drafted.proposal is not None, "a drafted run has a proposal"
    assert drafted.sha256 is not None, "a drafted run has a hash"
    approve(own, drafted.run, drafted.proposal.revision, drafted.sha256, by=_APPROVER)
    state = asyncio.run(execute(own, drafted.run))
    return Job(state=state, report=_delivered(own, drafted.run))


def write_notes(folder: Path, texts: Mapping[str, str]) -> None:
    """Make `folder` hold exactly `texts`, by path; raises `ValueError` for a path that leads out of it."""
    if folder.exists():
        for old in sorted(folder.rglob("*"), reverse=True):
            old.rmdir() if old.is_dir() else old.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(
                f"the note {name!r} would lie outside of {str(folder)!r}; its path must be relative"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))


def _delivered(shop: Workshop, run: RunId) -> DeliveredReport | None:
    try:
        return report_of(shop, run)
    except NoReport:
        return None
