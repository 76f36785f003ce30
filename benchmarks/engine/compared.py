"""Rounds of ours and the peers in turn, and figures over them: the ratio of each round, then the median.

A machine that slows down slows the whole round. Intervals are 95 % bootstrap over rounds, and over DAGs where there
are several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.contract import RESAMPLES, Figure, progress

T = TypeVar("T")
Array = NDArray[np.float64]
Sides = Mapping[str, Callable[[], T]]
"""What is executed in a round, by name."""


def in_turn(name: str, sides: Sides[T], rounds: int) -> list[dict[str, T]]:
    """Execute every side once per round; each round starts with another one."""
    names = list(sides)
    taken: list[dict[str, T]] = []
    for number in range(rounds):
        shift = number % len(names)
        one = {side: sides[side]() for side in names[shift:] + names[:shift]}
        taken.append({side: one[side] for side in names})
        progress(f"{name}: round {number + 1} of {rounds}")
    return taken


def median(values: Sequence[float], unit: str, seed: int) -> Figure:
    """Return the median of the rounds; raises `ValueError` for none."""
    return mean_of_medians([values], unit, seed)


def mean_of_medians(groups: Sequence[Sequence[float]], unit: str, seed: int) -> Figure:
    """Return the mean over DAGs of the median over rounds; raises `ValueError` for none."""
    return _figure(groups, unit, seed, over=lambda medians: medians.mean(axis=-1))


def worst_of_medians(groups: Sequence[Sequence[float]], unit: str, seed: int) -> Figure:
    """Return the greatest median over rounds among the DAGs; raises `ValueError` for none."""
    return _figure(groups, unit, seed, over=lambda medians: medians.max(axis=-1))


def _figure(
    groups: Sequence[Sequence[float]], unit: str, seed: int, over: Callable[[Array], Array]
) -> Figure:
    if not groups or not all(groups):
        raise ValueError("a figure over no rounds")
    value = over(np.array([np.median(rounds) for rounds in groups]))
    rng = np.random.default_rng(seed)
    size = (RESAMPLES, len(groups))
    medians = np.stack([_drawn_medians(np.asarray(rounds), size, rng) for rounds in groups])
    chosen = rng.integers(0, len(groups), size)
    drawn = over(np.take_along_axis(medians, chosen[np.newaxis], axis=0)[0])
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Figure(value=float(value), low=float(low), high=float(high), n=sum(map(len, groups)), unit=unit)


def _drawn_medians(rounds: Array, size: tuple[int, int], rng: np.random.Generator) -> Array:
    """Return the medians of resampled rounds, independent ones in every cell of `size`."""
    found: Array = np.median(rounds[rng.integers(0, len(rounds), (*size, len(rounds)))], axis=-1)
    return found
