"""The gate before an execution: a person sees the review and chooses by number.

Words typed here never approve anything, whatever they say: they are written down as a request for changes, and the
gate is shown again.
"""

from __future__ import annotations

from orchestrator.core.errors import InvalidProposal, StaleApproval
from orchestrator.core.state import RunState
from orchestrator.desk import approve, reject, request_changes
from orchestrator.interfaces.cli.bodies.deciding import BY
from orchestrator.interfaces.cli.bodies.editing import edit_in_editor
from orchestrator.interfaces.cli.bodies.looking import proposal_of, run_state
from orchestrator.interfaces.cli.bodies.reviewing import review_text
from orchestrator.interfaces.cli.bodies.summaries import approval_of
from orchestrator.interfaces.cli.problems import Problem
from orchestrator.interfaces.cli.session import Session


def pass_gate(session: Session, state: RunState) -> RunState:
    """Show the review and ask until a person decides; return the run as it is then.

    Approved, rejected, or still in review when the person left.
    """
    while True:
        session.streams.talk(review_text(session, state))
        while True:
            typed = session.streams.ask(_question(session, state))
            after = None if typed is None else _decide(session, state, typed.strip())
            if typed is None or after is None:
                return run_state(session, state.run)
            if after.status != "reviewing":
                return after
            if after.sha256 != state.sha256:
                state = after
                break


def _question(session: Session, state: RunState) -> str:
    token = approval_of(state)
    return session.pick(
        f"\n  1  approve {token} and run it\n  2  edit it\n  3  ask for changes\n  4  reject it\n"
        "  5  leave it in review\n"
        "number, or words to be noted as a request for changes: ",
        f"\n  1  批准 {token} 并执行\n  2  编辑\n  3  请求修改\n  4  拒绝\n  5  保持待审核并离开\n"
        "请输入编号；输入的文字会记为修改请求：",
    )


def _decide(session: Session, state: RunState, typed: str) -> RunState | None:
    """Carry one line of input out and return the run after it; `None` when the person leaves."""
    match typed:
        case "":
            return state
        case "1":
            return _approve(session, state)
        case "2":
            return _edit(session, state)
        case "3":
            note = session.streams.ask(session.pick("what should be different: ", "希望的改动："))
            return _note(session, state, (note or "").strip())
        case "4":
            note = session.streams.ask(session.pick("why (may be empty): ", "原因（可为空）："))
            return reject(session.desk(), state.run, (note or "").strip())
        case "5":
            return None
        case _ if not any(character.isalpha() for character in typed):
            # A number that is not offered is a slip, and no words that anybody could act on.
            session.talk(
                f"{typed!r} is no choice; accepted: 1, 2, 3, 4, 5, or words that say what should be different",
                f"{typed!r} 不是选项；可接受：1、2、3、4、5，或说明希望改动的文字",
            )
            return state
        case _:
            return _note(session, state, typed)


def _approve(session: Session, state: RunState) -> RunState:
    """Approve what was shown. If another process changed it meanwhile, say so: the new revision is shown next."""
    assert state.sha256 is not None, "a run in review has a hash"
    try:
        return approve(session.desk(), state.run, proposal_of(state).revision, state.sha256, by=BY)
    except StaleApproval as error:
        session.streams.talk(error.message(session.lang))
        return run_state(session, state.run)


def _edit(session: Session, state: RunState) -> RunState:
    try:
        return edit_in_editor(session, state)
    except (InvalidProposal, Problem) as error:
        session.streams.talk(error.message(session.lang))
        return state


def _note(session: Session, state: RunState, note: str) -> RunState:
    if not note:
        return state
    after = request_changes(session.desk(), state.run, note)
    session.talk(
        "written down as a request for changes; nothing was approved. Make the change with 2 (edit)",
        "已记为修改请求；没有批准任何内容。可用 2（编辑）进行修改",
    )
    return after
