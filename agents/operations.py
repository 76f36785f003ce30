"""What sub-tasks may ask of workers: the operations, their ports and the tools that they need.

Planners write plans in this vocabulary, rosters grant tools by it, and workers implement it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from graphs.contract import PortSpec
from graphs.plan import SideEffect, SubTaskKind

SEARCH_TOOLS: Final = ("search_notes", "read_note")
"""The tools that look into the user's sources."""

VERIFY: Final = "verify"
"""The operation of agents that check what others made; no sub-task carries it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One kind of work."""

    name: str
    kind: SubTaskKind
    inputs: tuple[PortSpec, ...]
    outputs: tuple[PortSpec, ...]
    tools: tuple[str, ...] = ()
    """Tools without which the work can't be done."""
    side_effects: SideEffect = "none"


NOTES: Final = PortSpec(name="notes", type="documents")
"""The user's sources: an input of the contract, never an edge."""
CLAIMS: Final = PortSpec(name="claims", type="claims")
TABLE: Final = PortSpec(name="table", type="table")
REPORT: Final = PortSpec(name="report", type="report")


def _search(name: str, output: PortSpec) -> Operation:
    return Operation(
        name=name, kind="loop", inputs=(NOTES,), outputs=(output,), tools=SEARCH_TOOLS, side_effects="read"
    )


def _compute(name: str, *outputs: PortSpec) -> Operation:
    return Operation(name=name, kind="function", inputs=(CLAIMS,), outputs=outputs)


OPERATIONS: Final[Mapping[str, Operation]] = MappingProxyType(
    {
        operation.name: operation
        for operation in (
            _search("research", CLAIMS),
            _search("gather", CLAIMS),
            _search("summarise", CLAIMS),
            _search("extract", TABLE),
            _search("check", CLAIMS),
            _compute("synthesise", CLAIMS),
            _compute("compare", TABLE),
            _compute("outline", CLAIMS),
            _compute("report", REPORT),
        )
    }
)
"""Every operation by name.

- `research`: answers questions, or fills the fields of one thing, from the sources.
- `gather`: collects the key sentences on a topic.
- `summarise`: gives the main points of the sources or of a topic.
- `extract`: fills a table.
- `check`: holds statements, or the claims of its inputs, against the sources.
- `synthesise`: merges claims; copies count once, conflicts are shown.
- `compare`: puts items beside each other, aspect by aspect.
- `outline`: orders claims under the headings of a plan.
- `report`: the delivered document.
"""


def tools_of(operation: str) -> tuple[str, ...]:
    """Return the tools that `operation` needs; none for an operation that is not in the vocabulary."""
    known = OPERATIONS.get(operation)
    return known.tools if known is not None else ()


def field_name(item: str, aspect: str) -> str:
    """Return the name of the field that holds what is said about one aspect of a compared item.

    >>> field_name("Line 2", "cost")
    'Line 2 / cost'
    """
    return f"{item} / {aspect}"
