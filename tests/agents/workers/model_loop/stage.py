"""Loops without a run: a broker in this process over a folder of notes, and outcomes of a model written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents.broker import BudgetExhausted
from agents.models.contract import (
    FinalAnswer,
    InvalidCall,
    Message,
    ModelOutcome,
    ModelReply,
    ModelRequest,
    ToolCalls,
    ToolOffer,
    Usage,
)
from agents.results import WorkOutput, WorkResult
from agents.retrieval.library import NotesLibrary, SectionLabel
from agents.spec import AgentId, AgentSpec
from agents.tools.builtin.notes import NotesTools
from agents.tools.contract import ToolCall, ToolError, ToolOk, ToolResult
from agents.workers.model_loop import ModelLoop
from agents.workers.ports import WorkOrder
from graphs.contract import Lang, Limits
from graphs.plan import NodeId, SubTask
from masks.bands import DEFAULT_THRESHOLDS
from masks.domains import DomainId
from masks.leaks.labels import SectionText
from masks.vector import new_mask
from tests.masks.fakes import COOKING, DATABASES, SECURITY, small_registry

REGISTRY = small_registry()
QUESTION = "What does an index cost?"
COST = "An index costs 40 MB of memory."
NOTES: Mapping[str, str] = {
    "db.md": f"# Indexes\n\n{COST}\n",
    "locks.md": "# Locks\n\nThe lock on the index costs 9 coins.\n",
    "soup.md": "# Soup\n\nThe soup at the index bar costs 5 coins.\n",
    "trees.md": "# Trees\n\nA tree of pages is balanced.\n",
}
DOMAINS = {"40 MB": DATABASES, "tree of pages": DATABASES, "9 coins": SECURITY, "5 coins": COOKING}


class BySubject:
    """Labels a section by a phrase in it."""

    def label(self, sections: Sequence[SectionText]) -> Sequence[SectionLabel]:
        texts = [section.excerpt for section in sections]
        return [
            SectionLabel(domain=next((domain for phrase, domain in DOMAINS.items() if phrase in text), None))
            for text in texts
        ]


Answer = ModelOutcome | Callable[[ModelRequest], ModelOutcome]
OtherTool = Callable[[Mapping[str, Any]], ToolResult]


@dataclass(kw_only=True)
class Room:
    """A broker that performs note tools at once, holds to the limits as the product's does, and keeps everything."""

    tools: NotesTools
    replies: list[Answer]
    limits: Limits = field(default_factory=Limits)
    others: Mapping[str, OtherTool] = field(default_factory=dict)
    raising: Mapping[str, Exception] = field(default_factory=dict)
    calls: list[ToolCall] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    actions: int = 0

    async def call_tool(self, call: ToolCall) -> ToolResult:
        self._pay()
        self.calls.append(call)
        key = repr((call.tool, sorted(call.arguments.items())))
        self.seen[key] += 1
        if self.seen[key] >= 3:
            raise BudgetExhausted("identical_calls", self.seen[key], 2)
        if call.tool in self.raising:
            raise self.raising[call.tool]
        if call.tool in self.others:
            return self.others[call.tool](call.arguments)
        if call.tool in ("search_notes", "read_note"):
            return self.tools.call(call.tool, call.arguments)
        return ToolError(error_type="DECISION_INVALID", message=f"no tool {call.tool!r}", retryable=False)

    async def call_model(self, request: ModelRequest) -> ModelReply:
        if len(self.requests) >= self.limits.max_steps_per_node:
            raise BudgetExhausted("max_steps_per_node", len(self.requests), self.limits.max_steps_per_node)
        self._pay()
        self.requests.append(request)
        reply = self.replies.pop(0)
        outcome = reply(request) if callable(reply) else reply
        return ModelReply(outcome=outcome, usage=Usage(input_tokens=10))

    def _pay(self) -> None:
        if self.actions >= self.limits.max_actions:
            raise BudgetExhausted("max_actions", self.actions, self.limits.max_actions)
        self.actions += 1

    @property
    def searches(self) -> list[str]:
        return [call.arguments["query"] for call in self.calls if call.tool == "search_notes"]

    def told(self, step: int) -> str:
        """Everything that the request of a step (from 0) says."""
        return "\n\n".join(message.content for message in self.requests[step].messages)

    def results(self, step: int) -> list[Message]:
        """The results of tools in the request of a step."""
        return [message for message in self.requests[step].messages if message.role == "tool"]


def order(
    params: Mapping[str, Any] | None = None,
    *,
    path: int = 1,
    lang: Lang = "en",
    mask: Mapping[DomainId, int] | None = None,
    limits: Limits | None = None,
    offers: tuple[ToolOffer, ...] | None = None,
    inputs: Mapping[NodeId, WorkOutput] | None = None,
) -> WorkOrder:
    """Return an order of research."""
    agent = AgentSpec(
        id=AgentId("A1"),
        responsibility="Finds answers." if lang == "en" else "查找答案。",
        role="generate",
        operations=("research",),
        mask=new_mask("A1", mask or {DATABASES: 90, SECURITY: 50}),
    )
    return WorkOrder(
        subtask=SubTask(id=NodeId("n1"), title="T", kind="loop", operation="research"),
        agent=agent,
        thresholds=DEFAULT_THRESHOLDS,
        path=2 if path == 2 else 1,
        lang=lang,
        params={"questions": [QUESTION]} if params is None else params,
        limits=limits or Limits(),
        offers=offers,
        inputs=inputs or {},
    )


def calls(*proposed: tuple[str, Mapping[str, Any]], invalid: Sequence[InvalidCall] = ()) -> ToolCalls:
    """Return an answer that proposes these calls, with ids as providers give them."""
    made = tuple(
        ToolCall(tool=tool, arguments=arguments, origin="parametric", taint="untrusted", id=f"id-{number}")
        for number, (tool, arguments) in enumerate(proposed, 1)
    )
    return ToolCalls(calls=made, invalid=tuple(invalid))


def search(query: str, **more: Any) -> tuple[str, Mapping[str, Any]]:
    return "search_notes", {"query": query, **more}


def ending(
    *claims: Mapping[str, Any],
    complete: bool = True,
    still_open: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> tuple[str, Mapping[str, Any]]:
    """Return a call of `finish`."""
    return "finish", {
        "claims": list(claims),
        "complete": complete,
        "open_questions": list(still_open),
        **more,
    }


GOOD = ending({"statement": COST, "excerpts": ["E1"], "question": 1})
GIVES_UP = ending(complete=False, still_open=[{"question": 1, "why": "nothing says so"}])


def text(words: str) -> FinalAnswer:
    return FinalAnswer(text=words)


def room(folder: Path, given: WorkOrder, *replies: Answer, **more: Any) -> Room:
    """Return a broker over the notes in `folder`, holding to the order's limits."""
    tools = NotesTools(NotesLibrary.open(folder, labeller=BySubject()))
    return Room(tools=tools, replies=list(replies), limits=given.limits, **more)


async def run(folder: Path, given: WorkOrder, *replies: Answer, **more: Any) -> tuple[WorkResult, Room]:
    """Let a loop work on an order."""
    broker = room(folder, given, *replies, **more)
    return await ModelLoop(REGISTRY).work(given, broker), broker


def ok(data: Any, summary: str = "done", **more: Any) -> ToolOk:
    return ToolOk(summary=summary, data=data, source="test", **more)


def written(folder: Path, notes: Mapping[str, str] = NOTES) -> Path:
    for name, content in notes.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def limited(given: WorkOrder, **limits: Any) -> WorkOrder:
    return replace(given, limits=replace(given.limits, **limits))
