"""The plan: sub-tasks and the dependencies between them, as a directed acyclic graph (specification 2.2).

A `Plan` is a value that may be wrong (a user can write any document): `graphs.lint` says what is wrong
with it. `index_plan` turns a sound one into a `PlanIndex`, whose look-ups take constant time and
on which schedule, scopes, layout and the orchestrator's core work.
"""

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NewType

from pydantic import ConfigDict, JsonValue

from graphs.contract import PortSpec

if TYPE_CHECKING:
    pass

NodeId = NewType("NodeId", str)
"""Identifies a sub-task within one plan, for example `n3`."""

SubTaskKind = Literal["function", "call", "loop", "human"]
"""How a sub-task is carried out.

- `function`: deterministic code.
- `call`: one model call.
- `loop`: a bounded agent loop.
- `human`: a person.
"""

Boundary = Literal["entry", "inner", "exit", "both"]
"""The declared place of a sub-task at the plan's boundary (specification 2.2, rule 4).

- `entry`: depends on no other sub-task.
- `inner`: has sub-tasks before and after it.
- `exit`: no sub-task depends on it.
- `both`: stands alone, first and last at once.
"""

FailureSemantics = Literal["required", "optional"]
"""What a final failure means: `required` stops the descendants, `optional` lets them run without it."""

SideEffect = Literal["none", "read", "draft", "write", "external"]
"""The strongest effect on the world that a sub-task may have, in rising order.

- `none`: computes only.
- `read`: reads sources.
- `draft`: prepares something that can be thrown away.
- `write`: changes what belongs to the user.
- `external`: reaches other people or systems.
"""

PLAN_FORMAT: Final = "maskgrad.plan/1"
"""Names the canonical form that `plan_sha256` hashes; a change of the form is a new number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubTask:
    """One node of the plan: one thing to do, with typed inputs and outputs (specification 2.2, rule 1)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    id: NodeId
    title: str
    """What people read on the node."""
    kind: SubTaskKind
    operation: str
    """What the worker does, such as `research`, `compare`, `synthesise`, `check`, `report`."""
    boundary: Boundary = "inner"
    instruction: str = ""
    """What the worker is told. An input is named as `{{port}}`, never as another node's output."""
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    """Arguments of the operation, such as `{"questions": [...]}`. Never mutated."""
    inputs: tuple[PortSpec, ...] = ()
    outputs: tuple[PortSpec, ...] = ()
    acceptance: tuple[str, ...] = ()
    """Ids of the contract's criteria that this sub-task has to satisfy."""
    required_domains: Mapping[str, float] = field(default_factory=dict)
    """Knowledge domain id to relevance, each in (0, 1] (semantics 1). Never mutated."""
    side_effects: SideEffect = "none"
    failure_semantics: FailureSemantics = "required"
    estimate: float = 1.0
    """Expected duration in units, above 0; only ratios matter."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Dependency:
    """One edge: an output port of `source` feeds an input port of `target` (specification 2.2, rule 2).

    Several edges may end in one input port; it then receives all of them.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    source: NodeId
    target: NodeId
    output: str
    """Name of the output port of `source`."""
    input: str
    """Name of the input port of `target`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Sub-tasks and dependencies, in the order in which they were written."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    subtasks: tuple[SubTask, ...] = ()
    dependencies: tuple[Dependency, ...] = ()


_OTHERS: Final = ("params", "inputs", "outputs", "acceptance", "required_domains", "estimate")
_TEXTS: Final = tuple(spec.name for spec in fields(SubTask) if spec.name not in _OTHERS)
_texts_of: Final = attrgetter(*_TEXTS)


class InvalidPlanError(ValueError):
    """Raised by `index_plan` and `diff_plans` for a plan that is no DAG over distinct ids.

    Whoever takes plans from people calls `graphs.lint.lint` first and shows its findings instead.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanIndex:
    """A plan that is known to be a DAG, with constant-time look-ups. Made by `index_plan`."""

    plan: Plan
    order: tuple[NodeId, ...]
    """A topological order; among nodes that could come next, the smallest id by `natural_key` does."""
    _subtasks: Mapping[NodeId, SubTask]
    _predecessors: Mapping[NodeId, tuple[NodeId, ...]]
    _successors: Mapping[NodeId, tuple[NodeId, ...]]
    _incoming: Mapping[NodeId, tuple[Dependency, ...]]
    _outgoing: Mapping[NodeId, tuple[Dependency, ...]]
    _ranks: Mapping[NodeId, int]
    _texts: dict[NodeId, str] = field(default_factory=dict, compare=False, repr=False)
    """Canonical texts that were asked for; each follows from the sub-task alone."""

    def __contains__(self, node: NodeId) -> bool:
        return node in self._subtasks

    def __len__(self) -> int:
        return len(self._subtasks)

    def subtask(self, node: NodeId) -> SubTask:
        """Give the sub-task with this id; an unknown id raises `KeyError`."""
        return self._subtasks[node]

    def canonical_text(self, node: NodeId) -> str:
        """Give the sub-task as `canonical_subtask` writes it, written once; an unknown id raises `KeyError`."""
        text = self._texts.get(node)
        if text is None:
            text = self._texts[node] = canonical_subtask(self._subtasks[node])
        return text

    def rank(self, node: NodeId) -> int:
        """Give the position of `node` in `order`, from 0; an unknown id raises `KeyError`."""
        return self._ranks[node]

    def predecessors(self, node: NodeId) -> tuple[NodeId, ...]:
        """Give the nodes that feed `node`, each once, in natural order of ids."""
        return self._predecessors[node]

    def successors(self, node: NodeId) -> tuple[NodeId, ...]:
        """Give the nodes that `node` feeds, each once, in natural order of ids."""
        return self._successors[node]

    def incoming(self, node: NodeId) -> tuple[Dependency, ...]:
        """Give the edges that end in `node`, in the plan's order."""
        return self._incoming[node]

    def outgoing(self, node: NodeId) -> tuple[Dependency, ...]:
        """Give the edges that start in `node`, in the plan's order."""
        return self._outgoing[node]

    def descendants(self, *nodes: NodeId) -> frozenset[NodeId]:
        """Give every node that can be reached from any of `nodes` over at least one edge."""
        return _reach(nodes, self._successors)

    def ancestors(self, *nodes: NodeId) -> frozenset[NodeId]:
        """Give every node from which any of `nodes` can be reached over at least one edge."""
        return _reach(nodes, self._predecessors)

    @property
    def entries(self) -> tuple[NodeId, ...]:
        """The nodes without predecessors, in topological order."""
        return tuple(node for node in self.order if not self._predecessors[node])

    @property
    def exits(self) -> tuple[NodeId, ...]:
        """The nodes without successors, in topological order."""
        return tuple(node for node in self.order if not self._successors[node])


def index_plan(plan: Plan) -> PlanIndex:
    """Build the look-up structure of a plan in O((nodes + edges) log nodes).

    Raises `InvalidPlanError` for a duplicate id, an edge to a node that does not exist, or a cycle.
    """
    subtasks = {subtask.id: subtask for subtask in plan.subtasks}
    if len(subtasks) != len(plan.subtasks):
        raise InvalidPlanError(
            f"Node id {_first_duplicate(plan)!r} is used twice; give each node its own id."
        )
    incoming: dict[NodeId, list[Dependency]] = {node: [] for node in subtasks}
    outgoing: dict[NodeId, list[Dependency]] = {node: [] for node in subtasks}
    for edge in plan.dependencies:
        for end in (edge.source, edge.target):
            if end not in subtasks:
                raise InvalidPlanError(
                    f"Edge {edge.source!r} -> {edge.target!r} names node {end!r}, which is not in the plan; "
                    "add the node or cut the edge."
                )
        outgoing[edge.source].append(edge)
        incoming[edge.target].append(edge)
    ranks = {node: rank for rank, node in enumerate(sorted(subtasks, key=natural_key))}
    predecessors = {n: _distinct((e.source for e in edges), ranks) for n, edges in incoming.items()}
    successors = {n: _distinct((e.target for e in edges), ranks) for n, edges in outgoing.items()}
    order = _topological_order(predecessors, successors, ranks)
    if len(order) != len(subtasks):
        stuck = [node for node in subtasks if node not in set(order)]
        raise InvalidPlanError(
            f"The plan has a cycle among {', '.join(map(repr, sorted(stuck, key=natural_key)[:8]))}; "
            "cut one of its edges (`lint` names the path)."
        )
    return PlanIndex(
        plan=plan,
        order=order,
        _subtasks=subtasks,
        _predecessors=predecessors,
        _successors=successors,
        _incoming={node: tuple(edges) for node, edges in incoming.items()},
        _outgoing={node: tuple(edges) for node, edges in outgoing.items()},
        _ranks={node: position for position, node in enumerate(order)},
    )


def plan_sha256(plan: Plan) -> str:
    """Hash what a plan says, as 64 hex digits.

    The order in which nodes and edges are written does not count, and neither does the order of keys in
    mappings. The order of ports, of criteria and of lists inside `params` does. Raises `ValueError` for a
    number that JSON has no form for (infinite, not a number).
    """
    document = {
        "format": PLAN_FORMAT,
        "subtasks": sorted(map(canonical_subtask, plan.subtasks)),
        "dependencies": sorted([e.source, e.target, e.output, e.input] for e in plan.dependencies),
    }
    return hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


def canonical_subtask(subtask: SubTask) -> str:
    """Write a sub-task as one JSON text that is the same exactly when the sub-task says the same.

    This is stricter than `==`, for which `True`, `1` and `1.0` in `params` would be the same.
    """
    document = dict(zip(_TEXTS, _texts_of(subtask), strict=True))
    return canonical_json(document | {name: canonical_field(subtask, name) for name in _OTHERS})


def canonical_field(subtask: SubTask, name: str) -> JsonValue:
    """Give one field of a sub-task as plain JSON values, numbers in one form per field."""
    match name:
        case "required_domains":
            return {domain: float(relevance) for domain, relevance in subtask.required_domains.items()}
        case "estimate":
            return float(subtask.estimate)
        case "inputs" | "outputs":
            ports: tuple[PortSpec, ...] = getattr(subtask, name)
            return [
                {"name": p.name, "type": p.type, "description": p.description, "required": p.required}
                for p in ports
            ]
        case "acceptance":
            return list(subtask.acceptance)
        case "params":
            return dict(subtask.params)
        case _:
            text: str = getattr(subtask, name)
            return text


def canonical_json(value: object, *, ascii_only: bool = True) -> str:
    """Write a JSON value in one form: sorted keys, no spaces; `ValueError` for infinite or NaN."""
    return (_ASCII if ascii_only else _AS_IS).encode(value)


_ASCII: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_AS_IS: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def natural_key(node: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Sort ids as people do: `n2` before `n10`.

    >>> sorted(["n10", "n2", "a"], key=natural_key)
    ['a', 'n2', 'n10']
    """
    parts = []
    for place, part in enumerate(re.split(r"([0-9]+)", node)):
        # Digits are compared by length first: as numbers, but with no limit to their size.
        digits = part.lstrip("0") if place % 2 else ""
        parts.append((1, len(digits), digits) if place % 2 else (0, 0, part))
    return tuple(parts), node


def structural_boundary(*, has_predecessors: bool, has_successors: bool) -> Boundary:
    """Give the boundary that a node has to declare, from what stands before and after it."""
    match (has_predecessors, has_successors):
        case (False, False):
            return "both"
        case (False, True):
            return "entry"
        case (True, False):
            return "exit"
        case _:
            return "inner"


def _first_duplicate(plan: Plan) -> NodeId:
    seen: set[NodeId] = set()
    for subtask in plan.subtasks:
        if subtask.id in seen:
            return subtask.id
        seen.add(subtask.id)
    raise AssertionError("called for a plan whose ids are distinct")


def _distinct(nodes: Iterable[NodeId], ranks: Mapping[NodeId, int]) -> tuple[NodeId, ...]:
    return tuple(sorted(set(nodes), key=ranks.__getitem__))


def _reach(nodes: Iterable[NodeId], step: Mapping[NodeId, tuple[NodeId, ...]]) -> frozenset[NodeId]:
    reached: set[NodeId] = set()
    frontier = deque(nodes)
    while frontier:
        for node in step[frontier.popleft()]:
            if node not in reached:
                reached.add(node)
                frontier.append(node)
    return frozenset(reached)


def _topological_order(
    predecessors: Mapping[NodeId, tuple[NodeId, ...]],
    successors: Mapping[NodeId, tuple[NodeId, ...]],
    ranks: Mapping[NodeId, int],
) -> tuple[NodeId, ...]:
    """Give Kahn's order with a heap; shorter than the number of nodes exactly when there is a cycle."""
    by_rank = sorted(ranks, key=ranks.__getitem__)
    waiting = {node: len(before) for node, before in predecessors.items()}
    ready = [ranks[node] for node, count in waiting.items() if count == 0]
    heapify(ready)
    order: list[NodeId] = []
    while ready:
        node = by_rank[heappop(ready)]
        order.append(node)
        for follower in successors[node]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heappush(ready, ranks[follower])
    return tuple(order)
