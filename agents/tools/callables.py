"""Python functions as tools: `@tool(...)` takes the schema from the type hints.

    @tool(purpose="Look up the rate of a currency.", when_to_use="…", when_not_to_use="…")
    def rate(currency: Literal["EUR", "USD"]) -> float: ...

The function becomes a `FunctionTool`, or an `EffectFunctionTool` when it changes something.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from agents.tools.contract import RepeatRule, SideEffectClass, ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.diffs import call_preview
from agents.tools.effect_threads import EFFECT_THREADS
from agents.tools.hiding import without_secrets
from agents.tools.ports import NotPerformed
from agents.tools.previews import TOOL_TIMEOUT_S
from graphs.contract import Lang

KEY_PARAMETER: Final = "idempotency_key"
"""A parameter of this name is no argument of the tool: the broker's key is given for it."""
Outcome = Callable[[Mapping[str, Any], str], ToolResult | NotPerformed | None]
"""Looks up what came of an earlier call, by its arguments and key."""


class NoTool(TypeError):
    """A function that can't be a tool: a parameter has no type, or is neither named nor of a JSON type."""


class ToolFailed(Exception):
    """To be raised by a tool's function: it could not do what it was asked, and says so.

    Anything else that it raises is a bug of the function, and the broker reports it as one.
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        self.retryable = retryable
        super().__init__(message)


def tool(
    *,
    purpose: str,
    when_to_use: str,
    when_not_to_use: str,
    name: str | None = None,
    side_effect: SideEffectClass = "read",
    repeat: RepeatRule | None = None,
    scope: str = "what the function reaches",
    permission: str | None = None,
    timeout_s: float = TOOL_TIMEOUT_S,
    compensation: str | None = None,
    outcome: Outcome | None = None,
) -> Callable[[Callable[..., Any]], FunctionTool]:
    """Return a decorator that makes a function, sync or async, a tool; a sync one runs on a thread.

    `repeat` says what may be done when nobody knows what came of a call, because the process died in it or it raised:
    `safe` for what only reads, else `never`: `outcome` is asked, and where it can't tell, a person. `keyed` is a
    promise that is never assumed: called again with a key that it has seen, the function has no second effect. Taking
    `idempotency_key` alone promises nothing. `outcome` looks up an earlier call by its arguments and key. A sync
    function that outlives `timeout_s` goes on, for a thread can't be stopped: while it runs, `outcome` counts only
    where it says that it happened, and the function is not called a second time with the same key. An async one that
    hands its work on to a thread or a process of its own must have `outcome` say `None` while that runs.

    Raises `NoTool` for a function whose parameters have no JSON form, for `keyed` without the key, and for `safe` of
    what changes something.
    """

    def made(function: Callable[..., Any]) -> FunctionTool:
        model, result, keyed = _types_of(function)
        own = name or function.__name__
        rule = _repeat_rule(own, side_effect, repeat, keyed=keyed)
        schema = model.model_json_schema()
        schema.pop("title", None)
        spec = ToolSpec(
            name=own,
            purpose=purpose,
            when_to_use=when_to_use,
            when_not_to_use=when_not_to_use,
            input_schema=schema,
            output_schema=result.json_schema(mode="serialization"),
            scope=scope,
            timeout_s=timeout_s,
            side_effect=side_effect,
            permission=permission or f"function.{own}",
            error_codes=("INVALID_ARGUMENT", "FAILED"),
            repeat=rule,
            compensation=compensation,
        )
        kind = FunctionTool if side_effect == "read" else EffectFunctionTool
        return kind(spec=spec, function=function, model=model, result=result, keyed=keyed, outcome=outcome)

    return made


def _repeat_rule(
    name: str, side_effect: SideEffectClass, repeat: RepeatRule | None, *, keyed: bool
) -> RepeatRule:
    if side_effect == "read":
        return repeat or "safe"
    if repeat == "safe":
        raise NoTool(f"{name}: repeat='safe' with side_effect={side_effect!r}; accepted: 'keyed' or 'never'.")
    if repeat == "keyed" and not keyed:
        raise NoTool(
            f"{name}: repeat='keyed', but the function takes no {KEY_PARAMETER!r}. Add that parameter and make a key "
            "that was seen before have no second effect, or say repeat='never'."
        )
    return repeat or "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTool:
    """A function behind the port of tools."""

    spec: ToolSpec
    function: Callable[..., Any]
    model: type[BaseModel]
    """Of its arguments."""
    result: TypeAdapter[Any]
    keyed: bool
    outcome: Outcome | None

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Call the function; a value of another type than its hint says is `INVALID_ARGUMENT`."""
        return await self._called(arguments, None)

    async def _called(self, arguments: Mapping[str, Any], key: str | None) -> ToolResult:
        """Call the function; one with a `key` changes something."""
        try:
            given = self.model.model_validate(dict(arguments))
        except ValidationError as error:
            said = "; ".join(
                f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5]
            )
            return ToolError(
                error_type="INVALID_ARGUMENT", message=f"{self.spec.name}: {said}", retryable=False
            )
        values = {each: getattr(given, each) for each in type(given).model_fields}
        if self.keyed:
            values[KEY_PARAMETER] = key or ""
        if inspect.iscoroutinefunction(self.function):
            try:
                return self._answered(await self.function(**values))
            except ToolFailed as failed:
                return _failed(failed)
        if key is None:
            return await asyncio.to_thread(self._answer, values)
        return await EFFECT_THREADS.perform(key, partial(self._answer, values))

    def _answer(self, values: Mapping[str, Any]) -> ToolResult:
        try:
            return self._answered(self.function(**values))
        except ToolFailed as failed:
            return _failed(failed)

    def _answered(self, found: Any) -> ToolOk:
        data = self.result.dump_python(found, mode="json")
        return ToolOk(summary=f"{self.spec.name} answered", data=data, source=f"function {self.spec.name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectFunctionTool(FunctionTool):
    """A function that changes something."""

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse: it is performed under a key."""
        del arguments
        message = f"{self.spec.name} changes something: it is performed under a key, never called"
        return ToolError(error_type="ACTION_DENIED", message=message, retryable=False)

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return the call as it would be made; what the function makes of it is not known."""
        return call_preview(self.spec.name, arguments, lang)

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Call the function, with the key if it takes one."""
        return await self._called(arguments, key)

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Ask the function's `outcome`; `None` without one, or where its thread may still have its effect."""
        if self.outcome is None:
            return None
        return await EFFECT_THREADS.outcome(key, partial(asyncio.to_thread, self.outcome, arguments, key))


def _failed(failed: ToolFailed) -> ToolError:
    return ToolError(error_type="FAILED", message=without_secrets(str(failed)), retryable=failed.retryable)


def _types_of(function: Callable[..., Any]) -> tuple[type[BaseModel], TypeAdapter[Any], bool]:
    """Return the model of the arguments, the type of the result, and whether the key is a parameter."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    keyed = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise NoTool(
                f"{function.__name__}: parameter {parameter.name!r} can't be given by name. Name each one."
            )
        if parameter.name == KEY_PARAMETER:
            keyed = True
            continue
        if parameter.name not in hints:
            raise NoTool(
                f"{function.__name__}: parameter {parameter.name!r} has no type. Give it a type hint."
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    try:
        model = create_model(function.__name__, __config__=ConfigDict(extra="forbid", strict=False), **fields)
        model.model_json_schema()
        result: TypeAdapter[Any] = TypeAdapter(hints.get("return", Any))
        result.json_schema(mode="serialization")
    except Exception as error:
        raise NoTool(
            f"{function.__name__} can't be a tool: {error}. Use types that have a JSON form."
        ) from error
    return model, result, keyed
