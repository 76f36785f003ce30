"""Show the proposal of a run for the review."""

from __future__ import annotations

from orchestrator.core.proposal import PROPOSAL
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.looking import is_interrupted, proposal_of, run_state
from orchestrator.interfaces.cli.bodies.requested_changes import requested_changes, requested_lines
from orchestrator.interfaces.cli.bodies.spending import estimate_lines
from orchestrator.interfaces.cli.bodies.summaries import approval_of, run_document, status_words
from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.editing.overview import render_review


def review(session: Session, run: str) -> Result:
    """Return the proposal of a run, whatever its state; raises `NotFound` for one without a proposal."""
    return review_result(session, run_state(session, run))


def review_result(session: Session, state: RunState) -> Result:
    """Return a proposal for people and as JSON, and the command that approves it."""
    proposal = proposal_of(state)
    findings = check_proposal(proposal, session.registry)
    data = {
        **run_document(state),
        "changes_requested": list(requested_changes(session, state)),
        "proposal": PROPOSAL.dump_python(proposal, mode="json"),
        "errors": list(findings.lines("error", session.lang)),
        "warnings": list(findings.lines("warning", session.lang)),
    }
    return Result(data=data, text=review_text(session, state), notes=_notes(session, state))


def waiting_result(session: Session, state: RunState) -> Result:
    """Return a review that nobody can be asked about: with the code of a run that waits for a person."""
    shown = review_result(session, state)
    note = session.pick(
        "this is no terminal, so nothing was approved and nothing was run; approve with: "
        f"maskgrad approve {approval_of(state)}, then: maskgrad run {state.run}",
        f"不是终端，因此没有批准也没有执行任何内容；批准：maskgrad approve {approval_of(state)}，"
        f"然后：maskgrad run {state.run}",
    )
    return Result(data=shown.data, text=shown.text, notes=(note,), code=ExitCode.WAITING)


def review_text(session: Session, state: RunState) -> str:
    """Return the review as text for a terminal."""
    proposal = proposal_of(state)
    assert state.sha256 is not None, "a proposal has a hash"
    registry = session.registry
    text = render_review(
        proposal,
        registry,
        session.lang,
        run=state.run,
        sha256=state.sha256,
        findings=check_proposal(proposal, registry),
        costs=estimate_lines(session, state),
    )
    head, *body = text.splitlines()
    text = "\n".join([head, *requested_lines(session, state), *body]) + "\n"
    if state.status == "reviewing":
        return text
    # The commands at its end are for a revision that is under review; this one is not, or no longer.
    commands = (f"maskgrad approve {state.run}@", f"maskgrad edit {state.run}")
    return "\n".join(
        line for line in text.splitlines() if not any(each in line for each in commands)
    ).rstrip()


def _notes(session: Session, state: RunState) -> tuple[str, ...]:
    if state.status == "reviewing":
        return ()
    words = status_words(state.status, session.lang, interrupted=is_interrupted(session, state))
    return (session.pick(f"not under review: the run is {words}", f"不在审核中：运行状态为{words}"),)
