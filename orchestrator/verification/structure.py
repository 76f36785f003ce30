"""Level 1: is the output of the form that the plan asks for (specification 4.4, first two checks)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agents.results import WorkOutput
from graphs.contract import Lang, PortSpec
from orchestrator.core.claims import Finding
from orchestrator.core.same_question import same_question
from orchestrator.verification.ports import CheckOrder
from orchestrator.verification.questions import (
    asked_of,
    effective_params,
    field_value,
    names_of,
    open_entry,
    texts_in,
)
from orchestrator.verification.statement import plain
from orchestrator.verification.wording import said

_HEADING = re.compile(r"(?m)^ {0,3}#{1,6}[ \t]+\S")
_RULE_CELL = re.compile(r"^:?-+:?$")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_NAMED_IN_TABLE = ("items", "aspects", "columns", "rows")
"""Parameters whose entries have to be found among the cells of a table."""


class StructureChecker:
    """Checks ports, questions and fields; every finding is structural and goes to the blockage classifier."""

    name = "structure"

    def check(self, order: CheckOrder) -> tuple[Finding, ...]:
        """Return one finding per thing that is missing, empty, doubled or can't be read."""
        output, lang = order.result.output, order.lang
        found = [*_readable(output, lang)]
        if not found:
            found.extend(_ports(order))
            found.extend(_doubled(output, lang))
            found.extend(_addressed(order))
        return tuple(found)


def tables_in(text: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return the Markdown tables of `text` as rows of cells, header first, rule left out.

    A table is a row, a rule of dashes with as many cells, and the rows that follow.

    >>> tables_in("| a | b |\\n|---|---|\\n| 1 | 2 |")
    ((('a', 'b'), ('1', '2')),)
    """
    rows = [_cells(line) for line in text.splitlines()]
    tables: list[tuple[tuple[str, ...], ...]] = []
    index = 0
    while index + 1 < len(rows):
        header, rule = rows[index], rows[index + 1]
        if header and len(rule) == len(header) and all(_RULE_CELL.match(cell) for cell in rule):
            stop = index + 2
            while stop < len(rows) and rows[stop]:
                stop += 1
            tables.append((header, *rows[index + 2 : stop]))
            index = stop
        else:
            index += 1
    return tuple(tables)


def _cells(line: str) -> tuple[str, ...]:
    bare = line.strip()
    if "|" not in bare:
        return ()
    cells = [cell.strip() for cell in _CELL_BORDER.split(bare)]
    return tuple(
        cells[1 if bare.startswith("|") else 0 : -1 if bare.endswith("|") and len(cells) > 1 else None]
    )


def _structural(code: str, message: str) -> Finding:
    return Finding(code=code, message=message, severity="structural")


def _readable(output: WorkOutput, lang: Lang) -> Iterator[Finding]:
    texts = (output.text, *(c.statement for c in output.claims), *(e.text for e in output.evidence))
    try:
        "".join(texts).encode("utf-8")
    except UnicodeEncodeError:
        yield _structural(
            "unparseable",
            said(lang, en="the output holds broken characters", zh="输出含有损坏的字符"),
        )
    if not output.text.strip():
        yield _structural("empty_output", said(lang, en="the output's text is empty", zh="输出文本为空"))


def _ports(order: CheckOrder) -> Iterator[Finding]:
    for port in order.subtask.outputs:
        if port.required:
            yield from _port(port, order)


def _port(port: PortSpec, order: CheckOrder) -> Iterator[Finding]:
    output, lang = order.result.output, order.lang
    match port.type:
        case "claims" if not output.claims and not output.open_questions:
            yield _missing(
                port, said(lang, en="neither a claim nor an open question", zh="既无论断也无未决问题"), lang
            )
        case "table":
            yield from _table(port, order)
        case "report" if not _HEADING.search(output.text):
            yield _missing(port, said(lang, en="no heading", zh="没有标题"), lang)
        case "json" if not output.fields and not _is_json(output.text):
            yield _missing(port, said(lang, en="neither fields nor JSON", zh="既无字段也不是 JSON"), lang)
        case "documents" if not output.sources:
            yield _missing(port, said(lang, en="no source", zh="没有来源"), lang)
        case _:
            pass


def _missing(port: PortSpec, what: str, lang: Lang) -> Finding:
    message = said(
        lang,
        en=f"output {port.name!r} should be of type {port.type!r}: {what}",
        zh=f"输出 {port.name!r} 应为 {port.type!r} 类型：{what}",
    )
    return _structural("wrong_type", message)


def _table(port: PortSpec, order: CheckOrder) -> Iterator[Finding]:
    lang = order.lang
    tables = tables_in(order.result.output.text)
    if not tables:
        yield _missing(port, said(lang, en="no table", zh="没有表格"), lang)
        return
    for table in tables:
        for number, row in enumerate(table[1:], start=1):
            if len(row) != len(table[0]):
                what = said(
                    lang,
                    en=f"row {number} has {len(row)} cells, the header {len(table[0])}",
                    zh=f"第 {number} 行有 {len(row)} 个单元格，而表头有 {len(table[0])} 个",
                )
                yield _missing(port, what, lang)
    cells = [plain(cell).casefold() for table in tables for row in table for cell in row]
    params = effective_params(order)
    for name in _NAMED_IN_TABLE:
        for wanted in texts_in(params.get(name)) or ():
            if not any(plain(wanted).casefold() in cell for cell in cells):
                message = said(
                    lang,
                    en=f"{wanted!r} ({name}) is in no cell of the table",
                    zh=f"表格的单元格中没有 {wanted!r}（{name}）",
                )
                yield _structural("field_missing", message)


def _doubled(output: WorkOutput, lang: Lang) -> Iterator[Finding]:
    """Yield ids that stand for two things; a claim may come once per question that it answers."""
    named: tuple[tuple[str, str, object], ...] = (
        *(("claim", each.id, (each.statement, each.evidence)) for each in output.claims),
        *(
            ("evidence", each.id, (each.source, each.locator, each.text, each.kind))
            for each in output.evidence
        ),
        *(("source", each.id, (each.uri, each.digest)) for each in output.sources),
    )
    seen: dict[tuple[str, str], object] = {}
    for kind, key, value in named:
        if seen.setdefault((kind, key), value) != value:
            message = said(
                lang,
                en=f"{kind} id {key!r} stands for two different things",
                zh=f"{kind} 标识 {key!r} 指向两个不同的内容",
            )
            yield _structural("duplicate_id", message)


def _addressed(order: CheckOrder) -> Iterator[Finding]:
    output, lang, asked = order.result.output, order.lang, asked_of(order)
    for name in asked.invalid:
        message = said(
            lang,
            en=f"parameter {name!r} should be a list of texts",
            zh=f"参数 {name!r} 应为文本列表",
        )
        yield _structural("params_invalid", message)
    for question in asked.questions:
        if not any(_has_entry(output, name) for name in names_of(order, question)):
            message = said(
                lang,
                en=f"neither answered nor listed as open: {question!r}",
                zh=f"既未回答也未列为未决：{question!r}",
            )
            yield _structural("question_unaddressed", message)
    for name in asked.fields:
        if not (field_value(output, name) or open_entry(output, name)):
            message = said(
                lang,
                en=f"field {name!r} is neither filled nor listed as open",
                zh=f"字段 {name!r} 既未填写也未列为未决",
            )
            yield _structural("field_missing", message)


def _has_entry(output: WorkOutput, asked: str) -> bool:
    answered = any(same_question(claim.question, asked) for claim in output.claims)
    return answered or bool(field_value(output, asked)) or open_entry(output, asked) is not None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
