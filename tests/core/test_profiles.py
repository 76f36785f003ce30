"""What a profile changes, and that its sample is the same every time and as large as it says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.contract import Profile
from graphs.contract import Limits
from orchestrator.core.profiles import is_sampled, limits_in
from orchestrator.core.proposal import proposal_sha256
from tests.core.builders import plan, proposal


@pytest.mark.parametrize(
    ("profile", "given_steps", "steps"),
    [("debug", 12, 5), ("debug", 3, 3), ("evaluate", 12, 12), ("production", 12, 12)],
)
def test_debug_takes_five_steps_at_most(profile: Profile, given_steps: int, steps: int) -> None:
    given_limits = Limits(max_steps_per_node=given_steps, max_actions=7)
    assert limits_in(profile, given_limits) == Limits(max_steps_per_node=steps, max_actions=7)


def test_the_profile_is_part_of_what_is_approved() -> None:
    made = proposal(plan("a>b"))
    hashes = {
        proposal_sha256(replace(made, profile=profile)) for profile in ("debug", "evaluate", "production")
    }
    assert len(hashes) == 3


def test_a_tenth_of_the_attempts_is_sampled() -> None:
    """Of 10,000 fair draws at 0.10, four standard deviations (30 each) are 880 to 1,120."""
    sampled = sum(
        is_sampled("seed", f"n{node}", 1, attempt) for node in range(1_000) for attempt in range(10)
    )
    assert 880 <= sampled <= 1_120


@given(st.text(max_size=8), st.text(max_size=8), st.integers(1, 9), st.integers(1, 9))
def test_a_larger_share_holds_the_smaller_one(seed: str, node: str, generation: int, attempt: int) -> None:
    shares = [is_sampled(seed, node, generation, attempt, share) for share in (0.0, 0.1, 0.5, 1.0)]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (False, True)
