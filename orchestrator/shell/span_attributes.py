"""What a span says of an event: names by OpenTelemetry's conventions for generative AI, values that are no content.

The conventions (https://github.com/open-telemetry/semantic-conventions-genai, status Development, as of 2026-11) name
agents, tools, models and tokens; what they have no name for begins with `maskgrad.`. Everything here is a number, an
identifier or one of a fixed set of words, unless `content` is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from agents.spec import AgentSpec
from agents.tools.contract import HeldCall
from orchestrator.core.backtrack import BacktrackPlan
from orchestrator.core.blockage import Failure
from orchestrator.core.events import AttemptStarted, CallReturned, RunEnded
from orchestrator.core.state import RunState

Value = str | int | float | bool
Attributes = dict[str, Value]

OTHER: Final = "_OTHER"
"""The conventions' word for a value that is none of the known ones."""
EMBEDDED: Final = "maskgrad"
"""The provider of agents that think with no model."""

_PROVIDERS: Final[Mapping[str, str]] = {"google_genai": "gcp.gemini", "azure_openai": "azure.ai.openai"}
"""Providers that the conventions call otherwise than `provider:model` does."""
_CODE: Final = re.compile(r"[A-Z][A-Z_]{0,39}")
"""An error code of a tool; anything else in its place was written by foreign code."""
_CALL_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
"""The id of a call as providers write it; a model's prose in its place is no id."""


def of_run(state: RunState, content: bool) -> Attributes:
    """Return what is known of a run when its execution begins."""
    found: Attributes = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "maskgrad",
        "gen_ai.conversation.id": str(state.run),
    }
    if state.proposal is not None:
        found["maskgrad.profile"] = state.proposal.profile
        found["maskgrad.subtasks"] = len(state.proposal.plan.subtasks)
    if state.created is not None and content:
        found["gen_ai.input.messages"] = _message("user", state.created.goal)
    return found


def of_ended_run(body: RunEnded, state: RunState) -> Attributes:
    """Return what a run came to; a cost that is not known in full says how many calls are without a price."""
    spent = state.spent
    return {
        "maskgrad.run.outcome": body.outcome,
        "maskgrad.run.stopped": body.stopped,
        "maskgrad.run.model_calls": spent.calls,
        "gen_ai.usage.input_tokens": spent.input_tokens,
        "gen_ai.usage.output_tokens": spent.output_tokens,
        "maskgrad.usage.cost_usd": spent.cost_usd,
        "maskgrad.usage.unpriced_calls": spent.unpriced,
        "maskgrad.usage.recorded_calls": spent.recorded,
    }


def of_attempt(body: AttemptStarted, state: RunState, content: bool) -> Attributes:
    """Return what is known of an attempt when it begins."""
    found: Attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.id": str(body.agent),
        "gen_ai.agent.name": str(body.agent),
        "gen_ai.conversation.id": str(state.run),
        "maskgrad.node": str(body.node),
        "maskgrad.generation": body.generation,
        "maskgrad.attempt": body.attempt,
    }
    agent = state.agents.get(body.agent)
    if agent is not None:
        found["gen_ai.provider.name"] = _provider(agent)
        if agent.model_policy.kind == "model" and agent.model_policy.model:
            found["gen_ai.request.model"] = model_name(agent.model_policy.model)
    if agent is not None and content:
        found["gen_ai.agent.description"] = agent.responsibility
    return found


def of_chat(body: CallReturned, state: RunState) -> Attributes:
    """Return what a model call says of itself; its answer is no part of it."""
    agent = _agent_of(body, state)
    asked = (agent.model_policy.model if agent is not None else None) or body.name
    found: Attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider(agent) if agent is not None else OTHER,
        "gen_ai.request.model": model_name(asked),
        "gen_ai.response.model": model_name(body.name),
        "gen_ai.conversation.id": str(state.run),
        "maskgrad.prompt.version": body.prompt_version,
        "maskgrad.prompt.parts_dropped": len(body.dropped),
        "maskgrad.reply": body.summary,
    }
    if body.usage is not None and body.usage.recorded:
        # Its tokens are of another day: whoever sums up traces would count them again.
        found["maskgrad.usage.recorded"] = True
    elif body.usage is not None:
        found["gen_ai.usage.input_tokens"] = body.usage.input_tokens
        found["gen_ai.usage.output_tokens"] = body.usage.output_tokens
        found["gen_ai.usage.cache_read.input_tokens"] = body.usage.cached_input_tokens
        found["maskgrad.usage.estimated"] = body.usage.estimated
        if body.usage.cost_usd is not None:
            found["maskgrad.usage.cost_usd"] = body.usage.cost_usd
    if not body.ok:
        found["error.type"] = body.error or body.summary
    return found


def of_tool(body: CallReturned, state: RunState, content: bool) -> Attributes:
    """Return what a tool call says of itself; arguments and result only as `content`."""
    found: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool_name(body.name, state),
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": str(state.run),
        "maskgrad.call.performed": body.performed,
    }
    if _CALL_ID.fullmatch(body.call_id):
        found["gen_ai.tool.call.id"] = body.call_id
    if not body.ok:
        code = body.summary.partition(":")[0]
        found["error.type"] = code if _CODE.fullmatch(code) else OTHER
    if content:
        found["gen_ai.tool.call.arguments"] = json.dumps(
            dict(body.arguments), ensure_ascii=False, default=str
        )
        found["gen_ai.tool.call.result"] = body.summary
    return found


def of_failure(failure: Failure, content: bool) -> Attributes:
    """Return why an attempt did not come to an accepted output."""
    found: Attributes = {"error.type": failure.kind}
    if content:
        found["error.message"] = failure.message
    return found


def of_backtrack(plan: BacktrackPlan) -> Attributes:
    """Return where a backtrack went and what it cost."""
    return {
        "maskgrad.node": str(plan.node),
        "maskgrad.backtrack.level": str(plan.level),
        "maskgrad.backtrack.depth": plan.depth,
        "maskgrad.backtrack.invalidated": len(plan.invalidated),
        "maskgrad.backtrack.by": plan.by,
    }


def of_held(call: HeldCall, state: RunState) -> Attributes:
    """Return why a call waits for a person."""
    return {
        "gen_ai.tool.name": tool_name(call.tool, state),
        "maskgrad.call.why": call.why,
        "maskgrad.call.side_effect": call.side_effect,
        "maskgrad.call.tier": call.tier,
    }


def tool_name(name: str, state: RunState) -> str:
    """Return a tool's name if it was granted to somebody; a name that a model made up is text of the model."""
    if state.proposal is None:
        return OTHER
    granted = {tool for tools in state.proposal.grants.values() for tool in tools}
    return name if name in granted else OTHER


def model_name(model: str) -> str:
    """Return the name without the provider.

    >>> model_name("ollama:qwen3:8b")
    'qwen3:8b'
    >>> model_name("gpt-5")
    'gpt-5'
    """
    provider, _, name = model.partition(":")
    return name or provider


def streamed_message(text: str) -> str:
    """Return the begin of a model's answer in the form of the conventions."""
    return _message("assistant", text)


def _message(role: str, text: str) -> str:
    message = {"role": role, "parts": [{"type": "text", "content": text}]}
    return json.dumps([message], ensure_ascii=False)


def _agent_of(body: CallReturned, state: RunState) -> AgentSpec | None:
    agent = state.assigned.get(body.node)
    return state.agents.get(agent) if agent is not None else None


def _provider(agent: AgentSpec) -> str:
    provider = agent.model_policy.provider
    return EMBEDDED if provider is None else _PROVIDERS.get(provider, str(provider))
