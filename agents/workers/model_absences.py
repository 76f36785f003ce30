"""Statements of a model that only say that the material does not say something.

Small models write them as claims and cite whatever stands near (`The location is not confirmed in the given excerpt.`).
They state no fact that an excerpt could hold: what they mean is that a question is open.
"""

from __future__ import annotations

import re
from typing import Final

_MATERIAL: Final = (
    r"(?:excerpts?|(?:given|provided|available|supplied|cited|above|shown)\s+"
    r"(?:text|texts|material|materials|notes?|information|documents?|sources?|context|data|evidence|passages?)"
    r"|context\s+(?:given|provided)|search\s+results?)"
)
_SAYS: Final = (
    r"(?:mention|stat|specif|confirm|contain|say|said|provid|includ|indicat|describ|giv|found|find|name|answer|determin"
    r"|cover|address|list|explain|support|show)\w*"
)
_NOT: Final = r"(?:\b(?:not|cannot|never|neither|unable)\b|n['’]t\b)"
_EN: Final = re.compile(
    rf"\b{_MATERIAL}\b.{{0,20}}{_NOT}(?:\s+\w+){{0,2}}\s+{_SAYS}\b"
    rf"|{_NOT}(?:\s+\w+){{0,3}}\s+{_SAYS}\b.{{0,40}}\b{_MATERIAL}\b"
    rf"|\b(?:no|nothing)\b.{{0,80}}\b(?:in|from|within)\s+(?:the\s+|these\s+|any\s+)?{_MATERIAL}\b"
    rf"|\bnothing\s+in\s+(?:the\s+)?{_MATERIAL}\b"
    rf"|\b{_MATERIAL}\b.{{0,20}}\b(?:insufficient|not\s+enough|not\s+sufficient|lacks?|unclear|silent)\b",
    re.IGNORECASE | re.DOTALL,
)
"""The material and that it does not say, or that something is not said in it; not what else is denied of it (`The
provided data is not shared`)."""

_MATERIAL_ZH: Final = (
    r"(?:摘录|(?:所给|给定|给出|提供|现有|上述|以上|已有|所列|检索到)的?(?:材料|资料|信息|文本|内容|笔记|文档|文件|上下文|证据|来源)"
    r"|搜索结果|检索结果)"
)
_SAYS_ZH: Final = (
    r"(?:提到|提及|说明|包含|包括|给出|指出|记载|写明|显示|涉及|确认|回答|得出|得知|找到|确定|判断|描述|列出"
    r"|足以|支持)"
)
_NOT_ZH: Final = r"(?:没有|并未|未能|未|无法|不能|不足以|不|无从|难以)"
_ZH: Final = re.compile(
    rf"{_MATERIAL_ZH}.{{0,6}}{_NOT_ZH}.{{0,4}}{_SAYS_ZH}|{_MATERIAL_ZH}.{{0,6}}(?:缺乏|缺少|不足)"
    rf"|{_NOT_ZH}.{{0,4}}(?:从|在|根据|由){_MATERIAL_ZH}.{{0,6}}{_SAYS_ZH}",
    re.DOTALL,
)


def says_nothing_of_it(statement: str) -> bool:
    """Return whether a statement says that the material which a model was given does not say something.

    Only words that name that material as such count (`the excerpt`, `the given notes`, 摘录, 所给材料): a document may
    well say what another one lacks. Whoever asks leaves a statement that stands in its excerpt as it is.

    >>> says_nothing_of_it("The location is not confirmed in the given excerpt.")
    True
    >>> says_nothing_of_it("The offer does not include the foundations.")
    False
    """
    return bool(_EN.search(statement) or _ZH.search(statement))
