"""What a chat model or its client raised, as one of the outcomes of the contract."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core import exceptions as lc
from pydantic import ValidationError

from agents.models.contract import InvalidOutput, ModelError, ModelErrorCause, ModelErrorType, ModelOutcome

RETRYABLE: Final[frozenset[ModelErrorType]] = frozenset({"timeout", "rate_limited", "unavailable"})
"""Failures that have nothing to do with the input: class A (semantics 5)."""

TOLD_CHARS: Final = 500
"""Of an error's text that is kept: some providers send a whole page."""

CUT: Final = "the answer is cut off at the model's output limit; answer shorter"


class MalformedResponse(ConnectionError):
    """A provider answered with success, and with something that is no chat completion."""


class NotStreamed(MalformedResponse):
    """A server was asked for a stream and gave none."""


class NoModelServer(MalformedResponse):
    """A page came, such as a browser is given: what answers at this address has no chat model's interface."""


_BY_CLASS: Final[Sequence[tuple[type[BaseException], ModelErrorType]]] = (
    (lc.ContextOverflowError, "overflow"),
    (lc.ModelRefusalError, "refused"),
    (lc.ModelPermissionDeniedError, "misconfigured"),
    (lc.ModelAuthenticationError, "misconfigured"),
    (lc.ModelNotFoundError, "misconfigured"),
    (lc.ModelInvalidRequestError, "bad_request"),
    (lc.ModelRateLimitError, "rate_limited"),
    (lc.ModelTimeoutError, "timeout"),
    (lc.ModelConnectionError, "unavailable"),
    (lc.ModelAPIError, "unavailable"),
    (NoModelServer, "misconfigured"),
    (TimeoutError, "timeout"),
    (ConnectionError, "unavailable"),
    (json.JSONDecodeError, "unavailable"),
)
_BY_STATUS: Final[Mapping[int, ModelErrorType]] = {
    400: "bad_request",
    401: "misconfigured",
    403: "misconfigured",
    404: "misconfigured",
    408: "timeout",
    409: "unavailable",
    413: "overflow",
    422: "bad_request",
    429: "rate_limited",
}
_BY_NAME: Final[Mapping[str, ModelErrorType]] = {
    "TimeoutException": "timeout",
    "TransportError": "unavailable",
    "NetworkError": "unavailable",
    "APITimeoutError": "timeout",
    "APIConnectionError": "unavailable",
    "APIResponseValidationError": "unavailable",
    "ContentFilterFinishReasonError": "refused",
}
"""Errors of clients that we do not import (httpx and clients built on it), by the name of a base class."""

_CONNECTION_NAMES: Final = frozenset({"APIConnectionError", "TransportError", "NetworkError"})
"""Of them, those that say that the server could not be reached, or that the connection broke."""

_NO_SUCH_MODEL: Final = "model_not_found"
"""OpenAI's code for it, whatever the status."""

_BY_BODY: Final[Mapping[str, ModelErrorType]] = {
    "overloaded_error": "unavailable",
    "api_error": "unavailable",
    "server_error": "unavailable",
    "timeout_error": "timeout",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "insufficient_quota": "refused",
    _NO_SUCH_MODEL: "misconfigured",
}
"""Errors that come in the body of a stream, after the status said that all is well; a quota that is used up, which
OpenAI reports as a rate limit although waiting does not help; and a model that does not exist, which some servers with
its interface call a bad request."""

_OVERFLOW_WORDS: Final = (
    "context length",
    "context_length",
    "context size",
    "context_size",
    "context window",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
)


def outcome_of_error(error: Exception, *, hide: Sequence[str] = ()) -> ModelOutcome:
    """Return what `error` says of the answer: most are a `ModelError`, some an answer that can't be used.

    Every text of `hide` (keys) is taken out of what is told.
    """
    if any(base.__name__ == "LengthFinishReasonError" for base in type(error).__mro__):
        return InvalidOutput(raw=_cut_text(error), reason=CUT)
    if isinstance(error, ValidationError | lc.OutputParserException):
        told = hidden(" ".join(str(error).split()), hide)[:TOLD_CHARS]
        return InvalidOutput(raw="", reason=f"the answer does not have the form of one: {told}")
    return model_error(error, hide=hide)


def model_error(error: BaseException, *, hide: Sequence[str] = ()) -> ModelError:
    """Normalise what a chat model or its client raised.

    LangChain's own classes first, then the HTTP status, then the name of a transport error, then the type that the
    provider gave it; anything else is `unknown` and not retryable.
    """
    kind = _kind_of(error)
    asked_s = _retry_after(error) if kind in RETRYABLE else None
    message = hidden(_said(error), hide)[:TOLD_CHARS]
    return ModelError(
        cause=cause_of(error, kind),
        error_type=kind,
        message=f"{message} (asks to wait {asked_s:.0f} s)" if asked_s else message,
        retryable=kind in RETRYABLE,
        retry_after_s=asked_s,
    )


def cause_of(error: BaseException, kind: ModelErrorType) -> ModelErrorCause | None:
    """Return what a person could remove of an error of this `kind`; `None` where nothing is known of it."""
    if isinstance(error, MalformedResponse | json.JSONDecodeError):
        return "no_completion"
    if kind == "misconfigured":
        is_absent = isinstance(error, lc.ModelNotFoundError) or status_of(error) == 404
        is_absent = is_absent or _NO_SUCH_MODEL in _body_codes(error)
        return "not_found" if is_absent else "key_refused"
    if kind == "unavailable" and status_of(error) is None:
        names = {base.__name__ for base in type(error).__mro__}
        if isinstance(error, ConnectionError | lc.ModelConnectionError) or names & _CONNECTION_NAMES:
            return "no_connection"
    return None


def hidden(text: str, secrets: Sequence[str]) -> str:
    """Return `text` with every one of `secrets` as stars: servers echo the key that they refuse.

    >>> hidden("no such key sk-12345678", ["sk-12345678", ""])
    'no such key ***'
    """
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    return text


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that came with `error`."""
    response = getattr(error, "response", None)
    for value in (
        getattr(error, "status_code", None),
        getattr(response, "status_code", None),
        getattr(error, "code", None),
    ):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _said(error: BaseException) -> str:
    if isinstance(error, MalformedResponse):
        return str(error)
    if isinstance(error, json.JSONDecodeError):
        return f"the answer is no JSON: {error}" if error.doc.strip() else "the answer is empty"
    return f"{type(error).__name__}: {error}"


def _kind_of(error: BaseException) -> ModelErrorType:
    kind = _first_guess(error)
    if kind == "bad_request" and any(word in str(error).casefold() for word in _OVERFLOW_WORDS):
        return "overflow"
    if kind in {"unknown", "rate_limited", "bad_request"}:
        return _by_body(error) or kind
    return kind


def _first_guess(error: BaseException) -> ModelErrorType:
    for known, kind in _BY_CLASS:
        if isinstance(error, known):
            return kind
    status = status_of(error)
    if status is not None and status >= 400:
        return "unavailable" if status >= 500 else _BY_STATUS.get(status, "unknown")
    for base in type(error).__mro__:
        if base.__name__ in _BY_NAME:
            return _BY_NAME[base.__name__]
    return "unknown"


def _by_body(error: BaseException) -> ModelErrorType | None:
    return next((_BY_BODY[name] for name in _body_codes(error) if name in _BY_BODY), None)


def _body_codes(error: BaseException) -> tuple[str, ...]:
    """Return what the body of an error calls it: its code, its type."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inner, Mapping):
        return ()
    return tuple(name for name in (inner.get("code"), inner.get("type")) if isinstance(name, str))


def _retry_after(error: BaseException) -> float | None:
    """Return the seconds of a `Retry-After` header; a date in it is left to the back-off."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return None
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _cut_text(error: Exception) -> str:
    """What was said until the limit, as the OpenAI client hands it over with its error."""
    completion: Any = getattr(error, "completion", None)
    try:
        return str(completion.choices[0].message.content or "")
    except (AttributeError, LookupError, TypeError):
        return ""
