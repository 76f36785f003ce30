"""What an ended run leaves to the long-term memory: how its goal was reached, and what its repairs taught.

Read from the log's state by code alone: the user's goal, names of operations, domains and repairs. No words of a model
or a document get in, and none of a model decides that something is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from agents.memory.contract import Candidate, Memory, one_line
from agents.memory.filter import Refused, should_remember
from agents.memory.ports import LongTermMemory
from graphs.contract import Lang
from orchestrator.core.blockage import FailureKind
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import NodeState, RunState

_LOG: Final = logging.getLogger(__name__)

GOAL_CHARS: Final = 200
"""Of a goal in a solution: it is found by these words."""


def remember_run(memory: LongTermMemory, state: RunState, now: str) -> tuple[Memory, ...]:
    """Keep what the ended run `state` teaches and return it as it is kept; `now` is ISO 8601, UTC.

    The same run again changes nothing. What the filter refuses is left out, with its reason in the log of the process.
    """
    solution = solution_of(state)
    kept: list[Memory] = []
    for candidate in (*((solution,) if solution is not None else ()), *lessons_of(state)):
        judged = should_remember(candidate, now)
        if isinstance(judged, Refused):
            _LOG.info("run %s: a %s is not remembered: %s", state.run, candidate.kind, judged.message("en"))
        else:
            kept.append(memory.remember(judged))
    return tuple(kept)


def solution_of(state: RunState) -> Candidate | None:
    """Return how a run reached its goal; `None` unless it is `completed`: what was not delivered proves nothing."""
    proposal, index = state.proposal, state.index
    if state.status != "completed" or proposal is None or index is None:
        return None
    words = _WORDS[proposal.goal.lang]
    operations = [index.subtask(name).operation for name in index.order]
    counted = [(operation, len(list(same))) for operation, same in groupby(operations)]
    steps = " → ".join(name if count == 1 else f"{name} × {count}" for name, count in counted)
    goal = one_line(proposal.goal.text)
    shown = goal if len(goal) <= GOAL_CHARS else goal[: GOAL_CHARS - 1] + "…"
    repairs = sorted({repair for node in state.nodes.values() for repair in node.repairs})
    text = words["solution"].format(goal=shown, steps=steps)
    if repairs:
        text += words["with_repairs"].format(repairs=_joined([words[r] for r in repairs], proposal.goal.lang))
    return Candidate(
        kind="solution",
        text=text,
        lang=proposal.goal.lang,
        origin="computed",
        taint="trusted",
        confirmed_by="delivery",
        source_run=state.run,
        task_class=proposal.contract.kind,
    )


def lessons_of(state: RunState) -> tuple[Candidate, ...]:
    """Return what failed for a reason and passed after a repair, or was given up by a person; equal ones once.

    Failures that have nothing to do with the task (`_CLASSED` has none of them) teach nothing about it.
    """
    proposal = state.proposal
    if proposal is None or state.index is None:
        return ()
    found: dict[str, Candidate] = {}
    for name in state.index.order:
        for candidate in _of_node(state, proposal, state.node(name)):
            found.setdefault(candidate.text, candidate)
    return tuple(found.values())


def _of_node(state: RunState, proposal: Proposal, node: NodeState) -> Iterator[Candidate]:
    lang = proposal.goal.lang
    words = _WORDS[lang]
    failed = [row.outcome for row in node.history if row.outcome in _CLASSED]
    succeeded = node.status == "accepted" and node.accepted is not None and not node.accepted.as_is
    abandoned = node.status == "skipped" and node.skipped_because == "abandoned"
    if not failed or not (abandoned or (succeeded and node.repairs)):
        return
    assert state.index is not None, "lessons are of an approved run"
    subtask = state.index.subtask(node.id)
    domains = _joined(sorted(subtask.required_domains), lang) or words["no_domain"]
    reasons = _joined([_CLASSED[kind][lang] for kind in _CLASSED if kind in failed], lang)
    head = words["lesson"].format(operation=subtask.operation, domains=domains, reasons=reasons)
    if abandoned:
        end = words["abandoned"]
    else:
        end = words["passed"].format(repairs=_joined([words[r] for r in dict.fromkeys(node.repairs)], lang))
    yield Candidate(
        kind="lesson",
        text=head + end,
        lang=lang,
        origin="computed",
        taint="trusted",
        confirmed_by="user" if abandoned else "success",
        source_run=state.run,
        task_class=proposal.contract.kind,
    )


def _joined(names: list[str], lang: Lang) -> str:
    return ("、" if lang == "zh" else ", ").join(names)


_CLASSED: Final[Mapping[FailureKind, Mapping[Lang, str]]] = {
    "domain_closed": {"en": "a knowledge domain was closed to its agent", "zh": "所需知识域对执行者关闭"},
    "tool_missing": {"en": "a tool was missing", "zh": "缺少工具"},
    "spontaneous_leak": {"en": "it used knowledge outside its mask", "zh": "使用了蒙版之外的知识"},
    "refused": {"en": "the model refused", "zh": "模型拒绝"},
    "falsified": {"en": "a claim was falsified", "zh": "论断被证伪"},
    "structure": {"en": "the output lacked a part", "zh": "输出缺少内容"},
    "invalid_output": {"en": "the model gave nothing usable", "zh": "模型输出不可用"},
    "bad_request": {"en": "the order did not fit", "zh": "指令不合适"},
}
"""Failures of classes B and C in words; the others come from outside, from a limit or from a bug."""

_WORDS: Final[Mapping[Lang, Mapping[str, str]]] = {
    "en": {
        "solution": "“{goal}” was completed by {steps}",
        "with_repairs": ", after repairs: {repairs}",
        "lesson": "{operation} ({domains}) failed: {reasons}",
        "no_domain": "no domain",
        "passed": "; it passed after: {repairs}",
        "abandoned": "; a person gave it up",
        "correct_parameters": "corrected parameters",
        "extend_mask": "an extended mask",
        "change_agent": "another agent",
        "inject_guard": "a guard",
        "set_mask": "a mask value set by a person",
    },
    "zh": {
        "solution": "“{goal}”由 {steps} 完成",
        "with_repairs": "，其间的修复：{repairs}",
        "lesson": "{operation}（{domains}）失败：{reasons}",
        "no_domain": "无知识域",
        "passed": "；经以下修复后通过：{repairs}",
        "abandoned": "；由用户放弃",
        "correct_parameters": "修正参数",
        "extend_mask": "扩展蒙版",
        "change_agent": "更换 agent",
        "inject_guard": "加入约束",
        "set_mask": "用户设置蒙版值",
    },
}
