"""Errors that people meet while they draft, approve, answer and look at runs.

    RunError                    code, message in both languages
    ├── WrongState              the run is not in a state in which this can be done
    ├── StaleApproval           revision or hash is not the one under review
    ├── InvalidProposal         the edited proposal has errors; nothing was changed
    ├── UnknownRequest          no open request of this id
    ├── SourcesMissing          the run needs a sources folder and has none, or it is gone
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

    def __init__(self, problems: Mapping[Lang, tuple[str, ...]]) -> None:
        self.problems = problems
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


class NoReport(RunError):
    """The run has delivered no report."""

    code = "no_report"

    def __init__(self, run: str, status: str) -> None:
        super().__init__(
            en=f"run {run!r} has no report; it is {status!r}. Next: maskgrad show {run}",
            zh=f"运行 {run!r} 没有报告；当前状态为 {status!r}。下一步：maskgrad show {run}",
        )
