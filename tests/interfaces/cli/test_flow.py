"""The whole way from the command line, with the product's own planner, workers and checks over a few notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.harness import Called, call
from tests.interfaces.cli.shops import NOTES, real_shop, write_notes

GOAL = "How much does the battery system cost?"


class Desk:
    """A home with notes and the product's own workshop, shared by the tests: the embedder is loaded once."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.notes = write_notes(home / "notes")
        self.shop: Workshop = real_shop(home)

    def call(self, *argv: str, typed: str | None = None) -> Called:
        return call(*argv, home=self.home, shop=self.shop, typed=typed)

    def plan(self, goal: str = GOAL, *argv: str) -> Called:
        return self.call("plan", goal, "--sources", str(self.notes), *argv, "--json")

    def runs(self) -> int:
        return len(self.call("runs", "--json", "-n", "1000").data["runs"])


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    found = Desk(tmp_path_factory.mktemp("flow"))
    yield found
    found.shop.store.close()


@pytest.fixture(scope="module")
def done(desk: Desk) -> Called:
    """One run, from goal to report."""
    return desk.call("run", GOAL, "--sources", str(desk.notes), "--approve", "--json")


def test_from_a_goal_to_a_report_in_one_command(desk: Desk, done: Called) -> None:
    assert done.code == 0
    assert done.data["status"] == "completed"
    (place,) = done.data["report"]["citations"][0]["places"]
    assert (place["uri"], place["start_line"]) == ("costs.md", 3)
    # The file that is no text is said at the start, with its reason.
    assert "file=picture.md state=skipped reason=" in done.err
    shown = desk.call("show", done.data["run"]).out
    assert "“The battery system costs €9.6 million without tax.” [1]" in shown


def test_the_report_is_the_last_thing_on_stdout_and_talk_is_elsewhere(desk: Desk, done: Called) -> None:
    text = desk.call("run", done.data["run"], "--again")
    exported = desk.call("export", done.data["run"], "--format", "md").out
    assert text.code == 0
    assert text.out == exported
    assert text.out.startswith("# ")
    assert "node=n1 state=accepted" in text.err


def test_evidence_names_file_line_verdict_level_and_the_exact_quote(desk: Desk, done: Called) -> None:
    run = done.data["run"]
    exact = NOTES["costs.md"].splitlines()[2]
    data = desk.call("evidence", run, "n1", "--json").data
    (node,) = data["nodes"]
    (claim,) = [c for c in node["claims"] if "battery" in c["statement"]]
    (piece,) = claim["evidence"]
    assert (piece["file"], piece["start_line"], piece["quote"]) == ("costs.md", 3, exact)
    assert NOTES["costs.md"][piece["start_char"] : piece["end_char"]] == exact
    assert (claim["core"], claim["leaks"]) == (True, [])
    last = desk.call("evidence", run, "--json").data["nodes"][-1]
    assert [(c["verdict"], c["level"]) for c in last["claims"]] == [("verified", "L2")] * len(last["claims"])
    text = desk.call("evidence", run).out
    assert "costs.md:3" in text
    assert f"“{exact}”" in text
    # Research, synthesis and report make the same claim; a reader sees it once, as it was checked last.
    places = text.splitlines()
    assert places.count(f"      “{exact}”") == 1
    at = places.index(f"      “{exact}”")
    assert re.match(r"    L2  verified against costs\.md:3  \(before: L\d n1", places[at - 2]), places[at - 2]
    unknown = desk.call("evidence", run, "n99", "--json")
    assert (unknown.code, unknown.error["code"]) == (2, "unknown_node")


def test_a_report_as_json_and_the_plan_as_a_chart(desk: Desk, done: Called) -> None:
    run = done.data["run"]
    assert json.loads(desk.call("export", run, "-f", "json").out) == done.data["report"]
    chart = desk.call("export", run, "-f", "mermaid", "--lang", "zh").out
    assert chart.startswith("flowchart LR")
    assert "已接受" in chart


def test_a_report_is_in_the_goal_s_language_whatever_the_reader_s(desk: Desk) -> None:
    called = desk.call("run", "泵房的造价是多少？", "--sources", str(desk.notes), "--approve", "--lang", "en")
    assert called.code == 0
    assert "泵房的造价为320万元。" in called.out
    assert "## 证据" in called.out
    assert "Evidence" not in called.out
    assert "run=completed" in called.err


@pytest.mark.parametrize("text", ["thanks", "谢谢"])
def test_a_text_without_a_task_is_drafted_and_never_run(desk: Desk, text: str) -> None:
    planned = desk.plan(text)
    assert planned.code == 0
    refused = desk.call("run", text, "--sources", str(desk.notes), "--approve", "--json")
    assert (refused.code, refused.error["code"]) == (2, "no_task")
    assert repr(text) in refused.error["message"]
    # Approving it alone is refused in the same words: there is nothing to approve.
    approved = desk.call("approve", planned.data["approval"], "--json")
    assert (approved.code, approved.error["message"]) == (2, refused.error["message"])


def test_plan_review_edit_approve_run(desk: Desk) -> None:
    planned = desk.plan("How far apart must battery containers stand?")
    assert planned.code == 0
    run, token = planned.data["run"], planned.data["approval"]
    document = desk.call("export", run, "--format", "yaml").out
    file = desk.home / "edited.yaml"
    file.write_text(document.replace("title: Report", "title: Final report"), encoding="utf-8")
    saved = desk.call("edit", run, "--from", str(file), "--json").data
    assert (saved["revision"], bool(saved["changes"])) == (2, True)
    assert desk.call("approve", token, "--json").error["code"] == "stale_approval"
    assert desk.call("approve", saved["approval"]).code == 0
    finished = desk.call("run", run, "--json")
    assert (finished.code, finished.data["approved_revision"]) == (0, 2)


def test_a_proposal_from_a_file_is_put_up_for_review(desk: Desk, done: Called) -> None:
    document = desk.call("export", done.data["run"], "--format", "yaml").out
    file = desk.home / "taken.yaml"
    file.write_text(document.replace("title: Report", "title: From a file"), encoding="utf-8")
    planned = desk.call("plan", "--from", str(file), "--json").data
    titles = [task["title"] for task in planned["proposal"]["plan"]["subtasks"]]
    assert "From a file" in titles
    assert planned["run"] != done.data["run"]
    waiting = desk.call("run", str(file))
    assert waiting.code == 3
    assert "maskgrad approve" in waiting.out


def test_a_file_with_a_cycle_is_refused_with_its_path_and_creates_nothing(desk: Desk, done: Called) -> None:
    document = desk.call("export", done.data["run"], "--format", "yaml").out
    edges = document.index("dependencies:")
    first = document.index("- ", edges)
    line = document[first : document.index("\n", first)]
    source, target = (end.partition(".")[0] for end in line.removeprefix("- ").strip("'\"").split(" -> "))
    cycle = document.replace(line, f"{line}\n    - {target}.claims -> {source}.claims", 1)
    file = desk.home / "cycle.yaml"
    file.write_text(cycle, encoding="utf-8")
    before = desk.runs()
    called = desk.call("run", str(file), "--json")
    assert (called.code, called.error["kind"]) == (2, "invalid")
    assert source in called.error["message"]
    assert target in called.error["message"]
    assert desk.runs() == before


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("--sources", "/nowhere/at/all"), "folder_not_found"),
        ((), "sources_missing"),
        (("--sources", "/a", "--sources", "/b"), "several_sources"),
    ],
)
def test_a_goal_without_its_notes_creates_nothing(desk: Desk, argv: tuple[str, ...], code: str) -> None:
    before = desk.runs()
    for command in (("plan", GOAL), ("run", GOAL, "--approve")):
        called = desk.call(*command, *argv, "--json")
        assert (called.code, called.error["code"]) == (2, code)
    assert desk.runs() == before


def test_every_file_is_counted_so_that_read_and_not_read_add_up(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "mast.md").write_text("The mast is 31 m high.\n", encoding="utf-8")
    (folder / "empty.md").touch()
    (folder / "photo.jpg").write_bytes(bytes(range(256)))
    (folder / ".hidden.md").write_text("Not a note.\n", encoding="utf-8")
    called = desk.call("run", "How high is the mast?", "--sources", str(folder), "--approve")
    assert "reading 3 files in" in called.err
    assert "documents=1 skipped=2" in called.err


def test_an_open_question_is_a_gap_unless_it_may_stay_open(desk: Desk) -> None:
    goal = "What is the annual insurance premium?"
    refused = desk.call("run", goal, "--sources", str(desk.notes), "--approve")
    assert refused.code == 4
    allowed = desk.call("run", goal, "--sources", str(desk.notes), "--approve", "--allow-unresolved")
    assert allowed.code == 0
    assert "## Open questions" in allowed.out


def test_a_forbidden_domain_is_at_minus_one_for_everybody(desk: Desk) -> None:
    planned = desk.plan(GOAL, "--forbid", "法律").data
    agents = desk.call("masks", "show", planned["run"], "--json").data["agents"]
    for agent in agents:
        values = {value["domain"]: value["m100"] for value in agent["values"]}
        assert values["law.civil"] == values["law.public"] == -100


@pytest.mark.parametrize(
    ("lang", "said", "never"),
    [
        ("en", "the proposal in the file has errors, no run was made:", ("without saving", "edited")),
        ("zh", "文件中的方案有错误，未创建运行：", ("不保存", "修改后")),
    ],
)
def test_an_empty_file_is_not_spoken_of_as_an_editor_is(
    desk: Desk, lang: str, said: str, never: tuple[str, ...]
) -> None:
    file = desk.home / f"empty-{lang}.yaml"
    file.touch()
    called = desk.call("plan", "--from", str(file), "--lang", lang)
    assert called.code == 2
    assert said in called.err
    assert "maskgrad export RUN --format yaml" in called.err
    assert not [words for words in never if words in called.err]


def test_doctor_finds_nothing_wrong_here(desk: Desk) -> None:
    called = desk.call("doctor", "--json")
    assert called.code == 0, called.out
    names = {check["name"]: check["verdict"] for check in called.data["checks"]}
    assert all(names[f"import {name}"] == "ok" for name in ("masks", "graphs", "agents", "orchestrator"))
    assert names["embedder"] == names["domains"] == names["store"] == names["python"] == "ok"
    assert "正常" in desk.call("doctor", "--lang", "zh").out


def test_doctor_blames_the_damaged_store_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text("no database at all", encoding="utf-8")
    called = call("doctor", home=tmp_path)
    failed = [line for line in called.out.splitlines() if line.startswith("FAILED")]
    assert called.code == 1
    assert [line.split()[1] for line in failed] == ["store"]
    assert "Move the file away" in failed[0]


@pytest.mark.parametrize(
    ("lang", "failed", "said"),
    [
        ("en", "FAILED", "Domain 'zoo.otters': the field `names` is missing."),
        ("zh", "失败", "知识域 'zoo.otters'：缺少字段 `names`。"),
    ],
)
def test_doctor_blames_a_faulty_file_of_domains_and_nothing_else(
    tmp_path: Path, lang: str, failed: str, said: str
) -> None:
    texts = {"en": "x", "zh": "x"}
    record = {"id": "zoo.otters", "descriptions": texts}
    (tmp_path / "domains.json").write_text(json.dumps([record]), encoding="utf-8")
    called = call("doctor", "--lang", lang, home=tmp_path)
    lines = [line for line in called.out.splitlines() if line.startswith(failed)]
    assert called.code == 1
    assert [line.split()[1] for line in lines] == ["domains"]
    assert said in lines[0]


@pytest.mark.parametrize("command", [("plan",), ("run", "--approve")])
def test_a_folder_without_readable_notes_is_refused_before_a_run_exists(
    desk: Desk, command: tuple[str, ...]
) -> None:
    folder = desk.home / "empty"
    folder.mkdir(exist_ok=True)
    name, *options = command
    before = desk.runs()
    called = desk.call(name, GOAL, "--sources", str(folder), *options, "--json")
    assert (called.code, called.error["kind"], called.error["code"]) == (2, "usage", "no_notes")
    assert (
        f"{str(folder)!r} holds no readable notes; accepted: .md, .markdown, .txt" in called.error["message"]
    )
    assert "maskgrad plan GOAL --sources FOLDER" in called.error["message"]

    (folder / "scan.pdf").write_bytes(b"%PDF")
    chinese = desk.call(name, GOAL, "--sources", str(folder), *options, "--lang", "zh")
    assert chinese.code == 2
    assert "没有可读的笔记（未读取：scan.pdf）" in chinese.err
    (folder / "scan.pdf").unlink()
    assert desk.runs() == before


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_doctor_checks_prices_and_the_models_of_the_settings(tmp_path: Path, lang: str) -> None:
    def checks(**environment: str) -> dict[str, dict[str, str]]:
        called = call("doctor", "--json", "--lang", lang, home=tmp_path, environment=environment)
        failed = any(each["verdict"] == "failed" for each in called.data["checks"])
        assert called.code == (1 if failed else 0)
        return {each["name"]: each for each in called.data["checks"]}

    here = {"OPENAI_API_KEY": "sk-test"}
    good = checks(MASKGRAD_MODEL="openai:gpt-5", **here)
    assert [good[name]["verdict"] for name in ("models", "prices", "MASKGRAD_MODEL")] == ["ok"] * 3
    # What a missing key or package is told to look up there.
    assert (
        "OPENAI_API_KEY is set" in good["models openai"]["found"]
        or "已设置 OPENAI_API_KEY" in good["models openai"]["found"]
    )
    assert good["models openai"]["verdict"] == "ok"
    assert good["models anthropic"]["verdict"] == "note"
    assert "ANTHROPIC_API_KEY" in good["models anthropic"]["found"]
    assert "sk-test" not in str(good)
    keyless = checks(MASKGRAD_MODEL="openai:gpt-5", MASKGRAD_PLANNER_MODEL="embedded")["MASKGRAD_MODEL"]
    assert keyless["verdict"] == "failed"
    assert "OPENAI_API_KEY" in keyless["found"]
    assert "MASKGRAD_PLANNER_MODEL" not in checks(MASKGRAD_PLANNER_MODEL="embedded")
    assert checks(MASKGRAD_PLANNER_MODEL="nobody:x")["MASKGRAD_PLANNER_MODEL"]["verdict"] == "failed"
    assert checks(MASKGRAD_MODELS="off")["models"]["verdict"] == "note"
    (tmp_path / "prices.yaml").write_text("nonsense: [", encoding="utf-8")
    broken = checks()["prices"]
    assert broken["verdict"] == "failed"
    assert "prices.yaml" in broken["found"]
