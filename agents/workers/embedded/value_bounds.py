"""Tell a value that bounds ("at most 7") from one that is given, and whether two of them can't both be true."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, Literal

from agents.workers.embedded.quantities import nearly_equal

Bound = Literal["most", "least"]

_NOT: Final = r"(?:no|not)(?: (?:be|fall|lie|drop|go|rise|get|stand|come))?"
_NUMBER_NEXT: Final = r"(?=\s*(?:about\s+)?[€$£¥]?\s?\d)"
_MOST = re.compile(
    rf"\b(?:not exceed(?:ing)?|{_NOT} (?:more|larger|higher|longer) than|{_NOT} (?:above|over)|at most|up to|"
    r"maximum|max|limited to|less than|fewer than|lower than)\b"
    rf"|\b(?:below|under|within){_NUMBER_NEXT}"
    r"|[不未](?:得|应|能|可|宜|会|准|许)?(?:超过|大于|高于|多于|超出)|至多|最多|不超|小于|低于|少于|不足|以下|以内|上限",
    re.IGNORECASE,
)
_LEAST = re.compile(
    rf"\b(?:{_NOT} (?:less|fewer|lower|smaller|shorter) than|{_NOT} (?:below|under)|at least|minimum|"
    r"more than|higher than)\b"
    rf"|\b(?:above|over|exceed(?:s|ed|ing)?){_NUMBER_NEXT}"
    r"|[不未](?:得|应|能|可|宜|会|准|许)?(?:少于|小于|低于)|至少|最少|起码|超过|大于|高于|多于|以上|下限",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"\b(?:may|can|must|shall|should|allow(?:s|ed)?|permit(?:s|ted)?|limit|required?|needs?)\b|[可能应须需]|允许|准许|限",
    re.IGNORECASE,
)


def bound_of(text: str) -> Bound | None:
    """Return what a clause says of its value: that it is the most, the least, or (`None`) the value itself.

    >>> bound_of("It must not exceed 7 °C"), bound_of("不得少于2具"), bound_of("It costs 7 euro")
    ('most', 'least', None)
    """
    # The denied forms hold the plain ones of the other direction: they are read first.
    for found, bound in ((_denied(_LEAST, text), "least"), (_denied(_MOST, text), "most")):
        if found:
            return "least" if bound == "least" else "most"
    if _MOST.search(text):
        return "most"
    return "least" if _LEAST.search(text) else None


def told_by(stated: str, told: str) -> bool:
    """Say whether a clause may confirm an equal value: a bound confirms that bound, or what it allows or demands."""
    asked, given = bound_of(stated), bound_of(told)
    if asked == given:
        return True
    return asked is None and _MAY.search(stated) is not None


def contradicts(value: Decimal, stated: str, other: Decimal, told: str) -> bool:
    """Say whether `value`, as the clause `stated` gives it, can't be true beside `other`, as `told` gives that.

    Two bounds of one direction contradict each other where they differ. A bound contradicts a value beyond it.
    """
    asked, given = bound_of(stated), bound_of(told)
    equal = nearly_equal(value, other)
    if asked == given:
        return not equal
    if equal:
        return asked is not None and given is not None
    least, most = (value, other) if given == "most" or asked == "least" else (other, value)
    return least > most


def _denied(pattern: re.Pattern[str], text: str) -> bool:
    return any(re.match(r"(?:no|not|不|未)", found[0], re.IGNORECASE) for found in pattern.finditer(text))
