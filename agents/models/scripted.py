"""A chat model whose answers are written down beforehand. It ships: tests and demonstrations need no real model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, InvalidToolCall, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, PrivateAttr, TypeAdapter

CHARS_PER_TOKEN = 4
"""By which the scripted usage counts tokens: a round figure, the same everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Answer with this text, whether it parses or not."""

    text: str
    finish_reason: str = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class SayJson:
    """Answer with this value as JSON."""

    data: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTools:
    """Propose these calls, `(tool, arguments)`; a text argument stands for one that does not parse."""

    calls: tuple[tuple[str, Mapping[str, Any] | str], ...]
    text: str = ""
    ids: tuple[str | None, ...] = ()
    """The ids that the calls get, in their order; where it ends, `call-1`, `call-2`, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Raise this instead of answering."""

    error: Exception
    after: str = ""
    """What a stream says until then."""


Reply = Say | SayJson | CallTools | Fail
Messages = Sequence[BaseMessage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of a script."""

    reply: Reply | Callable[[Messages], Reply]
    when: Callable[[Messages], bool] | None = None
    """Which requests it is for; `None`: all."""
    times: int | None = None
    """How often it may be used; `None`: always."""


class UnscriptedCall(LookupError):
    """No rule is left for a request. A fault of the script: nobody catches it but the test."""


class ScriptedChatModel(BaseChatModel):
    """Answers each request by the first rule that is for it and not used up, and keeps what it was asked."""

    rules: tuple[Rule, ...] = ()
    model_name: str = "scripted"
    _used: list[int] = PrivateAttr(default_factory=list)
    _requests: list[tuple[BaseMessage, ...]] = PrivateAttr(default_factory=list)
    _options: list[Mapping[str, Any]] = PrivateAttr(default_factory=list)

    @classmethod
    def in_order(cls, *replies: Reply, model_name: str = "scripted") -> ScriptedChatModel:
        """Return a model that gives these replies one after the other, and then none."""
        return cls(rules=tuple(Rule(reply=reply, times=1) for reply in replies), model_name=model_name)

    @property
    def requests(self) -> tuple[tuple[BaseMessage, ...], ...]:
        """Every request so far, in order."""
        return tuple(self._requests)

    @property
    def options(self) -> tuple[Mapping[str, Any], ...]:
        """The arguments beside the messages (bound tools, response format) of every request, in order."""
        return tuple(self._options)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools on offer; they show in `options`, the script decides what is called."""
        offered = [convert_to_openai_tool(tool) for tool in tools]
        choice = {} if tool_choice is None else {"tool_choice": tool_choice}
        return self.bind(tools=offered, **choice, **kwargs)

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        method: Literal["json_schema", "json_mode", "function_calling"] = "json_schema",
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """Return the model with its text parsed as JSON, into `schema` where that is a type."""

        def parse(answer: BaseMessage) -> Any:
            data = json.loads(str(answer.text))
            return data if isinstance(schema, dict) else TypeAdapter(schema).validate_python(data)

        def with_raw(answer: BaseMessage) -> Any:
            try:
                return {"raw": answer, "parsed": parse(answer), "parsing_error": None}
            except ValueError as error:
                return {"raw": answer, "parsed": None, "parsing_error": error}

        return self.bind(method=method, **kwargs) | RunnableLambda(with_raw if include_raw else parse)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base class's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        reply = self._reply(messages, kwargs)
        if isinstance(reply, Fail):
            raise reply.error
        return ChatResult(generations=[ChatGeneration(message=self._counted(messages, reply))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base class's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages, kwargs)
        if isinstance(reply, Fail):
            yield from _pieces(reply.after)
            raise reply.error
        whole = self._counted(messages, reply)
        yield from _pieces(str(whole.content))
        proposed = [(call["name"], json.dumps(call["args"]), call["id"]) for call in whole.tool_calls]
        invalid = [(call["name"], call["args"], call["id"]) for call in whole.invalid_tool_calls]
        last = AIMessageChunk(
            content="",
            tool_call_chunks=[
                tool_call_chunk(name=name, args=args, id=given, index=index)
                for index, (name, args, given) in enumerate([*proposed, *invalid])
            ],
            response_metadata=whole.response_metadata,
            usage_metadata=whole.usage_metadata,
        )
        yield ChatGenerationChunk(message=last)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        # On the event loop, as `_agenerate`.
        for piece in self._stream(messages, stop, None, **kwargs):
            yield piece

    def _reply(self, messages: list[BaseMessage], options: Mapping[str, Any]) -> Reply:
        self._requests.append(tuple(messages))
        self._options.append(options)
        return self._next(messages)

    def _counted(self, messages: Messages, reply: Say | SayJson | CallTools) -> AIMessage:
        answer = _answer(reply)
        return AIMessage(
            content=answer.content,
            tool_calls=answer.tool_calls,
            invalid_tool_calls=answer.invalid_tool_calls,
            response_metadata={
                "model_name": self.model_name,
                "finish_reason": reply.finish_reason if isinstance(reply, Say) else "stop",
            },
            usage_metadata=_usage(messages, answer),
        )

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        # On the event loop and not in a thread: the order of answers is the order of requests.
        return self._generate(messages, stop, None, **kwargs)

    def _next(self, messages: Messages) -> Reply:
        self._used.extend([0] * (len(self.rules) - len(self._used)))
        for position, rule in enumerate(self.rules):
            if rule.times is not None and self._used[position] >= rule.times:
                continue
            if rule.when is None or rule.when(messages):
                self._used[position] += 1
                return rule.reply(messages) if callable(rule.reply) else rule.reply
        last = str(messages[-1].text)[:120] if messages else ""
        raise UnscriptedCall(
            f"no rule is left for request {len(self._requests)}, which ends {last!r}; {len(self.rules)} rules are "
            "scripted. Add a `Rule`."
        )


def _answer(reply: Say | SayJson | CallTools) -> AIMessage:
    match reply:
        case Say():
            return AIMessage(content=reply.text)
        case SayJson():
            return AIMessage(content=json.dumps(reply.data, ensure_ascii=False))
        case CallTools():
            proposed: list[ToolCall] = []
            invalid: list[InvalidToolCall] = []
            for number, (tool, arguments) in enumerate(reply.calls, 1):
                name = reply.ids[number - 1] if number <= len(reply.ids) else f"call-{number}"
                if isinstance(arguments, str):
                    error = "the arguments are no JSON object"
                    invalid.append(
                        InvalidToolCall(
                            name=tool, args=arguments, id=name, error=error, type="invalid_tool_call"
                        )
                    )
                else:
                    proposed.append(ToolCall(name=tool, args=dict(arguments), id=name, type="tool_call"))
            return AIMessage(content=reply.text, tool_calls=proposed, invalid_tool_calls=invalid)


def _pieces(text: str) -> Iterator[ChatGenerationChunk]:
    """Yield `text` in pieces of a token each, as the usage counts them."""
    for start in range(0, len(text), CHARS_PER_TOKEN):
        yield ChatGenerationChunk(message=AIMessageChunk(content=text[start : start + CHARS_PER_TOKEN]))


def _usage(messages: Messages, answer: AIMessage) -> UsageMetadata:
    asked = sum(len(str(message.content)) for message in messages)
    said = len(str(answer.content)) + sum(len(json.dumps(call["args"])) for call in answer.tool_calls)
    read, written = -(-asked // CHARS_PER_TOKEN), -(-said // CHARS_PER_TOKEN)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
