"""Say what a sentence of the notes tells of a statement.

Rules over words and numbers. A statement is told so only by a part of a sentence that has its words, numbers, dates,
names and negation; otherwise only by one that speaks of the same and differs in one number or date, or in the negation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, Literal

from agents.dates import Day
from agents.evidence import claim_of
from agents.retrieval.tokens import is_cjk, terms
from agents.workers.embedded.conflicts import disagree
from agents.workers.embedded.matching import credit, prepared
from agents.workers.embedded.other_things import of_other_things
from agents.workers.embedded.quantities import PLAIN, Measure, Quantities, nearly_equal, read_quantities
from agents.workers.embedded.sentence_parts import Part, parts_of, speaks_for
from agents.workers.embedded.sentence_sense import content, denies
from agents.workers.embedded.spelled_numbers import with_digits
from agents.workers.embedded.value_bounds import contradicts, told_by

SAID_SHARE: Final = 0.8
"""Share of a statement's content words that a sentence must have to speak of the same."""
FEWEST_WORDS: Final = 2
"""Content words of a statement from which a part of a sentence may hold further ones and still tell it otherwise."""

WORD_CREDIT: Final = 0.7
"""How far a sentence must hold each word of a statement that it confirms: the word, or one of its stem."""

_IN_ONE_BREATH = re.compile(
    r"[€$£¥]?\d[\d.,]*\s*[^\W\d]{0,6}\s*(?:,|、|and|or|to|/|-|–|和|或|与|至|到)\s*[€$£¥]?\d[\d.,]*\s*[^\W\d]*",
    re.IGNORECASE,
)
"""Two values side by side: which of them belongs to what, nothing tells."""
_NAME = re.compile(r"\b[A-Z][A-Za-z0-9]+\b|《[^》]+》")
_VALUE_VERBS: Final = frozenset(terms("runs lasts amounts costs totals"))
"""Verbs that a sentence may leave out before several values; without them it confirms nothing."""
_REFERENCE = re.compile(r"[(（](?:see|cf\.?|compare|参见|详见|见)[^()（）]*[)）]", re.IGNORECASE)

Finding = Literal["says_so", "says_otherwise"]


def finding_on(statement: str, sentence: str, about: str = "") -> Finding | None:
    """Return what `sentence` says of `statement`; `None`: nothing that rules can tell.

    Each part of the sentence is read for itself: it says so only if what the statement is about and its values stand
    together in it. Words of the statement may also stand in `about`, the headings over the sentence, if none is missing
    then.

    >>> finding_on("The plant stores 32 MWh.", "By 2030 the plant stores 32 MWh of energy.")
    'says_so'
    >>> finding_on("The plant stores 30 MWh.", "The plant stores 32 MWh of energy.")
    'says_otherwise'
    >>> finding_on("The plant is safe.", "The plant is not safe.")
    'says_otherwise'
    >>> finding_on("The plant stores 32 MWh.", "The plant stores 30 MWh; the dam stores 32 MWh.")
    'says_otherwise'
    """
    stated, said = with_digits(statement), with_digits(_REFERENCE.sub(" ", sentence))
    parts = parts_of(said)
    asked, told = read_quantities(stated), read_quantities(said)
    if len(parts) == 1 and _disagree(stated, said):
        return "says_otherwise"
    wanted, held = content(stated), content(said)
    over = set(terms(about)) if wanted & held and wanted <= held | set(terms(about)) else set()
    bare = wanted - _VALUE_VERBS if len(asked.measures) > 1 and wanted - _VALUE_VERBS <= held else set()
    asking = _Asked(text=stated, values=asked, words=frozenset(bare or wanted), over=frozenset(over))
    enough = bool(bare) or len(wanted & (held | over)) >= SAID_SHARE * len(wanted)
    if not wanted or not enough or asked.labels - told.labels:
        return _parts_disagree(asking, parts)
    whole = f"{said} {about if over else ''}"
    if not set(_NAME.findall(asked.rest)[1:]) <= set(_NAME.findall(whole)):
        return None
    if len(parts) == 1 and of_other_things(stated, said):
        return None
    found = [_on_part(asking, parts, place) for place in range(len(parts))]
    if "says_so" in found and _has_all(whole, wanted):
        # A word that the sentence lacks may be the one that matters.
        return "says_so"
    return (
        "says_otherwise" if "says_otherwise" in found else _parts_disagree(asking, parts, one_question=True)
    )


def other_value(found: str, other: str, statement: str | None = None) -> bool:
    """Say whether `other` gives another value for what a part of `found` says; of `statement`, if given, its own.

    >>> other_value("The fair opens on 3 May.", "The fair opens on 9 May.", "The fair is on 3 May.")
    True
    >>> other_value("The fair opens on 3 May for €4.", "The fair opens on 3 May for €5.", "The fair is on 3 May.")
    False
    """
    asked = read_quantities(with_digits(statement)) if statement is not None else None
    for mine in parts_of(with_digits(found)):
        if asked is not None and not (mine.has_value and _holds(asked, mine.told)):
            continue
        for theirs in parts_of(with_digits(other)):
            differs = asked is None or not _holds(asked, theirs.told)
            if (
                differs
                and (asked is None or _of_its_kind(asked, theirs))
                and _disagree(mine.text, theirs.text)
            ):
                return True
    return False


def _of_its_kind(asked: Quantities, part: Part) -> bool:
    kinds = {measure.dimension for measure in part.told.measures}
    return any(measure.dimension in kinds for measure in asked.measures) or bool(
        asked.days and part.told.days
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A statement as its parts are looked for."""

    text: str
    values: Quantities
    words: frozenset[str]
    over: frozenset[str] = frozenset()
    """Words that stand in the headings over the sentence."""


def _on_part(asked: _Asked, parts: Sequence[Part], place: int) -> Finding | None:
    """Return what one part says, with the words that it leaves to the parts before it."""
    part, others = parts[place], parts[:place]
    held = frozenset().union(*(content(one.text) for one in parts))
    wanted = asked.words & held - asked.over
    if not speaks_for(part, others, wanted):
        return None
    same_sense = denies(asked.text, asked.words & held) == denies(part.text, asked.words & held)
    if _holds(asked.values, part.told, [one.told for one in parts if one is not part]):
        if not same_sense:
            return "says_otherwise"
        if _one_of_several(asked.values, part.text):
            return None
        measures = asked.values.measures
        if len(measures) != 1 or told_by(asked.text, part.text):
            return "says_so"
        value = measures[0].value
        return "says_otherwise" if contradicts(value, asked.text, value, part.text) else None
    if not same_sense or _one_of_several(asked.values, part.text) or _given_elsewhere(asked, part, parts):
        return None
    return "says_otherwise" if _part_differs(asked, part) else None


def _given_elsewhere(asked: _Asked, part: Part, parts: Sequence[Part]) -> bool:
    """Say whether the value that `part` lacks stands in another one, and either may be of what is asked about."""
    lacking = [
        one
        for one in asked.values.measures
        if not any(same_measure(one, other) for other in part.told.measures)
    ]
    elsewhere = any(
        same_measure(one, other) for one in lacking for told in parts for other in told.told.measures
    )
    return elsewhere and not part.called <= asked.words


def _has_all(text: str, words: Set[str]) -> bool:
    held = prepared(text)
    return all(credit(word, held) >= WORD_CREDIT or (is_cjk(word) and word in held.folded) for word in words)


def _parts_disagree(asked: _Asked, parts: Sequence[Part], *, one_question: bool = False) -> Finding | None:
    """Compare with the parts that have a subject of their own, by the rule for two claims."""
    for part in parts:
        apart = part.words and not part.goes_on and not _given_elsewhere(asked, part, parts)
        if apart and _disagree(asked.text, part.text, one_question=one_question and len(parts) == 1):
            return "says_otherwise"
    return None


def _disagree(stated: str, said: str, *, one_question: bool = False) -> bool:
    """Say whether two texts give different values for one quantity that can't both be true."""
    one, other = (claim_of("", text, (), core=True) for text in (stated, said))
    if one_question:
        one, other = (replace(claim, question=stated) for claim in (one, other))
    asked, told = read_quantities(stated), read_quantities(said)
    if not disagree(one, other) or _one_of_several(asked, said) or _of_other_years(asked, told):
        return False
    for measure in asked.measures if len(asked.measures) == 1 else ():
        values = [other.value for other in told.measures if other.dimension == measure.dimension]
        return not values or any(contradicts(measure.value, stated, value, said) for value in values)
    return True


def _of_other_years(asked: Quantities, told: Quantities) -> bool:
    """Say whether two texts give their values for different years: both may be true."""
    years = [{day.year for day in one.days if day.month is None} for one in (asked, told)]
    return bool(asked.measures and all(years) and not years[0] & years[1])


def _part_differs(asked: _Asked, part: Part) -> bool:
    """Say whether a part gives one other value than the statement, and all its further ones.

    Words in the headings count. A statement of one word and one value is met only by a part of that word alone.
    """
    measures = asked.values.measures
    unlike = [one for one in measures if not any(same_measure(one, other) for other in part.told.measures)]
    if len(unlike) != 1 or unlike[0].dimension == PLAIN or not asked.words:
        return False
    (measure,) = unlike
    values = [other.value for other in part.told.measures if other.dimension == measure.dimension]
    rest = [one.value for one in measures if one.dimension == measure.dimension and one is not measure]
    values = [value for value in values if not any(nearly_equal(value, known) for known in rest)]
    alone = len(asked.words) < FEWEST_WORDS and len(measures) == 1
    if len(values) != 1 or (alone and asked.words != _of_weight(content(part.text))):
        return False
    same_thing = part.told.labels == asked.values.labels and set(part.told.days) == set(asked.values.days)
    if len(measures) > 1:
        return same_thing and not nearly_equal(values[0], measure.value)
    return same_thing and contradicts(measure.value, asked.text, values[0], part.text)


def _one_of_several(asked: Quantities, text: str) -> bool:
    """Say whether a text gives several values of the statement's kind in one breath: `5 and 3 years`."""
    kinds = {measure.dimension for measure in asked.measures}
    for match in _IN_ONE_BREATH.finditer(text) if kinds else ():
        alike = [one for one in read_quantities(match[0]).measures if one.dimension in {*kinds, PLAIN}]
        told = [one for one in alike if any(same_measure(one, other) for other in asked.measures)]
        if len(alike) > 1 and len(told) < len(alike):
            return True
    return False


def _holds(asked: Quantities, told: Quantities, beside: Sequence[Quantities] = ()) -> bool:
    """Say whether `told` has every value asked for; one that it gives no rival to may stand `beside`."""
    in_part = [any(same_measure(a, b) for b in told.measures) for a in asked.measures]
    in_part += [any(within(b, a) for b in told.days) for a in asked.days]
    if (in_part and not any(in_part)) or (asked.labels - told.labels and told.labels - asked.labels):
        return False
    measures = all(
        any(same_measure(a, b) for b in told.measures)
        or (
            not any(b.dimension in (a.dimension, PLAIN) for b in told.measures)
            and any(same_measure(a, b) for one in beside for b in one.measures)
        )
        for a in asked.measures
    )
    return measures and all(
        any(within(b, a) for b in told.days)
        or (not told.days and any(within(b, a) for one in beside for b in one.days))
        for a in asked.days
    )


def _of_weight(words: Set[str]) -> set[str]:
    """Return the words without single Chinese characters (`共`, `约`), which mostly join and count."""
    return {word for word in words if len(word) > 1 or not is_cjk(word)}


def same_measure(a: Measure, b: Measure) -> bool:
    dimensions = a.dimension == b.dimension or PLAIN in (a.dimension, b.dimension)
    return dimensions and nearly_equal(a.value, b.value)


def within(told: Day, asked: Day) -> bool:
    """Say whether `told` gives at least the parts that `asked` gives, and the same ones."""
    return all(mine is None or mine == theirs for mine, theirs in zip(asked, told, strict=True))
