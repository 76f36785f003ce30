"""Any LangChain tool behind the port of tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents.tools.contract import SideEffectClass, ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.diffs import call_preview
from agents.tools.hiding import without_secrets
from agents.tools.ports import NotPerformed
from agents.tools.previews import TOOL_TIMEOUT_S
from graphs.contract import Lang

if TYPE_CHECKING:  # whoever has one has imported it
    from langchain_core.tools import BaseTool
    from pydantic import ValidationError


def langchain_tool(
    wrapped: BaseTool,
    *,
    side_effect: SideEffectClass = "external",
    when_to_use: str = "When what it does is needed.",
    when_not_to_use: str = "For what a built-in tool does.",
    timeout_s: float = TOOL_TIMEOUT_S,
) -> LangChainTool:
    """Return `wrapped` as a tool; it counts as acting outside this machine unless the user says otherwise.

    Arguments that LangChain injects are none of the model's and are not offered.
    """
    spec = ToolSpec(
        name=wrapped.name,
        purpose=wrapped.description or wrapped.name,
        when_to_use=when_to_use,
        when_not_to_use=when_not_to_use,
        input_schema=_schema_of(wrapped),
        output_schema={},
        scope=f"what the LangChain tool {wrapped.name!r} reaches",
        timeout_s=timeout_s,
        side_effect=side_effect,
        permission=f"langchain.{wrapped.name}",
        error_codes=("INVALID_ARGUMENT", "FAILED", "OBSERVATION_UNKNOWN"),
        repeat="safe" if side_effect == "read" else "never",
    )
    return LangChainTool(spec, wrapped) if side_effect == "read" else EffectLangChainTool(spec, wrapped)


@dataclass(frozen=True, slots=True)
class LangChainTool:
    """A LangChain tool that only reads."""

    spec: ToolSpec
    wrapped: BaseTool

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Invoke it."""
        return await self._invoked(arguments)

    def _refused(self, arguments: Mapping[str, Any]) -> ToolError | None:
        """Say why the tool does not take these arguments, before it begins."""
        from pydantic import BaseModel, ValidationError  # noqa: PLC0415 - whoever calls has a tool of LangChain

        schema = self.wrapped.tool_call_schema
        if not isinstance(schema, type) or not issubclass(schema, BaseModel):
            return None
        try:
            schema.model_validate(dict(arguments))
        except ValidationError as error:
            return self._invalid(error)
        return None

    def _invalid(self, error: ValidationError) -> ToolError:
        message = f"{self.spec.name}: {'; '.join(each['msg'] for each in error.errors()[:5])}"
        return ToolError(error_type="INVALID_ARGUMENT", message=message, retryable=False)

    async def _invoked(self, arguments: Mapping[str, Any]) -> ToolResult:
        from langchain_core.tools import ToolException  # noqa: PLC0415 - whoever calls has a tool of it
        from pydantic import ValidationError  # noqa: PLC0415

        try:
            found = await self.wrapped.ainvoke(dict(arguments))
        except ToolException as error:
            return ToolError(
                error_type="FAILED", message=without_secrets(f"{self.spec.name}: {error}"), retryable=False
            )
        except ValidationError as error:
            return self._invalid(error)
        return ToolOk(
            summary=f"{self.spec.name} answered", data=_json(found), source=f"langchain {self.spec.name}"
        )


@dataclass(frozen=True, slots=True)
class EffectLangChainTool(LangChainTool):
    """A LangChain tool that may change something."""

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse: it is performed under a key."""
        del arguments
        message = f"{self.spec.name} may change something: it is performed under a key, never called"
        return ToolError(error_type="ACTION_DENIED", message=message, retryable=False)

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return the call as it would be made; what the tool makes of it is not known."""
        return call_preview(self.spec.name, arguments, lang)

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Invoke it; LangChain has no way to hand the key over."""
        del key
        wrong = self._refused(arguments)
        if wrong is not None:
            return wrong
        result = await self._invoked(arguments)
        if isinstance(result, ToolOk):
            return result
        # Once it began, an error of the tool may have come after its effect as well as before it.
        message = f"{result.message}; whether the call happened is not known"
        return ToolError(error_type="OBSERVATION_UNKNOWN", message=message, retryable=False)

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Return `None`: LangChain has no way to ask."""
        del arguments, key
        return None


def _schema_of(wrapped: BaseTool) -> Mapping[str, Any]:
    schema = wrapped.tool_call_schema
    if isinstance(schema, dict):
        return schema
    # Tools with models of pydantic 1 have the older name.
    written = getattr(schema, "model_json_schema", None) or schema.schema
    found: Mapping[str, Any] = written()
    return found


def _json(value: Any) -> Any:
    """Return `value` as JSON: as it is, or what its model or its text says."""
    try:
        return json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError):
        pass
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else str(value)
