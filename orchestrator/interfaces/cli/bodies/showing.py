"""Show a run as it is now."""

from __future__ import annotations

from typing import Final

from graphs.plan import natural_key
from orchestrator.core.events import ProposalRejected
from orchestrator.core.stand_ins import stood_in
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.effects import effect_lines
from orchestrator.interfaces.cli.bodies.given_answers import given_answers
from orchestrator.interfaces.cli.bodies.looking import (
    executed_since,
    holder_name,
    living_lease,
    run_state,
)
from orchestrator.interfaces.cli.bodies.model_switching import stand_in_lines
from orchestrator.interfaces.cli.bodies.reports import delivered, report_text
from orchestrator.interfaces.cli.bodies.requested_changes import requested_changes, requested_lines
from orchestrator.interfaces.cli.bodies.spending import spent_document, spent_lines
from orchestrator.interfaces.cli.bodies.summaries import (
    NOTHING_GIVEN,
    Given,
    is_answered,
    is_rejected,
    next_step,
    node_documents,
    node_lines,
    plan_anew,
    request_lines,
    run_document,
    shadow_words,
    status_words,
)
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.runs import events_of

SHOWN: Final = 10
"""Open requests that are shown with all their choices, and missing things that are named, unless all are asked for."""


def show(session: Session, run: str, *, whole: bool = False) -> Result:
    """Return state, sub-tasks, open requests, who executes it, and the report if there is one.

    Of a large run the sub-tasks and requests are summed up, unless `whole`.
    """
    state = run_state(session, run)
    lease = living_lease(session, state.run)
    holder = lease.holder if lease is not None else None
    report = delivered(session, state)
    given = given_answers(session, state)
    # A report lists what is missing itself.
    interrupted = holder is None and state.status == "running"
    starting = holder is not None and state.status == "confirmed"
    lines = state_lines(
        session, state, holder, gaps=report is None, interrupted=interrupted, whole=whole, given=given
    )
    lines += stand_in_lines(state, session.lang)
    if report is not None:
        lines += ["", report_text(report, session.registry)]
    spent = spent_lines(session, state)
    lines += ["", *spent] if spent else []
    document = {
        **run_document(state, interrupted=interrupted, starting=starting, given=given),
        "holder": holder,
        "changes_requested": list(requested_changes(session, state)),
        "nodes": node_documents(state),
        "spent": spent_document(session, state),
        "stood_in": list(stood_in(state)),
    }
    step = next_step(state, starting=starting, given=given)
    notes = (session.pick(f"next: {step}", f"下一步：{step}"),) if step is not None else ()
    return Result(data=document, text="\n".join(lines), notes=notes)


def state_lines(
    session: Session,
    state: RunState,
    holder: str | None,
    *,
    gaps: bool = True,
    interrupted: bool = False,
    whole: bool = False,
    given: Given = NOTHING_GIVEN,
) -> list[str]:
    """Return a run's state for people.

    `gaps` tells whether to list what is missing, `interrupted` that nobody executes it although it is running, `whole`
    that a large run is not to be summed up, `given` what its requests were answered with and nobody took up yet.
    """
    lang = session.lang
    goal = state.created.goal if state.created is not None else ""
    status = status_words(
        state.status,
        lang,
        interrupted=interrupted,
        starting=holder is not None,
        answered=is_answered(state, given),
    )
    lines = [
        f"{state.run}  {status}{shadow_words(state.shadow_of, lang)}  #{state.seq}",
        session.pick("goal: ", "目标：") + one_line(goal, 300),
    ]
    if state.status == "reviewing":
        lines += requested_lines(session, state)
    if holder is not None:
        since = executed_since(session, state.run)
        lines.append(
            session.pick("executed by: ", "执行者：")
            + holder_name(holder)
            + (session.pick(f", since {since}", f"，自 {since} 起") if since is not None else "")
        )
    lines += node_lines(state, lang, whole=whole)
    lines += effect_lines(state, lang)
    rejected = is_rejected(state)
    if rejected:
        lines += _rejection(session, state)
    missing = state.gaps if gaps and not rejected else ()
    most = len(missing) if whole else SHOWN
    lines += [session.pick("missing: ", "缺少：") + one_line(gap, 300) for gap in missing[:most]]
    if len(missing) > most:
        more = len(missing) - most
        lines.append(
            session.pick(
                f"missing: {more} more; all: maskgrad show {state.run} --all",
                f"缺少：另有 {more} 项；全部：maskgrad show {state.run} --all",
            )
        )
    for number, key in enumerate(sorted(state.requests.keys(), key=natural_key)):
        request = state.requests[key]
        asked = request_lines(request, lang, given.get(key))
        if number >= SHOWN and not whole:
            lines += ([""] if number == SHOWN else []) + asked[:1]
            continue
        lines += ["", *asked]
        if request.sources and key not in given:
            step = plan_anew(state)
            lines.append(session.pick(f"    or plan anew: {step}", f"    或重新规划：{step}"))
    if state.internal_error:
        last = state.internal_error.strip().splitlines()[-1]
        lines.append(session.pick("error of the program: ", "程序错误：") + one_line(last, 300))
    return lines


def _rejection(session: Session, state: RunState) -> list[str]:
    """When the proposal was rejected, and why."""
    for event in events_of(session.store(), state.run, upto=state.seq):
        if isinstance(event.body, ProposalRejected):
            day, time = event.ts[:10], event.ts[11:16]
            why = one_line(event.body.note, 300) or session.pick("no reason given", "未说明原因")
            return [
                session.pick(
                    f"rejected by you on {day} {time} UTC: {why}", f"您于 {day} {time} UTC 拒绝了方案：{why}"
                )
            ]
    return []
