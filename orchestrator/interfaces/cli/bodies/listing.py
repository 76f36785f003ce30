"""List runs."""

from __future__ import annotations

from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.looking import whole_number
from orchestrator.interfaces.cli.bodies.summaries import run_document, status_words
from orchestrator.interfaces.cli.failures import failure_of
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.runs import load
from orchestrator.shell.store.rows import RunRow

_GOAL = 60


def runs(session: Session, limit: str) -> Result:
    """Return the newest runs; one that can't be read is listed with the reason and hides no other."""
    rows = session.store().runs(whole_number("--limit", limit, least=1))
    documents, lines = [], []
    for row in rows:
        state = _state(session, row)
        if isinstance(state, str):
            documents.append({"run": row.id, "goal": row.title, "created": row.created, "error": state})
            lines.append(f"{row.id:<10} {_minute(row)}  ! {one_line(state, 100)}")
            continue
        documents.append({**run_document(state), "created": row.created})
        waits = f" ({', '.join(sorted(state.requests.keys()))})" if state.requests else ""
        done = f"{state.counts.accepted}/{len(state.nodes)}" if len(state.nodes) else "-"
        status = status_words(state.status, session.lang) + waits
        lines.append(f"{row.id:<10} {_minute(row)}  {done:>7}  {status}  {one_line(row.title, _GOAL)}")
    if lines:
        head = session.pick(
            f"{'run':<10} {'created (UTC)':<16}  {'done':>7}  state  goal",
            f"{'运行':<8} {'创建时间（UTC）':<9}  {'完成':>5}  状态  目标",
        )
        return Result(data={"runs": documents}, text="\n".join([head, *lines]))
    note = session.pick(
        'no runs yet; begin with: maskgrad plan "…" --sources FOLDER',
        '还没有运行；可从此开始：maskgrad plan "…" --sources 文件夹',
    )
    return Result(data={"runs": []}, notes=(note,))


def _minute(row: RunRow) -> str:
    return row.created[:16].replace("T", " ")


def _state(session: Session, row: RunRow) -> RunState | str:
    try:
        return load(session.store(), RunId(row.id))
    except (LookupError, ValueError) as error:
        return failure_of(error, session.lang, home=session.settings.home).message
