"""Statements of a model that only say that the material does not say something.

Small models write them as claims and cite whatever stands near (`The location is not confirmed in the given excerpt.`).
They state no fact that an excerpt could hold: what they mean is that a question is open.
"""

from __future__ import annotations

import re
from typing import Final

_MATERIAL: Final = (
    r"(?:excerpts?|(?:given|provided|available|supplied|cited|present(?:ed)?|above|shown)\s+"
    r"(?:text|texts|material|materials|notes?|information|documents?|sources?|context|data|evidence|passages?)"
    r"|context\s+(?:given|provided)|search\s+results?)"
)
_SAYS_NOT: Final = (
    r"(?:\b(?:do|does|did|is|are|was|were|can|could|has|have|had)(?:\s+not|n['’]t)\b|\bcannot\b|\bnot\b|\bno\b|\bnothing\b"
    r"|\bnowhere\b|\bneither\b|\bunable\b|\binsufficient\b|\black(?:s|ing)?\b|\bwithout\b|\bunclear\b)"
)
_EN: Final = re.compile(
    rf"{_SAYS_NOT}.*\b{_MATERIAL}\b|\b{_MATERIAL}\b.*{_SAYS_NOT}", re.IGNORECASE | re.DOTALL
)

_MATERIAL_ZH: Final = (
    r"(?:摘录|(?:所给|给定|给出|提供|现有|上述|以上|已有|所列|检索到)的?(?:材料|资料|信息|文本|内容|笔记|文档|文件|上下文|证据|来源)"
    r"|搜索结果|检索结果)"
)
_SAYS_NOT_ZH: Final = r"(?:没有|并未|未|无法|不能|不足|缺乏|缺少|不包含|不含|找不到|无从|无)"
_ZH: Final = re.compile(
    rf"{_MATERIAL_ZH}.{{0,20}}{_SAYS_NOT_ZH}|{_SAYS_NOT_ZH}.{{0,20}}{_MATERIAL_ZH}", re.DOTALL
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
