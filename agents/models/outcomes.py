"""What a LangChain chat model answered, as one of the outcomes of the contract.

Never followed: a refusal, what a content filter held back, and an answer that was cut off, also where a part of it
parses. Unknown tools are not sorted out here: that is for the broker.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from agents.models.action_protocol import read_actions
from agents.models.contract import (
    FinalAnswer,
    InvalidCall,
    InvalidOutput,
    ModelError,
    ModelOutcome,
    ModelRequest,
    ToolCalls,
    Usage,
)
from agents.models.failures import CUT, TOLD_CHARS
from agents.models.json_answers import Parsed, read_arguments, read_json_answer
from agents.models.tokens import EstimatedTokens, message_tokens, offer_tokens
from agents.tools.contract import ToolCall

ANSWER_TOOL: Final = "answer"
"""The tool by which a model that takes no schema answers in one, see the mode `function_calling`."""

_REFUSALS: Final = frozenset(
    {"refusal", "content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii"}
)
_CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"})
"""Reasons to stop, in the words of OpenAI, Anthropic, Google and Ollama, in lower case."""


def outcome_of(
    answer: BaseMessage,
    schema: Mapping[str, Any] | None,
    *,
    actions: bool = False,
    answer_tool: bool = False,
) -> ModelOutcome:
    """Return what `answer` is; ids of calls as the model gave them.

    `actions`: tools were told in words, so that calls are read from the text. `answer_tool`: a call of `ANSWER_TOOL`
    is the answer.
    """
    text = str(answer.text)
    if not isinstance(answer, AIMessage):
        return InvalidOutput(raw=text, reason=f"the model returned {type(answer).__name__}, not an answer")
    reason = stop_reason(answer)
    refusal = answer.additional_kwargs.get("refusal")
    if reason in _REFUSALS or refusal:
        told = str(refusal or text or reason)
        return ModelError(error_type="refused", message=told[:TOLD_CHARS], retryable=False)
    if reason in _CUT:
        return InvalidOutput(raw=text, reason=CUT)
    proposed = _proposed(answer, text)
    if answer_tool and proposed.calls and proposed.calls[0].tool == ANSWER_TOOL:
        return _final(json.dumps(dict(proposed.calls[0].arguments), ensure_ascii=False), schema)
    if proposed.calls:
        return proposed
    if proposed.invalid:
        told = "; ".join(f"the call of {bad.tool!r} does not parse: {bad.reason}" for bad in proposed.invalid)
        return InvalidOutput(raw="\n".join(bad.raw for bad in proposed.invalid), reason=told)
    return _of_text(text, schema, actions=actions)


def stop_reason(answer: AIMessage) -> str:
    """Return why the model stopped, in lower case; empty when it does not say."""
    metadata = answer.response_metadata
    incomplete = metadata.get("incomplete_details")
    if isinstance(incomplete, Mapping) and incomplete.get("reason"):
        return str(incomplete["reason"]).casefold()
    for name in ("finish_reason", "stop_reason", "done_reason", "status"):
        if metadata.get(name):
            return str(metadata[name]).casefold()
    return ""


def usage_of(answer: BaseMessage, name: str) -> Usage:
    """Return what `answer` says it cost; `name` where the provider does not say which model it was."""
    metadata = answer.response_metadata
    model = str(metadata.get("model_name") or metadata.get("model") or name)
    used = answer.usage_metadata if isinstance(answer, AIMessage) else None
    if used is None:
        return Usage(model=model)
    cached = used.get("input_token_details", {}).get("cache_read", 0)
    return Usage(
        model=model,
        input_tokens=used["input_tokens"],
        output_tokens=used["output_tokens"],
        cached_input_tokens=cached or 0,
    )


def estimated(usage: Usage, request: ModelRequest, answer: BaseMessage) -> Usage:
    """Return `usage` with tokens counted from the texts by `EstimatedTokens`, and said to be so."""
    counter = EstimatedTokens()
    schema = "" if request.output_schema is None else json.dumps(dict(request.output_schema), default=str)
    asked = sum(message_tokens(message, counter) for message in request.messages) + counter.count(schema)
    said = [str(answer.text)]
    if isinstance(answer, AIMessage):
        said += [f"{call['name']} {json.dumps(call['args'], default=str)}" for call in answer.tool_calls]
        said += [f"{bad.get('name')} {bad.get('args')}" for bad in answer.invalid_tool_calls]
    return replace(
        usage,
        input_tokens=asked + offer_tokens(request.tools, counter),
        output_tokens=sum(counter.count(text) for text in said),
        estimated=True,
    )


def has_calls(answer: BaseMessage) -> bool:
    """Return whether `answer` holds calls in the provider's own form, whether they parse or not."""
    if isinstance(answer, AIMessageChunk) and answer.tool_call_chunks:
        return True
    return isinstance(answer, AIMessage) and bool(answer.tool_calls or answer.invalid_tool_calls)


def is_plain_text(outcome: ModelOutcome) -> bool:
    """Return whether a whole answer is words where calls or a structured answer were asked for."""
    match outcome:
        case FinalAnswer(text=text, data=None):
            return bool(text.strip())
        case InvalidOutput(raw=raw, reason=reason):
            return bool(raw.strip()) and reason != CUT
        case _:
            return False


def called_in_words(outcome: ModelOutcome, offered: Collection[str]) -> ToolCalls | None:
    """Return the calls that a plain text writes in JSON; `None`: none, or of a tool that is not among the `offered`.

    Stricter than where tools are told in words: JSON in an answer may be anything there.
    """
    text = outcome.text if isinstance(outcome, FinalAnswer) else ""
    text = outcome.raw if isinstance(outcome, InvalidOutput) else text
    found = read_actions(text)
    if not isinstance(found, ToolCalls) or any(call.tool not in offered for call in found.calls):
        return None
    return found


def _of_text(text: str, schema: Mapping[str, Any] | None, *, actions: bool) -> ModelOutcome:
    calls = read_actions(text) if actions else None
    if isinstance(calls, ToolCalls):
        return calls
    answer = _final(text, schema)
    # Something like a call that does not parse, unless it is what was asked for.
    return calls if calls is not None and (schema is None or isinstance(answer, InvalidOutput)) else answer


def _final(text: str, schema: Mapping[str, Any] | None) -> ModelOutcome:
    if not text.strip():
        return InvalidOutput(raw=text, reason="the answer is empty")
    if schema is None:
        return FinalAnswer(text=text)
    read = read_json_answer(text, schema)
    if isinstance(read, Parsed):
        return FinalAnswer(text=text, data=read.data)
    return InvalidOutput(raw=text, reason=read.reason)


def _proposed(answer: AIMessage, text: str) -> ToolCalls:
    if isinstance(answer, AIMessageChunk) and answer.tool_call_chunks:
        return _streamed(answer, text)
    calls = [_call(call["name"], call["args"], call.get("id")) for call in answer.tool_calls]
    invalid: list[InvalidCall] = []
    for bad in answer.invalid_tool_calls:
        name, raw, given = bad.get("name") or "", str(bad.get("args") or ""), bad.get("id") or ""
        arguments = read_arguments(raw)
        if arguments is not None:
            calls.append(_call(name, arguments, given))
        else:
            invalid.append(InvalidCall(tool=name, raw=raw, reason=_short(bad.get("error")), id=given))
    return ToolCalls(calls=tuple(calls), invalid=tuple(invalid), text=text)


def _streamed(answer: AIMessageChunk, text: str) -> ToolCalls:
    """Read the calls of a stream from their text: LangChain completes a JSON value that was cut off."""
    calls: list[ToolCall] = []
    invalid: list[InvalidCall] = []
    for chunk in answer.tool_call_chunks:
        name, raw, given = chunk.get("name") or "", chunk.get("args") or "{}", chunk.get("id") or ""
        try:
            arguments = json.loads(raw, strict=False)
        except ValueError as error:
            arguments = read_arguments(raw)
            if arguments is None:
                invalid.append(InvalidCall(tool=name, raw=raw, reason=f"not valid JSON: {error}", id=given))
                continue
        if isinstance(arguments, dict):
            calls.append(_call(name, arguments, given))
        else:
            invalid.append(InvalidCall(tool=name, raw=raw, reason=not_an_object(arguments), id=given))
    return ToolCalls(calls=tuple(calls), invalid=tuple(invalid), text=text)


def not_an_object(arguments: object) -> str:
    """Return what is wrong with arguments that are some other JSON value.

    >>> not_an_object([1])
    'arguments is [1]; accepted: a JSON object'
    """
    return f"arguments is {json.dumps(arguments, ensure_ascii=False):.60}; accepted: a JSON object"


def _call(name: str, arguments: Mapping[str, Any], given: str | None) -> ToolCall:
    return ToolCall(tool=name, arguments=arguments, origin="parametric", taint="untrusted", id=given or "")


def _short(error: str | None) -> str:
    """LangChain's words without the arguments, which are told beside them, and without its link."""
    told = " ".join((error or "").partition("\nFor troubleshooting")[0].split())
    found = told.rpartition("Received JSONDecodeError ")
    return f"not valid JSON: {found[2]}" if found[1] else told or "arguments are no JSON object"
