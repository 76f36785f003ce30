"""Cut a text where people cut it: quotes, sentences, enumerations, numbered lists.

Everything here works on English, Chinese and mixtures, and never cuts inside quotation marks or brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import rjieba

from agents.planning.language import CJK

_PAIRS: Final = dict(zip('“「『《〈（([【"`', '”」』》〉）)]】"`', strict=True))
_QUOTES: Final = ("“”", "「」", "『』", '""', "‘’", "''")

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|nos|fig|dr|mr|mrs|ms|st|approx|dept|inc|ltd|jr|sr|al|p|pp)"
    r"|(?<!°)(?<!\d )(?<!\d)\b[A-Za-z])$",
    re.IGNORECASE,
)
_ENDS: Final = "。！？!?；;\n"
_CONJUNCTIONS: Final = frozenset({"和", "与", "及", "以及", "跟", "或", "或者", "还是", "并", "同"})
_COUNTED = re.compile(
    r"(?<=\S)(?:这|那)?[两二三四五六七八九十几多0-9]+(?:种|个|家|座|类|款|项|者|条|方|大)\S*$"
)
_ARTICLE = re.compile(r"^(?:(?:the|a|an|both|its|their|either|any|all)\s+)+", re.IGNORECASE)
_ETC = re.compile(r"(?:\s*,?\s*(?:etc\.?|and so on)|\s*等(?:等)?)$", re.IGNORECASE)

_MARKERS: Final = (
    re.compile(r"[（(]\s*(\d{1,3})\s*[)）]"),
    re.compile(r"(?<![\w.,])(\d{1,3})[)）、]\s*"),
    re.compile(r"(?<![\w.,$€£¥])(\d{1,3})[.．](?=\s|[" + CJK + r"])"),
    re.compile(r"([①-⑳])"),
    re.compile(r"[（(]\s*([一二三四五六七八九十]{1,3})\s*[)）]"),
    re.compile(r"(?<![" + CJK + r"])([一二三四五六七八九十]{1,3})[、.．]"),
    re.compile(r"[（(]\s*([a-z])\s*[)）]"),
    re.compile(r"(?<!\w)Q\s?(\d{1,3})\s*[:：.)]\s*"),
    re.compile(r"(?<![" + CJK + r"])第([一二三四五六七八九十]{1,3})[，、,:：]\s*"),
)
_NUMERALS: Final = "一二三四五六七八九十"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumerated:
    """A text with a numbered list inside it."""

    lead: str
    """What stands before the first number."""
    items: tuple[str, ...]


def shielded(text: str) -> list[bool]:
    """Tell for each character whether it stands inside a closed pair of quotes or brackets."""
    inside = [False] * len(text)
    position = 0
    while position < len(text):
        closing = _PAIRS.get(text[position])
        end = text.find(closing, position + 1) if closing else -1
        if end > position:
            inside[position : end + 1] = [True] * (end + 1 - position)
            position = end
        position += 1
    return inside


def unquote(text: str) -> str:
    """Strip blanks and one pair of quotation marks around the whole text."""
    stripped = text.strip()
    for opening, closing in _QUOTES:
        if len(stripped) > 1 and stripped[0] == opening and stripped[-1] == closing:
            inner = stripped[1:-1]
            if opening not in inner and closing not in inner:
                return inner.strip()
    return stripped


def quoted(text: str) -> tuple[str, ...]:
    """Return what stands between quotation marks, in order; book titles and brackets are no quotes."""
    found = re.findall(r"“([^”]+)”|「([^」]+)」|『([^』]+)』|\"([^\"]+)\"", text)
    return tuple(next(part for part in match if part).strip() for match in found)


def sentences(text: str) -> tuple[str, ...]:
    """Split into sentences with their end marks; semicolons and line breaks end one too.

    >>> sentences("What is 1.5 m? See e.g. the map; then stop.")
    ('What is 1.5 m?', 'See e.g. the map;', 'then stop.')
    """
    inside = shielded(text)
    parts: list[str] = []
    start = 0
    for position, character in enumerate(text):
        if inside[position] or not _ends_sentence(text, position, character):
            continue
        if position + 1 < len(text) and text[position + 1] in "。！？!?":
            continue
        parts.append(text[start : position + 1])
        start = position + 1
    parts.append(text[start:])
    return tuple(part.strip() for part in parts if part.strip(" \t\n。.;；!！"))


def split_at_colon(text: str) -> tuple[str, str] | None:
    """Split at the first colon that introduces something; `None` if there is none.

    Colons of times, ratios, links and quotes introduce nothing.
    """
    inside = shielded(text)
    for position, character in enumerate(text):
        if character not in ":：" or inside[position]:
            continue
        after = text[position + 1 : position + 2]
        if character == ":" and (after.isdigit() or after == "/"):
            continue
        lead, rest = text[:position].strip(), text[position + 1 :].strip()
        return (lead, rest) if lead and rest else None
    return None


def numbered(text: str) -> Enumerated | None:
    """Find a list numbered inside running text: `(1) … (2) …`, `1. … 2. …`, `①…②…`, `一、…二、…`, `(a) … (b) …`.

    The numbers must start at one and rise by one, and there must be at least two.
    """
    inside = shielded(text)
    for marker in _MARKERS:
        run = list(_run(marker, text, inside))
        if len(run) < 2:
            continue
        ends = [match.start() for match in run[1:]] + [len(text)]
        items = [text[match.end() : end] for match, end in zip(run, ends, strict=True)]
        cleaned = tuple(item.strip(" \t\n,，、;；") for item in items)
        if all(cleaned):
            return Enumerated(lead=text[: run[0].start()].strip(), items=cleaned)
    return None


def enumeration(text: str) -> tuple[str, ...]:
    """Split `A, B and C` or `甲、乙和丙` into its members; a single member for anything else.

    >>> enumeration("cost, lifetime and safety"), enumeration("成本、寿命与安全性")
    (('cost', 'lifetime', 'safety'), ('成本', '寿命', '安全性'))
    """
    body = _ETC.sub("", text.strip(" \t\n。.;；:：?？!！"))
    parts = _split_unshielded(body, re.compile(r"、")) if "、" in body else ()
    if len(parts) < 2:
        parts = _split_unshielded(body, re.compile(r"\s*[,，;；]\s*(?:(?:and|or)\s+)?"))
    *heads, last = parts
    members = [*heads, *_split_last(last)]
    cleaned = [_member(member) for member in members]
    if len(cleaned) > 1:
        cleaned[-1] = _COUNTED.sub("", cleaned[-1]) or cleaned[-1]
    return tuple(dict.fromkeys(member for member in cleaned if member))


def without_article(text: str) -> str:
    """Return `text` without an article at its beginning.

    >>> without_article("the storage plant")
    'storage plant'
    """
    return _ARTICLE.sub("", text)


def _split_last(text: str) -> list[str]:
    english = _split_unshielded(
        text, re.compile(r"\s+(?:and|or|&|vs\.?|versus|as well as)\s+(?!so on)", re.IGNORECASE)
    )
    return [piece for part in english for piece in _split_conjunction(part)]


def _split_conjunction(text: str) -> list[str]:
    """Split at Chinese conjunctions that stand as words of their own (`和平` is not split).

    By the dictionary alone: the statistical model for new words would join `乙和丙`.
    """
    if not any(word in text for word in _CONJUNCTIONS):
        return [text]
    inside = shielded(text)
    parts: list[str] = []
    current, position = "", 0
    for token in rjieba.cut(text, hmm=False):
        if token in _CONJUNCTIONS and not inside[position] and current.strip():
            parts.append(current)
            current = ""
        else:
            current += token
        position += len(token)
    if not current.strip():
        return [text]
    return [*parts, current]


def _split_unshielded(text: str, separator: re.Pattern[str]) -> tuple[str, ...]:
    inside = shielded(text)
    parts: list[str] = []
    start = 0
    for match in separator.finditer(text):
        if match.start() == match.end() or any(inside[match.start() : match.end()]):
            continue
        if _between_digits(text, match):
            continue
        parts.append(text[start : match.start()])
        start = match.end()
    parts.append(text[start:])
    kept = tuple(part for part in parts if part.strip())
    return kept or (text,)


def _between_digits(text: str, match: re.Match[str]) -> bool:
    """A comma in `10,000` separates nothing."""
    return (
        match.group(0) == ","
        and match.start() > 0
        and text[match.start() - 1].isdigit()
        and text[match.end() : match.end() + 1].isdigit()
    )


def _member(text: str) -> str:
    return _ARTICLE.sub("", unquote(text.strip(" \t\n,，、;；"))).strip()


def _ends_sentence(text: str, position: int, character: str) -> bool:
    if character in ".!" and re.match(r"\s+[a-z]", text[position + 1 :]):
        return False
    if character in _ENDS:
        return True
    if character != ".":
        return False
    following = text[position + 1 : position + 2]
    if following and not following.isspace():
        return bool(re.match(f"[{CJK}]", following)) and not text[position - 1 : position].isdigit()
    return not _ABBREVIATION.search(text[:position])


def _run(marker: re.Pattern[str], text: str, inside: list[bool]) -> Iterator[re.Match[str]]:
    expected = 1
    for match in marker.finditer(text):
        bracketed = match.group(0)[0] in "(（"
        if _ordinal(match.group(1)) != expected or (inside[match.start()] and not bracketed):
            continue
        yield match
        expected += 1


def _ordinal(label: str) -> int:
    if label.isdigit() and label.isascii():
        return int(label)
    if "①" <= label <= "⑳":
        return ord(label) - ord("①") + 1
    if label.isascii():
        return ord(label) - ord("a") + 1
    if label == "十":
        return 10
    tens, _, units = label.rpartition("十")
    value = _NUMERALS.find(units) + 1 if units else 0
    if "十" in label:
        value += 10 * (_NUMERALS.find(tens) + 1 if tens else 1)
    return value
