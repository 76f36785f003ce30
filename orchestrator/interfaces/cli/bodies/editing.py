"""Edit a proposal under review as YAML: checked, with changes and consequences shown, saved as the next revision.

A text with errors is never lost: it stays in a file that is named, and `maskgrad edit ID --from FILE` goes on with it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agents.models.contract import Usage
from masks.domains import DomainRegistry
from orchestrator.core.errors import InvalidProposal, WrongState
from orchestrator.core.proposal import Proposal, proposal_sha256
from orchestrator.core.state import RunState
from orchestrator.desk import revise
from orchestrator.interfaces.cli.bodies.documents import read_text
from orchestrator.interfaces.cli.bodies.looking import proposal_of, run_state
from orchestrator.interfaces.cli.bodies.summaries import approval_of, run_document
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.editing.changes import changes_between
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.editing.consequences import consequences
from orchestrator.shell.editing.document import from_document, to_document
from orchestrator.shell.runs import refused_as

EDITORS: Final = ("VISUAL", "EDITOR")
"""Environment variables that name the editor, the first that is set counts."""
FALLBACKS: Final = ("nano", "vi", "notepad")
"""Editors that are looked for where no variable names one."""


def edit(session: Session, run: str, *, file: str | None, dry_run: bool) -> Result:
    """Make the next revision of a proposal from an edited text; raises `InvalidProposal` with every problem.

    Raises `WrongState` outside of a review, also when the run moved on while the editor was open.
    """
    state = under_review(session, run)
    text = _edited_text(session, state) if file is None else read_text(file)
    if text is None:
        return _unchanged(session, state)
    kept = Path(file) if file is not None else _kept_file(session, state)
    return save_edit(session, state, _parsed(state, text, kept, session.registry), dry_run=dry_run)


def edit_in_editor(session: Session, state: RunState) -> RunState:
    """Edit from the gate: show changes and consequences and return the run with its new revision."""
    result = edit(session, state.run, file=None, dry_run=False)
    session.streams.talk(result.text)
    return run_state(session, state.run)


def save_edit(
    session: Session, state: RunState, edited: Proposal, *, dry_run: bool, usage: tuple[Usage, ...] = ()
) -> Result:
    """Show what an edited proposal changes and means, and make it the next revision unless `dry_run`.

    `usage` is that of the model calls which it cost.
    Raises `InvalidProposal` for one with errors, and `WrongState` when the run moved on since `state` was read.
    """
    old, registry, lang = proposal_of(state), session.registry, session.lang
    if proposal_sha256(edited) == state.sha256:
        return _unchanged(session, state)
    findings = check_proposal(edited, registry)
    findings.raise_errors()
    changes = changes_between(old, edited, registry, lang)
    follows = consequences(old, edited, registry, lang)
    lines = [session.pick("changes:", "改动："), *(f"  {line}" for line in changes)]
    lines += [session.pick("consequences:", "影响："), *(f"  {line}" for line in follows or ("-",))]
    warnings = findings.lines("warning", lang)
    if warnings:
        lines += [session.pick("warnings:", "警告："), *(f"  {line}" for line in warnings)]
    data = {"changes": list(changes), "consequences": list(follows), "warnings": list(warnings)}
    if dry_run:
        note = session.pick("nothing was saved (--dry-run)", "未保存（--dry-run）")
        return Result(
            data={**run_document(state), **data, "saved": False}, text="\n".join(lines), notes=(note,)
        )
    after = _saved(session, state, edited, changes, usage)
    token = approval_of(after)
    notes = (
        session.pick(
            f"saved; approve with: maskgrad approve {token}", f"已保存；批准：maskgrad approve {token}"
        ),
    )
    return Result(data={**run_document(after), **data, "saved": True}, text="\n".join(lines), notes=notes)


def _saved(
    session: Session,
    state: RunState,
    edited: Proposal,
    changes: tuple[str, ...],
    usage: tuple[Usage, ...],
) -> RunState:
    now, read = under_review(session, state.run), proposal_of(state).revision
    if now.sha256 != state.sha256 or proposal_of(now).revision != read:
        raise UsageProblem(
            "edited_meanwhile",
            en=f"run {state.run!r} was edited meanwhile; this text was made for revision {read}. "
            f"Look at the new one first: maskgrad review {state.run}",
            zh=f"运行 {state.run!r} 已被他人修改；此文本针对修订版 {read}。"
            f"请先查看新版本：maskgrad review {state.run}",
        )
    return revise(session.desk(), state.run, edited, changes, usage)


def under_review(session: Session, run: str) -> RunState:
    """Return a run in review; raises `WrongState` for any other."""
    state = run_state(session, run)
    if state.status != "reviewing":
        status = refused_as(session.store(), state)
        raise WrongState(run, status, wanted="'reviewing'", next_step=f"maskgrad show {run}")
    return state


def _unchanged(session: Session, state: RunState) -> Result:
    note = session.pick(
        "nothing was changed; the revision under review stays", "没有改动；待审核的修订版保持不变"
    )
    data = {**run_document(state), "changes": [], "consequences": [], "warnings": [], "saved": False}
    return Result(data=data, notes=(note,))


def _parsed(state: RunState, text: str, kept: Path, registry: DomainRegistry) -> Proposal:
    try:
        return from_document(text, proposal_of(state), registry)
    except InvalidProposal as error:
        raise _with_way_on(error, state, kept) from error


def _with_way_on(error: InvalidProposal, state: RunState, kept: Path) -> InvalidProposal:
    """Add to every message where the text is and how to go on with it."""
    command = f"maskgrad edit {state.run} --from {shlex.quote(str(kept))}"
    return InvalidProposal(
        {
            "en": (
                *error.problems["en"],
                f"your text is kept in {str(kept)!r}; correct it and go on with: {command}",
            ),
            "zh": (*error.problems["zh"], f"您的文本保存在 {str(kept)!r}；修改后继续：{command}"),
        }
    )


def _edited_text(session: Session, state: RunState) -> str | None:
    """Open the editor on the document and return what was saved; `None` when it was left as it was."""
    registry = session.registry
    assert state.sha256 is not None, "a run in review has a hash"
    before = to_document(proposal_of(state), registry, session.lang, run=state.run, sha256=state.sha256)
    command = editor_command(session.invocation.environment)
    file = _kept_file(session, state)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(before, encoding="utf-8")
    _open_editor([*command, str(file)], state)
    text = read_text(str(file))
    return None if text == before else text


def _kept_file(session: Session, state: RunState) -> Path:
    return session.settings.home / "edits" / f"{state.run}-revision-{proposal_of(state).revision}.yaml"


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return the editor's command line; raises `UsageProblem` where there is none."""
    for variable in EDITORS:
        words = shlex.split(environment.get(variable, ""), posix=os.name != "nt")
        if words:
            return words
    for name in FALLBACKS:
        found = shutil.which(name)
        if found is not None:
            return [found]
    raise UsageProblem(
        "no_editor",
        en="no editor was found; set VISUAL or EDITOR, or edit a file: maskgrad export ID --format yaml -o FILE, "
        "then maskgrad edit ID --from FILE",
        zh="没有找到编辑器；请设置 VISUAL 或 EDITOR，或编辑文件：maskgrad export ID --format yaml -o 文件，"
        "再执行 maskgrad edit ID --from 文件",
    )


def _open_editor(command: list[str], state: RunState) -> None:
    try:
        # The user's own editor, as they configured it.
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise UsageProblem(
            "editor_failed",
            en=f"the editor {command[0]!r} can't be started ({error.strerror}); set VISUAL or EDITOR to one that can",
            zh=f"无法启动编辑器 {command[0]!r}（{error.strerror}）；请将 VISUAL 或 EDITOR 设为可用的编辑器",
        ) from error
    if code != 0:
        raise UsageProblem(
            "editor_failed",
            en=f"the editor {command[0]!r} ended with code {code}; nothing was changed. "
            f"What it saved is kept: maskgrad edit {state.run} --from {shlex.quote(command[-1])}",
            zh=f"编辑器 {command[0]!r} 以代码 {code} 结束；未作任何更改。"
            f"已保存的内容仍在：maskgrad edit {state.run} --from {shlex.quote(command[-1])}",
        )
