"""Tools and rules for the tests of the gate, each as small as a contract may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.tools.contract import SideEffectClass, ToolSpec


def a_tool(
    name: str,
    side_effect: SideEffectClass = "read",
    *,
    purpose: str = "",
    properties: Mapping[str, Any] | None = None,
    required: tuple[str, ...] = (),
    scope: str = "",
    permission: str = "",
) -> ToolSpec:
    """Return a contract; without `properties` the tool takes none."""
    return ToolSpec(
        name=name,
        purpose=purpose,
        when_to_use="",
        when_not_to_use="",
        input_schema={"type": "object", "properties": dict(properties or {}), "required": list(required)},
        output_schema={},
        scope=scope,
        timeout_s=15.0,
        side_effect=side_effect,
        permission=permission or f"test.{name}",
        error_codes=(),
    )


STRING = {"type": "string"}
NUMBER = {"type": "number"}
STRINGS = {"type": "array", "items": STRING}
