"""Take over what was changed about the plan of an earlier goal, and say when there is something to take over."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.desk import revise
from orchestrator.interfaces.cli.bodies.looking import proposal_of
from orchestrator.interfaces.cli.problems import Lang, UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.editing.changes import changes_between
from orchestrator.shell.plan_templates import (
    NoTemplate,
    PlanTemplate,
    similar_template,
    template_of,
    why_no_template,
)
from orchestrator.shell.template_applying import apply_template

LONGEST_GOAL: int = 200
"""Characters of a goal that a command repeats; of a longer one it says GOAL."""


def template_named(session: Session, run: str) -> PlanTemplate:
    """Return the template of a run; raises `UsageProblem` for a run that has none, `UnknownRun` without one."""
    found = template_of(session.store(), RunId(run))
    if found is None:
        why = _WHY_NONE[why_no_template(session.store(), RunId(run))]
        raise UsageProblem(
            "no_template",
            en=f"run {run!r} gives no template: {why['en']}; accepted: a run that delivered a plan which you had "
            "changed in its review. Look at: maskgrad runs",
            zh=f"运行 {run!r} 不能用作模板：{why['zh']}；可接受：已交付、且其计划在审核时经您修改的运行。"
            "查看：maskgrad runs",
        )
    return found


_WHY_NONE: Final[Mapping[NoTemplate, Mapping[Lang, str]]] = {
    "shadow": {
        "en": "it is a shadow, which delivers nothing",
        "zh": "它是影子运行，不交付任何内容",
    },
    "not_approved": {"en": "it was never approved", "zh": "它从未获得批准"},
    "not_delivered": {"en": "it has delivered nothing", "zh": "它没有交付任何内容"},
    "as_drafted": {
        "en": "no sub-task, assignment, criterion or mask value of its draft was changed (tools and models of "
        "agents are not taken over)",
        "zh": "其草稿的子任务、分配、验收条件与蒙版值均未改动（agent 的工具与模型不会被沿用）",
    },
}


def with_template(
    session: Session, state: RunState, template: PlanTemplate
) -> tuple[RunState, tuple[str, ...]]:
    """Make the next revision with the template's edits; return it, and a line for each edit that does not fit."""
    drafted, registry = proposal_of(state), session.registry
    applied = apply_template(template, drafted, registry)
    changes = changes_between(drafted, applied.proposal, registry, session.lang)
    if changes:
        state = revise(session.desk(), state.run, applied.proposal, changes)
    heads = [
        session.pick(
            f"taken over from {template.run}: {_counted(len(changes))}; revision 1 is the plan without them",
            f"已采用 {template.run} 的 {len(changes)} 处改动；版本 1 为未改动的计划",
        )
    ]
    if applied.misfits:
        heads.append(session.pick("does not fit this goal:", "不适用于此目标："))
    return state, (*heads, *(f"  {one_line(line, 200)}" for line in applied.misfits))


def with_offer(session: Session, state: RunState, result: Result) -> Result:
    """Add to a review that a similar goal was delivered with changes, and the command that takes them over."""
    proposal = proposal_of(state)
    shop = session.shop()
    found = similar_template(shop.store, shop.embedder, proposal.goal.text, but=state.run)
    if found is None:
        return result
    text = proposal.goal.text
    goal = shlex.quote(one_line(text)) if len(text) <= LONGEST_GOAL else "GOAL"
    folders = "".join(f" --sources {shlex.quote(folder)}" for folder in proposal.goal.sources)
    command = f"maskgrad plan {goal}{folders} --template {found.run}"
    note = session.pick(
        f"a similar goal was delivered ({found.run}, {found.outcome}: {one_line(found.goal, 80)}) "
        f"with {_counted(found.size)} of yours; a draft that takes them over: {command}",
        f"有相似的目标已经交付（{found.run}：{one_line(found.goal, 80)}），其中有您的 {found.size} 处改动；"
        f"采用这些改动另行起草：{command}",
    )
    data = {**result.data, "template": found.run} if isinstance(result.data, dict) else result.data
    return replace(result, data=data, notes=(*result.notes, note))


def _counted(changes: int) -> str:
    return "1 change" if changes == 1 else f"{changes} changes"
