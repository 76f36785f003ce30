"""Kill a run at a point, go on with it in a new process, and compare it with a run that nobody disturbed.

    with Killer(W5(seed=3, failing=0.1), tmp_path) as killer:
        report = killer.kill(AtEvent(type="attempt.verified", node="n7", edge="before"))
        assert report.equal, report.differences

A `Victim` says how the run is made and what its workers do (`tests.kill.victims`), a `When` where the process is killed
(`tests.kill.points`); several of them kill one process after the other. Compared are (`Report.differences`):

* status and result digest with those of the undisturbed run, and the content of every accepted output;
* no worker was called for a sub-task that was accepted by what was committed when a process died, unless a backtrack
  invalidated it since: counted in the workers, not in the log;
* the log: what was committed stays as it was, `seq` is dense, the fold of it is what the last process ended with;
* what is left behind: every accepted output, no checkpoint thread, no lease that another process would have to wait
  for, no message, no damage in the file.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from orchestrator.core.events import AttemptVerified, Backtracked, Event
from orchestrator.core.ids import RunId
from orchestrator.shell.runs import events_of, load
from orchestrator.shell.store.errors import ArtefactMissing
from orchestrator.shell.store.holders import is_gone
from orchestrator.shell.store.rows import AttemptThread
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.kill.forks import DATABASE, WORKED, Ended, Forks, Order, Result, result_of
from tests.kill.points import AtTime, When
from tests.kill.victims import Victim


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    """One process and its end."""

    when: When
    struck: bool
    """False: the run was over before the point came."""
    log: tuple[Event, ...]
    """What was committed then."""
    accepted: frozenset[str]
    """Sub-tasks that were accepted by what was committed then."""
    kept: frozenset[str]
    """Sub-tasks whose result was committed then and waited for its check."""

    @property
    def seq(self) -> int:
        """The head of the log then."""
        return self.log[-1].seq


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of one run."""

    kills: tuple[Killed, ...]
    status: str
    """At the end."""
    log: tuple[Event, ...]
    """At the end."""
    worked: tuple[tuple[str, ...], ...]
    """The sub-tasks that workers were called for, of each process."""
    differences: tuple[str, ...]
    """Each in words; none means that the kills made no difference."""

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What is in a store and beside it between two processes."""

    log: tuple[Event, ...]
    accepted: frozenset[str]
    kept: frozenset[str]
    worked: tuple[str, ...]
    """Of all processes so far."""
    left: tuple[str, ...]
    """What must not be left at the end."""
    folded: Result


class Killer:
    """Kills runs of one victim; a context. `folder` gets the notes and a home for each run."""

    def __init__(self, victim: Victim, folder: Path) -> None:
        self.victim = victim
        self.forks = Forks()
        self._folder = folder
        self._homes = count(1)
        self._calm: Result | None = None
        self._calm_log: tuple[Event, ...] = ()
        self.seconds = 0.0
        """What the undisturbed run took, once there was one."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.forks.close()

    def new_home(self) -> Path:
        """Return a folder for one more run."""
        return self._folder / f"home-{next(self._homes)}"

    def order(self, home: Path, when: When | None = None) -> Order:
        """Return the order to execute the run in `home`."""
        return Order(victim=self.victim, folder=self._folder / "shared", home=home, when=when)

    @property
    def calm(self) -> Result:
        """What the run comes to when nobody disturbs it."""
        if self._calm is None:
            home = self.new_home()
            ended = self.forks.live(self.order(home))
            assert ended.result is not None, ended.error or f"the undisturbed run did not end: {ended}"
            look = _look(home)
            assert not look.left, look.left
            self.seconds, self._calm_log, self._calm = ended.seconds, look.log, ended.result
        return self._calm

    @property
    def calm_log(self) -> tuple[Event, ...]:
        """The events of the undisturbed run."""
        _ = self.calm
        return self._calm_log

    def random_times(self, number: int, rnd: random.Random) -> list[AtTime]:
        """Return points spread over the time of an undisturbed run."""
        _ = self.calm
        return [AtTime(seconds=rnd.uniform(0.0, self.seconds)) for _ in range(number)]

    def kill(self, *points: When) -> Report:
        """Execute a run, killing one process after the other at `points`, go on to its end, and compare."""
        calm = self.calm
        home = self.new_home()
        kills: list[Killed] = []
        looks: list[_Look] = []
        for point in points:
            ended = self.forks.live(self.order(home, point))
            if ended.error or ended.hung:
                return _broken(kills, looks, ended)
            looks.append(_look(home))
            kills.append(
                Killed(
                    when=point,
                    struck=ended.killed,
                    log=looks[-1].log,
                    accepted=looks[-1].accepted,
                    kept=looks[-1].kept,
                )
            )
        last = self.forks.live(self.order(home))
        if last.result is None:
            return _broken(kills, looks, last)
        looks.append(_look(home))
        return Report(
            kills=tuple(kills),
            status=last.result.status,
            log=looks[-1].log,
            worked=_calls(looks),
            differences=tuple(_differences(calm, last.result, looks)),
        )


def _look(home: Path) -> _Look:
    store = SqliteStore(home / DATABASE)
    try:
        (row,) = store.runs()
        run = RunId(row.id)
        state = load(store, run)
        lines = home / WORKED
        left = [
            *(f"checkpoint thread {row.thread!r}" for row in store.checkpoints()),
            *(f"message {message.kind!r}" for message in store.pending(run)),
            *(
                [f"lease of {lease.holder!r}"]
                # A process that was killed behind its last commit can't give its lease up; nobody waits for it.
                if (lease := store.lease(run)) is not None and not is_gone(lease.holder)
                else []
            ),
            *(
                f"no artefact for {body.node!r}"
                for body in _accepted(store, run)
                if not _is_kept(store, body)
            ),
            *store.check(),
        ]
        return _Look(
            log=tuple(events_of(store, run)),
            accepted=frozenset(str(name) for name in state.nodes if state.node(name).status == "accepted"),
            kept=frozenset(
                thread.node
                for row in store.checkpoints()
                if (thread := AttemptThread.parse(row.thread)) is not None
            ),
            worked=tuple(lines.read_text(encoding="utf-8").split()) if lines.exists() else (),
            left=tuple(left),
            folded=result_of(state),
        )
    finally:
        store.close()


def _accepted(store: SqliteStore, run: RunId) -> Iterator[AttemptVerified]:
    return (event.body for event in events_of(store, run) if isinstance(event.body, AttemptVerified))


def _is_kept(store: SqliteStore, body: AttemptVerified) -> bool:
    try:
        store.get_artefact(body.output)
    except ArtefactMissing:
        return False
    return True


def _calls(looks: Sequence[_Look]) -> tuple[tuple[str, ...], ...]:
    ends = [len(look.worked) for look in looks]
    return tuple(look.worked[begin:] for begin, look in zip([0, *ends], looks, strict=False))


def _differences(calm: Result, last: Result, looks: Sequence[_Look]) -> list[str]:
    final = looks[-1]
    found = [f"left behind: {what}" for what in final.left]
    if last.status != calm.status:
        found.append(f"the run is {last.status!r} instead of {calm.status!r}")
    elif last.digest != calm.digest:
        found.append("the result or an output is another one")
    if final.folded != last:
        found.append("the fold of the log is not what the last process ended with")
    if [event.seq for event in final.log] != list(range(1, len(final.log) + 1)):
        found.append("`seq` is not dense")
    for look in looks[:-1]:
        if final.log[: len(look.log)] != look.log:
            found.append(f"the log up to {look.log[-1].seq} is not what it was")
        again = look.accepted - _invalidated_after(look, final)
        rerun = Counter(final.worked[len(look.worked) :])
        found += [
            f"{node!r} was accepted at {look.log[-1].seq} and ran again"
            for node in sorted(again)
            if rerun[node]
        ]
    return found


def _invalidated_after(look: _Look, final: _Look) -> frozenset[str]:
    return frozenset(
        str(node)
        for event in final.log[len(look.log) :]
        if isinstance(event.body, Backtracked)
        for node in event.body.plan.invalidated
    )


def _broken(kills: Sequence[Killed], looks: Sequence[_Look], ended: Ended) -> Report:
    why = "the process hangs" if ended.hung else f"the process ended with: {ended.error or ended}"
    return Report(
        kills=tuple(kills),
        status="broken",
        log=looks[-1].log if looks else (),
        worked=_calls(looks),
        differences=(why,),
    )
