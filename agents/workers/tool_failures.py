"""What a tool that can't be used means for the work that needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agents.tools.contract import ToolError
from agents.workers.ports import WorkFailed, WorkFailureKind

_KINDS: Final[Mapping[str, WorkFailureKind]] = {
    "ACTION_DENIED": "tool_missing",
    "DECISION_INVALID": "bad_request",
    "INVALID_ARGUMENT": "bad_request",
    "TIMEOUT": "timeout",
}


def tool_failure(error: ToolError) -> WorkFailed:
    """Return the failure of work that can't go on after `error`.

    What is not known by its code goes by whether the tool says that trying again may help: the outside world
    (`unavailable`, class A), or a tool that is broken and as good as missing (`tool_missing`, class C). To retry what
    fails the same way each time would only pay for it three times more (semantics 5).
    """
    kind = _KINDS.get(error.error_type) or ("unavailable" if error.retryable else "tool_missing")
    return WorkFailed(kind, error.message)
