"""The contract of benchmark commands: options, intervals, the JSON object."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean as plain_mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contract import (
    DataMissing,
    Figure,
    Report,
    difference,
    mean,
    rate,
    read_options,
    rows_of,
)


def test_options(tmp_path: Path) -> None:
    given_options = read_options(
        "job",
        "about",
        ["--data", str(tmp_path), "--set", "a", "--set", "b", "--limit", "3", "--seed", "9", "--json"],
    )
    assert (given_options.sets, given_options.limit, given_options.seed, given_options.as_json) == (
        ("a", "b"),
        3,
        9,
        True,
    )
    assert read_options("job", "about", ["--data", str(tmp_path)]).seed == 7


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--data", "nowhere"], "--data is 'nowhere', which is no folder"),
        (["--data", ".", "--limit", "0"], "--limit is 0; give a whole number from 1"),
    ],
)
def test_bad_options_exit_with_2(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        read_options("job", "about", arguments)
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err


def test_rows_are_found_below_the_folder(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "faq.dev.jsonl").write_text('{"a": 1}\n\n{"a": "中"}\n', encoding="utf-8")
    assert rows_of(tmp_path, "faq") == [{"a": 1}, {"a": "中"}]
    assert rows_of(tmp_path, "faq", 1) == [{"a": 1}]
    with pytest.raises(DataMissing, match="no file 'other'"):
        rows_of(tmp_path, "other")


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30))
def test_a_mean_lies_in_its_interval_and_the_seed_decides(values: list[float]) -> None:
    figure = mean(values, "x", 3)
    assert figure.value == pytest.approx(plain_mean(values))
    assert min(values) - 1e-9 <= figure.low <= figure.high <= max(values) + 1e-9
    assert mean(values, "x", 3) == figure
    assert figure.n == len(values)


def test_paired_differences_are_narrower_than_the_means() -> None:
    base = [0.1 * i for i in range(20)]
    better = [value + 0.05 for value in base]
    figure = difference(better, base, "x", 7)
    assert (figure.value, figure.low, figure.high) == pytest.approx((0.05, 0.05, 0.05))
    with pytest.raises(ValueError, match=r"shorter|longer"):
        difference([1.0], [1.0, 2.0], "x", 7)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"), [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (76, 100, 0.6677, 0.8331)]
)
def test_rates_have_wilson_intervals(hits: int, n: int, low: float, high: float) -> None:
    figure = rate(hits, n, "x")
    assert figure.value == hits / n
    assert (figure.low, figure.high) == pytest.approx((low, high), abs=2e-4)


def test_no_rows_give_no_figure() -> None:
    with pytest.raises(ValueError, match="no rows"):
        mean([], "x", 7)
    with pytest.raises(ValueError, match="no rows"):
        rate(0, 0, "x")


def test_the_report_as_json_and_as_text() -> None:
    report = Report(benchmark="job", seed=7)
    report.figures["b.x"] = Figure(value=1 / 3, low=0.1, high=0.5, n=4, unit="share")
    report.beside["b.x.floor"] = Figure(value=0.25, low=0.1, high=0.4, n=4, unit="share")
    report.missing["c.x"] = "no file"
    found = json.loads(report.as_json())
    assert list(found) == ["benchmark", "version", "seed", "figures", "beside", "seconds", "missing"]
    assert found["figures"] == {"b.x": {"value": 0.33333, "low": 0.1, "high": 0.5, "n": 4, "unit": "share"}}
    assert found["missing"] == {"c.x": "no file"}
    text = report.as_text()
    assert "b.x.floor" in text
    assert "missing c.x: no file" in text
