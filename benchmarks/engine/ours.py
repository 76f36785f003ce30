"""Our engine on a load, with everything on: masks, leak scan, L1 and L2, event log, checkpoints, SQLite store.

Only the worker is scripted (it hands over a sentence of the notes, cited) and the embedder takes constant time, unless
another one is given. Run, notes and labels are made before the clock starts; the delivered report counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from agents.broker import Broker
from agents.results import WorkResult
from agents.roster import Roster
from agents.spec import AgentId, AgentSpec, ModelPolicy
from agents.workers.ports import WorkFailed, WorkOrder
from benchmarks.engine.loads import Load
from benchmarks.engine.notes import QUESTION, Notes, write_node_notes
from benchmarks.engine.peers import Stopwatch, Taken
from benchmarks.product import NumberedIds
from graphs.contract import Criterion, Goal, Intent, PortSpec, TaskContract
from graphs.plan import Dependency, NodeId, Plan, SubTask, structural_boundary
from masks.bands import Thresholds
from masks.domains import DomainId, DomainRegistry, default_registry
from masks.leaks.calibration import Calibration, shipped_calibration
from masks.leaks.labels import DomainLabeller
from masks.ports import Embedder
from masks.vector import new_mask
from orchestrator.core.events import ProposalApproved, ProposalDrafted, RetryScheduled, RunCreated
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Envelope, Proposal, proposal_sha256
from orchestrator.core.report.digest import result_digest
from orchestrator.core.state import RunState
from orchestrator.run import execute, report_of
from orchestrator.shell.runs import create, events_of
from orchestrator.shell.scheduler import DEFAULT_MAX_IN_FLIGHT
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop

AGENTS = ("A1", "A2", "A3", "A4")
AGENT_CAP = 1_000
"""Attempts of one agent at a time: above all others, so that no load waits for it."""
WIDE_CAP = 1_024
"""Attempts in flight where a load has more than the default that wait for the outside world (W4)."""
DOMAIN = DomainId("cs.databases")
MAIN_VALUE = 90
_SEED = "engine"
_PORTS = (PortSpec(name="claims", type="claims"),)


class ConstantEmbedder:
    """An embedder that takes no time to speak of: each domain has an axis, and every text lies on that of `DOMAIN`."""

    name = "constant"
    version = "1"

    def __init__(self, registry: DomainRegistry) -> None:
        self.dimension = len(registry.leaves)
        self._default = registry.leaves.index(DOMAIN)
        self._axes = {
            text: axis
            for axis, leaf in enumerate(registry.leaves)
            for texts in registry.get(leaf).exemplars.values()
            for text in texts
        }

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, self._axes.get(text, self._default)] = 1.0
        return vectors


def labeller_of(embedder: Embedder, registry: DomainRegistry) -> DomainLabeller:
    """Return the labeller for an embedder: calibrated as shipped, or for the constant one as exactly as it is."""
    if isinstance(embedder, ConstantEmbedder):
        calibration = Calibration(
            embedder=embedder.name,
            registry_sha256=registry.sha256,
            temperature=0.05,
            none_score=0.3,
            margin=0.5,
            leak_margin=0.5,
            accuracy=1.0,
            coverage=1.0,
            leak_coverage=1.0,
        )
    else:
        calibration = shipped_calibration(embedder.name)
    return DomainLabeller(embedder, registry, calibration)


@dataclass(slots=True, kw_only=True)
class ScriptedWorker:
    """Waits as long as the load says and hands over the sentence of its node."""

    load: Load
    notes: Notes
    started: list[str] = field(default_factory=list)
    """Every attempt that was started, by its node."""
    _failing: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._failing = set(self.load.failing)

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return the result of `order`; raises `WorkFailed` for the first attempt of a failing node."""
        del broker
        node = str(order.subtask.id)
        self.started.append(node)
        if self.load.latency[node]:
            await asyncio.sleep(self.load.latency[node])
        if node in self._failing:
            self._failing.discard(node)
            raise WorkFailed("timeout", "injected: fails once")
        return WorkResult(
            output=self.notes.outputs[node], candidate_complete=True, mode="scripted", path=order.path
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """One execution, as it ended."""

    taken: Taken
    started: int
    """Attempts that were started."""
    delays: Mapping[str, float]
    """Delays before second attempts, as the run recorded them."""
    events: int


def run_ours(load: Load, *, slots: int | None = None, embedder: Embedder | None = None) -> Executed:
    """Execute `load` in a temporary folder; raises `RuntimeError` unless all of it is completed at first go."""
    with TemporaryDirectory() as folder:
        notes = write_node_notes(Path(folder) / "notes", load.parents)
        return run_ours_in(Path(folder), load, notes, slots=slots, embedder=embedder)


def run_ours_in(
    folder: Path, load: Load, notes: Notes, *, slots: int | None = None, embedder: Embedder | None = None
) -> Executed:
    """Execute `load` with its store in `folder`."""
    worker = ScriptedWorker(load=load, notes=notes)
    shop = workshop(folder, worker, slots=slots, embedder=embedder)
    run = approved_run(shop, load, notes)
    library = shop.library(notes.folder)
    library.labels(range(len(library.index.entries)))
    with Stopwatch() as watch:
        state = asyncio.run(execute(shop, run))
    check_completed(load, state, worker.started)
    delays = recorded_delays(shop, run)
    shop.store.close()
    stored = sum(file.stat().st_size for file in folder.glob("runs.db*"))
    return Executed(
        taken=Taken(cpu=watch.cpu, wall=watch.wall, stored=stored),
        started=len(worker.started),
        delays=delays,
        events=state.seq,
    )


def check_completed(load: Load, state: RunState, started: Sequence[str]) -> None:
    """Raise `RuntimeError` unless the run is completed with no more attempts than the load asks for."""
    if state.status != "completed":
        raise RuntimeError(f"{load.name}: the run is {state.status!r} instead of 'completed'")
    expected = len(load.parents) + len(load.failing)
    if len(started) != expected:
        raise RuntimeError(f"{load.name}: {len(started)} attempts instead of {expected}")


def workshop(
    folder: Path, worker: ScriptedWorker, *, slots: int | None = None, embedder: Embedder | None = None
) -> Workshop:
    """Return the product's workshop over a store in `folder`, with `worker` for every agent."""
    registry = default_registry()
    embedder = embedder or ConstantEmbedder(registry)
    return Workshop(
        settings=Settings(home=folder, lang="en", max_in_flight=slots or DEFAULT_MAX_IN_FLIGHT),
        store=SqliteStore(folder / "runs.db"),
        ids=NumberedIds(_SEED),
        registry=registry,
        embedder=embedder,
        worker_for=lambda _: worker,
        _labeller=labeller_of(embedder, registry),
    )


def approved_run(shop: Workshop, load: Load, notes: Notes) -> RunId:
    """Create a run over `load` that is approved as it was drafted, and return its id."""
    draft = proposal_of(load, notes)
    sha = proposal_sha256(draft)
    run = RunId(shop.ids.run())
    create(
        shop.store,
        shop.clock,
        run,
        draft.goal.text,
        [
            RunCreated(
                goal=draft.goal.text,
                lang="en",
                sources=draft.goal.sources,
                run_seed=shop.ids.seed(),
                versions={},
            ),
            ProposalDrafted(proposal=draft, sha256=sha, author="planner"),
            ProposalApproved(revision=1, sha256=sha, by="benchmark"),
        ],
    )
    return run


def proposal_of(load: Load, notes: Notes) -> Proposal:
    """Return the proposal that plans `load`: a sub-task per node, dealt out to four agents in turn."""
    sources = load.sources
    subtasks = tuple(
        SubTask(
            id=NodeId(node),
            title=f"Look into {node}",
            kind="function",
            operation="research",
            outputs=_PORTS,
            inputs=(PortSpec(name="given", type="claims"),) if parents else (),
            boundary=structural_boundary(has_predecessors=bool(parents), has_successors=node in sources),
            required_domains={DOMAIN: 1.0},
        )
        for node, parents in load.parents.items()
    )
    return Proposal(
        revision=1,
        goal=Goal(text=QUESTION, lang="en", sources=(str(notes.folder),)),
        intent=Intent(objective=QUESTION),
        contract=TaskContract(
            kind="research",
            outputs=_PORTS,
            acceptance=(Criterion(id="c1", text="Answered.", kind="question_answered", question=QUESTION),),
        ),
        plan=Plan(
            subtasks=subtasks,
            dependencies=tuple(
                Dependency(source=NodeId(parent), target=NodeId(node), output="claims", input="given")
                for node, parents in load.parents.items()
                for parent in parents
            ),
        ),
        roster=_roster(),
        assignment={
            subtask.id: AgentId(AGENTS[place % len(AGENTS)]) for place, subtask in enumerate(subtasks)
        },
        thresholds=Thresholds(),
        grants={},
        envelope=Envelope(),
    )


def recorded_delays(shop: Workshop, run: RunId) -> dict[str, float]:
    """Return the delay before each second attempt, by node."""
    return {
        str(event.body.node): event.body.delay_s
        for event in events_of(shop.store, run)
        if isinstance(event.body, RetryScheduled)
    }


def digest_of_run(shop: Workshop, run: RunId, state: RunState) -> str:
    """Return the digest of the delivered result and of every accepted output."""
    outputs = {
        str(name): accepted.content
        for name in sorted(state.nodes.keys())
        if (accepted := state.node(name).accepted) is not None
    }
    return f"{result_digest(report_of(shop, run))} {sorted(outputs.items())!r}"


def conditions() -> dict[str, str]:
    """Say what roster and caps the figures were taken with."""
    return {
        "roster": f"{len(AGENTS)} agents ({', '.join(AGENTS)}), {DOMAIN} {MAIN_VALUE}, dealt out in turn",
        "caps": f"{DEFAULT_MAX_IN_FLIGHT} attempts in flight (the default), {WIDE_CAP} in w4; {AGENT_CAP} per agent",
        "embedder": "constant time, one label for every text; beside: with_embedder, the shipped one",
        "worker": "scripted: waits for its latency, hands over one cited sentence of the notes, each node its own",
        "calls": "none, of tools or models: the commit that the record of a call asks for is not in the figures",
        "checkpoints": "handed over by every attempt; what ends before its checkpoint would be written leaves none",
    }


def _roster() -> Roster:
    return Roster(
        agents=tuple(
            AgentSpec(
                id=AgentId(name),
                responsibility="Looks into databases.",
                role="generate",
                operations=("research",),
                mask=new_mask(name, {DOMAIN: MAIN_VALUE}),
                model_policy=ModelPolicy(kind="scripted"),
                max_concurrency=AGENT_CAP,
            )
            for name in AGENTS
        )
    )
