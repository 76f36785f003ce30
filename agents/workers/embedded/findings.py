"""Say what a sentence or a table row of the notes tells of a statement.

Rules over words and numbers. A statement is told so only by a sentence that has its words, numbers, dates, names and
negation; otherwise only by one that speaks of the same and differs in one number or date, or in the negation. A cell of
a table speaks with the name of its row and the header of its column.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from typing import Final, Literal

from agents.dates import Day
from agents.evidence import claim_of
from agents.retrieval.tokens import is_cjk, terms
from agents.workers.embedded.conflicts import disagree
from agents.workers.embedded.matching import credit, prepared
from agents.workers.embedded.note_tables import Grid
from agents.workers.embedded.quantities import PLAIN, Measure, Quantities, nearly_equal, read_quantities
from agents.workers.embedded.table_columns import is_figure, years_of

SAID_SHARE: Final = 0.8
"""Share of a statement's content words that a sentence must have to speak of the same."""
FEWEST_WORDS: Final = 2
"""Content words of a statement from which a part of a sentence may hold further ones and still tell it otherwise."""

NAMED_CREDIT: Final = 0.7
"""How far a statement must hold each word of a row's or column's name: the word, or one of its stem."""

_AFTER_NUMBER = re.compile(r"\d\s*([^\W\d_]+)")
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|cannot)\b|n['’]t\b|[不未没無无非]|并非|停止|取消"
    r"|\b(?:forbid(?:s|den)?|prohibit(?:s|ed)?|ban(?:s|ned)?)\b|禁止|严禁",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\b(?:allow(?:s|ed)?|permit(?:s|ted)?|forbid(?:s|den)?|prohibit(?:s|ed)?|ban(?:s|ned)?)\b|允许|准许|许可|可以|禁止|严禁",
    re.IGNORECASE,
)
"""Words that say whether something may be: they are the sense of a sentence, not what it is about."""
_BOUND = re.compile(
    r"\b(?:more|less|fewer|over|under|above|below|least|most|up to|than|between|about|around|nearly|almost|roughly)\b"
    r"|超过|不少于|不低于|不高于|不多于|至少|至多|最多|大于|小于|低于|高于|多于|少于|不足|以上|以下|约|近|左右",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"\b(?:than|over|under|above|below)\b|超过|大于|小于|低于|高于|多于|少于|不足", re.IGNORECASE
)
"""Bounds that the value itself does not keep."""
_UNIT = re.compile(r"[(（]([^()（）]*)[)）]")
_NO_NEGATION = re.compile(
    r"\bno(?:t)? (?:more|less|fewer|later|earlier|only|least)\b"
    r"|[不未](?:少于|多于|低于|高于|超过|小于|大于|晚于|早于|足|到|仅|但|同|断|论)|无论",
    re.IGNORECASE,
)
"""Forms of comparing and joining that hold a negating word and deny nothing."""
_CLAUSE_END = re.compile(r"[,;:，；：]\s*")
_PART_END = re.compile(r"[;；，()（）]\s*|,\s+")
"""Where one statement within a sentence may end and the next begin; the comma of `3,900` ends none."""
_NAME = re.compile(r"\b[A-Z][A-Za-z0-9]+\b|《[^》]+》")

Finding = Literal["says_so", "says_otherwise"]


def finding_on(statement: str, sentence: str, about: str = "") -> Finding | None:
    """Return what `sentence` says of `statement`; `None`: nothing that rules can tell.

    Words of the statement may also stand in `about`, the headings over the sentence, if none is missing then.

    >>> finding_on("The plant stores 32 MWh.", "By 2030 the plant stores 32 MWh of energy.")
    'says_so'
    >>> finding_on("The plant stores 30 MWh.", "The plant stores 32 MWh of energy.")
    'says_otherwise'
    >>> finding_on("The plant is safe.", "The plant is not safe.")
    'says_otherwise'
    """
    one, other = (claim_of("", text, (), core=True) for text in (statement, sentence))
    if disagree(one, other):
        return "says_otherwise"
    asked, told = read_quantities(statement), read_quantities(sentence)
    wanted, held = _content(asked.rest), _content(told.rest)
    over = set(terms(about)) if wanted & held and wanted <= held | set(terms(about)) else set()
    held |= over
    if not wanted or len(wanted & held) < SAID_SHARE * len(wanted) or asked.labels - told.labels:
        return None
    if not set(_NAME.findall(asked.rest)[1:]) <= set(_NAME.findall(f"{sentence} {about if over else ''}")):
        return None
    same_sense = _denies(statement, wanted) == _denies(sentence, wanted)
    if _holds(asked, told):
        return "says_so" if same_sense else "says_otherwise"
    one, other = (replace(claim, question=statement) for claim in (one, other))
    if (same_sense and disagree(one, other)) or _part_differs(statement, asked, sentence, over):
        return "says_otherwise"
    return None


def _part_differs(statement: str, asked: Quantities, sentence: str, over: Set[str]) -> bool:
    """Say whether a part of `sentence` has every content word of the statement and one other value for its only one.

    Words in `over` stand in the headings. A statement of one word is met only by a part of that word alone.
    """
    wanted = _content(asked.rest)
    if len(asked.measures) != 1 or asked.measures[0].dimension == PLAIN or not wanted:
        return False
    (measure,) = asked.measures
    for part in _PART_END.split(sentence):
        told = read_quantities(part)
        values = [other.value for other in told.measures if other.dimension == measure.dimension]
        same_thing = told.labels == asked.labels and set(told.days) == set(asked.days)
        said = _content(told.rest)
        speaks = wanted <= said | over if len(wanted) >= FEWEST_WORDS else wanted == _of_weight(said)
        if len(values) == 1 and same_thing and speaks:
            same_sense = _denies(part, wanted) == _denies(statement, wanted)
            if same_sense and not nearly_equal(values[0], measure.value):
                return True
    return False


def _denies(text: str, subject: Set[str]) -> bool:
    """Say whether a clause of `text` that speaks of the subject holds a negation."""
    clauses = [clause for clause in _CLAUSE_END.split(text) if subject & set(terms(clause))]
    return any(_NEGATION.search(_NO_NEGATION.sub(" ", clause)) for clause in clauses)


def _holds(asked: Quantities, told: Quantities) -> bool:
    measures = all(any(_same(a, b) for b in told.measures) for a in asked.measures)
    return measures and all(any(_within(b, a) for b in told.days) for a in asked.days)


def _same(a: Measure, b: Measure) -> bool:
    dimensions = a.dimension == b.dimension or PLAIN in (a.dimension, b.dimension)
    return dimensions and nearly_equal(a.value, b.value)


def _within(told: Day, asked: Day) -> bool:
    """Say whether `told` gives at least the parts that `asked` gives, and the same ones."""
    return all(mine is None or mine == theirs for mine, theirs in zip(asked, told, strict=True))


def _of_weight(words: Set[str]) -> set[str]:
    """Return the words without single Chinese characters (`共`, `约`), which mostly join and count."""
    return {word for word in words if len(word) > 1 or not is_cjk(word)}


def _content(text: str) -> set[str]:
    return set(terms(_PERMISSION.sub(" ", text)))


def finding_on_row(statement: str, grid: Grid, row: int) -> Finding | None:
    """Return what the row at `row` of a table says of `statement`; `None`: nothing that rules can tell.

    The statement must name the row and the column (header or headings may hold its other words); then the cell has its
    number, date or words, or another one. Other words say otherwise only if the statement's own stand in that column
    of another row.
    """
    name = grid.name_of(row)
    if not _named(name, statement) or any(
        _named(other, statement) and set(terms(name)) < set(terms(other)) for other in grid.row_names
    ):
        return None
    found = [
        finding
        for place in range(len(grid.names))
        if place not in grid.naming and (finding := _on_cell(statement, grid, row, place, name)) is not None
    ]
    return found[0] if found and len(set(found)) == 1 else None


def _on_cell(statement: str, grid: Grid, row: int, place: int, name: str) -> Finding | None:
    cells, header = grid.rows[row], grid.names[place]
    cell = cells[place][0] if place < len(cells) else ""
    topic = _UNIT.sub(" ", header)
    years = years_of(topic)
    if not cell or not years <= years_of(statement) or not _named(topic, statement):
        return None
    asked = read_quantities(_without_years(statement, years))
    about = prepared(" ".join((name, header, *grid.levels, *(grid.names[p] for p in grid.naming))))
    left = {
        term
        for term in _content(_without_years(statement, years))
        if not any(char.isdigit() for char in term) and credit(term, about) < NAMED_CREDIT
    }
    if asked.measures or asked.days:
        return _of_figures(statement, asked, left, cell, header)
    return _of_words(left, cell, grid.column(place), denied=_NEGATION.search(statement) is not None)


def _of_figures(statement: str, asked: Quantities, left: Set[str], cell: str, header: str) -> Finding | None:
    """Compare the only value of a statement with a cell that holds one; units may stand in the header."""
    unit = " ".join(_UNIT.findall(header))
    told = read_quantities(f"{cell} {unit}" if is_figure(cell) else cell)
    units = {term for text in (unit, statement) for term in _unit_words(text)}
    same_words = not (left - units - set(terms(cell)))
    years, values = years_of(statement), [*asked.measures]
    if not same_words or len(values) > 1:
        return None
    if asked.days or (years and not values):
        equal = bool(told.days) and all(any(_within(b, a) for b in told.days) for a in asked.days)
        equal = equal or (bool(years_of(cell)) and years_of(cell) == years)
        comparable = len(told.days) == 1 or len(years_of(cell)) == 1
    else:
        equal = any(_same(values[0], other) for other in told.measures)
        comparable = len(told.measures) == 1 and PLAIN not in (
            values[0].dimension,
            told.measures[0].dimension,
        )
        comparable = comparable and values[0].dimension == told.measures[0].dimension
        comparable = comparable or (is_figure(cell) and len(told.measures) == 1)
    denied = _NEGATION.search(_NO_NEGATION.sub(" ", statement)) is not None
    if _BOUND.search(statement):
        return "says_so" if equal and not denied and not _STRICT.search(statement) else None
    if equal:
        return "says_otherwise" if denied else "says_so"
    return "says_otherwise" if comparable and not denied else None


def _of_words(left: Set[str], cell: str, column: list[str], *, denied: bool) -> Finding | None:
    own = set(terms(cell))
    if not left or is_figure(cell):
        return None
    if left <= own:
        return "says_otherwise" if denied else "says_so"
    elsewhere = any(other != cell and left == set(terms(other)) for other in column)
    return "says_otherwise" if elsewhere and not left & own and not denied else None


def _named(name: str, statement: str) -> bool:
    held = prepared(statement)
    wanted = [term for term in terms(name) if not years_of(term)]
    return bool(wanted) and all(credit(term, held) >= NAMED_CREDIT for term in wanted)


def _unit_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that stand for the unit of a number."""
    return tuple(word for found in _AFTER_NUMBER.findall(text) for word in terms(found))


def _without_years(text: str, years: Set[str]) -> str:
    for year in years:
        text = re.sub(rf"(?<!\d){year}(?!\d)\s*年?度?", " ", text)
    return text
