"""List runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from graphs.plan import natural_key
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.given_answers import given_answers
from orchestrator.interfaces.cli.bodies.looking import is_interrupted, is_starting, whole_number
from orchestrator.interfaces.cli.bodies.summaries import (
    Given,
    is_answered,
    run_document,
    shadow_words,
    status_words,
)
from orchestrator.interfaces.cli.failures import failure_of
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import columns_of, one_line
from orchestrator.shell.runs import load
from orchestrator.shell.store.rows import RunRow

_GOAL: Final = 60
"""Characters of a goal that a row shows."""

NAMED: Final = 3
"""Open requests that a row names."""

_HEAD: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": ("run", "created (UTC)", "done", "state", "goal"),
    "zh": ("运行", "创建时间（UTC）", "完成", "状态", "目标"),
}


def runs(session: Session, limit: str) -> Result:
    """Return the newest runs; one that can't be read is listed with the reason and hides no other."""
    rows = session.store().runs(whole_number("--limit", limit, least=1))
    documents: list[dict[str, object]] = []
    cells: list[tuple[str, ...]] = []
    for row in rows:
        state = _state(session, row)
        if isinstance(state, str):
            documents.append({"run": row.id, "goal": row.title, "created": row.created, "error": state})
            cells.append((row.id, _minute(row), "!", "", one_line(state, 100)))
            continue
        interrupted, starting = is_interrupted(session, state), is_starting(session, state)
        given = given_answers(session, state)
        document = run_document(state, interrupted=interrupted, starting=starting, given=given)
        documents.append({**document, "created": row.created})
        waits = _waits(state, given, session.lang)
        done = f"{state.counts.accepted}/{len(state.nodes)}" if len(state.nodes) else "-"
        status = status_words(
            state.status,
            session.lang,
            interrupted=interrupted,
            starting=starting,
            answered=is_answered(state, given),
        )
        status += shadow_words(state.shadow_of, session.lang) + waits
        cells.append((row.id, _minute(row), done, status, one_line(row.title, _GOAL)))
    if cells:
        head = _HEAD[session.lang]
        return Result(data={"runs": documents}, text="\n".join(aligned([head, *cells])))
    note = session.pick(
        'no runs yet; begin with: maskgrad plan "…" --sources FOLDER',
        '还没有运行；可从此开始：maskgrad plan "…" --sources 文件夹',
    )
    return Result(data={"runs": []}, notes=(note,))


def _waits(state: RunState, given: Given, lang: Lang) -> str:
    """What a run waits for, in brackets: the first requests by name, of more of them the number.

    Of one that was answered the command that goes on with it.
    """
    if is_answered(state, given):
        step = f"maskgrad resume {state.run}"
        return pick(lang, f" (go on with: {step})", f"（请继续：{step}）")
    asked = sorted((key for key in state.requests if key not in given), key=natural_key)
    more = f", +{len(asked) - NAMED}" if len(asked) > NAMED else ""
    return f" ({', '.join(asked[:NAMED])}{more})" if asked else ""


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows of cells as lines: each column as wide as its widest cell, the last one as it is."""
    widths = [max(columns_of(row[index]) for row in rows) for index in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        padded = [
            cell + " " * (width - columns_of(cell)) for cell, width in zip(row[:-1], widths, strict=True)
        ]
        lines.append("  ".join([*padded, row[-1]]).rstrip())
    return lines


def _minute(row: RunRow) -> str:
    return row.created[:16].replace("T", " ")


def _state(session: Session, row: RunRow) -> RunState | str:
    try:
        return load(session.store(), RunId(row.id))
    except (LookupError, ValueError) as error:
        return failure_of(error, session.lang, home=session.settings.home).message
