"""The delivered report of a run, from the store."""

from __future__ import annotations

from masks.domains import DomainRegistry
from orchestrator.core.ids import ArtefactId
from orchestrator.core.report import REPORT, DeliveredReport, render_markdown
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.store.errors import ArtefactUnreadable


def delivered(session: Session, state: RunState) -> DeliveredReport | None:
    """Return what a run delivered; `None` for one that delivered nothing (yet)."""
    if state.report is None:
        return None
    return REPORT.validate_json(kept_content(session, state, state.report))


def kept_content(session: Session, state: RunState, artefact: ArtefactId) -> bytes:
    """Return content that a run keeps; raises `ArtefactUnreadable`, naming the run and how to make it anew."""
    try:
        return session.store().get_artefact(artefact)
    except ArtefactUnreadable as error:
        error.needed_by(state.run)
        raise


def report_text(report: DeliveredReport, registry: DomainRegistry) -> str:
    """Return a report as Markdown, all of it in the goal's language: one document, one language."""
    names: dict[str, str] = {domain.id: domain.names[report.lang] for domain in registry.domains}
    return render_markdown(report, report.lang, domain_names=names)
