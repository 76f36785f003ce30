"""The live display on a terminal, real and imagined."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from graphs.plan import NodeId
from orchestrator.core.claims import Confidence, Level
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptStarted,
    AttemptVerified,
    Body,
    CallReturned,
    Event,
    RequestOpened,
    RunContinued,
    RunPaused,
    SkippedFile,
    SourcesRead,
)
from orchestrator.core.reducer import apply, initial
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.interfaces.cli.progress.changes import Narrator
from orchestrator.interfaces.cli.progress.displays import LineDisplay, NoDisplay, display_for
from orchestrator.interfaces.cli.progress.live import ROWS, LiveDisplay
from orchestrator.interfaces.cli.progress.logfmt import logfmt
from orchestrator.interfaces.cli.streams import Streams
from tests.core import builders
from tests.core.simulation import RUN, Simulation, fails
from tests.core.test_events import BODIES
from tests.interfaces.cli.harness import REPOSITORY, Terminal, store_log
from tests.interfaces.cli.logs import backtracked_log, suspended_log


def states_of(log: list[Event]) -> list[tuple[Event, RunState]]:
    state, found = initial(RUN), []
    for event in log:
        state = apply(state, event)
        found.append((event, state))
    return found


def height(display: LiveDisplay) -> int:
    console = Console(file=io.StringIO(), width=80)
    return len(console.render_lines(display.panel()))


def test_the_panel_keeps_its_height_and_at_most_twelve_rows_for_a_wide_plan() -> None:
    names = [f"s{number}" for number in range(1, 61)]
    wide = Simulation(builders.proposal(builders.plan(" ".join(f"{name}>z" for name in names))), cap=40)
    wide.run()
    display = LiveDisplay(Streams(io.StringIO(), Terminal(), io.StringIO()), "en", {})
    heights = set()
    most = 0
    for event, state in states_of(wide.log):
        display.show(event, state)
        most = max(most, state.counts.active)
        if len(state.nodes):
            heights.add(height(display))
    assert most > ROWS
    # Twelve rows, one line of counts, two of border.
    assert heights == {ROWS + 3}


def test_the_counts_of_the_panel_add_up() -> None:
    display = LiveDisplay(Streams(io.StringIO(), Terminal(), io.StringIO()), "en", {})
    for event, state in states_of(suspended_log()):
        display.show(event, state)
        if not len(state.nodes):
            continue
        console = Console(file=io.StringIO(), width=100)
        text = "".join(segment.text for line in console.render_lines(display.panel()) for segment in line)
        found = re.search(r"(\d+) sub-tasks: ([^│]*)", text)
        assert found is not None
        assert sum(map(int, re.findall(r"\d+", found[2]))) == int(found[1]) == len(state.nodes)


def test_what_happened_scrolls_up_as_lines_of_words() -> None:
    expected: dict[Lang, tuple[str, str]] = {
        "en": ("started by A1", "B (the structure does not fit)"),
        "zh": ("由 A1 开始", "B 类阻塞（结构不符）"),
    }
    for lang, (started, blocked) in expected.items():
        err = Terminal()
        with LiveDisplay(Streams(io.StringIO(), err, io.StringIO()), lang, {"NO_COLOR": "1"}) as display:
            for event, state in states_of(backtracked_log()):
                display.show(event, state)
        assert started in err.getvalue()
        assert blocked in err.getvalue()
        # Colours are gone, the cursor still moves.
        assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", err.getvalue())


@pytest.mark.parametrize(
    ("wanted", "terminal", "environment", "kind"),
    [
        ("auto", True, {}, LiveDisplay),
        ("auto", False, {}, LineDisplay),
        ("auto", False, {"CI": "1"}, LineDisplay),
        ("plain", True, {}, LineDisplay),
        ("log", True, {}, LineDisplay),
        ("live", False, {}, LiveDisplay),
        ("none", True, {}, NoDisplay),
    ],
)
def test_which_display_is_chosen(
    wanted: str, terminal: bool, environment: dict[str, str], kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    err = Terminal() if terminal else io.StringIO()
    streams = Streams(io.StringIO(), err, io.StringIO())
    assert type(display_for(wanted, streams, "en", environment)) is kind  # type: ignore[arg-type]  # parametrised


def test_every_event_of_a_run_is_told_in_both_languages() -> None:
    for log in (backtracked_log(), suspended_log()):
        english, chinese = Narrator("en"), Narrator("zh")
        for event, state in states_of(log):
            for one, other in zip(english.tell(event, state), chinese.tell(event, state), strict=True):
                assert one.fields == other.fields
                assert one.sentence
                assert other.sentence
                assert "\n" not in logfmt(one.fields)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.type)
def test_every_kind_of_event_is_told_on_one_line_in_both_languages(body: Body) -> None:
    event = Event(seq=1, ts="2026-01-01T00:00:00.000Z", body=body)
    english = Narrator("en").tell(event, initial(RUN))
    chinese = Narrator("zh").tell(event, initial(RUN))
    assert len(english) == len(chinese)
    assert english or body.type == "failure.remembered"
    for one, other in zip(english, chinese, strict=True):
        assert len(logfmt(one.fields).splitlines()) == 1
        assert len(one.sentence.splitlines()) == len(other.sentence.splitlines()) == 1
        assert re.search("[\u4e00-\u9fff]", other.sentence) or body.type in ("call.returned", "call.streamed")


def test_a_request_is_told_with_the_command_that_answers_it() -> None:
    ((event, state),) = [
        pair for pair in states_of(suspended_log()) if isinstance(pair[0].body, RequestOpened)
    ]
    (change,) = Narrator("en").tell(event, state)
    assert "maskgrad answer r-test.q1" in change.sentence
    assert change.weight == "attention"


def test_on_a_real_terminal_the_panel_is_drawn_and_gone_at_the_end(tmp_path: Path) -> None:
    run = store_log(tmp_path, "r-live22", suspended_log())
    master, slave = pty.openpty()
    environment = {
        **os.environ,
        "MASKGRAD_HOME": str(tmp_path),
        "TERM": "xterm",
        "COLUMNS": "90",
        "LINES": "30",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "orchestrator.interfaces.cli", "watch", run],
        cwd=REPOSITORY,
        env=environment,
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    out, _ = process.communicate()
    os.close(master)
    screen = seen.decode("utf-8")
    assert process.returncode == 3
    assert "maskgrad r-live22" in screen
    assert "3 sub-tasks: " in screen
    assert "needs you: r-test.q1" in screen
    # The cursor is shown again.
    assert screen.rindex("\x1b[?25h") > screen.rindex("\x1b[?25l")
    # Data stays clean of the panel.
    assert b"\x1b" not in out
    assert "suspended, needs you" in out.decode("utf-8")


def test_the_name_of_a_skipped_file_stays_on_one_line() -> None:
    body = SourcesRead(
        documents=1,
        digest="0" * 64,
        skipped=(SkippedFile(uri="a\nnode=b state=accepted\x1b[2J.md", reason="binary"),),
    )
    log = Simulation(builders.proposal(builders.plan("a>b"))).log
    told = Narrator("en").tell(Event(seq=9, ts="2026-01-01T00:00:00.000Z", body=body), states_of(log)[-1][1])
    assert told[1].sentence.isprintable()


@pytest.mark.parametrize(
    ("lang", "level", "field", "said"),
    [
        ("en", Level.L1, ("check", "L1 passed"), "accepted, check L1 passed"),
        ("zh", Level.L1, ("check", "L1 passed"), "已接受，L1 核验通过"),
        ("en", Level.L2, ("confidence", "L2 0.86, 1 of 2 traced"), "accepted, L2 0.86, 1 of 2 traced"),
        ("zh", Level.L2, ("confidence", "L2 0.86, 1 of 2 traced"), "已接受，L2 0.86，2 条中已追溯 1 条"),
    ],
)
def test_confidence_is_told_from_the_second_level_on(
    lang: Lang, level: Level, field: tuple[str, str], said: str
) -> None:
    run = Simulation(builders.proposal(builders.plan("a>b")))
    run.run()
    event, state = next(pair for pair in states_of(run.log) if isinstance(pair[0].body, AttemptVerified))
    assert isinstance(event.body, AttemptVerified)
    sure = Confidence(value=0.86, level=level, traced=1, total=2)
    checked = replace(event.body.verification, level=level, confidence=sure)
    (change,) = Narrator(lang).tell(replace(event, body=replace(event.body, verification=checked)), state)
    assert field in change.fields
    assert said in change.sentence


def _drawn(display: LiveDisplay, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    rows = console.render_lines(display.panel())
    return ["".join(segment.text for segment in row).rstrip() for row in rows]


@pytest.mark.parametrize("width", [60, 100])
def test_time_goes_on_in_the_panel_while_nothing_happens_and_long_titles_are_cut(width: int) -> None:
    now = [1000.0]
    err = Terminal()
    display = LiveDisplay(
        Streams(io.StringIO(), err, io.StringIO()), "en", {}, now=lambda: now[0], width=width
    )
    work = builders.plan("a>c b>c")
    tasks = tuple(
        replace(task, title=f"Look into {task.id} " + "for a very long time " * 9) for task in work.subtasks
    )
    run = Simulation(builders.proposal(replace(work, subtasks=tasks)))
    run.run()
    pairs = states_of(run.log)
    first = next(i for i, (event, _) in enumerate(pairs) if isinstance(event.body, AttemptStarted))
    for event, state in pairs[: first + 1]:
        display.show(event, state)
    started = pairs[first][0].body
    assert isinstance(started, AttemptStarted)
    example = next(body for body in BODIES if isinstance(body, CallReturned))
    call = replace(example, node=started.node, name="notes.search", summary="2 places")
    display.show(Event(seq=first + 2, ts="2026-01-01T00:00:00.000Z", body=call), pairs[first][1])

    def clock_of(line: str) -> str:
        found = re.search(r"work +(\d+ s|\d+:\d\d) ", line)
        assert found is not None, line
        return found[1]

    before = _drawn(display, width)
    now[0] += 75
    after = _drawn(display, width)
    assert (clock_of(before[1]), clock_of(after[1])) == ("0 s", "1:15")
    assert "1:15" in after[0]
    assert len(before) == len(after) == 3 + 3
    assert all(cell_len(line) <= width for line in after)
    # The long title leaves room for what is being done.
    assert "notes.search" in after[1]
    scrolled = [line for line in err.getvalue().splitlines() if "Look into" in line]
    assert len(scrolled) == 1
    assert cell_len(scrolled[0]) <= width


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", f"paused; nothing runs. Waits for: maskgrad resume {RUN}; Ctrl-C ends this process"),
        ("zh", f"已暂停；没有任何内容在运行。等待：maskgrad resume {RUN}；Ctrl-C 结束本进程"),
    ],
)
def test_a_paused_run_that_came_to_a_stand_says_so_once(lang: Lang, said: str) -> None:
    """Two sub-tasks are under way when the pause comes; the second to end is followed by the word, the first is not."""
    run = Simulation(builders.proposal(builders.plan("a>c b>c")))
    run.run()
    event, state = next(pair for pair in states_of(run.log) if pair[1].counts.active == 2)
    narrator, replayed, told = Narrator(lang, following=True), Narrator(lang), []
    bodies: list[Body] = [
        RunPaused(by="cli"),
        *(AttemptCancelled(node=NodeId(name), generation=1, attempt=1) for name in "ab"),
        RunContinued(by="cli"),
        RunPaused(by="cli"),
    ]
    for seq, body in enumerate(bodies, event.seq + 1):
        new = Event(seq=seq, ts="2026-01-01T00:00:00.000Z", body=body)
        state = apply(state, new)
        told.append([change.sentence for change in narrator.tell(new, state)].count(said))
        assert said not in [change.sentence for change in replayed.tell(new, state)]
    assert told == [0, 0, 1, 0, 1]
    assert len(narrator.tell(new, state)) == 1, "it was said already"


def test_a_pause_says_what_finishes_first_and_how_to_go_on() -> None:
    run = Simulation(builders.proposal(builders.plan("a>c b>c")))
    run.run()
    pairs = states_of(run.log)
    event, state = next(pair for pair in pairs if pair[1].counts.active == 2)
    body = RunPaused(by="cli")
    paused = Event(seq=event.seq + 1, ts="2026-01-01T00:00:00.000Z", body=body)
    after = apply(state, paused)
    (english,) = Narrator("en").tell(paused, after)
    assert english.sentence == f"paused; a, b finish first. Go on with: maskgrad resume {RUN}"
    assert logfmt(english.fields).startswith("run=paused by=cli running=")
    (chinese,) = Narrator("zh").tell(paused, after)
    assert chinese.sentence == f"已暂停；a, b 会先完成。继续：maskgrad resume {RUN}"
    display = LiveDisplay(Streams(io.StringIO(), Terminal(), io.StringIO()), "en", {})
    display.show(paused, after)
    assert "paused" in _drawn(display, 80)[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_model_call_that_failed_says_why(lang: Lang) -> None:
    run = Simulation(builders.proposal(builders.plan("a>b")))
    run.run()
    started, state = next(pair for pair in states_of(run.log) if isinstance(pair[0].body, AttemptStarted))
    assert isinstance(started.body, AttemptStarted)
    example = next(body for body in BODIES if isinstance(body, CallReturned))
    failed = replace(
        example, node=started.body.node, call="model", name="flash", summary="model_error", error="timeout"
    )
    event = Event(seq=state.seq + 1, ts=started.ts, body=failed)
    (told,) = Narrator(lang, following=True).tell(event, state)
    assert (
        told.sentence
        == {
            "en": "flash: no answer (it took too long)",
            "zh": "flash：没有回答（超时）",
        }[lang]
    )
    assert ("summary", "model_error") in told.fields, "for programs it is a code"
    assert ("error", "timeout") in told.fields
    (well,) = Narrator(lang, following=True).tell(replace(event, body=replace(failed, error="")), state)
    assert well.sentence == {"en": "flash: no answer", "zh": "flash：没有回答"}[lang]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_long_reason_is_written_once_in_plain_lines_and_always_in_stamped_ones(lang: Lang) -> None:
    reason = "the server at http://127.0.0.1:9 said no; " * 3
    failing = [fails(replace(builders.failure("unavailable"), message=reason)) for _ in range(9)]
    run = Simulation(builders.proposal(builders.plan("a>c b>c")), script={"b": failing})
    assert run.run().status == "suspended"
    counts = []
    for stamped in (False, True):
        said = io.StringIO()
        display = LineDisplay(Streams(io.StringIO(), said, io.StringIO()), lang, stamped=stamped)
        for event, state in states_of(run.log):
            display.show(event, state)
        counts.append(said.getvalue().count(reason.strip()))
        assert ({"en": "as above", "zh": "同上"}[lang] in said.getvalue()) is not stamped
    failures = sum(isinstance(event.body, AttemptFailed) for event in run.log)
    # Stamped: once for each failed attempt and once in the question.
    assert counts == [1, failures + 1]
