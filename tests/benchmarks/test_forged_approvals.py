"""Two processes try approvals that are not theirs: nothing is made beyond what was approved."""

from __future__ import annotations

from benchmarks.forged_approvals import KINDS, NODES, try_forgeries


def test_no_call_is_made_on_an_approval_that_is_not_its_own() -> None:
    tried = try_forgeries(240, seed=3)
    assert tried.forged == 0, tried.by_kind
    # Good approvals were used, so the tries were not refused for a reason of their own.
    assert NODES // 2 < tried.genuine <= NODES
    assert len(KINDS) == 7
