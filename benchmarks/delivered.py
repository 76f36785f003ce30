"""Read a delivered report again, with nothing but the report and the files: its sentences, its citations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from agents.workers.embedded.wording import PHRASES
from graphs.contract import Lang
from orchestrator.core.report import Citation, CitedPlace, DeliveredReport

_ANCHOR = re.compile(r"\[\^(c-[0-9a-f]+)\]")
_NAME_ENDS = re.compile(r"[,，|:：]")
_LINE_ENDS = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Citations:
    """What an independent look at the citations of one report found."""

    sentences: int
    cited: int
    """Sentences that are followed by an anchor of a claim with these words; a value may stand after the names of its
    row and column."""
    citations: int
    """Places that claims name, and one for each claim that names none."""
    resolving: int
    """Of those, the ones where the file says exactly this, in these lines."""


def answer_text(report: DeliveredReport) -> str:
    """Return the sentences of the report, without anchors, cut at nothing."""
    return "\n".join(_bare(line) for line in answer_lines(report))


def answer_lines(report: DeliveredReport) -> list[str]:
    """Return the lines of the report that answer: all but headings, fixed phrases and what is said of open questions.

    The nearest sentence to a question that stays open is shown as no answer, and counts as none.
    """
    fixed = _fixed_phrases(report.lang)
    left_open = PHRASES[report.lang].nearest_is.partition("{")[0]
    lines: list[str] = []
    said = True
    for line in report.body.splitlines():
        if line.startswith("#"):
            said = line.lstrip("# ").strip() != PHRASES[report.lang].open_questions
        elif said and line.strip() and line.strip() not in fixed and not line.strip().startswith(left_open):
            lines.append(line)
    return lines


def check_citations(report: DeliveredReport, folder: Path) -> Citations:
    """Look at every sentence and every cited place again; a place resolves if the file still says it."""
    claims = {str(citation.claim): citation for citation in report.citations}
    lines = answer_lines(report)
    resolved = [_resolving(citation, folder) for citation in report.citations]
    return Citations(
        sentences=len(lines),
        cited=sum(_is_cited(line, claims, folder) for line in lines),
        citations=sum(max(1, len(places)) for places in resolved),
        resolving=sum(map(sum, resolved)),
    )


def _is_cited(line: str, claims: Mapping[str, Citation], folder: Path) -> bool:
    words = squeezed(_bare(line))
    named = [claims.get(found) for found in _ANCHOR.findall(line)]
    return any(claim is not None and _is_said(words, claim, folder) for claim in named)


def _is_said(words: str, claim: Citation, folder: Path) -> bool:
    """Whether `words` are the claim's, or a table's own names before them: those of its row and columns."""
    statement = squeezed(claim.statement)
    if not words.endswith(statement):
        return False
    names = [name for name in _NAME_ENDS.split(words.removesuffix(statement)) if name]
    return not names or any(_holds_all(folder / place.uri, names) for place in claim.places)


def _holds_all(file: Path, names: Sequence[str]) -> bool:
    text = squeezed(file.read_text(encoding="utf-8")) if file.is_file() else ""
    return all(name in text for name in names)


def _resolving(citation: Citation, folder: Path) -> Sequence[bool]:
    there = [_resolves(place, citation.statement, folder) for place in citation.places]
    return [*there, *(False for _ in citation.missing_evidence)]


def _resolves(place: CitedPlace, statement: str, folder: Path) -> bool:
    try:
        content = (folder / place.uri).read_bytes()
    except OSError:
        return False
    text = content.decode("utf-8")
    lines = _LINE_ENDS.split(text)
    stretch = "\n".join(lines[place.start_line - 1 : place.end_line])
    return (
        sha256(content).hexdigest() == place.source_digest
        and text[place.start_char : place.end_char] == place.excerpt == statement
        and _LINE_ENDS.sub("\n", place.excerpt) in stretch
    )


def _fixed_phrases(lang: Lang) -> frozenset[str]:
    phrases = PHRASES[lang]
    return frozenset((phrases.disagree, phrases.not_answered, phrases.nothing_found))


def _bare(line: str) -> str:
    return _ANCHOR.sub("", line).strip().removeprefix("- ").strip()


def squeezed(text: str) -> str:
    """Return `text` without white space, in one case.

    >>> squeezed("Stores 32 MWh")
    'stores32mwh'
    """
    return re.sub(r"\s+", "", text).casefold()
