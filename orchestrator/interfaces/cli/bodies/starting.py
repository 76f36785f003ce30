"""Where work starts: say so at once, then load what drafting and executing need.

Loading LangGraph, and the embedder at its first use, takes seconds. A person sees a line before that, and every
command that only looks or decides does without it.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from agents.retrieval.reading import require_folder
from agents.tools.contract import Profile
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.documents import read_text
from orchestrator.interfaces.cli.bodies.looking import living_lease
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.settings import profile_named
from orchestrator.shell.store.errors import RunBusy
from orchestrator.shell.store.holders import this_process

EMBEDDED: Final = "embedded"
"""Stands for no model, where an option or a setting names one."""

COUNTED: Final = 10_000
"""Files of a folder that are counted before work starts; a person must not wait for a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a draft is asked for with, as it was typed."""

    goal: str
    sources: tuple[str, ...]
    allow_unresolved: bool
    forbid: tuple[str, ...]
    file: str | None
    profile: str = ""
    """Empty: as the settings say."""
    model: str = ""
    """What agents think with, `provider:model` or `embedded`; empty: as the settings say."""
    planner_model: str = ""
    """What plans; empty: as the settings say, else what agents think with."""
    base_url: str = ""
    """Address of the server of both; empty: as the settings say."""
    template: str = ""
    """A run whose changes are taken over; empty: none."""


def draft_run(session: Session, draft: Draft) -> RunState:
    """Draft a run and return it in review; raises as `orchestrator.interfaces.cli.bodies.drafting.draft_run`."""
    _refuse(session, draft)
    if draft.file is not None:
        file = one_line(draft.file)
        session.talk(f"reading {file} and drafting …", f"正在读取 {file} 并起草……")
    else:
        session.talk(*_reading(draft.sources))
    from orchestrator.interfaces.cli.bodies.drafting import draft_run as really

    return really(session, draft)


def copy_run(session: Session, run: RunId) -> RunState:
    """Make a new run of an approved proposal; raises as `orchestrator.run.run_again`."""
    from orchestrator.run import run_again

    return run_again(session.shop(), run)


def execute_shown(session: Session, run: RunId, shadow: Draft | None = None) -> Result:
    """Execute a run with its progress shown, and its shadow as `shadow` asks for it.

    Raises as `orchestrator.run.execute` does for the run.
    `RunBusy`, while another process executes it, comes at once: nothing is loaded for that.
    """
    lease = living_lease(session, run)
    if lease is not None and lease.holder != this_process():
        raise RunBusy(run, lease.holder, lease.expires)
    if session.invocation.display != "none":
        session.talk(f"starting {run} …", f"正在启动 {run}……")
    if shadow is not None:
        from orchestrator.interfaces.cli.bodies.shadowing import execute_with_shadow

        return execute_with_shadow(session, run, shadow)
    from orchestrator.interfaces.cli.bodies.executing import execute_shown as really

    return really(session, run)


def shadow_of(session: Session, draft: Draft) -> Draft | None:
    """Return what the shadow of a run is drafted with; `None`, which is said, while models are switched off.

    Raises `UsageProblem` without a model, and a `ChatUnavailable` for one that can't be opened.
    """
    if not draft.model or draft.model == EMBEDDED:
        raise UsageProblem(
            "shadow_without_model",
            en=f"--shadow lets a model work beside the run, and --model names {draft.model or 'none'!r}; name one: "
            "--shadow --model PROVIDER:MODEL",
            zh=f"--shadow 让模型与运行并行工作，而 --model 为 {draft.model or '空'!r}；请给出模型："
            "--shadow --model PROVIDER:MODEL",
        )
    from orchestrator.interfaces.cli.bodies.thinking import policy_of

    policy_of(session, draft)
    if session.shop().models_are_off():
        session.talk(
            "models are switched off, so there will be no shadow (maskgrad models)",
            "模型已关闭，因此不会有影子运行（maskgrad models）",
        )
        return None
    return draft


def _refuse(session: Session, draft: Draft) -> None:
    """Refuse at once what needs nothing heavy to be refused."""
    profile_of(session, draft)
    if draft.file is not None:
        _refuse_beside_file(draft)
        read_text(draft.file)
    elif not draft.goal.strip():
        from agents.planning.embedded import EmptyGoal

        raise EmptyGoal(draft.goal)
    for domain in draft.forbid:
        session.registry.resolve(domain)
    for folder in draft.sources if len(draft.sources) == 1 else ():
        require_folder(Path(folder).expanduser().resolve())


def profile_of(session: Session, draft: Draft) -> Profile:
    """Return the profile that a draft is for; raises `InvalidSetting` for one that does not exist."""
    return profile_named(draft.profile, "--profile") if draft.profile else session.settings.profile


def _refuse_beside_file(draft: Draft) -> None:
    given = [
        name
        for name, value in (
            ("GOAL", draft.goal),
            ("--sources", draft.sources),
            ("--allow-unresolved", draft.allow_unresolved),
            ("--forbid", draft.forbid),
            ("--model", draft.model),
            ("--planner-model", draft.planner_model),
            ("--base-url", draft.base_url),
        )
        if value
    ]
    if given:
        raise UsageProblem(
            "options_beside_file",
            en=f"{', '.join(given)} can't be given with the file {draft.file!r}, which says all of it; change the file",
            zh=f"{'、'.join(given)} 不能与文件 {draft.file!r} 同时给出，文件中已包含全部内容；请修改文件",
        )


def _reading(folders: tuple[str, ...]) -> tuple[str, str]:
    if not folders:
        return "drafting …", "正在起草……"
    count = sum(_files_in(Path(folder).expanduser()) for folder in folders)
    more = "+" if count >= COUNTED else ""
    named = ", ".join(one_line(folder) for folder in folders)
    files = "file" if count == 1 else "files"
    return (
        f"reading {count}{more} {files} in {named} and drafting …",
        f"正在读取 {named} 中的 {count}{more} 个文件并起草……",
    )


def _files_in(folder: Path) -> int:
    """Count every file: what can't be read is reported by name later, so both have to add up."""
    return sum(1 for _ in islice(_visible_names(folder), COUNTED))


def _visible_names(folder: Path) -> Iterator[str]:
    """Names of files as the reader of notes goes through them: what is hidden is no note."""
    for _, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (name for name in names if not name.startswith("."))
