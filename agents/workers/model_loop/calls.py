"""The calls of one answer: given ids, held against what is on offer, performed, their results kept in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agents.broker import Broker, BudgetExhausted, CallHeld
from agents.models.contract import ToolCalls, ToolOffer
from agents.models.reasons import reason_words
from agents.operations import SEARCH_TOOLS, tools_of
from agents.prompts_loop import expect_words, unparsed_words
from agents.tools.builtin.notes import READ_NOTE, SEARCH_NOTES
from agents.tools.contract import ToolCall, ToolResult
from agents.tools.loops import ActionKey, action_key
from agents.tools.offers import MOST_OFFERED
from agents.tools.told import offer_of
from agents.workers.ports import WorkOrder
from graphs.contract import Lang

EXPECT: Final = "expect"
"""The argument by which a model may state how many results it expects; it never reaches the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One call of an answer."""

    call: ToolCall
    """With an id that no sibling has, and without `EXPECT`."""
    expected: int | None = None
    invalid: str = ""
    """Why it does not parse; such a call is never performed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """The tools that a model is told of."""

    tools: tuple[ToolOffer, ...]
    expecting: frozenset[str]
    """Names of those that got `EXPECT`: they had no argument of that name."""


Returned = ToolResult | BudgetExhausted


def offered_by(order: WorkOrder) -> Offered:
    """Return the tools that the model of `order` is told of, at most `MOST_OFFERED`, `finish` not counted."""
    offered = order.offers
    if offered is None:
        needed = tools_of(order.subtask.operation)
        offered = tuple(
            offer_of(spec, order.lang) for spec in (SEARCH_NOTES, READ_NOTE) if spec.name in needed
        )
    offered = offered[:MOST_OFFERED]
    return Offered(
        tools=tuple(_expecting(offer, order.lang) for offer in offered),
        expecting=frozenset(offer.name for offer in offered if EXPECT not in _properties(offer.input_schema)),
    )


def proposals_of(answer: ToolCalls, expecting: Collection[str], lang: Lang) -> tuple[Proposal, ...]:
    """Return the calls of an answer in its order, then those that do not parse; every id is there and is unique.

    Why one does not parse is said in `lang`.
    """
    ids = set[str]()
    found: list[Proposal] = []
    for call in answer.calls:
        arguments, expected = dict(call.arguments), None
        if call.tool in expecting:
            stated = arguments.pop(EXPECT, None)
            expected = stated if isinstance(stated, int) and not isinstance(stated, bool) else None
        given = replace(call, arguments=arguments, id=_unique(call.id, ids))
        found.append(Proposal(call=given, expected=expected))
    for invalid in answer.invalid:
        call = ToolCall(
            tool=invalid.tool,
            arguments={},
            origin="parametric",
            taint="untrusted",
            id=_unique(invalid.id, ids),
        )
        found.append(
            Proposal(call=call, invalid=unparsed_words(reason_words(invalid.reason, lang), invalid.raw, lang))
        )
    return tuple(found)


async def perform(calls: Sequence[ToolCall], broker: Broker) -> list[Returned]:
    """Return what came of each call, in their order; a call that a limit stopped gives what stopped it.

    Neighbours that only read run at the same time; everything else waits for what stands before it, and is not made
    once one of those was stopped or held (readings of the notes go on behind a call that is held). What else a broker
    raises, `CallHeld` above all, is raised when the others have had their turn: a replay finds their results.
    """
    returned: list[ToolResult | BaseException] = []
    for batch in _batches(calls):
        stopped = [one for one in returned if isinstance(one, BaseException)]
        only_reads = all(call.tool in SEARCH_TOOLS for call in batch)
        if stopped and not (only_reads and all(isinstance(one, CallHeld) for one in stopped)):
            # What stands behind it waits, or is never made: an effect must not overtake a call that is held.
            break
        made = (broker.call_tool(call) for call in batch)
        returned.extend(await asyncio.gather(*made, return_exceptions=True))
    results: list[Returned] = []
    for one in returned:
        if isinstance(one, BaseException) and not isinstance(one, BudgetExhausted):
            raise one
        results.append(one)
    if len(results) < len(calls):
        stop = next(one for one in results if isinstance(one, BudgetExhausted))
        results.extend([stop] * (len(calls) - len(results)))
    return results


def key_of(call: ToolCall, offers: Sequence[ToolOffer], source_version: str | None = None) -> ActionKey:
    """Return the key by which a repetition of `call` is known."""
    schema = next((offer.input_schema for offer in offers if offer.name == call.tool), None)
    return action_key(call.tool, call.arguments, source_version, schema=schema)


def _batches(calls: Sequence[ToolCall]) -> Iterator[list[ToolCall]]:
    """Yield the calls in order, neighbours that may run at the same time together; equal ones never."""
    batch: list[ToolCall] = []
    for call in calls:
        alone = call.tool not in SEARCH_TOOLS
        same = any(key_of(call, ()) == key_of(other, ()) for other in batch)
        if batch and (alone or same):
            yield batch
            batch = []
        batch.append(call)
        if alone:
            yield batch
            batch = []
    if batch:
        yield batch


def _unique(wanted: str, ids: set[str]) -> str:
    chosen = wanted or f"call-{len(ids) + 1}"
    number = 2
    while chosen in ids:
        chosen = f"{wanted or 'call'}-{number}"
        number += 1
    ids.add(chosen)
    return chosen


def _expecting(offer: ToolOffer, lang: Lang) -> ToolOffer:
    properties = _properties(offer.input_schema)
    if EXPECT in properties:
        return offer
    stated = {"type": "integer", "minimum": 0, "description": expect_words(lang)}
    schema = {**offer.input_schema, "properties": {**properties, EXPECT: stated}}
    return replace(offer, input_schema=schema)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties", {})
    return properties if isinstance(properties, Mapping) else {}
