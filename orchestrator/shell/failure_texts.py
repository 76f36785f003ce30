"""What the shell says of attempts that end without an accepted output, in the goal's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agents.broker import BudgetExhausted
from graphs.contract import Lang

_LIMITS: Final[Mapping[str, Mapping[Lang, str]]] = {
    "max_actions": {"en": "actions", "zh": "操作次数"},
    "max_tool_calls": {"en": "tool calls", "zh": "工具调用次数"},
    "deadline_s": {"en": "seconds", "zh": "时间（秒）"},
    "max_steps_per_node": {"en": "model calls", "zh": "模型调用次数"},
    "max_model_tokens": {"en": "model input tokens", "zh": "模型输入 token 数"},
    "max_model_time_s": {"en": "seconds of model time", "zh": "模型时间（秒）"},
    "identical_calls": {"en": "identical calls", "zh": "相同调用次数"},
}
"""The limits of an attempt as people read them."""


def limit_reached(stop: BudgetExhausted, lang: Lang) -> str:
    """Return which limit ended an attempt, with what was used and what is allowed."""
    what = _LIMITS.get(stop.limit, {}).get(lang, stop.limit)
    if lang == "zh":
        return f"达到限额：{what}（{stop.limit}）已用 {stop.used:g}，上限 {stop.allowed:g}"
    return f"limit reached: {stop.used:g} of {stop.allowed:g} {what} used ({stop.limit})"


def domains_closed(domains: Sequence[str], lang: Lang) -> str:
    """Return that a sub-task can't be done without domains that are silent for its agent."""
    if lang == "zh":
        return f"不使用静默知识域 {'、'.join(domains)} 就无法完成"
    return f"not possible without the silent domains {', '.join(domains)}"


def used_again(domains: Sequence[str], lang: Lang) -> str:
    """Return that an agent used silent domains again under the suppression guard (rule 2b)."""
    if lang == "zh":
        return f"再次使用了静默知识域：{'、'.join(domains)}"
    return f"silent domains used again: {', '.join(domains)}"


def check_broke(lang: Lang) -> str:
    """Return that a check ended without a result and without a reason."""
    return "某项检查出错" if lang == "zh" else "a checker broke"


def falsified(lang: Lang) -> str:
    """Return that an output is false where no verdict says why."""
    return "被证伪" if lang == "zh" else "falsified"


def suppression_guard(domains: Sequence[str], lang: Lang) -> str:
    """Return the guard that forbids domains which leaked spontaneously (rule 2b)."""
    if lang == "zh":
        return f"不得使用以下知识域：{'、'.join(domains)}。上一轮输出因此被阻断。"
    return f"Do not use these knowledge domains: {', '.join(domains)}. The last output was blocked because of them."
