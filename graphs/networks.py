"""The networkx view of a plan, sound or not, and the paths that error messages name."""

import networkx as nx

from graphs.plan import NodeId, Plan, natural_key


def digraph(plan: Plan) -> "nx.DiGraph[NodeId]":
    """Give the plan's graph with nodes in natural order; edges to missing nodes are left out.

    Works on any plan: duplicate ids become one node, parallel edges one edge, self edges stay.
    """
    graph: nx.DiGraph[NodeId] = nx.DiGraph()
    nodes: list[NodeId] = sorted({subtask.id for subtask in plan.subtasks}, key=natural_key)
    graph.add_nodes_from(nodes)
    graph.add_edges_from(
        (edge.source, edge.target)
        for edge in plan.dependencies
        if edge.source in graph and edge.target in graph
    )
    return graph


def cycle_paths(graph: "nx.DiGraph[NodeId]") -> tuple[tuple[NodeId, ...], ...]:
    """Give one cycle of each knot of nodes that wait for each other, as `a, b, a`. Self edges do not count.

    The cycle is a shortest one through the knot's smallest id. O(nodes + edges).
    """
    found = []
    for knot in nx.strongly_connected_components(graph):
        if len(knot) > 1:
            start = min(knot, key=natural_key)
            steps = nx.single_source_shortest_path_length(graph.subgraph(knot).copy(), start)
            closing = min(
                (node for node in graph.predecessors(start) if node in knot and node != start),
                key=lambda node: (steps[node], natural_key(node)),
            )
            path = nx.shortest_path(graph, start, closing)
            found.append((*path, start))
    return tuple(sorted(found, key=lambda cycle: natural_key(cycle[0])))


def path_between(graph: "nx.DiGraph[NodeId]", source: NodeId, target: NodeId) -> tuple[NodeId, ...] | None:
    """Give a shortest path from `source` to `target`, both included, or None."""
    try:
        return tuple(nx.shortest_path(graph, source, target))
    except nx.NetworkXNoPath:
        return None
