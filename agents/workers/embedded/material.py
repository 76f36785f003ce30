"""What a research worker has fetched so far: passages of notes with their place, and the units that can be quoted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from agents.evidence import LineSpan, Source, SourceId
from agents.retrieval.reading import document_from_text
from agents.retrieval.sections import sections_of
from agents.retrieval.sentences import Unit, units_of
from agents.workers.embedded.instructions import planted
from agents.workers.embedded.matching import Text, prepared


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A stretch of one section of a note, exactly as the note has it."""

    source: Source
    heading: str
    section: tuple[int, int]
    """First and last line of the section."""
    start_line: int
    start_char: int
    text: str
    whole: bool
    """Whether `text` is the whole section."""
    read: bool = False
    """Whether the section was read, and not only met in a search."""
    rank: float
    """How well it matched the best of its queries, relative to that query's best hit; in (0, 1]."""
    cosine: float
    """Similarity of meaning to the question, in [-1, 1]."""
    domain: str | None = None
    """The leaf that the section belongs to, told apart or most probable below `parent`."""
    parent: str | None = None
    """Set if the section can't be told apart below this parent."""

    @property
    def key(self) -> tuple[SourceId, int]:
        """Return what identifies the section."""
        return self.source.id, self.section[0]

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Return the quotable units with their places in the note."""
        document = document_from_text(self.source.uri, self.text)
        return tuple(
            unit.moved(self.start_char, self.start_line - 1)
            for section in sections_of(document)
            for unit in units_of(document, section)
        )

    @cached_property
    def orders(self) -> tuple[Unit, ...]:
        """Return the units that give orders to an automated reader."""
        return planted(self.units)

    @cached_property
    def head(self) -> Text:
        """Return what stands over the passage: its headings and the note's title, for matching."""
        return prepared(f"{self.heading} {self.source.title}")

    @cached_property
    def body(self) -> Text:
        """Return the text of all units, for matching."""
        return prepared(" ".join(unit.text for unit in self.units))

    def around(self, index: int) -> str:
        """Return the text of the units before and after the unit at `index`."""
        units = self.units
        near = [units[i].text for i in (index - 1, index + 1) if 0 <= i < len(units)]
        return " ".join(near)

    def lead_of(self, unit: Unit) -> str | None:
        """Return the header row or introducing sentence of `unit`, if this passage holds it."""
        if unit.lead is None:
            return None
        start, end = unit.lead[0] - self.start_char, unit.lead[1] - self.start_char
        return self.text[start:end] if 0 <= start < end <= len(self.text) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A unit of a passage."""

    passage: Passage
    index: int
    """Position in the passage's units."""
    part: tuple[int, int] | None = None
    """Characters of the note that are meant of the unit, such as one cell of a table row; `None`: all of it."""

    @property
    def unit(self) -> Unit:
        """Return the unit, or the part of it that is meant."""
        unit = self.passage.units[self.index]
        if self.part is None:
            return unit
        start, end = self.part
        text = self.passage.text[start - self.passage.start_char : end - self.passage.start_char]
        return replace(unit, text=text, start_char=start, end_char=end)

    @property
    def key(self) -> tuple[SourceId, int, int]:
        """Return what identifies the stretch of text, whatever passage it was met in."""
        return self.passage.source.id, self.unit.start_char, self.unit.end_char

    @property
    def span(self) -> LineSpan:
        """Return the place of the unit."""
        unit = self.unit
        return LineSpan(
            source=self.passage.source.id,
            start_line=unit.start_line,
            end_line=unit.end_line,
            start_char=unit.start_char,
            end_char=unit.end_char,
        )


@dataclass(slots=True)
class Material:
    """The passages of one question, by section. A section met again keeps its best rank and its longest text."""

    passages: dict[tuple[SourceId, int], Passage] = field(default_factory=dict)
    sections: int = 0
    """Number of sections of all notes, as the last search said."""
    frequency: dict[str, int] = field(default_factory=dict)
    """Terms of the queries so far, and in how many sections each stands."""

    def add_hits(self, data: Mapping[str, Any]) -> int:
        """Add the hits of a search result; return how many sections were not there before."""
        self.sections = int(data["sections"])
        self.frequency.update(data["frequency"])
        best = max((float(hit["score"]) for hit in data["hits"]), default=0.0)
        new = 0
        for hit in data["hits"]:
            passage = _passage(hit, data["sources"][hit["source"]], best)
            known = self.passages.get(passage.key)
            new += known is None
            self.passages[passage.key] = passage if known is None else _merged(known, passage)
        return new

    def add_reading(self, passage: Passage, data: Mapping[str, Any]) -> None:
        """Replace the text of `passage` by that of a reading of its section.

        Of a section too long for one reading, the excerpt that matched stays unless the reading holds it.
        """
        start, text = int(data["start_char"]), str(data["text"])
        held = start <= passage.start_char and passage.start_char + len(passage.text) <= start + len(text)
        self.passages[passage.key] = (
            replace(
                passage,
                start_line=int(data["start_line"]),
                start_char=start,
                text=text,
                whole=data["next_offset"] is None,
                read=True,
            )
            if held
            else replace(passage, read=True)
        )

    def candidates(self) -> Iterator[Candidate]:
        """Yield the units of all passages, passages by rank (then by the order they came in)."""
        for passage in sorted(self.passages.values(), key=lambda passage: -passage.rank):
            for index in range(len(passage.units)):
                yield Candidate(passage=passage, index=index)


def _passage(hit: Mapping[str, Any], described: Mapping[str, Any], best: float) -> Passage:
    source = Source(
        id=SourceId(str(hit["source"])),
        uri=str(described["path"]),
        title=str(described["title"]),
        digest=str(described["digest"]),
        retrieved_at=str(described["retrieved_at"]),
        copy_of=described["copy_of"],
    )
    first, last = hit["section"]
    return Passage(
        source=source,
        heading=str(hit["heading"]),
        section=(int(first), int(last)),
        start_line=int(hit["start_line"]),
        start_char=int(hit["start_char"]),
        text=str(hit["text"]),
        whole=bool(hit["whole"]),
        rank=float(hit["score"]) / best if best else 1.0,
        cosine=float(hit["cosine"]),
        domain=hit.get("domain") or hit.get("leaf"),
        parent=hit.get("parent"),
    )


def _merged(known: Passage, met: Passage) -> Passage:
    longer = known if known.whole or len(known.text) >= len(met.text) else met
    return replace(
        longer, rank=max(known.rank, met.rank), cosine=max(known.cosine, met.cosine), read=known.read
    )
