"""Show the proposal of a run for the review."""

from __future__ import annotations

from masks.domains import default_registry
from orchestrator.core.proposal import PROPOSAL
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.looking import proposal_of, run_state
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
    findings = check_proposal(proposal, default_registry())
    data = {
        **run_document(state),
        "proposal": PROPOSAL.dump_python(proposal, mode="json"),
        "errors": list(findings.lines("error", session.lang)),
        "warnings": list(findings.lines("warning", session.lang)),
    }
    return Result(data=data, text=review_text(session, state), notes=_notes(session, state))


def waiting_result(session: Session, state: RunState) -> Result:
    """Return a review that nobody can be asked about: with the code of a run that waits for a person."""
    shown = review_result(session, state)
    return Result(data=shown.data, text=shown.text, notes=shown.notes, code=ExitCode.WAITING)


def review_text(session: Session, state: RunState) -> str:
    """Return the review as text for a terminal."""
    proposal = proposal_of(state)
    assert state.sha256 is not None, "a proposal has a hash"
    registry = default_registry()
    return render_review(
        proposal,
        registry,
        session.lang,
        run=state.run,
        sha256=state.sha256,
        findings=check_proposal(proposal, registry),
    )


def _notes(session: Session, state: RunState) -> tuple[str, ...]:
    token = approval_of(state)
    if token is None:
        words = status_words(state.status, session.lang)
        return (session.pick(f"not under review: the run is {words}", f"不在审核中：运行状态为{words}"),)
    return (
        session.pick(f"approve with: maskgrad approve {token}", f"批准：maskgrad approve {token}"),
        session.pick(f"change with: maskgrad edit {state.run}", f"修改：maskgrad edit {state.run}"),
    )
