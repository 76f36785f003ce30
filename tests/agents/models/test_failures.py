"""What clients raise is normalised; nothing of a key is told."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core import exceptions as lc
from langchain_core.messages import AIMessage
from pydantic import ValidationError

from agents.models.contract import InvalidOutput
from agents.models.failures import MalformedResponse, model_error, outcome_of_error


class ApiError(Exception):
    """As SDKs raise it: a status, and the response that came with it."""

    def __init__(
        self, status: int, message: str = "", headers: dict[str, str] | None = None, body: Any = None
    ) -> None:
        super().__init__(message)
        self.body = body
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
        (lc.ModelAuthenticationError("x"), "misconfigured", False),
        (lc.ModelPermissionDeniedError("x"), "misconfigured", False),
        (lc.ModelNotFoundError("x"), "misconfigured", False),
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
        (ApiError(400, body={"error": {"code": "model_not_found"}}), "misconfigured", False),
        (ApiError(404), "misconfigured", False),
        (lc.ModelInvalidRequestError("exceeds the available context size"), "overflow", False),
        (ApiError(413), "overflow", False),
        (ApiError(422), "bad_request", False),
        (ApiError(401), "misconfigured", False),
        (ApiError(418), "unknown", False),
        (ReadTimeout("x"), "timeout", True),
        (TransportError("x"), "unavailable", True),
        (TimeoutError("x"), "timeout", True),
        (ConnectionResetError("x"), "unavailable", True),
        (RuntimeError("x"), "unknown", False),
        (ApiError(200, body={"type": "error", "error": {"type": "overloaded_error"}}), "unavailable", True),
        (ApiError(200, body={"error": {"type": "something_new"}}), "unknown", False),
        (ApiError(429, body={"code": "insufficient_quota"}), "refused", False),
        (ApiError(429, body={"code": "rate_limit_exceeded"}), "rate_limited", True),
        (MalformedResponse("x"), "unavailable", True),
        (json.JSONDecodeError("x", "{", 1), "unavailable", True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_errors_are_normalised(error: Exception, kind: str, retryable: bool) -> None:
    found = model_error(error)
    assert (found.error_type, found.retryable) == (kind, retryable)


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


def test_no_key_is_told() -> None:
    error = ApiError(401, "Incorrect API key provided: sk-1234567890")
    assert model_error(error, hide=("sk-1234567890",)).message == "ApiError: Incorrect API key provided: ***"
    long = model_error(ApiError(400, "x" * 495 + "sk-1234567890"), hide=("sk-1234567890",)).message
    assert "sk-" not in long
    assert len(long) == 500


def test_an_answer_that_has_not_the_form_of_one_is_no_error_of_the_provider() -> None:
    with pytest.raises(ValidationError) as raised:
        AIMessage(content="", tool_calls=[{"name": "a", "args": [1], "id": "b"}])
    outcome = outcome_of_error(raised.value)
    assert isinstance(outcome, InvalidOutput)
    assert "valid dictionary" in outcome.reason


class LengthFinishReasonError(Exception):
    """As OpenAI's client raises it for a parsed answer."""

    def __init__(self, completion: Any) -> None:
        super().__init__("Could not parse")
        self.completion = completion


@pytest.mark.parametrize(
    ("completion", "raw"),
    [
        (SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content="half"))]), "half"),
        (SimpleNamespace(choices=[]), ""),
        (None, ""),
    ],
)
def test_a_cut_answer_keeps_what_was_said(completion: Any, raw: str) -> None:
    outcome = outcome_of_error(LengthFinishReasonError(completion))
    assert outcome == InvalidOutput(
        raw=raw, reason="the answer is cut off at the model's output limit; answer shorter"
    )


def test_a_model_that_a_bad_request_says_is_not_there_is_absent() -> None:
    """Some servers with OpenAI's interface answer so; the same status of anything else is no matter of the model."""
    absent = model_error(ApiError(400, "no such model", body={"error": {"code": "model_not_found"}}))
    assert (absent.error_type, absent.cause) == ("misconfigured", "not_found")
    other = model_error(ApiError(400, "model x does not exist", body={"error": {"code": "invalid_value"}}))
    assert (other.error_type, other.cause) == ("bad_request", None)
