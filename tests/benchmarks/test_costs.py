"""What each part of a sub-task costs: the meter, parts that add up, the table in both languages."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from benchmarks.contract import Figure, Report
from benchmarks.engine import costs
from benchmarks.engine.command import main
from benchmarks.engine.costs import PARTS, Meter, as_markdown
from orchestrator.shell import executor, wiring
from tests.docs.pages import ROOT


def spend(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_an_inner_part_is_not_counted_twice() -> None:
    meter = Meter()
    inner = meter.timed("inner", lambda: spend(0.03))

    def both() -> None:
        spend(0.01)
        inner()

    meter.timed("outer", both)()
    assert meter.seconds["inner"] >= 0.03
    # Processor time of this thread only, so other work on the machine does not move it.
    assert 0.01 <= meter.seconds["outer"] < meter.seconds["inner"]


async def test_coroutines_are_metered_and_errors_passed_on() -> None:
    meter = Meter()

    async def fails() -> None:
        spend(0.002)
        raise LookupError("no")

    with pytest.raises(LookupError):
        await meter.timed_coroutine("work", fails)()
    assert meter.seconds["work"] >= 0.002


def test_the_parts_add_up_to_the_whole_and_everything_is_put_back(capsys: pytest.CaptureFixture[str]) -> None:
    before = (vars(wiring)["build_attempt_graph"], vars(executor)["decide"])
    main(["--tiny", "--costs", "--json"])
    found = json.loads(capsys.readouterr().out)
    values = {key.removeprefix("costs."): figure["value"] for key, figure in found["figures"].items()}
    whole = values.pop("whole")
    assert set(values) == set(PARTS) - {"whole", "g"}
    assert sum(values.values()) == pytest.approx(whole, abs=1e-3)
    timed_inside = ("generation", "leak_scan", "checks", "events", "decisions", "commit")
    assert all(values[part] > 0 for part in timed_inside)
    assert found["beside"]["costs.g"]["value"] > 0
    assert (vars(wiring)["build_attempt_graph"], vars(executor)["decide"]) == before


def test_a_round_is_taken_apart() -> None:
    taken = {
        "whole": {"whole": 8.0},
        "without_checkpoints": {"without_checkpoints": 6.5},
        "without_langgraph": {"without_langgraph": 5.0, "checks": 2.0, "events": 1.0},
        "g": {"g": 1.0},
    }
    assert costs.parts_of_round(taken) == {
        "checks": 2.0,
        "events": 1.0,
        "executor": 2.0,
        "langgraph": 1.5,
        "checkpoints": 1.5,
        "whole": 8.0,
        "g": 1.0,
    }


def test_the_table_for_people() -> None:
    report = Report(benchmark="engine", seed=7)
    for part in PARTS:
        place = report.beside if part == "g" else report.figures
        value = 4.0 if part == "whole" else 0.5
        place[f"costs.{part}"] = Figure(value=value, low=value, high=value, n=3, unit="ms")
    english, chinese = as_markdown(report, "en").splitlines(), as_markdown(report, "zh").splitlines()
    assert len(english) == len(chinese) == 2 + len(PARTS)
    assert english[-2:] == [
        "| **the whole** | 4.00 | 100% |",
        "| beside: LangGraph with a node per sub-task, AsyncSqliteSaver, none of the above | 0.50 |  |",
    ]
    assert "| 核验：每个子任务 L1，末端子任务 L2 | 0.50 | 12% |" in chinese


@pytest.mark.parametrize(("page", "lang"), [("engine.md", "en"), ("engine.zh-CN.md", "zh")])
def test_the_documentation_has_a_row_for_each_part(page: str, lang: str) -> None:
    text = (Path(ROOT) / "docs" / page).read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    words = [names["zh" if lang == "zh" else "en"] for names in PARTS.values()]
    start = rows.index(words[0])
    assert rows[start : start + len(words)] == words
