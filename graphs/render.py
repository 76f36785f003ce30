"""A plan as text: Mermaid for documents and pages that draw it, an outline for terminals and screen readers."""

from collections.abc import Mapping
from typing import Final

from graphs.contract import Lang
from graphs.plan import Boundary, Dependency, NodeId, PlanIndex, SubTask, SubTaskKind

_KINDS: Final[Mapping[SubTaskKind, tuple[str, str]]] = {
    "function": ("function", "函数"),
    "call": ("call", "调用"),
    "loop": ("loop", "循环"),
    "human": ("human", "人工"),
}

_BOUNDARIES: Final[Mapping[Boundary, tuple[str, str]]] = {
    "entry": ("entry", "入口"),
    "inner": ("inner", "内部"),
    "exit": ("exit", "出口"),
    "both": ("entry and exit", "入口兼出口"),
}

_STATES: Final[Mapping[str, tuple[str, str]]] = {
    "pending": ("pending", "等待"),
    "ready": ("ready", "就绪"),
    "running": ("running", "运行中"),
    "verifying": ("verifying", "验证中"),
    "accepted": ("accepted", "已接受"),
    "blocked": ("blocked", "受阻"),
    "suspended": ("suspended", "已挂起"),
    "skipped": ("skipped", "已跳过"),
    "superseded": ("superseded", "已作废"),
}
"""The states of a node (semantics 7); another state is shown as it is."""

_CLASSES: Final[Mapping[str, str]] = {
    "running": "fill:#dbeafe,stroke:#1d4ed8,color:#111",
    "verifying": "fill:#ede9fe,stroke:#6d28d9,color:#111",
    "accepted": "fill:#dcfce7,stroke:#15803d,color:#111",
    "blocked": "fill:#fee2e2,stroke:#b91c1c,color:#111",
    "suspended": "fill:#fef3c7,stroke:#b45309,color:#111",
}

_SHAPES: Final[Mapping[SubTaskKind, tuple[str, str]]] = {
    "function": ("[[", "]]"),
    "call": ("[", "]"),
    "loop": ("(", ")"),
    "human": ("{{", "}}"),
}


def to_mermaid(
    index: PlanIndex,
    assignment: Mapping[NodeId, str] | None = None,
    states: Mapping[NodeId, str] | None = None,
    lang: Lang = "en",
) -> str:
    """Write the plan as a Mermaid flowchart, ending with a newline.

    Each node shows its id and title, its agent if `assignment` has one, its state (word and colour) if
    `states` has one. Nodes are named `s0`, `s1`, … in topological order, and every character of a label that
    Mermaid or HTML could read is written as a numeric entity, so that no label can break or enter the chart.
    """
    names = {node: f"s{place}" for place, node in enumerate(index.order)}
    lines = ["flowchart LR"]
    for node in index.order:
        subtask = index.subtask(node)
        parts = [f"{node}: {subtask.title}"]
        if assignment and node in assignment:
            parts.append(f"@ {assignment[node]}")
        if states and node in states:
            parts.append(_state(states[node], lang))
        opening, closing = _SHAPES[subtask.kind]
        lines.append(f'    {names[node]}{opening}"{"<br/>".join(map(escape_label, parts))}"{closing}')
    for source in index.order:
        for target in index.successors(source):
            ports = dict.fromkeys(edge.output for edge in index.outgoing(source) if edge.target == target)
            lines.append(f'    {names[source]} -->|"{escape_label(", ".join(ports))}"| {names[target]}')
    lines += _class_lines(names, states or {})
    return "\n".join(lines) + "\n"


def to_outline(index: PlanIndex, lang: Lang, assignment: Mapping[NodeId, str] | None = None) -> str:
    """Write the plan as numbered lines in topological order, each with what it needs, ending with a newline.

    An empty plan is one line that says so.
    """
    if not len(index):
        return "(empty plan)\n" if lang == "en" else "（空计划）\n"
    lines = []
    for number, node in enumerate(index.order, start=1):
        subtask = index.subtask(node)
        agent = f" @ {_one_line(assignment[node])}" if assignment and node in assignment else ""
        lines.append(f"{number}. {node}  {_one_line(subtask.title)}  [{_tags(subtask, lang)}]{agent}")
        incoming = index.incoming(node)
        if incoming:
            needs = "needs" if lang == "en" else "需要"
            lines.append(f"   {needs}: {', '.join(_feed(edge) for edge in incoming)}")
    return "\n".join(lines) + "\n"


def escape_label(text: str) -> str:
    """Write a text so that Mermaid shows it and reads nothing in it, on one line.

    Letters, digits and spaces of any script stay; everything else becomes `#code;`.

    >>> escape_label('A "b" [c]')
    'A #34;b#34; #91;c#93;'
    """
    return "".join(c if c.isalnum() or c == " " else f"#{ord(c)};" for c in _one_line(text))


def _class_lines(names: Mapping[NodeId, str], states: Mapping[NodeId, str]) -> list[str]:
    members: dict[str, list[str]] = {}
    for node, name in names.items():
        state = states.get(node)
        if state is not None and state in _CLASSES:
            members.setdefault(state, []).append(name)
    lines = []
    for state, style in _CLASSES.items():
        if state in members:
            lines += [f"    classDef {state} {style}", f"    class {','.join(members[state])} {state}"]
    return lines


def _tags(subtask: SubTask, lang: Lang) -> str:
    column = 0 if lang == "en" else 1
    tags = [_KINDS[subtask.kind][column], subtask.operation]
    if subtask.boundary != "inner":
        tags.append(_BOUNDARIES[subtask.boundary][column])
    if subtask.failure_semantics == "optional":
        tags.append("optional" if lang == "en" else "可选")
    return ", ".join(tags) if lang == "en" else "，".join(tags)


def _state(state: str, lang: Lang) -> str:
    english, chinese = _STATES.get(state, (state, state))
    return english if lang == "en" else chinese


def _feed(edge: Dependency) -> str:
    return f"{edge.source}.{edge.output} -> {edge.input}"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
