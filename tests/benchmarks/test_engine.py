"""The benchmark of the engine: its loads, its figures, and all of its code at tiny sizes."""

from __future__ import annotations

import gc
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contract import Report
from benchmarks.delivered import check_citations
from benchmarks.engine import child, figures, kill
from benchmarks.engine.command import main
from benchmarks.engine.compared import in_turn, mean_of_medians, median, worst_of_medians
from benchmarks.engine.core import cpu_per_event, log_of
from benchmarks.engine.kill import NotInterrupted, Resumed, kill_and_resume
from benchmarks.engine.loads import Load, w1, w2, w3, w4, w6
from benchmarks.engine.notes import sentence_of, write_node_notes
from benchmarks.engine.ours import (
    ScriptedWorker,
    approved_run,
    check_completed,
    run_ours,
    workshop,
)
from benchmarks.engine.peers import run_asyncio, run_langgraph
from benchmarks.engine.sizes import Sizes, tiny
from orchestrator.core.claims import Level
from orchestrator.core.events import AttemptStarted, AttemptVerified
from orchestrator.run import execute, report_of
from orchestrator.shell.runs import events_of, load
from tests.benchmarks.shop import Flat

DIAMOND = Load(
    name="diamond",
    parents={"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")},
    latency={"a": 0.01, "b": 0.03, "c": 0.02, "d": 0.01},
)
RESUMED = Resumed(finished=4, rerun=0, digest_equal=True, rest_s=1.1, ideal_s=1.0, restart_s=2.0)


def test_the_loads_have_the_shapes_that_the_contract_names() -> None:
    for nodes, width in ((100, 10), (1_000, 32), (10_000, 100)):
        dag = w1(nodes, 7)
        assert len(dag.parents) == nodes
        assert set(dag.latency.values()) == {0.0}
        assert sum(not parents for parents in dag.parents.values()) == width
        assert {len(parents) for parents in dag.parents.values()} <= {0, 1, 2, 3}
    assert len(w2(1).parents) == 60
    assert w3().critical_path() == 0
    assert len(w3().parents) == 200
    assert max(len(parents) for parents in w4().parents.values()) == 500
    assert w4().critical_path() == pytest.approx(0.15)
    assert len(w6(w2(1), 7).failing) == 6


def test_latencies_are_lognormal_with_the_stated_median() -> None:
    latencies = sorted(value for seed in range(40) for value in w2(seed).latency.values())
    assert latencies[len(latencies) // 2] == pytest.approx(0.05, rel=0.1)
    # exp(sigma) above and below the median lie 68 % of a lognormal with sigma 1.
    within = sum(0.05 / 2.71828 <= value <= 0.05 * 2.71828 for value in latencies) / len(latencies)
    assert within == pytest.approx(0.683, abs=0.03)


@given(st.integers(1, 80), st.integers(0, 50))
def test_layered_dags_are_in_topological_order_and_the_seed_decides(nodes: int, seed: int) -> None:
    dag = w2(seed, nodes)
    seen: set[str] = set()
    for node, parents in dag.parents.items():
        assert seen.issuperset(parents)
        seen.add(node)
    assert dag == w2(seed, nodes)
    assert max(dag.latency.values()) <= dag.critical_path() <= sum(dag.latency.values()) + 1e-9


def test_the_critical_path_counts_failures_delays_and_what_is_done() -> None:
    assert DIAMOND.critical_path() == pytest.approx(0.05)
    failing = w6(DIAMOND, 1, share=1.0)
    assert failing.critical_path({"c": 1.0}) == pytest.approx(0.02 + 0.04 + 1.0 + 0.02)
    assert DIAMOND.without(frozenset({"a", "b"})).critical_path() == pytest.approx(0.03)
    assert DIAMOND.without(frozenset({"a", "b"})).parents == {"c": (), "d": ("c",)}


def test_rounds_take_turns() -> None:
    order: list[str] = []

    def side(name: str) -> int:
        order.append(name)
        return len(order)

    taken = in_turn("x", {"a": lambda: side("a"), "b": lambda: side("b")}, 3)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert taken == [{"a": 1, "b": 2}, {"a": 4, "b": 3}, {"a": 5, "b": 6}]


def test_figures_over_rounds() -> None:
    assert median([1.0, 9.0, 2.0], "x", 7).value == 2.0
    figure = mean_of_medians([[1.0, 1.1, 5.0], [2.0, 2.0, 2.0]], "x", 7)
    assert figure.value == pytest.approx(1.55)
    assert figure.n == 6
    assert 1.0 <= figure.low <= figure.value <= figure.high <= 5.0
    assert worst_of_medians([[1.0, 1.1, 5.0], [2.0, 2.0, 2.0]], "x", 7).value == 2.0
    with pytest.raises(ValueError, match="no rounds"):
        median([], "x", 7)
    with pytest.raises(ValueError, match="no rounds"):
        mean_of_medians([[1.0], []], "x", 7)


async def test_everything_is_on(tmp_path: Path) -> None:
    notes = write_node_notes(tmp_path / "notes", DIAMOND.parents)
    worker = ScriptedWorker(load=DIAMOND, notes=notes)
    shop = workshop(tmp_path, worker)
    run = approved_run(shop, DIAMOND, notes)
    state = await execute(shop, run)
    check_completed(DIAMOND, state, worker.started)
    bodies = [event.body for event in events_of(shop.store, run)]
    assert sum(isinstance(body, AttemptStarted) for body in bodies) == 4
    levels = {str(body.node): body.verification.level for body in bodies if isinstance(body, AttemptVerified)}
    assert levels == {"a": Level.L1, "b": Level.L1, "c": Level.L1, "d": Level.L2}
    report = report_of(shop, run)
    found = check_citations(report, notes.folder)
    assert sentence_of("d") in report.body
    assert found.sentences == found.cited == found.citations == found.resolving == 1
    shop.store.close()


def test_each_node_finds_something_of_its_own() -> None:
    assert len({sentence_of(f"n{number}") for number in range(10_000)}) == 10_000


def test_a_node_that_fails_once_is_tried_again_everywhere() -> None:
    failing = w6(DIAMOND, 1, share=0.5)
    ours = run_ours(failing)
    assert ours.started == 6
    assert set(ours.delays) == failing.failing
    short = dict.fromkeys(failing.failing, 0.01)
    ideal = failing.critical_path(short)
    assert run_asyncio(failing, short).wall >= ideal
    assert run_langgraph(failing, short).wall >= ideal


def test_a_run_that_is_not_completed_at_first_go_is_no_measurement(tmp_path: Path) -> None:
    notes = write_node_notes(tmp_path / "notes", DIAMOND.parents)
    shop = workshop(tmp_path, ScriptedWorker(load=DIAMOND, notes=notes))
    state = load(shop.store, approved_run(shop, DIAMOND, notes))
    with pytest.raises(RuntimeError, match="'confirmed' instead of 'completed'"):
        check_completed(DIAMOND, state, [])
    shop.store.close()


def test_the_core_alone_folds_the_log_of_a_run() -> None:
    events = log_of(DIAMOND)
    assert sum(isinstance(event.body, AttemptVerified) for event in events) == 4
    assert cpu_per_event(events, repeats=2) > 0


def test_killed_at_half_and_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    # The process that is killed is one of its own. What goes on knows what is in the folder, as
    # a new process would, whose imports are most of what this test would cost.
    monkeypatch.setattr(kill, "answer_of", said_in_this_process)
    found = kill_and_resume(w2(3, 8, 0.05))
    assert 1 <= found.finished < 8
    assert found.rerun == 0
    assert found.digest_equal
    assert 0 < found.ideal_s <= found.rest_s < found.restart_s


def test_all_figures_at_tiny_sizes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(figures, "UseEmbedder", Flat)
    monkeypatch.setattr(figures, "answer_of", in_this_process)
    # Before each measurement the garbage goes: all that the suite holds would be looked at 46 times.
    monkeypatch.setattr(gc, "collect", lambda: 0)
    # A run that is killed needs processes of its own: see `test_killed_at_half_and_gone_on_with`.
    monkeypatch.setattr(figures, "kill_and_resume", lambda _: RESUMED)
    main(["--tiny", "--json"])
    found = json.loads(capsys.readouterr().out)
    sizes = tiny(7)
    assert set(found["figures"]) == {
        f"w1_{sizes.w1}.cpu_over_g",
        f"w1_{sizes.w1}.wall_over_g",
        "w2.over_critical_path",
        "w2.worst_dag_over_critical_path",
        "w3.wall_over_g",
        "w4.wall_over_g",
        "w4.wall_over_asyncio",
        "w5.finished_rerun",
        "w5.digest_equal",
        "w5.rest_over_ideal",
        "w6.over_critical_path",
        f"growth.cpu_per_node_{sizes.w1_small}_to_{sizes.w1_large}",
        f"store.bytes_per_node_{sizes.w1_small}",
        f"store.bytes_per_node_{sizes.w1_large}",
        f"rss_mib.w1_{sizes.w1}_above_imports",
        "fsync_ms",
        f"core.cpu_per_event_{sizes.w1_small}_to_{sizes.w1_large}",
    }
    assert "missing" not in found
    assert set(found["conditions"]) >= {"roster", "caps", "calls", "checkpoints"}
    assert f"with_embedder.w1_{sizes.w1}.cpu_over_g" in found["beside"]
    for key, figure in {**found["figures"], **found["beside"]}.items():
        assert figure["low"] <= figure["value"] <= figure["high"], key
        assert figure["n"] >= 1, key


def test_the_sizes_of_the_contract() -> None:
    sizes = Sizes(seed=7)
    assert (sizes.w1_small, sizes.w1, sizes.w1_large) == (100, 1_000, 10_000)
    assert (sizes.rounds, sizes.dags, sizes.w2, sizes.w3, sizes.w4) == (3, 3, 60, 200, 500)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--rounds", "0"], "--rounds is 0"), (["--only", "w1,w9"], "--only names 'w9'; accepted: fsync, w1")],
)
def test_bad_options_exit_with_2(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err


def test_runs_that_end_before_the_kill_leave_the_figures_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(dag: Load) -> Any:
        raise NotInterrupted(f"{dag.name}: all nodes were accepted")

    monkeypatch.setattr(figures, "kill_and_resume", too_late)
    report = Report(benchmark="engine", seed=7)
    figures.take_w5(report, tiny(7))
    assert report.figures == {}
    assert {"w5.finished_rerun", "w5.digest_equal", "w5.rest_over_ideal"} <= set(report.missing)


def test_memory_is_not_taken_where_the_system_does_not_tell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(figures, "STATUS", tmp_path / "nowhere")
    report = Report(benchmark="engine", seed=7)
    figures.take_memory(report, tiny(7))
    assert report.figures == {}
    assert "which this system does not have" in report.missing["rss_mib.w1_16_above_imports"]


def test_a_child_prints_its_peak(capsys: pytest.CaptureFixture[str]) -> None:
    child.main(["memory", "9", "7", "constant"])
    found = json.loads(capsys.readouterr().out)
    assert found["imports"] > 10
    assert found["above_imports"] >= 0
    with pytest.raises(SystemExit, match="memory NODES SEED"):
        child.main(["other"])


def said_in_this_process(*arguments: str) -> Any:
    said = io.StringIO()
    with redirect_stdout(said):
        child.main(arguments)
    return json.loads(said.getvalue().splitlines()[-1])


def in_this_process(what: str, nodes: str, seed: str, embedder: str) -> dict[str, float]:
    assert (what, embedder) in {("memory", "constant"), ("memory", "shipped")}
    return child.memory(int(nodes), int(seed), shipped=False)
