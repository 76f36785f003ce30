"""Goals that want a table filled."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import rjieba

from agents.planning.clauses import enumeration
from agents.planning.patterns.periods import (
    PERIOD_AHEAD_EN,
    in_each_period,
    in_each_year,
    leading_periods,
    leading_years,
    names_year,
    shared_periods,
    split_periods,
    trailing_years,
    written_out_years,
)
from agents.planning.readings import ExtractTask

_TABLE_EN: Final = (
    r"(?:(?:as|in|into|in the form of)\s+(?:a\s+|one\s+)?(?:single\s+)?(?:table|spreadsheet|csv|tabular"
    r" form)s?)"
)
_EACH_EN: Final = r"(?P<each>(?:every|each|all(?: of)?(?: the)?)\s+[\w' -]+?)"
_HOW_MANY_EN: Final = r"(?:(?:every|each|all(?:\s+(?:of\s+)?(?:the|my|our|these))?|the|my|our|these)\s+)"
_VERB_EN = re.compile(
    r"^(?:extract|pull(?: out)?|tabulate|harvest|collect|list|give|show|put|compile|record|get|gather"
    r"|note)\b(?:\s+me)?\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_STRONG_EN = re.compile(r"^(?:extract|pull out|tabulate)\b", re.IGNORECASE)
_MAKE_EN = re.compile(
    r"^(?:make|create|build|produce|prepare|draw up|give|fill(?: in)?|compile|generate|write|extract|pull out"
    r"|tabulate|collect|put together|set up|draft|show)\s+(?:me\s+)?"
    r"(?:a|one|the)\s+(?:\w+\s+)?(?:table|spreadsheet)(?:\s+from\s+(?:the|my|these)\s+(?:notes|files|documents))?"
    r"\s+(?:of|with|showing|listing|containing|for)\s+(?:the\s+columns?\s*:?\s+)?(?P<rest>.+)$",
    re.IGNORECASE,
)
_TABLE_TAIL = re.compile(
    rf"\s*,?\s*(?:and\s+(?:put|list|show)\s+(?:them|it|this)\s+)?{_TABLE_EN}\s*", re.IGNORECASE
)
_IN_NOTES_EN: Final = (
    r"(?:\s+(?:in|from|mentioned in)\s+(?:the|these|my)\s+(?:notes?|sources?|documents?|files?|folder))?$"
)
_WHERE_EACH_EN = re.compile(rf"\s+(?:of|from|for|in|per)\s+{_EACH_EN}{_IN_NOTES_EN}", re.IGNORECASE)
_PER_EN = re.compile(rf"\s+(?:per|by)\s+(?P<each>[A-Za-z][\w' -]*?){_IN_NOTES_EN}", re.IGNORECASE)
"""`revenue in 2024 and 2025 per branch`: at the end, and of a list of fields."""
_PERIOD_KIND_EN = re.compile(
    r"(?:(?:fiscal|calendar|financial|business)\s+)?(?:year|quarter|month|season)", re.IGNORECASE
)
"""`costs by year`: a row for each, while `price per kWh` is one field with its unit."""
_WHERE_NAMED_EN = re.compile(
    rf"\s+(?:of|from|for|in)\s+(?!{PERIOD_AHEAD_EN})(?P<named>.+?){_IN_NOTES_EN}", re.IGNORECASE
)
"""`in 2025` says which honey is meant, not whose."""
_WITH_EN = re.compile(
    rf"^(?P<thing>{_HOW_MANY_EN}.+?)\s+with\s+(?P<own>(?:their|its|the\s+columns?)\s*:?\s+)?(?P<columns>.+?){_IN_NOTES_EN}",
    re.IGNORECASE,
)
"""`all steps of the move with who, start and end`: what gets a row, and then the columns."""
_OF_EACH_EN = re.compile(r"\b(?:of|from|for|per)\s+(?:every|each|all)\b", re.IGNORECASE)
_FOLDER_EN = re.compile(
    r"^(?:the|these|my|all|our)?\s*(?:notes?|sources?|documents?|files?|folder|material)$", re.IGNORECASE
)

_TABLE_ZH: Final = (
    r"(?:[，,]?\s*(?:并|再|然后)?(?:请)?(?:以|用|整理成|列成|做成|制成|汇总成|填入|形成|按|列|做|整理为)"
    r"(?:一?[张个份]?)?(?:表格?|清单表|Excel|电子表格)(?:的?形式)?(?:列出|呈现|输出|给出|汇总)?)"
)
_VERB_ZH = re.compile(
    r"^(?:提取|抽取|摘录|摘出|抽出|摘取|整理|列出|汇总|统计|收集|找出|记录|把|将|制作|列表)(?:出)?(?P<rest>.+)$"
)
_STRONG_ZH = re.compile(r"^(?:提取|抽取|摘录|摘出|抽出|摘取)")
_EACH_ZH = re.compile(
    r"^(?P<each>(?:每(?:一)?(?:份|个|篇|条|项|座|台|家|名|次|笔|位|种|款)?|所有|全部|各(?:个|份|项|家"
    r"|座)?)[^的]+?)(?:中|里|内)?的(?P<columns>.+)$"
)
_HOW_MANY = re.compile(
    r"^(?:(?:each|every|all)(?:\s+(?:of\s+)?(?:the\s+)?)?\b|(?:每(?:一)?|所有|全部|各)(?:份|个|篇|条|项|座|台|家|名|次|笔|位|种|款)?(?:的)?)\s*",
    re.IGNORECASE,
)
_EACH_YEAR_ZH = re.compile(
    r"^(?:各个?|每一?|历|逐)(?P<kind>年度?(?![级龄代轻])|季度|月份)的?(?P<columns>[^的]+)$"
)
"""`各年费用`: a row for each year."""
_WITH_ZH = re.compile(
    r"^(?P<each>(?:每(?:一)?[份个篇条项座台家名次笔位种款]?|所有|全部|各(?:个|份|项|家|座)?)[^的]+?)(?:的)?"
    r"[，,]?(?:以及其|及其?各自的?|及其|连同其?|和它们的|包括|含)(?P<columns>.+)$"
)
"""`所有步骤及其负责人、开始和结束时间`"""
_NAMED_ZH = re.compile(r"^(?P<named>.+)的(?P<columns>[^的]+)$")
_BY_KIND_ZH = re.compile(
    r"^按照?(?:各|每个?)?(?P<kind>[^，,的]{1,10}?)(?:分别)?(?P<verb>提取|抽取|摘录|摘出|抽出|摘取|整理|列出|汇总|统计)(?P<rest>.+)$"
)
_EACH_JOINED_ZH = re.compile(r"^(?P<many>各个?|每[个家座份项台]|所有|全部)(?P<rest>[^，,、和与]{3,})$")
"""`各分店营收`: no 的 divides what gets a row from what is wanted."""
_TAIL_ZH = re.compile(r"(?:等)?(?:信息|字段|内容|数据)?(?:提取出来|列出来|整理出来|摘出来)?$")


def read_extraction(text: str, listed: tuple[str, ...]) -> ExtractTask | None:
    """Read a goal that wants the same fields of several things, as a table.

    >>> read_extraction("Extract the name, date and amount of every contract", ())
    ExtractTask(columns=('name', 'date', 'amount'), rows=(), each='every contract', kind='extract')
    """
    body = text.strip(" 。.?？!！;；")
    columns_listed = tuple(member for entry in listed for member in enumeration(entry))
    return _english(body, columns_listed) or _chinese(body, columns_listed)


def bare_kind(each: str) -> str:
    """Return of what kind the rows are, without the word that says how many of them.

    >>> bare_kind("every contract"), bare_kind("每份合同"), bare_kind("各分店")
    ('contract', '合同', '分店')
    """
    return _HOW_MANY.sub("", each.strip()).strip()


def _english(body: str, listed: tuple[str, ...]) -> ExtractTask | None:
    made = _MAKE_EN.match(body)
    verb = made or _VERB_EN.match(body)
    tabular = made is not None or _TABLE_TAIL.search(body) is not None
    rest = written_out_years(verb["rest"] if verb else body)
    if verb is None or not (tabular or _STRONG_EN.match(body)):
        # `revenue for 2024 and 2025 per branch` is a table, whatever the verb.
        per = None if listed else _per(rest)
        return per if per and all(map(names_year, per.columns)) else None
    rest = _TABLE_TAIL.sub(" ", rest).strip(" ,:")
    if not listed and (named := _with(rest, made is not None)) is not None:
        return named
    whole = _whose_en(rest, listed)
    years, before = trailing_years(rest)
    if whole is None or not years or any(map(names_year, whole.columns)):
        return whole
    # `the revenue of each branch in 2024 and 2025`
    task = _whose_en(before, listed)
    if task is None or not (task.each or task.rows):
        return whole
    return replace(task, columns=in_each_year(task.columns, years))


def _whose_en(rest: str, listed: tuple[str, ...]) -> ExtractTask | None:
    each = _WHERE_EACH_EN.search(rest)
    if each:
        return _task(listed or _columns_en(rest[: each.start()]), each=each["each"].strip())
    if (per := _per(rest)) is not None:
        return per
    where = _WHERE_NAMED_EN.search(rest)
    if where is None:
        return _task(listed or _columns_en(rest))
    columns = _columns_en(rest[: where.start()])
    named = where["named"].strip()
    if _FOLDER_EN.match(named):
        return _task(listed or columns)
    rows = enumeration(named)
    if len(rows) > 1:
        return _task(columns, rows=rows)
    return _task(listed or columns, each=named)


def _with(rest: str, made: bool) -> ExtractTask | None:
    """Read `all steps of the move with who, start and end`; `all contracts with suppliers` names one kind of thing.

    Where a table of things is asked for, they need no word that says how many (`a table of pumps with type and price`).
    """
    found = _WITH_EN.match(rest) or (_WITH_EN.match(f"all {rest}") if made else None)
    if found is None or len(enumeration(found["thing"])) > 1 or _OF_EACH_EN.search(found["thing"]):
        return None
    columns = _columns_en(found["columns"])
    return _task(columns, each=found["thing"].strip()) if found["own"] or len(columns) > 1 else None


def _per(rest: str) -> ExtractTask | None:
    """Read `cost and revenue per branch`; `price per kWh` alone is one field and its unit."""
    found = _PER_EN.search(rest)
    columns = _columns_en(rest[: found.start()]) if found else ()
    return (
        _task(columns, each=f"each {found['each'].strip()}")
        if found
        and (
            len(columns) > 1
            or any(map(names_year, columns))
            or _PERIOD_KIND_EN.fullmatch(found["each"].strip()) is not None
        )
        else None
    )


def _chinese(body: str, listed: tuple[str, ...]) -> ExtractTask | None:
    by_kind = _BY_KIND_ZH.match(body)
    if by_kind:
        found = _chinese(f"{by_kind['verb']}{by_kind['rest']}", listed)
        return (
            replace(found, each=f"各{by_kind['kind']}") if found and not (found.each or found.rows) else None
        )
    verb = _VERB_ZH.match(body)
    tabular = re.search(_TABLE_ZH, body) is not None or body.startswith("列表")
    if verb is None or not (tabular or _STRONG_ZH.match(body)):
        return None
    rest = re.sub(_TABLE_ZH, "", verb["rest"]).strip(" ，,：:")
    rest = re.sub(r"^(?:笔记|资料|文档|文件|材料)(?:中|里)(?:的)?", "", rest)
    periods, after = leading_periods(rest)
    if periods:
        # `2024年和2025年各分店的营收`, `2024年甲店和乙店的营收`
        task = _whose_zh(after, listed)
        if task and (task.each or task.rows) and not any(map(names_year, task.columns)):
            return replace(task, columns=in_each_period(periods, task.columns))
        if rest.removesuffix(after).endswith("的"):
            return _task(listed or _columns_zh(rest))
    return _whose_zh(rest, listed)


def _whose_zh(rest: str, listed: tuple[str, ...]) -> ExtractTask | None:
    yearly = _EACH_YEAR_ZH.match(rest)
    if yearly:
        return _task(listed or _columns_zh(yearly["columns"]), each=f"各{yearly['kind']}")
    each = _WITH_ZH.match(rest) or _EACH_ZH.match(rest)
    if each:
        whose, periods = split_periods(each["each"].strip())
        return _task(listed or in_each_period(periods, _columns_zh(each["columns"])), each=whose)
    named = _NAMED_ZH.match(rest)
    if named is None:
        joined = _EACH_JOINED_ZH.match(rest)
        if joined:
            kind, *field = rjieba.cut(joined["rest"], hmm=False)
            return _task(_columns_zh("".join(field)) if field else (), each=f"{joined['many']}{kind}")
        return _task(listed or _columns_zh(rest))
    whose, periods = split_periods(named["named"].strip())
    rows = enumeration(whose)
    columns = in_each_period(periods, _columns_zh(named["columns"]))
    if len(rows) > 1:
        return _task(columns, rows=rows)
    return _task(listed or columns, each=whose)


def _columns_en(text: str) -> tuple[str, ...]:
    years, rest = leading_years(text)
    return in_each_year(enumeration(rest), years) if years else shared_periods(enumeration(text))


def _columns_zh(text: str) -> tuple[str, ...]:
    plain = _TAIL_ZH.sub("", text.strip(" ，,：:"))
    periods, rest = leading_periods(plain)
    fields = enumeration(rest)
    if plain.removesuffix(rest).endswith("的"):
        return in_each_period(periods, fields)
    # Without 的 the periods belong to the field that they stand before.
    return (*in_each_period(periods, fields[:1]), *fields[1:])


def _task(columns: tuple[str, ...], *, rows: tuple[str, ...] = (), each: str = "") -> ExtractTask | None:
    return ExtractTask(columns=columns, rows=rows, each=each) if columns else None
