"""Any LangChain chat model behind `ChatPort`: one call, one normalised outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables import Runnable

from agents.models.action_protocol import action_words, call_schema
from agents.models.call_ids import with_unique_ids
from agents.models.contract import ModelError, ModelOutcome, ModelReply, ModelRequest, ToolCalls, Usage
from agents.models.failures import MalformedResponse, NotStreamed, outcome_of_error
from agents.models.forms import (
    Dialect,
    Form,
    SchemaMode,
    ToolMode,
    answer_tool,
    bound_tools,
    forms_of,
    length_options,
    refused_part,
    schema_options,
    schema_words,
)
from agents.models.outcomes import (
    ANSWER_TOOL,
    called_in_words,
    estimated,
    has_calls,
    is_plain_text,
    outcome_of,
    stop_reason,
    usage_of,
)
from agents.models.ports import Told
from agents.models.prices import NO_PRICES, Prices, cost_of
from agents.models.sent_messages import sent_messages

_Part = Literal["tools", "schema"]
_PARTS: Final[tuple[_Part, ...]] = ("tools", "schema")
_Refusal = tuple[str, str]
"""How a schema or tools were told, and which ones."""
_Learnt = Literal["calls_natively", "ignores_tools", "gives_no_stream"]
"""What the answers to native tools said of the model (the first beats the second), and its server of streams."""
_NO_PIECES: Final = "No generation chunks were returned"
"""What LangChain says of a stream without a single piece: of any body, in fact, that holds no server-sent event."""


class _ListenerBroke(Exception):
    """Whoever is told of the pieces broke: no fault of the model's."""

    def __init__(self, error: Exception) -> None:
        self.error = error


@dataclass(frozen=True, slots=True)
class LangChainChat:
    """Adapts a `BaseChatModel`; raises `ValueError` for one that retries by itself.

    Retries are decided and recorded, not hidden: a client that tries three times spends up to three times the budget.

    The one request that is sent again is one whose form the provider refuses (a response format, tools): no model has
    seen it and nothing was generated. `complete` then sends the next of the declared forms at once, counts it in
    `Usage.requests`, and remembers the refusal for as long as this object lives.

    Some servers take native tools and show them to no model. A model that answers tools with plain text, of which no
    native call was ever seen, is therefore told them in the next declared form from the next request on; `means` says
    in which. Until it made one, text that calls an offered tool in the words of `agents.models.action_protocol` is
    read as the call with native tools, too; afterwards such a text may be a quote.

    A server that answers a request for a stream without one is asked for whole answers from the next request on.
    """

    model: BaseChatModel
    name: str
    schema_modes: tuple[SchemaMode, ...] = ("prompt",)
    """How the schema of an answer is told, the preferred mode first."""
    tool_modes: tuple[ToolMode, ...] = ("native", "json")
    """How tools are told, the preferred mode first."""
    dialect: Dialect = "openai"
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of every call, such as `temperature`; a length that stands here beats the request's."""
    prices: Prices = NO_PRICES
    address: str = ""
    """Of the server, for errors that name it."""
    hide: tuple[str, ...] = field(default=(), repr=False)
    """Texts that are taken out of whatever an error says: the key."""
    now: Callable[[], float] = time.monotonic
    """Seconds, for `ModelReply.elapsed_ms`."""
    _refused: set[_Refusal] = field(default_factory=set, repr=False, compare=False)
    _learnt: set[_Learnt] = field(default_factory=set, repr=False, compare=False)

    def __post_init__(self) -> None:
        retries = getattr(self.model, "max_retries", 0)
        if retries != 0:
            raise ValueError(
                f"the chat model {self.name!r} has max_retries={retries!r}; accepted: 0. Build it with max_retries=0: "
                "retries are decided and recorded by the run"
            )

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        """Perform one call; see `ChatPort.complete`."""
        started = self.now()
        declared = self._forms(request)
        forms = [form for form in declared if not self._is_refused(request, form)] or [declared[-1]]
        if "ignores_tools" in self._learnt:
            forms = [form for form in forms if form.tools != "native"] or forms
        usage = Usage(model=self.name)
        sent = 0
        while True:
            form, sent = forms.pop(0), sent + 1
            try:
                answer = await self._answer(request, form, told)
            except _ListenerBroke as broken:
                raise broken.error from None
            except Exception as error:  # noqa: BLE001 - providers raise anything; the outcome names what it was
                part = refused_part(error, form)
                if part is not None:
                    self._refused.add(_refusal(request, form, part))
                    forms = [other for other in forms if not self._is_refused(request, other)]
                    if forms:
                        continue
                outcome = self._failed(error)
            else:
                usage, outcome = self._read(answer, request, form)
            break
        usage = replace(usage, requests=sent)
        usage = replace(usage, cost_usd=cost_of(replace(usage, model=self.name), self.prices))
        elapsed_ms = (self.now() - started) * 1000.0
        return ModelReply(outcome=outcome, usage=usage, elapsed_ms=elapsed_ms, means=form.means)

    def _failed(self, error: Exception) -> ModelOutcome:
        outcome = outcome_of_error(error, hide=self.hide)
        if not isinstance(outcome, ModelError):
            return outcome
        if isinstance(error, NotStreamed):
            self._learnt.add("gives_no_stream")
        elif outcome.cause == "no_completion":
            # Whole answers are no better: it was not the stream.
            self._learnt.discard("gives_no_stream")
        return replace(outcome, address=self.address)

    def _forms(self, request: ModelRequest) -> tuple[Form, ...]:
        schema_modes, tool_modes = self.schema_modes, self.tool_modes
        if type(self.model).bind_tools is BaseChatModel.bind_tools:
            # The class of the model has no tool calling, whatever is declared.
            schema_modes = tuple(mode for mode in schema_modes if mode != "function_calling") or ("prompt",)
            tool_modes = ("json",)
        return forms_of(request, schema_modes, tool_modes, self.dialect)

    def _is_refused(self, request: ModelRequest, form: Form) -> bool:
        return any(_refusal(request, form, part) in self._refused for part in _PARTS)

    def _read(self, answer: BaseMessage, request: ModelRequest, form: Form) -> tuple[Usage, ModelOutcome]:
        outcome = outcome_of(
            answer,
            request.output_schema,
            actions=form.tools == "json",
            answer_tool=form.schema == "function_calling",
        )
        if form.tools == "native":
            if has_calls(answer):
                self._learnt.add("calls_natively")
                self._learnt.discard("ignores_tools")
            elif is_plain_text(outcome) and "calls_natively" not in self._learnt:
                self._learnt.add("ignores_tools")
                outcome = called_in_words(outcome, [tool.name for tool in request.tools]) or outcome
        if isinstance(outcome, ToolCalls):
            outcome = with_unique_ids(outcome, request.messages)
        usage = usage_of(answer, self.name)
        return usage if usage.input_tokens or usage.output_tokens else estimated(
            usage, request, answer
        ), outcome

    async def _answer(self, request: ModelRequest, form: Form, told: Told | None) -> BaseMessage:
        words = []
        if form.tools == "json":
            words.append(action_words(request.tools))
        if request.output_schema is not None:
            words.append(schema_words(request.output_schema))
        messages = sent_messages(request.messages, words, native=form.tools == "native")
        model = self._prepared(request, form)
        if told is None:
            return await model.ainvoke(messages)
        if not _streams(self.model) or "gives_no_stream" in self._learnt:
            answer = await model.ainvoke(messages)
            if answer.text:
                _tell(told, str(answer.text))
            return answer
        return await _streamed(model, messages, told)

    def _prepared(self, request: ModelRequest, form: Form) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with the options of one call."""
        options = {**length_options(request.max_output_tokens, self.dialect), **self.options}
        model = self.model
        if self.dialect == "ollama" and request.max_output_tokens is not None:
            model = model.model_copy(update={"num_predict": request.max_output_tokens})
        schema = request.output_schema
        if schema is None and form.schema is not None:
            schema = call_schema(request.tools)
        if schema is not None:
            said = schema_options(form.schema, schema, self.dialect)
            if "extra_body" in said:
                said["extra_body"] = {**options.get("extra_body", {}), **said["extra_body"]}
            options.update(said)
        if form.tools == "native":
            return model.bind_tools(bound_tools(request.tools), **options)
        if form.schema == "function_calling" and request.output_schema is not None:
            tool = answer_tool(request.output_schema)
            return model.bind_tools([tool], tool_choice=ANSWER_TOOL, **options)
        return model.bind(**options)


def _streams(model: BaseChatModel) -> bool:
    """Whether `model` can tell its answer piece by piece; others give it whole."""
    kind = type(model)
    own = kind._astream is not BaseChatModel._astream or kind._stream is not BaseChatModel._stream
    return own and model.disable_streaming is not True


async def _streamed(
    model: Runnable[LanguageModelInput, AIMessage], messages: list[BaseMessage], told: Told
) -> AIMessage:
    """Return the whole answer.

    Raises `MalformedResponse` for a stream that ends without saying why, `NotStreamed` where there was none.
    """
    whole: AIMessageChunk | None = None
    stream = model.astream(messages)
    try:
        async for piece in stream:
            if not isinstance(piece, AIMessageChunk):
                raise MalformedResponse(
                    f"the stream holds a {type(piece).__name__}; accepted: AIMessageChunk"
                )
            whole = piece if whole is None else whole + piece
            if piece.text:
                _tell(told, str(piece.text))
    except ValueError as error:
        if whole is None and str(error) == _NO_PIECES:
            raise NotStreamed(
                "a stream was asked for and none came; the next request asks for a whole answer"
            ) from error
        raise
    if whole is None or not stop_reason(whole):
        raise MalformedResponse("the stream ended before the answer did")
    return whole


def _tell(told: Told, text: str) -> None:
    try:
        told(text)
    except Exception as error:
        raise _ListenerBroke(error) from error


def _refusal(request: ModelRequest, form: Form, part: _Part) -> _Refusal:
    """Return what is remembered of a refusal: another schema, or other tools, may be taken in the same form."""
    if part == "schema":
        return f"{form.tools}+{form.schema}", repr(request.output_schema)
    return str(form.tools), repr(request.tools)
