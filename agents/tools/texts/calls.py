"""What is said of a call by what decides about it, makes it and records it."""

from __future__ import annotations

from typing import Final

from agents.tools.texts.contract import Texts

REFUSALS: Final[Texts] = {
    "unknown": {"en": "no tool {tool}; available: {known}", "zh": "没有工具 {tool}；可用：{known}"},
    "too_deep": {
        "en": "{tool}: the arguments are nested deeper than {most} levels; give them flat",
        "zh": "{tool}：参数嵌套超过 {most} 层；请以扁平形式给出",
    },
    "malformed": {"en": "{tool}: {problems}", "zh": "{tool}：{problems}"},
    "no_json": {
        "en": "the arguments of {tool} are no JSON values",
        "zh": "{tool} 的参数不是 JSON 值",
    },
    "forbidden": {
        "en": "{tool} is forbidden by the contract ({entry}); go on without it",
        "zh": "任务契约禁止 {tool}（{entry}）；请不用它继续",
    },
    "unavailable": {"en": "{tool} can't be used now: {why}", "zh": "{tool} 现在无法使用：{why}"},
    "debug": {
        "en": "{tool} has the side effect {effect}; the profile 'debug' accepts tools that read",
        "zh": "{tool} 的副作用为 {effect}；配置档 'debug' 只接受读取类工具",
    },
    "not_granted": {
        "en": "{tool} is not granted for this task; granted: {known}",
        "zh": "{tool} 未授权用于本任务；已授权：{known}",
    },
    "no_effect_tool": {
        "en": "tool {tool} has the side effect {effect} and can't be made as one",
        "zh": "工具 {tool} 的副作用为 {effect}，无法按此执行",
    },
    "refused": {
        "en": "a person refused this call of {tool}; do not propose it again, go on without it",
        "zh": "有人拒绝了对 {tool} 的这次调用；请勿再次提出，不用它继续",
    },
    "refused_saying": {
        "en": "a person refused this call of {tool}: {said}; do not propose it again, go on without it",
        "zh": "有人拒绝了对 {tool} 的这次调用：“{said}”；请勿再次提出，不用它继续",
    },
    "none": {"en": "none", "zh": "无"},
}
"""Why a call is not made."""

OUTCOMES: Final[Texts] = {
    "mocked": {
        "en": "{called} was not made: this profile mocks it",
        "zh": "未执行 `{called}`：此配置档只作模拟",
    },
    "made_before": {
        "en": "{result} (made before, with this result; it is not made again)",
        "zh": "{result}（此前已执行，结果即此；不再执行）",
    },
    "repeated": {
        "en": "{result} (the same call was made before, with this result; try another one)",
        "zh": "{result}（此前已做过相同的调用，结果即此；请换一种）",
    },
    "happened": {"en": "a person says that it happened", "zh": "有人确认它已经发生"},
    "not_made": {
        "en": "the call of {tool} was interrupted before it was made; nothing was changed",
        "zh": "对 {tool} 的调用在执行前被中断；没有任何改动",
    },
    "gone": {"en": "tool {tool} is not there any more", "zh": "工具 {tool} 已不存在"},
    "broke": {"en": "{called} broke with {error}", "zh": "`{called}` 出错：“{error}”"},
    "timed_out": {
        "en": "{called} gave no result within {seconds} s",
        "zh": "`{called}` 在 {seconds} 秒内没有给出结果",
    },
    "no_result": {
        "en": "{called} gave a result that is none of a tool: {error}",
        "zh": "`{called}` 给出的不是工具结果：“{error}”",
    },
    "under_way": {
        "en": "an earlier call with the same key is still under way; whether it happens is not known",
        "zh": "使用相同键的先前调用仍在进行；是否会发生尚不可知",
    },
    "limit": {"en": "a limit is reached", "zh": "已达到限额"},
}
"""What came of a call."""

OFFERS: Final[Texts] = {
    "use": {"en": "Use it: {when}", "zh": "何时使用：{when}"},
    "not": {"en": "Do not use it: {when}", "zh": "何时不用：{when}"},
    "changes": {
        "en": "It changes something, so that a call may have to be approved by a person first.",
        "zh": "它会产生改动，因此调用可能须先经人批准。",
    },
}
"""What an offer of a tool says beside the tool's own words."""

ORDERS: Final[Texts] = {
    "nothing_to_check": {
        "en": "nothing to check; give `statements` or claims as input",
        "zh": "没有可核对的内容；请给出 `statements` 或论断作为输入",
    },
    "columns": {
        "en": "`columns` is {value}; give a list of texts",
        "zh": "`columns` 为 {value}；请给出文字列表",
    },
    "nothing_to_research": {
        "en": "nothing to research in the parameters {given}; give `questions`, or `item` and `fields`",
        "zh": "参数 {given} 中没有可研究的内容；请给出 `questions`，或 `item` 和 `fields`",
    },
    "budget": {
        "en": "`budget` is {value}; give a whole number from 1",
        "zh": "`budget` 为 {value}；请给出不小于 1 的整数",
    },
    "topic": {"en": "`topic` is {value}; give a text", "zh": "`topic` 为 {value}；请给出文字"},
}
"""What is wrong with an order of work."""

PROBLEMS: Final[Texts] = {
    "missing": {"en": "{at}: {name} is missing", "zh": "`{at}`：缺少 {name}"},
    "unknown": {"en": "{at} has the unknown {name}", "zh": "`{at}` 含有未知的 {name}"},
    "length": {"en": "{at} has the length {size}", "zh": "`{at}` 的长度为 {size}"},
    "entries": {"en": "{at} has {size} entries", "zh": "`{at}` 有 {size} 项"},
    "broken": {
        "en": "{at} can't be checked, because its schema is broken: {said}",
        "zh": "无法核对 `{at}`，因为其 `schema` 有误：“{said}”",
    },
    "value": {"en": "{at} is {value}", "zh": "`{at}` 为 {value}"},
    "object": {"en": "accepted: an object with {names}", "zh": "可接受：带 {names} 的对象"},
    "most": {"en": "accepted: at most {most}", "zh": "可接受：至多 {most}"},
    "least": {"en": "accepted: at least {least}", "zh": "可接受：至少 {least}"},
    "range": {"en": "accepted: from {least} to {most}", "zh": "可接受：{least} 至 {most}"},
    "nothing": {"en": "accepted: none", "zh": "可接受：无"},
    "accepted": {"en": "accepted: {what}", "zh": "可接受：{what}"},
}
"""What is wrong with a value by its schema (`agents.json_schema`), part by part."""
