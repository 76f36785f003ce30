"""Compare what a claim states with the text that it rests on, at the level of quotes.

A statement that stands in verified text, word for word, is verified with it. Another wording is never verified by
rules: it is uncertain, and falsified when it says a number, date, name or negation that the text does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from agents.dates import Day
from agents.retrieval.sentences import sentence_ranges
from graphs.contract import Lang
from orchestrator.core.claims import Falsified, Uncertain, Verdict, Verified
from orchestrator.verification.quantities import Number, Quantities, fold_width, negated, quantities_of
from orchestrator.verification.wording import said

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BLOCK_MARK = re.compile(r"(?m)^[ \t]*(?:>[ \t]*)*(?:#{1,6}[ \t]+|[-*+•][ \t]+|\d{1,3}[.)][ \t]+)?")
_BLOCK_BORDER = re.compile(
    r"\r?\n(?=[ \t]*\r?\n)"
    r"|\r?\n(?=[ \t]*(?:>[ \t]*)*(?:#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\|))"
    r"|(?<=\|)[ \t]*\r?\n"
)
"""Ends a block: an empty line, the next item, heading or row. What follows a heading without one is taken with it."""
_TABLE_RULE = re.compile(r"(?m)^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$")
# Not between digits: `5*3` must not become 53.
_EMPHASIS = re.compile(r"(?<!\d)[*`]+|[*`]+(?!\d)|__|~~|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CJK = r"\u3000-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_CJK_CHAR = re.compile(f"[{_CJK}]")
_SPACE_AT_CJK = re.compile(rf"(?<=[{_CJK}])\s+|\s+(?=[{_CJK}])")
_MEASURES = """% pp w kw mw gw wh kwh mwh gwh mm cm m km ha g kg t l ml km/h m/s °c v kv hz h min s
tonnes tons metres meters kilometres kilometers hours litres liters
吨 公里 千米 厘米 毫米 米 平方米 立方米 平方公里 公斤 千克 克 升 亩 度 千瓦 兆瓦 千瓦时 兆瓦时"""
MEASURES = frozenset(_MEASURES.split())
"""Units of measured quantities, as `Number.unit` gives them. Counts and sums of money are exact (semantics 4)."""
LONGEST_REMEMBERED = 4000
"""Characters up to which a text's form without markup is kept for a while: a check reads a statement several times."""
_ZH_NUMERALS = "零〇一二两三四五六七八九十百千万亿"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Text that was verified, and where it stands."""

    text: str
    where: str
    """`path:line`."""


def plain(text: str) -> str:
    """Return `text` without Markdown marks and with single spaces, none beside Chinese characters.

    >>> plain("- **Cost:**  12 [million](x.md) €")
    'Cost: 12 million €'
    """
    return _line(text)[0]


def stands_in(statement: str, passage: str) -> bool:
    """Return whether `passage` says `statement` word for word, apart from white space and Markdown.

    The quote has to begin and end between words, and what it leaves out of its first and last sentence must not
    negate it.

    >>> stands_in("The pumps are safe", "It is not true that the pumps are safe.")
    False
    >>> stands_in("2 pumps failed", "In May 12 pumps failed.")
    False
    """
    quote = plain(statement)
    if not quote:
        return False
    text, borders = _line(passage)
    return any(_whole(text, borders, start, len(quote)) for start in _occurrences(text, quote))


def statement_verdict(
    statement: str,
    passages: Sequence[Passage],
    *,
    delta_max: float,
    derived: bool,
    lang: Lang,
    unconfirmed: Sequence[str] = (),
) -> Verdict:
    """Return what the verified `passages` of a claim say of its `statement`.

    Verified: it stands in one of them, or each of its sentences does. Falsified: it holds a number, date, name or
    negation that neither they nor the `unconfirmed` texts of its evidence hold; a measured quantity (a number with a
    unit of `MEASURES`) within `delta_max` of one with the same unit is let pass. Uncertain otherwise, and instead of
    falsified when the claim is `derived` from its passages, since an inference may compute a number.
    """
    if not passages:
        return Uncertain(
            reason=said(lang, en="no verified text to compare with", zh="没有可供比对的已核实文本")
        )
    quoted = _quoted(statement, passages)
    if quoted:
        return Verified(source=quoted)
    if derived:
        reason = said(
            lang,
            en="derived from verified premises; the step itself was not checked",
            zh="由已核实的前提推出；推导步骤本身未经核查",
        )
        return Uncertain(reason=reason)
    texts = [*(passage.text for passage in passages), *unconfirmed]
    missing = unsupported(statement, texts, delta_max=delta_max, lang=lang)
    where = "; ".join(dict.fromkeys(passage.where for passage in passages))
    if missing:
        listed = ", ".join(missing)
        reason = said(
            lang,
            en=f"the statement says what its evidence does not: {listed}",
            zh=f"陈述包含其依据中没有的内容：{listed}",
        )
        return Falsified(reason=reason, source=where)
    reason = said(
        lang,
        en="the statement is not a quote of its evidence; rules can't tell whether it follows",
        zh="陈述并非依据的原文引用；规则无法判断其是否成立",
    )
    return Uncertain(reason=reason)


def unsupported(statement: str, texts: Iterable[str], *, delta_max: float, lang: Lang) -> tuple[str, ...]:
    """Return the numbers, dates, names and negation of `statement` that no text holds, worded for people."""
    mine = quantities_of(statement)
    theirs = [quantities_of(text) for text in texts]
    values, exponents = _values(theirs), {number.exponent for each in theirs for number in each.numbers}
    numbers = [
        number.text + (f" {number.unit}" if number.unit and number.unit not in "%€$£¥" else number.unit)
        for number in mine.numbers
        if not _occurs(number, values, exponents) and not _near(number, theirs, delta_max)
    ]
    dates = [_date_text(day) for day in mine.dates if not _dated(day, theirs)]
    names = sorted(mine.names - {name for each in theirs for name in each.names})
    negation = mine.negated and not any(each.negated for each in theirs)
    denial = [said(lang, en="a negation", zh="否定")] if negation else []
    return (*numbers, *dates, *names, *denial)


def _quoted(statement: str, passages: Sequence[Passage]) -> str | None:
    """Return where the sentences of `statement` stand, or `None` if one stands nowhere."""
    whole = next((passage.where for passage in passages if stands_in(statement, passage.text)), None)
    if whole is not None:
        return whole
    bare = plain(statement)
    places: list[str] = []
    for first, last in sentence_ranges(bare):
        where = next((p.where for p in passages if stands_in(bare[first:last], p.text)), None)
        if where is None:
            return None
        places.append(where)
    return "; ".join(dict.fromkeys(places)) or None


def _line(text: str) -> tuple[str, tuple[int, ...]]:
    """Return `text` without markup in one line, and where in it begins what stands apart in `text`."""
    return _remembered_line(text) if len(text) <= LONGEST_REMEMBERED else _joined(_pieces(text))


@lru_cache(maxsize=256)
def _remembered_line(text: str) -> tuple[str, tuple[int, ...]]:
    return _joined(_pieces(text))


def _pieces(text: str) -> list[str]:
    """Return what stands apart in `text`, without markup: paragraphs, list items, headings, cells."""
    # Each pattern is only asked where a character stands that it can't do without.
    bare = fold_width(text)
    # Escapes first: a writer may have escaped what the source has as markup, or the reverse.
    if "\\" in bare:
        bare = _ESCAPE.sub(r"\1", bare)
    if "](" in bare:
        bare = _LINK.sub(r"\1", bare)
    if "---" in bare:
        bare = _TABLE_RULE.sub("", bare)
    blocks = _BLOCK_BORDER.split(bare) if "\n" in bare else [bare]
    cells = (cell for block in blocks for cell in _unmarked(block).split("|"))
    spaced = (" ".join(cell.split()) for cell in cells)
    if not bare.isascii():
        spaced = (_SPACE_AT_CJK.sub("", cell).strip() for cell in spaced)
    return [cell for cell in spaced if cell]


def _unmarked(block: str) -> str:
    if "\n" in block:
        bare = _BLOCK_MARK.sub("", block)
    else:  # it has one place where a mark can stand
        mark = _BLOCK_MARK.match(block)
        bare = block[mark.end() :] if mark else block
    return _EMPHASIS.sub("", bare) if any(mark in bare for mark in "*`_~") else bare


def _joined(pieces: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """Return the pieces in one line, and where each begins."""
    text, borders = "", list[int]()
    for piece in pieces:
        if text and not (_CJK_CHAR.match(text[-1]) or _CJK_CHAR.match(piece)):
            text += " "
        borders.append(len(text))
        text += piece
    return text, tuple(borders)


def _occurrences(text: str, quote: str) -> list[int]:
    found, start = [], text.find(quote)
    while start >= 0:
        found.append(start)
        start = text.find(quote, start + 1)
    return found


def _whole(text: str, borders: Sequence[int], start: int, length: int) -> bool:
    end = start + length
    if _cuts(text, start) or _cuts(text, end):
        return False
    low = max((border for border in borders if border <= start), default=0)
    high = min((border for border in borders if border >= end), default=len(text))
    if (start, end) == (low, high):
        return True  # nothing is left out
    left_out = ""
    for first, last in sentence_ranges(text[low:high]):
        if first + low < end and start < last + low:
            left_out += (
                text[first + low : max(first + low, start)]
                + " "
                + text[min(last + low, end) : last + low]
                + " "
            )
    return not negated(left_out)


def _cuts(text: str, at: int) -> bool:
    """Return whether the border at `at` goes through a word or a number."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before in _ZH_NUMERALS and after in _ZH_NUMERALS:
        return True
    if before in ".," and after.isdigit():
        return at > 1 and text[at - 2].isdigit()
    if after in ".," and before.isdigit():
        return at + 1 < len(text) and text[at + 1].isdigit()
    if before in "-−" and after.isdigit():
        return True
    if after in "%％" and before.isdigit():
        return True
    return _word(before) and _word(after)


def _word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def _values(theirs: list[Quantities]) -> dict[str, set[Decimal]]:
    """Return the values that the texts hold, by `%`, `pp` or nothing of the kind."""
    values: dict[str, set[Decimal]] = {"%": set(), "pp": set(), "": set()}
    for each in theirs:
        for number in each.numbers:
            values[_share(number)].update(number.readings)
        for day in each.dates:
            values[""].update(Decimal(part) for part in day if part is not None)
        values[""].update(each.spelt)
    return values


def _share(number: Number) -> str:
    return number.unit if number.unit in {"%", "pp"} else ""


def _occurs(number: Number, values: dict[str, set[Decimal]], exponents: set[int]) -> bool:
    known = values[_share(number)]
    # A table may give the scale in its header and the number in a cell.
    scale_apart = number.mantissa in known and number.exponent in exponents
    return bool(number.readings & known) or scale_apart


def _near(number: Number, theirs: list[Quantities], delta_max: float) -> bool:
    if number.unit not in MEASURES:
        return False
    same_unit = [other for each in theirs for other in each.numbers if other.unit == number.unit]
    return any(
        value != 0 and abs(mine - value) / abs(value) <= Decimal(str(delta_max))
        for other in same_unit
        for value in other.readings
        for mine in number.readings
    )


def _dated(day: Day, theirs: list[Quantities]) -> bool:
    if any(day.within(other) for each in theirs for other in each.dates):
        return True
    year_alone = day.month is None and day.day is None and day.year is not None
    return year_alone and any(
        Decimal(day.year or 0) in number.readings for each in theirs for number in each.numbers
    )


def _date_text(day: Day) -> str:
    return "-".join(f"{part:02d}" for part in day if part is not None)
