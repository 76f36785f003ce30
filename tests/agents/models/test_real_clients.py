"""The client packages of OpenAI and Anthropic against a server with faults: each fault has its typed result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from agents.models.advice import explained
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
from agents.models.providers import open_chat
from agents.tools.contract import ToolCall
from graphs.contract import Lang
from tests.agents.models.fault_server import (
    Answer,
    Events,
    FaultServer,
    Response,
    Silence,
    anthropic_answer,
    anthropic_error,
    anthropic_events,
    fault_server,
    openai_answer,
    openai_error,
    openai_events,
)

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

KEY = "sk-very-secret-0123456789"
SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
SEARCH = ToolOffer(
    name="search",
    description="Find notes.",
    input_schema={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
)
ASKED = (Message(role="system", content="be brief"), Message(role="user", content="go"))


def request(*, tools: bool = False, schema: Mapping[str, Any] | None = None) -> ModelRequest:
    return ModelRequest(
        purpose="work", messages=ASKED, tools=(SEARCH,) if tools else (), output_schema=schema
    )


def chat(server: FaultServer, provider: str, timeout_s: float = 20.0) -> LangChainChat:
    url = f"{server.url}/v1" if provider == "openai" else server.url
    return open_chat(f"{provider}:toy", environ={"MASKGRAD_API_KEY": KEY}, base_url=url, timeout_s=timeout_s)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A response and what is to come of it."""

    id: str
    provider: str
    response: Response
    kind: str
    """Of an error its type, else the outcome's kind."""
    told: str = ""
    """In the message, the reason or the text."""
    retryable: bool = False
    retry_after_s: float | None = None
    tools: bool = False
    schema: Mapping[str, Any] | None = None
    streamed: bool = False
    timeout_s: float = 20.0


def both(name: str, openai: Response, anthropic: Response, kind: str, **more: Any) -> Sequence[Case]:
    return (
        Case(id=f"openai: {name}", provider="openai", response=openai, kind=kind, **more),
        Case(id=f"anthropic: {name}", provider="anthropic", response=anthropic, kind=kind, **more),
    )


TEXT: Mapping[str, Any] = {"type": "text", "text": "half a sen"}

CASES = (
    *both(
        "an answer", openai_answer("fine"), anthropic_answer({"type": "text", "text": "fine"}), "final_answer"
    ),
    *both(
        "429 with Retry-After",
        openai_error(429, "slow down", code="rate_limit_exceeded", retry_after="7"),
        anthropic_error(429, "rate_limit_error", "slow down", retry_after="7"),
        "rate_limited",
        retryable=True,
        retry_after_s=7.0,
    ),
    *both(
        "500",
        openai_error(500, "oops"),
        anthropic_error(500, "api_error", "oops"),
        "unavailable",
        retryable=True,
    ),
    *both(
        "503 with Retry-After in milliseconds",
        openai_error(503, "later", retry_after_ms="1500"),
        anthropic_error(503, "api_error", "later", retry_after_ms="1500"),
        "unavailable",
        retryable=True,
        retry_after_s=1.5,
    ),
    *both(
        "529",
        openai_error(529, "overloaded"),
        anthropic_error(529, "overloaded_error", "Overloaded"),
        "unavailable",
        retryable=True,
    ),
    *both("no answer in time", Silence(), Silence(), "timeout", retryable=True, timeout_s=0.05),
    *both(
        "a body that is cut off",
        Answer(body=b'{"id": "x", "choices": ['),
        Answer(body=b'{"id": "x", "content": ['),
        "unavailable",
        retryable=True,
    ),
    *both(
        "a page instead of a body",
        Answer(body=b"<html>Bad gateway</html>", headers={"content-type": "text/html"}),
        Answer(body=b"<html>Bad gateway</html>", headers={"content-type": "text/html"}),
        "misconfigured",
        told="a web page came",
    ),
    *both("an empty body", Answer(body=b""), Answer(body=b""), "unavailable", retryable=True, told="empty"),
    *both("an empty object", Answer(body={}), Answer(body={}), "unavailable", retryable=True),
    *both(
        "401",
        openai_error(401, f"Incorrect API key provided: {KEY}"),
        anthropic_error(401, "authentication_error", f"no such key {KEY}"),
        "misconfigured",
        told="***",
    ),
    *both(
        "404",
        openai_error(404, "no model toy"),
        anthropic_error(404, "not_found_error", "no model toy"),
        "misconfigured",
    ),
    *both(
        "more than the context holds",
        openai_error(400, "maximum context length is 8192 tokens", code="context_length_exceeded"),
        anthropic_error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
        "overflow",
    ),
    *both(
        "finish_reason=length",
        openai_answer("half a sen", finish="length"),
        anthropic_answer(TEXT, stop="max_tokens"),
        "invalid_output",
        told="cut off",
    ),
    *both(
        "a schema's answer at the limit of its length",
        openai_answer('{"n": 1}', finish="length"),
        anthropic_answer(
            {"type": "tool_use", "id": "a", "name": "answer", "input": {"n": 1}}, stop="max_tokens"
        ),
        "invalid_output",
        told="cut off",
        schema=SCHEMA,
    ),
    *both(
        "a call at the limit of its length",
        openai_answer(None, finish="length", calls=[("a", "search", '{"q": "x"}')]),
        anthropic_answer(
            {"type": "tool_use", "id": "a", "name": "search", "input": {"q": "x"}}, stop="max_tokens"
        ),
        "invalid_output",
        told="cut off",
        tools=True,
    ),
    *both(
        "a refusal",
        openai_answer(None, refusal="I can't help with that."),
        anthropic_answer({"type": "text", "text": "I can't help with that."}, stop="refusal"),
        "refused",
        told="I can't help with that.",
    ),
    Case(
        id="openai: content filter",
        provider="openai",
        response=openai_answer("half a sen", finish="content_filter"),
        kind="refused",
    ),
    Case(
        id="openai: content filter on a schema's answer",
        provider="openai",
        response=openai_answer("half a sen", finish="content_filter"),
        kind="refused",
        schema=SCHEMA,
    ),
    Case(
        id="openai: a quota that is used up is no rate limit",
        provider="openai",
        response=openai_error(429, "You exceeded your current quota", code="insufficient_quota"),
        kind="refused",
    ),
    *both(
        "an empty answer",
        openai_answer(""),
        anthropic_answer(),
        "invalid_output",
        told="the answer is empty",
    ),
    *both(
        "an empty answer to a schema",
        openai_answer(""),
        anthropic_answer(),
        "invalid_output",
        told="the answer is empty",
        schema=SCHEMA,
    ),
    *both(
        "only a call that does not parse",
        openai_answer(None, finish="tool_calls", calls=[("a", "search", '{"q": ')]),
        anthropic_answer({"type": "tool_use", "id": "a", "name": "search", "input": ["x"]}, stop="tool_use"),
        "invalid_output",
        tools=True,
    ),
    *both(
        "reset in mid-stream",
        openai_events({"content": "half "}, {"content": "a sen"}, finish=None, done=False, reset=True),
        anthropic_events("half ", "a sen", stop=None, reset=True),
        "unavailable",
        retryable=True,
        streamed=True,
    ),
    *both(
        "a stream that ends too early",
        openai_events({"content": "half "}, {"content": "a sen"}, finish=None),
        anthropic_events("half ", "a sen", stop=None),
        "unavailable",
        told="before the answer did",
        retryable=True,
        streamed=True,
    ),
    *both(
        "an error in mid-stream",
        Events(
            data=[
                *openai_events({"content": "half "}, finish=None, done=False).data,
                ("", {"error": {"message": "The server had an error", "type": "server_error"}}),
            ]
        ),
        anthropic_events("half ", error="overloaded_error"),
        "unavailable",
        retryable=True,
        streamed=True,
    ),
    *both(
        "a stream that never begins",
        Silence(),
        Silence(),
        "timeout",
        retryable=True,
        streamed=True,
        timeout_s=0.05,
    ),
    *both(
        "429 to a stream",
        openai_error(429, "slow down", retry_after="2"),
        anthropic_error(429, "rate_limit_error", "slow down", retry_after="2"),
        "rate_limited",
        retryable=True,
        retry_after_s=2.0,
        streamed=True,
    ),
    *both(
        "a stream cut off at the limit",
        openai_events({"content": "half a sen"}, finish="length"),
        anthropic_events("half a sen", stop="max_tokens"),
        "invalid_output",
        told="cut off",
        streamed=True,
    ),
    Case(
        id="openai: a refusal in a stream",
        provider="openai",
        response=openai_events({"refusal": "I can't "}, {"refusal": "help."}),
        kind="refused",
        told="I can't help.",
        streamed=True,
    ),
    Case(
        id="openai: a call in a stream whose arguments are cut off",
        provider="openai",
        response=openai_events(
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "a",
                        "type": "function",
                        "function": {"name": "search", "arguments": '{"q": "x'},
                    }
                ]
            },
            finish="tool_calls",
        ),
        kind="invalid_output",
        told="does not parse",
        streamed=True,
        tools=True,
    ),
    *both(
        "a stream",
        openai_events({"content": "fi"}, {"content": "ne"}),
        anthropic_events("fi", "ne"),
        "final_answer",
        told="fine",
        streamed=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_a_fault_has_its_typed_result_after_one_request(case: Case) -> None:
    pieces: list[str] = []
    async with fault_server(case.response) as server:
        asked = request(tools=case.tools, schema=case.schema)
        reply = await chat(server, case.provider, case.timeout_s).complete(
            asked, pieces.append if case.streamed else None
        )
    outcome = reply.outcome
    if isinstance(outcome, ModelError):
        assert outcome.error_type == case.kind, outcome
        assert (outcome.retryable, outcome.retry_after_s) == (case.retryable, case.retry_after_s)
        assert case.told in outcome.message
        assert KEY not in outcome.message
    else:
        assert outcome.kind == case.kind, outcome
        assert case.told in (outcome.reason if isinstance(outcome, InvalidOutput) else str(outcome))
    assert len(server.asked) == reply.usage.requests == 1
    assert reply.elapsed_ms > 0


async def ask(server: FaultServer, provider: str, asked: ModelRequest) -> ModelReply:
    return await chat(server, provider).complete(asked)


async def test_usage_is_what_the_provider_says() -> None:
    async with fault_server(openai_answer()) as server:
        found = (await ask(server, "openai", request())).usage
    assert found == Usage(model="toy-1", input_tokens=12, output_tokens=3, cached_input_tokens=4)
    async with fault_server(openai_events({"content": "fine"})) as server:
        found = (await chat(server, "openai").complete(request(), lambda _: None)).usage
    assert found == Usage(model="toy-1", input_tokens=12, output_tokens=3)
    async with fault_server(anthropic_answer({"type": "text", "text": "fine"})) as server:
        found = (await ask(server, "anthropic", request())).usage
    assert found == Usage(model="toy-a", input_tokens=12, output_tokens=3)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_calls_keep_their_order_and_each_has_an_id_of_its_own(provider: str) -> None:
    given = [("a", "one"), (None, "two"), ("a", "three"), ("", "four"), ("call-1", "five")]
    if provider == "openai":
        answer = openai_answer(
            None, finish="tool_calls", calls=[(i, "search", f'{{"q": "{q}"}}') for i, q in given]
        )
    else:
        answer = anthropic_answer(
            *({"type": "tool_use", "id": i, "name": "search", "input": {"q": q}} for i, q in given),
            stop="tool_use",
        )
    async with fault_server(answer) as server:
        first = (await ask(server, provider, request(tools=True))).outcome
        again = (await ask(server, provider, request(tools=True))).outcome
    assert isinstance(first, ToolCalls)
    assert [call.arguments["q"] for call in first.calls] == ["one", "two", "three", "four", "five"]
    assert [call.id for call in first.calls] == ["a", "call-1", "a-2", "call-2", "call-1-2"]
    assert again == first


async def test_calls_that_parse_run_beside_those_that_do_not() -> None:
    """A list, a text, a number and broken JSON instead of an object; and one tool that does not exist."""
    calls = [
        ("a", "search", "[1, 2]"),
        ("b", "search", '{"q": "x"}'),
        ("c", "search", '"x"'),
        ("d", "search", "5"),
        ("e", "search", '{"q": '),
        ("f", "no_such_tool", '{"z": 1}'),
        ("g", "search", {"q": "as an object"}),
        ("h", "search", ""),
    ]
    async with fault_server(openai_answer("and", finish="tool_calls", calls=calls)) as server:
        reply = await ask(server, "openai", request(tools=True))
    outcome = reply.outcome
    assert isinstance(outcome, ToolCalls)
    assert [(call.id, call.tool, dict(call.arguments)) for call in outcome.calls] == [
        ("b", "search", {"q": "x"}),
        ("f", "no_such_tool", {"z": 1}),
        ("g", "search", {"q": "as an object"}),
        ("h", "search", {}),
    ]
    assert {call.taint for call in outcome.calls} == {"untrusted"}
    assert sorted((bad.id, bad.raw) for bad in outcome.invalid) == [
        ("a", "[1, 2]"),
        ("c", '"x"'),
        ("d", "5"),
        ("e", '{"q": '),
    ]
    assert outcome.text == "and"
    assert reply.usage.input_tokens == 12


async def test_streamed_calls_are_read_whole() -> None:
    def delta(index: int, given: str | None, name: str | None, arguments: str) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
        return {"tool_calls": [{"index": index, "id": given, "type": "function", "function": function}]}

    events = openai_events(
        delta(0, "a", "search", '{"q"'),
        delta(0, None, None, ': "x"}'),
        delta(1, "a", "search", "[1]"),
        delta(2, "b", "search", '{"q": "y"}'),
        finish="tool_calls",
    )
    async with fault_server(events) as server:
        outcome = (await chat(server, "openai").complete(request(tools=True), lambda _: None)).outcome
    assert isinstance(outcome, ToolCalls)
    assert [(call.id, dict(call.arguments)) for call in outcome.calls] == [
        ("a", {"q": "x"}),
        ("b", {"q": "y"}),
    ]
    assert [(bad.id, bad.raw) for bad in outcome.invalid] == [("a-2", "[1]")]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_calls_and_results_go_back_under_their_ids(provider: str) -> None:
    conversation = ModelRequest(
        purpose="work",
        messages=(
            *ASKED,
            Message(
                role="assistant",
                content="let me look",
                calls=(ToolCall(tool="search", arguments={"q": "泵"}, id="c1"),),
            ),
            Message(role="tool", content="three notes", call_id="c1"),
        ),
        tools=(SEARCH,),
    )
    response = openai_answer() if provider == "openai" else anthropic_answer({"type": "text", "text": "ok"})
    async with fault_server(response) as server:
        await ask(server, provider, conversation)
    (asked,) = server.asked
    sent = asked.body["messages"]
    if provider == "openai":
        assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
        assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"] == "c1"
        assert sent[2]["tool_calls"][0]["function"]["name"] == "search"
        assert asked.body["tools"][0]["function"]["parameters"] == SEARCH.input_schema
    else:
        assert [message["role"] for message in sent] == ["user", "assistant", "user"]
        used, result = sent[1]["content"][-1], sent[2]["content"][0]
        assert (used["id"], used["name"], used["input"]) == ("c1", "search", {"q": "泵"})
        assert (result["type"], result["tool_use_id"]) == ("tool_result", "c1")
        assert asked.body["tools"][0]["input_schema"] == SEARCH.input_schema


async def test_a_schema_is_told_in_the_providers_form() -> None:
    async with fault_server(openai_answer('{"n": 1}')) as server:
        reply = await ask(server, "openai", request(schema=SCHEMA))
    assert (reply.outcome, reply.means) == (FinalAnswer(text='{"n": 1}', data={"n": 1}), "json_schema")
    assert server.asked[0].body["response_format"]["json_schema"]["schema"] == SCHEMA
    answer = anthropic_answer(
        {"type": "tool_use", "id": "a", "name": "answer", "input": {"n": 2}}, stop="tool_use"
    )
    async with fault_server(answer) as server:
        reply = await ask(server, "anthropic", request(schema=SCHEMA))
    assert (reply.outcome, reply.means) == (FinalAnswer(text='{"n": 2}', data={"n": 2}), "function_calling")
    assert server.asked[0].body["tool_choice"] == {"type": "tool", "name": "answer"}


@pytest.mark.parametrize(
    "words",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is required",
        "response_format is not supported",
    ],
)
async def test_a_form_that_is_refused_is_followed_by_the_next(words: str) -> None:
    refused, fine = openai_error(400, words), openai_answer('{"n": 1}')
    async with fault_server(refused, refused, refused, fine) as server:
        one = chat(server, "openai")
        first = await one.complete(request(schema=SCHEMA))
        second = await one.complete(request(schema=SCHEMA))
        other = await one.complete(request(schema={**SCHEMA, "title": "another"}))
    assert (first.outcome, first.means, first.usage.requests) == (
        FinalAnswer(text='{"n": 1}', data={"n": 1}),
        "prompt",
        4,
    )
    assert (second.means, second.usage.requests) == ("prompt", 1)
    assert (other.means, other.usage.requests) == ("json_schema", 1)
    kinds = [asked.body.get("response_format", {}).get("type") for asked in server.asked]
    assert kinds == ["json_schema", "json_object", "json_object", None, None, "json_schema"]


async def test_a_local_server_that_breaks_at_a_form_is_asked_in_its_own() -> None:
    """The server of llama-cpp-python answers with 500 to a form that it does not know."""
    words = (
        "1 validation error: {'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'\"}"
    )
    async with fault_server(openai_error(500, words), openai_answer('{"n": 1}')) as server:
        reply = await ask(server, "openai", request(schema=SCHEMA))
    assert (reply.outcome, reply.means) == (FinalAnswer(text='{"n": 1}', data={"n": 1}), "json_object_schema")
    assert server.asked[1].body["response_format"] == {"type": "json_object", "schema": SCHEMA}


async def test_a_local_server_is_held_to_calls_in_its_own_form_and_without_one_in_words() -> None:
    no_tools = openai_error(400, "registry.example/toy does not support tools")
    unknown_form = openai_error(500, "1 validation error: {'loc': ('body', 'response_format', 'type')}")
    said = openai_answer('{"tool": "search", "arguments": {"q": "x"}}')
    async with fault_server(no_tools, unknown_form, said, unknown_form, said) as server:
        one = chat(server, "openai")
        first = await one.complete(replace(request(tools=True), calls_only=True))
        second = await one.complete(replace(request(tools=True), calls_only=True))
    assert (first.means, first.usage.requests) == ("tools:json+json_object_schema", 3)
    held = server.asked[2].body["response_format"]
    assert (held["type"], held["schema"]["properties"]["tool"]["enum"]) == ("json_object", ["search"])
    # What was taken once may be refused later: then in the next form, down to words alone.
    assert (second.means, second.usage.requests) == ("tools:json+json_mode", 2)
    assert isinstance(second.outcome, ToolCalls)


async def test_a_model_that_takes_no_tools_is_told_them_in_words() -> None:
    refused = openai_error(400, "registry.example/toy does not support tools")
    said = openai_answer('{"tool": "search", "arguments": {"q": "x"}}')
    async with fault_server(refused, said) as server:
        reply = await ask(server, "openai", request(tools=True))
    outcome = reply.outcome
    assert isinstance(outcome, ToolCalls)
    assert [(call.id, call.tool, dict(call.arguments)) for call in outcome.calls] == [
        ("call-1", "search", {"q": "x"})
    ]
    assert (reply.means, reply.usage.requests) == ("tools:json", 2)
    assert "tools" not in server.asked[1].body
    assert '"tool": "search"' in server.asked[1].body["messages"][0]["content"]


async def test_a_server_that_takes_tools_and_shows_them_to_no_model_is_told_them_in_words_next() -> None:
    said = openai_answer('{"tool": "search", "arguments": {"q": "x"}}')
    async with fault_server(openai_answer("I would look for it."), said) as server:
        model = chat(server, "openai")
        first = await model.complete(request(tools=True))
        second = await model.complete(request(tools=True))
    assert (first.outcome, first.means) == (FinalAnswer(text="I would look for it."), "tools:native")
    assert isinstance(second.outcome, ToolCalls)
    assert (second.outcome.calls[0].tool, second.means, second.usage.requests) == ("search", "tools:json", 1)
    assert ["tools" in asked.body for asked in server.asked] == [True, False]


async def test_a_stream_without_usage_is_counted_from_its_texts() -> None:
    whole = openai_events({"content": "The battery costs 12 million."})
    silent = Events(data=[(name, data) for name, data in whole.data if "usage" not in data])
    async with fault_server(silent) as server:
        usage = (await chat(server, "openai").complete(request(), lambda _: None)).usage
    assert (usage.model, usage.estimated) == ("toy-1", True)
    assert 6 <= usage.output_tokens <= 10, "OpenAI's vocabularies make 8 of them"
    assert usage.input_tokens > 10


async def test_another_bad_request_is_not_asked_again() -> None:
    async with fault_server(openai_error(400, "temperature must be at most 2")) as server:
        reply = await ask(server, "openai", request(schema=SCHEMA, tools=True))
    assert isinstance(reply.outcome, ModelError)
    assert (reply.outcome.error_type, len(server.asked)) == ("bad_request", 1)


async def test_the_key_of_the_provider_does_not_go_to_another_server() -> None:
    environ = {"OPENAI_API_KEY": "sk-of-openai", "ANTHROPIC_API_KEY": "sk-of-anthropic"}
    async with fault_server(openai_answer()) as server:
        await open_chat("openai:toy", environ=environ, base_url=server.url).complete(request())
        await open_chat("openai:toy", environ={**environ, "OPENAI_BASE_URL": server.url}).complete(request())
    assert [asked.headers["authorization"] for asked in server.asked] == [
        "Bearer none",
        "Bearer sk-of-openai",
    ]
    async with fault_server(anthropic_answer({"type": "text", "text": "ok"})) as server:
        await open_chat("anthropic:toy", environ=environ, base_url=server.url).complete(request())
    sent = server.asked[0].headers
    assert {sent.get("authorization"), sent.get("x-api-key")} <= {"Bearer none", "none", None}


async def test_the_length_of_an_answer_is_limited_by_the_request() -> None:
    asked = ModelRequest(purpose="work", messages=ASKED, max_output_tokens=50)
    async with fault_server(openai_answer()) as server:
        await ask(server, "openai", asked)
        other = replace(chat(server, "openai"), options={"max_tokens": 900})
        await other.complete(asked)
    sent = [{one.body.get(name) for name in ("max_tokens", "max_completion_tokens")} for one in server.asked]
    assert 50 in sent[0]
    assert 900 in sent[1], "who builds the model knows best"
    assert 50 not in sent[1]
    async with fault_server(anthropic_answer({"type": "text", "text": "ok"})) as server:
        await ask(server, "anthropic", asked)
    assert server.asked[0].body["max_tokens"] == 50


@pytest.mark.parametrize(
    ("base_url", "word", "other"),
    [
        (None, "max_completion_tokens", "max_tokens"),
        ("http://127.0.0.1:9/v1", "max_tokens", "max_completion_tokens"),
    ],
)
def test_the_length_is_said_in_the_word_that_the_server_knows(
    base_url: str | None, word: str, other: str
) -> None:
    # Seen with llama.cpp's Python server: it passes OpenAI's newer word over and writes on for ever.
    made = open_chat("openai:toy", environ={"OPENAI_API_KEY": KEY}, base_url=base_url)
    payload = cast("Any", made.model)._get_request_payload("go", max_tokens=50)
    assert payload[word] == 50
    assert other not in payload


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_server_that_gives_no_stream_is_asked_for_whole_answers_next_time(provider: str) -> None:
    whole = (
        openai_answer("fine") if provider == "openai" else anthropic_answer({"type": "text", "text": "fine"})
    )
    async with fault_server(whole) as server:
        asked_of = chat(server, provider)
        pieces: list[str] = []
        first = await asked_of.complete(request(), pieces.append)
        second = await asked_of.complete(request(), pieces.append)
    assert isinstance(first.outcome, ModelError)
    assert (first.outcome.error_type, first.outcome.cause, first.outcome.retryable) == (
        "unavailable",
        "no_completion",
        True,
    )
    assert server.url in first.outcome.address
    assert "stream" in first.outcome.message
    assert isinstance(second.outcome, FinalAnswer)
    assert (second.outcome.text, pieces) == ("fine", ["fine"])
    assert [bool(asked.body.get("stream")) for asked in server.asked] == [True, False]


async def test_a_page_instead_of_a_stream_is_named_as_one_and_not_tried_for_ever() -> None:
    page = Answer(body=b"<html>Welcome</html>", headers={"content-type": "text/html"})
    async with fault_server(page) as server:
        asked_of = chat(server, "openai")
        pieces: list[str] = []
        await asked_of.complete(request(), pieces.append)
        outcome = (await asked_of.complete(request(), pieces.append)).outcome
    assert isinstance(outcome, ModelError)
    assert (outcome.error_type, outcome.cause, outcome.retryable) == ("misconfigured", "no_completion", False)
    assert "<html>Welcome" in outcome.message
    assert "/v1" in explained(outcome, model="openai:toy", lang="en")


async def test_nobody_at_an_address_is_told_with_model_address_and_what_to_do() -> None:
    async with fault_server(Silence()) as server:
        asked_of, url = chat(server, "openai"), server.url
    outcome = (await asked_of.complete(request())).outcome
    assert isinstance(outcome, ModelError)
    assert (outcome.error_type, outcome.cause) == ("unavailable", "no_connection")
    for lang, off in (
        ("en", "without models: maskgrad models off"),
        ("zh", "不使用模型：maskgrad models off"),
    ):
        said = explained(outcome, model="openai:toy", lang=cast("Lang", lang))
        assert said.startswith("openai:toy")
        assert url in said
        assert said.endswith(off)
