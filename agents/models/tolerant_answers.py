"""Answers in OpenAI's and Anthropic's form as servers write them that only nearly follow it.

LangChain gives up a whole answer for one call whose arguments are another JSON value than an object, and with it the
calls beside it that are in order; and it does not hand on a refusal that is streamed.
"""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, InvalidToolCall
from langchain_core.outputs import ChatResult

from agents.models.failures import MalformedResponse, NoModelServer
from agents.models.outcomes import not_an_object


def tolerant_openai(kind: type[Any], *, foreign: bool = False) -> type[Any]:
    """Return `kind`, a chat model on OpenAI's client, as one that keeps the calls which are in order.

    What is no completion at all makes it raise `MalformedResponse`. At a `foreign` server the length of an answer is
    limited by `max_tokens`: OpenAI's newer word for it is passed over by some (llama.cpp's Python server writes on to
    the end of its context) and refused by others.
    """

    class Tolerant(kind):  # type: ignore[misc]  # a class that is known when it runs
        def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            payload: dict[str, Any] = super()._get_request_payload(*args, **kwargs)
            if foreign and "max_completion_tokens" in payload:
                payload["max_tokens"] = payload.pop("max_completion_tokens")
            return payload

        def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult:
            _refuse_text(response)
            body = response if isinstance(response, dict) else _as_json(response)
            bad = _take_bad_calls(body)
            try:
                result: ChatResult = super()._create_chat_result(body, generation_info)
            except (TypeError, LookupError, AttributeError, ValueError) as error:
                if isinstance(body, dict) and isinstance(body.get("error"), dict):
                    raise
                raise MalformedResponse(f"the answer is no chat completion: {error}") from error
            if not result.generations:
                raise MalformedResponse("the answer holds no choice")
            for position, calls in bad.items():
                message = result.generations[position].message
                if isinstance(message, AIMessage):
                    message.invalid_tool_calls.extend(calls)
            return result

        def _convert_chunk_to_generation_chunk(self, chunk: Any, *args: Any, **kwargs: Any) -> Any:
            made = super()._convert_chunk_to_generation_chunk(chunk, *args, **kwargs)
            choices = chunk.get("choices") if isinstance(chunk, dict) else None
            delta = choices[0].get("delta") if choices else None
            if made is not None and isinstance(delta, dict) and delta.get("refusal"):
                made.message.additional_kwargs["refusal"] = delta["refusal"]
            return made

    Tolerant.__name__ = Tolerant.__qualname__ = kind.__name__
    return Tolerant


def tolerant_anthropic(kind: type[Any]) -> type[Any]:
    """Return `kind`, the chat model on Anthropic's client, as one that keeps the calls which are in order.

    What is no message at all makes it raise `MalformedResponse`.
    """

    class Tolerant(kind):  # type: ignore[misc]  # a class that is known when it runs
        def _format_output(self, data: Any, **kwargs: Any) -> ChatResult:
            _refuse_text(data)
            blocks = getattr(data, "content", None)
            if not isinstance(blocks, list):
                raise MalformedResponse(f"the answer is no message: {data!r:.80}")
            bad = [block for block in blocks if not isinstance(getattr(block, "input", {}), dict)]
            kept = [block for block in blocks if block not in bad]
            result: ChatResult = super()._format_output(data.model_copy(update={"content": kept}), **kwargs)
            message = result.generations[0].message
            if isinstance(message, AIMessage):
                message.invalid_tool_calls.extend(_invalid(b.name, b.input, b.id) for b in bad)
            return result

    Tolerant.__name__ = Tolerant.__qualname__ = kind.__name__
    return Tolerant


def _refuse_text(response: Any) -> None:
    """Raise for a body that its server does not call JSON: the clients hand it over as a text.

    A page or a text is `NoModelServer`; an empty one says nothing of the address and is `MalformedResponse`.
    """
    if not isinstance(response, str):
        return
    if not response.strip():
        raise MalformedResponse("the answer is empty")
    what = "a web page" if response.lstrip().startswith("<") else "text instead of JSON"
    raise NoModelServer(f"{what} came: {' '.join(response.split())[:80]!r}")


def _as_json(response: Any) -> Any:
    dump = getattr(response, "model_dump", None)
    # Without warnings: values of an unexpected type are what this is about.
    return dump(warnings=False) if dump is not None else response


def _take_bad_calls(body: Any) -> dict[int, list[InvalidToolCall]]:
    """Take the calls out of `body` whose arguments are no object, by the position of their choice."""
    taken: dict[int, list[InvalidToolCall]] = {}
    choices = body.get("choices") if isinstance(body, dict) else None
    for position, choice in enumerate(choices if isinstance(choices, list) else ()):
        message = choice.get("message") if isinstance(choice, dict) else None
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(calls, list):
            continue
        kept = []
        for call in calls:
            found = _bad(call)
            if found is None:
                kept.append(call)
            else:
                taken.setdefault(position, []).append(found)
        message["tool_calls"] = kept or None
    return taken


def _bad(call: Any) -> InvalidToolCall | None:
    """Return the invalid call that `call` is, `None` where LangChain reads it; an object as such is made a text."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return None
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        function["arguments"] = json.dumps(arguments, ensure_ascii=False)
        return None
    value = arguments
    if isinstance(arguments, str) and arguments.strip():
        try:
            value = json.loads(arguments, strict=False)
        except ValueError:
            return None
    if value is None or isinstance(value, dict) or value == "":
        return None
    return _invalid(function.get("name"), value, call.get("id"))


def _invalid(name: str | None, arguments: Any, given: str | None) -> InvalidToolCall:
    shown = json.dumps(arguments, ensure_ascii=False)
    error = not_an_object(arguments)
    return InvalidToolCall(type="invalid_tool_call", name=name, args=shown, id=given, error=error)
