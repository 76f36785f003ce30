"""Lints of how the work is cut: each node one thing, no needless chain, few steps a level.

All of these are heuristics, so all of them are warnings.
"""

import math
from collections.abc import Iterator
from typing import Final

import networkx as nx

from graphs.linting.actions import several_actions
from graphs.linting.findings import LintCode, LintFinding, finding
from graphs.linting.wiring import PlanView
from graphs.plan import NodeId, SubTask

MAX_STEPS_PER_LEVEL: Final = 5
"""Steps of one level of a plan; more are cut into stages of at most this many (003 2.1).

A *step* is a place on the longest dependency chain. Nodes that stand side by side are one step: no agent has
to keep in mind what runs beside it, which is what the seed's rule is about.
"""


def lint_nodes(view: PlanView) -> Iterator[LintFinding]:
    """Find nodes that do several things, or whose outputs or knowledge domains are not declared.

    Only `call` and `loop` nodes need domains: deterministic code and people have no mask.
    """
    for node, subtask in view.subtasks.items():
        actions = several_actions(subtask.title, subtask.instruction)
        if actions:
            yield finding(LintCode.SEVERAL_ACTIONS, node, actions=", ".join(actions))
        types = sorted({port.type for port in subtask.outputs})
        if len(types) > 1:
            yield finding(LintCode.MIXED_OUTPUTS, node, types=", ".join(types))
        if not subtask.outputs:
            yield finding(LintCode.NO_OUTPUTS, node)
        if not subtask.required_domains and subtask.kind in ("call", "loop"):
            yield finding(LintCode.NO_DOMAINS, node, kind=subtask.kind)


def lint_chains(view: PlanView) -> Iterator[LintFinding]:
    """Find maximal chains of nodes that could be one node.

    Two nodes in a row could be one if each is the other's only neighbour on that side, they are of one kind,
    and neither domains nor side effects nor failure semantics differ; besides, they do the same operation, or
    both are `function`, give the same types of output, and the first has no criterion of its own to satisfy.
    """
    graph = view.graph
    follower: dict[NodeId, NodeId] = {}
    for node, subtask in view.subtasks.items():
        after = [n for n in graph.successors(node) if n != node]
        if (
            len(after) == 1
            and graph.in_degree(after[0]) == 1
            and _mergeable(subtask, view.subtasks[after[0]])
        ):
            follower[node] = after[0]
    for start in follower.keys() - set(follower.values()):
        chain = [start]
        while chain[-1] in follower:
            chain.append(follower[chain[-1]])
        yield finding(LintCode.NEEDLESS_CHAIN, *chain, path=" -> ".join(chain))


def lint_steps(view: PlanView) -> Iterator[LintFinding]:
    """Find a plan whose longest chain has more than `MAX_STEPS_PER_LEVEL` steps; a cyclic plan has none."""
    if not nx.is_directed_acyclic_graph(view.graph):
        return
    chain: list[NodeId] = nx.dag_longest_path(view.graph)
    if len(chain) > MAX_STEPS_PER_LEVEL:
        yield finding(
            LintCode.TOO_MANY_STEPS,
            *chain,
            steps=str(len(chain)),
            accepted=str(MAX_STEPS_PER_LEVEL),
            stages=str(math.ceil(len(chain) / MAX_STEPS_PER_LEVEL)),
        )


def _mergeable(first: SubTask, second: SubTask) -> bool:
    return (
        first.kind == second.kind
        and (first.operation == second.operation or _one_transformation(first, second))
        and first.required_domains.keys() == second.required_domains.keys()
        and first.side_effects == second.side_effects
        and first.failure_semantics == second.failure_semantics
    )


def _one_transformation(first: SubTask, second: SubTask) -> bool:
    return (
        first.kind == "function"
        and not first.acceptance
        and {port.type for port in first.outputs} == {port.type for port in second.outputs}
    )
