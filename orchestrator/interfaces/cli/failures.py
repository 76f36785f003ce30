"""Turn every error that may reach a person into one message in their language, a stable code and an exit code."""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from agents.models.errors import ChatUnavailable, MissingKey, ProviderNotInstalled
from agents.planning.embedded import EmptyGoal
from agents.retrieval.reading import NOTE_SUFFIXES, FolderNotFound, FolderUnreadable
from agents.roster import UnknownAgent
from agents.tools.yaml_lines import InvalidToolsFile
from graphs.editing.errors import EditError
from masks.errors import MaskError, UnknownDomain
from orchestrator.core.errors import (
    InvalidProposal,
    ModelUnavailable,
    NoNotes,
    NothingToDo,
    RunError,
    SeveralSources,
    SourcesMissing,
    UnknownRequest,
)
from orchestrator.core.events import UnreadableEvent
from orchestrator.core.requests import InvalidAnswer
from orchestrator.core.transition import BrokenLog
from orchestrator.interfaces.cli.chinese import in_chinese, with_chinese_states
from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.hints import filled, filled_hint, run_named
from orchestrator.interfaces.cli.problems import ErrorKind, Lang, NotFound, Problem, pick
from orchestrator.interfaces.cli.results import Failure
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.journal import JournalBroken
from orchestrator.shell.memory_file import MemoryUnavailable
from orchestrator.shell.settings import InvalidSetting
from orchestrator.shell.store.errors import (
    AlreadyRecorded,
    ArtefactCorrupted,
    ArtefactMissing,
    HeadMoved,
    NotStorable,
    RunBusy,
    StaleLease,
    StoreBusy,
    StoreError,
    StoreUnavailable,
    UnknownRun,
)

EXIT_OF_KIND: Final[Mapping[ErrorKind, ExitCode]] = {
    "usage": ExitCode.USAGE,
    "not_found": ExitCode.USAGE,
    "invalid": ExitCode.USAGE,
    "state": ExitCode.USAGE,
    "busy": ExitCode.USAGE,
    "store": ExitCode.FAILED,
    "unavailable": ExitCode.UNAVAILABLE,
    "interrupted": ExitCode.INTERRUPTED,
    "internal": ExitCode.FAILED,
}
"""Which kind of error ends the process with which code."""

_HINTS: Final[Mapping[ErrorKind, Mapping[Lang, str]]] = {
    "usage": {"en": "maskgrad COMMAND --help", "zh": "maskgrad 命令 --help"},
    "not_found": {"en": "maskgrad runs", "zh": "maskgrad runs"},
    "invalid": {"en": "maskgrad edit ID --from FILE", "zh": "maskgrad edit ID --from 文件"},
    "state": {"en": "maskgrad show RUN", "zh": "maskgrad show RUN"},
    "busy": {"en": "maskgrad watch RUN", "zh": "maskgrad watch RUN"},
    "store": {"en": "maskgrad doctor", "zh": "maskgrad doctor"},
    "unavailable": {"en": "maskgrad doctor", "zh": "maskgrad doctor"},
    "interrupted": {"en": "maskgrad resume RUN", "zh": "maskgrad resume RUN"},
    "internal": {"en": "maskgrad doctor", "zh": "maskgrad doctor"},
}

_CODES: Final[Mapping[type[BaseException], str]] = {
    EmptyGoal: "empty_goal",
    FolderNotFound: "folder_not_found",
    FolderUnreadable: "folder_unreadable",
    InvalidAnswer: "invalid_answer",
    InvalidSetting: "invalid_setting",
    UnknownAgent: "unknown_agent",
    UnreadableEvent: "unreadable_event",
    BrokenLog: "broken_log",
}
"""Codes of the errors that carry none themselves."""

_CLOSER_HINTS: Final[Mapping[str, Mapping[Lang, str]]] = {
    "empty_goal": {"en": "maskgrad plan GOAL --sources FOLDER", "zh": "maskgrad plan 目标 --sources 文件夹"},
    "folder_not_found": {
        "en": "maskgrad plan GOAL --sources FOLDER",
        "zh": "maskgrad plan 目标 --sources 文件夹",
    },
    "folder_unreadable": {
        "en": "maskgrad plan GOAL --sources FOLDER",
        "zh": "maskgrad plan 目标 --sources 文件夹",
    },
    "no_task": {"en": "maskgrad plan GOAL --sources FOLDER", "zh": "maskgrad plan 目标 --sources 文件夹"},
    "sources_missing": {
        "en": "maskgrad plan GOAL --sources FOLDER",
        "zh": "maskgrad plan 目标 --sources 文件夹",
    },
    "several_sources": {
        "en": "maskgrad plan GOAL --sources FOLDER",
        "zh": "maskgrad plan 目标 --sources 文件夹",
    },
    **{
        code: {"en": "maskgrad export RUN --format yaml", "zh": "maskgrad export RUN --format yaml"}
        for code in ("sub_task_unsupported", "model_unavailable", "versions_differ")
    },
    "unknown_domain": {"en": "maskgrad domains", "zh": "maskgrad domains"},
    "unknown_agent": {"en": "maskgrad masks show RUN", "zh": "maskgrad masks show RUN"},
    "mask_value_invalid": {"en": "maskgrad masks show RUN", "zh": "maskgrad masks show RUN"},
    "invalid_setting": {"en": "maskgrad --help", "zh": "maskgrad --help"},
    "run_lease_stale": {"en": "maskgrad watch RUN", "zh": "maskgrad watch RUN"},
    "stale_approval": {"en": "maskgrad review RUN", "zh": "maskgrad review RUN"},
    "tools_file_invalid": {
        "en": "correct the file and give the same command again; check it with: maskgrad tools",
        "zh": "请修正该文件后重新执行同一命令；可用此命令检查：maskgrad tools",
    },
    "prices_file_invalid": {
        "en": "correct the file and give the same command again; check it with: maskgrad doctor",
        "zh": "请修正该文件后重新执行同一命令；可用此命令检查：maskgrad doctor",
    },
    **{
        code: {
            "en": "set the variables as said and give the same command again",
            "zh": "请按上文设置环境变量后重新执行同一命令",
        }
        for code in ("recording_invalid", "recording_unavailable", "record_and_replay")
    },
    "unknown_tool": {"en": "maskgrad tools list", "zh": "maskgrad tools list"},
    "unknown_server": {"en": "maskgrad tools list", "zh": "maskgrad tools list"},
    "server_unreachable": {"en": "maskgrad tools list", "zh": "maskgrad tools list"},
    "descriptions_changed": {"en": "maskgrad tools list", "zh": "maskgrad tools list"},
    "unknown_memory": {"en": "maskgrad memory list", "zh": "maskgrad memory list"},
    "unknown_request": {"en": "maskgrad show RUN", "zh": "maskgrad show RUN"},
}
"""The next step of single errors, by code; every other has that of its kind."""

_HINTS_ON_RUNS: Final[Mapping[str, Mapping[Lang, str]]] = {
    "artefact_missing": {
        "en": "maskgrad doctor; without a copy of the store, once the run has ended: maskgrad run RUN --again",
        "zh": "maskgrad doctor；没有存储的备份时，在运行结束后：maskgrad run RUN --again",
    },
    "unknown_provider": {
        "en": "a run whose model only a Python program knows goes on there, with orchestrator.run.execute; or give it "
        "up: maskgrad cancel RUN",
        "zh": "若该模型只在某个 Python 程序中定义，请在那里用 orchestrator.run.execute 继续；或放弃该运行："
        "maskgrad cancel RUN",
    },
    "folder_not_found": {
        "en": "put the folder back and run: maskgrad resume RUN; or give the run up: maskgrad cancel RUN",
        "zh": "请将文件夹放回原处后运行：maskgrad resume RUN；或放弃该运行：maskgrad cancel RUN",
    },
    "folder_unreadable": {
        "en": "make the folder readable and run: maskgrad resume RUN; or give the run up: maskgrad cancel RUN",
        "zh": "请使该文件夹可读后运行：maskgrad resume RUN；或放弃该运行：maskgrad cancel RUN",
    },
}
"""The next step of single errors where the command line names a run: it has its folder and can get no other one."""

_CORRECT_THE_FILE: Final[Mapping[Lang, str]] = {
    "en": "correct the file and give the same command again; no run was made",
    "zh": "请修正该文件后重新执行同一命令；尚未创建运行",
}


@runtime_checkable
class _Bilingual(Protocol):
    def message(self, lang: Lang) -> str: ...


def failure_of(error: BaseException, lang: Lang, *, home: Path | None, args: Sequence[str] = ()) -> Failure:
    """Return what to show for `error`, in `lang`; `args` is the command line, which next steps are made for.

    An error of no known family is a bug of ours: its trace goes to a file below `home` (or the system's folder for
    temporary files), never to the terminal.
    """
    if isinstance(error, JournalBroken) and error.__cause__ is not None:
        return failure_of(error.__cause__, lang, home=home, args=args)
    kind = kind_of(error)
    if kind is None:
        return _internal(error, lang, home)
    code = _code(error)
    step = error.step if isinstance(error, StoreUnavailable) else None
    return Failure(
        kind=kind,
        code=code,
        message=filled(_message(error, lang), args),
        hint=step or filled_hint(_next_step(code, kind, args)[lang], args),
        retryable=kind == "busy" or isinstance(error, StoreBusy | HeadMoved),
        exit=EXIT_OF_KIND[kind],
    )


def _next_step(code: str, kind: ErrorKind, args: Sequence[str]) -> Mapping[Lang, str]:
    if code in _HINTS_ON_RUNS and run_named(args) is not None:
        return _HINTS_ON_RUNS[code]
    if kind == "invalid" and args[:1] and args[0] in ("plan", "run"):
        return _CORRECT_THE_FILE
    return _CLOSER_HINTS.get(code, _HINTS[kind])


def kind_of(error: BaseException) -> ErrorKind | None:
    """Return the kind of an error that people may meet; `None` for a bug of ours."""
    match error:
        case Problem():
            return error.kind
        case (
            UnknownRun()
            | UnknownRequest()
            | UnknownDomain()
            | UnknownAgent()
            | FolderNotFound()
            | FolderUnreadable()
        ):
            return "not_found"
        case InvalidProposal() | EditError():
            return "invalid"
        case MissingKey() | ProviderNotInstalled():
            return "unavailable"
        case ChatUnavailable():
            return "usage"
        case (
            SourcesMissing()
            | NoNotes()
            | NothingToDo()
            | SeveralSources()
            | MaskError()
            | EmptyGoal()
            | InvalidAnswer()
            | InvalidSetting()
            | InvalidToolsFile()
            | NotStorable()
        ):
            return "usage"
        case ModelUnavailable():
            return "unavailable"
        case RunBusy():
            return "busy"
        case RunError() | HeadMoved() | AlreadyRecorded() | StaleLease():
            return "state"
        case MemoryUnavailable() | StoreUnavailable() | ArtefactMissing() | ArtefactCorrupted():
            return "store"
        case UnreadableEvent() | BrokenLog():
            return "store"
        case StoreError():
            return "state"
        case PackageNotFoundError() | ImportError() if not _is_ours(error):
            return "unavailable"
        case _:
            return None


def _is_ours(error: ImportError) -> bool:
    """Whether a module of our own could not be imported: that is a bug, not a missing model."""
    return (error.name or "").partition(".")[0] in ("masks", "graphs", "agents", "orchestrator", "")


def _code(error: BaseException) -> str:
    for family, code in _CODES.items():
        if isinstance(error, family):
            return code
    if isinstance(error, ImportError) and not isinstance(error, ProviderNotInstalled):
        return "package_missing"
    return str(getattr(error, "code", "error"))


def _message(error: BaseException, lang: Lang) -> str:
    match error:
        case RunError() | NotFound() if lang == "zh":
            return with_chinese_states(error.message(lang))
        case _Bilingual():
            return error.message(lang)
        case EditError():
            return error.render(lang)
        case FolderNotFound() if lang == "zh":
            what = "不是文件夹" if error.folder.exists() else "不存在"
            suffixes = "、".join(NOTE_SUFFIXES)
            return f"资料文件夹 {str(error.folder)!r} {what}；请给出含有 {suffixes} 文件的文件夹，或新建一个并放入笔记"
        case FolderUnreadable() if lang == "zh":
            suffixes = "、".join(NOTE_SUFFIXES)
            return (
                f"无法读取资料文件夹 {str(error.folder)!r}（{error.reason}）；请允许列出该文件夹并读取其中的文件，"
                f"或给出另一个含有 {suffixes} 文件的文件夹"
            )
        case UnknownAgent() if lang == "zh":
            return f"名册中没有 agent {error.agent!r}；可用 `maskgrad show RUN` 查看名册"
        case UnreadableEvent() | BrokenLog() if lang == "zh":
            what = in_chinese(str(error)) or str(error)
            return f"运行的事件记录无法读取：{what}。请升级 maskgrad，或用 `maskgrad doctor` 检查存储"
        case InvalidSetting() if lang == "zh":
            return f"设置不可用：{in_chinese(str(error)) or error}"
        case InvalidAnswer() if lang == "zh":
            return f"回答不可接受：{in_chinese(str(error)) or error}"
        case ImportError():
            return pick(
                lang,
                f"the package {error.name!r} can't be used: {error}. "
                "Install maskgrad again in an environment of its own",
                f"无法使用软件包 {error.name!r}：{error}。请在独立环境中重新安装 maskgrad",
            )
        case _:
            return str(error)


def _internal(error: BaseException, lang: Lang, home: Path | None) -> Failure:
    what = one_line(f"{type(error).__name__}: {error}", 300)
    file = keep_trace("".join(traceback.format_exception(error)), home)
    return Failure(
        kind="internal",
        code="internal",
        message=pick(
            lang,
            f"a bug of ours: {what}. What was recorded is kept. "
            f"The trace is in {file}; please report it with that file",
            f"本程序的错误：{what}。已记录的内容仍在。跟踪信息保存在 {file}；报告问题时请附上该文件",
        ),
        hint=_HINTS["internal"][lang],
        retryable=False,
        exit=ExitCode.FAILED,
    )


def keep_trace(trace: str, home: Path | None) -> str:
    """Write a trace to a file of its own below `home` and return its path; `-` when no file can be written."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    text = f"{trace}\n{sys.version}\n"
    for folder in (home / "errors" if home is not None else None, Path(tempfile.gettempdir())):
        if folder is None:
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # A name of its own for each error, and readable by nobody else: a trace may quote notes.
            with tempfile.NamedTemporaryFile(
                "w",
                encoding="utf-8",
                errors="backslashreplace",
                dir=folder,
                prefix=f"{stamp}-",
                suffix=".txt",
                delete=False,
            ) as file:
                file.write(text)
                return file.name
        except OSError:
            continue
    return "-"
