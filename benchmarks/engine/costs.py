"""What each part of a sub-task costs, in processor time: W1 with parts timed inside and parts switched off.

Three variants of the same run take turns: whole; without checkpoints (attempts keep none); and without LangGraph
at all (an attempt is a function call), in which what the other parts take is timed by thread.
So the parts add up to the whole: LangGraph is the second variant minus the third, checkpoints are the first minus the
second, the rest of the third is the executor with its dispatcher, hand-overs between threads, and the delivered report.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import wraps
from threading import Lock, local
from typing import Any, Final

from benchmarks.contract import Report
from benchmarks.engine.compared import Sides, in_turn, median
from benchmarks.engine.loads import w1
from benchmarks.engine.ours import ScriptedWorker, run_ours
from benchmarks.engine.peers import run_langgraph
from benchmarks.engine.sizes import Sizes
from graphs.contract import Lang
from orchestrator.shell import executor, wiring
from orchestrator.shell.attempt_graph import CONTEXT, attempt
from orchestrator.shell.journal import Journal
from orchestrator.shell.leak_scan import LeakScanner
from orchestrator.shell.store.attempt_checkpoints import AttemptCheckpoints
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.verification.levels import StandardVerifier

WHOLE, BARE, DIRECT, G = "whole", "without_checkpoints", "without_langgraph", "g"
UNIT = "ms of processor time per sub-task"

PARTS: Final[dict[str, dict[Lang, str]]] = {
    "generation": {
        "en": "generation (scripted: hands over one sentence)",
        "zh": "生成（脚本化：交出一句话）",
    },
    "leak_scan": {
        "en": "leak scan: label each sentence, match it with the material, judge by the mask",
        "zh": "泄漏扫描：给每个句子标注领域，与材料对照，按蒙版判定",
    },
    "checks": {
        "en": "checks: L1 for each sub-task, L2 for the last ones",
        "zh": "核验：每个子任务 L1，末端子任务 L2",
    },
    "events": {
        "en": "events: stamp, apply to the state, encode; keep the output",
        "zh": "事件：盖章、更新状态、编码；保存输出",
    },
    "decisions": {"en": "decisions: what follows from an event", "zh": "决策：由事件得出下一步"},
    "commit": {
        "en": "commit: SQLite transactions on the writer's thread",
        "zh": "提交：写入线程上的 SQLite 事务",
    },
    "executor": {
        "en": "executor: dispatcher, hand-overs between threads, encoding between stages, report",
        "zh": "执行器：调度、线程间交接、阶段间编码、报告",
    },
    "langgraph": {"en": "LangGraph: a graph run per attempt", "zh": "LangGraph：每次尝试运行一次图"},
    "checkpoints": {"en": "checkpoints, their commit included", "zh": "检查点，含其提交"},
    "whole": {"en": "**the whole**", "zh": "**合计**"},
    "g": {
        "en": "beside: LangGraph with a node per sub-task, AsyncSqliteSaver, none of the above",
        "zh": "对照：LangGraph 每个子任务一个节点，AsyncSqliteSaver，无上述各项",
    },
}
"""What is reported, in this order, with the words for people."""


class Meter:
    """Adds up the processor time of calls by part; of a call within a timed one, only the inner part gets it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._lock = Lock()
        self._thread = local()

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function`, whose calls are added to `part`."""

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with self._measuring(part):
                return function(*args, **kwargs)

        return called

    def timed_coroutine(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a coroutine function, whose calls are added to `part`; they must not wait for anything."""

        @wraps(function)
        async def called(*args: Any, **kwargs: Any) -> Any:
            with self._measuring(part):
                return await function(*args, **kwargs)

        return called

    @contextmanager
    def _measuring(self, part: str) -> Iterator[None]:
        inner: list[float] = self._thread.__dict__.setdefault("inner", [])
        inner.append(0.0)
        began = time.thread_time()
        try:
            yield
        finally:
            spent = time.thread_time() - began
            with self._lock:
                self.seconds[part] += spent - inner.pop()
            if inner:
                inner[-1] += spent


class DirectGraph:
    """Stands for the compiled attempt graph: works and checks without LangGraph."""

    async def ainvoke(self, start: Any, config: Any, **_: Any) -> Any:
        """Return nothing; the context knows what the attempt came to."""
        await attempt(start, config["configurable"][CONTEXT])


def take_costs(report: Report, sizes: Sizes) -> None:
    """Put what each of `PARTS` costs into `report`."""
    load = w1(sizes.w1, sizes.seed)

    def spent(variant: Callable[[], AbstractContextManager[object]]) -> float:
        with variant():
            return 1_000 * run_ours(load).taken.cpu / sizes.w1

    def inside() -> dict[str, float]:
        meter = Meter()
        with _without_langgraph(), _timed_by(meter):
            whole = 1_000 * run_ours(load).taken.cpu / sizes.w1
        return {part: 1_000 * seconds / sizes.w1 for part, seconds in meter.seconds.items()} | {DIRECT: whole}

    sides: Sides[dict[str, float]] = {
        WHOLE: lambda: {WHOLE: spent(nullcontext)},
        BARE: lambda: {BARE: spent(_without_checkpoints)},
        DIRECT: inside,
        G: lambda: {G: 1_000 * run_langgraph(load).cpu / sizes.w1},
    }
    rows = [parts_of_round(taken) for taken in in_turn("costs", sides, sizes.rounds)]
    for part in PARTS:
        place = report.beside if part == G else report.figures
        place[f"costs.{part}"] = median([row[part] for row in rows], UNIT, sizes.seed)


def as_markdown(report: Report, lang: Lang) -> str:
    """Return the costs as a table for people; raises `KeyError` when they were not taken."""
    every = report.figures | report.beside
    whole = every[f"costs.{WHOLE}"].value
    title = {"en": "| part | ms | share |", "zh": "| 部分 | 毫秒 | 占比 |"}[lang]
    lines = [title, "| --- | --- | --- |"]
    for part, words in PARTS.items():
        value = every[f"costs.{part}"].value
        share = "" if part == G else f"{value / whole:.0%}"
        lines.append(f"| {words[lang]} | {value:.2f} | {share} |")
    return "\n".join(lines)


def parts_of_round(taken: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the parts of one round, which add up to its whole."""
    found = dict(taken[DIRECT])
    direct = found.pop(DIRECT)
    return found | {
        "executor": direct - sum(found.values()),
        "langgraph": taken[BARE][BARE] - direct,
        "checkpoints": taken[WHOLE][WHOLE] - taken[BARE][BARE],
        WHOLE: taken[WHOLE][WHOLE],
        G: taken[G][G],
    }


@contextmanager
def _timed_by(meter: Meter) -> Iterator[None]:
    with ExitStack() as stack:
        for part, owner, name in (
            ("leak_scan", LeakScanner, "scan"),
            ("checks", StandardVerifier, "verify"),
            ("events", Journal, "record"),
            ("events", Journal, "keep_bytes"),
            ("events", Journal, "keep"),
            ("decisions", executor, "decide"),
            ("decisions", executor, "still_open"),
            ("commit", SqliteStore, "commit"),
        ):
            stack.enter_context(_replaced(owner, name, meter.timed(part, getattr(owner, name))))
        work = meter.timed_coroutine("generation", ScriptedWorker.work)
        stack.enter_context(_replaced(ScriptedWorker, "work", work))
        yield


def _without_checkpoints() -> AbstractContextManager[None]:
    return _replaced(AttemptCheckpoints, "keep", lambda *_: None)


@contextmanager
def _without_langgraph() -> Iterator[None]:
    with _without_checkpoints(), _replaced(wiring, "build_attempt_graph", DirectGraph):
        yield


@contextmanager
def _replaced(owner: object, name: str, new: object) -> Iterator[None]:
    old = getattr(owner, name)
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, old)
