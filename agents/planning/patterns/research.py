"""Goals that ask questions: with a question mark, or as an order to find something out."""

from __future__ import annotations

import re
from typing import Final

from agents.planning.clauses import enumeration, quoted, shielded
from agents.planning.language import CJK
from agents.planning.readings import Carried
from agents.retrieval.tokens import terms

_WH_EN: Final = r"(?:what|which|who|whom|whose|when|where|why|how)"
_AUX_EN: Final = (
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would|shall)"
)
_QUESTION_EN = re.compile(
    rf"^(?:(?:and|or|but|so)\s+)?(?:(?:in|at|by|for|from|on|to|with|under|until|since|of)\s+)?(?:{_WH_EN}"
    rf"|{_AUX_EN})\b.*[\w)]",
    re.IGNORECASE,
)
_INNER_EN = re.compile(
    r"\b(?:in|for|of|by|to|at|from|with|on|is|was|are|were|the host of)\s+(?:what|whose|how many|how much)\b",
    re.IGNORECASE,
)
_ORDER_EN = re.compile(
    r"^(?:find(?: out| me)?|explain|describe|tell (?:me|us)|research|investigate|determine|establish"
    r"|identify|list|analy[sz]e|work out"
    r"|figure out|look (?:into|up)|show (?:me|how|what|why|when|which)|learn|give(?: me| us)?|discuss"
    r"|define|answer|clarify|study|explore"
    r"|i (?:want|need|would like) to (?:know|find out|understand)|i['’]d like to know|calculate|estimate"
    r"|how|search(?: for)?|locate|collect|gather"
    rf"|(?:name|state|report|note)(?=\s+(?:{_WH_EN}|the|an?|all|any|each|every|both|two|three|some|my|our|its)\b))\b",
    re.IGNORECASE,
)
_QUESTION_ZH = re.compile(
    r"什么|多少|哪(?!怕)|谁|何时|何地|何人|何种|为何|为什么|怎么|怎样|如何|几"
    r"(?=[个种条项年月日天次家座台人岁点元倍成])|多[久长大高远快重深宽]"
    r"|是否|能否|可否|有没有|是不是|会不会|能不能|吗$|呢$"
)
_ORDER_ZH = re.compile(
    r"^(?:说明|解释|介绍|描述|研究|调查|调研|查明|查清|查一下|查查|查找|查询|找出|找到|找|列出|列举|分析"
    r"|回答|阐述|指出|弄清|搞清|了解|告诉我|给出"
    r"|讲讲|讲解|说说|谈谈|论述|评估|计算|估算|确定|识别|搜索|检索|收集|搜集|想知道|我想知道|我想了解"
    r"|想了解|探讨|定义|简述)"
)
_LEADING_ZH: Final = re.compile(
    r"^(?:回答|告诉我|我?想知道|我?想了解|请问|问一下|弄清楚?|搞清楚?|查一下|查查|查明|查清楚?|了解一下)"
    r"(?:一下)?[，,：:]?"
)
_LEADING_EN: Final = re.compile(
    r"^(?:answer|tell (?:me|us)|i (?:want|need|would like) to (?:know|find out|understand)|i['’]d like to"
    r" know|find out|figure out|work out)(?:\s+about)?\s*[,:]?\s+",
    re.IGNORECASE,
)

_AND_WH = re.compile(
    rf"\s*,?\s+(?:and|or|as well as|and also)\s+(?=(?:(?:in|at|by|for|from|on|to|with|under|until|since"
    rf"|of)\s+)?{_WH_EN}\b)"
    rf"|\s*,\s+(?={_WH_EN}\b)",
    re.IGNORECASE,
)
_SPLIT_ZH = re.compile(r"[，,；;](?:以及|并且|又|还有|另外|同时)?")
_BEGINS_EN = re.compile(
    rf"^(?:(?:in|at|by|for|from|on|to|with|under|until|since|of)\s+)?{_WH_EN}\b"
    rf"|^{_AUX_EN}\b|^[a-z]+(?: out| me| us| about)?\s+{_WH_EN}\b",
    re.IGNORECASE,
)
_COMPLETE_ZH = re.compile(
    r"(?:多少\S{0,2}|什么|哪里|哪儿|哪[年天月日些个]|何处|谁|吗|呢|如何|怎么样|怎样|几\S{1,2}|多[久长大高远快重深])$"
    r"|是否|能否|可否|有没有|是不是|为什么|为何|何时|什么时候|由谁|谁负责"
)
_FOLLOWS_ZH = re.compile(r"^(?:使得?|导致|从而|以便|才|就|会|则|因而|因此)")
_NO_NAME = re.compile(rf"I|No|Not|If|{_WH_EN}|{_AUX_EN}", re.IGNORECASE)
_DEPENDENT = re.compile(
    r"^(?:if (?:so|not|yes|no|it (?:is|does|can))|in that case|why not|and why|why\?|how so|since when)\b"
    r"|^(?:如果|若|要是)(?:是|支持|可以|能|有|没有|不\S{0,2}|否)?(?:的话)?[，,]|^那么?[，,]?(?=如何|怎|为|什|该|要)|^(?:为什么|为何|怎么办|如何解决|如何处理)[？?]?$",
    re.IGNORECASE,
)
_PRONOUN_EN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|these|those|he|she|his|her|him)\b", re.IGNORECASE
)
_PRONOUN_ZH = re.compile(
    r"(?:它们?|其(?!他|它|余|中|实|次|间)|该(?=[^\s])|这(?=[个些座种家项])|他们?|她们?|前者|后者)"
)
_SUBJECTLESS_ZH = re.compile(
    r"^(?:又|还|都|分别|各)?(?:什么时候|何时|哪[年天月日]|在?哪里|为什么|为何|怎么|怎样|如何|由谁|谁来"
    r"|谁[^，,]{1,4}$|多少|多久|多长|有多|有什么|有哪些|是什么|是多少|是否|能否"
    r"|有没有|最[大小高低]|需要|要花|包括|是不是)"
)

_VERBAL_TAIL = re.compile(
    r"(?:\s+(?:be|been|being|is|are|was|were|do|does|did|has|have|had|having|can|could|may|might|must|shall|should"
    r"|will|would|not|never|ever|also|still|yet|already|now|only|just|first|last|usually|always|get|got|to))+$",
    re.IGNORECASE,
)
"""Auxiliaries and adverbs of time between a subject and its verb: `must the offer be accepted`."""

_AMOUNT_ZH = re.compile(r"^[^，,的]{1,8}(?:是|为|有|达|约)多少$")
_LIST_OF_EN = re.compile(
    r"^(?P<lead>what (?:is|are|was|were)|explain|describe|give(?: me)?|list|find(?: out)?|tell"
    r" me|identify|research|analy[sz]e|discuss|investigate)"
    r"\s+(?P<parts>.+?)\s+(?P<of>of|for)\s+(?P<subject>(?!(?:and|or)\b).+)$",
    re.IGNORECASE,
)
_LIST_OF_ZH = re.compile(
    r"^(?P<lead>(?:说明|解释|介绍|描述|列出|分析|给出|查明|研究|指出)?)(?P<subject>[^，,；;]+)的"
    r"(?P<parts>[^的，,]+?)(?P<tail>(?:分别|各)?(?:是多少|是什么|有哪些|为多少|如何|怎样|怎么样|是怎样的"
    r"|多少)?)$"
)
_MAX_PART_WORDS: Final = 4
"""English words of one member of a list of properties; longer ones are clauses of their own."""
_MAX_PART_HAN: Final = 10
"""The same in Chinese characters."""


def is_question(text: str) -> bool:
    """Tell whether a sentence asks something, with or without its question mark."""
    body = text.strip()
    if re.search(f"[{CJK}]", body) and not _QUESTION_EN.match(body):
        return body.endswith(("?", "？")) or _QUESTION_ZH.search(body.rstrip(" ?？。.!！")) is not None
    asks = _QUESTION_EN.match(body) or _INNER_EN.search(body)
    return body.endswith(("?", "？")) or asks is not None


def is_order(text: str) -> bool:
    """Tell whether a sentence orders to find something out."""
    body = text.strip()
    return _ORDER_EN.match(body) is not None or _ORDER_ZH.match(body) is not None


def read_questions(text: str, listed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the questions of a sentence and of the list that it introduces; empty if it asks none.

    >>> read_questions("What does it cost, and when does the offer expire?", ())
    ('What does it cost?', 'when does the offer expire?')
    """
    body = text.strip()
    asks = is_question(body) or is_order(body)
    inner = tuple(part for part in quoted(body) if part.endswith(("?", "？")))
    if inner and is_order(body):
        return inner
    if not listed:
        return _split(body) if asks else ()
    if not asks:
        return ()
    own = _strip_lead(body)
    found: list[str] = []
    for entry in listed:
        if is_question(entry) or is_order(entry) or not own:
            found.extend(_split(entry))
        else:
            found.append(f"{own.rstrip('?？')}: {entry}" if own else entry)
    return tuple(found)


def join_dependents(questions: tuple[str, ...]) -> tuple[str, ...]:
    """Join a question that only makes sense after the one before it ("If so, since when?") to that one.

    >>> join_dependents(("是否支持？", "如果支持，到什么程度？"))
    ('是否支持？如果支持，到什么程度？',)
    """
    joined: list[str] = []
    for question in questions:
        if joined and _DEPENDENT.match(question):
            glue = "" if joined[-1].endswith("？") else " "
            joined[-1] += glue + question
        else:
            joined.append(question)
    return tuple(joined)


def stands_alone(question: str) -> bool:
    """Tell whether a question names what it is about: no pronoun in the subject's place, two content words.

    >>> stands_alone("What shall I do?"), stands_alone("What does the battery cost?")
    (False, True)
    """
    return _pronoun(question) is None and len(terms(question)) >= _CONTENT_TERMS


_CONTENT_TERMS: Final = 2


def carry_subjects(
    questions: tuple[str, ...], subject: str = ""
) -> tuple[tuple[str, ...], tuple[Carried, ...]]:
    """Name the subject of an earlier question where a later one only points back at it.

    `subject` is what the tasks before the questions are about. Returns the questions, each understandable alone, and
    what was carried.

    >>> carry_subjects(("蓝河电站的容量是多少？", "何时投运？"))[0]
    ('蓝河电站的容量是多少？', '蓝河电站何时投运？')
    """
    completed: list[str] = []
    carried: list[Carried] = []
    for question in questions:
        whole = _joined(question, completed[-1] if completed else "")
        if whole:
            carried.append(Carried(question=question, pronoun="", referent=whole[1]))
            completed.append(whole[0])
            continue
        pronoun = _pronoun(question)
        if subject and pronoun is not None and subject.casefold() not in question.casefold():
            text = f"{subject}{question}" if pronoun == "" else f"{question} ({pronoun}: {subject})"
            carried.append(Carried(question=question, pronoun=pronoun, referent=subject))
            completed.append(text)
            continue
        completed.append(question)
        subject = _next_subject(question, subject)
    return tuple(completed), tuple(carried)


_FRAGMENT_EN = re.compile(
    rf"^(?:and\s+)?(?P<asks>(?:(?:at|in|on|by|for|from|with|under|until|since|to)\s+)?"
    rf"(?:(?:what|which|whose)\s+[\w-]+(?:\s+(?!{_AUX_EN}\b)[\w-]+)?|"
    r"how (?:long|often|much|many|far|soon)(?:\s+[\w-]+)?))$",
    re.IGNORECASE,
)
"""A question without a verb: `at what interest`."""
_IS_THING_EN = re.compile(
    rf"^(?:(?:\w+\s+)?{_WH_EN}\s+(?:[\w-]+\s+){{0,2}}?)(?P<be>is|are|was|were)\s+"
    r"(?P<thing>(?:the|our|this|its?|their)\s+.+|[A-Z].*)$",
    re.IGNORECASE,
)


def _joined(question: str, before: str) -> tuple[str, str] | None:
    """Return a question without a verb, completed by what the one before asks about, and that thing."""
    fragment = _FRAGMENT_EN.match(question.strip(" ?"))
    asked = before.strip(" ?")
    if fragment is None or not asked or _FRAGMENT_EN.match(asked):
        return None
    thing = _IS_THING_EN.match(asked)
    referent = thing["thing"] if thing else subject_of(before)
    if not referent:
        return None
    verb = thing["be"] if thing else "is"
    return f"{fragment['asks']} {verb} {referent}?", referent


def _next_subject(question: str, before: str) -> str:
    """Return what the questions after `question` are about if they don't say it.

    `容量是多少`: a property of something named before, and nothing that the next question could be about; only a
    compound (`储罐容量`) names its thing itself, and is taken where nothing was named before.
    """
    own = subject_of(question)
    if not _AMOUNT_ZH.match(question.strip(" ?？。")):
        return own or before
    return before or (own if len(terms(own)) > 1 else "")


def subject_of(question: str) -> str:
    """Return the thing that a question is about, or an empty text.

    >>> subject_of("What is the capacity of the Hillside battery?"), subject_of("蓝河电站的容量是多少？")
    ('the Hillside battery', '蓝河电站')
    """
    body = question.strip(" ?？。.!！")
    ahead = re.match(r"^(?P<subject>[^:：?？]{2,40})[:：]", body)
    if ahead:
        return ahead["subject"].strip()
    if re.search(f"[{CJK}]", body) and not _QUESTION_EN.match(body):
        body = re.sub(r"^(?:请问|为什么|为何|如何|怎么)\s*", "", body)
        owned = re.match(r"^(?P<subject>[^，,的]{2,20})的[^，,]+$", body)
        acted = re.match(
            r"^(?P<subject>[^，,的]{2,20}?)(?:(?:为|达|约)多少|在|于|是|由|有|何时|什么时候|为什么|为何|如何|怎么|多少|每"
            r"|共|最|将|需要|哪|花|能|支持|可以|会|应|必须)",
            body,
        )
        match = owned or acted
        return match["subject"].strip() if match and not _QUESTION_ZH.search(match["subject"]) else ""
    after = re.search(
        r"\b(?:of|for|about|in|at)\s+(?P<subject>(?:the|our|this|that)?\s*[\w'’-]+(?:\s+[\w'’-]+){0,4})$",
        body,
        re.IGNORECASE,
    )
    if after and re.match(r"(?:the|our|this|that)\b|[A-Z]", after["subject"]):
        return after["subject"]
    acted = re.search(
        rf"\b{_AUX_EN}\s+(?P<subject>(?:the|our|this)\s+[\w'’-]+(?:\s+[\w'’-]+){{0,3}})\s+[\w'’-]+$",
        body,
        re.IGNORECASE,
    )
    embedded = re.match(
        rf"^(?:{_WH_EN}|whether)\s+(?P<subject>(?:the|our|this)\s+[\w'’-]+(?:\s+[\w'’-]+){{0,2}}?)\s+[\w'’-]+$",
        body,
        re.IGNORECASE,
    )
    for match in (acted, embedded):
        if match:
            return _VERBAL_TAIL.sub("", match["subject"])
    named = [
        name
        for name in re.findall(r"(?<!^)\b[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*", body)
        if not _NO_NAME.fullmatch(name)
    ]
    return str(named[-1]) if named else ""


def _pronoun(question: str) -> str | None:
    """Return the pronoun of a question; empty for one without any subject; `None` if it stands alone."""
    body = question.strip()
    if re.search(f"[{CJK}]", body) and not _QUESTION_EN.match(body):
        found = _PRONOUN_ZH.search(body)
        if found:
            return found.group(0)
        return "" if _SUBJECTLESS_ZH.match(body) else None
    found = _PRONOUN_EN.search(
        re.sub(r"\bit (?:true|possible|necessary|safe|legal)\b", "", body, flags=re.IGNORECASE)
    )
    return found.group(0).lower() if found and not subject_of(body) else None


def _split(sentence: str) -> tuple[str, ...]:
    body = _strip_lead(sentence)
    mark = "？" if body.endswith("？") else "?" if body.endswith("?") else ""
    core = body.rstrip(" ?？。.!！;；")
    clauses = _clauses(core)
    questions = [part for clause in clauses for part in _properties(clause)]
    return tuple(f"{question}{mark}" for question in dict.fromkeys(questions) if question)


def _strip_lead(sentence: str) -> str:
    stripped = _LEADING_EN.sub("", _LEADING_ZH.sub("", sentence.strip()))
    if stripped.strip(" ?？。."):
        return stripped
    return sentence.strip() if not _LEADING_ZH.fullmatch(sentence.strip()) else ""


def _clauses(core: str) -> list[str]:
    """Cut `what … and when …` into its questions; a clause that asks nothing stays with its neighbour."""
    cuts = _cuts_en(core)
    if not cuts and re.search(f"[{CJK}]", core):
        cuts = _cuts_zh(core)
    parts: list[str] = []
    start = 0
    for cut in cuts:
        parts.append(core[start : cut.start()].strip())
        start = cut.end()
    parts.append(core[start:].strip())
    if len(parts) > 1 and is_order(parts[0]) and not is_question(parts[0]):
        lead = re.match(rf"^(.*?)\b{_WH_EN}\b", parts[0], re.IGNORECASE)
        parts[1:] = [f"{lead[1]}{part}" if lead else part for part in parts[1:]]
    return parts


def _cuts_en(core: str) -> list[re.Match[str]]:
    """Return where a new question begins: at `and what …`, and at the commas of `what …, who … and when …`.

    `, who …` alone is a relative clause, and so is `and who …` after another `who …` inside a clause.
    """
    inside = shielded(core)
    found = [m for m in _AND_WH.finditer(core) if not inside[m.start()] and len(core[m.end() :].split()) > 1]
    joined = [m for m in found if not m.group(0).strip().startswith(",") or len(m.group(0).strip()) > 1]
    if not joined or not _BEGINS_EN.match(core):
        return []
    cuts = [m for m in found if m.end() <= joined[-1].end()]
    asked = [re.match(rf"(?:\w+\s+)?({_WH_EN})", core[m.end() :], re.IGNORECASE) for m in cuts]
    first = core[: cuts[0].start()]
    for match in asked:
        word = match[1].casefold() if match else ""
        if word in _RELATIVES and re.search(rf"(?<!^)\b{word}\b", first, re.IGNORECASE):
            return []
    return cuts


def _cuts_zh(core: str) -> list[re.Match[str]]:
    """Return the commas between two complete questions: the clause before each has asked by its end."""
    inside = shielded(core)
    cuts: list[re.Match[str]] = []
    start = 0
    for match in _SPLIT_ZH.finditer(core):
        rest = _SPLIT_ZH.split(core[match.end() :])[0]
        if (
            not inside[match.start()]
            and _COMPLETE_ZH.search(core[start : match.start()])
            and _QUESTION_ZH.search(rest)
            and not _FOLLOWS_ZH.match(rest)
        ):
            cuts.append(match)
            start = match.end()
    return cuts


_RELATIVES: Final = frozenset({"who", "which", "whose", "where", "that", "whom"})


def _properties(clause: str) -> list[str]:
    """Write `the cost, lifetime and safety of X` as one question for each property."""
    english = _LIST_OF_EN.match(clause)
    if english and not re.search(rf"\b{_AUX_EN}\b", english["parts"], re.IGNORECASE):
        parts = enumeration(english["parts"])
        if len(parts) > 1 and all(len(part.split()) <= _MAX_PART_WORDS for part in parts):
            return [
                f"{_agreeing(english['lead'], part)} the {part} {english['of']} {english['subject']}"
                for part in parts
            ]
    chinese = _LIST_OF_ZH.match(clause) if re.search(f"[{CJK}]", clause) else None
    if chinese and (chinese["lead"] or chinese["tail"]) and not _QUESTION_ZH.search(chinese["subject"]):
        parts = enumeration(chinese["parts"])
        if len(parts) > 1 and all(len(part) <= _MAX_PART_HAN for part in parts):
            tail = re.sub(r"^(?:分别|各)", "", chinese["tail"])
            return [f"{chinese['lead']}{chinese['subject']}的{part}{tail}" for part in parts]
    return [clause]


def _agreeing(lead: str, noun: str) -> str:
    """Write `What are the cost` as `What is the cost`."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return lead
    singular = re.sub(r"\bare$", "is", lead, flags=re.IGNORECASE)
    return re.sub(r"\bwere$", "was", singular, flags=re.IGNORECASE)
