"""The decisions of a run, sub-task by sub-task, and where two runs part. Pure.

In what order the sub-tasks of a run take turns is chance, so decisions are compared sub-task by sub-task and never
across them; delays, ids and times are left out for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphs.plan import NodeId, natural_key
from orchestrator.core.events import (
    AttemptStarted,
    Backtracked,
    BlockageClassified,
    Body,
    Event,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    ProposalApproved,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunEnded,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision of a run about a sub-task, or about the run."""

    seq: int
    node: NodeId | None
    """`None`: about the run as a whole."""
    type: str
    """Of the event that records it."""
    said: Mapping[str, str]
    """What was decided, without what is chance (delays) or follows from the run's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDifference:
    """The first decision that the other run did not make at this place in the same sub-task."""

    node: NodeId | None
    first: Decision | None
    """`None`: the first run made no further decision about it."""
    second: Decision | None


def first_difference(one: Iterable[Event], other: Iterable[Event]) -> FirstDifference | None:
    """Return the first decision in which two logs part, whichever has it first; `None`: they decided the same."""
    left, right = _decisions(one), _decisions(other)
    found = [
        difference
        for name in dict.fromkeys((*left, *right))
        if (difference := _parting(name, left.get(name, []), right.get(name, []))) is not None
    ]
    return min(found, key=_place, default=None)


def _place(difference: FirstDifference) -> tuple[int, tuple[object, ...]]:
    """Where it stands: in whichever run it came first."""
    seqs = [made.seq for made in (difference.first, difference.second) if made is not None]
    return min(seqs), natural_key(difference.node or "")


def _parting(
    name: NodeId | None, first: Sequence[Decision], second: Sequence[Decision]
) -> FirstDifference | None:
    for place in range(max(len(first), len(second))):
        one = first[place] if place < len(first) else None
        other = second[place] if place < len(second) else None
        if one is None or other is None or (one.type, one.said) != (other.type, other.said):
            return FirstDifference(node=name, first=one, second=other)
    return None


def _decisions(events: Iterable[Event]) -> dict[NodeId | None, list[Decision]]:
    """The decisions about each sub-task, in order; those about the whole run under `None`."""
    found: dict[NodeId | None, list[Decision]] = {}
    resumed: set[tuple[object, ...]] = set()
    for event in events:
        said = _said(event.body)
        if said is None:
            continue
        if isinstance(event.body, AttemptStarted):
            # A restart starts the same attempt again: that is no decision about the work.
            key = (event.body.node, *said.items())
            if key in resumed:
                continue
            resumed.add(key)
        if isinstance(event.body, ProposalApproved):
            resumed.clear()
        name = _subject(event.body)
        found.setdefault(name, []).append(Decision(seq=event.seq, node=name, type=event.body.type, said=said))
    return found


def _subject(body: Body) -> NodeId | None:
    match body:
        case Backtracked(plan=plan):
            return plan.node
        case NodesSkipped(nodes=nodes):
            return nodes[0]
        case RequestOpened(request=request):
            return request.node
        case ProposalApproved() | ReviewReopened() | RunEnded():
            return None
        case _:
            node: NodeId | None = getattr(body, "node", None)
            return node


def _said(body: Body) -> dict[str, str] | None:
    """What a decision says; `None` for an event that is none.

    A suspension of the run is none: whether one comes between two answers depends on what else was under way.
    """
    match body:
        case AttemptStarted(agent=agent):
            return _numbers(body) | {"agent": agent}
        case NodeReused(generation=generation) | NodeAcceptedAsIs(generation=generation):
            return {"generation": str(generation)}
        case BlockageClassified(blockage=blockage):
            return _numbers(body) | {"class": blockage.cls, "failure": blockage.failure.kind}
        case RetryScheduled():
            return _numbers(body)
        case Backtracked(plan=plan):
            return {
                "level": plan.level,
                "repair": plan.repair.kind,
                "at": plan.repair.node,
                "depth": str(plan.depth),
                "invalidated": ",".join(sorted(plan.invalidated, key=natural_key)),
            }
        case NodesSkipped(nodes=nodes, reason=reason):
            return {"nodes": ",".join(sorted(nodes, key=natural_key)), "reason": reason}
        case RequestOpened(request=request):
            return {"kind": request.kind, "reason": request.reason}
        case RequestAnswered(answer=answer):
            value = "" if answer.value is None else str(answer.value)
            asked = {"agent": answer.agent, "domain": answer.domain, "value": value}
            return {"choice": answer.choice} | {name: text for name, text in asked.items() if text}
        case ProposalApproved(revision=revision, sha256=sha256):
            return {"revision": str(revision), "sha256": sha256}
        case ReviewReopened():
            return {}
        case RunEnded(outcome=outcome, stopped=stopped):
            return {"outcome": outcome, "stopped": str(stopped).lower()}
        case _:
            return None


def _numbers(body: AttemptStarted | BlockageClassified | RetryScheduled) -> dict[str, str]:
    return {"generation": str(body.generation), "attempt": str(body.attempt)}
