"""What stands before each anchor: the words with which an output shows its claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from agents.citations import find_anchors
from agents.evidence import Claim, ClaimId
from agents.results import WorkOutput
from agents.retrieval.sentences import sentence_ranges
from masks.leaks.markers import strip_markers
from orchestrator.verification.statement import LONGEST_REMEMBERED, plain, stands_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The text that a group of neighbouring anchors follows."""

    claims: tuple[ClaimId, ...]
    text: str
    """From the group before to this one, leak markers left out."""

    @property
    def sentence(self) -> str:
        """Return the last sentence of the last line that says something, without markup: what the anchors stand for."""
        line = next((bare for line in reversed(self.text.splitlines()) if (bare := plain(line))), "")
        ranges = sentence_ranges(line)
        return line[slice(*ranges[-1])] if ranges else ""


def shown_claims(output: WorkOutput) -> tuple[Shown, ...]:
    """Return the groups of anchors in the text and in the fields of `output`, in order."""
    return tuple(shown for text in (output.text, *output.fields.values()) for shown in _groups_in(text))


def shows(shown: Shown, claim: Claim) -> bool:
    """Return whether the text before the anchors says the claim's statement word for word."""
    return stands_in(claim.statement, shown.text)


def _groups_in(text: str) -> tuple[Shown, ...]:
    return _remembered_groups(text) if len(text) <= LONGEST_REMEMBERED else tuple(_groups(text))


@lru_cache(maxsize=64)
def _remembered_groups(text: str) -> tuple[Shown, ...]:
    return tuple(_groups(text))


def _groups(text: str) -> Iterator[Shown]:
    bare = strip_markers(text).text
    claims: list[ClaimId] = []
    start = group_start = group_end = 0
    for found in find_anchors(bare):
        if claims and not bare[start : found.start].strip():
            claims.append(found.claim)
        else:
            if claims:
                yield Shown(claims=tuple(claims), text=bare[group_start:group_end])
            claims, group_start, group_end = [found.claim], start, found.start
        start = found.end
    if claims:
        yield Shown(claims=tuple(claims), text=bare[group_start:group_end])
