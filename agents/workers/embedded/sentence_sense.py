"""What a sentence affirms or denies: its negations, what it says to be missing, and the words of its content."""

from __future__ import annotations

import re
from collections.abc import Set

from agents.retrieval.tokens import terms
from agents.workers.embedded.quantities import read_quantities

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|cannot|exclud(?:e[sd]?|ing)|exclusive)\b|n['’]t\b|[不未没無无非]|并非|停止|取消"
    r"|\b(?:forbid(?:s|den)?|prohibit(?:s|ed)?|ban(?:s|ned)?)\b|禁止|严禁",
    re.IGNORECASE,
)
_LACKING = re.compile(
    r"\b(?:without|excluding|exclusive of|excludes?|not including)\s+(?:the |any )?(?P<lacks>[\w-]+)"
    r"|(?:不含|不包括|不包含|不计)(?P<lacks_zh>[^，；。、]{1,8})",
    re.IGNORECASE,
)
"""What a sentence says to be missing; nothing else of it is denied thereby."""
_SENSE = re.compile(
    r"\b(?:allow(?:s|ed)?|permit(?:s|ted)?|forbid(?:s|den)?|prohibit(?:s|ed)?|ban(?:s|ned)?)\b|允许|准许|许可|可以|禁止|严禁"
    r"|\b(?:inclu(?:des?|ded|ding|sive)|exclu(?:des?|ded|ding|sive))\b|包括|包含|(?<=不)含|含(?=税|暖|水电|运费|餐)"
    r"|\b(?:exceed(?:s|ed)?|reach(?:es|ed)?)(?=\s+[€$£¥]?\d)|(?:超过|达到?)(?=\s*\d)",
    re.IGNORECASE,
)
"""Words that say whether something may be, is in it, or bounds it: the sense of a sentence, not what it is about."""
_NO_NEGATION = re.compile(
    r"\bno(?:t)? (?:be |fall |lie |drop |rise |go )?(?:more|less|fewer|later|earlier|only|least|above|below"
    r"|over|under|higher|lower|larger|smaller|exceed(?:ing)?)\b"
    r"|[不未](?:得|应|能|可|宜|会|准|许)?(?:少于|多于|低于|高于|超过|超出|小于|大于|晚于|早于)|[不未](?:足|到|仅|但|同|断|论)|无论",
    re.IGNORECASE,
)
"""Forms of comparing and joining that hold a negating word and deny nothing."""
_CLAUSE_END = re.compile(r"[,;:，；：]\s*")


def is_negated(text: str) -> bool:
    """Say whether a text holds a negation at all.

    >>> is_negated("not safe"), is_negated("no more than 3 m")
    (True, False)
    """
    return _NEGATION.search(_NO_NEGATION.sub(" ", text)) is not None


def content(text: str) -> set[str]:
    """Return the words that say what a sentence is about: without its numbers, units, and words of its sense."""
    # The comma keeps what stands before the word apart from a number after it: `may reach 9` is no day in May.
    return set(terms(read_quantities(_SENSE.sub(" , ", text)).rest))


def denies(text: str, subject: Set[str]) -> bool:
    """Say whether a clause of `text` that speaks of the subject holds a negation, and not one of something else."""
    clauses = [clause for clause in _CLAUSE_END.split(text) if subject & set(terms(clause))]
    return any(is_negated(_of_subject(clause, subject)) for clause in clauses)


def _of_subject(clause: str, subject: Set[str]) -> str:
    """Leave out what is said to be missing (`without tax`) where that is no word of the subject."""
    return _LACKING.sub(
        lambda found: found[0] if subject & set(terms(found["lacks"] or found["lacks_zh"])) else " ", clause
    )
