"""The material of a loop: what was found, numbered by code, and what of it the mask lets a model see."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.evidence import Source, SourceId
from agents.prompts import Excerpt
from agents.results import Need
from agents.retrieval.reading import line_starts
from agents.workers.embedded.access import Access, access_of
from agents.workers.embedded.composing import needs_of
from agents.workers.embedded.inquiry import Inquiry
from agents.workers.embedded.material import Material, Passage
from agents.workers.embedded.question import read_question
from agents.workers.model_claims import Piece, handed_in, open_candidates, piece_of, shown_weight
from agents.workers.ports import WorkOrder

SectionKey = tuple[SourceId, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a result shows a model."""

    excerpts: tuple[Excerpt, ...] = ()
    """In full, heaviest first."""
    again: tuple[str, ...] = ()
    """Numbers of excerpts that stand in the same request already."""
    new: tuple[Excerpt, ...] = ()
    """Those of them that had no number before."""

    @property
    def found(self) -> int:
        """How many there are."""
        return len(self.excerpts) + len(self.again)


@dataclass(slots=True, kw_only=True)
class Shelf:
    """Everything that was found for one order."""

    order: WorkOrder
    access: Access
    material: Material = field(default_factory=Material)
    pieces: dict[str, Piece] = field(default_factory=dict)
    """By number, in the order of the numbers."""
    weights: dict[str, float] = field(default_factory=dict)
    """By number: what is left out first when room is short is what weighs least."""
    _keys: dict[object, str] = field(default_factory=dict)

    @classmethod
    def of(cls, order: WorkOrder) -> Shelf:
        """Return the shelf of `order` with what its inputs hand in."""
        shelf = cls(order=order, access=access_of(order))
        for piece in handed_in(order):
            shelf._number(piece, 1.0)
        return shelf

    def add_search(self, data: Mapping[str, Any], visible: Collection[str] = frozenset()) -> Shown:
        """Take over the hits of `search_notes`; return what they show beside the excerpts that are `visible`."""
        self.material.add_hits(data)
        return self._shown(
            ((SourceId(str(hit["source"])), int(hit["section"][0])) for hit in data["hits"]), visible
        )

    def add_reading(self, data: Mapping[str, Any], visible: Collection[str] = frozenset()) -> Shown:
        """Take over what `read_note` read, section by section; text outside of a section is not shown."""
        met = list(_passages(data))
        for passage in met:
            known = self.material.passages.get(passage.key)
            self.material.passages[passage.key] = passage if known is None else _longer(known, passage)
        return self._shown((passage.key for passage in met), visible)

    @property
    def placed(self) -> frozenset[str]:
        """Return the numbers of the excerpts that were found in notes, and not handed in."""
        return frozenset(self._keys.values())

    def needs(self, questions: Sequence[str]) -> tuple[Need, ...]:
        """Return the closed domains whose material would answer `questions`: told by code, from what matched."""
        item = (self.order.params or self.order.subtask.params).get("item")
        inquiries = [
            Inquiry(
                question=read_question(f"{item} {question}" if isinstance(item, str) else question),
                asked=question,
                access=self.access,
                material=self.material,
            )
            for question in questions
        ]
        for inquiry in inquiries:
            inquiry.judge()
        return needs_of(inquiries)

    def _shown(self, sections: Iterator[SectionKey], visible: Collection[str]) -> Shown:
        met = {key: self.material.passages[key] for key in sections}
        part = replace(self.material, passages=met)
        full: list[Excerpt] = []
        again: list[str] = []
        new: list[Excerpt] = []
        for candidate in open_candidates(part, self.access):
            key = self._keys.get(candidate.key)
            if key is None:
                weight = shown_weight(candidate.passage, self.access)
                key = self._number(piece_of(candidate, self.access), weight, candidate.key)
                new.append(self.pieces[key].excerpt)
            if key in visible:
                again.append(key)
            else:
                full.append(self.pieces[key].excerpt)
        return Shown(excerpts=tuple(full), again=tuple(again), new=tuple(new))

    def _number(self, piece: Piece, weight: float, place: object = None) -> str:
        key = f"E{len(self.pieces) + 1}"
        self.pieces[key] = replace(piece, excerpt=replace(piece.excerpt, key=key))
        self.weights[key] = weight
        if place is not None:
            self._keys[place] = key
        return key


def _passages(data: Mapping[str, Any]) -> Iterator[Passage]:
    """Yield a reading's text by sections: the mask decides about each on its own."""
    source = Source(
        id=SourceId(str(data["source"])),
        uri=str(data["path"]),
        title=str(data["title"]),
        digest=str(data["digest"]),
        retrieved_at=str(data["retrieved_at"]),
        copy_of=data["copy_of"],
    )
    text, first_line, first_char = str(data["text"]), int(data["start_line"]), int(data["start_char"])
    starts = line_starts(text)
    last_line = first_line + len(starts) - 1
    for section in data["sections"]:
        first, last = int(section["start_line"]), int(section["end_line"])
        begin_line, end_line = max(first, first_line), min(last, last_line)
        if begin_line > end_line:
            continue
        begin = starts[begin_line - first_line]
        after = end_line - first_line + 1
        end = starts[after] if after < len(starts) else len(text)
        yield Passage(
            source=source,
            heading=str(section["heading"]),
            section=(first, last),
            start_line=begin_line,
            start_char=first_char + begin,
            text=text[begin:end],
            whole=begin_line == first and end_line == last and data["next_offset"] is None,
            read=True,
            rank=1.0,
            cosine=0.0,
            domain=section.get("domain") or section.get("leaf"),
            parent=section.get("parent"),
        )


def _longer(known: Passage, read: Passage) -> Passage:
    longer = known if known.whole or len(known.text) >= len(read.text) else read
    return replace(longer, rank=max(known.rank, read.rank), cosine=max(known.cosine, read.cosine), read=True)
