"""Write down everything that the inputs hold: their tables, the answers to the questions, and what else was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.citations import anchor, find_anchors, replace_anchors
from agents.evidence import Claim, ClaimId
from agents.results import Conflict, OpenQuestion
from agents.workers.embedded.answering import answers_text, answers_to
from agents.workers.embedded.carried import Carried
from agents.workers.embedded.merging import Statement
from agents.workers.embedded.wording import Phrases
from agents.workers.embedded.writing import disagreement, page


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The inputs as one text with the claims that it shows."""

    text: str
    claims: tuple[Claim, ...]
    open_questions: tuple[OpenQuestion, ...]
    conflicts: tuple[Conflict, ...]
    fields: Mapping[str, str]
    """Of the inputs, anchors pointing at the claims that are kept."""


def compiled(questions: Sequence[str], carried: Carried, phrases: Phrases) -> Compiled:
    """Return the text on `questions`; no claim of the inputs is missing, or one that says the same is there.

    Tables come first, as they are, with the disagreements inside them; then one section a question, what else was
    found, and the open questions with what was searched. Without a single claim the text says so.
    """
    in_tables = _in_tables(carried)
    tabled = tuple(claim for claim in carried.claims if claim.id in in_tables)
    answers = answers_to(questions, carried, without=in_tables)
    inside = tuple(conflict for conflict in carried.conflicts if set(conflict.claims) <= in_tables)
    by_id = {claim.id: claim for claim in tabled}
    blocks = [
        disagreement([Statement(claims=(by_id[claim],)) for claim in conflict.claims], phrases)
        for conflict in inside
    ]
    nothing = "" if carried.claims else phrases.nothing_found
    fields = {name: _with_kept(text, answers.dropped) for name, text in carried.fields.items()}
    return Compiled(
        text=page([nothing, *carried.tables, *blocks, answers_text(answers, phrases, notes=fields)]),
        claims=(*tabled, *answers.claims),
        open_questions=answers.open_questions,
        conflicts=(*inside, *answers.conflicts),
        fields=fields,
    )


def _with_kept(text: str, dropped: Mapping[ClaimId, ClaimId]) -> str:
    return replace_anchors(text, lambda claim: anchor(dropped.get(claim, claim)))


def _in_tables(carried: Carried) -> frozenset[ClaimId]:
    anchored = {found.claim for table in carried.tables for found in find_anchors(table)}
    return frozenset(claim.id for claim in carried.claims if claim.id in anchored)
