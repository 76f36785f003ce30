"""Fold the log of a run again, to its end or to one event. Pure: nothing is executed."""

from __future__ import annotations

from orchestrator.core.events import Event, to_wire
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import apply, initial
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.looking import whole_number
from orchestrator.interfaces.cli.bodies.showing import state_lines
from orchestrator.interfaces.cli.bodies.summaries import node_documents, run_document
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.progress.changes import Narrator
from orchestrator.interfaces.cli.progress.logfmt import logfmt
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import events_of


def replay(session: Session, run: str, at: str) -> Result:
    """Return the changes up to the event `at` and the state after it; raises `UsageProblem` behind the end."""
    name = RunId(run)
    head = session.store().head(name)
    upto = whole_number("--at", at, least=1) if at else head
    if upto > head:
        raise UsageProblem(
            "behind_the_end",
            en=f"--at {upto!r} is behind the end of run {run!r}; accepted: 1 to {head}",
            zh=f"--at {upto!r} 超出运行 {run!r} 的末尾；可接受：1 到 {head}",
        )
    state, lines, narrator = initial(name), [], Narrator(session.lang)
    for event in events_of(session.store(), name, upto=upto):
        state = apply(state, event)
        session.stream(to_wire(name, event))
        lines += _lines(narrator, event, state)
    text = "\n".join([*lines, "", *state_lines(session, state, None)])
    return Result(data={**run_document(state), "head": head, "nodes": node_documents(state)}, text=text)


def _lines(narrator: Narrator, event: Event, state: RunState) -> list[str]:
    stamp = (("seq", event.seq), ("cause_seq", event.cause))
    changes = [change for change in narrator.tell(event, state) if change.weight != "activity"]
    lines = []
    for change in changes:
        # As while it runs: keys and codes are for programs, the sentence is for who does not read English.
        said = () if narrator.lang == "en" else (("said", change.beside_fields or change.sentence),)
        lines.append(logfmt(dict((*stamp, *change.fields, *said)).items()))
    return lines
