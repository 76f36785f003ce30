from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core import exceptions as lc
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from agents.models.contract import (
    FinalAnswer,
    InvalidOutput,
    Message,
    ModelError,
    ModelReply,
    ModelRequest,
    ToolCalls,
    Usage,
)
from agents.models.langchain import LangChainChat, model_error
from agents.models.ports import ChatPort
from agents.models.scripted import CallTools, Fail, Rule, Say, SayJson, ScriptedChatModel

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
ASKED = (Message(role="system", content="be brief"), Message(role="user", content="go"))


async def reply(
    *replies: Any, schema: Any = None, mode: Any = "prompt"
) -> tuple[ModelReply, ScriptedChatModel]:
    model = ScriptedChatModel.in_order(*replies, model_name="toy")
    chat: ChatPort = LangChainChat(model, name="test:toy", schema_mode=mode)
    return await chat.complete(ModelRequest(purpose="work", messages=ASKED, output_schema=schema)), model


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
    assert "fits this JSON schema" in str(model.requests[0][-1].content)
    wrong, _ = await reply(SayJson(data={"n": "one"}), schema=SCHEMA)
    assert wrong.outcome == InvalidOutput(raw='{"n": "one"}', reason="$.n is 'one'; accepted: integer")


async def test_a_provider_that_enforces_schemas_is_given_it() -> None:
    _, model = await reply(SayJson(data={"n": 1}), schema=SCHEMA, mode="json_schema")
    assert model.options[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    _, model = await reply(SayJson(data={"n": 1}), schema=SCHEMA, mode="json_mode")
    assert model.options[0]["response_format"] == {"type": "json_object"}
    _, model = await reply(Say(text="x"), mode="json_schema")
    assert "response_format" not in model.options[0]


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


class ApiError(Exception):
    """As SDKs raise it: a status, and the response that came with it."""

    def __init__(self, status: int, message: str = "", headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status_code = status
        self.response = SimpleNamespace(status_code=status, headers=headers or {})


class TimeoutException(Exception):
    """Named as httpx names its base class."""


class ReadTimeout(TimeoutException):
    pass


class TransportError(Exception):
    """Named as httpx names its base class."""


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (lc.ModelRateLimitError("x"), "rate_limited", True),
        (lc.ModelTimeoutError("x"), "timeout", True),
        (lc.ModelConnectionError("x"), "unavailable", True),
        (lc.ModelAPIError("x"), "unavailable", True),
        (lc.ModelAuthenticationError("x"), "refused", False),
        (lc.ModelPermissionDeniedError("x"), "refused", False),
        (lc.ModelNotFoundError("x"), "bad_request", False),
        (lc.ModelInvalidRequestError("x"), "bad_request", False),
        (lc.ContextOverflowError("x"), "overflow", False),
        (lc.ModelRefusalError("x"), "refused", False),
        (ApiError(429), "rate_limited", True),
        (ApiError(408), "timeout", True),
        (ApiError(409), "unavailable", True),
        (ApiError(503), "unavailable", True),
        (ApiError(529), "unavailable", True),
        (ApiError(400), "bad_request", False),
        (ApiError(400, "maximum context length is 8192 tokens"), "overflow", False),
        (ApiError(404), "bad_request", False),
        (ApiError(413), "overflow", False),
        (ApiError(422), "bad_request", False),
        (ApiError(401), "refused", False),
        (ApiError(418), "unknown", False),
        (ReadTimeout("x"), "timeout", True),
        (TransportError("x"), "unavailable", True),
        (TimeoutError("x"), "timeout", True),
        (ConnectionResetError("x"), "unavailable", True),
        (RuntimeError("x"), "unknown", False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
async def test_errors_are_normalised(error: Exception, kind: str, retryable: bool) -> None:
    found, _ = await reply(Fail(error=error))
    assert isinstance(found.outcome, ModelError)
    assert (found.outcome.error_type, found.outcome.retryable) == (kind, retryable)
    assert found.usage == Usage(model="test:toy")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_honoured_in_seconds(headers: dict[str, str], seconds: float | None) -> None:
    assert model_error(ApiError(429, headers=headers)).retry_after_s == seconds
    assert model_error(ApiError(400, headers=headers)).retry_after_s is None


async def test_one_request_is_one_call() -> None:
    model = ScriptedChatModel(rules=(Rule(reply=Fail(error=ApiError(503))),))
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
