import asyncio
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from agents.models.contract import (
    FinalAnswer,
    InvalidOutput,
    Message,
    ModelError,
    ModelReply,
    ModelRequest,
    ToolCalls,
    ToolOffer,
    Usage,
)
from agents.models.langchain import LangChainChat
from agents.models.ports import ChatPort, Told
from agents.models.prices import Price, Prices
from agents.models.scripted import CallTools, Fail, Rule, Say, SayJson, ScriptedChatModel
from agents.tools.contract import ToolCall

SEARCH = ToolOffer(name="search", description="Find.", input_schema={"type": "object", "properties": {}})
SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
ASKED = (Message(role="system", content="be brief"), Message(role="user", content="go"))


async def reply(
    *replies: Any, schema: Any = None, mode: Any = "prompt", told: Told | None = None
) -> tuple[ModelReply, ScriptedChatModel]:
    model = ScriptedChatModel.in_order(*replies, model_name="toy")
    chat: ChatPort = LangChainChat(model, name="test:toy", schema_modes=(mode,), now=lambda: 7.0)
    asked = ModelRequest(purpose="work", messages=ASKED, output_schema=schema)
    return await chat.complete(asked, told), model


async def test_text_is_a_final_answer_with_its_usage() -> None:
    found, model = await reply(Say(text="done"))
    assert found == ModelReply(
        outcome=FinalAnswer(text="done"), usage=Usage(model="toy", input_tokens=3, output_tokens=1)
    )
    assert [type(message) for message in model.requests[0]] == [SystemMessage, HumanMessage]


async def test_a_structured_answer_is_parsed_tolerantly_and_checked() -> None:
    found, model = await reply(Say(text='```json\n{"n": 1,}\n```'), schema=SCHEMA)
    assert isinstance(found.outcome, FinalAnswer)
    assert found.outcome.data == {"n": 1}
    system = str(model.requests[0][0].content)
    assert system.startswith("be brief")
    assert "fits this JSON schema" in system
    assert found.means == "prompt"
    wrong, _ = await reply(SayJson(data={"n": "one"}), schema=SCHEMA)
    assert wrong.outcome == InvalidOutput(raw='{"n": "one"}', reason="$.n is 'one'; accepted: integer")


async def test_a_provider_that_enforces_schemas_is_given_it() -> None:
    said = (SayJson(data={"n": 1}),)
    found, model = await reply(*said, schema=SCHEMA, mode="json_schema")
    assert model.options[0]["extra_body"]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert found.means == "json_schema"
    _, model = await reply(*said, schema=SCHEMA, mode="json_mode")
    assert model.options[0]["extra_body"]["response_format"] == {"type": "json_object"}
    found, model = await reply(
        CallTools(calls=(("answer", {"n": 1}),)), schema=SCHEMA, mode="function_calling"
    )
    assert model.options[0]["tool_choice"] == "answer"
    assert found.outcome == FinalAnswer(text='{"n": 1}', data={"n": 1})
    found, model = await reply(Say(text="x"), mode="json_schema")
    assert "extra_body" not in model.options[0]
    assert found.means == ""


async def test_tool_calls_are_proposals_of_a_model() -> None:
    found, _ = await reply(CallTools(calls=(("search", {"q": "x"}), ("read", "{broken")), text="and"))
    assert isinstance(found.outcome, ToolCalls)
    (call,) = found.outcome.calls
    assert (call.tool, call.arguments, call.origin, call.taint) == (
        "search",
        {"q": "x"},
        "parametric",
        "untrusted",
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (CallTools(calls=(("read", "{broken"),)), "the call of 'read' does not parse"),
        (Say(text="  "), "empty"),
        (Say(text="half a sen", finish_reason="length"), "cut off"),
    ],
)
async def test_answers_that_cannot_be_used(said: Any, told: str) -> None:
    found, _ = await reply(said)
    assert isinstance(found.outcome, InvalidOutput)
    assert told in found.outcome.reason


@pytest.mark.parametrize("reason", ["content_filter", "refusal"])
async def test_a_refusal_in_a_successful_response(reason: str) -> None:
    found, _ = await reply(Say(text="I won't.", finish_reason=reason))
    assert found.outcome == ModelError(error_type="refused", message="I won't.", retryable=False)


async def test_one_request_is_one_call() -> None:
    model = ScriptedChatModel(rules=(Rule(reply=Fail(error=TimeoutError())),))
    await LangChainChat(model, name="t").complete(ModelRequest(purpose="work", messages=ASKED))
    assert len(model.requests) == 1


async def test_all_roles_reach_the_model_as_messages() -> None:
    model = ScriptedChatModel.in_order(Say(text="ok"))
    messages = tuple(Message(role=role, content=role) for role in ("system", "user", "assistant", "tool"))
    await LangChainChat(model, name="t", options={"temperature": 0}).complete(
        ModelRequest(purpose="work", messages=messages)
    )
    assert [type(message) for message in model.requests[0]] == [
        SystemMessage,
        HumanMessage,
        AIMessage,
        HumanMessage,
    ]
    assert model.options[0]["temperature"] == 0


class Insisting(ScriptedChatModel):
    """A model whose client tries again by itself."""

    max_retries: int | None = 2


@pytest.mark.parametrize("retries", [2, None])
def test_a_client_that_retries_by_itself_is_refused(retries: int | None) -> None:
    """`None` leaves it to the client, and clients retry twice."""
    with pytest.raises(ValueError, match=f"max_retries={retries}; accepted: 0"):
        LangChainChat(Insisting(max_retries=retries), "gpt")
    assert LangChainChat(Insisting(max_retries=0), "gpt").name == "gpt"


async def test_a_stream_is_told_piece_by_piece() -> None:
    pieces: list[str] = []
    found, _ = await reply(Say(text="eight ch"), told=pieces.append)
    assert pieces == ["eigh", "t ch"]
    assert found == (await reply(Say(text="eight ch")))[0]


async def test_a_stream_that_breaks_is_no_answer() -> None:
    pieces: list[str] = []
    found, _ = await reply(Fail(error=ConnectionResetError("reset"), after="half a sen"), told=pieces.append)
    assert "".join(pieces) == "half a sen"
    assert isinstance(found.outcome, ModelError)
    assert (found.outcome.error_type, found.outcome.retryable) == ("unavailable", True)


async def test_a_stream_that_does_not_say_why_it_ended_is_no_answer() -> None:
    found, _ = await reply(Say(text="half a sen", finish_reason=""), told=lambda _: None)
    assert isinstance(found.outcome, ModelError)
    assert (found.outcome.error_type, found.outcome.retryable) == ("unavailable", True)
    assert "before the answer did" in found.outcome.message


class Whole(BaseChatModel):
    """A model that can't stream and takes no tools."""

    says: str = "all at once"

    @property
    def _llm_type(self) -> str:
        return "whole"

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=self.says))])


async def test_a_model_that_can_not_stream_tells_all_at_once() -> None:
    pieces: list[str] = []
    found = await LangChainChat(Whole(), "x:whole").complete(
        ModelRequest(purpose="work", messages=ASKED), pieces.append
    )
    assert found.outcome == FinalAnswer(text="all at once")
    assert pieces == ["all at once"]


async def test_a_listener_that_breaks_is_no_fault_of_the_model() -> None:
    def breaks(piece: str) -> None:
        raise RuntimeError(f"no room for {piece!r}")

    with pytest.raises(RuntimeError, match="no room for 'eigh'"):
        await reply(Say(text="eight ch"), told=breaks)


async def test_cancellation_passes_through() -> None:
    with pytest.raises(asyncio.CancelledError):
        await reply(Say(text="x", finish_reason="stop"), told=_cancel)


def _cancel(piece: str) -> None:
    raise asyncio.CancelledError(piece)


async def test_ids_are_new_in_the_whole_conversation() -> None:
    """The scripted model begins each answer at `call-1`, as local servers do."""
    model = ScriptedChatModel.in_order(CallTools(calls=(("search", {"q": "y"}),)))
    before = ToolCall(tool="search", arguments={"q": "x"}, id="call-1")
    messages = (
        *ASKED,
        Message(role="assistant", content="", calls=(before,)),
        Message(role="tool", content="found", call_id="call-1"),
    )
    asked = ModelRequest(purpose="work", messages=messages, tools=(SEARCH,))
    outcome = (await LangChainChat(model, "x:y").complete(asked)).outcome
    assert isinstance(outcome, ToolCalls)
    assert [call.id for call in outcome.calls] == ["call-1-2"]
    assert [type(message) for message in model.requests[0]] == [
        SystemMessage,
        HumanMessage,
        AIMessage,
        ToolMessage,
    ]
    assert [tool["function"]["name"] for tool in model.options[0]["tools"]] == ["search"]


async def test_what_an_answer_costs_goes_by_the_name_that_was_asked() -> None:
    model = ScriptedChatModel.in_order(Say(text="done"), model_name="toy-2026")
    prices = Prices(own={"x:toy": Price(input=1_000_000.0, output=2_000_000.0)})
    chat = LangChainChat(model, "x:toy", prices=prices)
    usage = (await chat.complete(ModelRequest(purpose="work", messages=ASKED))).usage
    assert usage == Usage(model="toy-2026", input_tokens=3, output_tokens=1, cost_usd=5.0)


async def test_time_is_counted() -> None:
    moments = iter([10.0, 10.25])
    model = ScriptedChatModel.in_order(Say(text="done"))
    chat = LangChainChat(model, "x:y", now=lambda: next(moments))
    assert (await chat.complete(ModelRequest(purpose="work", messages=ASKED))).elapsed_ms == 250.0


async def test_a_model_that_ignores_native_tools_is_told_them_in_words_from_the_next_request_on() -> None:
    model = ScriptedChatModel.in_order(
        Say(text="I would search for it."),
        Say(text='{"tool": "search", "arguments": {"q": "x"}}'),
        Say(text="done"),
    )
    chat = LangChainChat(model, "x:y")
    asked = ModelRequest(purpose="work", messages=ASKED, tools=(SEARCH,))
    first, second, third = [await chat.complete(asked) for _ in range(3)]
    assert (first.outcome, first.means) == (FinalAnswer(text="I would search for it."), "tools:native")
    assert isinstance(second.outcome, ToolCalls)
    assert (second.outcome.calls[0].arguments, second.means) == ({"q": "x"}, "tools:json")
    assert (third.outcome, third.means) == (FinalAnswer(text="done"), "tools:json")
    assert ["tools" in options for options in model.options] == [True, False, False]


async def test_where_only_a_call_will_do_tools_in_words_come_with_the_schema_of_a_call() -> None:
    model = ScriptedChatModel.in_order(
        Say(text="I would search for it."), *[Say(text='{"tool": "search", "arguments": {}}')] * 2
    )
    chat = LangChainChat(model, "x:y", schema_modes=("json_schema", "prompt"))
    asked = ModelRequest(purpose="work", messages=ASKED, tools=(SEARCH,), calls_only=True)
    means = [(await chat.complete(asked)).means for _ in range(2)]
    means.append((await chat.complete(replace(asked, calls_only=False))).means)
    assert means == ["tools:native", "tools:json+json_schema", "tools:json"]
    assert ["extra_body" in options for options in model.options] == [False, True, False]
    held = model.options[1]["extra_body"]["response_format"]["json_schema"]["schema"]
    assert held["properties"]["tool"] == {"type": "string", "enum": ["search"]}


async def test_a_model_that_called_natively_once_keeps_its_tools_and_its_quotes_are_no_calls() -> None:
    quote = 'The note says {"tool": "search", "arguments": {}}.'
    chat = LangChainChat(
        ScriptedChatModel.in_order(CallTools(calls=(("search", {}),)), Say(text=quote), Say(text="done")),
        "x:y",
    )
    asked = ModelRequest(purpose="work", messages=ASKED, tools=(SEARCH,))
    replies = [await chat.complete(asked) for _ in range(3)]
    assert [found.means for found in replies] == ["tools:native"] * 3
    assert replies[1].outcome == FinalAnswer(text=quote)


@pytest.mark.parametrize(("tool", "is_call"), [("search", True), ("delete_all", False)])
async def test_a_call_of_an_offered_tool_in_words_is_read_before_a_native_one_was_seen(
    tool: str, is_call: bool
) -> None:
    said = Say(text=f'<tool_call>{{"name": "{tool}", "arguments": {{"q": "x"}}}}</tool_call>')
    chat = LangChainChat(ScriptedChatModel.in_order(said), "x:y")
    found = await chat.complete(ModelRequest(purpose="work", messages=ASKED, tools=(SEARCH,)))
    assert isinstance(found.outcome, ToolCalls) == is_call
    assert found.means == "tools:native"


async def test_a_structured_answer_beside_tools_and_a_cut_one_say_nothing_of_the_tools() -> None:
    model = ScriptedChatModel.in_order(
        Say(text='{"n": 3}'), Say(text="I wou", finish_reason="length"), Say(text="x")
    )
    chat = LangChainChat(model, "x:y")
    asked = ModelRequest(purpose="work", messages=ASKED, tools=(SEARCH,), output_schema=SCHEMA)
    assert [(await chat.complete(asked)).means for _ in range(3)] == ["tools:native+prompt"] * 3


async def test_what_the_provider_does_not_count_is_estimated_and_said_to_be_so() -> None:
    """Whole gives no usage: 2 messages around 8 and 2 characters, 11 characters of answer."""
    prices = Prices(own={"x:whole": Price(input=1e6, output=0)})
    chat = LangChainChat(Whole(), "x:whole", prices=prices)
    usage = (await chat.complete(ModelRequest(purpose="work", messages=ASKED))).usage
    assert usage.estimated
    assert 12 <= usage.input_tokens <= 18, "two frames of 5 and 2 to 4 tokens each"
    assert 2 <= usage.output_tokens <= 6
    assert usage.cost_usd == usage.input_tokens
    asked = ModelRequest(purpose="work", messages=ASKED, tools=(SEARCH,), output_schema=SCHEMA)
    assert (await chat.complete(asked)).usage.input_tokens > usage.input_tokens + 20


async def test_a_class_without_tool_calling_is_told_them_in_words() -> None:
    said = '{"tool": "search", "arguments": {"q": "x"}}'
    asked = ModelRequest(purpose="work", messages=ASKED, tools=(SEARCH,))
    reply = await LangChainChat(Whole(says=said), "x:y").complete(asked)
    assert isinstance(reply.outcome, ToolCalls)
    assert (reply.means, reply.usage.requests) == ("tools:json", 1)
    structured = ModelRequest(purpose="work", messages=ASKED, output_schema=SCHEMA)
    chat = LangChainChat(Whole(says='{"n": 3}'), "x:y", schema_modes=("function_calling",))
    found = await chat.complete(structured)
    assert (found.outcome, found.means) == (FinalAnswer(text='{"n": 3}', data={"n": 3}), "prompt")
