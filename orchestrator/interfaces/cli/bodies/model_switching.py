"""`models`: whether chat models may be asked, and the switch that decides it for every process."""

from __future__ import annotations

from typing import Any, Final

from orchestrator.core.stand_ins import stood_in
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.problems import Lang, UsageProblem, pick
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.clock import SystemClock
from orchestrator.shell.model_switch import ModelSwitch
from orchestrator.shell.settings import MODELS

ACTIONS: Final = ("status", "off", "on")
NAMED: Final = 10
"""Sub-tasks that are named one by one; a large run may have hundreds."""


def models(session: Session, action: str) -> Result:
    """Show the switch or turn it; raises `UsageProblem` for another action and for a file that can't be written."""
    if action not in ACTIONS:
        accepted = ", ".join(ACTIONS)
        raise UsageProblem(
            "unknown_action",
            en=f"action {action!r} does not exist; accepted: {accepted}",
            zh=f"没有操作 {action!r}；可接受：{accepted}",
        )
    switch = ModelSwitch(session.settings)
    try:
        if action == "off":
            switch.turn_off(SystemClock().now())
        elif action == "on":
            switch.turn_on()
    except OSError as error:
        raise UsageProblem(
            "switch_not_written",
            en=f"the switch {str(switch.path)!r} can't be turned {action}: {error}; accepted: a data directory that "
            f"may be written to. For one process, {MODELS}=off does the same",
            zh=f"无法切换开关 {str(switch.path)!r}：{error}；可接受：可写入的数据目录。"
            f"只对一个进程生效时可设置 {MODELS}=off",
        ) from error
    return Result(data=_document(switch), text=_text(switch, session.lang))


def stand_in_lines(state: RunState, lang: Lang) -> list[str]:
    """Return who was worked by the embedded default in place of a model, in one line; nothing where nobody was."""
    nodes = stood_in(state)
    if not nodes:
        return []
    more = len(nodes) - NAMED
    en, zh = (f" and {more} more", f" 等 {len(nodes)} 个") if more > 0 else ("", "")
    listed = ", ".join(one_line(node, 40) for node in nodes[:NAMED])
    return [
        pick(
            lang,
            f"worked by the embedded default, models were switched off: {listed}{en}",
            f"模型已关闭，由内置方式完成：{listed}{zh}",
        )
    ]


def _document(switch: ModelSwitch) -> dict[str, Any]:
    return {
        "models": "off" if switch.is_off() else "on",
        "switch": "off" if switch.is_set() else "on",
        "since": switch.since(),
        "environment": "off" if switch.forced_off else None,
        "file": str(switch.path),
    }


def _text(switch: ModelSwitch, lang: Lang) -> str:
    if switch.is_set():
        since = switch.since()
        en, zh = (f" since {since}", f"（自 {since} 起）") if since else ("", "")
        return pick(
            lang,
            f"models are off{en}: agents are worked by the embedded default, in every process. "
            "Switch them on: maskgrad models on",
            f"模型已关闭{zh}：所有进程中的 agent 都由内置方式执行。重新打开：maskgrad models on",
        )
    if switch.forced_off:
        return pick(
            lang,
            f"models are off in this environment ({MODELS}): its agents are worked by the embedded default",
            f"模型在此环境中已关闭（{MODELS}）：其 agent 由内置方式执行",
        )
    return pick(
        lang,
        "models are on: agents think with the model that their proposal names",
        "模型已打开：agent 使用方案中指定的模型",
    )
