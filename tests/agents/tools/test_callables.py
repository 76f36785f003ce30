"""Functions and LangChain tools as tools: schemas from type hints, typed failures, effects under a key."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from langchain_core.tools import InjectedToolArg, StructuredTool, ToolException
from pydantic import BaseModel, Field

from agents.json_schema import schema_problems
from agents.tools.callables import NoTool, ToolFailed, tool
from agents.tools.contract import ToolError, ToolOk, ToolResult
from agents.tools.langchain import langchain_tool
from agents.tools.ports import EffectTool, NotPerformed, Tool

told = partial(tool, purpose="Look up.", when_to_use="To look up.", when_not_to_use="Else.")


@dataclass
class Rate:
    currency: str
    value: float


class Receipt(BaseModel):
    number: int


@told()
def rate(currency: Literal["EUR", "USD"], places: Annotated[int, Field(ge=0, le=6)] = 2) -> Rate:
    return Rate(currency, round(1.23456789, places))


def call(each: Tool, **arguments: Any) -> ToolResult:
    return asyncio.run(each.call(arguments))


def test_the_schema_comes_from_the_type_hints() -> None:
    assert rate.spec.name == "rate"
    assert (rate.spec.side_effect, rate.spec.repeat) == ("read", "safe")
    schema = rate.spec.input_schema
    assert schema_problems({"currency": "EUR"}, schema) == ()
    assert schema_problems({"currency": "GBP"}, schema)
    assert schema_problems({"currency": "EUR", "places": 7}, schema)
    assert schema_problems({"currency": "EUR", "more": 1}, schema)
    assert schema_problems({}, schema)
    result = call(rate, currency="EUR", places=3)
    assert isinstance(result, ToolOk)
    assert result.data == {"currency": "EUR", "value": 1.235}
    assert schema_problems(result.data, rate.spec.output_schema) == ()
    refused = call(rate, currency="GBP")
    assert isinstance(refused, ToolError)
    assert refused.error_type == "INVALID_ARGUMENT"
    assert not isinstance(rate, EffectTool)


def test_sync_functions_run_on_a_thread_and_async_ones_on_the_loop() -> None:
    @told()
    def sync() -> str:
        return threading.current_thread().name

    @told()
    async def on_loop() -> str:
        return threading.current_thread().name

    here = threading.current_thread().name
    first, second = call(sync), call(on_loop)
    assert isinstance(first, ToolOk)
    assert isinstance(second, ToolOk)
    assert first.data != here == second.data


def test_a_failure_that_is_said_is_typed_and_a_bug_is_not_hidden() -> None:
    @told()
    def failing(how: str) -> str:
        if how == "bug":
            raise KeyError(how)
        raise ToolFailed("the register is closed until 8", retryable=True)

    result = call(failing, how="said")
    assert isinstance(result, ToolError)
    assert (result.error_type, result.message, result.retryable) == (
        "FAILED",
        "the register is closed until 8",
        True,
    )
    with pytest.raises(KeyError):
        call(failing, how="bug")


def test_a_function_that_changes_something_is_performed_under_its_key() -> None:
    done: dict[str, str] = {}

    def looked_up(arguments: Any, key: str) -> ToolResult | NotPerformed:
        del arguments
        return ToolOk(summary="", data=done[key], source="") if key in done else NotPerformed()

    @told(side_effect="external", outcome=looked_up, repeat="keyed", compensation="unsend")
    def send(to: str, idempotency_key: str) -> str:
        return done.setdefault(idempotency_key, to)

    assert isinstance(send, EffectTool)
    assert (send.spec.side_effect, send.spec.repeat, send.spec.compensation) == (
        "external",
        "keyed",
        "unsend",
    )
    assert "idempotency_key" not in send.spec.input_schema["properties"]
    assert isinstance(call(send, to="a"), ToolError)
    assert isinstance(asyncio.run(send.outcome_of({"to": "a"}, "k")), NotPerformed)
    assert asyncio.run(send.preview({"to": "a"}, "en")) == 'send with\n{\n "to": "a"\n}'
    assert asyncio.run(send.preview({"to": "a"}, "zh")) == 'send，参数为\n{\n "to": "a"\n}'
    assert done == {}
    assert isinstance(asyncio.run(send.perform({"to": "a"}, "k")), ToolOk)
    assert done == {"k": "a"}
    assert isinstance(asyncio.run(send.outcome_of({"to": "a"}, "k")), ToolOk)


def test_taking_the_key_promises_nothing() -> None:
    @told(side_effect="external")
    def send(to: str, idempotency_key: str) -> str:
        return to + idempotency_key

    assert send.spec.repeat == "never"


def test_a_rule_that_the_function_can_not_keep_is_refused() -> None:
    def send(to: str) -> str:
        return to

    with pytest.raises(NoTool, match="takes no 'idempotency_key'"):
        told(side_effect="external", repeat="keyed")(send)
    with pytest.raises(NoTool, match="repeat='safe'"):
        told(side_effect="write", repeat="safe")(send)


def test_a_function_without_types_is_none() -> None:
    def untyped(x):  # type: ignore[no-untyped-def]
        return x

    def spread(*x: int) -> None: ...

    def foreign(x: threading.Lock) -> None: ...

    for function, why in ((untyped, "has no type"), (spread, "by name"), (foreign, "JSON")):
        with pytest.raises(NoTool, match=why):
            told()(function)


def _divide(a: int, b: int, hidden: Annotated[str, InjectedToolArg] = "x") -> Any:
    """Divide a by b."""
    del hidden
    if b == 0:
        raise ToolException("no division by zero")
    return {"quotient": a // b}


def test_an_error_of_a_langchain_tool_after_it_began_leaves_its_outcome_open() -> None:
    sent: list[str] = []

    def pay(to: str, amount: int) -> str:
        """Pay."""
        sent.append(to)
        if amount > 100:
            Receipt.model_validate({})  # a validation that has nothing to do with the arguments
        raise ToolException("no receipt came")

    tool = langchain_tool(StructuredTool.from_function(pay))
    assert isinstance(tool, EffectTool)
    for amount in (1, 101):
        result = asyncio.run(tool.perform({"to": "bob", "amount": amount}, "k"))
        assert isinstance(result, ToolError)
        assert (result.error_type, result.retryable) == ("OBSERVATION_UNKNOWN", False)
    assert sent == ["bob", "bob"]
    refused = asyncio.run(tool.perform({"to": "bob", "amount": "many"}, "k"))
    assert isinstance(refused, ToolError)
    assert (refused.error_type, len(sent)) == ("INVALID_ARGUMENT", 2)
    reading = langchain_tool(StructuredTool.from_function(pay), side_effect="read")
    assert getattr(call(reading, to="bob", amount=1), "error_type", None) == "FAILED"


def test_a_langchain_tool_is_external_unless_the_user_says_otherwise() -> None:
    wrapped = StructuredTool.from_function(_divide, name="divide")
    outside = langchain_tool(wrapped)
    assert (outside.spec.side_effect, outside.spec.repeat) == ("external", "never")
    assert isinstance(outside, EffectTool)
    assert isinstance(call(outside, a=4, b=2), ToolError)
    assert set(outside.spec.input_schema["properties"]) == {"a", "b"}
    performed = asyncio.run(outside.perform({"a": 7, "b": 2}, "k"))
    assert isinstance(performed, ToolOk)
    assert performed.data == {"quotient": 3}
    assert asyncio.run(outside.outcome_of({}, "k")) is None

    reading = langchain_tool(wrapped, side_effect="read")
    assert not isinstance(reading, EffectTool)
    found = call(reading, a=9, b=3)
    assert isinstance(found, ToolOk)
    assert found.taint == "untrusted"
    for arguments, code in (({"a": 1, "b": 0}, "FAILED"), ({"a": "x", "b": 1}, "INVALID_ARGUMENT")):
        failed = call(reading, **arguments)
        assert isinstance(failed, ToolError)
        assert failed.error_type == code
