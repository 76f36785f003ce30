"""The log file of a run: what each profile puts into it, and that it never holds a run up."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.models.contract import Usage
from agents.tools.contract import Profile
from orchestrator.core.blockage import Failure
from orchestrator.core.events import (
    AttemptFailed,
    AttemptStarted,
    Body,
    CallCommitted,
    CallReturned,
    CallStreamed,
    Event,
    RunCreated,
    RunSuspended,
)
from orchestrator.core.ids import ArtefactId, ContentDigest, RequestId, RunId
from orchestrator.core.reducer import initial
from orchestrator.core.state import RunState
from orchestrator.shell import run_log as module
from orchestrator.shell.run_log import KEPT_RUNS, LOGS, run_log
from orchestrator.shell.settings import Settings
from tests.core.builders import A1, n, plan, proposal

RUN = RunId("r-abc")
SECRET = "Wendelsby"


def state_of(profile: Profile) -> RunState:
    created = RunCreated(goal=SECRET, lang="en", sources=(), run_seed="seed", versions={})
    return replace(
        initial(RUN), created=created, proposal=replace(proposal(plan("", lone="a")), profile=profile)
    )


CALL = CallReturned(
    node=n("a"),
    generation=1,
    attempt=1,
    step="work.1.0",
    index=0,
    call="tool",
    name="search_notes",
    arguments={"query": SECRET},
    arguments_digest="d",
    arguments_origin="computed",
    arguments_taint="trusted",
    result=ArtefactId("0" * 64),
    ok=True,
    summary=f"found {SECRET}",
    elapsed_ms=2.5,
)
STREAMED = CallStreamed(node=n("a"), generation=1, attempt=1, step="work.1.0", index=1, text=SECRET)
COMMITTED = CallCommitted(
    node=n("a"),
    generation=1,
    attempt=1,
    step="work.1.0",
    index=2,
    tool="send",
    arguments={"to": SECRET},
    arguments_digest="d",
    side_effect="external",
    key="k1",
    approval=RequestId("r-abc.q1"),
)


def silent(en: str, zh: str) -> None:
    raise AssertionError(f"{en} / {zh}")


def logged(home: Path, profile: Profile, bodies: Sequence[Body]) -> list[dict[str, Any]]:
    with run_log(Settings(home=home, lang="en"), RUN, warn=silent) as (listen,):
        for seq, body in enumerate(bodies, 1):
            listen(Event(seq=seq, ts=f"2026-01-01T00:00:{seq % 60:02}.000Z", body=body), state_of(profile))
    text = (home / LOGS / f"{RUN}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_debug_holds_every_event_whole(tmp_path: Path) -> None:
    lines = logged(tmp_path, "debug", [CALL, STREAMED, COMMITTED])
    assert [line["type"] for line in lines] == ["call.returned", "call.streamed", "call.committed"]
    assert lines[0]["data"]["arguments"] == {"query": SECRET}
    assert lines[1]["data"]["text"] == SECRET


def test_evaluate_holds_every_event_and_no_text(tmp_path: Path) -> None:
    model = replace(
        CALL,
        call="model",
        name="x:y",
        summary="final_answer",
        usage=Usage(model="x:y", input_tokens=11, output_tokens=7, cost_usd=None),
    )
    lines = logged(tmp_path, "evaluate", [CALL, STREAMED, COMMITTED, model])
    assert [line["type"] for line in lines] == [
        "call.returned",
        "call.streamed",
        "call.committed",
        "call.returned",
    ]
    assert SECRET not in json.dumps(lines)
    (failed,) = logged(
        tmp_path, "evaluate", [replace(model, ok=False, summary="model_error", error="rate_limited")]
    )[-1:]
    assert (failed["reply"], failed["error"]) == ("model_error", "rate_limited")
    assert lines[3] == {
        "seq": 4,
        "ts": "2026-01-01T00:00:04.000Z",
        "run": "r-abc",
        "type": "call.returned",
        "node": "a",
        "generation": 1,
        "attempt": 1,
        "call": "model",
        "ok": True,
        "elapsed_ms": 2.5,
        "reply": "final_answer",
        "model": "x:y",
        "input_tokens": 11,
        "output_tokens": 7,
        "estimated": False,
        "recorded": False,
        "cost_usd": None,
    }


def test_production_samples_calls_and_nothing_else(tmp_path: Path) -> None:
    attempts = range(1, 201)
    calls = [replace(CALL, attempt=attempt) for attempt in attempts]
    started = [
        AttemptStarted(
            node=n("a"),
            generation=1,
            attempt=attempt,
            epoch=1,
            agent=A1,
            input_key=ContentDigest("0" * 64),
        )
        for attempt in attempts
    ]
    failed = [replace(CALL, attempt=attempt, ok=False) for attempt in attempts]
    effects = [replace(CALL, attempt=attempt, key="k1") for attempt in attempts]
    ended = AttemptFailed(
        node=n("a"), generation=1, attempt=200, failure=Failure(kind="timeout", message=SECRET)
    )
    bodies: list[Body] = [*calls, *started, *failed, *effects, COMMITTED, ended, RunSuspended(requests=())]
    lines = logged(tmp_path, "production", bodies)
    by_seq = {line["seq"] for line in lines}
    held = [attempt for attempt in attempts if attempt in by_seq]
    assert 0 < len(held) < 60, "about 20 of 200"
    assert by_seq >= set(range(201, len(bodies) + 1)), "attempts, failures, effects, and the end of it"
    assert SECRET not in json.dumps(lines)
    again = logged(tmp_path / "again", "production", bodies)
    assert again == lines, "the sample is drawn by the run's seed"


def test_messages_of_the_program_are_in_it_too(tmp_path: Path) -> None:
    home = Settings(home=tmp_path, lang="en")
    with run_log(home, RUN, warn=silent):
        logging.getLogger("orchestrator.shell.executor").warning("refused: %s", "that")
    logging.getLogger("orchestrator.shell.executor").warning("too late")
    (line,) = (tmp_path / LOGS / f"{RUN}.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {
        "run": "r-abc",
        "type": "log",
        "level": "warning",
        "logger": "orchestrator.shell.executor",
        "message": "refused: that",
    }


def test_a_large_log_rotates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 2_000)
    logged(tmp_path, "evaluate", [CALL] * 100)
    names = sorted(path.name for path in (tmp_path / LOGS).iterdir())
    assert names == ["r-abc.jsonl", "r-abc.jsonl.1", "r-abc.jsonl.2", "r-abc.jsonl.3"]
    assert all(path.stat().st_size <= 2_000 for path in (tmp_path / LOGS).iterdir())


def test_the_oldest_logs_go(tmp_path: Path) -> None:
    folder = tmp_path / LOGS
    folder.mkdir()
    for number in range(KEPT_RUNS + 2):
        for name in (f"r-{number}.jsonl", f"r-{number}.jsonl.1"):
            (folder / name).write_text("", encoding="utf-8")
            os.utime(folder / name, (number, number))
    logged(tmp_path, "evaluate", [])
    left = {path.name for path in folder.iterdir()}
    assert len([name for name in left if name.endswith(".jsonl")]) == KEPT_RUNS
    assert not {"r-0.jsonl", "r-0.jsonl.1", "r-1.jsonl", "r-2.jsonl"} & left
    assert {"r-3.jsonl", "r-3.jsonl.1", "r-abc.jsonl"} <= left


def test_a_log_that_cannot_be_written_is_said_and_no_more(tmp_path: Path) -> None:
    (tmp_path / LOGS).write_text("a file where the folder should be", encoding="utf-8")
    said: list[tuple[str, str]] = []
    settings = Settings(home=tmp_path, lang="en")
    with run_log(settings, RUN, warn=lambda en, zh: said.append((en, zh))) as listeners:
        assert listeners == ()
    ((english, chinese),) = said
    assert english.startswith("no log is written: ")
    assert chinese.startswith("未写日志：")
