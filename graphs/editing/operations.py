"""The edits of a plan as values: what a person or a planner asks to change.

Each operation is a frozen dataclass with a literal `op`, so that a list of edits can be stored, sent and
shown. `graphs.edits.apply_edit` carries them out. In every operation `None` means "leave as it is".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, JsonValue

from graphs.contract import PortSpec
from graphs.plan import Boundary, Dependency, FailureSemantics, NodeId, SideEffect, SubTask, SubTaskKind

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddNode:
    """Put a new sub-task into the plan; connect it with `Connect`."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["add_node"] = "add_node"
    subtask: SubTask
    position: int | None = None
    """Place in `Plan.subtasks`, 0 to their number; None appends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveNode:
    """Take a sub-task and its edges out of the plan."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["remove_node"] = "remove_node"
    node: NodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameNode:
    """Give a sub-task another id, in its edges and in every `{{id.port}}` reference of an instruction too."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["rename_node"] = "rename_node"
    node: NodeId
    to: NodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitNode:
    """Replace a sub-task by several.

    An edge into input port `p` of the old node goes to every part that has an input `p` which no inner edge
    feeds. An edge out of output port `q` comes from every part that has an output `q` which no inner edge
    uses.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["split_node"] = "split_node"
    node: NodeId
    parts: tuple[SubTask, ...]
    """At least two; one of them may keep the old id."""
    inner: tuple[Dependency, ...] = ()
    """The edges between the parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeNodes:
    """Replace several sub-tasks by one.

    Edges between them vanish; edges to the outside keep their port names, which `into` must have.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["merge_nodes"] = "merge_nodes"
    nodes: tuple[NodeId, ...]
    """At least two, each once."""
    into: SubTask
    """May keep the id of one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """Add an edge."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["connect"] = "connect"
    dependency: Dependency


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Remove an edge (every copy of it, if a document holds it twice)."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["cut"] = "cut"
    dependency: Dependency


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateNode:
    """Replace fields of a sub-task other than its id."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["update_node"] = "update_node"
    node: NodeId
    title: str | None = None
    kind: SubTaskKind | None = None
    operation: str | None = None
    boundary: Boundary | None = None
    instruction: str | None = None
    params: Mapping[str, JsonValue] | None = None
    inputs: tuple[PortSpec, ...] | None = None
    outputs: tuple[PortSpec, ...] | None = None
    acceptance: tuple[str, ...] | None = None
    required_domains: Mapping[str, float] | None = None
    side_effects: SideEffect | None = None
    failure_semantics: FailureSemantics | None = None
    estimate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetParams:
    """Set and remove single parameters of a sub-task; the others stay."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["set_params"] = "set_params"
    node: NodeId
    values: Mapping[str, JsonValue] = field(default_factory=dict)
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedNode:
    """A sub-task with its place in `Plan.subtasks`."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    index: int
    subtask: SubTask


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedEdge:
    """An edge with its place in `Plan.dependencies`."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    index: int
    dependency: Dependency


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """What an edit took out of a plan and put in, place by place: the form of every inverse.

    Indices in `*_out` count in the plan before, indices in `*_in` in the plan after, both ascending. A patch
    applies only to a plan that holds exactly what it takes out.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["patch"] = "patch"
    nodes_out: tuple[PlacedNode, ...] = ()
    nodes_in: tuple[PlacedNode, ...] = ()
    edges_out: tuple[PlacedEdge, ...] = ()
    edges_in: tuple[PlacedEdge, ...] = ()

    @property
    def inverse(self) -> "Patch":
        """The patch that undoes this one."""
        return Patch(
            nodes_out=self.nodes_in,
            nodes_in=self.nodes_out,
            edges_out=self.edges_in,
            edges_in=self.edges_out,
        )


SimpleEdit: TypeAlias = (
    AddNode
    | RemoveNode
    | RenameNode
    | SplitNode
    | MergeNodes
    | Connect
    | Cut
    | UpdateNode
    | SetParams
    | Patch
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeEdit:
    """Several edits, one after the other, as one: all or none."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    op: Literal["composite"] = "composite"
    edits: tuple[Annotated[SimpleEdit, Discriminator("op")], ...] = ()


EditOp: TypeAlias = Annotated[SimpleEdit | CompositeEdit, Discriminator("op")]
"""Any edit; `pydantic.TypeAdapter(EditOp)` reads and writes it."""
