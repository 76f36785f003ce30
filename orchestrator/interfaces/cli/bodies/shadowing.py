"""Execute a run and beside it its shadow: the same goal with a model, which only records (seed 003, 4.3).

Nothing of the shadow reaches the run's result or exit code: the result is written when the run has ended, whatever the
shadow does by then, and what breaks in the shadow is only said.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from agents.planning.ports import Planner
from orchestrator.core.ids import RunId
from orchestrator.core.state import ENDED, RunState
from orchestrator.interfaces.cli.bodies.executing import close, executed, say_stopping, showing
from orchestrator.interfaces.cli.bodies.interrupts import stopping_on_signals
from orchestrator.interfaces.cli.bodies.outcomes import outcome_of
from orchestrator.interfaces.cli.bodies.spending import estimate_lines, learn_costs
from orchestrator.interfaces.cli.bodies.starting import Draft
from orchestrator.interfaces.cli.bodies.summaries import status_words
from orchestrator.interfaces.cli.bodies.thinking import planner_of, policy_of
from orchestrator.interfaces.cli.failures import failure_of
from orchestrator.interfaces.cli.progress.displays import RunDisplay, display_for
from orchestrator.interfaces.cli.results import Result, write_result
from orchestrator.interfaces.cli.session import Session
from orchestrator.run import shadow
from orchestrator.shell.proposing import ProposalOptions


def execute_with_shadow(session: Session, run: RunId, draft: Draft) -> Result:
    """Execute a run with its progress shown, and its shadow as `draft` asks for it; return what came of the run.

    The result is written as soon as the run has ended. Raises what `orchestrator.run.execute` raises for the run, and
    nothing for the shadow.
    """
    return asyncio.run(_both(session, run, draft))


async def _both(session: Session, run: RunId, draft: Draft) -> Result:
    invocation, stop = session.invocation, asyncio.Event()
    display = display_for(invocation.display, session.streams, session.lang, invocation.environment)
    with stopping_on_signals(stop, partial(say_stopping, session), partial(close, display)):
        beside = asyncio.ensure_future(_shadowed(session, run, draft, stop))
        try:
            result = await _delivered(session, run, display, stop)
            if not beside.done() and not stop.is_set():
                session.talk(
                    f"the shadow of {run} is still at work; Ctrl-C leaves it to be resumed",
                    f"{run} 的影子仍在运行；按 Ctrl-C 可停下，之后可继续",
                )
        except BaseException:
            stop.set()
            await asyncio.wait([beside])
            raise
        return replace(result, notes=await beside)


async def _delivered(session: Session, run: RunId, display: RunDisplay, stop: asyncio.Event) -> Result:
    """Execute the run and write what came of it."""
    with display:
        state = await executed(session, run, stop, showing(session, run, display))
    result = outcome_of(session, state)
    learn_costs(session, state)
    write_result(session.streams, session.invocation.form, result)
    return replace(result, written=True)


async def _shadowed(session: Session, run: RunId, draft: Draft, stop: asyncio.Event) -> tuple[str, ...]:
    """Draft and execute the shadow; return what to know of it."""
    made: RunState | None = None
    try:
        made = await _drafted(session, run, draft, stop)
        if made is None:
            return (session.pick("stopped before the shadow was drafted", "影子尚未起草即已停止"),)
        _say_begun(session, made)
        state = await executed(session, made.run, stop)
        learn_costs(session, state)
        return _notes(session, run, state)
    except Exception as error:  # noqa: BLE001 - whatever breaks in a shadow must not end the run beside it
        failure = failure_of(error, session.lang, home=session.settings.home)
        name = session.pick("the shadow", "影子") + (f" {made.run}" if made is not None else "")
        return (
            session.pick(
                f"{name} broke, which does not concern the run: {failure.message}",
                f"{name} 出错，不影响本运行：{failure.message}",
            ),
        )


async def _drafted(session: Session, run: RunId, draft: Draft, stop: asyncio.Event) -> RunState | None:
    """Return the shadow, approved; `None` when `stop` came first."""
    shop = session.shop()

    def thinking() -> tuple[ProposalOptions, Planner | None]:
        return ProposalOptions(policy=policy_of(session, draft)), planner_of(session, shop, draft)

    options, planner = await asyncio.to_thread(thinking)
    drafting = asyncio.ensure_future(shadow(shop, run, options, planner=planner))
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait([drafting, stopped], return_when=asyncio.FIRST_COMPLETED)
        return drafting.result() if drafting.done() else None
    finally:
        stopped.cancel()
        drafting.cancel()


def _say_begun(session: Session, state: RunState) -> None:
    if session.invocation.display == "none":
        return
    lines = "".join(f"\n  {line}" for line in estimate_lines(session, state))
    session.talk(
        f"{state.run} runs beside it as its shadow, and only records{lines}",
        f"{state.run} 作为影子一并运行，只作记录{lines}",
    )


def _notes(session: Session, run: RunId, state: RunState) -> tuple[str, ...]:
    compare = f"maskgrad compare {run} {state.run}"
    if state.status in ENDED:
        words = status_words(state.status, session.lang)
        return (
            session.pick(
                f"its shadow {state.run}: {words}. Compare them: {compare}",
                f"其影子 {state.run}：{words}。对比：{compare}",
            ),
        )
    words = status_words(state.status, session.lang, interrupted=True)
    step = f"maskgrad {'show' if state.status == 'suspended' else 'resume'} {state.run}"
    return (
        session.pick(
            f"its shadow {state.run}: {words}. Go on with: {step}. Compare them: {compare}",
            f"其影子 {state.run}：{words}。继续：{step}。对比：{compare}",
        ),
    )
