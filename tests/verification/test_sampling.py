"""The seeded sample of level 2."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.evidence import EvidenceId, SourceId
from orchestrator.verification.sampling import sample_facts, sample_size
from orchestrator.verification.splitting import ClaimParts, material_of, split
from tests.verification.cases import claim, evidence, output

S = SourceId("s-1")


def parts(core: int, other: int, *, facts: int = 1) -> tuple[ClaimParts, ...]:
    """Return claims with `facts` facts each, those that are not core first."""
    grounds = [
        [evidence(S, f"{n}-{k}", key=f"{'core' if n >= other else 'other'}-{n}-{k}") for k in range(facts)]
        for n in range(core + other)
    ]
    claims = [claim(str(n), *mine, core=n >= other) for n, mine in enumerate(grounds)]
    produced = output(claims, [each for mine in grounds for each in mine])
    return split(produced, material_of(produced, []))


@pytest.mark.parametrize(
    ("facts", "size"), [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (7, 3), (10, 4), (31, 12), (100, 40)]
)
def test_sizes_by_hand(facts: int, size: int) -> None:
    assert sample_size(facts) == size


@settings(deadline=None)
@given(st.integers(2, 5_000), st.integers(30, 50))
def test_the_size_is_within_the_bounds_for_every_share(facts: int, percent: int) -> None:
    assert 30 * facts <= 100 * sample_size(facts, percent) <= 50 * facts


@pytest.mark.parametrize("percent", [29, 51, 0, 100])
def test_a_share_outside_the_specification_is_refused(percent: int) -> None:
    with pytest.raises(ValueError, match=f"{percent}.*30 to 50"):
        sample_size(10, percent)


@settings(deadline=None)
@given(st.integers(0, 8), st.integers(0, 8), st.integers(1, 3), st.text(max_size=5))
def test_core_claims_come_first_and_the_size_holds(core: int, other: int, facts: int, seed: str) -> None:
    taken = sample_facts(parts(core, other, facts=facts), seed)
    total = (core + other) * facts
    assert len(taken) == len(set(taken)) == sample_size(total)
    cores = [fact.startswith("core") for fact in taken]
    assert cores == sorted(cores, reverse=True)
    assert sum(cores) == min(len(taken), core * facts)


def test_claims_are_taken_whole() -> None:
    taken = sample_facts(parts(0, 10, facts=3), "seed")
    assert len(taken) == 12
    per_claim = [fact.rsplit("-", 1)[0] for fact in taken]
    assert all(per_claim.count(name) == 3 for name in per_claim)


def test_the_same_seed_takes_the_same_and_seeds_differ() -> None:
    claims = parts(0, 20)
    taken = {seed: sample_facts(claims, seed) for seed in map(str, range(50))}
    assert all(sample_facts(claims, seed) == facts for seed, facts in taken.items())
    assert sample_facts(tuple(reversed(claims)), "7") == taken["7"]
    assert len({frozenset(facts) for facts in taken.values()}) == 50
    ever = {fact for facts in taken.values() for fact in facts}
    assert len(ever) == 20, "no claim is out of reach of every seed"


@settings(deadline=None)
@given(st.integers(0, 8), st.integers(0, 8), st.text(max_size=5))
def test_a_terminal_sample_has_every_core_fact(core: int, other: int, seed: str) -> None:
    taken = sample_facts(parts(core, other), seed, all_core=True)
    assert sum(fact.startswith("core") for fact in taken) == core
    assert len(taken) == max(core, sample_size(core + other))


def test_flagged_claims_come_on_top() -> None:
    claims = parts(5, 5)
    plain = sample_facts(claims, "seed")
    left_out = [part for part in claims if part.facts[0] not in plain]
    taken = sample_facts(claims, "seed", always={left_out[0].claim.id, left_out[1].claim.id})
    assert set(taken) == {
        *plain,
        left_out[0].facts[0],
        left_out[1].facts[0],
    }


def test_shared_facts_count_once() -> None:
    shared = evidence(S, "x", key="shared")
    produced = output([claim(str(n), shared) for n in range(10)], [shared])
    claims = split(produced, material_of(produced, []))
    assert sample_facts(claims, "seed") == (EvidenceId("shared"),)
