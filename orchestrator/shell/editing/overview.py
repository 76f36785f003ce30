"""A proposal as text for a terminal: what a person reads before approving it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, assert_never

from agents.memory.shown import KIND_NAMES
from agents.spec import AgentSpec, ModelPolicy
from graphs.contract import Lang
from graphs.plan import InvalidPlanError, NodeId, index_plan
from masks.bands import Band, Thresholds, band, format_mask_value
from masks.design import MaskOriginKind, render_origin
from masks.domains import DomainId, DomainRegistry
from masks.gradient import extension_target
from orchestrator.core import profiles
from orchestrator.core.proposal import HASH_PREFIX_LENGTH, Proposal
from orchestrator.shell.editing.checks import ProposalFindings
from orchestrator.shell.editing.consequences import estimate
from orchestrator.shell.editing.wording import KINDS, OPERATIONS
from orchestrator.shell.editing.writing import band_name
from orchestrator.shell.editing.yaml_text import one_line

_STEP: Final = "  "

_GOAL_SHOWN: Final = 300
"""Characters of a goal that are shown, as `maskgrad show` does: its questions follow one by one."""

_HEADS: Final[Mapping[str, Mapping[Lang, str]]] = {
    "understood": {"en": "Understood as", "zh": "理解为"},
    "contract": {"en": "To be delivered", "zh": "交付要求"},
    "plan": {"en": "Sub-tasks", "zh": "子任务"},
    "roster": {"en": "Agents and their masks", "zh": "agent 与蒙版"},
    "errors": {"en": "Errors: this revision can't run", "zh": "错误：此版本无法执行"},
    "warnings": {"en": "To look at", "zh": "请留意"},
    "estimates": {"en": "Estimates", "zh": "估计"},
    "envelope": {"en": "What repairs may do without asking", "zh": "修复无需询问即可做的事"},
}

_WORDS: Final[Mapping[str, Mapping[Lang, str]]] = {
    "goal": {"en": "Goal: {}", "zh": "目标：{}"},
    "sources": {"en": "Sources: {}", "zh": "资料：{}"},
    "no_sources": {"en": "none", "zh": "无"},
    "constraint": {"en": "constraint: {}", "zh": "约束：{}"},
    "assumption": {"en": "assumption: {}", "zh": "假设：{}"},
    "ambiguity": {"en": "open: {} Assumed: {}", "zh": "待定：{} 暂按：{}"},
    "settled": {"en": "decided: {} {}", "zh": "已定：{}{}"},
    "options": {
        "en": "readings: {}; decide with: maskgrad clarify {} {} NUMBER, or --text TEXT",
        "zh": "可选的理解：{}；决定：maskgrad clarify {} {} 编号，或 --text 文字",
    },
    "note": {"en": "note: {}", "zh": "说明：{}"},
    "memory": {"en": "remembered ({}): {}", "zh": "记忆（{}）：{}"},
    "aside": {"en": " (not core)", "zh": "（非核心）"},
    "unresolved": {
        "en": "questions may honestly stay open",
        "zh": "允许如实保留未解决的问题",
    },
    "forbidden": {"en": "forbidden: {}", "zh": "禁止：{}"},
    "approval": {"en": "asks you before: {}", "zh": "须先经您同意：{}"},
    "limits": {
        "en": "limits of one attempt: {actions} actions, {tools} tool calls, {seconds:g} s",
        "zh": "每次尝试的限额：{actions} 次动作，{tools} 次工具调用，{seconds:g} 秒",
    },
    "profile": {"en": "profile {}", "zh": "运行配置，{}"},
    "needs": {"en": "needs: {}", "zh": "需要：{}"},
    "domains": {"en": "domains: {}", "zh": "知识域：{}"},
    "relevance": {"en": "relevance {}", "zh": "相关度 {}"},
    "satisfies": {"en": "satisfies: {}", "zh": "负责验收：{}"},
    "nobody": {"en": "nobody", "zh": "无人"},
    "person": {"en": "a person", "zh": "由人完成"},
    "effect": {"en": "side effects: {}", "zh": "副作用：{}"},
    "optional": {"en": "optional", "zh": "可选"},
    "works_on": {"en": "works on: {}", "zh": "承担：{}"},
    "model": {"en": "thinks with: {}", "zh": "使用模型：{}"},
    "model_at": {"en": "thinks with: {} at {}", "zh": "使用模型：{}，地址 {}"},
    "scripted": {"en": "thinks with: a script", "zh": "由脚本驱动"},
    "tools": {"en": "may call: {}", "zh": "可调用：{}"},
    "generate": {"en": "generates", "zh": "生成"},
    "verify": {"en": "verifies (by rules in this version)", "zh": "核验（本版本由规则进行）"},
    "thresholds": {
        "en": "main above {main}, background above {background}, else silent",
        "zh": "高于 {main} 为主激活域，高于 {background} 为背景域，其余为静默域",
    },
    "others_silent": {"en": "every other domain: 0.00, silent", "zh": "其余知识域：0.00，静默域"},
    "critical": {
        "en": "critical path: {length:g} units ({path})",
        "zh": "关键路径：{length:g} 单位（{path}）",
    },
    "makespan": {"en": "total time: {:g} units", "zh": "总时长：{:g} 单位"},
    "count": {
        "en": "sub-tasks: {nodes}; agents at work: {agents}",
        "zh": "子任务：{nodes}；参与的 agent：{agents}",
    },
    "retry": {
        "en": "repeat what failed for a passing reason, and correct parameters",
        "zh": "重试因暂时原因失败的部分，并修正参数",
    },
    "extend": {
        "en": "open a silent domain that is required up to {}; never one at -1.00",
        "zh": "将所需的静默知识域提升至多到 {}；绝不提升 -1.00 的知识域",
    },
    "own_ceiling": {"en": "{agent}: {domain} up to {value}", "zh": "{agent}：{domain} 至多到 {value}"},
    "reassign": {
        "en": "give a sub-task to another agent of this list, or to a copy of one with such a mask",
        "zh": "将子任务交给名单中的其他 agent，或交给其蒙版经上述调整的副本",
    },
    "no_reassign": {
        "en": "no other agent and no extended mask: these are asked for",
        "zh": "不更换 agent，也不扩展蒙版：均须先询问",
    },
    "approve": {
        "en": "Approve exactly this revision: maskgrad approve {}",
        "zh": "批准此版本：maskgrad approve {}",
    },
    "edit": {"en": "Change it first: maskgrad edit {}", "zh": "先修改：maskgrad edit {}"},
}


def render_review(
    proposal: Proposal,
    registry: DomainRegistry,
    lang: Lang,
    *,
    run: str,
    sha256: str,
    findings: ProposalFindings,
    costs: Sequence[str] = (),
) -> str:
    """Return the proposal for a reader, ending with the exact command that approves it and a newline.

    `costs` are lines on what models are expected to consume. With errors among the `findings` no approve command is
    shown, since the revision can't run.
    """
    token = f"{run}@{proposal.revision}-{sha256[:HASH_PREFIX_LENGTH]}"
    sections = (
        ("understood", _understood(proposal, run, lang)),
        ("contract", _contract(proposal, lang)),
        ("plan", _plan(proposal, registry, lang)),
        ("roster", _roster(proposal, registry, lang)),
        ("errors", iter(findings.lines("error", lang))),
        ("warnings", iter(findings.lines("warning", lang))),
        ("estimates", chain(_estimates(proposal, lang), costs)),
        ("envelope", _envelope(proposal, lang)),
    )
    revision = f"revision {proposal.revision}" if lang == "en" else f"版本 {proposal.revision}"
    lines = [f"{run}  {revision}  {sha256[:HASH_PREFIX_LENGTH]}"]
    for head, body in sections:
        found = list(body)
        if found:
            lines += ["", _HEADS[head][lang], *(f"{_STEP}{line}" for line in found)]
    lines.append("")
    if not findings.errors:
        lines.append(_WORDS["approve"][lang].format(token))
    lines.append(_WORDS["edit"][lang].format(run))
    return "\n".join(lines) + "\n"


def _understood(proposal: Proposal, run: str, lang: Lang) -> Iterator[str]:
    intent = proposal.intent
    yield one_line(intent.objective) or one_line(proposal.goal.text)
    yield _say("goal", lang, _cut(one_line(proposal.goal.text)))
    yield _say("sources", lang, ", ".join(proposal.goal.sources) or _WORDS["no_sources"][lang])
    for kind, texts in (("constraint", intent.constraints), ("assumption", intent.assumptions)):
        for text in texts:
            yield _say(kind, lang, text)
    for point in intent.ambiguities:
        if point.settled:
            yield _say("settled", lang, point.question, point.assumed)
            continue
        yield _say("ambiguity", lang, point.question, point.assumed)
        listed = " | ".join(f"{number} {option}" for number, option in enumerate(point.options, 1))
        yield _STEP + _say("options", lang, listed, run, point.id)
    for note in proposal.notes:
        yield _say("note", lang, note)
    for each in proposal.memories:
        yield _say("memory", lang, KIND_NAMES[lang][each.memory.kind], _cut(each.memory.text))


def _cut(text: str) -> str:
    return text if len(text) <= _GOAL_SHOWN else f"{text[: _GOAL_SHOWN - 1]}…"


def _contract(proposal: Proposal, lang: Lang) -> Iterator[str]:
    contract = proposal.contract
    for criterion in contract.acceptance:
        aside = "" if criterion.core else _WORDS["aside"][lang]
        yield f"[{one_line(criterion.id)}] {one_line(criterion.text)}{aside}"
    if contract.allow_unresolved:
        yield _WORDS["unresolved"][lang]
    for entry in contract.forbidden:
        yield _say("forbidden", lang, entry)
    if contract.approval_required:
        yield _say("approval", lang, ", ".join(contract.approval_required))
    limits = contract.limits
    yield _WORDS["limits"][lang].format(
        actions=limits.max_actions, tools=limits.max_tool_calls, seconds=limits.deadline_s
    )
    yield _say("profile", lang, profiles.WORDS[proposal.profile][lang])


def _plan(proposal: Proposal, registry: DomainRegistry, lang: Lang) -> Iterator[str]:
    order = _order(proposal)
    subtasks = {subtask.id: subtask for subtask in proposal.plan.subtasks}
    for node in order:
        subtask = subtasks[node]
        agent = proposal.assignment.get(node)
        default = _WORDS["person" if subtask.kind == "human" else "nobody"][lang]
        tags = [_tag(subtask.operation, OPERATIONS, lang), _tag(subtask.kind, KINDS, lang)]
        if subtask.failure_semantics == "optional":
            tags.append(_WORDS["optional"][lang])
        if subtask.side_effects not in ("none", "read"):
            tags.append(_say("effect", lang, subtask.side_effects))
        listed = ("，" if lang == "zh" else ", ").join(tags)
        yield f"{node}  {one_line(subtask.title)}  [{listed}]  @ {agent or default}"
        feeds = [
            f"{edge.source}.{edge.output} -> {edge.input}"
            for edge in proposal.plan.dependencies
            if edge.target == node
        ]
        if feeds:
            yield _STEP + _say("needs", lang, ", ".join(feeds))
        if subtask.required_domains:
            yield _STEP + _say("domains", lang, ", ".join(_needs(proposal, node, registry, lang)))
        if subtask.acceptance:
            yield _STEP + _say("satisfies", lang, ", ".join(subtask.acceptance))


def _tag(name: str, chinese: Mapping[str, str], lang: Lang) -> str:
    return chinese.get(name, name) if lang == "zh" else name


def _needs(proposal: Proposal, node: NodeId, registry: DomainRegistry, lang: Lang) -> Iterator[str]:
    """Each required domain with its relevance and with what the agent's mask makes of it."""
    subtask = next(subtask for subtask in proposal.plan.subtasks if subtask.id == node)
    agents = {agent.id: agent for agent in proposal.roster.agents}
    agent = agents.get(proposal.assignment.get(node, ""))  # type: ignore[call-overload]
    for name, relevance in subtask.required_domains.items():
        domain = DomainId(name)
        label = f"{domain} {registry.get(domain).names[lang]}" if domain in registry else name
        where = ""
        if agent is not None:
            where = f", {band_name(agent.mask.value(domain), proposal.thresholds_of(agent.id), lang)}"
        yield f"{label} ({_say('relevance', lang, f'{relevance:.2f}')}{where})"


def _roster(proposal: Proposal, registry: DomainRegistry, lang: Lang) -> Iterator[str]:
    yield _thresholds(proposal.thresholds, lang)
    for agent in proposal.roster.agents:
        yield f"{agent.id}  {_WORDS[agent.role][lang]}  {one_line(agent.responsibility)}"
        nodes = [node for node in _order(proposal) if proposal.assignment.get(node) == agent.id]
        if nodes:
            yield _STEP + _say("works_on", lang, ", ".join(nodes))
        if agent.role == "generate":  # rules check in the name of an agent that verifies, whatever its model
            yield from (_STEP + line for line in _thinks_with(agent.model_policy, lang))
        granted = proposal.grants.get(agent.id, ())
        if granted:
            yield _STEP + _say("tools", lang, ", ".join(granted))
        own = proposal.agent_thresholds.get(agent.id)
        if own is not None:
            yield _STEP + _thresholds(own, lang)
        yield from (_STEP + line for line in _mask(proposal, agent, registry, lang))


def _thinks_with(policy: ModelPolicy, lang: Lang) -> Iterator[str]:
    """The model and where the agent's material is sent; the embedded default sends nothing and has no line."""
    match policy.kind:
        case "embedded":
            return
        case "scripted":
            yield _WORDS["scripted"][lang]
        case "model":
            name = policy.model or "?"
            if policy.base_url is None:
                yield _say("model", lang, name)
            else:
                yield _say("model_at", lang, name, policy.base_url)
        case _:
            assert_never(policy.kind)


def _mask(proposal: Proposal, agent: AgentSpec, registry: DomainRegistry, lang: Lang) -> Iterator[str]:
    """The values other than 0, strongest first, each with its band, name and origin."""
    thresholds = proposal.thresholds_of(agent.id)
    origins = proposal.mask_origins.get(agent.id, {})
    values = dict(agent.mask.values)
    # A value that the user set to 0 is listed too: it was something else before.
    for domain, origin in origins.items():
        if origin.kind is MaskOriginKind.USER:
            values.setdefault(domain, 0)
    ranked = sorted(values.items(), key=lambda entry: (-entry[1], entry[0]))
    width = max((len(domain) for domain, _ in ranked), default=0)
    for domain, m100 in ranked:
        parts = [band_name(m100, thresholds, lang)]
        if domain in registry:
            parts.append(registry.get(domain).names[lang])
        if domain in origins:
            parts.append(render_origin(origins[domain], lang))
        mark = "; " if lang == "en" else "；"
        yield f"{domain:<{width}}  {format_mask_value(m100):>5}  {mark.join(parts)}"
    if band(0, thresholds) is Band.SILENT:
        yield _WORDS["others_silent"][lang]


def _estimates(proposal: Proposal, lang: Lang) -> Iterator[str]:
    agents = {agent for agent in proposal.assignment.values()}
    yield _WORDS["count"][lang].format(nodes=len(proposal.plan.subtasks), agents=len(agents))
    try:
        found = estimate(proposal)
    except (InvalidPlanError, ValueError):
        # The errors above say what is wrong; a plan that is no DAG has no duration.
        return
    yield _WORDS["critical"][lang].format(length=found.length, path=" -> ".join(found.path))
    yield _WORDS["makespan"][lang].format(found.makespan)


def _envelope(proposal: Proposal, lang: Lang) -> Iterator[str]:
    envelope = proposal.envelope
    yield _WORDS["retry"][lang]
    if envelope.reassign:
        target = format_mask_value(extension_target(proposal.thresholds))
        yield _say("extend", lang, target)
        for agent, values in sorted(envelope.ceilings.items()):
            for domain, m100 in sorted(values.items()):
                yield _STEP + _WORDS["own_ceiling"][lang].format(
                    agent=agent, domain=domain, value=format_mask_value(m100)
                )
        yield _WORDS["reassign"][lang]
    else:
        yield _WORDS["no_reassign"][lang]


def _thresholds(thresholds: Thresholds, lang: Lang) -> str:
    return _WORDS["thresholds"][lang].format(
        main=format_mask_value(thresholds.main), background=format_mask_value(thresholds.background)
    )


def _order(proposal: Proposal) -> tuple[NodeId, ...]:
    """The sub-tasks as they can run; as written if the plan is not sound."""
    try:
        return index_plan(proposal.plan).order
    except InvalidPlanError:
        return tuple(dict.fromkeys(subtask.id for subtask in proposal.plan.subtasks))


def _say(word: str, lang: Lang, *texts: str) -> str:
    return _WORDS[word][lang].format(*(one_line(text) for text in texts))
