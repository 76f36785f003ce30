"""Several runs in one process: neither waits for the other, others follow both and answer, slots go where work is."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pytest

from agents.broker import Broker
from agents.models.contract import ModelReply, ModelRequest
from agents.models.ports import Told
from agents.results import WorkResult
from agents.spec import ModelPolicy, Provider
from agents.workers.ports import WorkFailed, WorkOrder
from agents.workers.scripted import Answer, ScriptKey
from graphs.plan import Plan
from orchestrator.core.events import (
    AttemptStarted,
    AttemptVerified,
    RequestOpened,
    RunPaused,
)
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import RunState
from orchestrator.run import post_control
from orchestrator.shell.journal import Listener
from orchestrator.shell.ports import AttemptKey
from orchestrator.shell.scheduler import RunDispatcher
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import Operation, Outcome
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.turns import Entry
from tests.core.builders import SOLO, n, plan, proposal
from tests.flows.crashes import Crash, crash_at
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, says, set_stage, written

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
"""Only something broken takes that long."""
SLOTS = 4
SIZE = 500
WRITER = "maskgrad-writer"
REFUSES = WorkFailed("refused", "I can't")


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path / "notes")


SCRIPTED = ModelPolicy(kind="scripted")


def drafted(work: Plan, policy: ModelPolicy = SCRIPTED) -> Proposal:
    """One agent, which may do everything at once: only the slots are short."""
    agents = tuple(replace(agent, max_concurrency=1_000, model_policy=policy) for agent in SOLO.agents)
    return proposal(work, roster=replace(SOLO, agents=agents))


def script_of(notes: NoteFolder, work: Plan, **special: Answer) -> Script:
    """Each sub-task quotes the same sentence as a claim of its own, without waiting."""
    script: dict[ScriptKey, WorkResult | Answer | Exception] = {}
    for task in work.subtasks:
        name = str(task.id)
        said = says(notes.quoted(name, "storage.md", ROWS, question="Why?"))
        script[task.id, EVERY] = special.get(name, said)
    return script


class Gate:
    """A worker that waits until the test opens it."""

    def __init__(self, notes: NoteFolder, node: str) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self._result = says(notes.quoted(node, "storage.md", ROWS, question="Why?"))

    async def __call__(self, order: WorkOrder, broker: Broker) -> WorkResult:
        del order, broker
        self.reached.set()
        await self.open.wait()
        return self._result


async def settled(condition: Callable[[], bool]) -> None:
    """Give the loop turns until `condition` holds; the time limit of the runs fails the test if it never does."""
    while not condition():
        await asyncio.sleep(0)


@dataclass
class Turns:
    """Whose attempts stood in line and whose were started, in the order in which it happened."""

    waiting: dict[RunId, set[AttemptKey]] = field(default_factory=dict)
    behind: Counter[RunId] = field(default_factory=Counter)
    """Starts of other runs since a run that waits was served last."""
    worst: Counter[RunId] = field(default_factory=Counter)

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Look on at the dispatcher from here on."""
        add, start = RunDispatcher._add, RunDispatcher._start

        def added(view: RunDispatcher, entry: Entry) -> None:
            self.waiting.setdefault(view._run, set()).add(entry.ticket.key)
            add(view, entry)

        def begun(view: RunDispatcher, entry: Entry, run: Callable[[], Awaitable[None]]) -> None:
            self._served(view._run, entry.ticket.key)
            start(view, entry, run)

        patch.setattr(RunDispatcher, "_add", added)
        patch.setattr(RunDispatcher, "_start", begun)

    def _served(self, run: RunId, key: AttemptKey) -> None:
        self.waiting[run].discard(key)
        self.behind[run] = 0
        for other, keys in self.waiting.items():
            if other != run and keys:
                self.behind[other] += 1
                self.worst[other] = max(self.worst[other], self.behind[other])
            elif not keys:
                self.behind[other] = 0


def deep() -> Plan:
    """20 chains of 12, a gate, 20 chains of 12 again, and some of their own: long ways to the end."""
    edges = []
    for chain in range(20):
        for half in "st":
            edges += [f"a{half}{chain}_{step}>a{half}{chain}_{step + 1}" for step in range(11)]
        edges += [f"as{chain}_11>agate", f"agate>at{chain}_0"]
    single = " ".join(["ask", *(f"al{number}" for number in range(SIZE - 20 * 24 - 2))])
    return plan(" ".join(edges), lone=single)


def wide() -> Plan:
    """Two fans with a gate in between: short ways to the end."""
    middle = (SIZE - 3) // 2
    edges = [f"b0>bs{number} bs{number}>bgate" for number in range(middle)]
    edges += [f"bgate>bt{number} bt{number}>bz" for number in range(SIZE - 3 - middle)]
    return plan(" ".join(edges))


@dataclass
class Watching:
    """`maskgrad watch RUN --jsonl` in a process of its own."""

    process: asyncio.subprocess.Process
    documents: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def of(cls, run: RunId, home: Path) -> AsyncIterator[Self]:
        process = await started("watch", run, "--jsonl", home=home)
        try:
            yield cls(process)
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first event that is wanted; read on until it is there."""
        for document in self.documents:
            if wanted(document):
                return document
        while document := await self._next():
            if wanted(document):
                return document
        raise AssertionError("it ended before")

    async def rest(self) -> list[dict[str, Any]]:
        """Read to the end and return all events; the process ends by itself, with code 0."""
        while await self._next():
            pass
        assert self.process.stderr is not None
        errors = await self.process.stderr.read()
        assert await self.process.wait() == 0, errors.decode()
        return [document for document in self.documents if "seq" in document]

    async def _next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_S)
        if not line:
            return {}
        self.documents.append(json.loads(line))
        return self.documents[-1]


async def started(*argv: str, home: Path) -> asyncio.subprocess.Process:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "MASKGRAD_HOME": str(home),
        "MASKGRAD_DISPLAY": "none",
    }
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "orchestrator.interfaces.cli",
        *argv,
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**24,  # a proposal of 500 sub-tasks is one line
    )


def is_type(kind: str, node: str | None = None) -> Callable[[dict[str, Any]], bool]:
    return lambda document: (
        document.get("type") == kind and (node is None or document["data"].get("node") == node)
    )


async def test_two_runs_of_500_are_followed_and_answered_by_other_processes_and_neither_waits(
    notes: NoteFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = {RunId("r-1"): deep(), RunId("r-2"): wide()}
    assert [len(work.subtasks) for work in plans.values()] == [SIZE, SIZE]
    gates = [Gate(notes, "agate"), Gate(notes, "bgate")]
    store = SqliteStore(tmp_path / "home" / "runs.db")
    script = {
        **script_of(notes, plans[RunId("r-1")], agate=gates[0]),
        **script_of(notes, plans[RunId("r-2")], bgate=gates[1]),
        (n("ask"), 1): REFUSES,
    }
    stage = set_stage(notes, script, store=store, in_flight=SLOTS)
    turns = Turns()
    turns.watch(monkeypatch)
    runs = [stage.approved(drafted(work)) for work in plans.values()]
    assert runs == list(plans)
    tasks = [asyncio.ensure_future(stage.execute(run)) for run in runs]
    await settled(lambda: set(turns.waiting) == set(runs))

    async with Watching.of(runs[0], tmp_path / "home") as one, Watching.of(runs[1], tmp_path / "home") as two:
        opened = await one.until(is_type("request.opened"))
        for watching, last in ((one, "agate"), (two, "bgate")):
            await watching.until(is_type("attempt.started", last))
        writers = [thread for thread in threading.enumerate() if thread.name == WRITER]
        assert len(writers) == 1
        answering = await started("answer", opened["data"]["request"]["id"], "retry", home=tmp_path / "home")
        _, errors = await answering.communicate()
        assert answering.returncode == 0, errors.decode()
        stage.clock.look()
        await one.until(is_type("request.answered"))
        await one.until(is_type("attempt.verified", "ask"))
        assert not any(task.done() for task in tasks), "all of that happened while both were executed"
        for gate in gates:
            gate.open.set()
        states = await asyncio.gather(*tasks)
        followed = [await one.rest(), await two.rest()]

    assert [state.status for state in states] == ["completed", "completed"]
    for run, seen in zip(runs, followed, strict=True):
        log = stage.log(run)
        assert [document["seq"] for document in seen] == list(range(1, len(log) + 1))
        assert [document["type"] for document in seen] == [event.body.type for event in log]
        verified = Counter(body.node for body in stage.bodies(run, AttemptVerified))
        assert (len(verified), set(verified.values())) == (SIZE, {1})
    # Every other start is the other run's, as long as both have something in line.
    assert turns.worst == dict.fromkeys(runs, 1)
    assert not [thread for thread in threading.enumerate() if thread.name == WRITER]
    store.close()


async def test_a_run_that_waits_for_a_person_gives_its_slots_to_the_other(notes: NoteFolder) -> None:
    """Two slots: one is taken by the gate of the first run, whose other sub-task asks a person."""
    asking, working = plan("gate>end", lone="ask"), plan("b1>b2 b2>b3")
    gate = Gate(notes, "gate")
    script = {
        **script_of(notes, asking, gate=gate),
        **script_of(notes, working),
        (n("ask"), EVERY): REFUSES,
    }
    stage = set_stage(notes, script, in_flight=2)
    first, second = stage.approved(drafted(asking)), stage.approved(drafted(working))
    waits = asyncio.ensure_future(stage.execute(first))
    await settled(lambda: bool(stage.bodies(first, RequestOpened)))
    assert (await stage.execute(second)).status == "completed"
    assert not waits.done()
    gate.open.set()
    assert (await waits).status == "suspended"
    third = stage.approved(drafted(working))
    assert (await stage.execute(third)).status == "completed"


async def test_a_paused_run_holds_no_slot_and_goes_on_in_turn(notes: NoteFolder) -> None:
    """One slot: what runs at the pause ends; then the other run has all of it until this one is continued."""
    paused, working = plan("gate>next next>last", lone="other"), plan("b1>b2 b2>b3")
    gate = Gate(notes, "gate")
    script = {**script_of(notes, paused, gate=gate), **script_of(notes, working)}
    stage = set_stage(notes, script, in_flight=1)
    first, second = stage.approved(drafted(paused)), stage.approved(drafted(working))
    one = asyncio.ensure_future(stage.execute(first))
    await gate.reached.wait()
    post_control(stage.shop, first, "pause", by="ann")
    await settled(lambda: stage.clock.waits)
    stage.clock.look()
    await settled(lambda: bool(stage.bodies(first, RunPaused)))
    other = asyncio.ensure_future(stage.execute(second))
    gate.open.set()
    assert (await other).status == "completed"
    assert stage.state(first).status == "paused"
    assert [body.node for body in stage.bodies(first, AttemptStarted)] == ["gate"]
    post_control(stage.shop, first, "continue", by="ann")
    await settled(lambda: stage.clock.waits)
    stage.clock.look()
    assert (await one).status == "completed"


async def test_a_provider_is_shared_by_all_runs(notes: NoteFolder) -> None:
    """Agents of both runs think with the same model server, which takes one attempt at a time."""
    fans = [plan(" ".join(f"{run}0>{run}{number}" for number in range(1, 5))) for run in "ab"]
    now, most = 0, 0

    async def thinks(order: WorkOrder, broker: Broker) -> WorkResult:
        nonlocal now, most
        del broker
        now, most = now + 1, max(most, now + 1)
        for _ in range(20):
            await asyncio.sleep(0)
        now -= 1
        return says(notes.quoted(str(order.subtask.id), "storage.md", ROWS, question="Why?"))

    script: Script = {(task.id, EVERY): thinks for work in fans for task in work.subtasks}

    async def at_most(caps: Mapping[Provider, int]) -> int:
        nonlocal most
        most = 0
        stage = set_stage(notes, script)
        stage.shop.settings = replace(stage.shop.settings, provider_caps=caps)
        stage.shop.chat_for = lambda _: NoModel()
        runs = [stage.approved(drafted(work, ModelPolicy(kind="model", model="local:m"))) for work in fans]
        states = await asyncio.gather(*(stage.execute(run) for run in runs))
        assert [state.status for state in states] == ["completed", "completed"]
        return most

    assert await at_most({Provider("local"): 1}) == 1
    assert await at_most({Provider("other"): 1}) > 2, "without a cap they do think at the same time"


class NoModel:
    """A chat model that nobody asks: the workers are scripted."""

    name = "local:m"

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        raise AssertionError(request, told)


async def test_one_commit_serves_both_runs(notes: NoteFolder) -> None:
    works = [plan(f"{run}1>{run}2") for run in "ab"]
    store = Heads()
    stage = set_stage(notes, {k: v for work in works for k, v in script_of(notes, work).items()}, store=store)
    runs = [stage.approved(drafted(work)) for work in works]
    recorded: set[RunId] = set()

    def listener(run: RunId) -> Listener:
        return lambda *_: recorded.add(run)

    async with stage.shop.engine() as engine:
        store.free.clear()
        busy = await engine.writer.enqueue(lambda _: None)
        assert await asyncio.to_thread(store.entered.wait, PATIENCE_S)
        tasks = [asyncio.ensure_future(stage.execute(run, listeners=[listener(run)])) for run in runs]
        await settled(lambda: recorded == set(runs))
        for _ in range(10):  # the appends are handed over in the next turns
            await asyncio.sleep(0)
        store.free.set()
        await busy
        states = await asyncio.gather(*tasks)
    assert [state.status for state in states] == ["completed", "completed"]
    assert set(runs) in store.moved


class Heads(MemoryStore):
    """A store that notes which runs each transaction moved on, and whose disk may be busy."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()
        self.free.set()
        self.entered = threading.Event()
        self.moved: list[set[RunId]] = []

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        if threading.current_thread().name == WRITER:
            self.entered.set()
            assert self.free.wait(PATIENCE_S)
        before = {row.id: self.head(row.id) for row in self.runs()}
        outcomes = super().commit(operations)
        self.moved.append({RunId(run) for run, head in before.items() if self.head(run) != head})
        return outcomes


async def test_a_run_that_breaks_takes_no_other_with_it(notes: NoteFolder) -> None:
    works = [plan(" ".join(f"{run}{step}>{run}{step + 1}" for step in range(6))) for run in "ab"]
    stage = set_stage(notes, {k: v for work in works for k, v in script_of(notes, work).items()}, in_flight=2)
    broken, sound = (stage.approved(drafted(work)) for work in works)
    crash = crash_at(lambda event: isinstance(event.body, AttemptVerified) and event.body.node == "a2")
    ends = await asyncio.gather(
        stage.execute(broken, listeners=[crash]), stage.execute(sound), return_exceptions=True
    )
    assert isinstance(ends[0], Crash)
    assert isinstance(ends[1], RunState)
    assert ends[1].status == "completed"
    assert (await stage.execute(broken)).status == "completed"
    verified = Counter(body.node for body in stage.bodies(broken, AttemptVerified))
    assert set(verified.values()) == {1}
