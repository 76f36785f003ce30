"""Cut a sentence into the parts that tell something for themselves, and say whose value a part gives.

Rules over marks and closed classes of words; nothing is parsed. A part speaks for itself only where it may have a
subject of its own, so that the value of one thing is never read as that of another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from agents.retrieval.tokens import is_cjk, terms
from agents.workers.embedded.quantities import Quantities, read_quantities

_JOINT = re.compile(
    r"(?P<hard>[;；]\s*|:\s+|：|，)"
    r"|(?P<comma>,\s+(?:(?:and|but|while|whereas|or|yet|although)\s+)?|\s+[–—]\s+)"
    r"|(?P<word>\s+(?:and|but|while|whereas|or|yet|although)\s+)"
    r"|(?P<soft>\s*[(（]|、|而(?!且)|以及|和|与|及|或)",
    re.IGNORECASE,
)
"""Where a part may end; the comma of `3,900` ends none."""
_OWN_SUBJECT = re.compile(
    r"(?:(?:then|so|also|now)\s+)?(?:(?:the|an?|this|that|these|those|its|their|our|his|her|my|your|every|each|all|both|no|"
    r"some|any|it|they|he|she|we|one|another|other)\b|(?-i:[A-Z]))",
    re.IGNORECASE,
)
_VERB: Final = (
    r"(?:is|are|was|were|be|been|has|have|had|will|would|must|may|might|can|could|shall|should|does|do|did)"
)
_FINITE = re.compile(rf"\b{_VERB}\b", re.IGNORECASE)
_GOES_ON = re.compile(
    rf"(?:also\s+|then\s+)?{_VERB}\b|[并且也还均都不未将须需应可已仅只再则就]|同时", re.IGNORECASE
)
"""How a part begins that has the subject of the part before it."""
_ADVERBIAL = re.compile(
    r"(?:in|on|at|by|for|from|under|during|within|of|to|until|since|after|before|with|without)\b[^,]*$"
    r"|(?:在|于|自|从|按|根据|截至|截止|到|至|为了?|对于?|由于?|经|随着)[^，]*$",
    re.IGNORECASE,
)
"""A beginning that only says when, where or how the rest is so."""
_LEAD_ZH = re.compile(
    r"^(?:其中|另外|此外|预计|计划|目前|现在|[^，；]{1,6}?(?:之后|以后|之前|以前|期间|以来|后|前|时|起))(?=.)"
)
_VALUE = re.compile(r"[€$£¥￥]?\s?\d")


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a sentence tells between two of its joints."""

    text: str

    @cached_property
    def told(self) -> Quantities:
        return read_quantities(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its content words, without numbers and units."""
        return frozenset(terms(self.told.rest))

    @cached_property
    def called(self) -> frozenset[str]:
        """The content words before its first value, or all of them where none stands there: who has the value."""
        value = _VALUE.search(self.text)
        before = self.text[: value.start()] if value else self.text
        found = frozenset(terms(_LEAD_ZH.sub("", before))) & self.words
        return _of_weight(found) or _of_weight(self.words)

    @property
    def has_value(self) -> bool:
        return bool(self.told.measures or self.told.days)

    @property
    def goes_on(self) -> bool:
        """Whether it begins like one that has the subject of the part before it."""
        return _GOES_ON.match(self.text) is not None

    @property
    def is_bare(self) -> bool:
        """Whether it holds a value and no words: it belongs to those before it."""
        return self.has_value and not self.words


@lru_cache(maxsize=20_000)
def parts_of(sentence: str) -> tuple[Part, ...]:
    """Return the parts of `sentence`, in order; one for a sentence that tells a single thing.

    >>> [part.text for part in parts_of("The fare is €4 for the North line and €3 for the South line.")]
    ['The fare is €4 for the North line', '€3 for the South line.']
    """
    pieces = _pieces(sentence)
    parts: list[str] = [pieces[0][1]]
    for joint, piece in pieces[1:]:
        opens = len(parts) == 1 and joint.strip() in (",", "，") and _only_says_when(parts[0])
        if not opens and _parted(joint, parts[-1], piece):
            parts.append(piece)
        else:
            parts[-1] += joint + piece
    return tuple(Part(text=text.strip()) for text in parts if text.strip())


def speaks_for(part: Part, others: Sequence[Part], wanted: frozenset[str]) -> bool:
    """Say whether `part` may tell something of what `wanted` names, with what `others` (before it) name.

    It may if it has all of the words itself, or if it names nothing else that its value could belong to.
    """
    lacking = wanted - part.words
    if not lacking:
        return True
    if not others or not all(any(word in other.words for other in others) for word in lacking):
        return False
    return part.goes_on or part.called <= wanted


def _pieces(sentence: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    start, joint = 0, ""
    for match in _JOINT.finditer(sentence):
        if match.start() == start:
            continue
        found.append((joint, sentence[start : match.start()]))
        start, joint = match.end(), match[0]
    found.append((joint, sentence[start:]))
    return [(joint, piece) for joint, piece in found if piece.strip()] or [("", sentence)]


def _only_says_when(text: str) -> bool:
    return _ADVERBIAL.match(text) is not None and not read_quantities(text).measures


def _parted(joint: str, before: str, after: str) -> bool:
    """Say whether a new part begins after `joint`."""
    kind = _JOINT.fullmatch(joint)
    if kind is None:
        return False
    one, other = Part(text=before), Part(text=after)
    if other.is_bare:
        return False
    if kind["hard"] or (one.has_value and other.has_value):
        return True
    if kind["soft"]:
        return False
    return _OWN_SUBJECT.match(after) is not None or (
        kind["word"] is not None and (one.has_value or _FINITE.search(before) is not None)
    )


def _of_weight(words: frozenset[str]) -> frozenset[str]:
    """Return the words without single Chinese characters (`共`, `约`), which mostly join and count."""
    return frozenset(word for word in words if len(word) > 1 or not is_cjk(word))
