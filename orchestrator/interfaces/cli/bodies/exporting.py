"""Write a run to a file or to stdout: report, citations, events, chart, proposal."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Final, Literal, get_args

from graphs.plan import index_plan
from graphs.render import to_mermaid
from orchestrator.core.errors import NoReport
from orchestrator.core.events import to_wire
from orchestrator.core.report import DeliveredReport, report_json
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.looking import proposal_of, run_state
from orchestrator.interfaces.cli.bodies.reports import delivered, report_text
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.results import Result, json_line
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.editing.document import to_document
from orchestrator.shell.runs import events_of, refused_as

Format = Literal["md", "json", "jsonl", "mermaid", "yaml"]
_FORMATS: Final[tuple[Format, ...]] = get_args(Format)


def export(session: Session, run: str, format_: str, output: str | None) -> Result:
    """Return a run in a format, or write it to a file as a whole.

    Raises `UsageProblem` for an unknown format or a file that can't be written, `NoReport` for a report that does not
    exist (yet).
    """
    form = _format(format_)
    state = run_state(session, run)
    text = _text(session, state, form)
    if output is None:
        return Result(data={"run": state.run, "format": form, "text": text}, text=text)
    _write(Path(output), text)
    note = session.pick(f"written: {output}", f"已写入：{output}")
    return Result(data={"run": state.run, "format": form, "file": output}, notes=(note,))


def _format(text: str) -> Format:
    for known in _FORMATS:
        if text == known:
            return known
    accepted = ", ".join(_FORMATS)
    raise UsageProblem(
        "unknown_format",
        en=f"format {text!r} does not exist; accepted: {accepted}",
        zh=f"没有格式 {text!r}；可接受：{accepted}",
    )


def _text(session: Session, state: RunState, form: Format) -> str:
    match form:
        case "md":
            return report_text(_report(session, state), session.registry)
        case "json":
            return json.dumps(report_json(_report(session, state)), ensure_ascii=False, indent=2) + "\n"
        case "jsonl":
            events = events_of(session.store(), state.run)
            return "".join(f"{json_line(to_wire(state.run, event))}\n" for event in events)
        case "mermaid":
            return _chart(session, state)
        case "yaml":
            proposal, registry = proposal_of(state), session.registry
            assert state.sha256 is not None, "a proposal has a hash"
            return to_document(proposal, registry, session.lang, run=state.run, sha256=state.sha256)


def _report(session: Session, state: RunState) -> DeliveredReport:
    report = delivered(session, state)
    if report is None:
        raise NoReport(state.run, refused_as(session.store(), state))
    return report


def _chart(session: Session, state: RunState) -> str:
    proposal = proposal_of(state)
    index = state.index or index_plan(proposal.plan)
    assigned = {node: str(agent) for node, agent in proposal.assignment.items()}
    assigned.update({node: str(agent) for node, agent in state.assigned.items()})
    states = {name: "ready" if node.ready else node.status for name, node in state.nodes.items()}
    return to_mermaid(index, assigned, states, session.lang)


def _write(file: Path, text: str) -> None:
    """Write through a temporary file, so that a failure leaves the file that was there."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", newline="\n", dir=file.parent, delete=False
        ) as draft:
            draft.write(text)
        os.chmod(draft.name, _mode_for(file))
        os.replace(draft.name, file)
    except OSError as error:
        raise UsageProblem(
            "file_not_written",
            en=f"{str(file)!r} can't be written ({error.strerror}); "
            "give a file in a folder that exists and may be written to",
            zh=f"无法写入 {str(file)!r}（{error.strerror}）；请给出可写文件夹中的文件",
        ) from error


def _mode_for(file: Path) -> int:
    """The mode of the file that is replaced, else what the process gives new files."""
    if file.exists():
        return file.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
