"""Pause and cancel a run that this or another process executes."""

from __future__ import annotations

from orchestrator.core.errors import WrongState
from orchestrator.core.ids import RunId
from orchestrator.core.state import ENDED
from orchestrator.desk import post_control
from orchestrator.interfaces.cli.bodies.deciding import BY
from orchestrator.interfaces.cli.bodies.looking import living_lease, run_state
from orchestrator.interfaces.cli.bodies.summaries import run_document, status_words
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import refused_as


def pause(session: Session, run: str) -> Result:
    """Ask the executor to start no further attempt; raises `WrongState` for a run that nobody executes."""
    name = RunId(run)
    state = run_state(session, run)
    if living_lease(session, name) is None:
        step = "show" if state.status in ENDED else "resume"
        status = refused_as(session.store(), state)
        raise WrongState(run, status, wanted="executed by a process now", next_step=f"maskgrad {step} {run}")
    post_control(session.desk(), name, "pause", by=BY)
    note = session.pick(
        f"asked; attempts under way will finish, then its process waits. Go on with: maskgrad resume {run}",
        f"已请求；进行中的尝试会先完成，之后其进程等待。继续：maskgrad resume {run}",
    )
    return Result(data=run_document(state), notes=(note,))


def cancel(session: Session, run: str) -> Result:
    """Cancel a run; raises `WrongState` for one that ended.

    While a process executes it, that process ends it. Otherwise it is ended here.
    """
    name = RunId(run)
    state = post_control(session.desk(), name, "cancel", by=BY)
    if state.status in ENDED:
        note = f"{state.run}: {status_words(state.status, session.lang)}"
    else:
        note = session.pick(
            f"asked; follow it with: maskgrad watch {run}", f"已请求；可跟踪：maskgrad watch {run}"
        )
    return Result(data=run_document(state), notes=(note,))
