"""Read a run from the store, without the workshop: nothing is executed and nothing heavy is loaded."""

from __future__ import annotations

import re
from typing import Final

from graphs.plan import NodeId, natural_key
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.problems import NotFound, UsageProblem
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import load
from orchestrator.shell.store import holders
from orchestrator.shell.store.rows import Lease

_WHOLE: Final = re.compile(r"[0-9]{1,15}")


def run_state(session: Session, run: str, *, at: int | None = None) -> RunState:
    """Return a run as it is, or as it was after the event `at`; raises `UnknownRun` and what reading a log raises."""
    return load(session.store(), RunId(run), at=at)


def living_lease(session: Session, run: RunId) -> Lease | None:
    """Return the lease of the process that executes a run; `None` if none does, or the one that did has died."""
    return holders.living_lease(session.store(), run)


def executed_since(session: Session, run: RunId) -> str | None:
    """Return when the last executor of a run took it, such as `2026-01-01 12:30:05 UTC`; `None` before the first."""
    times = [stored.ts for stored in session.store().events(run) if stored.type == "run.executor"]
    return f"{times[-1][:10]} {times[-1][11:19]} UTC" if times else None


def is_interrupted(session: Session, state: RunState) -> bool:
    """Tell whether nobody executes a run that its log says is running: a crash, a full store or Ctrl-C ended that."""
    return state.status == "running" and living_lease(session, state.run) is None


def is_starting(session: Session, state: RunState) -> bool:
    """Tell whether a process took an approved run and has not begun yet: it reads and indexes the notes first."""
    return state.status == "confirmed" and living_lease(session, state.run) is not None


def holder_name(holder: str) -> str:
    """Return what people need of a holder's name: machine and process, without what tells processes apart.

    >>> holder_name("host:4711@1f0c3a55.4026531836/88123")
    'host:4711'
    """
    return holder.partition("@")[0]


def proposal_of(state: RunState) -> Proposal:
    """Return the proposal of a run; raises `NotFound` for a run whose draft was never finished."""
    if state.proposal is None:
        raise NotFound(
            "no_proposal",
            en=f"run {state.run!r} has no proposal; it is {state.status!r}. Draft anew: maskgrad plan GOAL",
            zh=f"运行 {state.run!r} 没有方案；当前状态为 {state.status!r}。请重新起草：maskgrad plan 目标",
        )
    return state.proposal


def nodes_of(state: RunState) -> tuple[NodeId, ...]:
    """Return the sub-tasks of a run in the order of the plan; of a run in review, those of its draft."""
    if state.index is not None:
        return state.index.order
    tasks = state.proposal.plan.subtasks if state.proposal is not None else ()
    return tuple(sorted((task.id for task in tasks), key=natural_key))


def whole_number(option: str, text: str, *, least: int) -> int:
    """Read a whole number; raises `UsageProblem`."""
    if not _WHOLE.fullmatch(text) or int(text) < least:
        raise UsageProblem(
            "number_not_accepted",
            en=f"{option} {text!r} is not accepted; accepted: a whole number from {least}",
            zh=f"{option} {text!r} 不可接受；可接受：不小于 {least} 的整数",
        )
    return int(text)
