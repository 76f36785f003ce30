"""Decide a point that a goal leaves open: the next revision is planned with that reading, its changes are shown."""

from __future__ import annotations

from agents.planning.clarifying import NotDecided
from orchestrator.interfaces.cli.bodies.editing import save_edit, under_review
from orchestrator.interfaces.cli.bodies.looking import proposal_of
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.clarifying import UnknownPoint, answer_of, clarified


def clarify(
    session: Session, run: str, point: str, *, choice: str | None, text: str | None, dry_run: bool
) -> Result:
    """Make the next revision of a proposal with one open point decided, by a number or in words.

    Raises `UsageProblem` for a point or a reading that does not exist and for words that say nothing to plan with,
    `WrongState` outside of a review, and what drafting raises.
    """
    state = under_review(session, run)
    proposal = proposal_of(state)
    words = " ".join((text or "").split())
    if bool(words) == (choice is not None):
        raise UsageProblem(
            "one_answer",
            en=f"say either a NUMBER or --text TEXT (got {choice!r} and {text!r}). Look at: maskgrad review {run}",
            zh=f"请只给出编号或 --text 之一（收到 {choice!r} 和 {text!r}）。查看：maskgrad review {run}",
        )
    try:
        answer = words or answer_of(proposal, point, choice or "")
        edited = clarified(session.shop(), proposal, point, answer)
    except (UnknownPoint, NotDecided) as error:
        code = "unknown_point" if isinstance(error, UnknownPoint) else f"decision_{error.code}"
        raise UsageProblem(code, en=error.message("en"), zh=error.message("zh")) from error
    return save_edit(session, state, edited, dry_run=dry_run)
