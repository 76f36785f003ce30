"""The comparison of states that every test of this folder ends with sees what `==` sees."""

from __future__ import annotations

from dataclasses import fields, replace

from orchestrator.core.state import RunState
from tests.core.builders import A2, n, plan, proposal
from tests.core.simulation import Simulation
from tests.flows.conftest import Compared


def finished() -> RunState:
    return Simulation(proposal(plan("a>b"))).run()


def test_states_of_equal_runs_are_equal_at_first_and_again() -> None:
    one, other = finished(), finished()
    compared = Compared()
    assert one is not other
    assert compared.equal(one, other)
    assert compared.equal(one, other)


def test_what_differs_is_seen_behind_an_equal_state() -> None:
    one, other = finished(), finished()
    for changed in (
        replace(other, seq=other.seq + 1),
        replace(other, nodes=other.nodes.insert(n("b"), replace(other.node(n("b")), attempt=7))),
        replace(other, nodes=other.nodes.remove(n("b"))),
        replace(other, assigned=other.assigned.insert(n("a"), A2)),
    ):
        compared = Compared()
        assert compared.equal(one, other)
        assert one != changed
        assert not compared.equal(one, changed)
        assert not compared.equal(changed, one)


def test_every_field_that_counts_is_looked_at() -> None:
    one = finished()
    for each in fields(RunState):
        changed = replace(one)
        object.__setattr__(changed, each.name, object())
        assert Compared().equal(one, changed) == (one == changed), each.name
