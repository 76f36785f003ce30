"""kill -9 in the middle of a real run over the Chinese notes, then resume: nothing is lost, nothing runs twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from orchestrator.core.events import AttemptStarted, AttemptVerified, Event, ExecutorTookOver
from orchestrator.core.ids import RunId
from orchestrator.run import execute
from orchestrator.shell.runs import events_of, load
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.flows.driver import NOTES, approved_run, workshop

GOAL = "请根据笔记回答：1. 进入有限空间作业前，硫化氢浓度必须低于多少？2. 排污许可证最迟应在什么时候重新申请？3. 改造后出水总磷的限值是多少？4. 厂区屋顶光伏每年发多少电？"
ROOT = Path(__file__).resolve().parents[2]

Log = list[Event]


def kinds(log: Log) -> Counter[str]:
    return Counter(event.body.type for event in log)


KILL_POINTS: tuple[tuple[str, Callable[[Log], bool]], ...] = (
    ("a search returned", lambda log: kinds(log)["call.returned"] >= 3),
    ("a sub-task was accepted", lambda log: kinds(log)["attempt.verified"] >= 2),
    ("the merge began", lambda log: kinds(log)["attempt.verified"] >= 4),
)


def run_until(home: Path, run: RunId, reached: Callable[[Log], bool]) -> None:
    """Execute the run in a process of its own and kill it with SIGKILL as soon as the log has got there."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.flows.driver", str(home), run],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    store = SqliteStore(home / "runs.db")
    try:
        while process.poll() is None and not reached(list(events_of(store, run))):
            pass
        process.send_signal(signal.SIGKILL)
    finally:
        _, errors = process.communicate()
        store.close()
    assert process.returncode in (-signal.SIGKILL, 0), errors.decode()


def test_a_run_killed_three_times_delivers_what_an_undisturbed_one_does(tmp_path: Path) -> None:
    calm_home, home = tmp_path / "calm", tmp_path / "killed"
    calm_shop = workshop(calm_home)
    calm = asyncio.run(execute(calm_shop, approved_run(calm_shop, GOAL, NOTES["zh"]).run))
    assert calm.status == "completed", calm.gaps

    shop = workshop(home)
    run = approved_run(shop, GOAL, NOTES["zh"]).run
    for _, reached in KILL_POINTS:
        run_until(home, run, reached)
        dead = shop.store.lease(run)
        if dead is not None:
            shop.store.acquire(run, "the test", 0.001, instead_of=dead.holder)
    final = asyncio.run(execute(shop, run))

    log = list(events_of(shop.store, run))
    assert final.status == "completed"
    assert final.result == calm.result
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert sum(isinstance(event.body, ExecutorTookOver) for event in log) >= 3
    accepted: set[str] = set()
    for event in log:
        if isinstance(event.body, AttemptStarted):
            assert event.body.node not in accepted, "a finished sub-task was executed again"
        if isinstance(event.body, AttemptVerified):
            assert event.body.node not in accepted
            accepted.add(event.body.node)
    assert load(shop.store, run) == final
