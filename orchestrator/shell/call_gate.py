"""The gate of one attempt: which rules hold there, and what its agent has been shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from agents.operations import SEARCH_TOOLS
from agents.results import LoopNote
from agents.spec import AgentSpec
from agents.tools.contract import ToolCall, ToolOk, ToolResult
from agents.tools.gate import Ask, Decision, Deny, GateRules, Mock, judge_call
from agents.tools.known_texts import KnownTexts
from agents.tools.offers import offered_tools
from agents.tools.ports import SometimesUnavailable, Tool
from agents.tools.previews import READ_RESULT
from agents.tools.prohibitions import spoken_goal
from agents.tools.taint import argument_origins
from agents.workers.ports import WorkOrder
from graphs.contract import Lang
from orchestrator.core.proposal import Proposal, base_agent
from orchestrator.core.state import RunState

LONGEST_SHOWN: Final = 20_000
"""Characters of a result that are remembered as shown: five times a preview, which is all that an agent sees of one."""


class CallGate:
    """Judges the calls of one attempt; it learns what the agent is shown, so it knows where arguments come from."""

    def __init__(
        self,
        rules: GateRules,
        *,
        trusted: Iterable[str] = (),
        shown: Iterable[str] = (),
        unseen: bool = False,
        lang: Lang = "en",
    ) -> None:
        """`trusted`: the user's own words and nothing else; `shown`: untrusted text that the order hands in.

        `unseen`: nobody saw what was approved, so nobody is asked: a call that a person would decide about is refused,
        in `lang`.
        """
        self._rules = rules
        self._unseen = unseen
        self._lang = lang
        self._trusted = KnownTexts(trusted)
        self._shown = KnownTexts()
        self._unread: list[str] = []
        self._handed_in = iter(shown)

    def judge(self, call: ToolCall, tool: Tool | None) -> Decision:
        """Return what may become of `call`."""
        decision = self._judged(call, tool)
        if self._unseen and isinstance(decision, Ask):
            return Deny(error_type="ACTION_DENIED", message=_asks_nobody(call.tool, decision, self._lang))
        return decision

    def _judged(self, call: ToolCall, tool: Tool | None) -> Decision:
        # With no origins every value counts as untrusted: what passes even so, or is refused, needs no look at texts.
        strictest = judge_call(call, tool.spec if tool is not None else None, self._rules, ())
        if tool is None or not isinstance(strictest, Ask | Mock):
            return strictest
        for text in (*self._handed_in, *self._unread):
            self._shown.add(text)
        self._unread.clear()
        origins = argument_origins(
            call.arguments,
            trusted=self._trusted,
            untrusted=self._shown,
            schema=tool.spec.input_schema,
        )
        return judge_call(call, tool.spec, self._rules, origins)

    def learn(self, result: ToolResult) -> None:
        """Take the text of a result as untrusted text that the agent has seen."""
        if isinstance(result, ToolOk):
            text = result.data if isinstance(result.data, str) else _text(result.data)
            self._unread.append(f"{result.summary}\n{text}"[:LONGEST_SHOWN])
        else:
            self._unread.append(result.message[:LONGEST_SHOWN])


def call_gate(
    proposal: Proposal,
    order: WorkOrder,
    tools: Mapping[str, Tool],
    trusted: Iterable[str],
    allowed_hosts: frozenset[str] = frozenset(),
    *,
    shadow: bool = False,
) -> CallGate:
    """Return the gate of an attempt: granted is what the approved proposal grants, asked what the contract asks for.

    `allowed_hosts` are those that the user lets be read from, whoever names them; `shadow`: the attempt is one of a
    shadow, about which nobody is asked.
    """
    contract = proposal.contract
    rules = GateRules(
        # Reading on in a result that it was shown is part of every grant.
        granted=frozenset({READ_RESULT.name, *_granted(proposal, order)}),
        profile=proposal.profile,
        # A tool that the user has and did not grant is outside of what was approved: a person decides (semantics 5).
        outside_grants="ask",
        forbidden=contract.forbidden,
        approval_required=contract.approval_required,
        unavailable=unavailable(tools),
        allowed_hosts=allowed_hosts,
    )
    return CallGate(rules, trusted=trusted, shown=_handed_in(order), unseen=shadow, lang=proposal.goal.lang)


def _asks_nobody(tool: str, asked: Ask, lang: Lang) -> str:
    if lang == "zh":
        why = "；".join(reason.told(lang) for reason in asked.reasons)
        return f"{tool!r} 须先询问用户，而影子运行不询问任何人（{why}）；请不用它继续"
    why = "; ".join(reason.told(lang) for reason in asked.reasons)
    return f"{tool!r} is asked about first, and a shadow asks nobody ({why}); go on without it"


def told_of_tools(
    order: WorkOrder, state: RunState, tools: Mapping[str, Tool]
) -> tuple[WorkOrder, tuple[LoopNote, ...]]:
    """Return the order with the tools that its agent's model is told of, and what was left out of them and why.

    An agent without a model gets the order as it is. Reading on in a long result is offered beside tools that are not
    of the notes, which page by themselves.
    """
    if order.agent.model_policy.kind != "model" or state.proposal is None:
        return order, ()
    granted = [
        name
        for name in _granted(state.proposal, order)
        if name not in tools or state.proposal.profile != "debug" or tools[name].spec.side_effect == "read"
    ]
    if set(granted) - set(SEARCH_TOOLS):
        granted.append(READ_RESULT.name)
    about = f"{order.subtask.title}\n{order.subtask.instruction}"
    offered = offered_tools(tools, granted, order.lang, about=about)
    notes = tuple(
        LoopNote(
            step=0, kind="tool_left_out", detail=": ".join(filter(None, (each.name, each.why, each.detail)))
        )
        for each in offered.left_out
    )
    return replace(order, offers=offered.tools), notes


def granted_tools(state: RunState, agent: AgentSpec) -> tuple[str, ...]:
    """Return the names of the tools that the approved proposal grants an agent."""
    return state.proposal.grants.get(base_agent(agent.id), ()) if state.proposal is not None else ()


def _granted(proposal: Proposal, order: WorkOrder) -> tuple[str, ...]:
    return proposal.grants.get(base_agent(order.agent.id), ())


def unavailable(tools: Mapping[str, Tool]) -> Mapping[str, str]:
    """Return the tools that can't be used now, each with the reason."""
    found = {}
    for name, tool in tools.items():
        # A protocol of its own: to the type checker a tool is none.
        held: object = tool
        why = held.unavailable() if isinstance(held, SometimesUnavailable) else None
        if why is not None:
            found[name] = why
    return found


def trusted_texts(state: RunState) -> tuple[str, ...]:
    """Return the user's own words: the goal, without what it forbids, for nobody wants a value of that.

    Plans, instructions and documents are not among them.
    """
    return (spoken_goal(state.proposal.goal.text).wished,) if state.proposal is not None else ()


def _handed_in(order: WorkOrder) -> Iterable[str]:
    """What the order shows of other sub-tasks and runs: their agents' words, the sources behind them, memories.

    A memory counts as untrusted whoever wrote it: it was not written for this goal.
    """
    for output in order.inputs.values():
        yield output.text
        yield from (piece.text for piece in output.evidence)
    yield from (each.memory.text for each in order.memories)


def _text(data: object) -> str:
    """The strings and numbers of a JSON value, each on a line of its own.

    Not as JSON writes them: in `www.example.com\\nNext` nobody recognises an address any more.
    """
    found: list[str] = []
    left = [data]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            left += reversed([part for pair in one.items() for part in pair])
        elif isinstance(one, list | tuple):
            left += reversed(one)
        elif one is not None and not isinstance(one, bool):
            found.append(str(one))
    return "\n".join(found)
