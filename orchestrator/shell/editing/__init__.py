from orchestrator.shell.editing.changes import changes_between
from orchestrator.shell.editing.checks import ProposalFindings, check_proposal
from orchestrator.shell.editing.consequences import consequences
from orchestrator.shell.editing.document import from_document, goal_of_document, to_document
from orchestrator.shell.editing.findings import Finding
from orchestrator.shell.editing.overview import render_review

__all__ = [
    "Finding",
    "ProposalFindings",
    "changes_between",
    "check_proposal",
    "consequences",
    "from_document",
    "goal_of_document",
    "render_review",
    "to_document",
]
