"""The words of the editable document in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from graphs.contract import Lang
from masks.bands import Band, Suppression

BANDS: Final[Mapping[Band, Mapping[Lang, str]]] = {
    Band.MAIN: {"en": "main", "zh": "主激活域"},
    Band.BACKGROUND: {"en": "background", "zh": "背景域"},
    Band.SILENT: {"en": "silent", "zh": "静默域"},
}

KINDS: Final[Mapping[str, str]] = {"function": "规则", "call": "调用", "loop": "循环", "human": "由人"}
"""How a sub-task is carried out, in Chinese; in English the field's value is shown."""

OPERATIONS: Final[Mapping[str, str]] = {
    "research": "检索",
    "extract": "提取",
    "compare": "比较",
    "check": "核对",
    "gather": "收集",
    "synthesise": "综合",
    "summarise": "摘要",
    "outline": "提纲",
    "report": "报告",
    "verify": "核验",
}
"""What a sub-task does, in Chinese; in English the field's value is shown."""

SUPPRESSIONS: Final[Mapping[Suppression, Mapping[Lang, str]]] = {
    Suppression.DORMANT: {"en": "dormant", "zh": "休眠"},
    Suppression.WEAKLY_SUPPRESSED: {"en": "weakly suppressed", "zh": "弱抑制"},
    Suppression.SUPPRESSED: {"en": "suppressed", "zh": "抑制"},
}

HEAD: Final[Mapping[Lang, str]] = {
    "en": """\
Proposal of run {run}, revision {revision} ({hash}).
Edit and save: the changes and their consequences are shown, and nothing runs before you approve.
You may edit everything but `based_on` and `goal`. What is left out takes its default.
Text needs quotes only if it holds special characters; several lines go behind |- and are indented.
To leave without changes, close without saving.""",
    "zh": """\
运行 {run} 的方案，版本 {revision}（{hash}）。
编辑并保存后会显示改动及其影响；在您批准之前不会执行任何内容。
除 `based_on` 和 `goal` 外均可编辑。省略的内容取默认值。
仅含特殊字符的文字需要加引号；多行文字写在 |- 之后并缩进。
如不想更改，请不保存直接关闭。""",
}

UNDERSTOOD: Final[Mapping[str, Mapping[Lang, str]]] = {
    "objective": {"en": "Understood as: {}", "zh": "理解为：{}"},
    "constraint": {"en": "Constraint: {}", "zh": "约束：{}"},
    "assumption": {"en": "Assumption: {}", "zh": "假设：{}"},
    "ambiguity": {"en": "Open: {} Assumed: {}", "zh": "待定：{} 暂按：{}"},
    "settled": {"en": "Decided: {} {}", "zh": "已定：{}{}"},
    "note": {"en": "Note: {}", "zh": "说明：{}"},
}

COMMENTS: Final[Mapping[str, Mapping[Lang, str]]] = {
    "goal": {
        "en": "Read-only. Another goal is another run: maskgrad plan GOAL",
        "zh": "只读。新的目标请另建运行：maskgrad plan 目标",
    },
    "contract": {"en": "What has to be delivered, and when to stop.", "zh": "交付要求与停止条件。"},
    "acceptance": {
        "en": """\
kind: question_answered (with question), field_filled (with field), artefact_exists, claims_cited,
conflicts_shown, custom. core: false if a miss does not make the result partial.""",
        "zh": """\
kind：question_answered（附 question）、field_filled（附 field）、artefact_exists、claims_cited、
conflicts_shown、custom。core: false 表示未满足也不算部分完成。""",
    },
    "allow_unresolved": {
        "en": "true: a question honestly left open counts as addressed",
        "zh": "true：如实说明未解决的问题也算已处理",
    },
    "forbidden": {
        "en": "Words, or domain:<id> for a knowledge domain that no agent may use (set to -1 in every mask).",
        "zh": "文字，或 domain:<id> 表示任何 agent 都不得使用的知识域（在所有蒙版中设为 -1）。",
    },
    "delta_max": {
        "en": "0 to 1: deviation of a measured quantity that is accepted",
        "zh": "0 到 1：可接受的数量偏差",
    },
    "thresholds": {
        "en": """\
0.00 <= background < main < 1.00, steps of 0.01. Above main: main; above background: background; else silent.
agents: {agent: {main, background}} for single agents.""",
        "zh": """\
0.00 <= background < main < 1.00，步长 0.01。高于 main 为主激活域，高于 background 为背景域，其余为静默域。
agents：{agent: {main, background}}，用于单个 agent。""",
    },
    "plan": {
        "en": """\
kind: function, call, loop. An input is named {{port}} in the instruction.
required_domains: domain and relevance, above 0, at most 1. acceptance: ids of the criteria above.
side_effects: none, read, draft, write, external. failure_semantics: required, optional. estimate: units of time.
ports: {name, type, description, required}; type: text, claims, table, report, documents, json.
The boundary (entry, inner, exit, both) follows from the dependencies.""",
        "zh": """\
kind：function、call、loop。指令中以 {{端口}} 指代输入。
required_domains：知识域与相关度，大于 0 且不超过 1。acceptance：上面验收标准的 id。
side_effects：none、read、draft、write、external。failure_semantics：required、optional。estimate：时间单位数。
端口：{name, type, description, required}；type：text、claims、table、report、documents、json。
boundary（entry、inner、exit、both）由依赖关系得出。""",
    },
    "dependencies": {
        "en": "source.output -> target.input; without cycles.",
        "zh": "来源.输出 -> 目标.输入；不得成环。",
    },
    "roster": {
        "en": """\
role: generate (works on sub-tasks) or verify (checks, generates nothing; in this version rules check in its name).
model_policy: {kind: embedded}, or {kind: model, model: provider:name} and, for a server of your own, base_url.
max_concurrency: attempts at a time.
mask: domain and value, -1.00 to 1.00 in steps of 0.01; a parent domain sets all domains under it; what is not
listed is 0.00. -1.00 is never raised by a repair. See: maskgrad domains""",
        "zh": """\
role：generate（承担子任务）或 verify（只核验，不生成；本版本由规则以其名义核验）。
model_policy：{kind: embedded} 或 {kind: model, model: 提供方:名称}，自有服务器另加 base_url。
max_concurrency：同时进行的尝试数。
mask：知识域与取值，-1.00 到 1.00，步长 0.01；上级知识域会设定其下所有知识域；未列出的为 0.00。
-1.00 不会被任何修复提升。查看：maskgrad domains""",
    },
    "assignment": {
        "en": "Sub-task: agent. Every sub-task needs one.",
        "zh": "子任务: agent。每个子任务都需要一个。",
    },
    "envelope": {
        "en": "What repairs may do without asking you again.",
        "zh": "修复在不再询问您的情况下可以做什么。",
    },
    "ceilings": {
        "en": "agent: {domain: value}, how high a repair may raise a domain. Not listed: the lower of "
        "background + 0.10 and main.",
        "zh": "agent: {知识域: 值}，修复可将知识域提升到的上限。未列出：background + 0.10 与 main 中较小者。",
    },
    "reassign": {
        "en": "false: no other agent and no extended mask without asking",
        "zh": "false：更换 agent 或扩展蒙版都要先询问",
    },
    "grants": {"en": "Agent: tools that it may call.", "zh": "agent: 可调用的工具。"},
}
