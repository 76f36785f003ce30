"""A worker that lets a chat model choose and word what the sub-task's material says.

A sub-task of kind `loop` is a loop of the model's own steps (`agents.workers.model_loop`); one of kind `call` is asked
once, about material that code has searched.

The model proposes; this code disposes. Citations are attached by code from the numbers of the excerpts that were
given, so a source that was not given can't be cited. A statement without an excerpt is kept as `parametric`, and
verification treats it as such. Markers are kept as the model wrote them: the check stage judges them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.broker import Broker
from agents.models.contract import FinalAnswer, InvalidOutput, Message, ModelError, ModelRequest, ToolCalls
from agents.operations import tools_of
from agents.prompts import WORK_SCHEMA, no_usable_answer_words, render_prompt, repair_messages
from agents.results import OpenReason, WorkResult
from agents.workers.embedded.access import access_of
from agents.workers.embedded.inquiry import NotesReader
from agents.workers.embedded.material import Material
from agents.workers.model_claims import (
    MAX_EXCERPT_CHARS,
    MAX_EXCERPTS,
    MAX_REPAIRS,
    MAX_WORK_TOKENS,
    Answer,
    Piece,
    handed_in,
    model_failure,
    queries_of,
    questions_of,
    selected,
)
from agents.workers.model_loop import ModelLoop
from agents.workers.ports import Worker, WorkFailed, WorkOrder
from masks.domains import DomainRegistry


@dataclass(frozen=True, slots=True)
class ModelWorker:
    """Performs orders with the chat model behind the broker."""

    registry: DomainRegistry
    functions: Worker | None = None
    """Does the sub-tasks of kind `function`: they are deterministic code for model agents too. `None`: the model
    does them."""

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return the model's claims with citations, its open questions and its needs.

        Raises `WorkFailed` when the model can't be reached or refuses, and `invalid_output` when it gives nothing
        usable after `MAX_REPAIRS` repairs; lets the `BudgetExhausted` of a model call pass.
        """
        if self.functions is not None and order.subtask.kind == "function":
            return await self.functions.work(order, broker)
        if order.subtask.kind == "loop":
            return await ModelLoop(self.registry).work(order, broker)
        questions = questions_of(order)
        pieces, searched = await _material(order, questions, broker)
        prompt = render_prompt(order, self.registry, questions, [piece.excerpt for piece in pieces])
        data = await _ask(prompt.messages, order, broker)
        answer = Answer(order=order, registry=self.registry, questions=questions, pieces=pieces)
        for entry in data["claims"]:
            answer.add(entry)
        unsearched = questions[len(searched) :] if tools_of(order.subtask.operation) else ()

        def reason(question: str) -> OpenReason:
            if question in unsearched:
                return "limit_reached"
            return "not_answerable" if pieces else "not_found"

        output = answer.output(searched, reason)
        return WorkResult(
            output=output,
            candidate_complete=bool(data["complete"]) and not output.open_questions,
            mode="model",
            path=order.path,
            needs=answer.needs(data.get("needs", ())),
            acted_through=("prompt", "selection", "filter") if searched else ("prompt",),
        )


async def _ask(messages: Sequence[Message], order: WorkOrder, broker: Broker) -> Mapping[str, Any]:
    """Return the structured answer; tells the model what is wrong with it at most `MAX_REPAIRS` times."""
    sent = tuple(messages)
    problem = InvalidOutput(raw="", reason="")
    for _ in range(1 + MAX_REPAIRS):
        request = ModelRequest(
            purpose="work", messages=sent, output_schema=WORK_SCHEMA, max_output_tokens=MAX_WORK_TOKENS
        )
        reply = await broker.call_model(request)
        outcome = reply.outcome
        match outcome:
            case FinalAnswer(data=dict() as data):
                return data
            case FinalAnswer():
                problem = InvalidOutput(raw=outcome.text, reason="the answer is no JSON object")
            case ToolCalls():
                names = ", ".join(call.tool for call in outcome.calls)
                problem = InvalidOutput(raw=names, reason="no tools are on offer here; answer with JSON")
            case InvalidOutput():
                problem = outcome
            case ModelError():
                raise model_failure(outcome, reply, order)
        sent = (*messages, *repair_messages(problem.raw, problem.reason, order.lang))
    raise WorkFailed("invalid_output", no_usable_answer_words(MAX_REPAIRS, problem.reason, order.lang))


async def _material(
    order: WorkOrder, questions: Sequence[str], broker: Broker
) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Return the numbered material and the queries that were searched, in the order of the questions."""
    handed = handed_in(order)
    if not tools_of(order.subtask.operation):
        return _numbered(handed), ()
    access = access_of(order)
    reader = NotesReader(broker)
    material = Material()
    searched: list[str] = []
    for query in queries_of(order, questions)[: _searches(order)]:
        hits = await reader.search(query, 0)
        if hits is None:
            break
        material.add_hits(hits)
        searched.append(query)
    return _numbered((*handed, *selected(material, access))), tuple(searched)


def _searches(order: WorkOrder) -> int:
    """Return how many searches the attempt's limits leave beside the model's answer and its repairs."""
    limits = order.limits
    answering = min(1 + MAX_REPAIRS, limits.max_steps_per_node)
    return max(0, min(limits.max_tool_calls, limits.max_actions - answering))


def _numbered(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Give the material that fits into the prompt its numbers."""
    kept: list[Piece] = []
    room = MAX_EXCERPT_CHARS
    for piece in pieces[:MAX_EXCERPTS]:
        room -= len(piece.excerpt.text)
        if room < 0 and kept:
            break
        kept.append(replace(piece, excerpt=replace(piece.excerpt, key=f"E{len(kept) + 1}")))
    return tuple(kept)
