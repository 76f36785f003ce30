"""Which evidence a model has before it now, which it has seen and no longer sees, and what a claim may still cite.

A model remembers text that was evicted from its prompt badly: a claim that cites such an excerpt keeps it only when the
excerpt was read again and still says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from agents.evidence import Evidence, EvidenceId, excerpt_digest

LostReason = Literal["changed", "gone", "never_shown"]
"""`changed`: read again, the place says something else; `gone`: it can't be read any more; `never_shown`: the model
cited an excerpt that was in none of its prompts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostCitation:
    """A citation that a claim does not keep."""

    evidence: EvidenceId
    reason: LostReason
    expected: str = ""
    """SHA-256 of the excerpt as it was shown."""
    found: str = ""
    """SHA-256 of what stands there now; empty when there is nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCitations:
    """What is left of the citations of a claim, in their order."""

    kept: tuple[EvidenceId, ...]
    lost: tuple[LostCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """The excerpts of one attempt: `shown` is in the newest prompt, `seen` was in any, each with its text's digest."""

    shown: Mapping[EvidenceId, str] = field(default_factory=dict)
    seen: Mapping[EvidenceId, str] = field(default_factory=dict)

    @property
    def evicted(self) -> frozenset[EvidenceId]:
        """What was in an earlier prompt and is not in the newest."""
        return frozenset(self.seen.keys() - self.shown.keys())

    def after(self, prompt: Iterable[Evidence]) -> EvidenceView:
        """Return the view after a prompt with this evidence; all other evidence is evicted."""
        shown = {evidence.id: evidence.excerpt_sha256 for evidence in prompt}
        return EvidenceView(shown, {**self.seen, **shown})


def needs_rereading(cited: Iterable[EvidenceId], view: EvidenceView) -> tuple[EvidenceId, ...]:
    """Return which of the `cited` evidence has to be read again before a claim may rest on it, in order, each once."""
    evicted = view.evicted
    return tuple(identifier for identifier in dict.fromkeys(cited) if identifier in evicted)


def checked_citations(
    cited: Iterable[EvidenceId], view: EvidenceView, reread: Mapping[EvidenceId, str | None]
) -> CheckedCitations:
    """Return which citations a claim keeps; `reread` holds the text at each place that was read again, `None` for gone.

    Evidence in view is kept. Evicted evidence is kept only when it was read again with the same digest; not having been
    read again counts as gone (a citation that was not checked is not kept).
    """
    kept: list[EvidenceId] = []
    lost: list[LostCitation] = []
    for identifier in dict.fromkeys(cited):
        if identifier in view.shown:
            kept.append(identifier)
            continue
        expected = view.seen.get(identifier)
        if expected is None:
            lost.append(LostCitation(evidence=identifier, reason="never_shown"))
            continue
        text = reread.get(identifier)
        found = "" if text is None else excerpt_digest(text)
        if found == expected:
            kept.append(identifier)
        else:
            reason: LostReason = "gone" if text is None else "changed"
            lost.append(LostCitation(evidence=identifier, reason=reason, expected=expected, found=found))
    return CheckedCitations(kept=tuple(kept), lost=tuple(lost))
