"""What an agent is told of its calls with an effect, beyond what the tool says."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from agents.tools.contract import ToolError, ToolOk, ToolResult
from agents.tools.texts.calls import OUTCOMES, REFUSALS
from agents.tools.texts.contract import say
from agents.tools.told import told
from graphs.contract import Lang

Hint = Literal["made_before", "repeated"]
"""`made_before`: what had its effect is not made again; `repeated`: the same was asked before."""


def with_hint(result: ToolResult, hint: Hint) -> ToolResult:
    """Return `result` with a hint to the agent."""
    if isinstance(result, ToolOk):
        return replace(result, summary=say(OUTCOMES, hint, result=result.summary))
    return replace(result, message=say(OUTCOMES, hint, result=result.message))


def happened(tool: str) -> ToolOk:
    """Return what is recorded of a call of which a person says that it happened."""
    return ToolOk(summary=say(OUTCOMES, "happened"), data=None, source=tool)


def not_made(tool: str) -> ToolError:
    """Return what is recorded of a call that was committed and certainly did not happen."""
    message = say(OUTCOMES, "not_made", tool=repr(tool))
    return ToolError(error_type="NOT_PERFORMED", message=message, retryable=False)


def refused(tool: str, note: str) -> ToolError:
    """Return what the agent is told of a call that a person refused."""
    message = say(REFUSALS, "refused_saying" if note else "refused", tool=repr(tool), said=note)
    return ToolError(error_type="ACTION_DENIED", message=message, retryable=False)


def no_preview(why: str, lang: Lang) -> str:
    """Return what stands in place of a preview that could not be made."""
    return {"en": f"(no preview: {why})", "zh": f"（无法预览：{told(why, lang)}）"}[lang]
