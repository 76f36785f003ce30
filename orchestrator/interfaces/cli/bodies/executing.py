"""Execute a run in this process and show it: progress on stderr, events with `--jsonl`, the report last."""

from __future__ import annotations

import asyncio
from functools import partial

from orchestrator.core.events import Event, to_wire
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.interrupts import stopping_on_signals
from orchestrator.interfaces.cli.bodies.looking import run_state
from orchestrator.interfaces.cli.bodies.outcomes import outcome_of
from orchestrator.interfaces.cli.bodies.spending import learn_costs
from orchestrator.interfaces.cli.progress.displays import RunDisplay, display_for
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.run import execute
from orchestrator.shell.journal import Listener
from orchestrator.shell.run_log import run_log
from orchestrator.shell.telemetry import run_spans


def execute_shown(session: Session, run: RunId) -> Result:
    """Execute a run with its progress shown and return what came of it.

    Raises what `orchestrator.run.execute` raises.
    """
    invocation = session.invocation
    display = display_for(invocation.display, session.streams, session.lang, invocation.environment)
    with display:
        state = _execute(session, run, display)
    outcome = outcome_of(session, state)
    learn_costs(session, state)
    return outcome


def _execute(session: Session, run: RunId, display: RunDisplay) -> RunState:
    async def stoppable() -> RunState:
        stop = asyncio.Event()
        with stopping_on_signals(stop, partial(say_stopping, session), partial(close, display)):
            return await executed(session, run, stop, showing(session, run, display))

    return asyncio.run(stoppable())


async def executed(session: Session, run: RunId, stop: asyncio.Event, *shown: Listener) -> RunState:
    """Execute a run with its log and its spans, told to `shown`; raises as `orchestrator.run.execute`."""
    shop = session.shop()
    if shop.models_are_off() and _wants_models(run_state(session, run)):
        session.talk(
            "models are switched off: the embedded default works in their place (maskgrad models)",
            "模型已关闭：由内置方式代替（maskgrad models）",
        )
    with (
        run_spans(session.settings, warn=session.talk) as spans,
        run_log(session.settings, run, warn=session.talk) as log,
    ):
        return await execute(shop, run, listeners=[*shown, *spans, *log], stop=stop)


def showing(session: Session, run: RunId, display: RunDisplay) -> Listener:
    """Return the listener that shows a run's progress and, with `--jsonl`, writes its events."""

    def show(event: Event, state: RunState) -> None:
        session.stream(to_wire(run, event))
        display.show(event, state)

    return _harmless(show)


def say_stopping(session: Session) -> None:
    """Say that the first signal was heard."""
    session.talk(
        "stopping; what was accepted is kept (once more to end at once)",
        "正在停止；已接受的内容会保留（再按一次立即结束）",
    )


def close(display: RunDisplay) -> None:
    """Give the terminal back, where the process ends at once."""
    display.__exit__(None, None, None)


def _wants_models(state: RunState) -> bool:
    proposal = state.proposal
    return proposal is not None and any(
        agent.model_policy.kind == "model" for agent in proposal.roster.agents
    )


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
