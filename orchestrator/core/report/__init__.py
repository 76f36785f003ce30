"""The delivered report: its contents, how it is put together, shown and compared."""

from orchestrator.core.report.assemble import RunFacts, TerminalOutput, assemble_report, run_facts
from orchestrator.core.report.contents import (
    REPORT,
    Citation,
    CitedPlace,
    DeliveredReport,
    LeakRow,
    NodeConfidence,
    ReportedConflict,
    report_json,
)
from orchestrator.core.report.digest import result_digest
from orchestrator.core.report.markdown import render_markdown
from orchestrator.core.report.wording import confidence_words, effect_words, verdict_words

__all__ = [
    "REPORT",
    "Citation",
    "CitedPlace",
    "DeliveredReport",
    "LeakRow",
    "NodeConfidence",
    "ReportedConflict",
    "RunFacts",
    "TerminalOutput",
    "assemble_report",
    "confidence_words",
    "effect_words",
    "render_markdown",
    "report_json",
    "result_digest",
    "run_facts",
    "verdict_words",
]
