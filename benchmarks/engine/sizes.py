"""How large the loads are, and how often they are executed."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.engine.loads import W2_DAGS, W2_MEDIAN_S, W2_NODES, W3_NODES, W4_LATENCY_S, W4_WIDTH

MIN_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Of one run of the benchmark."""

    rounds: int = MIN_ROUNDS
    seed: int
    w1: int = 1_000
    """Nodes of W1 beside G, and of the memory figure."""
    w1_small: int = 100
    w1_large: int = 10_000
    w2: int = W2_NODES
    w2_median_s: float = W2_MEDIAN_S
    dags: int = W2_DAGS
    w3: int = W3_NODES
    w4: int = W4_WIDTH
    w4_latency_s: float = W4_LATENCY_S

    @property
    def small_repeats(self) -> int:
        """How often the small W1 is repeated where a round compares it with the large one.

        So that both take long enough for the clock; never more often than 10 times.
        """
        return max(1, min(10, self.w1_large // self.w1_small))


def tiny(seed: int) -> Sizes:
    """Return sizes that go through all of the code in seconds; their figures mean nothing."""
    return Sizes(
        rounds=1,
        seed=seed,
        w1=16,
        w1_small=9,
        w1_large=25,
        w2=12,
        w2_median_s=0.02,
        dags=1,
        w3=5,
        w4=8,
        w4_latency_s=0.01,
    )
