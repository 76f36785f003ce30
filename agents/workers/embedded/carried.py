"""Take over what the predecessors handed in: claims with their evidence, sources and leak marks, unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from agents.evidence import Claim, ClaimId, Evidence, EvidenceId, LeakMark, Source, SourceId, with_leak
from agents.results import Conflict, OpenQuestion, WorkOutput
from graphs.plan import NodeId, natural_key
from masks.leaks.markers import strip_markers

_Item = TypeVar("_Item")

_TABLE = re.compile(r"(?:^\|[^\n]*\|[ \t]*(?:\n|\Z))+", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The inputs of a sub-task as one pool; nothing depends on the order in which they arrived."""

    claims: tuple[Claim, ...]
    """Each claim once, with the leak marks of all that have its words or rest on exactly its evidence."""
    evidence: Mapping[EvidenceId, Evidence]
    sources: Mapping[SourceId, Source]
    open_questions: tuple[OpenQuestion, ...]
    conflicts: tuple[Conflict, ...]
    fields: Mapping[str, str]
    """Without leak markers: the marks are on the claims, and a marker declares for its own agent only."""
    tables: tuple[str, ...]
    """Markdown tables of the inputs' texts, with their anchors."""

    def roots(self, claim: Claim) -> frozenset[SourceId]:
        """Return the independent sources that `claim` rests on: copies stand for what they repeat."""
        pieces = (self.evidence.get(piece) for piece in claim.evidence)
        return frozenset(independent_source(piece.source, self.sources) for piece in pieces if piece)


def carry(inputs: Mapping[NodeId, WorkOutput]) -> Carried:
    """Return the pool of `inputs`, in the natural order of their ids."""
    outputs = [inputs[node] for node in sorted(inputs, key=natural_key)]
    texts = [strip_markers(output.text).text for output in outputs]
    return Carried(
        claims=_marked(claim for output in outputs for claim in output.claims),
        evidence={piece.id: piece for output in outputs for piece in output.evidence},
        sources={source.id: source for output in outputs for source in output.sources},
        open_questions=_once(question for output in outputs for question in output.open_questions),
        conflicts=_once(conflict for output in outputs for conflict in output.conflicts),
        fields={name: strip_markers(text).text for output in outputs for name, text in output.fields.items()},
        tables=tuple(dict.fromkeys(match[0].strip() for text in texts for match in _TABLE.finditer(text))),
    )


def independent_source(source: SourceId, sources: Mapping[SourceId, Source]) -> SourceId:
    """Return the source at the end of the chain of copies that begins at `source`; a circle ends where it closes."""
    seen = {source}
    while (known := sources.get(source)) and known.copy_of and known.copy_of not in seen:
        source = known.copy_of
        seen.add(source)
    return source


def with_marks_of(kept: Claim, other: Claim) -> Claim:
    """Return `kept`, core if either is, with the leak marks of both."""
    for mark in other.leaks:
        kept = with_leak(kept, mark)
    return replace(kept, core=True) if other.core and not kept.core else kept


def output_of(
    carried: Carried,
    text: str,
    claims: Iterable[Claim],
    *,
    open_questions: tuple[OpenQuestion, ...] = (),
    conflicts: tuple[Conflict, ...] = (),
    fields: Mapping[str, str] | None = None,
) -> WorkOutput:
    """Return an output of `claims` with exactly the evidence and sources that they rest on.

    Premises of an inference, the originals of copies and the copies of originals come along, so that every chain can
    be followed and a reader is told where the same text stands.
    """
    kept = tuple(claims)
    evidence = _with_premises((piece for claim in kept for piece in claim.evidence), carried.evidence)
    sources = _with_copies((piece.source for piece in evidence), carried.sources)
    return WorkOutput(
        text=text,
        claims=kept,
        evidence=evidence,
        sources=sources,
        open_questions=open_questions,
        conflicts=conflicts,
        fields=dict(fields or {}),
    )


def _marked(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Give each claim once; a leak stays with the words that leaked, whoever else quoted them without one."""
    once: dict[ClaimId, Claim] = {}
    marks: dict[object, dict[LeakMark, None]] = {}
    for claim in claims:
        once[claim.id] = with_marks_of(once[claim.id], claim) if claim.id in once else claim
        for key in _same_words_or_evidence(claim):
            marks.setdefault(key, {}).update(dict.fromkeys(claim.leaks))
    found = []
    for claim in once.values():
        own = [mark for key in _same_words_or_evidence(claim) for mark in marks[key]]
        found.append(replace(claim, leaks=tuple(dict.fromkeys([*claim.leaks, *own]))))
    return tuple(found)


def _same_words_or_evidence(claim: Claim) -> tuple[object, ...]:
    words = " ".join(claim.statement.split())
    return (words, frozenset(claim.evidence)) if claim.evidence else (words,)


def _with_premises(
    wanted: Iterable[EvidenceId], known: Mapping[EvidenceId, Evidence]
) -> tuple[Evidence, ...]:
    found: dict[EvidenceId, Evidence] = {}
    waiting = list(wanted)
    while waiting:
        piece = known.get(waiting.pop(0))
        if piece is not None and piece.id not in found:
            found[piece.id] = piece
            waiting.extend(piece.premises)
    return tuple(found.values())


def _with_copies(wanted: Iterable[SourceId], known: Mapping[SourceId, Source]) -> tuple[Source, ...]:
    found: dict[SourceId, Source] = {}
    waiting = list(wanted)
    while waiting:
        source = known.get(waiting.pop(0))
        if source is not None and source.id not in found:
            found[source.id] = source
            if source.copy_of:
                waiting.append(source.copy_of)
    copies = {source.id: source for source in known.values() if source.copy_of in found}
    return tuple((found | copies).values())


def _once(items: Iterable[_Item]) -> tuple[_Item, ...]:
    return tuple(dict.fromkeys(items))
