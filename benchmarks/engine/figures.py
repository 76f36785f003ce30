"""The figures of the benchmark `engine`, one function per group of loads."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median as plain_median

from agents.models.embedders import CachedEmbedder, UseEmbedder
from benchmarks.contract import Figure, Report, progress, rate
from benchmarks.engine.child import STATUS, answer_of
from benchmarks.engine.compared import Sides, in_turn, mean_of_medians, median, worst_of_medians
from benchmarks.engine.core import cpu_per_event, log_of
from benchmarks.engine.kill import NotInterrupted, Resumed, kill_and_resume
from benchmarks.engine.loads import Load, w1, w2, w3, w4, w6
from benchmarks.engine.ours import WIDE_CAP, Executed, run_ours
from benchmarks.engine.peers import Taken, run_asyncio, run_langgraph
from benchmarks.engine.sizes import Sizes
from masks.ports import Embedder
from orchestrator.shell.store.sqlite_store import SqliteStore

OURS, G, ASYNCIO, SHIPPED = "ours", "g", "asyncio", "with_embedder"
FSYNCS = 50
_BLOCK = b"0" * 4096
_PER_G = "ratio to G"
_PER_PATH = "ratio to the critical path"


def take_disk(report: Report, sizes: Sizes) -> None:
    """Take what one fsync of a block costs in the folder where the stores lie."""
    times = []
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "block").open("wb") as file:
        for _ in range(FSYNCS):
            began = time.perf_counter()
            file.write(_BLOCK)
            file.flush()
            os.fsync(file.fileno())
            times.append(1_000 * (time.perf_counter() - began))
    report.figures["fsync_ms"] = median(times, "ms", sizes.seed)


def take_w1(report: Report, sizes: Sizes) -> None:
    """Take W1 at the size at which G runs, too: processor time and wall over G's."""
    load = w1(sizes.w1, sizes.seed)
    sides = _all_sides(load, UseEmbedder())
    key = f"w1_{sizes.w1}"
    taken = in_turn(key, sides, sizes.rounds)
    for side, place, prefix in ((OURS, report.figures, ""), (SHIPPED, report.beside, f"{SHIPPED}.")):
        place[f"{prefix}{key}.cpu_over_g"] = median(
            [r[side].cpu / r[G].cpu for r in taken], _PER_G, sizes.seed
        )
        place[f"{prefix}{key}.wall_over_g"] = median(
            [r[side].wall / r[G].wall for r in taken], _PER_G, sizes.seed
        )
    for side in sides:
        report.beside[f"{key}.{side}.cpu_ms_per_node"] = median(
            [1_000 * r[side].cpu / sizes.w1 for r in taken], "ms", sizes.seed
        )
        report.beside[f"{key}.{side}.wall_ms_per_node"] = median(
            [1_000 * r[side].wall / sizes.w1 for r in taken], "ms", sizes.seed
        )
    report.beside[f"{key}.g.bytes_per_node"] = median(
        [r[G].stored / sizes.w1 for r in taken], "bytes", sizes.seed
    )


def take_w2(report: Report, sizes: Sizes) -> None:
    """Take W2 over the critical path of each DAG."""
    ratios: dict[str, list[list[float]]] = {side: [] for side in (OURS, G, ASYNCIO, SHIPPED)}
    weights = UseEmbedder()
    for load in _w2_dags(sizes):
        taken = in_turn(load.name, _all_sides(load, weights), sizes.rounds)
        for side, found in ratios.items():
            found.append([r[side].wall / load.critical_path() for r in taken])
    _put_over_path(report, "w2", ratios, sizes)
    report.figures["w2.worst_dag_over_critical_path"] = worst_of_medians(ratios[OURS], _PER_PATH, sizes.seed)


def take_w3(report: Report, sizes: Sizes) -> None:
    """Take the chain of W3."""
    _put_walls(report, "w3", w3(sizes.w3), sizes, slots=None)


def take_w4(report: Report, sizes: Sizes) -> None:
    """Take the fan of W4, all of it in flight at once."""
    _put_walls(report, "w4", w4(sizes.w4, sizes.w4_latency_s), sizes, slots=WIDE_CAP)


def take_w5(report: Report, sizes: Sizes) -> None:
    """Take W5: how a run goes on whose process was killed at half."""
    groups: list[list[Resumed]] = []
    for load in _w2_dags(sizes):
        found: list[Resumed] = []
        for number in range(sizes.rounds):
            try:
                found.append(kill_and_resume(load))
            except NotInterrupted as over:
                report.missing[f"w5.{load.name}.round_{number + 1}"] = str(over)
            progress(f"w5 on {load.name}: round {number + 1} of {sizes.rounds}")
        if found:
            groups.append(found)
    every = [one for found in groups for one in found]
    if not every:
        for key in ("w5.finished_rerun", "w5.digest_equal", "w5.rest_over_ideal"):
            report.missing[key] = "no run could be killed before it was over"
        return
    report.figures["w5.finished_rerun"] = rate(
        sum(one.rerun for one in every), sum(one.finished for one in every), "share of the accepted nodes"
    )
    report.figures["w5.digest_equal"] = rate(
        sum(one.digest_equal for one in every), len(every), "share of the runs"
    )
    ratios = [[one.rest_s / one.ideal_s for one in found] for found in groups]
    report.figures["w5.rest_over_ideal"] = mean_of_medians(
        ratios, "ratio to the longest path of the rest", sizes.seed
    )
    report.beside["w5.restart_seconds"] = median(
        [one.restart_s for one in every], "s, imports included", sizes.seed
    )


def take_w6(report: Report, sizes: Sizes) -> None:
    """Take W6: nodes that fail once, over plain asyncio with the same failures and the recorded delays."""
    ratios: dict[str, list[list[float]]] = {OURS: [], G: []}
    for number, load in enumerate(_w2_dags(sizes)):
        failing = w6(load, sizes.seed + number)
        rounds: dict[str, list[float]] = {OURS: [], G: []}
        for round_number in range(sizes.rounds):
            # The delays are drawn from the run, so ours goes first: the others wait as long as it did.
            ours: Executed = run_ours(failing)
            ideal = run_asyncio(failing, ours.delays).wall
            rounds[OURS].append(ours.taken.wall / ideal)
            rounds[G].append(run_langgraph(failing, ours.delays).wall / ideal)
            progress(f"{failing.name}: round {round_number + 1} of {sizes.rounds}")
        for side, found in rounds.items():
            ratios[side].append(found)
    unit = "ratio to plain asyncio with the same failures and delays"
    report.figures["w6.over_critical_path"] = mean_of_medians(ratios[OURS], unit, sizes.seed)
    report.beside["w6.over_critical_path.g"] = mean_of_medians(ratios[G], unit, sizes.seed)


def take_growth(report: Report, sizes: Sizes) -> None:
    """Take what a node costs in a large plan over what it costs in a small one: processor time and bytes."""
    small, large = w1(sizes.w1_small, sizes.seed), w1(sizes.w1_large, sizes.seed)
    sides: Sides[list[Executed]] = {
        "small": lambda: [run_ours(small) for _ in range(sizes.small_repeats)],
        "large": lambda: [run_ours(large)],
    }
    taken = in_turn("growth", sides, sizes.rounds)
    nodes = {"small": sizes.w1_small, "large": sizes.w1_large}
    cpu = {
        side: [plain_median([one.taken.cpu for one in r[side]]) / nodes[side] for r in taken]
        for side in sides
    }
    span = f"{sizes.w1_small}_to_{sizes.w1_large}"
    report.figures[f"growth.cpu_per_node_{span}"] = median(
        [b / a for a, b in zip(cpu["small"], cpu["large"], strict=True)], "ratio", sizes.seed
    )
    empty = _empty_store_bytes()
    for side, count in nodes.items():
        stored = [one.taken.stored for r in taken for one in r[side]]
        report.figures[f"store.bytes_per_node_{count}"] = median(
            [size / count for size in stored], "bytes", sizes.seed
        )
        report.beside[f"store.bytes_per_node_{count}.above_empty_store"] = median(
            [(size - empty) / count for size in stored], "bytes", sizes.seed
        )
        report.beside[f"growth.cpu_ms_per_node_{count}"] = median(
            [1_000 * one for one in cpu[side]], "ms", sizes.seed
        )


def take_core(report: Report, sizes: Sizes) -> None:
    """Take what the pure core costs per event in a large plan over a small one."""
    logs = {size: log_of(w1(size, sizes.seed)) for size in (sizes.w1_small, sizes.w1_large)}
    sides: Sides[float] = {
        "small": lambda: cpu_per_event(logs[sizes.w1_small], 10 * sizes.small_repeats),
        "large": lambda: cpu_per_event(logs[sizes.w1_large]),
    }
    taken = in_turn("core", sides, sizes.rounds)
    report.figures[f"core.cpu_per_event_{sizes.w1_small}_to_{sizes.w1_large}"] = median(
        [r["large"] / r["small"] for r in taken], "ratio", sizes.seed
    )
    for side, size in (("small", sizes.w1_small), ("large", sizes.w1_large)):
        report.beside[f"core.cpu_us_per_event_{size}"] = median(
            [1e6 * r[side] for r in taken], "microseconds", sizes.seed
        )


def take_memory(report: Report, sizes: Sizes) -> None:
    """Take the peak of resident memory of W1 in processes of their own, above the imports."""
    key = f"rss_mib.w1_{sizes.w1}_above_imports"
    if not STATUS.exists():
        report.missing[key] = f"read from {str(STATUS)!r}, which this system does not have"
        return
    for embedder, place, name in (
        ("constant", report.figures, key),
        ("shipped", report.beside, f"{SHIPPED}.{key}"),
    ):
        found = [answer_of("memory", str(sizes.w1), str(sizes.seed), embedder) for _ in range(sizes.rounds)]
        place[name] = median([one["above_imports"] for one in found], "MiB", sizes.seed)
        progress(f"memory, embedder {embedder}")


PARTS: Mapping[str, Callable[[Report, Sizes], None]] = {
    "fsync": take_disk,
    "w1": take_w1,
    "w2": take_w2,
    "w3": take_w3,
    "w4": take_w4,
    "w5": take_w5,
    "w6": take_w6,
    "growth": take_growth,
    "core": take_core,
    "memory": take_memory,
}
"""What can be taken by itself, in the order in which it is."""


def warm_up(sizes: Sizes) -> None:
    """Execute everything once on a small load: what is imported and compiled at the first use is no cost of a run."""
    load = w1(min(sizes.w1_small, 25), sizes.seed)
    run_ours(load)
    run_langgraph(load)
    run_asyncio(load)


def _all_sides(load: Load, weights: Embedder) -> Sides[Taken]:
    """Return ours with both embedders beside the peers.

    The weights of the shipped one are read once, but each round has a cache of its own: an old one would know every
    sentence.
    """
    return {
        OURS: lambda: run_ours(load).taken,
        G: lambda: run_langgraph(load),
        ASYNCIO: lambda: run_asyncio(load),
        SHIPPED: lambda: run_ours(load, embedder=CachedEmbedder(weights)).taken,
    }


def _put_walls(report: Report, key: str, load: Load, sizes: Sizes, slots: int | None) -> None:
    sides: Sides[Taken] = {
        OURS: lambda: run_ours(load, slots=slots).taken,
        G: lambda: run_langgraph(load),
        ASYNCIO: lambda: run_asyncio(load),
    }
    taken = in_turn(key, sides, sizes.rounds)
    report.figures[f"{key}.wall_over_g"] = median(
        [r[OURS].wall / r[G].wall for r in taken], _PER_G, sizes.seed
    )
    over_asyncio = median(
        [r[OURS].wall / r[ASYNCIO].wall for r in taken], "ratio to plain asyncio", sizes.seed
    )
    if any(load.latency.values()):
        report.figures[f"{key}.wall_over_asyncio"] = over_asyncio
    for side in sides:
        report.beside[f"{key}.{side}.wall_s"] = median([r[side].wall for r in taken], "s", sizes.seed)
        report.beside[f"{key}.{side}.cpu_s"] = median([r[side].cpu for r in taken], "s", sizes.seed)


def _put_over_path(report: Report, key: str, ratios: Mapping[str, list[list[float]]], sizes: Sizes) -> None:
    figures: dict[str, Figure] = {
        side: mean_of_medians(found, _PER_PATH, sizes.seed) for side, found in ratios.items()
    }
    report.figures[f"{key}.over_critical_path"] = figures.pop(OURS)
    report.beside[f"{SHIPPED}.{key}.over_critical_path"] = figures.pop(SHIPPED)
    for side, figure in figures.items():
        report.beside[f"{key}.over_critical_path.{side}"] = figure


def _w2_dags(sizes: Sizes) -> list[Load]:
    return [w2(sizes.seed + number, sizes.w2, sizes.w2_median_s) for number in range(sizes.dags)]


def _empty_store_bytes() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        SqliteStore(path).close()
        return path.stat().st_size
