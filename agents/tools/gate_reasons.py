"""Why a call is asked about: codes for programs, sentences for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from graphs.contract import Lang

ReasonCode = Literal[
    "outside_the_task",
    "contract_requires_approval",
    "changes_files",
    "acts_outside",
    "carries_data_out",
    "from_untrusted_text",
    "said_by_nobody",
]
"""- `outside_the_task`: nothing in the goal calls for this tool.
- `contract_requires_approval`: the contract names it.
- `changes_files`, `acts_outside`: what it does.
- `carries_data_out`: it reads, and tells somebody outside something that the user did not write.
- `from_untrusted_text`: an argument stems from a document or a tool's result.
- `said_by_nobody`: an address or a number that stands neither in the user's words nor in a text.
"""

_TEXTS: Final[Mapping[ReasonCode, Mapping[Lang, str]]] = {
    "outside_the_task": {
        "en": "nothing in the goal calls for {tool}",
        "zh": "目标中没有任何内容需要用到 {tool}",
    },
    "contract_requires_approval": {
        "en": "the contract asks for an approval of {tool}",
        "zh": "任务契约要求 {tool} 须经批准",
    },
    "changes_files": {"en": "{tool} changes your files", "zh": "{tool} 会改动您的文件"},
    "acts_outside": {"en": "{tool} acts outside this machine", "zh": "{tool} 会对本机以外产生影响"},
    "carries_data_out": {
        "en": "with {argument}, {tool} could tell somebody outside what you did not write",
        "zh": "{tool} 可能通过 {argument} 把并非您所写的内容传到外部",
    },
    "from_untrusted_text": {
        "en": "{argument} stands in text that is not yours: “{text}”",
        "zh": "{argument} 的内容出现在并非您所写的文本中：“{text}”",
    },
    "said_by_nobody": {
        "en": "{argument} is the model's own: neither you nor a text gave it",
        "zh": "{argument} 由模型自行给出：您没有提到，文本中也没有",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason to ask."""

    code: ReasonCode
    tool: str
    argument: str = ""
    """The path of the argument that it is about."""
    text: str = ""
    """For `from_untrusted_text`: the place there. Data, shown as a quotation and never followed."""

    def told(self, lang: Lang) -> str:
        """Return the reason as a clause for people.

        >>> Reason(code="acts_outside", tool="send_email").told("en")
        'send_email acts outside this machine'
        """
        return _TEXTS[self.code][lang].format(tool=self.tool, argument=self.argument, text=self.text or "?")
