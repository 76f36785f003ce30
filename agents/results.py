"""What a worker returns.

`candidate_complete` is the worker's own opinion; `verified_complete` is for checks to say (seed 000, 7.3) and lives
with the verification. A worker never states a verdict on itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agents.evidence import Claim, ClaimId, Evidence, Source, Taint

WorkMode = Literal["extractive", "model", "scripted"]
"""How the text came about: quoted from sources by code, written by a chat model, or scripted for tests."""

OpenReason = Literal["not_found", "not_answerable", "domain_closed", "limit_reached"]
"""`not_found`: no material matched; `not_answerable`: material matched and none answers; `domain_closed`: the material
that may answer lies in a domain that the mask closes on this path; `limit_reached`: an action or round limit ended
the search."""


ClosedBy = Literal["contract", "person", "plan"]
"""`contract`: the task contract forbids it; `person`: a person set the mask's value; `plan`: the mask as designed, or
as a repair left it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedDomain:
    """A knowledge domain that a mask closes, and who closed it."""

    domain: str
    agent: str
    """Whose mask closes it."""
    value: int
    """Hundredths."""
    by: ClosedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question or field that stays open, and what was tried."""

    question: str
    reason: OpenReason
    searched: tuple[str, ...]
    """The queries, in order."""
    nearest: str | None = None
    """`path:line` of the nearest material, for a person to look at."""
    nearest_text: str = ""
    """What stands there, where the mask lets it be quoted as it is; empty otherwise."""
    unknown: bool = False
    """Whether no content word of it occurs in the notes."""
    closed: tuple[ClosedDomain, ...] = ()
    """For `domain_closed`: the domains that keep it open, best match first. Filled in by the check stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Claims of independent sources that can't both hold."""

    about: str
    claims: tuple[ClaimId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRound:
    """One round of a research loop."""

    query: str
    why: str
    """Why the query was chosen, as a code, with details behind a colon.

    - `question`: the question itself; `model`: chosen by the model.
    - `missing`: content words that no evidence holds; `best_words`: other words of the best sentences.
    - `section`: the heading of the best section; `answer_kind`: the kind of answer that is asked for.
    - `otherwise`: whether another note says otherwise; `from_hit`: leafing through the hits, from this one on.
    """
    hits: int
    new_evidence: int
    open_after: tuple[str, ...]


LoopNoteKind = Literal[
    "failures_in_a_row",
    "unexpected_result",
    "half_without_progress",
    "search_ended",
    "stopped",
    "open_question",
    "unfinished",
    "evidence_changed",
    "cited_by_words",
    "no_claim",
    "tool_left_out",
]
"""What the code around a model's loop did or noted.

- `failures_in_a_row`, `unexpected_result`, `half_without_progress`: the model was told to think again (003 2.1).
- `search_ended`: two rounds in a row brought nothing new (004 3.5).
- `stopped`: a guard or limit took the tools away.
- `open_question`: why the model leaves a question open, in its words.
- `unfinished`: the model ended without all that `finish` asks for: by the name of a limit, or `no_finish`,
  `not_accepted`, `unusable`.
- `evidence_changed`: an excerpt read again was not the same; nothing cites it.
- `cited_by_words`: a claim named no excerpt, or another than the one its words stand in; it cites that one now.
- `no_claim`: a claim that only said that the material does not say something; its question stays open.
- `tool_left_out`: a granted tool that the model was not told of, and why (`agents.tools.offers.WhyNot`).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopNote:
    """One thing that the code around a model's loop did or noted."""

    step: int
    """Answers of the model so far."""
    kind: LoopNoteKind
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A domain that the worker says it lacks. A hint, never a reason by itself (semantics 2)."""

    domain: str
    question: str
    band: Literal["BACKGROUND", "SILENT"]
    match: float
    """How well the closed material matches the question, in [0, 1]."""
    taint: Taint = "trusted"
    """`untrusted` when the need was read in a document instead of derived from the sub-task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOutput:
    """The artefact of a sub-task: text for people, and the claims, evidence and sources that it rests on."""

    text: str
    """Markdown. Leak markers stand in it as declared; the check stage strips and records them."""
    claims: tuple[Claim, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    sources: tuple[Source, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    """Named fields of a structured output (a compared item's aspects, an extracted record)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkResult:
    """A worker's answer to one order."""

    output: WorkOutput
    candidate_complete: bool
    mode: WorkMode
    path: Literal[1, 2]
    rounds: tuple[SearchRound, ...] = ()
    notes: tuple[LoopNote, ...] = ()
    """Of a model's loop, in order."""
    needs: tuple[Need, ...] = ()
    acted_through: tuple[Literal["prompt", "selection", "filter", "bias", "steering"], ...] = ()
    """Through what the mask acted (semantics 1)."""
