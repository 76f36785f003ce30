"""What a text says of a question without its words: the verb by who does it, `begin` by `from 1 May`, a measure by its
unit.
"""

from __future__ import annotations

import re
from typing import Final

from agents.workers.embedded.answer_forms import DATE, STRICT, form_strength
from agents.workers.embedded.asking import AnswerKind
from agents.workers.embedded.deeds import deed_terms, doer_strength
from agents.workers.embedded.question import Question

_BEGIN: Final = frozenset({"begin", "start", "commenc", "开始", "起始", "起算", "生效"})
_END: Final = frozenset({"end", "expir", "finish", "termin", "结束", "到期", "截止", "终止", "届满"})
_FROM = re.compile(
    rf"\b(?:from|since|as of|starting(?: on)?|with effect from|effective)\s+(?:the\s+)?(?:{DATE})|"
    rf"[自从]\s*(?:{DATE})|(?:{DATE})\s*起|\b(?:begin|start|commence)(?:s|ning|ing)?\b|开始|起算|生效",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    rf"\b(?:until|till|through|up to)\s+(?:the\s+)?(?:end of\s+)?(?:{DATE})|(?:至|到)\s*(?:{DATE})|"
    rf"(?:{DATE})\s*[止前]|\b(?:end|expire|finish|terminate)(?:s|ing)?\b|结束|到期|截止|终止|届满",
    re.IGNORECASE,
)
_MEASURED: Final = frozenset({"temperatur", "温度"})
"""Words for what its unit says alone: no other measure has degrees."""


def implied_terms(question: Question, text: str, lead: str | None) -> frozenset[str]:
    """Return the terms of `question` that `text`, introduced by `lead`, says in another way."""
    asked = frozenset(question.terms)
    match question.kind:
        case AnswerKind.PERSON:
            named = deed_terms(question)
            return frozenset(named) if named and doer_strength(question, text, lead) else frozenset()
        case AnswerKind.TIME:
            begun = asked & _BEGIN if _FROM.search(text) else frozenset()
            return begun | (asked & _END if _UNTIL.search(text) else frozenset())
        case AnswerKind.NUMBER if question.measure == "temperature":
            return asked & _MEASURED if form_strength(question, text) == STRICT else frozenset()
        case _:
            return frozenset()
