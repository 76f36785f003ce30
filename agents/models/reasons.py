"""Why an answer of a model could not be used as it was, in the goal's language.

Readers give their reasons in one language, as data of a repair; who reads a review and the model that is asked again
get them here in theirs. What a model or a provider said stays as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agents.tools.told import told_problems
from graphs.contract import Lang

_ZH: Final[Mapping[str, str]] = {
    # Answers that can't be read.
    r"no JSON value found": "没有找到 JSON 值",
    r"answer with one JSON value and nothing else": "请只回答一个 JSON 值",
    r"the JSON value is cut off": "JSON 值被截断",
    r"answer with the whole value, shorter if need be": "请完整作答，必要时缩短",
    r"not valid JSON: (.*)": r"不是有效的 JSON：“\1”",
    r"the answer is no JSON object": "回答不是 JSON 对象",
    r"the answer is empty": "回答为空",
    r"the answer is cut off at the model's output limit": "回答在模型的输出上限处被截断",
    r"answer shorter": "请缩短回答",
    r"no tools are on offer here": "此处不提供工具",
    r"answer with JSON": "请以 JSON 作答",
    # Answers that lack something.
    r"an object with (`\w+`) was asked for": r"要求的是带 \1 的对象",
    r"an object with the list (`\w+`) was asked for": r"要求的是带列表 \1 的对象",
    r"(`\w+`) is missing or empty": r"缺少 \1 或其为空",
    r"`steps` is empty, and the goal asks for something": "`steps` 为空，而目标有所要求",
    r"no step is left that an operation can carry out": "没有剩下任何可由操作执行的步骤",
    r"(\d+) steps are too many": r"\1 个步骤过多",
    r"plan at most (\d+)": r"至多规划 \1 个",
    r"(\d+) stages": r"有 \1 个阶段",
    r"asked for are (\d+) to (\d+)": r"要求 \1 至 \2 个",
    # What is asked for instead, where it is a form and no value.
    r"accepted: a JSON object": "可接受：JSON 对象",
    r"accepted: an object": "可接受：对象",
    r"accepted: a tool's name": "可接受：工具名称",
    r"arguments are no JSON object": "参数不是 JSON 对象",
    r"the call of ('[^']*') does not parse: (.*)": r"对 \1 的调用无法解析：“\2”",
    r"('[^']*'): (arguments is .*)": r"\1：“\2”",
    r"the model returned (\w+), not an answer": r"模型返回的是 `\1`，不是回答",
    r"the answer does not have the form of one: (.*)": r"回答的形式不对：“\1”",
    # Errors of a model (`ModelErrorType`); what the provider said follows.
    r"timeout: (.*)": r"超时：“\1”",
    r"rate_limited: (.*)": r"被限流：“\1”",
    r"unavailable: (.*)": r"不可用：“\1”",
    r"bad_request: (.*)": r"请求不被接受：“\1”",
    r"refused: (.*)": r"被拒绝：“\1”",
    r"overflow: (.*)": r"超出上下文长度：“\1”",
    r"unknown: (.*)": r"未知错误：“\1”",
    # Forms that were read all the same.
    r"a bare list": "没有外层对象的列表",
    r"one object for a list": "应为列表处是一个对象",
    r"an object for a list": "应为列表处是以名称为键的对象",
    r"an object for the list (`\w+`)": r"列表 \1 处是一个对象",
    r"a text for the list (`\w+`)": r"列表 \1 处是一段文字",
    r"a single value for the list (`\w+`)": r"列表 \1 处是单个值",
    r"more than (\d+) entries in the list (`\w+`)": r"列表 \2 超过 \1 项，其余略去",
    r"a text of more than (\d+) characters": r"一段文字超过 \1 个字符，已截断",
    r"entries without an operation": "有的条目没有操作",
    r"entries that are no objects": "有的条目不是对象",
    r"a step without an id": "有的步骤没有 id",
    r"an id that is no text": "有的 id 不是文字",
    r"(`[^`]*`) for (`\w+`)": r"以 \1 代替 \2",
}
_ONE_OR_MORE: Final = re.compile(r"; ")


def reason_words(reason: str, lang: Lang) -> str:
    """Return `reason` in `lang`; parts that are nobody's words of ours stay as they are.

    >>> reason_words("`objective` is missing or empty", "zh")
    '缺少 `objective` 或其为空'
    >>> reason_words("a bare list, `op` for `operation`", "zh")
    '没有外层对象的列表、以 `op` 代替 `operation`'
    """
    if lang == "en" or not reason:
        return reason
    whole = _said(reason) if _TAIL.match(reason) else None
    return whole or "；".join(_said(part) or _listed(part) for part in _ONE_OR_MORE.split(reason))


_TAIL: Final = re.compile(r"(?:timeout|rate_limited|unavailable|bad_request|refused|overflow|unknown): ")
"""Behind these a provider's own words follow to the end."""


def _listed(part: str) -> str:
    found = [(_said(one), one) for one in part.split(", ")]
    return "、".join(said or one for said, one in found) if any(said for said, _ in found) else part


def _said(text: str) -> str | None:
    for pattern, words in _ZH.items():
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is not None:
            return match.expand(words)
    return told_problems(text, "zh") if _BREACH.match(text) else None


_BREACH: Final = re.compile(r"(?:\$|arguments\b|tool\b|accepted: )|\S+: \S+ is missing$|\S+ has the unknown ")
"""How a breach of a schema begins (`agents.json_schema`); its words are those of arguments of tools."""
