"""Inspect, add to and erase the long-term memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from agents.memory.contract import Candidate, Memory, MemoryId
from agents.memory.filter import Refused, should_remember
from agents.memory.shown import KIND_NAMES
from agents.retrieval.tokens import is_cjk
from orchestrator.interfaces.cli.bodies.listing import aligned
from orchestrator.interfaces.cli.problems import Lang, NotFound, UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.clock import SystemClock

_TEXT: Final = 80
"""Characters of an entry that a row shows."""

_HEAD: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": ("id", "kind", "confirmed", "times", "text"),
    "zh": ("标识", "类别", "确认日期", "次数", "文字"),
}


def memory_list(session: Session) -> Result:
    """Return every entry, newest first."""
    entries = session.memory().entries()
    if not entries:
        note = session.pick(
            'nothing is remembered yet; add a preference with: maskgrad memory add "…"',
            '尚无记忆；可用此命令添加偏好：maskgrad memory add "…"',
        )
        return Result(data={"memories": []}, notes=(note,))
    rows = [
        (
            entry.id,
            KIND_NAMES[session.lang][entry.kind],
            entry.confirmed[:10],
            str(entry.times),
            one_line(entry.text, _TEXT),
        )
        for entry in entries
    ]
    text = "\n".join(aligned([_HEAD[session.lang], *rows]))
    return Result(data={"memories": [_document(entry) for entry in entries]}, text=text)


def memory_show(session: Session, name: str) -> Result:
    """Return one entry; raises `NotFound`."""
    entry = session.memory().get(MemoryId(name))
    if entry is None:
        raise _unknown(name)
    return Result(data=_document(entry), text=_described(session, entry))


def memory_add(session: Session, text: str) -> Result:
    """Remember a preference; raises `UsageProblem` for a text that the filter refuses."""
    candidate = Candidate(
        kind="preference",
        text=text,
        lang="zh" if is_cjk(text) else "en",
        origin="user",
        taint="trusted",
        confirmed_by="user",
    )
    judged = should_remember(candidate, SystemClock().now())
    if isinstance(judged, Refused):
        raise UsageProblem(
            f"memory_refused_{judged.reason}", en=judged.message("en"), zh=judged.message("zh")
        )
    kept = session.memory().remember(judged)
    note = session.pick(
        f"erase it with: maskgrad memory forget {kept.id}", f"擦除：maskgrad memory forget {kept.id}"
    )
    return Result(data=_document(kept), text=f"{kept.id}  {kept.text}", notes=(note,))


def memory_forget(session: Session, name: str) -> Result:
    """Erase one entry; raises `NotFound`."""
    if not session.memory().forget(MemoryId(name)):
        raise _unknown(name)
    return Result(data={"forgotten": name}, text=session.pick(f"erased {name}", f"已擦除 {name}"))


def memory_clear(session: Session, *, yes: bool) -> Result:
    """Erase everything; raises `UsageProblem` unless `yes`."""
    memory = session.memory()
    if not yes:
        count = len(memory.entries())
        raise UsageProblem(
            "memory_clear_unconfirmed",
            en=f"this would erase all {count} entries; nothing was erased. Confirm with: maskgrad memory clear --yes",
            zh=f"此命令将擦除全部 {count} 条记忆，目前未擦除任何内容；确认请用：maskgrad memory clear --yes",
        )
    count = memory.clear()
    return Result(
        data={"erased": count}, text=session.pick(f"erased {count} entries", f"已擦除 {count} 条记忆")
    )


def _document(entry: Memory) -> dict[str, Any]:
    return asdict(entry)


def _described(session: Session, entry: Memory) -> str:
    pick = session.pick
    runs = " … ".join(dict.fromkeys(run for run in (entry.source_run, entry.last_run) if run))
    lines = [
        f"{entry.id}  {KIND_NAMES[session.lang][entry.kind]}",
        entry.text,
        pick("from: ", "来源：") + (runs or pick("you", "您")),
        pick("first and last confirmed: ", "首次与最近确认：")
        + f"{entry.created[:10]}, {entry.confirmed[:10]}",
        pick("times: ", "次数：") + str(entry.times),
        pick("kept until: ", "保留至：")
        + (entry.expires[:10] if entry.expires else pick("it is erased", "被擦除为止")),
    ]
    return "\n".join(lines)


def _unknown(name: str) -> NotFound:
    return NotFound(
        "unknown_memory",
        en=f"no entry of the memory has the id {name[:80]!r}; accepted: an id that `maskgrad memory list` shows",
        zh=f"没有标识为 {name[:80]!r} 的记忆；可接受：`maskgrad memory list` 列出的标识",
    )
