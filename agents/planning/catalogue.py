"""What planning knows of the notes: titles, headings and the domains of their sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from agents.planning.domains import NoteOutline, TableOutline
from agents.retrieval.index import Entry, Hit, section_terms_of
from agents.retrieval.library import NotesLibrary, SectionLabel
from agents.retrieval.tokens import terms
from agents.workers.embedded.material import Passage
from agents.workers.embedded.note_tables import Grid, grids
from agents.workers.embedded.table_columns import is_numbering
from masks.domains import DomainId
from masks.leaks.labels import DomainLabeller, RankedDomain

SECTIONS_SEARCHED: Final = 5
"""Sections that are looked up for a text: the first page of one search."""
FEW_SECTIONS: Final = 2
"""Sections of a domain at which the notes halve what the words of a text say for it: one label alone may be wrong."""
SHORT_CELL: Final = 40
"""Characters up to which the texts of a column can stand beside each other in a comparison."""
RELEVANT: Final = 0.45
"""Share of a text's terms in a section, weighted by rarity, plus their cosine, from which the section speaks of it.

All of our 70 answerable questions about the example notes reach it, and none of 25 questions about something else
(`tests/agents/planning/test_relevance.py`)."""
SAME_MEANING: Final = 0.3
"""Cosine from which a section speaks of a text that shares no word with it: one in the other language."""


def note_outlines(library: NotesLibrary) -> tuple[NoteOutline, ...]:
    """Return the outline of every note, in the corpus's order, with how many sections each domain holds.

    A section that can't be told apart below a parent counts for its most probable leaf; one of no domain for none.
    """
    entries = library.index.entries
    labels = library.labels(range(len(entries)))
    headings: dict[str, dict[str, None]] = {}
    domains: dict[str, Counter[DomainId]] = {}
    trails: dict[str, list[tuple[str, ...]]] = {}
    tables: dict[str, list[TableOutline]] = {}
    for entry, label in zip(entries, labels, strict=True):
        path = entry.document.path
        headings.setdefault(path, {}).update(dict.fromkeys(entry.section.trail))
        trails.setdefault(path, []).append(entry.section.trail)
        tables.setdefault(path, []).extend(_tables(entry))
        leaf = _leaf(label)
        if leaf is not None:
            domains.setdefault(path, Counter())[leaf] += 1
    return tuple(
        NoteOutline(
            title=document.source.title,
            headings=tuple(headings.get(document.path, ())),
            domains=dict(sorted(domains.get(document.path, Counter()).items())),
            trails=tuple(dict.fromkeys(trails.get(document.path, ()))),
            tables=tuple(tables.get(document.path, ())),
        )
        for document in library.corpus.documents
    )


def _tables(entry: Entry) -> Iterator[TableOutline]:
    """Yield the tables of a section that have a header and a column that names their rows."""
    if not any(unit.kind == "table_row" for unit in entry.units):
        return
    section = entry.section
    passage = Passage(
        source=entry.document.source,
        heading=section.heading,
        section=(section.start_line, section.end_line),
        start_line=section.start_line,
        start_char=section.start_char,
        text=entry.document.text[section.start_char : section.end_char],
        whole=True,
        rank=1.0,
        cosine=0.0,
    )
    for grid in grids([passage]):
        others = [place for place in range(len(grid.names)) if place not in grid.naming]
        rows = tuple(dict.fromkeys(name for name in grid.row_names if name))
        if grid.naming and len(rows) > 1:
            yield TableOutline(
                about=" ".join((*grid.levels, *(grid.names[place] for place in grid.naming))),
                rows=rows,
                columns=tuple(
                    grid.names[place] for place in others if grid.names[place] and _is_short(grid, place)
                ),
            )


def _is_short(grid: Grid, place: int) -> bool:
    """Say whether a column holds figures or short texts, and does not only number its rows."""
    cells = grid.column(place)
    return all(len(cell) <= SHORT_CELL for cell in cells) and not is_numbering(grid.names[place], cells)


@dataclass(frozen=True)
class NotesRanker:
    """Ranks the domains of a text by its own words and by where the notes speak about it."""

    labeller: DomainLabeller
    library: NotesLibrary

    @cached_property
    def held(self) -> Mapping[DomainId, int]:
        """How many sections of the notes each domain holds."""
        found = (_leaf(label) for label in self.library.labels(range(len(self.library.index.entries))))
        return Counter(leaf for leaf in found if leaf is not None)

    def __call__(self, text: str) -> tuple[RankedDomain, ...] | None:
        """Return leaves with weights, best first; `None` for a text that the notes don't speak of.

        Half of the weight comes from the text, half from the domains of the sections that a search for it finds,
        the n-th section counting 1/n. The words of a text alone are ambiguous: a domain that they speak for counts
        n / (n + `FEW_SECTIONS`) where n sections of the notes belong to it, and nothing where none does, since
        requiring it would open nothing. The weights of one text sum to at most 1.
        """
        hits = self.library.search(text, SECTIONS_SEARCHED) if text.strip() else ()
        if self.held and not self._speaks_of(text, hits):
            return None
        weights: dict[DomainId, float] = {}
        for found in self.labeller.domains_of_text(text):
            share = self._prior(found.domain)
            if share > 0:
                weights[found.domain] = found.probability / 2 * share
        total = sum(1 / rank for rank in range(1, len(hits) + 1))
        for rank, label in enumerate(self.library.labels([hit.entry for hit in hits]), 1):
            leaf = _leaf(label)
            if leaf is not None:
                weights[leaf] = weights.get(leaf, 0.0) + 1 / rank / total / 2
        ranked = sorted(weights.items(), key=lambda entry: (-entry[1], entry[0]))
        return tuple(RankedDomain(domain, weight) for domain, weight in ranked)

    def _speaks_of(self, text: str, hits: Sequence[Hit]) -> bool:
        """Say whether a found section reaches `RELEVANT` or `SAME_MEANING`; true for a text without a term."""
        wanted = frozenset(terms(text))
        index = self.library.index
        total = sum(index.rarity(term) for term in wanted)
        if total == 0:
            return True
        for hit in hits:
            shared = wanted.intersection(section_terms_of(index.entries[hit.entry]))
            coverage = sum(index.rarity(term) for term in shared) / total
            if hit.cosine >= SAME_MEANING or coverage + hit.cosine >= RELEVANT:
                return True
        return False

    def _prior(self, domain: DomainId) -> float:
        if not self.held:
            # Notes of which nothing could be labelled say nothing on what they are about.
            return 1.0
        return self.held.get(domain, 0) / (self.held.get(domain, 0) + FEW_SECTIONS)


def _leaf(label: SectionLabel) -> DomainId | None:
    leaf = label.domain or label.leaf
    return DomainId(leaf) if leaf is not None else None
