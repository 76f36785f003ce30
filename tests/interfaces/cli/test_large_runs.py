"""A run of 500 sub-tasks stays readable: what matters is on one screen, and everything can be asked for."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from orchestrator.core.events import Event
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import apply, initial
from orchestrator.interfaces.cli.bodies.listing import NAMED
from orchestrator.interfaces.cli.bodies.showing import SHOWN
from orchestrator.interfaces.cli.bodies.summaries import LISTED, NOTABLE
from orchestrator.interfaces.cli.progress.live import LiveDisplay
from orchestrator.interfaces.cli.streams import Streams
from tests.core import builders
from tests.core.simulation import Simulation, fails
from tests.interfaces.cli.harness import Terminal, call, store_log
from tests.interfaces.cli.logs import reviewing_log

RUN = "r-test"
"""The run of the simulation, by which its requests are called."""
STUCK = 14
"""Sub-tasks that fail until a person is asked; each feeds one that then waits."""
SCREEN = 60
"""Lines of a large screen."""


def edges(size: int) -> str:
    """Half of the sub-tasks feed one each."""
    half = size // 2
    return " ".join(f"s{number}>t{number}" for number in range(1, half + 1))


def listed(shown: str) -> list[str]:
    """The sub-tasks that have a line."""
    return re.findall(r"^  ([st][0-9]+) ", shown, re.MULTILINE)


@pytest.fixture(scope="module")
def log() -> list[Event]:
    failing = [fails(builders.failure("domain_closed", domain=builders.CONTRACTS)) for _ in range(12)]
    script = {f"s{number}": failing for number in range(1, STUCK + 1)}
    run = Simulation(builders.proposal(builders.plan(edges(500))), script=script)
    assert run.run().status == "suspended"
    return run.log


@pytest.fixture
def home(tmp_path: Path, log: list[Event]) -> Path:
    store_log(tmp_path, RUN, log)
    return tmp_path


def test_it_is_summed_up_with_what_needs_a_look_first(home: Path) -> None:
    shown = call("show", RUN, home=home).out
    assert f"  500 sub-tasks: accepted {500 - 2 * STUCK} · needs you {STUCK} · waiting {STUCK}" in shown
    assert listed(shown) == [f"s{number}" for number in range(1, STUCK + 1)]
    assert f"  all of them: maskgrad show {RUN} --all" in shown
    # The first requests with their choices, the others with one line each.
    for number in range(1, STUCK + 1):
        assert f"\n{RUN}.q{number}  s" in shown
    assert shown.count("  choices:") == SHOWN
    chinese = call("show", RUN, home=home, environment={"MASKGRAD_LANG": "zh"}).out
    assert f"  500 个子任务：已接受 {500 - 2 * STUCK} · 需要您 {STUCK} · 等待 {STUCK}" in chinese


def test_all_of_it_can_be_asked_for(home: Path) -> None:
    shown = call("show", RUN, "--all", home=home).out
    assert len(set(listed(shown))) == 500
    assert shown.count("  choices:") == STUCK
    assert len(call("show", RUN, "--json", home=home).data["nodes"]) == 500


@pytest.mark.parametrize("command", [("watch", "--display", "none"), ("resume",)])
def test_where_a_run_stands_is_summed_up_everywhere(home: Path, command: tuple[str, ...]) -> None:
    name, *options = command
    if name == "resume":
        ended = call("cancel", RUN, home=home)
        assert ended.code == 0
    shown = call(name, RUN, *options, home=home).out
    assert 0 < len(listed(shown)) <= NOTABLE
    assert "500 sub-tasks: " in shown


def test_the_list_of_runs_has_one_short_line_for_it(home: Path) -> None:
    _, row = call("runs", home=home).out.splitlines()
    assert f"({RUN}.q1, {RUN}.q2, {RUN}.q3, +{STUCK - NAMED})" in row
    assert len(row) < 120


def test_a_draft_of_it_is_counted(tmp_path: Path) -> None:
    store_log(tmp_path, RUN, reviewing_log(edges=edges(60)))
    shown = call("show", RUN, home=tmp_path).out
    assert "  60 sub-tasks\n" in shown
    assert len(shown.splitlines()) < SCREEN


@pytest.mark.parametrize(("size", "rows"), [(LISTED, LISTED), (LISTED + 2, 0)])
def test_a_small_plan_is_listed(tmp_path: Path, size: int, rows: int) -> None:
    store_log(tmp_path, RUN, reviewing_log(edges=edges(size)))
    shown = call("show", RUN, home=tmp_path).out
    assert len(listed(shown)) == rows


@pytest.mark.parametrize(("size", "started"), [(LISTED, True), (LISTED + 2, False)])
def test_only_what_is_finished_scrolls_up_above_the_panel_of_a_large_plan(size: int, started: bool) -> None:
    run = Simulation(builders.proposal(builders.plan(edges(size))))
    run.run()
    err = Terminal()
    state = initial(RunId(RUN))
    with LiveDisplay(Streams(io.StringIO(), err, io.StringIO()), "en", {}, width=100) as display:
        for event in run.log:
            state = apply(state, event)
            display.show(event, state)
    shown = err.getvalue()
    assert ("started by A1" in shown) is started
    for number in range(1, size // 2 + 1):
        assert re.search(rf"\bt{number}\b.*accepted", shown)
