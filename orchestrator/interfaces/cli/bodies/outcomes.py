"""What a run came to, as a command says it: its report, or where it stands and how it goes on."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.core.report import report_json
from orchestrator.core.stand_ins import stood_in
from orchestrator.core.state import ENDED, RunState
from orchestrator.interfaces.cli.bodies.given_answers import given_answers
from orchestrator.interfaces.cli.bodies.looking import is_interrupted
from orchestrator.interfaces.cli.bodies.model_switching import stand_in_lines
from orchestrator.interfaces.cli.bodies.reports import delivered, report_text
from orchestrator.interfaces.cli.bodies.showing import state_lines
from orchestrator.interfaces.cli.bodies.spending import spent_document, spent_lines
from orchestrator.interfaces.cli.bodies.summaries import is_rejected, node_documents, plan_anew, run_document
from orchestrator.interfaces.cli.exit_codes import exit_code_of
from orchestrator.interfaces.cli.failures import keep_trace
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session


def outcome_of(session: Session, state: RunState) -> Result:
    """Return what a run came to: its report, or where it stands and how it goes on; nobody executes it any more."""
    interrupted = is_interrupted(session, state)
    report = delivered(session, state)
    given = given_answers(session, state)
    text = (
        "\n".join(state_lines(session, state, None, interrupted=interrupted, given=given))
        if report is None
        else report_text(report, session.registry)
    )
    spent = spent_lines(session, state)
    text = "\n".join([text, *(["", *spent] if spent else [])])
    data = {
        **run_document(state, interrupted=interrupted, given=given),
        "nodes": node_documents(state),
        "spent": spent_document(session, state),
        "stood_in": list(stood_in(state)),
        "report": report_json(report) if report is not None else None,
    }
    return Result(
        data=data,
        text=text,
        code=exit_code_of(state.status, stopped=state.stopped),
        notes=(*stand_in_lines(state, session.lang), *_notes(session, state)),
    )


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
    if is_rejected(state):
        step = plan_anew(state)
        return (pick(f"plan anew: {step}", f"重新规划：{step}"),)
    if state.status == "confirmed":
        return (pick(f"not begun: maskgrad run {run}", f"尚未开始：maskgrad run {run}"),)
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
