"""The words that the planner puts into plans and contracts, in both languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from graphs.contract import Lang

_TEXTS: Final[Mapping[str, Mapping[Lang, str]]] = {
    # Titles of sub-tasks.
    "title_question": {"en": "Question {n}: {text}", "zh": "问题 {n}：{text}"},
    "title_questions": {"en": "Questions {n}–{m}: {text}", "zh": "问题 {n}–{m}：{text}"},
    "title_item": {"en": "Facts on {text}", "zh": "关于{text}的事实"},
    "title_merge": {"en": "Merge the answers", "zh": "合并答案"},
    "title_merge_part": {"en": "Merge the answers of part {n}", "zh": "合并第 {n} 部分的答案"},
    "title_merge_points": {"en": "Merge the main points", "zh": "合并要点"},
    "title_merge_rows": {"en": "Merge the rows", "zh": "合并各行"},
    "title_merge_checks": {"en": "Merge the findings", "zh": "合并核查结果"},
    "title_compare": {"en": "Compare {text}", "zh": "比较{text}"},
    "title_summarise": {"en": "Main points: {text}", "zh": "要点：{text}"},
    "title_extract": {"en": "Table: {text}", "zh": "表格：{text}"},
    "title_gather": {"en": "Material on {text}", "zh": "素材：{text}"},
    "title_check": {"en": "Statement {n}: {text}", "zh": "说法 {n}：{text}"},
    "title_checks": {"en": "Statements {n}–{m}: {text}", "zh": "说法 {n}–{m}：{text}"},
    "title_check_inputs": {"en": "Check what {text} states", "zh": "核查{text}的说法"},
    "title_outline": {"en": "Outline: {text}", "zh": "提纲：{text}"},
    "title_answers": {"en": "Answers to {n} questions", "zh": "{n}个问题的回答"},
    "title_more": {"en": "{text} and more", "zh": "{text}等"},
    "title_report": {"en": "Report", "zh": "报告"},
    # Instructions of sub-tasks.
    "do_research": {
        "en": "Answer the questions in the parameters from {{notes}}. Quote the sentences that answer and say which"
        " question each one answers. Leave a question open when the notes don't answer it.",
        "zh": (
            "依据 {{notes}} 回答参数中的问题。引用作答的原句，并指明各句回答的是哪个问题。笔记没有答案的"
            "，留为未决问题。"
        ),
    },
    "do_item": {
        "en": "Fill each field in the parameters for the named item from {{notes}}. Quote the sentences. Leave a field"
        " open when the notes don't fill it.",
        "zh": "依据 {{notes}} 填写参数中该对象的各个字段，引用原句。笔记没有的，字段留空。",
    },
    "do_gather": {
        "en": "Collect the key sentences on the topic from {{notes}}.",
        "zh": "从 {{notes}} 中收集该主题的关键句。",
    },
    "do_summarise": {
        "en": "Give the main points of {{notes}} as quoted sentences.",
        "zh": "以原句给出 {{notes}} 的要点。",
    },
    "do_extract": {
        "en": (
            "Fill the table from {{notes}}: one row for {each}, the columns of the parameters. Leave a cell"
            " empty when"
            " the notes don't fill it."
        ),
        "zh": "依据 {{notes}} 填表：{each}一行，列见参数。笔记没有的，单元格留空。",
    },
    "do_check": {
        "en": "Hold each statement in the parameters against {{notes}}. Quote what supports or contradicts it.",
        "zh": "将参数中的每条说法与 {{notes}} 对照，引用支持或反驳它的原句。",
    },
    "do_check_inputs": {
        "en": "Hold each of {{claims}} against {{notes}}. Quote what supports or contradicts it.",
        "zh": "将 {{claims}} 逐条与 {{notes}} 对照，引用支持或反驳它的原句。",
    },
    "do_synthesise": {
        "en": "Merge {{claims}}. Copies count once. Show both sides of a conflict.",
        "zh": "合并 {{claims}}。重复的只算一次，相互矛盾的两面都列出。",
    },
    "do_compare": {
        "en": "Put {{claims}} side by side, one row for each item and one column for each aspect.",
        "zh": "将 {{claims}} 并列成表：每个对象一行，每个方面一列。",
    },
    "do_outline": {
        "en": "Order {{claims}} under the headings of the drafted plan, each with its source.",
        "zh": "将 {{claims}} 归入计划的各个标题之下，逐条注明来源。",
    },
    "do_report": {
        "en": "Deliver what the inputs found, with citations and open questions.",
        "zh": "交付各输入的结果，附引用和未决问题。",
    },
    "each_row": {"en": "each thing found", "zh": "每个对象"},
    # Acceptance.
    "accept_question": {"en": "Answered: {text}", "zh": "已回答：{text}"},
    "accept_field": {"en": "Filled: {text}", "zh": "已填写：{text}"},
    "accept_statement": {"en": "Checked: {text}", "zh": "已核查：{text}"},
    "accept_topic": {"en": "Main points given: {text}", "zh": "已给出要点：{text}"},
    "accept_cited": {"en": "Every core claim has a source.", "zh": "每条核心论断都有来源。"},
    "accept_report": {"en": "The report exists and parses.", "zh": "报告存在且可解析。"},
    "accept_table": {"en": "The table exists and parses.", "zh": "表格存在且可解析。"},
    "accept_conflicts": {"en": "Sources that disagree are both shown.", "zh": "相互矛盾的来源均已列出。"},
    # Objectives.
    "aim_research": {"en": "answer {questions}", "zh": "回答 {n} 个问题"},
    "aim_compare": {"en": "compare {items} on {aspects}", "zh": "比较{items}的{aspects}"},
    "aim_summarise": {"en": "give the main points of {text}", "zh": "给出{text}的要点"},
    "aim_extract": {"en": "fill a table with {text}", "zh": "填一张表，列为{text}"},
    "aim_check": {"en": "check {statements}", "zh": "核查 {n} 条说法"},
    "aim_check_document": {"en": "check what {text} states", "zh": "核查{text}中的说法"},
    "aim_outline": {"en": "draft a {text}", "zh": "起草{text}"},
    "aim_unclear": {"en": "report what the notes say on: {text}", "zh": "报告笔记中有关内容：{text}"},
    "all_notes": {"en": "all notes", "zh": "全部笔记"},
    "each_note": {"en": "each note", "zh": "每份笔记"},
    # Assumptions.
    "assume_sources": {
        "en": "Only the given sources count; what is not in them stays open.",
        "zh": "只以给定的来源为准；来源中没有的，留为未决问题。",
    },
    "assume_carried": {
        "en": "In “{question}”, “{pronoun}” means {referent}.",
        "zh": "“{question}”中的“{pronoun}”指{referent}。",
    },
    "assume_omitted": {
        "en": "“{question}” is about {referent}.",
        "zh": "“{question}”说的是{referent}。",
    },
    # Ambiguities: question, then options.
    "ask_sources": {"en": "Which notes are to be searched?", "zh": "要查找哪些笔记？"},
    "ask_sources_1": {"en": "the sources set when the run starts", "zh": "运行开始时指定的来源"},
    "ask_sources_2": {"en": "a folder that you name now", "zh": "现在指定一个文件夹"},
    "ask_task": {"en": "What is to be done with “{text}”?", "zh": "要对“{text}”做什么？"},
    "ask_task_1": {"en": "report what the notes say on it", "zh": "报告笔记中的有关内容"},
    "ask_task_2": {"en": "answer particular questions on it", "zh": "回答与之有关的具体问题"},
    "ask_task_3": {
        "en": "compare, extract or check something in it",
        "zh": "就其中的内容进行比较、提取或核查",
    },
    "ask_items": {"en": "Which things are to be compared in “{text}”?", "zh": "“{text}”要比较哪些对象？"},
    "ask_items_1": {
        "en": "none named: report what the notes say on it",
        "zh": "没有指明：报告笔记中的有关内容",
    },
    "ask_items_2": {"en": "two or more things that you name", "zh": "由您指明两个以上的对象"},
    "ask_aspects": {"en": "On which aspects are they to be compared?", "zh": "要比较哪些方面？"},
    "ask_aspects_2": {"en": "aspects that you name", "zh": "由您指明的方面"},
    "ask_rows": {"en": "What gets a row in the table?", "zh": "表格的一行是什么？"},
    "ask_rows_2": {"en": "things that you name", "zh": "由您指明的对象"},
    "ask_forbidden": {"en": "Which knowledge domain does “{text}” mean?", "zh": "“{text}”指哪个知识域？"},
    "ask_forbidden_1": {"en": "no domain: kept as a rule in words", "zh": "不对应知识域：作为文字规则保留"},
    "ask_forbidden_2": {"en": "a domain that you name", "zh": "由您指明的知识域"},
    "ask_action": {
        "en": "“{text}” acts outside the notes, which this planner never does. What is to happen?",
        "zh": "“{text}”是笔记之外的行动，本规划器不会去做。应如何处理？",
    },
    "ask_action_1": {"en": "leave it out: report from the notes only", "zh": "略去：只依据笔记给出报告"},
    "ask_action_2": {"en": "you do it with the report", "zh": "由您凭报告自行完成"},
    # Notes for the reviewer.
    "note_no_task": {
        "en": "This text asks for nothing: {text!r}. There is nothing to plan. State a question or a task, for example"
        " “What does the battery cost?”.",
        "zh": "这段文字没有提出任务：{text!r}。无需计划。请写明问题或任务，例如“电池系统的造价是多少？”。",
    },
    "note_unclear": {
        "en": "No goal pattern fits. The plan is small: gather material, look for an answer, report. Say more in the"
        " review, or accept it.",
        "zh": "没有匹配的目标模式。计划从简：收集素材、查找答案、报告。请在审核时补充说明，或直接接受。",
    },
    "note_action": {
        "en": "Not planned, because it acts outside the notes: {text}.",
        "zh": "以下内容属于笔记之外的行动，未列入计划：{text}。",
    },
    "note_grouped": {
        "en": (
            "{n} questions are worked on in {groups} sub-tasks of neighbouring questions, at most {width}"
            " side by side in"
            " one part."
        ),
        "zh": "{n} 个问题按相邻顺序分入 {groups} 个子任务，每一部分至多并列 {width} 个。",
    },
    "note_parts": {
        "en": "The goal is long: its questions are worked on in {parts} parts, each merged before the whole.",
        "zh": "目标较长：问题分为 {parts} 个部分处理，各部分先行合并，再合并全部。",
    },
    "note_many_items": {
        "en": "{n} things are compared, more than {width}: consider comparing fewer at a time.",
        "zh": "要比较 {n} 个对象，超过 {width} 个：可考虑一次少比较一些。",
    },
    "note_no_domains": {
        "en": "No knowledge domain was recognised for: {text}. Its agent has no MAIN domain; set one in the review.",
        "zh": "未能识别以下内容的知识域：{text}。其 agent 没有主激活域，请在审核时设定。",
    },
    "note_forbidden_needed": {
        "en": "The goal forbids {domains}, which its own questions seem to touch; what lies there stays open.",
        "zh": "目标禁止 {domains}，而其中的问题似乎涉及它；相关内容将留为未决问题。",
    },
    "note_context": {
        "en": "Read as background, not as a task: {text}",
        "zh": "作为背景理解，不作为任务：{text}",
    },
    "note_mixed": {
        "en": "The goal mixes English and Chinese; everything is delivered in English.",
        "zh": "目标中英文混用；全部以中文交付。",
    },
}

TITLE_LENGTH: Final = {"en": 72, "zh": 36}
"""Longest part of the user's words in a title, in characters."""


def say(key: str, lang: Lang, **values: object) -> str:
    """Return the text named `key` in `lang`; `{{notes}}` and other port names are left as they are."""
    text = _TEXTS[key][lang]
    if key.startswith("do_"):
        return text.replace("{each}", str(values.get("each", "")))
    return text.format(**values)


def counted_noun(number: int, noun: str) -> str:
    """Write an English number with its noun.

    >>> counted_noun(1, "question"), counted_noun(3, "question")
    ('1 question', '3 questions')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_NUMERALS_ZH: Final = "零一二三四五六七八九十"


def counted(number: int, lang: Lang) -> str:
    """Write a number as it stands in a title.

    >>> counted(3, "en"), counted(3, "zh"), counted(12, "zh")
    ('3', '三', '12')
    """
    if lang == "zh" and number < len(_NUMERALS_ZH):
        return "两" if number == 2 else _NUMERALS_ZH[number]
    return str(number)


_LINKING = re.compile(
    r"(?:\s+(?:the|an?|of|in|on|at|by|for|from|to|with|as|and|or|but|that|which|who|its?|their|is|are|was|were|be))+$",
    re.IGNORECASE,
)
"""Words that nothing ends with."""


def shorten(text: str, lang: Lang) -> str:
    """Return `text` on one line, cut to the length of a title; never inside an English word nor after an `of`.

    >>> shorten("a  b\\nc", "en")
    'a b c'
    """
    line = " ".join(text.split())
    limit = TITLE_LENGTH[lang]
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    if line[limit - 1 : limit].isascii() and not line[limit - 1 : limit].isspace():
        whole, blank, broken = cut.rpartition(" ")
        cut = whole if blank and broken.isascii() and len(broken) < limit / 2 else cut
    return _LINKING.sub("", cut).rstrip(" ,;:，；：、") + "…"


def listing(parts: tuple[str, ...], lang: Lang) -> str:
    """Join a list for people.

    >>> listing(("a", "b", "c"), "en"), listing(("甲", "乙", "丙"), "zh")
    ('a, b and c', '甲、乙和丙')
    """
    if len(parts) < 2:
        return "".join(parts)
    comma, last = (", ", " and ") if lang == "en" else ("、", "和")
    return comma.join(parts[:-1]) + last + parts[-1]
