"""What was put right in a plan that a model proposed: typed, and in words for the review. No repair is silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from agents.models.contract import Usage
from agents.models.reasons import reason_words
from graphs.contract import Lang

RepairKind = Literal[
    "asked_again",
    "form",
    "too_many_steps",
    "duplicate_id",
    "unknown_operation",
    "report_dropped",
    "missing_params",
    "dangling_id",
    "self_edge",
    "cycle",
    "bad_edge",
    "no_inputs",
    "idle_step",
    "items_added",
    "item_step",
    "split",
    "joined",
    "chained",
    "question_worded",
    "task_added",
    "unknown_domain",
    "forbidden_domain",
    "domain_without_notes",
    "staged",
    "chain_kept",
    "stage_unplanned",
    "ambiguity",
    "point_without_question",
    "question_twice",
    "too_many_points",
    "too_many_constraints",
    "too_many_assumptions",
    "constraint",
    "objective",
    "resplit",
    "fallback",
]
"""Every kind; `_WORDS` says what each means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRepair:
    """One thing that was put right."""

    kind: RepairKind
    detail: Mapping[str, str] = field(default_factory=dict)
    """The values that the line names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningCall:
    """One model call of a planner."""

    model: str
    """`provider:model`."""
    purpose: str
    prompt_version: str
    outcome: str
    """`ModelOutcome.kind` of the reply."""
    usage: Usage = field(default_factory=Usage)
    elapsed_ms: float = 0.0


def repair(kind: RepairKind, **detail: str) -> PlanRepair:
    """Make a repair."""
    return PlanRepair(kind=kind, detail=detail)


def render_repair(found: PlanRepair, lang: Lang) -> str:
    """Write a repair as one line for people.

    >>> render_repair(repair("dangling_id", id="t2", missing="t9"), "en")
    'Repaired: step t2 was to follow t9, which is not in the plan; that edge was cut.'
    """
    words = _WORDS[found.kind][0 if lang == "en" else 1].format_map(
        {name: _shown(name, " ".join(value.split()), lang) for name, value in found.detail.items()}
    )
    if found.kind == "fallback":
        return words
    return f"Repaired: {words}" if lang == "en" else f"已修正：{words}"


def _shown(name: str, value: str, lang: Lang) -> str:
    if name == "reason":
        return reason_words(value, lang)
    return _ANSWERS[lang].get(value, value) if name == "what" else value


_ANSWERS: Final[Mapping[Lang, Mapping[str, str]]] = {
    "en": {"intent": "reading of the goal", "plan": "plan"},
    "zh": {"intent": "目标理解", "plan": "计划"},
}
"""What an answer is called; a repair names it without a language, for its reader's may not be the goal's."""


def render_problem(found: PlanRepair, lang: Lang) -> str:
    """Write what was wrong, without what was done about it: for the model, which is to do better."""
    words = _PROBLEMS[found.kind][0 if lang == "en" else 1]
    return words.format_map({name: " ".join(value.split()) for name, value in found.detail.items()})


_PROBLEMS: Final[Mapping[str, tuple[str, str]]] = {
    "duplicate_id": ("two steps have the id {id}", "有两个步骤的 id 都是 {id}"),
    "unknown_operation": (
        "step {id} has the operation {operation}, which does not exist",
        "步骤 {id} 的操作 {operation} 不存在",
    ),
    "missing_params": ("step {id} ({operation}) lacks {needed}", "步骤 {id}（{operation}）缺少 {needed}"),
    "dangling_id": (
        "step {id} follows {missing}, which is not in the list",
        "步骤 {id} 依赖列表中没有的 {missing}",
    ),
    "self_edge": ("step {id} follows itself", "步骤 {id} 依赖自身"),
    "cycle": ("these steps wait for each other: {path}", "这些步骤互相等待：{path}"),
    "bad_edge": (
        "step {id} ({operation}) can't take the result of {source} ({type})",
        "步骤 {id}（{operation}）不能接收 {source} 的结果（{type}）",
    ),
}

TOLD: Final = frozenset(_PROBLEMS)
"""Kinds of repairs that only the model can make by its own meaning: it is told of them once before code makes them."""


_WORDS: Final[Mapping[RepairKind, tuple[str, str]]] = {
    "asked_again": (
        "the model's {what} could not be used as it was ({reason}); it was asked again.",
        "模型给出的{what}无法直接使用（{reason}），已告知原因并要求重答。",
    ),
    "form": (
        "the model's {what} was not in the form asked for ({reason}); what it says was read all the same.",
        "模型给出的{what}格式与要求不符（{reason}），其内容仍已读取。",
    ),
    "too_many_steps": (
        "the model proposed {n} steps; the first {kept} were read.",
        "模型提出了 {n} 个步骤，只读取前 {kept} 个。",
    ),
    "duplicate_id": (
        "two steps were called {id}; the later one is {new} now, and what named {id} means the first.",
        "有两个步骤都叫 {id}；后一个改为 {new}，提到 {id} 处均指第一个。",
    ),
    "unknown_operation": (
        "step {id} was to {operation}, which is no operation; it was left out.",
        "步骤 {id} 的操作 {operation} 不存在，已略去。",
    ),
    "report_dropped": (
        "step {id} (report) was left out: the report is added by the planner itself.",
        "步骤 {id}（report）已略去：报告由规划器自行添加。",
    ),
    "missing_params": (
        "step {id} ({operation}) lacked {needed}; {done}.",
        "步骤 {id}（{operation}）缺少{needed}；{done}。",
    ),
    "dangling_id": (
        "step {id} was to follow {missing}, which is not in the plan; that edge was cut.",
        "步骤 {id} 依赖计划中没有的 {missing}；该边已剪断。",
    ),
    "self_edge": (
        "step {id} was to follow itself; that edge was cut.",
        "步骤 {id} 依赖自身；该边已剪断。",
    ),
    "cycle": (
        "these steps waited for each other: {path}. The edge {edge} was cut: it runs against the order in which the "
        "steps were written, and was written last.",
        "这些步骤互相等待：{path}。已剪断边 {edge}：它与步骤的书写顺序相反，且写得最晚。",
    ),
    "bad_edge": (
        "step {id} ({operation}) can't take what {source} gives ({type}); {done}.",
        "步骤 {id}（{operation}）不能接收 {source} 的输出（{type}）；{done}。",
    ),
    "no_inputs": (
        "step {id} ({operation}) needs the results of others and named none; {done}.",
        "步骤 {id}（{operation}）需要其他步骤的结果却未指明；{done}。",
    ),
    "idle_step": (
        "step {id} merged nothing ({reason}); it was left out.",
        "步骤 {id} 没有可合并的内容（{reason}），已略去。",
    ),
    "items_added": (
        "step {id} compares {items}, for which no step found facts; a step for each was added.",
        "步骤 {id} 要比较{items}，却没有步骤为其查找事实；已各加一步。",
    ),
    "item_step": (
        "step {id} asks about {item} for the comparison {compare}; it fills the aspects of the comparison now.",
        "步骤 {id} 为比较 {compare} 查找{item}；现改为填写该比较的各个方面。",
    ),
    "split": (
        "step {id} asked for {n} things at once; it was split into {parts}.",
        "步骤 {id} 一次要做 {n} 件事，已拆为 {parts} 步。",
    ),
    "joined": (
        "the plan had more steps ({n}) than are easy to follow; steps {ids} were joined.",
        "计划的步骤过多（{n} 步）；步骤 {ids} 已合并。",
    ),
    "chained": (
        "steps {ids} merged one after the other; one of them does it.",
        "步骤 {ids} 接连合并，只保留一个。",
    ),
    "question_worded": (
        "the model's “{model}” stands for the goal's “{goal}”; it is asked in the goal's words.",
        "模型写的“{model}”即目标中的“{goal}”；按目标原话提问。",
    ),
    "task_added": (
        "the model left out a part of the goal ({text}); it was planned by the embedded templates.",
        "模型漏掉了目标的一部分（{text}），已用内置模板补上。",
    ),
    "unknown_domain": (
        "step {id} named {domain}, which is no knowledge domain of the registry; the domains follow from its words "
        "and the notes.",
        "步骤 {id} 提到的 {domain} 不是登记的知识域；改由其文字和笔记确定知识域。",
    ),
    "forbidden_domain": (
        "step {id} named {domain}, which the goal forbids; it was left out.",
        "步骤 {id} 提到目标禁止的 {domain}，已略去。",
    ),
    "domain_without_notes": (
        "step {id} named {domain}, of which the notes hold nothing; it was left out.",
        "步骤 {id} 提到 {domain}，笔记中没有该知识域的内容，已略去。",
    ),
    "staged": (
        "the longest chain had {steps} steps, more than the {accepted} of one level; the goal was planned in stages.",
        "最长的链有 {steps} 步，超过一层的 {accepted} 步；已改为分阶段规划。",
    ),
    "chain_kept": (
        "the longest chain has {steps} steps, more than the {accepted} of one level, and no usable stages came "
        "({reason}); it stays as proposed.",
        "最长的链有 {steps} 步，超过一层的 {accepted} 步，又没有得到可用的阶段（{reason}）；保持原样。",
    ),
    "stage_unplanned": (
        "for stage {id} the model gave no usable steps ({reason}); it became one step that asks for its aim.",
        "阶段 {id} 没有得到可用的步骤（{reason}）；改为一个以其目的为问题的步骤。",
    ),
    "ambiguity": (
        "an open point of the model was left out or corrected: {reason}.",
        "模型列出的一个待定点被略去或改正：{reason}。",
    ),
    "point_without_question": (
        "an open point of the model asked nothing; it was left out.",
        "模型列出的一个待定点没有提出问题，已略去。",
    ),
    "question_twice": (
        "the model listed the open point “{text}” twice; the first stands.",
        "模型两次列出待定点“{text}”，保留前一个。",
    ),
    "too_many_points": (
        "the model listed {n} open points; the first {kept} are shown.",
        "模型列出了 {n} 个待定点，只显示前 {kept} 个。",
    ),
    "too_many_constraints": (
        "the model listed {n} constraints; the first {kept} were read.",
        "模型列出了 {n} 条约束，只读取前 {kept} 条。",
    ),
    "too_many_assumptions": (
        "the model listed {n} assumptions; the first {kept} were read.",
        "模型列出了 {n} 条假设，只读取前 {kept} 条。",
    ),
    "constraint": (
        "the model's constraint “{text}” does not stand in the goal; it was left out.",
        "模型列出的约束“{text}”目标中并没有，已略去。",
    ),
    "objective": (
        "the model's objective “{text}” says more than the goal; the goal as the code reads it stands instead.",
        "模型写的目标“{text}”超出了原目标，改用代码所读的目标。",
    ),
    "resplit": (
        "the new split of {region} could not be used as proposed: {reason}.",
        "对 {region} 的重新拆分不能按提议使用：{reason}。",
    ),
    "fallback": (
        "Nothing usable came of the model's {what}; the embedded planner's, made by rules, stands instead. "
        "Why: {reason}",
        "模型的{what}没有可用之处，改用内置规划器按规则得出的结果。原因：{reason}",
    ),
}
