"""What a tool that can't be used means for the work: its kind decides the class of the blockage."""

from __future__ import annotations

import pytest

from agents.tools.contract import ToolError
from agents.workers.tool_failures import tool_failure
from orchestrator.core.blockage import BlockageClass, BlockageHistory, Failure, classify


@pytest.mark.parametrize(
    ("code", "retryable", "cls"),
    [
        ("TIMEOUT", True, "A"),
        ("UNAVAILABLE", True, "A"),
        ("SERVER_BUSY", True, "A"),
        ("DECISION_INVALID", False, "B"),
        ("INVALID_ARGUMENT", False, "B"),
        ("ACTION_DENIED", False, "C"),
        ("TOOL_FAILED", False, "C"),
        ("OBSERVATION_UNKNOWN", False, "C"),
        ("SOMETHING_ELSE", False, "C"),
    ],
)
def test_only_what_may_pass_is_tried_again(code: str, retryable: bool, cls: str) -> None:
    failed = tool_failure(ToolError(error_type=code, message="told", retryable=retryable))
    assert failed.message == "told"
    blockage = classify(
        Failure(kind=failed.kind, message=failed.message), BlockageHistory(), max_transient_retries=3
    )
    assert blockage.cls == BlockageClass(cls)
