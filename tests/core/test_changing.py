"""`changed` gives what `dataclasses.replace` gives."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, fields, replace
from typing import Any

import pytest

from orchestrator.core.changing import changed
from orchestrator.core.ids import RunId
from orchestrator.core.state import NodeState, RunState
from tests.core.builders import n

NODE = NodeState(id=n("a"), waiting=2, repairs=("change_agent",))


@pytest.mark.parametrize("name", [field.name for field in fields(NodeState)])
def test_every_field_can_change_and_the_others_stay(name: str) -> None:
    change: dict[str, Any] = {name: "something else"}
    assert changed(NODE, **change) == replace(NODE, **change) != NODE
    assert NodeState(id=n("a"), waiting=2, repairs=("change_agent",)) == NODE, "what was copied is as it was"


def test_a_copy_without_changes_is_another_equal_value() -> None:
    state = RunState(run=RunId("r-1"), seq=4)
    copy = changed(state)
    assert copy == state
    assert copy is not state
    with pytest.raises(FrozenInstanceError):
        copy.seq = 5  # type: ignore[misc]  # what is tested


def test_a_field_that_does_not_exist_is_refused() -> None:
    unknown: dict[str, Any] = {"generations": 3}
    with pytest.raises(AttributeError, match="generations"):
        changed(NODE, **unknown)


@dataclass(frozen=True, kw_only=True)
class Open:
    """Has no slots."""

    first: int = 1
    second: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Would not be checked."""

    first: int = 1
    second: int = 2

    def __post_init__(self) -> None:
        assert self.first < self.second


@pytest.mark.parametrize("value", [Open(), Checked()])
def test_what_it_would_copy_wrongly_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=type(value).__name__):
        changed(value, first=0)
