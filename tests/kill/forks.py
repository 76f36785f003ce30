"""Processes that execute a run, forked from one that has everything imported and indexed.

A fresh Python needs 2 s until it can execute a run, a fork 20 ms. The parent of the forks is a process of its own
without threads, without an event loop and without an open store, none of which a fork
could take along; it is told what to do through its standard input, and tells what came of it through its output.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Literal, Self

from agents.broker import Broker
from agents.results import WorkResult
from agents.spec import AgentSpec
from agents.workers.ports import Worker, WorkOrder
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.shell.store.rows import artefact_digest
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.kill.points import AtTime, StrikingStore, When, killed, stopped, striking_listeners
from tests.kill.victims import Victim

ROOT: Final = Path(__file__).parents[2]
PATIENCE_S: Final = 60.0
"""Only something broken takes that long."""
DATABASE: Final = "runs.db"
BEGINS: Final = b"+"
"""What a process says when it begins to execute; a pickled value never begins so."""
WORKED: Final = "worked.txt"
"""Where each call of a worker leaves a line, beside the log of the run and independent of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a process is to do."""

    victim: Victim
    folder: Path
    """What all processes of the victim share: its notes."""
    home: Path
    """Where this run's store is; also the working directory."""
    when: When | None = None
    signal: Literal["kill", "stop"] = "kill"
    clock: Path | None = None
    """A file that holds the time by which leases run; `None`: the system's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a process that was not killed came to."""

    status: str
    digest: str
    """Over status, the report's result digest and the content of every accepted output: no ids of a run, no times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended."""

    killed: bool
    """By SIGKILL."""
    seconds: float
    """From the beginning of the execution."""
    result: Result | None = None
    """`None` for one that was killed."""
    error: str = ""
    """The trace of what it raised."""
    hung: bool = False


def result_of(state: RunState) -> Result:
    """Return what a run came to."""
    outputs = {
        str(name): accepted.content
        for name in sorted(state.nodes.keys())
        if (accepted := state.node(name).accepted) is not None
    }
    text = repr((state.status, state.result, state.gaps, sorted(outputs.items())))
    return Result(status=state.status, digest=artefact_digest(text.encode()))


@dataclass(slots=True)
class _Traced:
    """A worker that leaves a line for each call before it does anything."""

    inner: Worker

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        with open(WORKED, "a", encoding="utf-8") as file:
            file.write(f"{order.subtask.id}\n")
        return await self.inner.work(order, broker)


def _traced(shop: Workshop) -> Callable[[AgentSpec], Worker]:
    worker_for = shop.worker_for or shop._worker
    return lambda agent: _Traced(worker_for(agent))


class FileClock:
    """A clock that several processes share, and that a test moves."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self) -> float:
        return float(self._path.read_text())

    def set(self, now: float) -> None:
        """Set the time."""
        moved = self._path.with_suffix(".new")
        moved.write_text(repr(now))
        moved.replace(self._path)


def carry_out(order: Order, shop: Workshop, began: Callable[[], None]) -> Result:
    """Execute the run of an order in this process, from the start or from where another one was killed."""
    os.chdir(order.home)
    strike = killed if order.signal == "kill" else stopped
    clock = None if order.clock is None else FileClock(order.clock)
    path = order.home / DATABASE
    plain = SqliteStore(path, clock=clock)
    runs = plain.runs()
    run = RunId(runs[0].id) if runs else order.victim.approve(replace(shop, store=plain))
    plain.close()
    store = StrikingStore(path, order.when, strike, clock)
    here = replace(
        shop,
        store=store,
        settings=replace(shop.settings, home=order.home),
        worker_for=_traced(shop),
    )
    in_memory = strike if order.signal == "kill" else partial(store.between_commits, strike)
    began()
    state = asyncio.run(order.victim.execute(here, run, striking_listeners(order.when, in_memory)))
    return result_of(state)


# The process that forks


@dataclass(slots=True)
class _Child:
    pid: int
    pipe: int
    """Where it says that it begins, and what it came to; closed when it is gone."""
    said: bytes = b""
    began: float = 0.0
    status: int | None = None
    """How it ended, once that was asked for."""


@dataclass(slots=True)
class _Server:
    shops: dict[tuple[Victim, Path], Workshop] = field(default_factory=dict)
    children: dict[int, _Child] = field(default_factory=dict)

    def start(self, order: Order) -> int:
        """Fork a process, and return its number when it begins to execute."""
        key = (order.victim, order.folder)
        if key not in self.shops:
            self.shops[key] = order.victim.workshop(order.folder)
        assert threading.active_count() == 1, "a fork takes no threads along"
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            _live(order, self.shops[key], write)
        os.close(write)
        child = self.children[pid] = _Child(pid, read)
        self._hear(child, until=lambda: child.said != b"")
        child.began = time.monotonic()
        return pid

    def wait_stopped(self, pid: int) -> bool:
        """Return when a process has stopped, or ended; tell whether it stopped."""
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self.children[pid].status = status
        return os.WIFSTOPPED(status)

    def end(self, pid: int, kill_after: float | None) -> Ended:
        """Return how a process ended; kill it when so many seconds of its execution have passed."""
        child = self.children.pop(pid)
        limit = PATIENCE_S if kill_after is None else max(0.0, child.began + kill_after - time.monotonic())
        over = self._hear(child, until=lambda: False, seconds=limit)
        if not over:
            os.kill(pid, signal.SIGKILL)
            self._hear(child, until=lambda: False)
        status = os.waitpid(pid, 0)[1] if child.status is None else child.status
        os.close(child.pipe)
        seconds = time.monotonic() - child.began
        hung = not over and kill_after is None
        was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        said = child.said.removeprefix(BEGINS)
        if was_killed or not said:
            return Ended(killed=was_killed, seconds=seconds, hung=hung)
        told = pickle.loads(said)
        if isinstance(told, str):
            return Ended(killed=False, seconds=seconds, error=told)
        return Ended(killed=False, seconds=seconds, result=told)

    def _hear(self, child: _Child, *, until: Callable[[], bool], seconds: float = PATIENCE_S) -> bool:
        """Take what a process says, until it is enough or the process is gone; False when the time is over."""
        deadline = time.monotonic() + seconds
        while not until():
            ready, _, _ = select.select([child.pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            said = os.read(child.pipe, 1 << 20)
            if not said:
                return True
            child.said += said
        return True


def _live(order: Order, shop: Workshop, pipe: int) -> None:
    """The life of a fork; it never returns."""
    try:
        told: object = carry_out(order, shop, lambda: _say(pipe, BEGINS))
    except BaseException:  # noqa: BLE001 - whatever it is, the test has to see it
        told = traceback.format_exc()
    finally:
        _say(pipe, pickle.dumps(told))
        os._exit(0)


def _say(pipe: int, content: bytes) -> None:
    while content:
        content = content[os.write(pipe, content) :]


def serve(orders: IO[bytes], answers: IO[bytes]) -> None:
    """Carry out calls of methods of the server until the input ends."""
    server = _Server()
    while True:
        try:
            name, arguments = pickle.load(orders)
        except EOFError:
            break
        try:
            answer: tuple[bool, object] = (True, getattr(server, name)(*arguments))
        except Exception:  # noqa: BLE001 - the client raises it
            answer = (False, traceback.format_exc())
        pickle.dump(answer, answers)
        answers.flush()
    for pid in server.children:
        os.kill(pid, signal.SIGKILL)


# Its client


class Forks:
    """Starts processes that execute runs; a context, at whose end all of them are gone."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tests.kill.forks import main; main()"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def _call(self, name: str, *arguments: object) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((name, arguments), self._process.stdin)
        self._process.stdin.flush()
        done, answer = pickle.load(self._process.stdout)
        if not done:
            raise RuntimeError(answer)
        return answer

    def start(self, order: Order) -> int:
        """Start a process; return its number when it begins to execute."""
        order.home.mkdir(parents=True, exist_ok=True)
        pid: int = self._call("start", order)
        return pid

    def wait_stopped(self, pid: int) -> bool:
        """Return when a process has stopped or ended; tell whether it stopped."""
        stopped: bool = self._call("wait_stopped", pid)
        return stopped

    def end(self, pid: int, kill_after: float | None = None) -> Ended:
        """Return how a process ended; kill it after so many seconds of its execution."""
        ended: Ended = self._call("end", pid, kill_after)
        return ended

    def live(self, order: Order) -> Ended:
        """Start a process and return how it ended; for `AtTime` it is killed from outside."""
        pid = self.start(order)
        return self.end(pid, order.when.seconds if isinstance(order.when, AtTime) else None)

    def close(self) -> None:
        """End the process that forks, and those that it forked."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def main() -> None:
    """Serve whoever started this process."""
    serve(sys.stdin.buffer, sys.stdout.buffer)
