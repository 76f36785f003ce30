"""Any LangChain chat model behind `ChatPort`: one call, one normalised outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from langchain_core import exceptions as lc
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from agents.models.contract import (
    FinalAnswer,
    InvalidOutput,
    Message,
    ModelError,
    ModelOutcome,
    ModelReply,
    ModelRequest,
    ToolCalls,
    Usage,
)
from agents.models.json_answers import Parsed, read_json_answer
from agents.tools.contract import ToolCall

SchemaMode = Literal["prompt", "json_schema", "json_mode"]
"""How a model is told the schema of a structured answer.

- `prompt`: in words; every model understands it.
- `json_schema`: in words, and as `response_format` with the schema, where the provider enforces it.
- `json_mode`: in words, and as `response_format` "some JSON object".
"""

_Kind = Literal["timeout", "rate_limited", "unavailable", "bad_request", "refused", "overflow", "unknown"]

RETRYABLE: Final[frozenset[_Kind]] = frozenset({"timeout", "rate_limited", "unavailable"})
"""Failures that have nothing to do with the input: class A (semantics 5)."""

_BY_CLASS: Final[Sequence[tuple[type[BaseException], _Kind]]] = (
    (lc.ContextOverflowError, "overflow"),
    (lc.ModelRefusalError, "refused"),
    (lc.ModelPermissionDeniedError, "refused"),
    (lc.ModelAuthenticationError, "refused"),
    (lc.ModelNotFoundError, "bad_request"),
    (lc.ModelInvalidRequestError, "bad_request"),
    (lc.ModelRateLimitError, "rate_limited"),
    (lc.ModelTimeoutError, "timeout"),
    (lc.ModelConnectionError, "unavailable"),
    (lc.ModelAPIError, "unavailable"),
    (TimeoutError, "timeout"),
    (ConnectionError, "unavailable"),
)
_BY_STATUS: Final[Mapping[int, _Kind]] = {
    400: "bad_request",
    401: "refused",
    403: "refused",
    404: "bad_request",
    408: "timeout",
    409: "unavailable",
    413: "overflow",
    422: "bad_request",
    429: "rate_limited",
}
_BY_NAME: Final[Mapping[str, _Kind]] = {
    "TimeoutException": "timeout",
    "TransportError": "unavailable",
    "NetworkError": "unavailable",
    "APITimeoutError": "timeout",
    "APIConnectionError": "unavailable",
}
"""Transport errors of clients that we do not import (httpx and clients built on it), by the name of a base class."""

_OVERFLOW_WORDS: Final = (
    "context length",
    "context_length",
    "maximum context",
    "too many tokens",
    "context window",
)
_REFUSAL_REASONS: Final = frozenset({"refusal", "content_filter", "safety"})
_CUT_REASONS: Final = frozenset({"length", "max_tokens", "max_output_tokens"})


@dataclass(frozen=True, slots=True)
class LangChainChat:
    """Adapts a `BaseChatModel`; raises `ValueError` for one that retries by itself.

    Retries are decided and recorded, not hidden: a client that tries three times spends up to three times the budget.
    """

    model: BaseChatModel
    name: str
    schema_mode: SchemaMode = "prompt"
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of every call, such as `temperature`."""

    def __post_init__(self) -> None:
        retries = getattr(self.model, "max_retries", 0)
        if retries != 0:
            raise ValueError(
                f"the chat model {self.name!r} has max_retries={retries!r}; accepted: 0. Build it with max_retries=0: "
                "retries are decided and recorded by the run"
            )

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Perform one call; see `ChatPort.complete`."""
        messages = [_message(message) for message in request.messages]
        options = dict(self.options)
        if request.output_schema is not None:
            messages.append(SystemMessage(content=schema_words(request.output_schema)))
            options.update(_response_format(self.schema_mode, request.output_schema))
        try:
            answer = await self.model.ainvoke(messages, **options)
        except Exception as error:  # noqa: BLE001 - providers raise anything; the outcome names what it was
            return ModelReply(outcome=model_error(error), usage=Usage(model=self.name))
        return ModelReply(outcome=_outcome(answer, request.output_schema), usage=_usage(answer, self.name))


def schema_words(schema: Mapping[str, Any]) -> str:
    """Return the words that ask for a structured answer; for the machine, hence in one language."""
    shown = json.dumps(schema, ensure_ascii=False, sort_keys=True)
    return f"Answer with one JSON value that fits this JSON schema, and nothing else:\n{shown}"


def model_error(error: BaseException) -> ModelError:
    """Normalise what a chat model or its client raised.

    LangChain's own classes first, then the HTTP status, then the name of a transport error; anything else is
    `unknown` and not retryable.
    """
    kind = _kind_of(error)
    return ModelError(
        error_type=kind,
        message=f"{type(error).__name__}: {error}"[:500],
        retryable=kind in RETRYABLE,
        retry_after_s=_retry_after(error) if kind in RETRYABLE else None,
    )


def _kind_of(error: BaseException) -> _Kind:
    for known, kind in _BY_CLASS:
        if isinstance(error, known):
            return kind
    status = _status(error)
    if status is not None:
        kind = "unavailable" if status >= 500 else _BY_STATUS.get(status, "unknown")
        told = str(error).casefold()
        if kind == "bad_request" and any(word in told for word in _OVERFLOW_WORDS):
            return "overflow"
        return kind
    for base in type(error).__mro__:
        if base.__name__ in _BY_NAME:
            return _BY_NAME[base.__name__]
    return "unknown"


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    for value in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


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


def _message(message: Message) -> BaseMessage:
    match message.role:
        case "system":
            return SystemMessage(content=message.content)
        case "assistant":
            return AIMessage(content=message.content)
        case "user" | "tool":
            # A tool message needs the id of its call; results are put into the prompt as data instead.
            return HumanMessage(content=message.content)


def _response_format(mode: SchemaMode, schema: Mapping[str, Any]) -> dict[str, Any]:
    match mode:
        case "prompt":
            return {}
        case "json_schema":
            described = {"name": "answer", "schema": dict(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": described}}
        case "json_mode":
            return {"response_format": {"type": "json_object"}}


def _outcome(answer: BaseMessage, schema: Mapping[str, Any] | None) -> ModelOutcome:
    text = str(answer.text)
    if not isinstance(answer, AIMessage):
        return InvalidOutput(raw=text, reason=f"the model returned {type(answer).__name__}, not an answer")
    reason = _stop_reason(answer)
    if reason in _REFUSAL_REASONS or answer.additional_kwargs.get("refusal"):
        told = str(answer.additional_kwargs.get("refusal") or text or reason)
        return ModelError(error_type="refused", message=told[:500], retryable=False)
    if answer.tool_calls:
        # Calls that do parse are proposed even if a sibling does not.
        calls = tuple(
            ToolCall(tool=call["name"], arguments=call["args"], origin="parametric", taint="untrusted")
            for call in answer.tool_calls
        )
        return ToolCalls(calls=calls)
    if answer.invalid_tool_calls:
        first = answer.invalid_tool_calls[0]
        problem = first.get("error") or "arguments are no JSON object"
        told = f"the call of {first.get('name')!r} does not parse: {problem}"
        return InvalidOutput(raw=str(first.get("args")), reason=told)
    return _final(text, schema, cut=reason in _CUT_REASONS)


def _final(text: str, schema: Mapping[str, Any] | None, *, cut: bool) -> ModelOutcome:
    if schema is not None:
        read = read_json_answer(text, schema)
        if isinstance(read, Parsed):
            return FinalAnswer(text=text, data=read.data)
        return InvalidOutput(raw=text, reason=read.reason)
    if not text.strip():
        return InvalidOutput(raw=text, reason="the answer is empty")
    if cut:
        return InvalidOutput(raw=text, reason="the answer is cut off at the model's output limit")
    return FinalAnswer(text=text)


def _stop_reason(answer: AIMessage) -> str:
    metadata = answer.response_metadata
    return str(metadata.get("finish_reason") or metadata.get("stop_reason") or "").casefold()


def _usage(answer: BaseMessage, name: str) -> Usage:
    metadata = answer.response_metadata
    model = str(metadata.get("model_name") or metadata.get("model") or name)
    used = answer.usage_metadata if isinstance(answer, AIMessage) else None
    if used is None:
        return Usage(model=model)
    return Usage(model=model, input_tokens=used["input_tokens"], output_tokens=used["output_tokens"])
