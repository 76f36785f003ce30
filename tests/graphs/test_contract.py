import dataclasses
from typing import get_args

import pytest
from hypothesis import given
from pydantic import TypeAdapter, ValidationError

from graphs.contract import (
    DELTA_MAX,
    Goal,
    Intent,
    Limits,
    PortType,
    TaskContract,
    forbidden_domains,
    port_accepts,
)
from tests import strategies


def test_defaults_are_those_of_the_seeds() -> None:
    limits = Limits()
    assert (limits.max_actions, limits.max_tool_calls, limits.deadline_s) == (24, 18, 900)
    assert (limits.max_model_tokens, limits.max_model_time_s, limits.max_steps_per_node) == (60000, 180, 12)
    assert DELTA_MAX == TaskContract(kind="x").delta_max == 0.05
    # One first round and three repairs, each with one try and three retries.
    assert limits.max_attempts_per_node == 4 * 4


def test_forbidden_domains_are_told_from_free_text() -> None:
    contract = TaskContract(kind="x", forbidden=("domain: law.tax", "no domain:med in text", "domain:med"))
    assert forbidden_domains(contract) == {"law.tax", "med"}


@pytest.mark.parametrize("kind", get_args(PortType))
def test_every_type_fits_itself_and_json(kind: PortType) -> None:
    assert port_accepts(kind, kind)
    assert port_accepts("json", kind)


def test_only_a_report_fits_text_besides() -> None:
    fits = {(c, p) for c in get_args(PortType) for p in get_args(PortType) if c not in (p, "json")}
    assert {pair for pair in fits if port_accepts(*pair)} == {("text", "report")}


@given(strategies.contracts, strategies.goals, strategies.intents)
def test_values_survive_json(contract: TaskContract, goal: Goal, intent: Intent) -> None:
    for kind, value in ((TaskContract, contract), (Goal, goal), (Intent, intent)):
        adapter: TypeAdapter[object] = TypeAdapter(kind)
        assert adapter.validate_json(adapter.dump_json(value)) == value


@pytest.mark.parametrize("document", ['{"kind": "x", "limit": {}}', '{"kind": "x", "limits": {"max": 1}}'])
def test_unknown_fields_are_refused(document: str) -> None:
    with pytest.raises(ValidationError, match="Unexpected keyword"):
        TypeAdapter(TaskContract).validate_json(document)


def test_values_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Limits().max_actions = 99  # type: ignore[misc]  # the point of the test
