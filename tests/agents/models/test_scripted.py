import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from pydantic import BaseModel

from agents.models.scripted import CallTools, Fail, Rule, Say, SayJson, ScriptedChatModel, UnscriptedCall


def says(word: str) -> Any:
    def when(messages: Sequence[BaseMessage]) -> bool:
        return word in str(messages[-1].content)

    return when


async def test_a_sequence_is_answered_in_order_and_then_no_more() -> None:
    model = ScriptedChatModel.in_order(Say(text="one"), SayJson(data={"n": 2}))
    assert (await model.ainvoke("a")).content == "one"
    assert model.invoke("b").content == '{"n": 2}'
    with pytest.raises(UnscriptedCall, match="request 3, which ends 'c'"):
        await model.ainvoke("c")
    assert [str(request[-1].content) for request in model.requests] == ["a", "b", "c"]


def test_the_first_rule_that_applies_and_is_not_used_up_answers() -> None:
    model = ScriptedChatModel(
        rules=(
            Rule(reply=Say(text="once"), when=says("x"), times=1),
            Rule(reply=lambda messages: Say(text=f"{len(messages)} messages"), when=says("x")),
            Rule(reply=Say(text="else")),
        )
    )
    assert [model.invoke(text).content for text in ("x", "y", "x", "x")] == [
        "once",
        "else",
        "1 messages",
        "1 messages",
    ]


def test_answers_carry_usage_and_the_name_of_the_model() -> None:
    model = ScriptedChatModel.in_order(Say(text="12345", finish_reason="length"), model_name="toy")
    answer = model.invoke([HumanMessage(content="123456789")])
    assert isinstance(answer, AIMessage)
    assert answer.response_metadata == {"model_name": "toy", "finish_reason": "length"}
    # Four characters a token, rounded up: 9 -> 3 and 5 -> 2.
    assert answer.usage_metadata == {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}


def test_tool_calls_that_parse_and_one_that_does_not() -> None:
    model = ScriptedChatModel.in_order(
        CallTools(calls=(("search", {"q": "x"}), ("read", "{broken")), text="wait")
    )
    answer = model.invoke("go")
    assert isinstance(answer, AIMessage)
    assert [(call["name"], call["args"]) for call in answer.tool_calls] == [("search", {"q": "x"})]
    assert [call["name"] for call in answer.invalid_tool_calls] == ["read"]
    assert answer.content == "wait"


def test_bound_tools_show_in_the_options() -> None:
    def search(query: str) -> str:
        """Search."""
        return query

    model = ScriptedChatModel.in_order(Say(text="ok"))
    model.bind_tools([search], tool_choice="any").invoke("go")
    (options,) = model.options
    assert options["tool_choice"] == "any"
    assert [tool["function"]["name"] for tool in options["tools"]] == ["search"]


def test_scripted_errors_are_raised() -> None:
    with pytest.raises(TimeoutError, match="slow"):
        ScriptedChatModel.in_order(Fail(error=TimeoutError("slow"))).invoke("go")


class Point(BaseModel):
    x: int


def test_structured_output_is_parsed_from_the_text() -> None:
    model = ScriptedChatModel.in_order(
        SayJson(data={"x": 1}), SayJson(data={"x": 2}), Say(text="no"), Say(text="no")
    )
    assert model.with_structured_output(Point).invoke("go") == Point(x=1)
    assert model.with_structured_output({"title": "p", "type": "object"}).invoke("go") == {"x": 2}
    raw: Any = model.with_structured_output(Point, include_raw=True).invoke("go")
    assert (raw["raw"].content, raw["parsed"], isinstance(raw["parsing_error"], ValueError)) == (
        "no",
        None,
        True,
    )
    with pytest.raises(ValueError, match="Expecting value"):
        model.with_structured_output(Point).invoke("go")


def test_two_models_share_no_state() -> None:
    first, second = (ScriptedChatModel.in_order(Say(text="a")) for _ in range(2))
    assert first.invoke("x").content == second.invoke("x").content == "a"


async def test_a_stream_says_the_same_in_pieces() -> None:
    replies = (
        Say(text="one two"),
        CallTools(calls=(("search", {"q": "x"}), ("read", "{broken")), ids=("a",)),
    )
    whole, streamed = (ScriptedChatModel.in_order(*replies) for _ in range(2))
    for _ in replies:
        answer = await whole.ainvoke("go")
        pieces = [piece async for piece in streamed.astream("go")]
        total = pieces[0]
        for piece in pieces[1:]:
            total = total + piece
        assert total.content == answer.content
        assert total.usage_metadata == answer.usage_metadata
        assert total.response_metadata["finish_reason"] == "stop"
        assert isinstance(total, AIMessageChunk)
        calls = [(call["name"], json.dumps(call["args"]), call["id"]) for call in answer.tool_calls]
        invalid = [(call["name"], call["args"], call["id"]) for call in answer.invalid_tool_calls]
        assert [(c["name"], c["args"], c["id"]) for c in total.tool_call_chunks] == calls + invalid
    assert [c["id"] for c in total.tool_call_chunks] == ["a", "call-2"]
    assert streamed.requests == whole.requests


async def test_a_stream_may_break_in_the_middle() -> None:
    model = ScriptedChatModel.in_order(Fail(error=ConnectionResetError("reset"), after="half"))
    pieces: list[str] = []
    stream = model.astream("go")
    pieces.append(str((await anext(stream)).text))
    with pytest.raises(ConnectionResetError):
        await anext(stream)
    assert pieces == ["half"]
