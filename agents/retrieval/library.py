"""The notes of one run, ready to be searched and read: documents, index, copies and domain labels."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Protocol

from agents.evidence import Source, SourceId
from agents.models.embedders import CachedEmbedder
from agents.retrieval.copies import copies_among
from agents.retrieval.index import Entry, Hit, NoteIndex, embedded_text
from agents.retrieval.reading import Corpus, Document, read_folder
from masks.leaks.labels import DomainLabeller, SectionText
from masks.ports import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionLabel:
    """The knowledge domain of a section."""

    domain: str | None = None
    """The leaf that it belongs to; `None` if no leaf leads by the calibrated margin."""
    parent: str | None = None
    """The parent below which it can't be told apart; only without `domain`."""
    leaf: str | None = None
    """The most probable leaf below `parent`; only with `parent`."""


UNCLASSIFIED = SectionLabel()


class SectionLabeller(Protocol):
    """Label sections with knowledge domains."""

    def label(self, sections: Sequence[SectionText]) -> Sequence[SectionLabel]:
        """Return one label per section, in order; all sections of a document are given together."""
        ...


class DomainSections:
    """Section labels by the domain labeller that planning and leak detection use too."""

    def __init__(self, labeller: DomainLabeller) -> None:
        self._labeller = labeller

    def label(self, sections: Sequence[SectionText]) -> Sequence[SectionLabel]:
        """Return one label per section, in order; sections of one document inform each other."""
        registry = self._labeller.registry
        found = []
        for label in self._labeller.label_sections(sections):
            if label.domain is not None:
                found.append(SectionLabel(domain=str(label.domain)))
            elif label.parent is None:
                found.append(UNCLASSIFIED)
            else:
                leaf = max(registry.leaves_under(label.parent), key=label.distribution.probability)
                found.append(SectionLabel(parent=str(label.parent), leaf=str(leaf)))
        return found


class UnknownNote(LookupError):
    """No note has the given id or path."""

    def __init__(self, name: str, known: int) -> None:
        self.name = name
        super().__init__(
            f"no note {name!r} among {known} notes; take `source` or `path` from a search result"
        )


class NotesLibrary:
    """Everything that the note tools serve from. Built once per run; immutable apart from lazily made labels.

    Several threads may ask for labels at once.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        embedder: Embedder | None = None,
        labeller: SectionLabeller | None = None,
    ) -> None:
        self.corpus = corpus
        self._embedder = CachedEmbedder(embedder) if embedder is not None else None
        self._labeller = labeller
        self._labels: dict[int, SectionLabel] = {}
        self._labelling: dict[SourceId, Lock] = {}
        self._documents = {document.source.id: document for document in corpus.documents}
        self._by_path = {document.path: document for document in corpus.documents}

    @classmethod
    def open(
        cls,
        folder: Path | str,
        *,
        embedder: Embedder | None = None,
        labeller: SectionLabeller | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> NotesLibrary:
        """Return the library of the notes below `folder`; raises `FolderNotFound`."""
        return cls(read_folder(folder, now=now), embedder=embedder, labeller=labeller)

    @cached_property
    def index(self) -> NoteIndex:
        """Return the index, built at the first use."""
        return NoteIndex(self.corpus.documents, self._embedder)

    @cached_property
    def copies(self) -> Mapping[SourceId, SourceId]:
        """Return which notes repeat which, found at the first use."""
        return copies_among(self.corpus.documents)

    def document(self, name: str) -> Document:
        """Return the note with this source id or path; raises `UnknownNote`."""
        found = self._documents.get(SourceId(name)) or self._by_path.get(name)
        if found is None:
            raise UnknownNote(name, len(self._documents))
        return found

    def source(self, document: Document) -> Source:
        """Return the note's source with `copy_of` filled in."""
        return replace(document.source, copy_of=self.copies.get(document.source.id))

    def search(self, query: str, limit: int, offset: int = 0) -> tuple[Hit, ...]:
        """Return the hits of `query`, best first."""
        return self.index.search(query, limit, offset)

    def entry(self, hit: Hit) -> Entry:
        """Return the section of a hit."""
        return self.index.entries[hit.entry]

    def labels(self, entries: Sequence[int]) -> tuple[SectionLabel, ...]:
        """Return the domain labels of the entries at these positions; each document is labelled once, as a whole.

        Who asks for a document that another thread is labelling waits for that; other documents make nobody wait.
        """
        if self._labeller is None:
            return tuple(UNCLASSIFIED for _ in entries)
        documents = {
            self.index.entries[entry].document.source.id for entry in entries if entry not in self._labels
        }
        if documents:
            self._label(documents, self._labeller)
        return tuple(self._labels[entry] for entry in entries)

    def _label(self, documents: set[SourceId], labeller: SectionLabeller) -> None:
        with ExitStack() as held:
            # All in one order, so that no two threads wait for each other.
            for document in sorted(documents):
                held.enter_context(self._labelling.setdefault(document, Lock()))
            positions = sorted(position for document in documents for position in self._positions[document])
            missing = [position for position in positions if position not in self._labels]
            if missing:
                sections = [_section_text(self.index.entries[entry]) for entry in missing]
                self._labels.update(zip(missing, labeller.label(sections), strict=True))

    def entries_in(self, document: Document, start_line: int, end_line: int) -> tuple[int, ...]:
        """Return the positions of the sections of `document` that touch these lines, in order."""
        positions, entries = self._positions[document.source.id], self.index.entries
        # Sections follow one another, so that their first lines and their last lines both rise.
        first = bisect_left(positions, start_line, key=lambda position: entries[position].section.end_line)
        end = bisect_right(positions, end_line, key=lambda position: entries[position].section.start_line)
        return positions[first:end]

    @cached_property
    def _positions(self) -> Mapping[SourceId, tuple[int, ...]]:
        found: dict[SourceId, list[int]] = {document.source.id: [] for document in self.corpus.documents}
        for position, entry in enumerate(self.index.entries):
            found[entry.document.source.id].append(position)
        return {source: tuple(positions) for source, positions in found.items()}


def _section_text(entry: Entry) -> SectionText:
    section = entry.section
    return SectionText(
        document=str(entry.document.source.id),
        excerpt=embedded_text(entry),
        text=entry.document.text[section.start_char : section.end_char],
    )
