"""Errors that people meet while they draft, approve, answer and look at runs.

    RunError                    code, message in both languages
    ├── WrongState              the run is not in a state in which this can be done
    ├── StaleApproval           revision or hash is not the one under review
    ├── InvalidProposal         the edited proposal has errors; nothing was changed
    ├── UnknownRequest          no open request of this id
    ├── NothingToDo             the proposal has no sub-task
    ├── SourcesMissing          the run needs a sources folder and has none, or it is gone
    ├── NoNotes                 the sources folder holds nothing that can be read as a note
    ├── SeveralSources          more than one folder of sources; one is accepted
    ├── SubTaskUnsupported      a sub-task is of a kind that this version can't carry out
    ├── ModelUnavailable        an agent thinks with something that is not configured here
    ├── VersionsDiffer          the run was drafted with another domain registry or embedder
    └── NoReport                the run has delivered nothing (yet)

Raised by `orchestrator.run`; interfaces show `message(lang)` and exit with the code of semantics 7. The other families
that reach people are `masks.errors`, `orchestrator.shell.store.errors`, `agents.planning.embedded.EmptyGoal` and
`agents.retrieval.reading.FolderNotFound`.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphs.contract import Lang


class RunError(Exception):
    """An action on a run that can't be carried out; nothing was changed."""

    code = "run_error"

    def __init__(self, *, en: str, zh: str) -> None:
        self._messages: Mapping[Lang, str] = {"en": en, "zh": zh}
        super().__init__(en)

    def message(self, lang: Lang) -> str:
        """Return what went wrong, what is accepted and the next step, in `lang`."""
        return self._messages[lang]


class WrongState(RunError):
    """The run is not in a state in which this can be done."""

    code = "wrong_state"

    def __init__(self, run: str, status: str, *, wanted: str, next_step: str) -> None:
        self.status = status
        super().__init__(
            en=f"run {run!r} is {status!r}; this needs a run that is {wanted}. Next: {next_step}",
            zh=f"运行 {run!r} 处于 {status!r} 状态；此操作要求状态为 {wanted}。下一步：{next_step}",
        )


class StaleApproval(RunError):
    """The approval names a revision or hash that is not under review."""

    code = "stale_approval"

    def __init__(self, run: str, given: str, current: str) -> None:
        super().__init__(
            en=f"{given!r} is not under review; the current revision is {current!r}. "
            f"Look at it first (maskgrad review {run}), then: maskgrad approve {current}",
            zh=f"{given!r} 不是待审核的版本；当前版本是 {current!r}。"
            f"请先查看（maskgrad review {run}），再执行：maskgrad approve {current}",
        )


class InvalidProposal(RunError):
    """An edited proposal has errors; the revision before is unchanged."""

    code = "invalid_proposal"

    def __init__(self, problems: Mapping[Lang, tuple[str, ...]], *, of_file: bool = False) -> None:
        """`of_file`: a file that a new run was to be made from, not a revision of one."""
        self.problems = problems
        if of_file:
            super().__init__(
                en="the proposal in the file has errors, no run was made:\n  - "
                + "\n  - ".join(problems["en"]),
                zh="文件中的方案有错误，未创建运行：\n  - " + "\n  - ".join(problems["zh"]),
            )
            return
        super().__init__(
            en="the edited proposal has errors, nothing was changed:\n  - " + "\n  - ".join(problems["en"]),
            zh="修改后的方案有错误，未作任何更改：\n  - " + "\n  - ".join(problems["zh"]),
        )


class UnknownRequest(RunError):
    """There is no open request of this id."""

    code = "unknown_request"

    def __init__(self, request: str, open_ones: tuple[str, ...]) -> None:
        known = ", ".join(open_ones) or "-"
        super().__init__(
            en=f"no open request {request!r}; open requests of the run: {known}. See: maskgrad show RUN",
            zh=f"没有待回答的请求 {request!r}；该运行的待回答请求：{known}。查看：maskgrad show RUN",
        )


class SourcesMissing(RunError):
    """The run needs a folder of sources and has none."""

    code = "sources_missing"

    def __init__(self) -> None:
        super().__init__(
            en="this goal needs material to work on and no sources folder was given; add --sources FOLDER",
            zh="该目标需要材料，但没有指定资料文件夹；请加上 --sources 文件夹",
        )


class NoNotes(RunError):
    """The sources folder holds nothing that can be read as a note."""

    code = "no_notes"

    def __init__(self, folder: str, suffixes: tuple[str, ...], skipped: tuple[str, ...]) -> None:
        self.folder = folder
        shown = skipped[:3]
        listed = f"{', '.join(shown)}{', …' if len(skipped) > len(shown) else ''}"
        super().__init__(
            en=f"sources folder {folder!r} holds no readable notes"
            + (f" (not read: {listed})" if listed else "")
            + f"; accepted: {', '.join(suffixes)} files with text. Next: put the notes there, or name another folder: "
            "maskgrad plan GOAL --sources FOLDER",
            zh=f"资料文件夹 {folder!r} 中没有可读的笔记"
            + (f"（未读取：{listed}）" if listed else "")
            + f"；可接受：含有文字的 {'、'.join(suffixes)} 文件。下一步：把笔记放入其中，或指定另一个文件夹："
            "maskgrad plan 目标 --sources 文件夹",
        )


class NothingToDo(RunError):
    """The goal asks for nothing, so its proposal has no sub-task; an edited one may have some."""

    code = "no_task"

    def __init__(self, goal: str) -> None:
        self.goal = goal
        super().__init__(
            en=f"no question or task was found in {goal!r}, so there is nothing to run. Ask something, "
            "such as: maskgrad run 'What does the battery cost?' --sources FOLDER",
            zh=f"在 {goal!r} 中没有发现问题或任务，因此没有可执行的内容。请提出问题，例如："
            "maskgrad run '电池系统的造价是多少？' --sources 文件夹",
        )


class SeveralSources(RunError):
    """More than one folder of sources was given."""

    code = "several_sources"

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = folders
        given = ", ".join(repr(folder) for folder in folders)
        super().__init__(
            en=f"the sources are {given}; accepted: one folder. "
            "Next: put the notes into one folder and give that with --sources FOLDER",
            zh=f"资料文件夹为 {given}；只接受一个文件夹。下一步：把笔记放入同一个文件夹，再用 --sources 文件夹 指定它",
        )


class SubTaskUnsupported(RunError):
    """A sub-task of an approved plan is of a kind that this version can't carry out."""

    code = "sub_task_unsupported"

    def __init__(self, run: str, node: str, kind: str) -> None:
        self.node = node
        super().__init__(
            en=f"sub-task {node!r} of run {run!r} is of kind {kind!r}, which this version can't carry out; "
            f"accepted: function, call, loop. Next: maskgrad export {run} --format yaml, change it there, "
            "then: maskgrad run FILE",
            zh=f"运行 {run!r} 的子任务 {node!r} 的 kind 为 {kind!r}，本版本尚不能执行；可接受：function、call、loop。"
            f"下一步：maskgrad export {run} --format yaml，在文件中修改，再执行：maskgrad run 文件",
        )


class ModelUnavailable(RunError):
    """What an agent thinks with is not configured here."""

    code = "model_unavailable"

    def __init__(self, run: str, agent: str, kind: str, model: str | None) -> None:
        self.agent = agent
        en_what = f"the model {model!r}" if model else f"the policy {kind!r}"
        zh_what = f"模型 {model!r}" if model else f"策略 {kind!r}"
        super().__init__(
            en=f"agent {agent!r} of run {run!r} thinks with {en_what}, which nothing here can serve; "
            f"nothing was started. Next: maskgrad export {run} --format yaml, set its model_policy to "
            "{kind: embedded}, then: maskgrad run FILE; or, from Python, give the Workshop a "
            + ("`chat_for`" if kind == "model" else "`worker_for`"),
            zh=f"运行 {run!r} 的 agent {agent!r} 使用{zh_what}，此处没有可用的提供者；尚未开始执行。"
            f"下一步：maskgrad export {run} --format yaml，把它的 model_policy 改为 {{kind: embedded}}，"
            "再执行：maskgrad run 文件；或在 Python 中为 Workshop 设置 "
            + ("`chat_for`" if kind == "model" else "`worker_for`"),
        )


class VersionsDiffer(RunError):
    """The run was drafted with another domain registry or embedder than this program has."""

    code = "versions_differ"

    def __init__(self, run: str, part: str, recorded: str, current: str) -> None:
        self.part = part
        en_part, zh_part = {
            "registry": ("domain registry", "知识域注册表"),
            "embedder": ("embedder", "嵌入模型"),
        }[part]
        super().__init__(
            en=f"run {run!r} was drafted with the {en_part} {recorded!r} and this program has {current!r}: "
            "its masks and labels would mean something else. Next: resume it with the program that drafted it, "
            f"or make a new run of its proposal: maskgrad export {run} --format yaml, then: maskgrad run FILE",
            zh=f"运行 {run!r} 起草时的{zh_part}为 {recorded!r}，本程序的为 {current!r}：其蒙版与标注的含义会不同。"
            f"下一步：用起草它的程序继续，或以其方案新建运行：maskgrad export {run} --format yaml，"
            "再执行：maskgrad run 文件",
        )


class NoReport(RunError):
    """The run has delivered no report."""

    code = "no_report"

    def __init__(self, run: str, status: str) -> None:
        super().__init__(
            en=f"run {run!r} has no report; it is {status!r}. Next: maskgrad show {run}",
            zh=f"运行 {run!r} 没有报告；当前状态为 {status!r}。下一步：maskgrad show {run}",
        )
