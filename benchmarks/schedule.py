"""Schedules of real plans: how long a plan takes at best, against the gold answer of AsyncHow, exactly.

`python -m benchmarks.schedule --data DIR` reads `asynchow`: steps, which step waits for which, how long each takes at
least and at most, and the gold optimal time for both. A row counts when our critical path and the makespan of our
scheduler, with as many slots as there are steps, are both exactly the gold time. Durations are read as fractions and
counted in a unit of which each is a whole multiple, so nothing is rounded anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from benchmarks.contract import Options, Report, file_of, finish, rate, read_options
from graphs.plan import Dependency, NodeId, Plan, PlanIndex, SubTask, index_plan
from graphs.schedule import critical_path, makespan

SET = "asynchow"
WRONG_GOLD = frozenset({"async-829", "async-1113"})
"""Rows whose gold lower bound is not the longest path of their own graph; they are left out."""
LARGEST = 2**53
"""Up to here whole numbers and their sums are exact in the scheduler's numbers."""

_ENDS = frozenset({"START", "END"})
_LOW, _HIGH = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One plan with its gold times."""

    id: str
    steps: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    """Between steps; start and end of the whole are left out."""
    durations: Mapping[str, tuple[Fraction, Fraction]]
    """Least and most seconds of each step."""
    optimal: tuple[Fraction, Fraction]
    paths: frozenset[tuple[str, ...]]
    """Gold critical paths."""


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print; exits with code 2 on bad input."""
    options = read_options("schedule", "optimal times of real plans", argv)
    report = Report(benchmark="schedule", seed=options.seed)
    measure(report, options)
    finish(report, options)


def measure(report: Report, options: Options) -> None:
    """Put the figures of `asynchow` into `report`; raises `DataMissing`."""
    rows = [row for row in rows_in(options) if row.id not in WRONG_GOLD]
    if not rows:
        report.missing[f"{SET}.optimal_equal"] = "no row is left"
        return
    unequal = [row.id for row in rows if not is_optimal(row)]
    report.figures[f"{SET}.optimal_equal"] = rate(len(rows) - len(unequal), len(rows), "share of the plans")
    report.beside[f"{SET}.path_is_a_gold_path"] = rate(
        sum(has_gold_path(row) for row in rows), len(rows), "share of the plans"
    )
    report.beside[f"{SET}.optimal_equal.sum_of_all_steps"] = rate(
        sum(_sum_is_optimal(row) for row in rows), len(rows), "share of the plans"
    )
    report.conditions["left out"] = f"{', '.join(sorted(WRONG_GOLD))}: their gold lower bound is wrong"
    if unequal:
        report.conditions["unequal"] = ", ".join(unequal)


def rows_in(options: Options) -> list[Row]:
    """Return the rows of the set, their numbers as exact fractions."""
    found: list[Row] = []
    with file_of(options.data, SET).open(encoding="utf-8") as file:
        for line in file:
            if line.strip() and (options.limit is None or len(found) < options.limit):
                found.append(_row(json.loads(line, parse_float=Fraction, parse_int=Fraction)))
    return found


def is_optimal(row: Row) -> bool:
    """Whether critical path and makespan are the gold time, for the least and for the most of each step."""
    return all(_at_best(row, bound) == (row.optimal[bound], row.optimal[bound]) for bound in (_LOW, _HIGH))


def has_gold_path(row: Row) -> bool:
    """Whether our critical path by the longest durations is one of the gold ones."""
    index = _index(row)
    _, scaled = _whole(row, _HIGH)
    return tuple(map(str, critical_path(index, scaled).nodes)) in row.paths


def _at_best(row: Row, bound: int) -> tuple[Fraction, Fraction]:
    """Return the length of the critical path and the makespan, in seconds."""
    index = _index(row)
    unit, scaled = _whole(row, bound)
    path = critical_path(index, scaled)
    schedule = makespan(index, scaled, slots=max(1, len(row.steps)))
    return Fraction(path.length) / unit, Fraction(schedule.makespan) / unit


def _whole(row: Row, bound: int) -> tuple[int, Mapping[NodeId, float]]:
    """Return how many units a second has and the durations in whole units.

    Raises `ValueError` if their sum is beyond what is exact.
    """
    exact = {NodeId(step): row.durations[step][bound] for step in row.steps}
    unit = lcm(*(duration.denominator for duration in exact.values()))
    whole = {step: int(duration * unit) for step, duration in exact.items()}
    if sum(whole.values()) > LARGEST:
        raise ValueError(f"row {row.id!r}: {sum(whole.values())} units are beyond {LARGEST}, what is exact")
    return unit, {step: float(units) for step, units in whole.items()}


def _index(row: Row) -> PlanIndex:
    return index_plan(
        Plan(
            subtasks=tuple(
                SubTask(id=NodeId(step), title=step, kind="function", operation="step") for step in row.steps
            ),
            dependencies=tuple(
                Dependency(source=NodeId(first), target=NodeId(second), output="done", input="given")
                for first, second in row.edges
            ),
        )
    )


def _sum_is_optimal(row: Row) -> bool:
    """The floor: as if every step waited for all others."""
    return all(
        sum((row.durations[step][bound] for step in row.steps), Fraction()) == row.optimal[bound]
        for bound in (_LOW, _HIGH)
    )


def _row(document: Mapping[str, Any]) -> Row:
    low, high = document["optimal_seconds_lo_hi"]
    durations = {step: (least, most) for step, (least, most) in document["seconds_lo_hi"].items()}
    return Row(
        id=document["id"],
        steps=tuple(durations),
        edges=tuple(
            (first, second) for first, second in document["edges"] if not _ENDS.intersection((first, second))
        ),
        durations=durations,
        optimal=(low, high),
        paths=frozenset(
            tuple(step for step in path if step not in _ENDS) for path in document["critical_paths"]
        ),
    )


if __name__ == "__main__":
    main()
