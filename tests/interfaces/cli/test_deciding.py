"""Review, edit, set masks, approve, reject, answer: what a person decides, and how what does not fit is refused."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from orchestrator.core.proposal import proposal_sha256
from orchestrator.core.requests import CHOICES, Answer
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.app import run_command
from orchestrator.interfaces.cli.streams import Streams
from orchestrator.shell.runs import events_of, load
from orchestrator.shell.store.holders import this_process
from orchestrator.shell.wiring import Workshop
from tests.core import builders
from tests.core.simulation import Simulation, fails
from tests.interfaces.cli.harness import Called, Terminal, call, store_log
from tests.interfaces.cli.logs import draft, reviewing_log, suspended_log
from tests.interfaces.cli.shops import scripted_shop

HASH = proposal_sha256(draft())
TOKEN = f"r-edit22@1-{HASH[:8]}"


class Desk:
    """A home with one run in review, and the command line on it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.run = store_log(home, "r-edit22", reviewing_log())
        self.shop: Workshop = scripted_shop(home, {})

    def call(self, *argv: str, typed: str | None = None, **environment: str) -> Called:
        return call(*argv, home=self.home, shop=self.shop, typed=typed, environment=environment)

    def state(self) -> RunState:
        return load(self.shop.store, self.run)

    def log(self) -> list[str]:
        return [event.body.type for event in events_of(self.shop.store, self.run)]

    def document(self) -> str:
        return self.call("export", self.run, "--format", "yaml").out

    def file(self, text: str) -> str:
        file = self.home / "edited.yaml"
        file.write_text(text, encoding="utf-8")
        return str(file)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path)
    yield found
    found.shop.store.close()


# Approving


def test_the_review_ends_with_the_command_that_approves_it(desk: Desk) -> None:
    called = desk.call("review", desk.run)
    assert called.code == 0
    assert f"maskgrad approve {TOKEN}" in called.out
    assert desk.call("approve", TOKEN).code == 0
    assert desk.state().approved_revision == 1
    after = desk.call("review", desk.run)
    assert "maskgrad approve" not in after.out
    assert "not under review" in after.err


@pytest.mark.parametrize(
    "token",
    [
        f"r-edit22@2-{HASH[:8]}",
        "r-edit22@1-00000000",
        f"r-edit22@1-{HASH[:7]}",
        "r-edit22@1",
        "r-edit22",
        "yes",
        f"r-edit22@1-{HASH[:8].upper()}x",
    ],
)
def test_nothing_but_revision_and_hash_approves(desk: Desk, token: str) -> None:
    called = desk.call("approve", token, "--json")
    assert called.code == 2
    assert called.error["kind"] in ("usage", "state")
    assert token in called.error["message"]
    assert desk.log() == ["run.created", "proposal.drafted"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_wrong_token_names_the_line_that_holds_the_right_one(desk: Desk, lang: str) -> None:
    shown = desk.call("review", desk.run, "--lang", lang).out.splitlines()
    (line,) = [line for line in shown if TOKEN in line]
    head = line.partition(": " if lang == "en" else "：")[0]
    assert head in desk.call("approve", desk.run, "--lang", lang).err


def test_rejecting_ends_the_run(desk: Desk) -> None:
    assert desk.call("reject", desk.run, "--note", "not this", "--json").data["status"] == "blocked"
    assert desk.call("approve", TOKEN, "--json").error["code"] == "wrong_state"


def test_a_request_for_changes_keeps_it_in_review(desk: Desk) -> None:
    assert desk.call("request-changes", desk.run, "approve it, yes", "--json").data["status"] == "reviewing"
    assert desk.call("request-changes", desk.run, "  ", "--json").error["code"] == "empty_note"
    assert desk.log() == ["run.created", "proposal.drafted", "proposal.changes_requested"]


@pytest.mark.parametrize("command", ["review", "show"])
def test_requested_changes_are_shown_until_a_revision_answers_them(desk: Desk, command: str) -> None:
    assert "change asked for" not in desk.call(command, desk.run).out
    desk.call("request-changes", desk.run, "drop the second sub-task\nand cite more")
    desk.call("request-changes", desk.run, "用中文")

    lines = desk.call(command, desk.run).out.splitlines()
    asked = [line for line in lines if line.startswith("change asked for: ")]
    assert asked == [
        "change asked for: drop the second sub-task and cite more",
        "change asked for: 用中文",
    ]
    assert "要求的改动：用中文" in desk.call(command, desk.run, "--lang", "zh").out.splitlines()
    data = desk.call(command, desk.run, "--json").data
    assert data["changes_requested"] == ["drop the second sub-task\nand cite more", "用中文"]

    edited = desk.document().replace("0.90", "0.85")
    assert desk.call("edit", desk.run, "--from", desk.file(edited)).code == 0
    assert desk.state().proposal is not None
    assert desk.log()[-1] == "proposal.drafted"
    assert "change asked for" not in desk.call(command, desk.run).out
    assert desk.call(command, desk.run, "--json").data["changes_requested"] == []


# The gate


def test_without_a_terminal_nothing_is_approved_and_the_command_is_printed(desk: Desk) -> None:
    called = desk.call("run", desk.run)
    assert called.code == 3
    assert f"maskgrad approve {TOKEN}" in called.out
    assert f"maskgrad approve {TOKEN}" in called.err
    assert desk.log() == ["run.created", "proposal.drafted"]
    assert desk.call("run", desk.run, "--json").data["next"] == f"maskgrad approve {TOKEN}"


@pytest.mark.parametrize("word", ["approve", "yes", "批准", "y", "ok", "approve 1", TOKEN])
def test_words_at_the_gate_never_approve(desk: Desk, word: str) -> None:
    called = desk.call("run", desk.run, typed=f"{word}\n5\n")
    assert called.code == 3
    assert "nothing was approved" in called.err
    assert desk.log() == ["run.created", "proposal.drafted", "proposal.changes_requested"]


@pytest.mark.parametrize("slip", ["9", "11", "0", "-1", "１", "1.", "?"])
def test_a_number_that_is_not_offered_at_the_gate_changes_nothing(desk: Desk, slip: str) -> None:
    called = desk.call("run", desk.run, typed=f"{slip}\n5\n")
    assert called.code == 3
    assert f"{slip!r} is no choice; accepted: 1, 2, 3, 4, 5" in called.err
    assert desk.log() == ["run.created", "proposal.drafted"]
    last = called.err.splitlines()[-1].rpartition("request for changes: ")[2]
    assert last.startswith("left in review; nothing was approved")
    assert f"maskgrad approve {TOKEN}" in last
    assert "back in review" not in called.err


def test_one_at_the_gate_approves_what_was_shown_and_runs_it(desk: Desk) -> None:
    called = desk.call("run", desk.run, "--display", "plain", typed="\nwhat is this\n1\n")
    assert called.err.index(f"approve {TOKEN}") < called.err.index("node=a state=running")
    assert desk.state().status == "partial"
    assert called.code == 4


@pytest.mark.parametrize(
    ("typed", "code", "status"),
    [
        ("5\n", 3, "reviewing"),
        ("", 3, "reviewing"),
        ("4\nbecause\n", 4, "blocked"),
        ("3\nleave a out\n5\n", 3, "reviewing"),
        ("3\n\n5\n", 3, "reviewing"),
    ],
)
def test_the_other_choices_of_the_gate(desk: Desk, typed: str, code: int, status: str) -> None:
    assert desk.call("run", desk.run, typed=typed).code == code
    assert desk.state().status == status
    assert "attempt.started" not in desk.log()


def test_the_gate_shows_the_new_revision_after_an_edit(desk: Desk) -> None:
    editor = _editor(desk, "0.90", "0.85")
    called = desk.call("run", desk.run, typed="2\n5\n", VISUAL=editor)
    state = desk.state()
    assert state.proposal is not None
    assert state.sha256 is not None
    assert state.proposal.revision == 2
    assert f"approve {desk.run}@2-{state.sha256[:8]}" in called.err


def test_the_gate_does_not_approve_what_another_process_changed(desk: Desk) -> None:
    """The person looks at revision 1 while somebody saves revision 2: `1` is refused and revision 2 is shown."""
    file = desk.file(desk.document().replace("0.90", "0.85"))

    class Slowly(Streams):
        """Somebody else edits before the first line is typed."""

        def ask(self, prompt: str) -> str | None:
            if self.inp.tell() == 0:
                desk.call("edit", desk.run, "--from", file)
            return super().ask(prompt)

    err = Terminal()
    streams = Slowly(io.StringIO(), err, Terminal("1\n5\n"))
    environment = {"MASKGRAD_HOME": str(desk.home)}
    assert run_command(["run", desk.run], environment, streams, shop=desk.shop) == 3
    assert "is not under review" in err.getvalue()
    assert f"approve {desk.run}@2-" in err.getvalue()
    assert desk.log() == ["run.created", "proposal.drafted", "proposal.drafted"]


def test_a_rejected_run_says_when_why_and_how_to_plan_anew(desk: Desk) -> None:
    called = desk.call("reject", desk.run, "--note", "too dear")
    assert "Plan anew: maskgrad plan 'Why?'" in called.err
    shown = desk.call("show", desk.run)
    (line,) = [line for line in shown.out.splitlines() if "rejected" in line]
    ts = list(desk.shop.store.events(desk.run))[-1].ts
    assert line == f"rejected by you on {ts[:10]} {ts[11:16]} UTC: too dear"
    assert "missing" not in shown.out
    assert shown.err == "next: maskgrad plan 'Why?'\n"
    again = desk.call("resume", desk.run)
    assert (again.code, again.err) == (4, "plan anew: maskgrad plan 'Why?'\n")
    assert "您于" in desk.call("show", desk.run, "--lang", "zh").out


# Editing


def test_an_edit_shows_changes_and_consequences_and_is_the_next_revision(desk: Desk) -> None:
    file = desk.file(desk.document().replace("cs.databases: 0.90", "cs.databases: 0.50", 1))
    dry = desk.call("edit", desk.run, "--from", file, "--dry-run", "--json").data
    assert dry["saved"] is False
    assert desk.log() == ["run.created", "proposal.drafted"]
    saved = desk.call("edit", desk.run, "--from", file, "--json").data
    assert (saved["saved"], saved["revision"], saved["changes"]) == (True, 2, dry["changes"])
    assert any("0.90 -> 0.50" in line for line in saved["changes"])
    assert any("cs.databases" in line for line in saved["consequences"])
    assert desk.call("approve", TOKEN, "--json").error["code"] == "stale_approval"
    assert desk.call("approve", saved["approval"]).code == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cs.databases: 0.90", "cs.databases: 1.20", "1.2"),
        ("cs.databases: 0.90", "cs.datbases: 0.90", "cs.datbases"),
        ("grants:", "grant:", "'grant'"),
        ("reassign: true", "reassign: perhaps", "perhaps"),
        ("- a.claims -> c.from_a", "- c.claims -> a.from_a", "from_a"),
        ("plan:", "plan: [", "line"),
    ],
)
def test_a_text_with_errors_changes_nothing_and_is_kept(desk: Desk, old: str, new: str, said: str) -> None:
    text = desk.document()
    assert old in text
    file = desk.file(text.replace(old, new, 1))
    called = desk.call("edit", desk.run, "--from", file, "--json")
    assert (called.code, called.error["kind"], called.error["code"]) == (2, "invalid", "invalid_proposal")
    assert said in called.error["message"]
    assert f"maskgrad edit {desk.run} --from {file}" in called.error["message"]
    assert Path(file).read_text(encoding="utf-8") == text.replace(old, new, 1)
    assert desk.log() == ["run.created", "proposal.drafted"]


def _editor(desk: Desk, old: str, new: str) -> str:
    """An editor that replaces a text in the file that it is given."""
    script = desk.home / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        f"file.write_text(file.read_text(encoding='utf-8').replace({old!r}, {new!r}, 1), encoding='utf-8')\n",
        encoding="utf-8",
    )
    return f"{sys.executable} {script}"


def test_the_editor_s_text_becomes_the_next_revision(desk: Desk) -> None:
    saved = desk.call("edit", desk.run, "--json", EDITOR=_editor(desk, "0.90", "0.85")).data
    assert (saved["saved"], saved["revision"]) == (True, 2)


def test_leaving_the_text_as_it_is_changes_nothing(desk: Desk) -> None:
    called = desk.call("edit", desk.run, EDITOR=_editor(desk, "not there", ""))
    assert (called.code, called.out) == (0, "")
    assert "nothing was changed" in called.err
    assert desk.log() == ["run.created", "proposal.drafted"]


def test_what_the_editor_left_with_errors_can_be_gone_on_with(desk: Desk) -> None:
    called = desk.call("edit", desk.run, "--json", EDITOR=_editor(desk, "0.90", "9.90"))
    assert called.code == 2
    (kept,) = (desk.home / "edits").iterdir()
    assert f"maskgrad edit {desk.run} --from {kept}" in called.error["message"]
    assert "9.90" in kept.read_text(encoding="utf-8")
    kept.write_text(kept.read_text(encoding="utf-8").replace("9.90", "0.80"), encoding="utf-8")
    assert desk.call("edit", desk.run, "--from", str(kept), "--json").data["saved"] is True


@pytest.mark.parametrize("editor", ["/nowhere/editor", f"{sys.executable} -c 'raise SystemExit(3)'"])
def test_an_editor_that_fails_is_named(desk: Desk, editor: str) -> None:
    called = desk.call("edit", desk.run, "--json", VISUAL=editor)
    assert (called.code, called.error["code"]) == (2, "editor_failed")
    assert desk.log() == ["run.created", "proposal.drafted"]


def test_a_file_that_is_no_document_is_refused(desk: Desk) -> None:
    (desk.home / "gbk.yaml").write_bytes("目标".encode("gbk"))
    for name, code in (
        ("gbk.yaml", "file_not_utf8"),
        ("none.yaml", "file_not_readable"),
        ("", "file_not_readable"),
    ):
        called = desk.call("edit", desk.run, "--from", str(desk.home / name), "--json")
        assert (called.code, called.error["code"]) == (2, code)


def test_only_a_run_in_review_can_be_edited(desk: Desk) -> None:
    desk.call("approve", TOKEN)
    file = desk.file(desk.document())
    assert desk.call("edit", desk.run, "--from", file, "--json").error["code"] == "wrong_state"
    assert (
        desk.call("masks", "set", desk.run, "A1", "law.civil", "0", "--json").error["code"] == "wrong_state"
    )


# Masks


def test_setting_a_mask_value_is_the_next_revision_with_its_consequences(desk: Desk) -> None:
    saved = desk.call("masks", "set", desk.run, "A1", "数据库", "0.20", "--json").data
    assert (saved["revision"], saved["saved"]) == (2, True)
    assert any("A1 cs.databases 0.90 -> 0.20" in line for line in saved["changes"])
    assert saved["consequences"]
    assert saved["sha256"] != HASH
    values = desk.call("masks", "show", desk.run, "--json").data["agents"][0]["values"]
    (changed,) = [value for value in values if value["domain"] == "cs.databases"]
    assert (changed["m100"], changed["origin"]) == (20, "user")
    undone = desk.call("masks", "set", desk.run, "A1", "cs.databases", "0.90", "--json").data
    assert undone["revision"] == 3


def test_minus_one_is_a_value_and_no_option(desk: Desk) -> None:
    saved = desk.call("masks", "set", desk.run, "A2", "econ.finance", "-1", "--json").data
    assert any("-1.00" in line for line in saved["changes"])


def test_a_parent_domain_sets_its_leaves(desk: Desk) -> None:
    desk.call("masks", "set", desk.run, "A1", "law", "0.40")
    state = desk.state()
    assert state.proposal is not None
    values = dict(state.proposal.roster.get("A1").mask.values)
    assert {domain: m100 for domain, m100 in values.items() if domain.startswith("law.")} == {
        "law.civil": 40,
        "law.public": 40,
    }


@pytest.mark.parametrize(
    ("agent", "domain", "value", "code"),
    [
        ("A1", "cs.databases", "1.2", "mask_value_invalid"),
        ("A1", "cs.databases", "0.555", "mask_value_invalid"),
        ("A1", "cs.databases", "high", "mask_value_invalid"),
        ("A1", "cs.datbases", "0.5", "unknown_domain"),
        ("A9", "cs.databases", "0.5", "unknown_agent"),
    ],
)
def test_a_mask_value_that_is_not_accepted(
    desk: Desk, agent: str, domain: str, value: str, code: str
) -> None:
    called = desk.call("masks", "set", desk.run, agent, domain, value, "--json")
    assert (called.code, called.error["code"]) == (2, code)
    assert desk.log() == ["run.created", "proposal.drafted"]


def test_the_value_that_it_has_changes_nothing(desk: Desk) -> None:
    assert desk.call("masks", "set", desk.run, "A1", "cs.databases", "0.9", "--json").data["saved"] is False


# Answering


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Desk]:
    found = Desk.__new__(Desk)
    found.home = tmp_path
    found.run = store_log(tmp_path, "r-test", suspended_log())
    found.shop = scripted_shop(tmp_path, {})
    yield found
    found.shop.store.close()


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("r-test.q1", "approve"), "invalid_answer"),
        (("r-test.q1", "retry", "--value", "0.4"), "invalid_answer"),
        (("r-test.q1", "reassign"), "invalid_answer"),
        (("r-test.q1", "reassign", "--agent", "A9"), "unknown_agent"),
        (("r-test.q1", "reassign", "--agent", "V1"), "unknown_agent"),
        # A3 works on sub-tasks, not on this one.
        (
            ("r-test.q1", "set_mask", "--agent", "A3", "--domain", "law.civil", "--value", "0.4"),
            "unknown_agent",
        ),
        (("r-test.q1", "set_mask", "--agent", "A1", "--domain", "law"), "invalid_answer"),
        (
            ("r-test.q1", "set_mask", "--agent", "A1", "--domain", "law", "--value", "0.4"),
            "domain_not_a_leaf",
        ),
        (("r-test.q1", "set_mask", "--agent", "A1", "--domain", "lw", "--value", "0.4"), "unknown_domain"),
        (
            ("r-test.q1", "set_mask", "--agent", "A1", "--domain", "law.civil", "--value", "4"),
            "mask_value_invalid",
        ),
        (("r-test.q2", "retry"), "unknown_request"),
        (("r-test", "retry"), "request_form"),
        (("r-gone.q1", "retry"), "run_unknown"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_before_it_is_handed_over(
    asked: Desk, argv: tuple[str, ...], code: str
) -> None:
    called = asked.call("answer", *argv, "--json")
    assert (called.code, called.error["code"]) == (2, code)
    assert asked.shop.store.pending(asked.run) == ()
    # The request is still open, so a right answer is taken.
    assert asked.call("answer", "r-test.q1", "retry", "--guidance", "look again").code == 0


def test_a_second_answer_is_refused(asked: Desk) -> None:
    assert asked.call("answer", "r-test.q1", "abandon").code == 0
    called = asked.call("answer", "r-test.q1", "retry", "--json")
    assert (called.code, called.error["kind"], called.error["code"]) == (2, "state", "already_answered")

    typed = asked.call("answer", "r-test.q1", "retry")
    assert (typed.code, typed.out) == (2, "")
    assert f"is already answered; go on with: maskgrad resume {asked.run}" in typed.err
    (message,) = asked.shop.store.pending(asked.run)
    assert yaml.safe_load(message.payload)["answer"]["choice"] == "abandon"


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "was answered with 'abandon' at 2026-"), ("zh", "以 'abandon' 回答，运行已据此继续")],
)
def test_an_answer_that_the_run_has_taken_up_is_named_to_who_answers_again(
    tmp_path: Path, lang: str, said: str
) -> None:
    run = Simulation(
        builders.proposal(builders.plan("a>c b>c")),
        script={"b": [fails(builders.failure("domain_closed", domain=builders.CONTRACTS))] * 12},
    )
    assert run.run().status == "suspended"
    (open_one,) = run.state.requests.values()
    run.answer(open_one, Answer(choice="abandon"))
    found = store_log(tmp_path, "r-test", run.log)
    called = call("answer", f"{found}.q1", "retry", "--lang", lang, home=tmp_path)
    assert called.code == 2
    assert said in called.err
    assert f"maskgrad show {found}" in called.err


def test_a_second_answer_to_a_run_that_is_executed_points_at_watching_it(asked: Desk) -> None:
    assert asked.call("answer", "r-test.q1", "abandon").code == 0
    asked.shop.store.acquire(asked.run, this_process(), 60.0)
    called = asked.call("answer", "r-test.q1", "retry")
    assert (called.code, f"go on with: maskgrad watch {asked.run}" in called.err) == (2, True)


def test_a_second_answer_is_refused_in_chinese(asked: Desk) -> None:
    assert asked.call("answer", "r-test.q1", "abandon").code == 0
    called = asked.call("answer", "r-test.q1", "retry", "--lang", "zh")
    assert called.code == 2
    assert f"已经回答过；请继续：maskgrad resume {asked.run}" in called.err


def test_values_keep_their_types(asked: Desk) -> None:
    argv = ("--agent", "A1", "--domain", "法律", "--value", "-0.05")
    refused = asked.call("answer", "r-test.q1", "set_mask", *argv, "--json")
    assert refused.error["code"] == "domain_not_a_leaf"
    argv = ("--agent", "A1", "--domain", "law.civil", "--value", "-0.05")
    assert asked.call("answer", "r-test.q1", "set_mask", *argv).code == 0
    (message,) = asked.shop.store.pending(asked.run)
    answer = yaml.safe_load(message.payload)["answer"]
    assert (answer["domain"], answer["value"]) == ("law.civil", -5)


@pytest.mark.parametrize(
    ("lang", "state", "row"),
    [
        ("en", "suspended, answered", "(go on with: maskgrad resume r-test)"),
        ("zh", "已挂起，已回答", "（请继续：maskgrad resume r-test）"),
    ],
)
def test_a_request_that_was_answered_says_so_until_the_run_goes_on(
    asked: Desk, lang: str, state: str, row: str
) -> None:
    step = f"maskgrad resume {asked.run}"
    assert asked.call("answer", "r-test.q1", "abandon", "--json").data["next"] == step
    shown = asked.call("show", asked.run, "--lang", lang)
    assert f"{asked.run}  {state}  #" in shown.out
    # No choice is offered any more: the first answer stands, so each of them would be refused.
    assert "maskgrad answer" not in shown.out + shown.err
    assert f"abandon ({CHOICES['abandon']['en']}); go on with: {step}" in shown.out or lang == "zh"
    assert f"abandon（{CHOICES['abandon']['zh']}）；请继续：{step}" in shown.out or lang == "en"
    assert shown.err.strip().endswith(step)
    assert f"{state} {row}".replace(" （", "（") in asked.call("runs", "--lang", lang).out
    data = asked.call("show", asked.run, "--json").data
    assert ([each["given"] for each in data["requests"]], data["next"]) == (["abandon"], step)
