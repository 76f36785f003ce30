"""Decide what is worth remembering before it is written (seed 003, 2.2). Pure; whoever writes asks here first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from agents.memory.contract import Candidate, Memory, MemoryKind, memory_of, one_line
from agents.memory.secret_text import secret_in
from agents.workers.embedded.instructions import gives_orders
from graphs.contract import Lang

LONGEST: Final = 500
"""Characters of a memory: a sentence or two. Five of them stay small beside a sub-task's material."""

RefusalReason = Literal[
    "empty", "too_long", "secret", "untrusted_preference", "unconfirmed", "process_chatter", "gives_orders"
]
"""Why something is not remembered; `REFUSALS` says each in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Something that is not remembered."""

    reason: RefusalReason
    detail: str = ""
    """A kind of secret, a number of characters; never the text."""

    def message(self, lang: Lang) -> str:
        """Return why, and what would be accepted."""
        return REFUSALS[self.reason][lang].format(detail=self.detail, longest=LONGEST)


_CONFIRMED: Final[Mapping[MemoryKind, frozenset[str]]] = {
    "preference": frozenset({"user"}),
    "solution": frozenset({"delivery"}),
    "lesson": frozenset({"user", "success"}),
}

_CHATTER: Final = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|now|first|next|then|hmm|well|great|sure)\b[,. ]*)*"
    r"(?:i (?:will|'ll|am|'m|need|should|have to|think|now)\b|let(?:'s| us| me)\b|we (?:will|should|need)\b"
    r"|(?:calling|searching|thinking|looking|trying)\b|step \d)"
    r"|^\W*(?:好的?[，,])?(?:(?:首先|接下来|然后|现在|下一步)[，,]?(?:我|让|将|要)|让我|我(?:将|会|需要|应该|现在|来|先)|正在|思考)"
    r"|\btool_calls?\b|<(?:think|tool)|```|^\s*[\[{]",
    re.IGNORECASE,
)
"""What a model says on its way, or what a trace holds: no solution and no lesson."""


def should_remember(candidate: Candidate, now: str) -> Memory | Refused:
    """Return the memory that `candidate` becomes at `now` (ISO 8601, UTC), or why it becomes none.

    A duplicate is no refusal: it has the id of what is known, and the store merges the two. Secrets are looked for in
    the whole text, before anything else is said about it.
    """
    text = one_line(candidate.text)
    secret = secret_in(candidate.text) or secret_in(text)
    if not text:
        return Refused(reason="empty")
    if secret is not None:
        return Refused(reason="secret", detail=secret)
    if len(text) > LONGEST:
        return Refused(reason="too_long", detail=str(len(text)))
    if candidate.kind == "preference" and (candidate.origin, candidate.taint) != ("user", "trusted"):
        return Refused(reason="untrusted_preference", detail=candidate.origin)
    if candidate.confirmed_by not in _CONFIRMED[candidate.kind]:
        return Refused(reason="unconfirmed", detail=candidate.kind)
    if candidate.kind != "preference" and _CHATTER.search(text):
        return Refused(reason="process_chatter")
    if candidate.taint == "untrusted" and gives_orders(text):
        return Refused(reason="gives_orders")
    return memory_of(candidate, now)


REFUSALS: Final[Mapping[RefusalReason, Mapping[Lang, str]]] = {
    "empty": {"en": "there is no text to remember; give a sentence", "zh": "没有可记忆的文字；请给出一句话"},
    "too_long": {
        "en": "{detail} characters are too many to remember; accepted: at most {longest}",
        "zh": "{detail} 个字符过长，无法记忆；可接受：至多 {longest} 个",
    },
    "secret": {
        "en": "the text seems to hold a secret ({detail}); nothing was kept. Say it without",
        "zh": "文字似乎含有机密内容（{detail}），未作保存；请去掉后重试",
    },
    "untrusted_preference": {
        "en": "only what you say yourself becomes a preference; this came from {detail!r}",
        "zh": "只有用户本人的话才能成为偏好；这段文字来自 {detail!r}",
    },
    "unconfirmed": {
        "en": "nobody confirmed this {detail}: a solution needs a completed run, a lesson a later success or a person",
        "zh": "该 {detail} 未经确认：解决方案须来自已完成的运行，教训须有后续成功或用户确认",
    },
    "process_chatter": {
        "en": "this says what somebody was doing, not what was learnt",
        "zh": "这是过程性的话，不是结论",
    },
    "gives_orders": {
        "en": "the text gives orders to whoever reads it by machine; it is not kept",
        "zh": "该文字向读取它的程序下达指令，不予保存",
    },
}
