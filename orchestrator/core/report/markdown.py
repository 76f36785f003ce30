"""Show a delivered report as Markdown, in English or Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agents.citations import find_anchors, one_line
from agents.evidence import LeakMark
from agents.results import ClosedDomain, OpenQuestion
from graphs.contract import Lang
from masks.bands import format_mask_value
from orchestrator.core.effects import CHANGED
from orchestrator.core.report.body import is_exact_quote, render_text
from orchestrator.core.report.contents import (
    Citation,
    CitedPlace,
    DeliveredReport,
    LeakRow,
    NodeConfidence,
    ReportedConflict,
)
from orchestrator.core.report.escaping import inert, inert_lines, inert_part, without_bar_escapes
from orchestrator.core.report.wording import WORDS, confidence_words, effect_words, verdict_words
from orchestrator.core.same_question import same_question

DomainNames = Mapping[str, str]
"""Names of knowledge domains by id, in the language of the rendering; a domain without one is shown by its id."""

_BLOCK_BREAK = re.compile(r"\n[ \t]*\n")
_DASH = " — "
_OPEN_HEADS = {f"## {words.open_questions}" for words in WORDS.values()}
"""What a list of open questions stands under, in the languages that a worker may have written it in."""


def render_markdown(report: DeliveredReport, lang: Lang, *, domain_names: DomainNames | None = None) -> str:
    """Return `report` as Markdown: text, open questions, conflicts, gaps, changes, leaks, evidence, checks.

    Headings and connecting words are in `lang`, the text stays as delivered. Citations are numbers in brackets; a claim
    that carries leaks has a footnote each, `[^L1]`. Open questions and conflicts that the text itself shows in full are
    not repeated; a list of open questions in the text is dropped for the one of the report. Text of sources is escaped:
    it can't change the structure, and links in it are inert.
    """
    page = _Page(report, lang, domain_names or {})
    sections = [
        page.head(),
        page.text(),
        page.open_questions(),
        page.conflicts(),
        page.gaps(),
        page.changes(),
        page.leaks(),
        page.evidence(),
        page.checks(),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


class _Page:
    """The sections of one rendering; each is empty where it has nothing to say."""

    def __init__(self, report: DeliveredReport, lang: Lang, names: DomainNames) -> None:
        self._report = report
        self._lang = lang
        self._words = WORDS[lang]
        cited = [(one.number, place) for one in report.citations for place in one.places]
        self._first_cited = {place.source: (number, place.evidence) for number, place in reversed(cited)}
        self._names = names
        marks = [mark for citation in report.citations for mark in citation.leaks]
        self._footnotes = {mark: f"L{n}" for n, mark in enumerate(dict.fromkeys(marks), start=1)}
        self._by_claim = {citation.claim: citation for citation in report.citations}
        self._by_number = {citation.number: citation for citation in report.citations}
        self._body = _without_open_lists(report.body, report.open_questions)

    def head(self) -> str:
        report, words = self._report, self._words
        facts = [f"{words.outcome}{words.colon}{words.outcomes[report.outcome]}"]
        if report.stopped:
            facts.append(words.stopped)
        if report.mode:
            facts.append(f"{words.how}{words.colon}{words.modes[report.mode]}")
        facts.extend(confidence_words(row.confidence, self._lang) for row in report.confidence)
        head = f"# {inert(report.title)}\n\n{' · '.join(facts)}"
        quoted = report.mode == "extractive" and report.citations
        return f"{head}\n\n{words.verified_means}" if quoted else head

    def text(self) -> str:
        rendered = render_text(self._body, self._by_claim, self._cite).strip()
        in_body = {found.claim for found in find_anchors(self._report.body)}
        rows = [
            f"- {inert(name)}{self._words.colon}{render_text(value, self._by_claim, self._cite).strip()}"
            for name, value in self._report.fields.items()
            if not {found.claim for found in find_anchors(value)} <= in_body
        ]
        return "\n\n".join(part for part in (rendered, self._section(self._words.fields, rows)) if part)

    def open_questions(self) -> str:
        rows = [
            self._open_question(question)
            for question in self._report.open_questions
            if not _shows_question(self._body, question)
        ]
        return self._section(self._words.open_questions, rows)

    def conflicts(self) -> str:
        shown = [set(_anchored(block)) for block in _BLOCK_BREAK.split(self._report.body)]
        rows = [
            self._conflict(conflict)
            for conflict in self._report.conflicts
            if not any({self._by_number[n].claim for n in conflict.citations} <= block for block in shown)
        ]
        return self._section(self._words.conflicts, rows)

    def gaps(self) -> str:
        return self._section(self._words.gaps, [f"- {inert(gap)}" for gap in self._report.gaps])

    def changes(self) -> str:
        rows = [
            f"- {inert(effect_words(call, self._lang))} ({inert_part(call.node)})"
            for call in self._report.changes
            if call.outcome in CHANGED
        ]
        return self._section(self._words.changes, rows)

    def leaks(self) -> str:
        rows = [self._leak_row(row) for row in self._report.leaks]
        notes = [f"[^{label}]: {self._mark(mark)}" for mark, label in self._footnotes.items()]
        section = (
            self._section(self._words.leaks, rows or [self._words.no_leaks]) if not notes or rows else ""
        )
        if not section:
            section = f"## {self._words.leaks}"
        return "\n\n".join([section, *notes])

    def evidence(self) -> str:
        entries = [self._citation(citation) for citation in self._report.citations]
        body = "\n\n".join(entries) if entries else self._words.no_evidence
        return f"## {self._words.evidence}\n\n{body}"

    def checks(self) -> str:
        words, report = self._words, self._report
        rows = [self._confidence(row) for row in report.confidence]
        numbers = ", ".join(f"[{number}]" for number in report.not_traced) or words.none
        rows.append(f"- {words.not_traced}{words.colon}{numbers}")
        if report.unknown_anchors:
            listed = words.separator.join(inert(name) for name in report.unknown_anchors)
            rows.append(f"- {words.unknown_anchors}{words.colon}{listed}")
        return self._section(words.checks, rows)

    def _section(self, heading: str, rows: list[str]) -> str:
        return f"## {heading}\n\n" + "\n".join(rows) if rows else ""

    def _cite(self, citation: Citation) -> str:
        notes = "".join(f" [^{self._footnotes[mark]}]" for mark in citation.leaks)
        return f"[{citation.number}]{notes}"

    def _open_question(self, question: OpenQuestion) -> str:
        words = self._words
        facts = [words.reasons[question.reason]]
        if question.unknown:
            facts[0] += f"{words.colon}{words.no_word}"
        if question.closed:
            closed = words.separator.join(self._closed(domain) for domain in question.closed)
            facts[0] += f"{words.colon}{closed}"
        queries = words.separator.join(inert(query) for query in question.searched)
        facts.append(f"{words.searched}{words.colon}{queries}" if queries else words.not_searched)
        if question.nearest:
            facts.append(f"{words.nearest}{words.colon}{inert(question.nearest)}")
        return f"- {inert(question.question)} — {' · '.join(facts)}"

    def _conflict(self, conflict: ReportedConflict) -> str:
        sides = [
            f"  - {_shown(self._by_number[number])} {self._cite(self._by_number[number])}"
            for number in conflict.citations
        ]
        return "\n".join([f"- {inert(conflict.about)}", *sides])

    def _domain(self, domain: str) -> str:
        name = self._names.get(domain)
        return f"{inert(name)} ({inert(domain)})" if name else inert(domain)

    def _closed(self, closed: ClosedDomain) -> str:
        return self._words.closed_by[closed.by].format(
            domain=self._domain(closed.domain),
            agent=inert_part(closed.agent),
            value=format_mask_value(closed.value),
        )

    def _mark(self, mark: LeakMark) -> str:
        declared = self._words.declared if mark.declared else self._words.undeclared
        return self._leak_facts(mark.agent, mark.domain, mark.strength, mark.origin, declared, mark.node)

    def _leak_facts(
        self, agent: str, domain: str, strength: int, origin: str, declared: str, node: str
    ) -> str:
        value = format_mask_value(strength)
        if self._lang == "zh":
            source = {"source": "来源材料", "parametric": "模型参数"}[origin]
            return (
                f"蒙版泄漏：agent {inert_part(agent)}，知识域 {self._domain(domain)}，强度 {value}，"
                f"出处 {source}，{declared}，子任务 {inert_part(node)}"
            )
        return (
            f"mask leak: agent {inert_part(agent)}, domain {self._domain(domain)}, strength {value}, "
            f"origin {origin}, {declared}, sub-task {inert_part(node)}"
        )

    def _leak_row(self, row: LeakRow) -> str:
        leak, words = row.leak, self._words
        declared = words.declared if leak.declared else words.undeclared
        if leak.declared and not leak.detected:
            declared = words.not_detected
        facts = self._leak_facts(leak.agent, leak.domain, leak.m100, leak.origin, declared, row.node)
        where = f" ({inert_part(leak.locator)})" if leak.locator else ""
        return f"- {facts}: “{inert_part(leak.text).strip()}”{where}"

    def _citation(self, citation: Citation) -> str:
        words = self._words
        facts = [verdict_words(citation.verdict, self._lang)]
        if citation.level:
            facts.append(f"{citation.level} {words.traced if citation.traced else words.untraced}")
        if not citation.in_text:
            facts.append(words.not_in_text)
        if citation.missing_evidence:
            facts.append(words.missing_evidence)
        head = f"- {self._cite(citation)} {inert_part(' · '.join(facts))}"
        return "\n".join(
            [head, *self._statement(citation), *(self._place(place, citation) for place in citation.places)]
        )

    def _statement(self, citation: Citation) -> list[str]:
        return [] if is_exact_quote(citation) else [f"  - {inert(citation.statement)}"]

    def _place(self, place: CitedPlace, citation: Citation) -> str:
        one_line = place.start_line == place.end_line
        where = f"{place.uri}:{place.start_line}" + ("" if one_line else f"-{place.end_line}")
        copy = f" ({self._words.copy_of} {inert_part(place.copy_of)})" if place.copy_of else ""
        copy = copy or self._also(place, citation)
        lines = inert_lines(place.excerpt)
        if len(lines) == 1:
            lines = (without_bar_escapes(lines[0]),)
        quote = [f"    > {line}".rstrip() for line in lines]
        return "\n".join([f"  - {inert(where)}{copy}", "", *quote, ""]).rstrip()

    def _also(self, place: CitedPlace, citation: Citation) -> str:
        """Name the files that repeat the cited one, at its first place in the list."""
        if not place.also_in or self._first_cited[place.source] != (citation.number, place.evidence):
            return ""
        comma = "、" if self._lang == "zh" else ", "
        return f" ({self._words.also_in} {inert_part(comma.join(place.also_in))})"

    def _confidence(self, row: NodeConfidence) -> str:
        facts = [confidence_words(row.confidence, self._lang)]
        if row.confidence.total or row.outcome != "qualified":
            facts.append(self._words.checks_ended[row.outcome])
        if row.accepted_as_is:
            facts.append(self._words.accepted_as_is)
        return f"- {inert(row.title)} ({inert_part(row.node)}) — {' · '.join(facts)}"


def _shown(citation: Citation) -> str:
    words = inert_part(citation.statement).strip()
    return f"“{words}”" if is_exact_quote(citation) else words


def _without_open_lists(body: str, questions: Sequence[OpenQuestion]) -> str:
    """Return the text without its own lists of questions that the report lists as open: each is said once."""
    asked = [one_line(question.question) for question in questions]
    blocks = _BLOCK_BREAK.split(body)
    kept: list[str] = []
    at = 0
    while at < len(blocks):
        listed = blocks[at + 1].strip().splitlines() if at + 1 < len(blocks) else []
        if blocks[at].strip() in _OPEN_HEADS and listed and all(_opens(line, asked) for line in listed):
            at += 2
            continue
        kept.append(blocks[at])
        at += 1
    return "\n\n".join(kept)


def _opens(line: str, asked: Sequence[str]) -> bool:
    """Say whether a line of a list names one of the open questions, whatever it says of it behind a dash."""
    if not line.startswith("- "):
        return False
    parts = line[2:].split(_DASH)
    named = [_DASH.join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(same_question(one, question) for one in named for question in asked)


def _shows_question(body: str, question: OpenQuestion) -> bool:
    """Say whether the text names the question as open: with every query made and every domain that closes it.

    Workers write questions and queries on one line, with brackets that could pass for anchors defused.
    """
    closed = [one.domain for one in question.closed]
    wanted = (question.question, *question.searched, *closed)
    return all(part in body or one_line(part) in body for part in wanted)


def _anchored(block: str) -> list[str]:
    return [found.claim for found in find_anchors(block)]
