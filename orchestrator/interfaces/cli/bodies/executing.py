"""Execute a run in this process and show it: progress on stderr, events with `--jsonl`, the report last."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from orchestrator.core.events import Event, to_wire
from orchestrator.core.ids import RunId
from orchestrator.core.report import report_json
from orchestrator.core.state import ENDED, RunState
from orchestrator.interfaces.cli.bodies.interrupts import stopping_on_signals
from orchestrator.interfaces.cli.bodies.reports import delivered, report_text
from orchestrator.interfaces.cli.bodies.showing import state_lines
from orchestrator.interfaces.cli.bodies.summaries import node_documents, run_document
from orchestrator.interfaces.cli.exit_codes import exit_code_of
from orchestrator.interfaces.cli.failures import keep_trace
from orchestrator.interfaces.cli.progress.displays import NoDisplay, RunDisplay, display_for
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.run import execute
from orchestrator.shell.journal import Listener


def execute_shown(session: Session, run: RunId) -> Result:
    """Execute a run with its progress shown and return what came of it.

    Raises what `orchestrator.run.execute` raises.
    """
    invocation = session.invocation
    display = display_for(invocation.display, session.streams, session.lang, invocation.environment)
    with display:
        state = _execute(session, run, display)
    return outcome_of(session, state)


def execute_quietly(session: Session, run: RunId) -> RunState:
    """Execute a run without showing anything, e.g. to let it fold a cancellation in; return its state."""
    return _execute(session, run, NoDisplay())


def outcome_of(session: Session, state: RunState) -> Result:
    """Return what a run came to: its report, or where it stands and how it goes on."""
    report = delivered(session, state)
    text = "\n".join(state_lines(session, state, None)) if report is None else report_text(session, report)
    data = {
        **run_document(state),
        "nodes": node_documents(state),
        "report": report_json(report) if report is not None else None,
    }
    return Result(
        data=data,
        text=text,
        code=exit_code_of(state.status, stopped=state.stopped),
        notes=tuple(_notes(session, state)),
    )


def _execute(session: Session, run: RunId, display: RunDisplay) -> RunState:
    shop = session.shop()

    def show(event: Event, state: RunState) -> None:
        session.stream(to_wire(run, event))
        display.show(event, state)

    def said() -> None:
        session.talk(
            "stopping; what was accepted is kept (once more to end at once)",
            "正在停止；已接受的内容会保留（再按一次立即结束）",
        )

    async def stoppable() -> RunState:
        stop = asyncio.Event()
        with stopping_on_signals(stop, said, lambda: display.__exit__(None, None, None)):
            return await execute(shop, run, listeners=[_harmless(show)], stop=stop)

    return asyncio.run(stoppable())


def _harmless(show: Listener) -> Listener:
    """Stop showing when the terminal is gone: that must not end a run."""
    lost = False

    def listen(event: Event, state: RunState) -> None:
        nonlocal lost
        if lost:
            return
        try:
            show(event, state)
        except OSError:
            lost = True

    return listen


def _notes(session: Session, state: RunState) -> Sequence[str]:
    run, pick = state.run, session.pick
    if state.status == "suspended":
        waiting = ", ".join(sorted(state.requests.keys()))
        return (
            pick(
                f"the run waits for you: {waiting}; after answering: maskgrad resume {run}",
                f"运行在等待您：{waiting}；回答之后：maskgrad resume {run}",
            ),
        )
    if state.status == "reviewing":
        return (pick(f"back in review: maskgrad review {run}", f"已退回审核：maskgrad review {run}"),)
    if state.status not in ENDED:
        return (
            pick(
                f"interrupted; what was accepted is kept. Go on with: maskgrad resume {run}",
                f"已中断；已接受的内容会保留。继续：maskgrad resume {run}",
            ),
        )
    if state.status == "failed" and state.internal_error:
        file = keep_trace(state.internal_error, session.settings.home)
        return (
            pick(
                f"a bug of ours; the trace is in {file}, please report it with that file",
                f"本程序的错误；跟踪信息保存在 {file}，报告问题时请附上该文件",
            ),
        )
    return (
        pick(
            f"run {run}: maskgrad evidence {run} · maskgrad leaks {run}",
            f"运行 {run}：maskgrad evidence {run} · maskgrad leaks {run}",
        ),
    )
