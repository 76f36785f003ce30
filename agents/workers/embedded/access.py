"""What an order opens: which passages its mask lets select on a path, with what weight, and what is excluded.

Path 1 selects MAIN and unclassified material, path 2 BACKGROUND too (semantics 3). Inside an open band the weight
rises with the mask value, so the gradient shows in what is selected (semantics 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from agents.evidence import LineSpan, evidence_id
from agents.workers.embedded.answering import texts_of
from agents.workers.embedded.material import Candidate, Passage
from agents.workers.embedded.note_tables import split_row
from agents.workers.ports import WorkOrder
from masks.bands import Band, Thresholds
from masks.domains import DomainId
from masks.gradient import selection_weight
from masks.vector import Mask

OPEN_WEIGHT: Final = 0.5
"""Weight of being open at all, beside the gradient."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A mask on one path."""

    mask: Mask
    thresholds: Thresholds
    path: Literal[1, 2]
    excluded: frozenset[str] = frozenset()
    """Ids of evidence that a check falsified: it is not selected again, whatever its domain."""

    def excludes(self, candidate: Candidate) -> bool:
        """Return whether a candidate is excluded evidence, or a table row with a cell that is."""
        if not self.excluded:
            return False
        unit, source = candidate.unit, candidate.passage.source.id
        spans = [(unit.start_char, unit.end_char)]
        if unit.kind == "table_row":
            starts = ((unit.start_char + offset, len(text)) for text, offset in split_row(unit.text))
            spans += [(start, start + length) for start, length in starts]
        return any(evidence_id(source, start, end) in self.excluded for start, end in spans)

    def excludes_span(self, span: LineSpan) -> bool:
        """Return whether the text of `span` is excluded evidence."""
        return evidence_id(span.source, span.start_char, span.end_char) in self.excluded

    def weight(self, passage: Passage) -> float:
        """Return the selection weight of a passage: 0 if its domain is closed on this path, else in (1/2, 1].

        Half of it is being open, half rises with the mask value: what an extension has just opened must be able to
        stand beside material that is less to the point, or the extension would repair nothing. Unclassified material
        weighs as much as a domain exactly at the MAIN threshold would: selectable, and behind everything that is
        surely MAIN and as relevant.
        """
        domain = self.domain(passage)
        if domain is None:
            return self.unclassified_weight
        return _of_open(
            selection_weight(self.mask.value(domain), self.thresholds, background_open=self.path == 2)
        )

    @property
    def unclassified_weight(self) -> float:
        """Return the weight of material without a domain, in (1/2, 1)."""
        return _of_open(selection_weight(self.thresholds.main, self.thresholds, background_open=True))

    def domain(self, passage: Passage) -> DomainId | None:
        """Return the domain that decides about a passage; `None`: unclassified.

        A section that can't be told apart below its parent counts as unclassified if a leaf of the parent is MAIN
        and none is below 0 (semantics 1); else its most probable leaf decides.
        """
        if passage.domain is None or (passage.parent is not None and self._excused(passage.parent)):
            return None
        return DomainId(passage.domain)

    def band(self, passage: Passage) -> Band | None:
        """Return the band of the passage's domain; `None`: unclassified."""
        domain = self.domain(passage)
        return None if domain is None else self.mask.band(domain, self.thresholds)

    def leak_strength(self, passage: Passage) -> int | None:
        """Return the mask value of a passage whose use is a leak, in hundredths; `None` for no leak."""
        domain = self.domain(passage)
        if domain is None or self.mask.band(domain, self.thresholds) is Band.MAIN:
            return None
        return self.mask.value(domain)

    def _excused(self, parent: str) -> bool:
        below = [value for domain, value in self.mask.values if domain.startswith(f"{parent}.")]
        return any(value > self.thresholds.main for value in below) and all(value >= 0 for value in below)


def _of_open(gradient: float) -> float:
    return OPEN_WEIGHT + (1 - OPEN_WEIGHT) * gradient if gradient > 0 else 0.0


def access_of(order: WorkOrder) -> Access:
    """Return what `order` opens; `params["exclude_evidence"]` lists the ids of evidence that is not selected again."""
    params = order.params or order.subtask.params
    return Access(
        mask=order.agent.mask,
        thresholds=order.thresholds,
        path=order.path,
        excluded=frozenset(texts_of(params, "exclude_evidence")),
    )
