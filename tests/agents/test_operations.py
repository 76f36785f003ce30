import pytest

from agents.operations import OPERATIONS, SEARCH_TOOLS, VERIFY, field_name, tools_of


def test_searching_operations_read_notes_and_computing_ones_touch_nothing() -> None:
    for operation in OPERATIONS.values():
        searches = operation.kind == "loop"
        assert operation.tools == (SEARCH_TOOLS if searches else ())
        assert operation.side_effects == ("read" if searches else "none")
        assert ("notes" in [port.name for port in operation.inputs]) == searches
        assert operation.outputs


def test_verifying_is_no_subtask() -> None:
    assert VERIFY not in OPERATIONS


@pytest.mark.parametrize(
    ("operation", "tools"), [("research", SEARCH_TOOLS), ("report", ()), ("unknown", ())]
)
def test_tools_of_an_operation(operation: str, tools: tuple[str, ...]) -> None:
    assert tools_of(operation) == tools


def test_fields_of_different_items_have_different_names() -> None:
    assert field_name("A", "cost") != field_name("B", "cost")
