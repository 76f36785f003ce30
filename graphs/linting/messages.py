"""The words of each finding in both languages: what is wrong, what is accepted, what to do next."""

from collections.abc import Mapping
from typing import Final, assert_never

from graphs.contract import Lang
from graphs.linting.findings import LintCode, LintFinding, Severity

_WORDS: Final[Mapping[LintCode, tuple[str, str]]] = {
    LintCode.MISSING_CONTRACT_OUTPUTS: (
        "The contract names no output. State at least one thing to deliver in `outputs`.",
        "任务契约没有写明输出。请在 `outputs` 中至少写明一项交付物。",
    ),
    LintCode.MISSING_CONTRACT_ACCEPTANCE: (
        "The contract has no acceptance criterion, so nobody could tell when it is done. "
        "Add at least one to `acceptance`.",
        "任务契约没有验收标准，无法判断何时完成。请在 `acceptance` 中至少加入一条。",
    ),
    LintCode.CRITERION_INCOMPLETE: (
        "Criterion {criterion!r} of kind `{kind}` lacks `{needed}`. Fill it in, or use kind `custom`.",
        "验收标准 {criterion!r} 的类型是 `{kind}`，却缺少 `{needed}`。请补上，或改用类型 `custom`。",
    ),
    LintCode.DUPLICATE_CRITERION: (
        "Criterion id {criterion!r} is used more than once. Give each criterion its own id.",
        "验收标准的 id {criterion!r} 重复。请让每条标准有自己的 id。",
    ),
    LintCode.LIMIT_OUT_OF_RANGE: (
        "Limit `{limit}` is {value}; accepted is {accepted}. Change it in the contract.",
        "限额 `{limit}` 是 {value}；可接受的是 {accepted}。请在契约中修改。",
    ),
    LintCode.EMPTY_PLAN: (
        "The plan has no node, but the contract demands something. Add a node.",
        "计划没有任何节点，而契约有要求。请添加节点。",
    ),
    LintCode.INVALID_ID: (
        "Node id {node!r} is not accepted: a letter, then up to 63 letters, digits, `_` or `-`. Rename it.",
        "节点 id {node!r} 不可用：须以英文字母开头，后接至多 63 个字母、数字、`_` 或 `-`。请改名。",
    ),
    LintCode.DUPLICATE_ID: (
        "Node id {node!r} is used {count} times. Give each node its own id.",
        "节点 id {node!r} 用了 {count} 次。请让每个节点有自己的 id。",
    ),
    LintCode.SELF_EDGE: (
        "Edge {edge} joins a node to itself. Cut it; repetition inside a node is kind `loop`.",
        "边 {edge} 连到节点自身。请剪断；节点内部的重复用类型 `loop`。",
    ),
    LintCode.DANGLING_EDGE: (
        "Edge {edge} names node {missing!r}, which is not in the plan. Add the node or cut the edge.",
        "边 {edge} 指向计划中没有的节点 {missing!r}。请添加该节点或剪断这条边。",
    ),
    LintCode.DUPLICATE_EDGE: (
        "Edge {edge} is written more than once. Keep one.",
        "边 {edge} 写了不止一次。请只保留一条。",
    ),
    LintCode.CYCLE: (
        "These nodes wait for each other: {path}. Cut one of the edges.",
        "这些节点互相等待：{path}。请剪断其中一条边。",
    ),
    LintCode.WRONG_BOUNDARY: (
        "Node {node!r} is declared `{declared}` but its place is `{actual}`. "
        "Set `boundary: {actual}`, or change its edges.",
        "节点 {node!r} 声明为 `{declared}`，实际位置是 `{actual}`。"
        "请设为 `boundary: {actual}`，或修改它的边。",
    ),
    LintCode.DUPLICATE_PORT: (
        "Node {node!r} has two {side} ports named {port!r}. Rename one.",
        "节点 {node!r} 有两个名为 {port!r} 的端口（{side}）。请给其中一个改名。",
    ),
    LintCode.UNKNOWN_PORT: (
        "Edge {edge} uses {side} port {port!r}, which node {node!r} does not have (it has: {known}). "
        "Use one of these or declare the port.",
        "边 {edge} 用到端口 {port!r}（{side}），节点 {node!r} 没有它（现有：{known}）。"
        "请改用其中之一，或声明该端口。",
    ),
    LintCode.PORT_TYPE_MISMATCH: (
        "Edge {edge} carries `{output_type}` into a port of type `{input_type}`. "
        "Change one of the types or put a converting node between.",
        "边 {edge} 把 `{output_type}` 送入类型为 `{input_type}` 的端口。"
        "请修改其中一个类型，或在中间加一个转换节点。",
    ),
    LintCode.MISSING_INPUT: (
        "Input {port!r} of node {node!r} is fed by no edge and is no input of the contract (it has: "
        "{supplied}). Connect it, or set `required: false`.",
        "节点 {node!r} 的输入 {port!r} 没有边供给，也不是契约的输入（契约有：{supplied}）。"
        "请连接它，或设为 `required: false`。",
    ),
    LintCode.HIDDEN_DEPENDENCY: (
        "Node {node!r} uses {reference} but no edge brings that output. "
        "Connect {other!r} to {node!r}, or drop the reference.",
        "节点 {node!r} 用到 {reference}，却没有边送来该输出。请连接 {other!r} 到 {node!r}，或删去引用。",
    ),
    LintCode.UNCOVERED_CRITERION: (
        "No node has to satisfy criterion {criterion!r} ({text}). Add its id to `acceptance` of a node.",
        "没有节点负责验收标准 {criterion!r}（{text}）。请把它的 id 加入某个节点的 `acceptance`。",
    ),
    LintCode.UNKNOWN_CRITERION: (
        "Node {node!r} names criterion {criterion!r}, which the contract does not have (it has: {known}). "
        "Correct the id or add the criterion.",
        "节点 {node!r} 提到契约中没有的验收标准 {criterion!r}（契约有：{known}）。请改正 id，或添加该标准。",
    ),
    LintCode.UNDELIVERED_OUTPUT: (
        "No node offers output {output!r} of type `{type}`, which the contract requires. "
        "Add the port to the node that makes it.",
        "没有节点提供契约要求的输出 {output!r}（类型 `{type}`）。请在产出它的节点上添加该端口。",
    ),
    LintCode.RELEVANCE_OUT_OF_RANGE: (
        "Node {node!r} requires domain {domain!r} with relevance {value}; accepted is 0 < x <= 1. "
        "Correct it or drop the domain.",
        "节点 {node!r} 对知识域 {domain!r} 的相关度是 {value}；"
        "可接受的是 0 < x <= 1。请改正，或去掉该知识域。",
    ),
    LintCode.FORBIDDEN_DOMAIN: (
        "Node {node!r} requires domain {domain!r}, which the contract forbids. "
        "Drop the requirement or lift the prohibition.",
        "节点 {node!r} 需要契约禁止的知识域 {domain!r}。请去掉该需求，或解除禁止。",
    ),
    LintCode.ESTIMATE_OUT_OF_RANGE: (
        "Node {node!r} has estimate {value}; accepted is a finite number above 0. Correct it.",
        "节点 {node!r} 的时长估计是 {value}；可接受的是大于 0 的有限数。请改正。",
    ),
    LintCode.UNKNOWN_REFERENCE: (
        "Node {node!r} refers to {reference}, which is neither an input of it nor a node. "
        "It would be passed on as plain text; correct it if it was meant as a reference.",
        "节点 {node!r} 引用了 {reference}，它既不是该节点的输入，也不是节点。"
        "它会作为普通文字传下去；如本意是引用，请改正。",
    ),
    LintCode.NODE_MENTIONED: (
        "The instruction of node {node!r} mentions {other!r}, which does not feed it. "
        "If it needs that output, connect the two.",
        "节点 {node!r} 的指令提到 {other!r}，后者并未供给它。如需要其输出，请连接两者。",
    ),
    LintCode.SEVERAL_ACTIONS: (
        "Node {node!r} seems to do several things ({actions}). Consider splitting it.",
        "节点 {node!r} 似乎做了几件事（{actions}）。可考虑拆分。",
    ),
    LintCode.MIXED_OUTPUTS: (
        "Node {node!r} has outputs of several types ({types}). Consider one node for each.",
        "节点 {node!r} 的输出有多种类型（{types}）。可考虑各用一个节点。",
    ),
    LintCode.NO_OUTPUTS: (
        "Node {node!r} declares no output, so nothing of it can be checked or passed on. Declare one.",
        "节点 {node!r} 没有声明输出，其结果无法检查，也无法传递。请声明输出。",
    ),
    LintCode.NO_DOMAINS: (
        "Node {node!r} of kind `{kind}` requires no knowledge domain, "
        "so its agent's mask cannot be designed. "
        "Add `required_domains`.",
        "节点 {node!r}（类型 `{kind}`）没有写明所需知识域，无法设计其 agent 的蒙版。"
        "请补上 `required_domains`。",
    ),
    LintCode.NO_CONTRIBUTION: (
        "Node {node!r} feeds no other node, satisfies no criterion and delivers no output of the contract. "
        "Connect or remove it.",
        "节点 {node!r} 不供给任何节点，不负责验收标准，也不交付契约的输出。请连接它或删除它。",
    ),
    LintCode.NEEDLESS_CHAIN: (
        "These nodes do the same kind of work in a row: {path}. Consider merging them.",
        "这些节点接连做同一种工作：{path}。可考虑合并。",
    ),
    LintCode.TOO_MANY_STEPS: (
        "The longest chain has {steps} steps; up to {accepted} on one level are easy to follow. "
        "Consider {stages} stages, or work side by side.",
        "最长的链有 {steps} 步；一层以不超过 {accepted} 步为宜。可考虑分为 {stages} 个阶段，或改为并行。",
    ),
    LintCode.UNREACHABLE: (
        "No entry leads to node {node!r}, so it would never start. Break the cycle before it.",
        "没有入口通向节点 {node!r}，它永远不会开始。请先断开它之前的环。",
    ),
}

_SIDES: Final[Mapping[str, str]] = {"input": "输入", "output": "输出"}


def render_finding(finding: LintFinding, lang: Lang) -> str:
    """Write a finding as one line for people, with its severity and code in front.

    >>> from graphs.plan import NodeId
    >>> cycle = LintFinding(code=LintCode.CYCLE, severity="error", nodes=(NodeId("a"), NodeId("b"),
    ...     NodeId("a")), detail={"path": "a -> b -> a"})
    >>> render_finding(cycle, "en")
    'error cycle: These nodes wait for each other: a -> b -> a. Cut one of the edges.'
    """
    values = {name: _on_one_line(value) for name, value in finding.detail.items()}
    if finding.nodes:
        values |= {"node": finding.nodes[0], "other": finding.nodes[-1]}
    english, chinese = _WORDS[finding.code]
    match lang:
        case "en":
            return f"{finding.severity} {finding.code}: {english.format_map(values)}"
        case "zh":
            if "side" in values:
                values["side"] = _SIDES[values["side"]]
            return f"{_severity_zh(finding.severity)} {finding.code}：{chinese.format_map(values)}"
        case _:
            assert_never(lang)


def _on_one_line(value: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in value).split())


def _severity_zh(severity: Severity) -> str:
    match severity:
        case "error":
            return "错误"
        case "warning":
            return "警告"
        case _:
            assert_never(severity)
