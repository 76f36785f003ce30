"""`run` and `resume`: from a goal, a run or a file to what came of it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from orchestrator.core.errors import WrongState
from orchestrator.core.ids import RunId
from orchestrator.core.state import ENDED, RunState
from orchestrator.desk import approve as approve_revision
from orchestrator.desk import check_task, post_control
from orchestrator.interfaces.cli.bodies.deciding import BY
from orchestrator.interfaces.cli.bodies.gate import pass_gate
from orchestrator.interfaces.cli.bodies.looking import (
    executed_since,
    holder_name,
    living_lease,
    proposal_of,
    run_state,
)
from orchestrator.interfaces.cli.bodies.outcomes import outcome_of
from orchestrator.interfaces.cli.bodies.reviewing import review_result, waiting_result
from orchestrator.interfaces.cli.bodies.starting import (
    Draft,
    copy_run,
    draft_run,
    execute_shown,
    shadow_of,
)
from orchestrator.interfaces.cli.bodies.summaries import approval_of, status_words
from orchestrator.interfaces.cli.bodies.templating import template_named, with_offer, with_template
from orchestrator.interfaces.cli.problems import NotFound, Problem, UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import refused_as
from orchestrator.shell.store.errors import RunBusy, StoreUnavailable, UnknownRun

APPROVED_UNSEEN: Final = "--approve"
"""How an approval by `run --approve` stands in the log."""


class HeldElsewhere(Problem):
    """Another process executes the run."""

    kind = "busy"


_YAML: Final = (".yaml", ".yml")


def plan(session: Session, draft: Draft) -> Result:
    """Draft a run and return its review; raises as `draft_run` does, and `UsageProblem` for a template.

    With a template the next revision takes over what fits of it; without one the review says if there is one.
    """
    if not draft.template:
        state = draft_run(session, draft)
        return with_offer(session, state, review_result(session, state))
    template = template_named(session, draft.template)
    state, lines = with_template(session, draft_run(session, draft), template)
    result = review_result(session, state)
    return replace(result, notes=(*lines, *result.notes))


def run(
    session: Session, draft: Draft, *, approve: bool, again: bool = False, shadow: bool = False
) -> Result:
    """Draft or open a run, have it approved and execute it; with `shadow`, the draft's models work beside it only.

    Without a terminal nothing is approved: the review is returned with the code `WAITING`. A run that ended is shown
    again, or executed as a new one with `again`. Raises as `draft_run` and `orchestrator.run.execute` do, and
    `UsageProblem` for `again` with anything but a run that ended and for `shadow` without a model.
    """
    beside = shadow_of(session, draft) if shadow else None
    if shadow:
        draft = replace(draft, model="", planner_model="", base_url="")
    state = _opened(session, draft, again=again)
    if state.status in ENDED:
        return _ended_before(session, state)
    try:
        return _decided_and_executed(session, state, approve=approve, beside=beside)
    except RunBusy as error:
        raise _held_elsewhere(session, state.run, error) from error
    except StoreUnavailable as error:
        # The run exists: the same command with its goal would draft it again.
        option = " --approve" if approve else ""
        error.stopped(state.run, kept=state.seq, step=f"maskgrad run {state.run}{option}")
        raise


def _decided_and_executed(
    session: Session, state: RunState, *, approve: bool, beside: Draft | None
) -> Result:
    if state.status == "reviewing":
        check_task(proposal_of(state))
        if approve:
            assert state.sha256 is not None, "a run in review has a hash"
            revision = proposal_of(state).revision
            approve_revision(session.desk(), state.run, revision, state.sha256, by=APPROVED_UNSEEN)
        elif session.interactive:
            state = pass_gate(session, state)
            if state.status == "reviewing":
                return _left(session, state)
            if state.status in ENDED:
                return outcome_of(session, state)
        else:
            return _waiting(session, state, beside)
    return execute_shown(session, state.run, beside)


def _waiting(session: Session, state: RunState, beside: Draft | None) -> Result:
    shown = waiting_result(session, state)
    if beside is None:
        return shown
    named = (
        ("--model", beside.model),
        ("--planner-model", beside.planner_model),
        ("--base-url", beside.base_url),
    )
    options = " ".join(f"{option} {shlex.quote(value)}" for option, value in named if value)
    again = f"maskgrad run {state.run} --shadow {options}"
    note = session.pick(f"with its shadow: {again}", f"连同其影子：{again}")
    return replace(shown, notes=(*shown.notes, note))


def resume(session: Session, run: str) -> Result:
    """Go on with a run: let its executor go on where one lives, else execute it here.

    Raises `WrongState` for a run that was never approved; a run that ended is only shown.
    """
    name = RunId(run)
    # Read before the state: a request that is folded in between the two readings is then in one of them.
    waits = _pause_waits(session, name)
    state = run_state(session, run)
    if state.status in ENDED:
        return outcome_of(session, state)
    if state.status in ("drafting", "reviewing"):
        raise WrongState(run, state.status, wanted="approved", next_step=f"maskgrad review {run}")
    lease = living_lease(session, name)
    if state.paused or waits:
        post_control(session.desk(), name, "continue", by=BY)
        if lease is not None:
            note = session.pick(
                f"asked {holder_name(lease.holder)} to go on. Follow it with: maskgrad watch {run}",
                f"已请 {holder_name(lease.holder)} 继续。可跟踪：maskgrad watch {run}",
            )
            return Result(data=_document(state), notes=(note,))
    try:
        return execute_shown(session, name)
    except RunBusy as error:
        raise _held_elsewhere(session, name, error) from error


def _held_elsewhere(session: Session, run: RunId, busy: RunBusy) -> HeldElsewhere:
    """Say who executes a run, since when, and what can be done about it."""
    holder, since = holder_name(busy.holder), executed_since(session, run)
    until = datetime.fromtimestamp(busy.expires, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    en, zh = (f" since {since}", f"自 {since} 起") if since is not None else ("", "")
    return HeldElsewhere(
        busy.code,
        en=f"run {run!r} is being executed by {holder}{en}; accepted: one executor at a time. Follow it: maskgrad "
        f"watch {run}; stop it: maskgrad pause {run} or maskgrad cancel {run}. If that process hangs or is gone, "
        f"end it: its hold runs out at {until} and is then free for: maskgrad resume {run}",
        zh=f"运行 {run!r} {zh}正由 {holder} 执行；可接受：同一时间只有一个执行者。跟踪：maskgrad watch {run}；"
        f"停止：maskgrad pause {run} 或 maskgrad cancel {run}。如该进程无响应或无法访问，请结束它：其占用将于 {until} "
        f"到期，之后可用：maskgrad resume {run}",
    )


def _left(session: Session, state: RunState) -> Result:
    """A person left the gate: nothing was decided, and the review goes on where it was."""
    note = session.pick(
        f"left in review; nothing was approved and nothing was run. Approve with: maskgrad approve "
        f"{approval_of(state)}, or go on with: maskgrad run {state.run}",
        f"仍处于审核中；没有批准也没有执行任何内容。批准：maskgrad approve {approval_of(state)}，"
        f"或继续：maskgrad run {state.run}",
    )
    return replace(outcome_of(session, state), notes=(note,))


def _pause_waits(session: Session, run: RunId) -> bool:
    """Whether a request to pause was not taken up yet; one that a dead executor left would hold the next one up."""
    return any(message.kind == "pause" for message in session.store().pending(run))


def _ended_before(session: Session, state: RunState) -> Result:
    """Show a run that had ended before it was asked for: nothing is executed twice unasked."""
    shown = outcome_of(session, state)
    if state.approved_revision is None:
        return shown
    note = session.pick(
        f"this run had ended already: {status_words(state.status, session.lang)}; nothing was executed. "
        f"To execute its proposal as a new run: maskgrad run {state.run} --again",
        f"该运行此前已结束：{status_words(state.status, session.lang)}；没有再次执行。"
        f"要将其方案作为新运行执行：maskgrad run {state.run} --again",
    )
    return replace(shown, notes=(note, *shown.notes))


def _opened(session: Session, draft: Draft, *, again: bool) -> RunState:
    """Return the run that the first argument names, or a new one for a file or a goal."""
    if _is_run(session, draft.goal):
        _refuse_draft_options(draft)
        state = run_state(session, draft.goal)
        if again and state.status not in ENDED:
            status = refused_as(session.store(), state)
            raise WrongState(draft.goal, status, wanted="ended", next_step=f"maskgrad run {draft.goal}")
        if again:
            state = copy_run(session, state.run)
            session.talk(
                f"{draft.goal} has ended; its proposal is run again as {state.run}",
                f"{draft.goal} 已结束；以新运行 {state.run} 再次执行其方案",
            )
        return state
    if again:
        raise UsageProblem(
            "again_without_run",
            en=f"--again executes a run that ended once more, and {draft.goal!r} is no run; "
            "leave --again out, or name a run: maskgrad runs",
            zh=f"--again 用于再次执行已结束的运行，而 {draft.goal!r} 不是运行；"
            "请去掉 --again，或给出运行标识：maskgrad runs",
        )
    file = _file_named(draft.goal)
    return draft_run(session, replace(draft, goal="", file=file) if file is not None else draft)


def _is_run(session: Session, text: str) -> bool:
    if not text or text != text.strip() or any(c.isspace() for c in text):
        return False
    try:
        session.store().run(text)
    except UnknownRun:
        if text.startswith("r-") and text.isascii() and len(text) <= _ID_LENGTH:
            raise
        return False
    return True


_ID_LENGTH: Final = 12
"""A word of at most this length that begins with `r-` was meant to be the id of a run, not a goal."""


def _refuse_draft_options(draft: Draft) -> None:
    given = [
        option
        for option, value in (
            ("--sources", draft.sources),
            ("--allow-unresolved", draft.allow_unresolved),
            ("--forbid", draft.forbid),
            ("--profile", draft.profile),
            ("--model", draft.model),
            ("--planner-model", draft.planner_model),
            ("--base-url", draft.base_url),
        )
        if value
    ]
    if given:
        raise UsageProblem(
            "options_of_a_draft",
            en=f"{', '.join(given)} belong to a new goal and can't change run {draft.goal!r}; "
            f"edit it: maskgrad edit {draft.goal}",
            zh=f"{'、'.join(given)} 只用于新目标，不能改变运行 {draft.goal!r}；请编辑：maskgrad edit {draft.goal}",
        )


def _file_named(text: str) -> str | None:
    if not text or "\n" in text:
        return None
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):
        return None
    if is_file:
        return text
    if text.lower().endswith(_YAML) and not any(c.isspace() for c in text):
        raise NotFound(
            "file_not_found",
            en=f"there is no file {text!r}; accepted: a YAML file that "
            "`maskgrad export RUN --format yaml` wrote, a run, or a goal",
            zh=f"没有文件 {text!r}；可接受：由 `maskgrad export RUN --format yaml` 写出的 YAML 文件、运行标识或目标",
        )
    return None


def _document(state: RunState) -> dict[str, object]:
    return {"run": state.run, "status": state.status}
