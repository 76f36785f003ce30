"""What an agent is told of its calls with an effect, beyond what the tool says."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from agents.tools.contract import ToolError, ToolOk, ToolResult
from graphs.contract import Lang

MADE_BEFORE: Final = "made before, with this result; it is not made again"
REPEATED: Final = "the same call was made before, with this result; try another one"


def with_hint(result: ToolResult, hint: str) -> ToolResult:
    """Return `result` with a hint to the agent."""
    if isinstance(result, ToolOk):
        return replace(result, summary=f"{result.summary} ({hint})")
    return replace(result, message=f"{result.message} ({hint})")


def happened(tool: str) -> ToolOk:
    """Return what is recorded of a call of which a person says that it happened."""
    return ToolOk(summary="a person says that it happened", data=None, source=tool)


def not_made(tool: str) -> ToolError:
    """Return what is recorded of a call that was committed and certainly did not happen."""
    message = f"the call of {tool!r} was interrupted before it was made; nothing was changed"
    return ToolError(error_type="NOT_PERFORMED", message=message, retryable=False)


def refused(tool: str, note: str) -> ToolError:
    """Return what the agent is told of a call that a person refused."""
    said = f": {note}" if note else ""
    message = f"a person refused this call of {tool!r}{said}; do not propose it again, go on without it"
    return ToolError(error_type="ACTION_DENIED", message=message, retryable=False)


def no_preview(why: str, lang: Lang) -> str:
    """Return what stands in place of a preview that could not be made."""
    return {"en": f"(no preview: {why})", "zh": f"（无法预览：{why}）"}[lang]
