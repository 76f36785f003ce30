"""The difference between two plans, field by field, and its words for the review."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Final

from pydantic import ConfigDict, JsonValue

from graphs.contract import Lang
from graphs.plan import (
    Dependency,
    InvalidPlanError,
    NodeId,
    Plan,
    SubTask,
    canonical_field,
    canonical_json,
    canonical_subtask,
    natural_key,
)

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field of one node, before and after, as plain JSON values."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    field: str
    old: JsonValue
    new: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChange:
    """A node that is in both plans and says something else."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    node: NodeId
    """The id in the new plan."""
    changes: tuple[FieldChange, ...]
    """In the order of the fields of `SubTask`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """A node that has another id and otherwise says the same."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    old: NodeId
    new: NodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDiff:
    """What changed between two plans; every part in natural order of ids."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    added: tuple[SubTask, ...] = ()
    removed: tuple[SubTask, ...] = ()
    renamed: tuple[Renaming, ...] = ()
    changed: tuple[NodeChange, ...] = ()
    edges_added: tuple[Dependency, ...] = ()
    edges_removed: tuple[Dependency, ...] = ()
    """Edges of the old plan, under the new ids of renamed nodes."""

    @property
    def empty(self) -> bool:
        """True exactly when both plans have the same `plan_sha256`."""
        return self == PlanDiff()

    @property
    def touched(self) -> frozenset[NodeId]:
        """The nodes of the new plan that are new, changed, renamed, or at an end of a changed edge."""
        ends = {
            end for edge in (*self.edges_added, *self.edges_removed) for end in (edge.source, edge.target)
        }
        return frozenset(
            {subtask.id for subtask in self.added}
            | {change.node for change in self.changed}
            | {renaming.new for renaming in self.renamed}
            | (ends - {subtask.id for subtask in self.removed})
        )


def diff_plans(old: Plan, new: Plan) -> PlanDiff:
    """Compare two plans. The order in which nodes and edges are written does not count.

    A node that left and a node that came count as one renamed node if they say exactly the same besides the id.
    Raises `InvalidPlanError` if a plan uses an id twice. O((nodes + edges) log nodes).
    """
    before, after = _by_id(old), _by_id(new)
    gone = [before[node] for node in _natural(before.keys() - after.keys())]
    come = [after[node] for node in _natural(after.keys() - before.keys())]
    renamed = _renamings(gone, come)
    old_ids, new_ids = {pair.old for pair in renamed}, {pair.new for pair in renamed}
    new_id_of = {pair.old: pair.new for pair in renamed}
    changed = (_node_change(before[node], after[node]) for node in _natural(before.keys() & after.keys()))
    old_edges = Counter(_under_new_ids(edge, new_id_of) for edge in old.dependencies)
    new_edges = Counter(new.dependencies)
    return PlanDiff(
        added=tuple(subtask for subtask in come if subtask.id not in new_ids),
        removed=tuple(subtask for subtask in gone if subtask.id not in old_ids),
        renamed=renamed,
        changed=tuple(change for change in changed if change.changes),
        edges_added=_sorted_edges((new_edges - old_edges).elements()),
        edges_removed=_sorted_edges((old_edges - new_edges).elements()),
    )


def render_diff(diff: PlanDiff, lang: Lang) -> str:
    """Write a diff as lines for people: `+` added, `-` removed, `~` changed, `>` renamed.

    Titles, instructions and values are quoted on one line and shortened to 60 characters.

    >>> from graphs.plan import NodeId, SubTask
    >>> node = SubTask(id=NodeId("n1"), title="Collect prices", kind="loop", operation="research")
    >>> print(render_diff(diff_plans(Plan(), Plan(subtasks=(node,))), "en"))
    + node n1 "Collect prices"
    """
    node, edge, same = ("node", "edge", "no changes") if lang == "en" else ("节点", "边", "没有变化")
    lines = [f"+ {node} {subtask.id} {_cut(_json(subtask.title), _LONGEST_VALUE)}" for subtask in diff.added]
    lines += [
        f"- {node} {subtask.id} {_cut(_json(subtask.title), _LONGEST_VALUE)}" for subtask in diff.removed
    ]
    lines += [f"> {node} {pair.old} -> {pair.new}" for pair in diff.renamed]
    for change in diff.changed:
        for part in change.changes:
            name = _FIELD_NAMES[part.field] if lang == "zh" else part.field
            old, new = cut_apart(_json(part.old), _json(part.new), _LONGEST_VALUE)
            lines.append(f"~ {node} {change.node} {name}: {old} -> {new}")
    lines += [f"+ {edge} {_arrow(added)}" for added in diff.edges_added]
    lines += [f"- {edge} {_arrow(removed)}" for removed in diff.edges_removed]
    return "\n".join(lines or [same])


_FIELD_NAMES: Final[Mapping[str, str]] = {
    "title": "标题",
    "kind": "类型",
    "operation": "操作",
    "boundary": "边界",
    "instruction": "指令",
    "params": "参数",
    "inputs": "输入",
    "outputs": "输出",
    "acceptance": "验收",
    "required_domains": "所需知识域",
    "side_effects": "副作用",
    "failure_semantics": "失败语义",
    "estimate": "时长估计",
}

_LONGEST_VALUE: Final = 60
_BEFORE_DIFFERENCE: Final = 20


def _by_id(plan: Plan) -> dict[NodeId, SubTask]:
    found: dict[NodeId, SubTask] = {}
    for subtask in plan.subtasks:
        if subtask.id in found:
            raise InvalidPlanError(f"Node id {subtask.id!r} is used twice; give each node its own id.")
        found[subtask.id] = subtask
    return found


def _renamings(gone: Iterable[SubTask], come: Iterable[SubTask]) -> tuple[Renaming, ...]:
    waiting: dict[str, list[NodeId]] = {}
    for subtask in come:
        waiting.setdefault(_without_id(subtask), []).append(subtask.id)
    found = []
    for subtask in gone:
        candidates = waiting.get(_without_id(subtask))
        if candidates:
            found.append(Renaming(old=subtask.id, new=candidates.pop(0)))
    return tuple(found)


def _without_id(subtask: SubTask) -> str:
    return canonical_subtask(replace(subtask, id=NodeId("")))


def _node_change(old: SubTask, new: SubTask) -> NodeChange:
    changes = []
    # Edits keep untouched nodes as the same objects, so most comparisons end here.
    for spec in () if old is new else fields(SubTask):
        before, after = canonical_field(old, spec.name), canonical_field(new, spec.name)
        if canonical_json(before) != canonical_json(after):
            changes.append(FieldChange(field=spec.name, old=before, new=after))
    return NodeChange(node=new.id, changes=tuple(changes))


def _under_new_ids(edge: Dependency, new_id_of: Mapping[NodeId, NodeId]) -> Dependency:
    return replace(
        edge,
        source=new_id_of.get(edge.source, edge.source),
        target=new_id_of.get(edge.target, edge.target),
    )


def _natural(nodes: Iterable[NodeId]) -> list[NodeId]:
    return sorted(nodes, key=natural_key)


def _sorted_edges(edges: Iterable[Dependency]) -> tuple[Dependency, ...]:
    return tuple(
        sorted(edges, key=lambda e: (natural_key(e.source), natural_key(e.target), e.output, e.input))
    )


def cut_apart(old: str, new: str, longest: int) -> tuple[str, str]:
    """Return two different texts cut to `longest` characters each, so that it can be seen where they differ.

    What both begin with is left out as far as needed, up to `_BEFORE_DIFFERENCE` characters before the difference.

    >>> cut_apart("a" * 50 + "b", "a" * 50 + "c", 30)
    ('…aaaaaaaaaaaaaaaaaaaab', '…aaaaaaaaaaaaaaaaaaaac')
    """
    shown = _cut(old, longest), _cut(new, longest)
    if shown[0] != shown[1]:
        return shown
    same = next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(shown[0])
    )
    start = max(0, same - _BEFORE_DIFFERENCE)
    return _cut(f"…{old[start:]}", longest), _cut(f"…{new[start:]}", longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _json(value: JsonValue) -> str:
    return canonical_json(value, ascii_only=False)


def _arrow(edge: Dependency) -> str:
    return f"{edge.source}.{edge.output} -> {edge.target}.{edge.input}"
