"""The contract of chat models: what is asked, and the four things that can come back.

`FinalAnswer | ToolCalls | InvalidOutput | ModelError`: providers differ in form, the code behind this contract does not
(seed 001, 4.1). Everything here is a value that goes into the log, so that a replay needs no model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agents.evidence import Origin, Taint
from agents.tools.contract import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    origin: Origin = "computed"
    taint: Taint = "trusted"
    """Of its content: what comes from documents, tools or models is `untrusted`, data and never an instruction."""
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message: the calls that it proposed."""
    call_id: str = ""
    """Of a tool's message: the id of the call that it is the result of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOffer:
    """A tool as a model is told of it."""

    name: str
    description: str
    """Purpose, when to use it and when not to, in one text."""
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A part of the context that did not fit into the budget of a request, and what was done with it."""

    part: str
    """Which part, e.g. `excerpt E7`, `result of call 3`, `messages 2-5`."""
    how: Literal["shortened", "summarised", "left_out"]
    tokens: int
    """Tokens that this saved, as counted for the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A proposed model call."""

    purpose: str
    """What the answer is for, e.g. `work`, `plan`, `verify`: chooses the model tier."""
    messages: tuple[Message, ...]
    output_schema: Mapping[str, Any] | None = None
    """JSON schema of a structured answer; `None` for free text."""
    tools: tuple[ToolOffer, ...] = ()
    """What the model may propose to call."""
    calls_only: bool = False
    """Whether an answer without a call is of no use: a form that can hold the model to calls on offer then does."""
    max_output_tokens: int | None = None
    """Longest answer; `None`: the model's own limit."""
    prompt_version: str = ""
    """Which prompt this was rendered from, e.g. `work/1`."""
    dropped: tuple[Dropped, ...] = ()
    """What was left out to fit the budget; recorded, and not sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalAnswer:
    """The model answered."""

    text: str
    data: Any = None
    """The parsed structured answer, where a schema was given."""
    kind: Literal["final_answer"] = "final_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidCall:
    """A proposed tool call that does not parse."""

    tool: str
    raw: str
    reason: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """The model proposes tool calls: those that parse, in its order, each with an id of its own."""

    calls: tuple[ToolCall, ...]
    invalid: tuple[InvalidCall, ...] = ()
    """Their siblings that do not parse: they keep none of the others from running."""
    text: str = ""
    """What the model said beside the calls."""
    kind: Literal["tool_calls"] = "tool_calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidOutput:
    """The model answered with something that does not parse or breaks the schema."""

    raw: str
    reason: str
    kind: Literal["invalid_output"] = "invalid_output"


ModelErrorType = Literal[
    "timeout", "rate_limited", "unavailable", "bad_request", "refused", "overflow", "misconfigured", "unknown"
]
"""`misconfigured`: as it is set up the model can't be asked at all; neither another try nor another request helps."""

ModelErrorCause = Literal["no_connection", "key_refused", "not_found", "no_completion", "not_recorded"]
"""What a person can do something about: see `agents.models.advice`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelError:
    """The model could not be reached or refused."""

    error_type: ModelErrorType
    message: str
    retryable: bool
    retry_after_s: float | None = None
    cause: ModelErrorCause | None = None
    """Where it is known and a person can remove it."""
    address: str = ""
    """Of the server that was asked, where the adapter knows it."""
    kind: Literal["model_error"] = "model_error"


ModelOutcome = FinalAnswer | ToolCalls | InvalidOutput | ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a model call consumed."""

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    """Of the input tokens, those that the provider had kept from an earlier call."""
    cost_usd: float | None = None
    """`None`: the price is unknown."""
    requests: int = 1
    """Requests that were sent for it: more than one where the provider refused the first form of the request."""
    estimated: bool = False
    """Whether the tokens are counted from the texts, since the provider said nothing of them; the cost is then, too."""
    recorded: bool = False
    """Whether a recording stood in for the model: the tokens are those of the first time, nothing is spent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """A model's outcome and its usage."""

    outcome: ModelOutcome
    usage: Usage = field(default_factory=Usage)
    elapsed_ms: float = 0.0
    means: str = ""
    """How the model was told the schema or the tools in the end, e.g. `json_schema`, `prompt`."""
