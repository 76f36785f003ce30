"""The working state of one attempt: what is settled, kept outside the messages and put into a prompt when needed.

Facts of the execution, not a model's recollection (seed 001, 5.2): code adds to it what was recorded. It goes into the
log as JSON and comes back unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from agents.evidence import EvidenceId

SCHEMA: Final = "maskgrad.working-state/1"


class InvalidWorkingState(ValueError):
    """Raised for a stored working state of another shape; says which field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something found."""

    statement: str
    evidence: tuple[EvidenceId, ...] = ()
    """What it rests on. Without any it is not confirmed: it enters no summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingState:
    """What is done, found, excluded and open. Equal entries are kept once, in the order of their arrival."""

    goal: str
    done: tuple[str, ...] = ()
    """Steps that are finished."""
    findings: tuple[Finding, ...] = ()
    excluded: tuple[str, ...] = ()
    """Directions that were tried and lead nowhere, such as a search without a result."""
    open_points: tuple[str, ...] = ()
    artefacts: tuple[str, ...] = ()
    """Ids of what was made or stored: files, results kept whole, error codes."""

    @property
    def confirmed(self) -> tuple[Finding, ...]:
        """The findings that rest on evidence."""
        return tuple(finding for finding in self.findings if finding.evidence)

    def with_done(self, step: str, *artefacts: str) -> WorkingState:
        """Return the state after a step, with what it made; the step is not open any more."""
        return replace(
            self,
            done=_with(self.done, step),
            artefacts=_with(self.artefacts, *artefacts),
            open_points=tuple(point for point in self.open_points if point != step),
        )

    def with_finding(self, statement: str, evidence: Iterable[EvidenceId] = ()) -> WorkingState:
        """Return the state with a finding; a statement that is known gets the new evidence beside its own."""
        added = tuple(evidence)
        for place, finding in enumerate(self.findings):
            if finding.statement == statement:
                merged = replace(finding, evidence=_with(finding.evidence, *added))
                return replace(self, findings=(*self.findings[:place], merged, *self.findings[place + 1 :]))
        return replace(
            self, findings=(*self.findings, Finding(statement=statement, evidence=_with((), *added)))
        )

    def without_evidence(self, lost: Iterable[EvidenceId]) -> WorkingState:
        """Return the state after evidence was lost: what rested on it alone is a finding, and confirmed no longer."""
        gone = frozenset(lost)
        kept = tuple(
            replace(finding, evidence=tuple(e for e in finding.evidence if e not in gone))
            for finding in self.findings
        )
        return replace(self, findings=kept)

    def with_excluded(self, direction: str) -> WorkingState:
        """Return the state with a direction that need not be tried again."""
        return replace(self, excluded=_with(self.excluded, direction))

    def with_open(self, *points: str) -> WorkingState:
        """Return the state with points that are still to be settled."""
        return replace(self, open_points=_with(self.open_points, *points))

    def document(self) -> dict[str, Any]:
        """Return it as a JSON value, `read_working_state`'s counterpart."""
        return {
            "schema": SCHEMA,
            "goal": self.goal,
            "done": list(self.done),
            "findings": [{"statement": f.statement, "evidence": list(f.evidence)} for f in self.findings],
            "excluded": list(self.excluded),
            "open_points": list(self.open_points),
            "artefacts": list(self.artefacts),
        }


def read_working_state(document: object) -> WorkingState:
    """Return the working state of a JSON value; raises `InvalidWorkingState` for anything but a whole one."""
    if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
        raise InvalidWorkingState(
            f"working state {str(document)[:80]!r}: an object of schema {SCHEMA!r} is expected"
        )
    names = {field.name for field in fields(WorkingState)} | {"schema"}
    if set(document) != names:
        raise InvalidWorkingState(
            f"working state with {sorted(map(str, document))}; expected are {sorted(names)}"
        )
    if not isinstance(document["goal"], str):
        raise InvalidWorkingState("field 'goal' of a working state is a text")
    return WorkingState(
        goal=document["goal"],
        done=_texts(document, "done"),
        findings=tuple(_finding(entry) for entry in _list(document, "findings")),
        excluded=_texts(document, "excluded"),
        open_points=_texts(document, "open_points"),
        artefacts=_texts(document, "artefacts"),
    )


def _finding(entry: object) -> Finding:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("statement"), str):
        raise InvalidWorkingState(
            f"finding {str(entry)[:80]!r}: an object with 'statement' and 'evidence' is expected"
        )
    return Finding(
        statement=entry["statement"], evidence=tuple(EvidenceId(e) for e in _texts(entry, "evidence"))
    )


def _list(document: Mapping[str, Any], name: str) -> list[object]:
    value = document.get(name)
    if not isinstance(value, list):
        raise InvalidWorkingState(f"field {name!r} of a working state is a list, not {type(value).__name__}")
    return value


def _texts(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = _list(document, name)
    if not all(isinstance(value, str) for value in values):
        raise InvalidWorkingState(f"field {name!r} of a working state is a list of texts")
    return tuple(str(value) for value in values)


def _with(known: tuple[str, ...], *new: str) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*known, *new)))
