"""The user's word on a proposal: approve exactly one revision, reject it, or ask for changes."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.desk import approve as approve_revision
from orchestrator.desk import reject as reject_proposal
from orchestrator.desk import request_changes as record_changes
from orchestrator.interfaces.cli.bodies.summaries import plan_anew, run_document
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session

BY: Final = "cli"
"""How an approval or answer came in, in the log."""

_TOKEN: Final = re.compile(r"(?P<run>[^@\s]+)@(?P<revision>[0-9]{1,9})-(?P<hash>[0-9a-f]{8,64})")


def approve(session: Session, token: str) -> Result:
    """Approve what `token` names; raises `UsageProblem` for another form, `StaleApproval` for another revision."""
    match = _TOKEN.fullmatch(token.strip())
    if match is None:
        raise UsageProblem(
            "approval_form",
            en=f"{token!r} names no revision to approve; accepted: ID@REV-HASH8, "
            "as `maskgrad review ID` prints it behind `Approve exactly this revision`",
            zh=f"{token!r} 没有指明要批准的修订版；可接受：ID@REV-HASH8，"
            "即 `maskgrad review ID` 在“批准此版本”之后给出的标识",
        )
    state = approve_revision(
        session.desk(), RunId(match["run"]), int(match["revision"]), match["hash"], by=BY
    )
    return _decided(
        state,
        session.pick(
            f"approved; begin with: maskgrad run {state.run}", f"已批准；开始执行：maskgrad run {state.run}"
        ),
    )


def reject(session: Session, run: str, note: str) -> Result:
    """Reject the proposal under review; raises `WrongState` outside of a review."""
    state = reject_proposal(session.desk(), RunId(run), note)
    step = plan_anew(state)
    note = session.pick(
        f"rejected; the run has ended. Plan anew: {step}", f"已拒绝；运行已结束。重新规划：{step}"
    )
    return _decided(state, note)


def request_changes(session: Session, run: str, note: str) -> Result:
    """Write down what should be different; raises `UsageProblem` for an empty note."""
    if not note.strip():
        raise UsageProblem(
            "empty_note",
            en=f"the note {note!r} says nothing; accepted: what should be different, in your words",
            zh=f"说明 {note!r} 为空；可接受：用您的话说明希望的改动",
        )
    state = record_changes(session.desk(), RunId(run), note)
    return _decided(
        state,
        session.pick(
            f"written down; still in review. Make the change with: maskgrad edit {state.run}",
            f"已记录；仍处于审核中。请用此命令修改：maskgrad edit {state.run}",
        ),
    )


def _decided(state: RunState, note: str) -> Result:
    return Result(data=run_document(state), notes=(note,))
