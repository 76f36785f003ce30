"""Write quoted claims as Markdown: one sentence, its anchors, and nothing that a note could take over.

The text of an output is read by people and by checks: a quote keeps its words, on one line. What looks like an anchor
or a leak marker inside a note loses its opening bracket, so that a note can neither cite nor declare anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agents.citations import anchor, one_line
from agents.evidence import Claim
from agents.results import ClosedDomain, OpenQuestion
from agents.retrieval.tokens import is_cjk
from agents.workers.embedded.merging import Statement
from agents.workers.embedded.wording import Phrases
from graphs.contract import Lang
from masks.bands import format_mask_value
from masks.leaks.markers import LeakMarker, find_markers, render_marker


def cited(claims: Sequence[Claim]) -> str:
    """Return the words of the first of `claims` (`worded`), followed by the anchors of all."""
    return f"{worded(claims[0])} {''.join(anchor(claim.id) for claim in claims)}"


def worded(claim: Claim) -> str:
    """Return the words of a claim on one line, after what they are the value of."""
    words = one_line(claim.statement)
    colon = "：" if is_cjk(claim.label) else ": "
    return f"{one_line(claim.label)}{colon}{words}" if claim.label else words


def declared(claim: Claim, lang: Lang) -> str:
    """Return the words of a claim made here, its anchor, and the marker of each leak that it declares."""
    markers = [
        render_marker(LeakMarker(agent=mark.agent, domain=mark.domain, strength=mark.strength), lang)
        for mark in claim.leaks
    ]
    return " ".join([cited([claim]), *markers])


def items(statements: Iterable[Statement]) -> str:
    """Return a list with one statement an item."""
    return "\n".join(f"- {cited(statement.claims)}" for statement in statements)


def heading(level: int, title: str) -> str:
    """Return a heading of `level` 1 to 6."""
    return f"{'#' * level} {one_line(title)}"


def disagreement(statements: Sequence[Statement], phrases: Phrases) -> str:
    """Return the sides of a conflict as one block."""
    return f"{phrases.disagree}\n{items(statements)}"


def open_list(questions: Sequence[OpenQuestion], phrases: Phrases) -> str:
    """Return the section of open questions with what was searched; empty without any."""
    if not questions:
        return ""
    rows = [f"- {one_line(question.question)} — {_why_open(question, phrases)}" for question in questions]
    return f"{heading(2, phrases.open_questions)}\n\n" + "\n".join(rows)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the cells are taken as they are (`cited`, `one_line`), vertical bars escaped."""
    lines = [_row(header), "|" + " --- |" * len(header), *map(_row, rows)]
    return "\n".join(lines)


def page(parts: Iterable[str]) -> str:
    """Return the parts that say something, with an empty line between them."""
    return "\n\n".join(part for part in parts if part)


def _why_open(question: OpenQuestion, phrases: Phrases) -> str:
    queries = phrases.separator.join(one_line(query) for query in question.searched)
    closed = phrases.separator.join(_closed(domain, phrases) for domain in question.closed)
    reason = phrases.reasons[question.reason]
    if question.unknown:
        reason = f"{reason}{phrases.colon}{phrases.no_word}"
    facts = [
        reason + (f"{phrases.colon}{closed}" if closed else ""),
        f"{phrases.searched}{phrases.colon}{queries}" if queries else phrases.not_searched,
    ]
    if question.nearest:
        facts.append(f"{phrases.nearest}{phrases.colon}{one_line(question.nearest)}")
    return " · ".join(facts)


def _closed(closed: ClosedDomain, phrases: Phrases) -> str:
    return phrases.closed_by[closed.by].format(
        domain=closed.domain, agent=closed.agent, value=format_mask_value(closed.value)
    )


def _row(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {_cell(' '.join(cell.split()))} " for cell in cells) + "|"


def _cell(text: str) -> str:
    """Escape the bars of a cell; those of leak markers become full-width, which the markers' grammar reads."""
    for found in reversed(find_markers(text)):
        text = text[: found.start] + found.raw.replace("|", "｜") + text[found.end :]
    return text.replace("|", "\\|")
