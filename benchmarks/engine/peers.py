"""What the engine is measured against: plain asyncio, and LangGraph with a node per sub-task ("G").

Both run the same DAG with the same latencies and hand over the same texts. G is a StateGraph with AsyncSqliteSaver and
LangGraph's default durability, its file in a temporary folder like ours.
"""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy

from benchmarks.engine.loads import Load
from benchmarks.engine.notes import sentence_of

RECURSION_LIMIT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What one execution took."""

    cpu: float
    """Seconds of processor time of the whole process, all threads."""
    wall: float
    stored: int
    """Bytes in the files that were written; 0 where nothing is."""


class Stopwatch:
    """Wall and processor time of a block, after the garbage of what came before is gone."""

    cpu: float = 0.0
    wall: float = 0.0

    def __enter__(self) -> Stopwatch:
        gc.collect()
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu = time.process_time() - self._cpu
        self.wall = time.perf_counter() - self._wall


class Injected(RuntimeError):
    """The failure of a node that fails once."""


def _merged(old: dict[str, str], new: dict[str, str]) -> dict[str, str]:
    return {**old, **new}


class _Found(TypedDict):
    found: Annotated[dict[str, str], _merged]


def run_langgraph(load: Load, delays: Mapping[str, float] | None = None) -> Taken:
    """Execute `load` as one StateGraph; a node that fails is retried after its delay of `delays`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "g.db"
        watch = asyncio.run(_run_langgraph(load, path, delays or {}))
        stored = sum(file.stat().st_size for file in Path(folder).iterdir())
    return Taken(cpu=watch.cpu, wall=watch.wall, stored=stored)


async def _run_langgraph(load: Load, path: Path, delays: Mapping[str, float]) -> Stopwatch:
    graph = StateGraph(_Found)
    failing = set(load.failing)
    for node, parents in load.parents.items():
        work: Any = _graph_node(node, load.latency[node], failing)
        if node in failing:
            graph.add_node(node, work, retry_policy=_once_more(delays.get(node, 0.0)))
        else:
            graph.add_node(node, work)
        if parents:
            graph.add_edge(list(parents), node)
        else:
            graph.add_edge(START, node)
        if node not in load.sources:
            graph.add_edge(node, END)
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        app = graph.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "g"}, "recursion_limit": RECURSION_LIMIT}
        with Stopwatch() as watch:
            done = await app.ainvoke({"found": {}}, config)
    if len(done["found"]) != len(load.parents):
        raise RuntimeError(
            f"{load.name}: LangGraph finished {len(done['found'])} of {len(load.parents)} nodes"
        )
    return watch


def _once_more(delay_s: float) -> RetryPolicy:
    return RetryPolicy(
        initial_interval=delay_s, backoff_factor=1.0, max_attempts=2, jitter=False, retry_on=Injected
    )


def _graph_node(node: str, latency: float, failing: set[str]) -> Callable[[_Found], Awaitable[_Found]]:
    async def work(state: _Found) -> _Found:
        del state
        await _outside(node, latency, failing)
        return {"found": {node: sentence_of(node)}}

    return work


def run_asyncio(load: Load, delays: Mapping[str, float] | None = None) -> Taken:
    """Execute `load` with one asyncio task per node and nothing else: as fast as the event loop can."""
    with Stopwatch() as watch:
        done = asyncio.run(_run_asyncio(load, delays or {}))
    if done != len(load.parents):
        raise RuntimeError(f"{load.name}: asyncio finished {done} of {len(load.parents)} nodes")
    return Taken(cpu=watch.cpu, wall=watch.wall, stored=0)


async def _run_asyncio(load: Load, delays: Mapping[str, float]) -> int:
    tasks: dict[str, asyncio.Task[str]] = {}
    failing = set(load.failing)

    async def work(node: str) -> str:
        for parent in load.parents[node]:
            await tasks[parent]
        try:
            await _outside(node, load.latency[node], failing)
        except Injected:
            await asyncio.sleep(delays.get(node, 0.0))
            await _outside(node, load.latency[node], failing)
        return sentence_of(node)

    for node in load.parents:
        tasks[node] = asyncio.ensure_future(work(node))
    return len(await asyncio.gather(*tasks.values()))


async def _outside(node: str, latency: float, failing: set[str]) -> None:
    """Wait as the outside world makes a node wait; the first time a failing node fails after it."""
    if latency:
        await asyncio.sleep(latency)
    if node in failing:
        failing.discard(node)
        raise Injected(node)
