"""Runs to be killed: how a workshop and an approved run are made, and what executing means."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents.broker import Broker
from agents.results import WorkResult
from agents.spec import AgentId
from agents.tools.contract import ToolCall
from agents.workers.ports import WorkFailed, WorkOrder
from benchmarks.engine.loads import W2_MEDIAN_S, W2_NODES, Load, w2, w6
from benchmarks.engine.notes import Notes, write_node_notes
from benchmarks.engine.ours import AGENTS, ConstantEmbedder, labeller_of, proposal_of
from masks.domains import default_registry
from orchestrator.core.claims import Verification
from orchestrator.core.events import Body, ProposalApproved, ProposalDrafted, RunCreated
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import proposal_sha256
from orchestrator.core.requests import Answer
from orchestrator.core.state import RunState
from orchestrator.run import answer, execute
from orchestrator.shell.check_threads import CheckThreads
from orchestrator.shell.clock import SystemClock
from orchestrator.shell.journal import Listener
from orchestrator.shell.runs import create
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.wiring import Workshop
from orchestrator.verification.levels import StandardVerifier
from orchestrator.verification.ports import CheckOrder, Verifier
from orchestrator.verification.sources.documents import DocumentSource
from tests.flows.driver import FixedIds

GUIDANCE = "Look into the notes of the archive."
"""What a person answers; a worker that refuses works when it is told so."""
LOOK_S = 0.002
"""Between two looks of a patient sub-task, in seconds."""
QUERIES = ("databases", "archive")
SEARCHES_EVERY = 6
"""Every sixth sub-task of a load searches twice before it answers: its calls are recorded."""


class Victim(ABC):
    """A run that processes execute, one after the other, until one of them comes to its end.

    A subclass is a frozen dataclass of what can be pickled, since the processes get it as a value; equal victims make
    equal runs. Workers keep nothing in memory that the next process would need; what the outside world would remember
    they write into the working directory, which belongs to one run.
    """

    @abstractmethod
    def workshop(self, folder: Path) -> Workshop:
        """Return a workshop with workers, labeller and index ready; notes that it needs are written below `folder`.

        Called once for many processes: no threads, no open files. Its store and home are replaced.
        """

    @abstractmethod
    def approve(self, shop: Workshop) -> RunId:
        """Put the run, approved, into the store of `shop`; called once per home."""

    async def execute(self, shop: Workshop, run: RunId, listeners: Sequence[Listener]) -> RunState:
        """Execute the run as far as it goes; called in every process."""
        return await execute(shop, run, listeners=listeners)


@dataclass(frozen=True, slots=True, kw_only=True)
class W5(Victim):
    """A run of W2 (layered, lognormal latencies), in which sub-tasks may search, fail once, and ask a person."""

    seed: int = 1
    nodes: int = W2_NODES
    median_s: float = W2_MEDIAN_S
    failing: float = 0.0
    """Share of the sub-tasks that fail once, with a delay before the next attempt; once in every process."""
    searching: bool = False
    """Whether some of them make calls that are recorded."""
    asking: bool = False
    """Whether one of them is refused by every agent, until a person gives guidance."""

    patient: frozenset[str] = frozenset()
    """Sub-tasks whose check waits until their checkpoint is in the store, for which nothing of the product waits."""
    hurry: float = 1.0
    """How many times shorter the delays of retries and between looks at the inbox are than in the product."""

    @property
    def load(self) -> Load:
        """The DAG, with what each sub-task waits for."""
        plain = w2(self.seed, self.nodes, self.median_s)
        return w6(plain, self.seed, self.failing) if self.failing else plain

    @property
    def asks(self) -> str | None:
        """The sub-task that asks: one in the middle, so that some depend on it and others do not."""
        return f"n{self.nodes // 2}" if self.asking else None

    def workshop(self, folder: Path) -> Workshop:
        """See `Victim.workshop`."""
        load = self.load
        notes = write_node_notes(folder / "notes", load.parents)
        worker = OutsideWorker(
            load=load,
            notes=notes,
            searching=frozenset(list(load.parents)[::SEARCHES_EVERY]) if self.searching else frozenset(),
            asks=self.asks,
        )
        registry = default_registry()
        embedder = ConstantEmbedder(registry)
        shop = Workshop(
            settings=Settings(home=folder, lang="en"),
            store=MemoryStore(),
            clock=HurriedClock(self.hurry),
            ids=FixedIds(),
            registry=registry,
            embedder=embedder,
            worker_for=lambda _: worker,
            verifier=PatientVerifier(
                inner=StandardVerifier((DocumentSource(notes.folder),)), patient=self.patient
            ),
            _labeller=labeller_of(embedder, registry),
            _checks=CheckThreads(on_loop_s=-1.0) if self.patient else CheckThreads(),
        )
        shop.prepare(notes.folder)
        return shop

    def approve(self, shop: Workshop) -> RunId:
        """See `Victim.approve`."""
        load = self.load
        notes = Notes(folder=shop_notes(shop), outputs={})
        draft = replace(
            proposal_of(load, notes), grants={AgentId(name): ("search_notes",) for name in AGENTS}
        )
        sha = proposal_sha256(draft)
        run = RunId("r-1")
        bodies: list[Body] = [
            RunCreated(
                goal=draft.goal.text, lang="en", sources=draft.goal.sources, run_seed="seed", versions={}
            ),
            ProposalDrafted(proposal=draft, sha256=sha, author="planner"),
            ProposalApproved(revision=1, sha256=sha, by="test"),
        ]
        create(shop.store, shop.clock, run, draft.goal.text, bodies)
        return run

    async def execute(self, shop: Workshop, run: RunId, listeners: Sequence[Listener]) -> RunState:
        """Execute, and answer what is asked, as a person at another terminal would."""
        state = await execute(shop, run, listeners=listeners)
        while state.status == "suspended":
            waiting = {message.kind for message in shop.store.pending(run)}
            for request in state.requests:
                if "answer" not in waiting:
                    answer(shop, request, Answer(choice="retry", guidance=GUIDANCE), by="ann")
            state = await execute(shop, run, listeners=listeners)
        return state


class HurriedClock(SystemClock):
    """The product's clock, but it sleeps shorter."""

    def __init__(self, times: float) -> None:
        self._times = times

    async def sleep(self, seconds: float) -> None:
        """Return after a part of `seconds`."""
        await super().sleep(seconds / self._times)


def shop_notes(shop: Workshop) -> Path:
    """Return the folder of notes that a workshop has indexed."""
    (folder,) = shop._libraries
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideWorker:
    """Works as a load says; what is to fail fails once in every process."""

    load: Load
    notes: Notes
    searching: frozenset[str]
    asks: str | None
    failed: set[str] = field(default_factory=set)

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Wait as long as the load says, and hand over the sentence of the sub-task."""
        node = str(order.subtask.id)
        if node in self.searching:
            for query in QUERIES:
                await broker.call_tool(ToolCall(tool="search_notes", arguments={"query": query}))
        await asyncio.sleep(self.load.latency[node])
        if node == self.asks and not any(GUIDANCE in guard for guard in order.guards):
            raise WorkFailed("refused", "not without guidance")
        if node in self.load.failing and node not in self.failed:
            self.failed.add(node)
            raise WorkFailed("timeout", "fails once")
        return WorkResult(
            output=self.notes.outputs[node], candidate_complete=True, mode="scripted", path=order.path
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientVerifier:
    """The product's verifier, which waits for checkpoints; its thread does, and the event loop goes on."""

    inner: Verifier
    patient: frozenset[str]

    def verify(self, order: CheckOrder) -> Verification:
        """Verify, as soon as the checkpoint of a patient sub-task is committed, and everything recorded before it."""
        if order.subtask.id in self.patient:
            with closing(sqlite3.connect("runs.db")) as connection:
                while not connection.execute(_CHECKPOINT, (f"%/{order.subtask.id}/%",)).fetchall():
                    time.sleep(LOOK_S)  # so that the process gets on with what is waited for
        return self.inner.verify(order)


_CHECKPOINT = "SELECT thread_id FROM checkpoints WHERE thread_id LIKE ?"
