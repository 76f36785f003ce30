"""Choose the sentences of a summary: every note and section in proportion, what opens and what states first.

As in `selection`, values know the mask's bands only, and filling takes them by value times mask weight, so that the
gradient stays monotone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from agents.evidence import SourceId
from agents.retrieval.copies import carries_same_numbers, repeats
from agents.retrieval.tokens import terms
from agents.workers.embedded.matching import Matcher, prepared
from agents.workers.embedded.quantities import read_quantities
from agents.workers.embedded.selection import FEWEST_TERMS, Weighted, length_of
from graphs.contract import Lang

HEADING_FACTOR: Final = 0.9
"""What a term of the topic counts for in the section's own heading, against 1 in the sentence: what stands under it
is on the topic."""
TRAIL_FACTOR: Final = 0.7
"""The same for the headings above and the note's title."""
NEIGHBOUR_FACTOR: Final = 0.5
"""The same for the sentences before and after."""
TOPIC_SHARE: Final = 0.5
"""A sentence on a topic must say of it more than this share of what the best one says: to stand beside is
not enough."""
FEWEST_STEPS: Final = 2
"""Items from which a list can be one of steps."""
HEADED_SHARE: Final = 0.9
"""Of several lists, those whose headings say at least this share of what the best one says of the topic."""
FIRST_WORTH: Final = 0.5
"""Added for the first sentence of a section, against 1 for a sentence that holds the whole topic: it mostly says what
the section is about."""
STATING_WORTH: Final = 0.3
"""Added for a number or date, and for an item of a list: what is planned, done, measured."""
FEWEST_STEP_TERMS: Final = 2
"""Content terms of an item of a list: `Close the valve.` is a step."""

_ENTRY = re.compile(r"^[^\s:：][^:：。.]{0,20}[:：][^:：.。!！?？]{1,40}[。.]?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A sentence with how far it is on the topic, and what it is worth in its section."""

    one: Weighted
    topic: float
    worth: float


def digest(
    candidates: Sequence[Weighted],
    matcher: Matcher,
    budget: int,
    lang: Lang,
    *,
    on_topic: bool,
    steps: bool = False,
) -> tuple[Weighted, ...]:
    """Return sentences of the length `budget` (see `length_of`), the most telling first.

    Notes share the budget in proportion to what they have on the topic (without one: to their sentences), and so do
    the sections of a note: the n-th sentence of one with the share s counts s / n. Repetitions are left out. With
    `on_topic`, sentences that say little of the topic, in their own words or under their heading, are left out too.
    With `steps`, the items of the list under the heading that says most of the topic are all, where there is one.
    """
    opened = [one for one in candidates if one.weight > 0]
    fitting = [one for one in opened if 0 < length_of(one.candidate.unit.text, lang) <= budget]
    told = _on_topic(fitting, matcher) if on_topic else [(one, 1.0) for one in fitting]
    told = _steps(told, matcher) if steps else told
    kept = _unrepeated([one for one, _ in told if _worth_telling(one)])
    topics = {id(one): topic for one, topic in told}
    central = _centrality(kept)
    rated = [
        _Told(one=one, topic=topics[id(one)], worth=_worth(one, matcher, central, on_topic)) for one in kept
    ]
    return _filled(_shared_out(rated), budget, lang)


def _worth_telling(one: Weighted) -> bool:
    """Say whether a sentence tells enough by itself.

    A line `name: value` at the head of a note, such as its author or date, does not, unless it holds a measure.
    """
    unit = one.candidate.unit
    words = set(terms(unit.text))
    if unit.kind == "list_item":
        return len(words) >= FEWEST_STEP_TERMS
    found = read_quantities(unit.text)
    entry = one.candidate.passage.section[0] == 1 and _ENTRY.match(unit.text) and not found.measures
    return len(words) >= FEWEST_TERMS and bool(terms(found.rest)) and not entry


def _on_topic(candidates: Sequence[Weighted], matcher: Matcher) -> list[tuple[Weighted, float]]:
    said = [(one, _of_topic(one, matcher)) for one in candidates]
    best = max((topic for _, topic in said), default=0.0)
    return [(one, topic) for one, topic in said if topic > TOPIC_SHARE * best > 0]


def _steps(told: list[tuple[Weighted, float]], matcher: Matcher) -> list[tuple[Weighted, float]]:
    listed = [(one, topic) for one, topic in told if one.candidate.unit.kind == "list_item"]
    counted = Counter(one.candidate.passage.key for one, _ in listed)
    headed = {
        one.candidate.passage.key: matcher.coverage((one.candidate.passage.head, 1.0))
        for one, _ in listed
        if counted[one.candidate.passage.key] >= FEWEST_STEPS
    }
    best = max(headed.values(), default=0.0)
    chosen = {key for key, share in headed.items() if share >= HEADED_SHARE * best > 0}
    return [(one, topic) for one, topic in listed if one.candidate.passage.key in chosen] or told


def _of_topic(one: Weighted, matcher: Matcher) -> float:
    passage = one.candidate.passage
    *trail, own = passage.heading.split(" > ")
    return matcher.coverage(
        (prepared(one.candidate.unit.text), 1.0),
        (prepared(own), HEADING_FACTOR),
        (prepared(" ".join((*trail, passage.source.title))), TRAIL_FACTOR),
        (prepared(passage.around(one.candidate.index)), NEIGHBOUR_FACTOR),
    )


def _worth(one: Weighted, matcher: Matcher, central: Mapping[str, float], on_topic: bool) -> float:
    candidate = one.candidate
    text = candidate.unit.text
    words = set(terms(text))
    own = matcher.coverage((prepared(text), 1.0)) if on_topic else 0.0
    about = sum(central.get(word, 0.0) for word in words) / len(words)
    opens = candidate.index == 0 and candidate.passage.start_line <= candidate.passage.section[0] + 1
    found = read_quantities(text)
    states = bool(found.measures or found.days) or candidate.unit.kind == "list_item"
    return own + about + (FIRST_WORTH if opens else 0.0) + (STATING_WORTH if states else 0.0)


def _centrality(candidates: Sequence[Weighted]) -> Mapping[str, float]:
    """Say how much a term belongs to what is spoken of: how often it stands in different sentences, from 0 to 1."""
    counted = Counter(term for one in candidates for term in set(terms(one.candidate.unit.text)))
    most = log(1 + max(counted.values(), default=1))
    return {term: log(count) / most for term, count in counted.items()}


def _shared_out(rated: Sequence[_Told]) -> list[tuple[Weighted, float]]:
    """Pair the sentences with their values: shares of notes, then of sections, by highest averages."""
    sections: dict[tuple[SourceId, int], list[_Told]] = {}
    for told in rated:
        sections.setdefault(told.one.candidate.passage.key, []).append(told)
    notes: dict[SourceId, list[tuple[float, _Told]]] = {}
    for (source, _), members in sections.items():
        share = sum(told.topic**2 for told in members)
        ordered = sorted(members, key=lambda told: (-told.worth, told.one.candidate.unit.start_char))
        notes.setdefault(source, []).extend((share / n, told) for n, told in enumerate(ordered, 1))
    valued: list[tuple[Weighted, float]] = []
    for entries in notes.values():
        share = sum(told.topic**2 for _, told in entries)
        ordered_entries = sorted(
            entries, key=lambda entry: (-entry[0], entry[1].one.candidate.unit.start_char)
        )
        valued.extend((told.one, share / n) for n, (_, told) in enumerate(ordered_entries, 1))
    return valued


def _filled(valued: Sequence[tuple[Weighted, float]], budget: int, lang: Lang) -> tuple[Weighted, ...]:
    chosen: list[Weighted] = []
    left = budget
    for one, _ in sorted(valued, key=lambda pair: -pair[1] * pair[0].weight):
        length = length_of(one.candidate.unit.text, lang)
        if length <= left:
            chosen.append(one)
            left -= length
    return tuple(chosen)


def _unrepeated(candidates: Sequence[Weighted]) -> list[Weighted]:
    """Leave out what repeats one before it, and leaks that repeat a sentence which is none."""
    kept: list[Weighted] = []
    for one in sorted(candidates, key=lambda one: (one.leaks, -one.relevance)):
        text = one.candidate.unit.text
        said = (other.candidate.unit.text for other in kept)
        if not any(carries_same_numbers(text, other) and repeats(text, other) for other in said):
            kept.append(one)
    return kept
