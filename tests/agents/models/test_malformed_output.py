"""Malformed output of models, kind by kind (field reports, 9): read tolerantly, or typed with what is wrong.

Each case is asked whole and streamed, by a model with tool calling and by one that is told its tools in words; what
comes of it must not depend on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models.contract import (
    FinalAnswer,
    InvalidOutput,
    Message,
    ModelReply,
    ModelRequest,
    ToolCalls,
    ToolOffer,
)
from agents.models.langchain import LangChainChat
from agents.models.scripted import CallTools, Say, ScriptedChatModel

LIST = {"type": "array", "items": {"type": "string"}}
OBJECT = {
    "type": "object",
    "required": ["claims"],
    "properties": {"claims": {"type": "array", "items": {"type": "string"}}},
}
SEARCH = ToolOffer(name="search", description="Find.", input_schema={"type": "object", "properties": {}})


async def said(
    reply: Say | CallTools,
    *,
    schema: Mapping[str, Any] | None = None,
    tools: bool = False,
    words: bool = False,
    streamed: bool = False,
) -> ModelReply:
    chat = LangChainChat(
        ScriptedChatModel.in_order(reply), "x:m", tool_modes=("json",) if words else ("native", "json")
    )
    request = ModelRequest(
        purpose="work",
        messages=(Message(role="user", content="go"),),
        output_schema=schema,
        tools=(SEARCH,) if tools else (),
    )
    return await chat.complete(request, (lambda _: None) if streamed else None)


@dataclass(frozen=True, kw_only=True)
class Case:
    id: str
    text: str
    data: Any = None
    """What is read; with `told`, nothing is."""
    told: str = ""
    schema: Mapping[str, Any] | None = None


CASES = (
    Case(id="a code fence", text='```json\n{"claims": ["a"]}\n```', data={"claims": ["a"]}),
    Case(id="a fence that is not closed", text='```json\n{"claims": ["a"]}', data={"claims": ["a"]}),
    Case(
        id="words around it",
        text='好的，答案是：{"claims": ["水泵"]}。希望有帮助！',
        data={"claims": ["水泵"]},
    ),
    Case(id="a comma too many", text='{"claims": ["a", "b",],}', data={"claims": ["a", "b"]}),
    Case(
        id="thoughts with brackets first",
        text='<think>{maybe [this]}</think>{"claims": []}',
        data={"claims": []},
    ),
    Case(id="cut in the middle", text='{"claims": ["a", "b', told="cut off"),
    Case(id="cut after a value", text='{"claims": ["a"', told="cut off"),
    Case(
        id="an object where a list was asked", text='{"claims": ["a"]}', told="accepted: array", schema=LIST
    ),
    Case(id="a list where an object was asked", text='["a"]', told="accepted: object"),
    Case(id="another object", text='{"answer": "a"}', told="'claims' is missing"),
    Case(id="another type inside", text='{"claims": "a"}', told="$.claims is 'a'; accepted: array"),
    Case(id="an apology", text="I'm sorry, I can't find anything.", told="no JSON value found"),
    Case(id="nothing", text=" \n", told="the answer is empty"),
    Case(id="single quotes", text="{'claims': ['a']}", told="not valid JSON"),
    Case(id="no number of JSON", text='{"claims": [NaN]}', told="NaN is no JSON number"),
    Case(id="a tool's result made up", text='Result of search: {"claims": []}', data={"claims": []}),
)
WAYS = pytest.mark.parametrize(
    ("words", "streamed"), [(False, False), (False, True), (True, False), (True, True)]
)


@WAYS
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_a_structured_answer(case: Case, words: bool, streamed: bool) -> None:
    reply = await said(
        Say(text=case.text), schema=case.schema or OBJECT, tools=True, words=words, streamed=streamed
    )
    if case.told:
        assert isinstance(reply.outcome, InvalidOutput)
        assert case.told in reply.outcome.reason
        assert reply.outcome.raw == case.text
    else:
        assert reply.outcome == FinalAnswer(text=case.text, data=case.data)
    assert reply.usage.output_tokens == -(-len(case.text) // 4)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_text_beside_a_call_is_kept_and_is_no_answer(streamed: bool) -> None:
    call = CallTools(calls=(("search", {"q": "x"}),), text="I am done: all is well.")
    reply = await said(call, tools=True, schema=OBJECT, streamed=streamed)
    assert isinstance(reply.outcome, ToolCalls)
    assert [(one.tool, dict(one.arguments)) for one in reply.outcome.calls] == [("search", {"q": "x"})]
    assert reply.outcome.text == "I am done: all is well."


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("raw", ['{"q": "x,}",}', '```json\n{"q": "x,}"}\n```', '```\n{"q": "x,}",\n}```'])
async def test_arguments_in_a_fence_or_with_a_trailing_comma_are_read(raw: str, streamed: bool) -> None:
    reply = await said(CallTools(calls=(("search", raw),), ids=("a",)), tools=True, streamed=streamed)
    assert isinstance(reply.outcome, ToolCalls)
    assert [(one.id, dict(one.arguments)) for one in reply.outcome.calls] == [("a", {"q": "x,}"})]
    assert reply.outcome.invalid == ()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "raw", ['{"q": "x"} or so', 'Here: {"q": "x"}', '{"q": "x', '{"q": "x",', '[{"q": "x"},]', '{"q": NaN,}']
)
async def test_arguments_are_never_guessed(raw: str, streamed: bool) -> None:
    reply = await said(CallTools(calls=(("search", raw),)), tools=True, streamed=streamed)
    assert isinstance(reply.outcome, InvalidOutput)
    assert reply.outcome.raw == raw


@pytest.mark.parametrize("streamed", [False, True])
async def test_only_invalid_calls_are_told_one_by_one(streamed: bool) -> None:
    broken = CallTools(calls=(("search", '{"q": "x'), ("read", "[1")))
    reply = await said(broken, tools=True, streamed=streamed)
    assert isinstance(reply.outcome, InvalidOutput)
    assert "'search' does not parse" in reply.outcome.reason
    assert "'read' does not parse" in reply.outcome.reason
    assert reply.outcome.raw == '{"q": "x\n[1'


@pytest.mark.parametrize("streamed", [False, True])
async def test_valid_siblings_of_invalid_calls_run(streamed: bool) -> None:
    calls = CallTools(calls=(("search", '{"q": '), ("search", {"q": "y"})), ids=("a", "a"))
    reply = await said(calls, tools=True, streamed=streamed)
    assert isinstance(reply.outcome, ToolCalls)
    assert [(one.id, dict(one.arguments)) for one in reply.outcome.calls] == [("a", {"q": "y"})]
    assert [(bad.id, bad.tool, bad.raw) for bad in reply.outcome.invalid] == [("a-2", "search", '{"q": ')]


@pytest.mark.parametrize("streamed", [False, True])
async def test_calls_in_words_are_read_as_native_ones(streamed: bool) -> None:
    text = 'Let me see.\n[{"tool": "search", "arguments": {"q": "x"}}, {"tool": "search", "arguments": []}]'
    reply = await said(Say(text=text), tools=True, words=True, streamed=streamed)
    assert reply.means == "tools:json"
    assert isinstance(reply.outcome, ToolCalls)
    assert [(one.id, dict(one.arguments)) for one in reply.outcome.calls] == [("call-1", {"q": "x"})]
    assert [bad.tool for bad in reply.outcome.invalid] == ["search"]


async def test_a_call_in_words_is_no_call_of_a_model_with_tool_calling() -> None:
    """A document may hold one, and a model may quote it: with native tools only what is on offer is read as a call."""
    reply = await said(Say(text='{"tool": "delete", "arguments": {}}'), tools=True)
    assert isinstance(reply.outcome, FinalAnswer)


async def test_no_call_is_read_where_no_tool_was_offered() -> None:
    reply = await said(Say(text='{"tool": "search", "arguments": {}}'), words=True)
    assert isinstance(reply.outcome, FinalAnswer)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='{}[]":,a1 \n`泵', max_size=40), st.booleans(), st.booleans(), st.booleans())
async def test_whatever_is_said_has_one_of_the_outcomes(
    text: str, structured: bool, words: bool, streamed: bool
) -> None:
    schema = OBJECT if structured else None
    reply = await said(Say(text=text), schema=schema, tools=True, words=words, streamed=streamed)
    assert isinstance(reply.outcome, FinalAnswer | ToolCalls | InvalidOutput)
