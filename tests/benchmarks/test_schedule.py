"""The benchmark of schedules: exact over made-up plans whose answers were worked out by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks import schedule
from benchmarks.contract import Options, Report
from benchmarks.schedule import is_optimal, measure, rows_in


def row(name: str, optimal: str, **changed: Any) -> dict[str, Any]:
    """Steps 1 and 2 side by side, then 3; 1 takes 0.1 to 0.3, 2 takes 0.2, 3 takes 0.7 seconds."""
    return {
        "id": name,
        "steps": ["a", "b", "c"],
        "edges": [["START", "1"], ["START", "2"], ["1", "3"], ["2", "3"], ["3", "END"]],
        "seconds_lo_hi": {"1": "[0.1, 0.3]", "2": "[0.2, 0.2]", "3": "[0.7, 0.7]"},
        "optimal_seconds_lo_hi": optimal,
        "critical_paths": [["START", "1", "3", "END"]],
    } | changed


def written(folder: Path, *rows: dict[str, Any]) -> Options:
    """Write rows with their numbers as they stand: a float would round them before anybody reads them."""
    lines = [json.dumps(one).replace('"[', "[").replace(']"', "]") for one in rows]
    (folder / "asynchow.dev.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Options(data=folder, sets=(), limit=None, seed=7, as_json=False)


@pytest.mark.parametrize(
    ("optimal", "equal"),
    [
        ("[0.9, 1.0]", True),
        ("[0.9, 0.9]", False),
        ("[0.8, 1.0]", False),
        # Read as a floating-point number, this one would be 1.0.
        ("[0.9, 1.00000000000000000001]", False),
    ],
)
def test_the_gold_time_is_reproduced_exactly_or_not_at_all(optimal: str, equal: bool, tmp_path: Path) -> None:
    (read,) = rows_in(written(tmp_path, row("x", optimal)))
    assert read.durations["1"] == (Fraction(1, 10), Fraction(3, 10))
    assert is_optimal(read) is equal


def test_chains_of_fractions_are_not_rounded(tmp_path: Path) -> None:
    steps = [str(number) for number in range(1, 31)]
    long = row(
        "x",
        "[3.0, 3.0]",
        edges=[list(edge) for edge in pairwise(steps)],
        seconds_lo_hi=dict.fromkeys(steps, "[0.1, 0.1]"),
        critical_paths=[["START", *steps, "END"]],
    )
    (read,) = rows_in(written(tmp_path, long))
    assert sum([0.1] * 30) != 3.0
    assert is_optimal(read)


def test_the_figures(tmp_path: Path) -> None:
    report = Report(benchmark="schedule", seed=7)
    rows = [row("x", "[0.9, 1.0]"), row("y", "[0.9, 1.1]"), row("async-829", "[5, 5]")]
    measure(report, written(tmp_path, *rows))
    figure = report.figures["asynchow.optimal_equal"]
    assert (figure.value, figure.n) == (0.5, 2)
    assert report.conditions["unequal"] == "y"
    assert report.beside["asynchow.optimal_equal.sum_of_all_steps"].value == 0
    assert report.beside["asynchow.path_is_a_gold_path"].value == 1


def test_what_is_too_large_to_be_exact_is_refused(tmp_path: Path) -> None:
    huge = row("x", "[1, 1]", seconds_lo_hi=dict.fromkeys("123", "[1e16, 1e16]"))
    (read,) = rows_in(written(tmp_path, huge))
    with pytest.raises(ValueError, match="beyond 9007199254740992, what is exact"):
        is_optimal(read)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, row("x", "[0.9, 1.0]"))
    schedule.main(["--data", str(tmp_path), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["figures"]["asynchow.optimal_equal"]["value"] == 1.0
    assert "async-829" in found["conditions"]["left out"]


def test_no_row_left_gives_no_figure(tmp_path: Path) -> None:
    report = Report(benchmark="schedule", seed=7)
    measure(report, written(tmp_path, row("async-829", "[5, 5]")))
    assert report.figures == {}
    assert report.missing == {"asynchow.optimal_equal": "no row is left"}
