"""Check a whole proposal before it is put up for review: errors refuse it, warnings are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from agents.assignment import coverage
from agents.operations import OPERATIONS, VERIFY, tools_of
from agents.spec import AgentSpec, is_server_address
from graphs.contract import FORBIDDEN_DOMAIN_PREFIX, Lang, forbidden_domains
from graphs.lint import LintCode, LintFinding, Severity, lint, render_finding
from graphs.plan import SubTask
from graphs.references import ID_PATTERN
from masks.bands import MASK_MAX, MASK_MIN, Band, format_mask_value
from masks.domains import DomainId, DomainRegistry
from masks.errors import UnknownDomain
from orchestrator.core.errors import InvalidProposal
from orchestrator.core.proposal import Proposal
from orchestrator.shell.editing.asking import unasked
from orchestrator.shell.editing.findings import Finding, error, warning

CERTAIN: Final = frozenset(
    {str(code) for code in (LintCode.CYCLE, LintCode.SELF_EDGE, LintCode.DUPLICATE_EDGE)}
)
"""Findings that hold whatever else of a document could not be read."""

_EDGE_CODES: Final = frozenset(
    {
        LintCode.SELF_EDGE,
        LintCode.DANGLING_EDGE,
        LintCode.DUPLICATE_EDGE,
        LintCode.CYCLE,
        LintCode.PORT_TYPE_MISMATCH,
        LintCode.UNKNOWN_PORT,
    }
)
_SHIPPED_TOOLS: Final = frozenset(
    {
        *(tool for operation in OPERATIONS.values() for tool in operation.tools),
        "calculate",
        "fetch_url",
        "list_files",
        "overwrite_draft",
        "query_table",
        "read_file",
        "read_result",
        "search_files",
        "undo_draft",
        "write_draft",
    }
)
"""A test compares them with what the built-in tools call themselves: their modules are not loaded for a look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalFindings:
    """What the checks found, in the order of the document."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...]

    def lines(self, severity: Severity, lang: Lang) -> tuple[str, ...]:
        """Return the findings of one severity, one line each."""
        found = self.errors if severity == "error" else self.warnings
        return tuple(finding.render(lang) for finding in found)

    def raise_errors(self) -> None:
        """Raise `InvalidProposal` with every error, if there is one."""
        if self.errors:
            raise InvalidProposal({"en": self.lines("error", "en"), "zh": self.lines("error", "zh")})


def check_proposal(proposal: Proposal, registry: DomainRegistry) -> ProposalFindings:
    """Return what is wrong with `proposal` and what the reviewer should know; takes any proposal, sound or not.

    Errors: those of `graphs.lint`; a sub-task for a person (nobody is asked yet); a question or
    field of the contract that no sub-task asks for; a sub-task without an agent that
    can do it with tools that it is granted; roles that are not separated; unknown agents, sub-tasks and domains; a
    forbidden domain that is not at -1; numbers out of range. Warnings: those of `graphs.lint`; required domains
    outside the MAIN band; tools that nobody needs.
    """
    found = (
        *_plan_findings(proposal),
        *unasked(proposal),
        *_required_domains(proposal, registry),
        *_roster_findings(proposal, registry),
        *_assignment_findings(proposal),
        *_envelope_findings(proposal, registry),
        *_grant_findings(proposal),
    )
    return ProposalFindings(
        errors=tuple(finding for finding in found if finding.severity == "error"),
        warnings=tuple(finding for finding in found if finding.severity == "warning"),
    )


def _plan_findings(proposal: Proposal) -> Iterator[Finding]:
    for found in lint(proposal.plan, proposal.contract):
        yield Finding(
            code=found.code,
            severity=found.severity,
            where=_place(found),
            about=found.nodes,
            texts={"en": _message(found, "en"), "zh": _message(found, "zh")},
        )
    for subtask in proposal.plan.subtasks:
        if subtask.kind == "human":
            yield error(
                "kind_human",
                f"plan.subtasks.{subtask.id}.kind",
                {
                    "en": f"sub-task {subtask.id!r} is of kind 'human', which this version can't run yet; accepted: "
                    "function, call, loop. Give it one of these, or take the sub-task out and do it yourself.",
                    "zh": f"子任务 {subtask.id!r} 的 kind 为 'human'，本版本尚不能执行；可接受：function、call、loop。"
                    "请改用其中之一，或删除该子任务并自行完成。",
                },
                subtask.id,
            )


def _place(found: LintFinding) -> str:
    if found.code in _EDGE_CODES:
        return "plan.dependencies"
    if found.nodes:
        return f"plan.subtasks.{found.nodes[0]}"
    limit = found.detail.get("limit")
    if limit is not None:
        return "contract.delta_max" if limit == "delta_max" else f"contract.limits.{limit}"
    if found.code in (LintCode.EMPTY_PLAN, LintCode.TOO_MANY_STEPS, LintCode.UNDELIVERED_OUTPUT):
        return "plan"
    return "contract.acceptance" if "criterion" in found.detail else "contract"


def _message(found: LintFinding, lang: Lang) -> str:
    """The finding's words; its severity is said by where it is shown."""
    mark = ": " if lang == "en" else "："
    return render_finding(found, lang).partition(f"{found.code}{mark}")[2]


def _required_domains(proposal: Proposal, registry: DomainRegistry) -> Iterator[Finding]:
    for subtask in proposal.plan.subtasks:
        where = f"plan.subtasks.{subtask.id}.required_domains"
        for domain in subtask.required_domains:
            problem = _domain_problem(domain, registry)
            if problem is not None:
                yield error("unknown_domain", where, problem, subtask.id)
    for domain in sorted(forbidden_domains(proposal.contract)):
        if domain not in registry:
            unknown = UnknownDomain(domain, registry.close_matches(domain))
            yield error("unknown_domain", "contract.forbidden", _texts(unknown))


def _roster_findings(proposal: Proposal, registry: DomainRegistry) -> Iterator[Finding]:
    names = [agent.id for agent in proposal.roster.agents]
    for agent in proposal.roster.agents:
        where = f"roster.{agent.id}"
        if names.count(agent.id) > 1:
            yield error(
                "duplicate_agent",
                where,
                {
                    "en": f"agent id {agent.id!r} is used twice. Give each agent its own id.",
                    "zh": f"agent id {agent.id!r} 重复。请让每个 agent 有自己的 id。",
                },
                agent.id,
            )
        if not ID_PATTERN.fullmatch(agent.id):
            yield error(
                "invalid_agent_id",
                where,
                {
                    "en": f"agent id {agent.id!r} is not accepted: a letter, then up to 63 letters, digits, "
                    "`_` or `-`. Rename it.",
                    "zh": f"agent id {agent.id!r} 不可用：须以英文字母开头，"
                    "后接至多 63 个字母、数字、`_` 或 `-`。请改名。",
                },
                agent.id,
            )
        yield from _agent_findings(agent, proposal, registry)


def _agent_findings(agent: AgentSpec, proposal: Proposal, registry: DomainRegistry) -> Iterator[Finding]:
    where = f"roster.{agent.id}"
    mixed = [name for name in agent.operations if (name == VERIFY) != (agent.role == "verify")]
    if mixed:
        accepted = VERIFY if agent.role == "verify" else f"anything but {VERIFY}"
        accepted_zh = VERIFY if agent.role == "verify" else f"{VERIFY} 以外的操作"
        yield error(
            "roles_mixed",
            f"{where}.operations",
            {
                "en": f"agent {agent.id!r} has the role {agent.role} and the operations {', '.join(mixed)}; accepted: "
                f"{accepted}. Who makes something does not check it: split the agent in two.",
                "zh": f"agent {agent.id!r} 的 role 为 {agent.role}，却有操作 {'、'.join(mixed)}；"
                f"可接受：{accepted_zh}。产出者不得核验自己：请拆成两个 agent。",
            },
            agent.id,
        )
    if agent.max_concurrency < 1:
        yield error(
            "concurrency_out_of_range",
            f"{where}.max_concurrency",
            {
                "en": f"got {agent.max_concurrency}; accepted: 1 or more.",
                "zh": f"得到 {agent.max_concurrency}；可接受：1 或更大。",
            },
            agent.id,
        )
    if (agent.model_policy.kind == "model") != bool(agent.model_policy.model):
        yield error(
            "model_policy",
            f"{where}.model_policy",
            {
                "en": f"kind {agent.model_policy.kind!r} with model {agent.model_policy.model!r}; accepted: "
                "{kind: model, model: provider:name}, or another kind without a model.",
                "zh": f"kind 为 {agent.model_policy.kind!r}，model 为 {agent.model_policy.model!r}；可接受："
                "{kind: model, model: 提供方:名称}，或其他 kind 且不写 model。",
            },
            agent.id,
        )
    address = agent.model_policy.base_url
    if address is not None and not (agent.model_policy.kind == "model" and is_server_address(address)):
        yield error(
            "base_url",
            f"{where}.model_policy.base_url",
            {
                "en": f"got {address!r} with kind {agent.model_policy.kind!r}; accepted: with kind model an address "
                "such as http://127.0.0.1:8080/v1, without user or password, else none.",
                "zh": f"kind 为 {agent.model_policy.kind!r}，得到 {address!r}；可接受：kind 为 model 时的地址，例如 "
                "http://127.0.0.1:8080/v1，不含用户名或密码；其他 kind 不写。",
            },
            agent.id,
        )
    yield from _mask_findings(agent, proposal, registry)


def _mask_findings(agent: AgentSpec, proposal: Proposal, registry: DomainRegistry) -> Iterator[Finding]:
    where = f"roster.{agent.id}.mask"
    for domain, _ in agent.mask.values:
        problem = _domain_problem(domain, registry)
        if problem is not None:
            yield error("unknown_domain", f"{where}.{domain}", problem, agent.id)
    for name in sorted(forbidden_domains(proposal.contract)):
        for leaf in registry.leaves_under(DomainId(name)) if name in registry else ():
            m100 = agent.mask.value(leaf)
            if m100 != MASK_MIN:
                value = format_mask_value(m100)
                yield error(
                    "forbidden_domain_open",
                    f"{where}.{leaf}",
                    {
                        "en": f"{leaf!r} is at {value} for agent {agent.id!r}, but the contract forbids it; accepted: "
                        f"-1.00. Set it, or take {FORBIDDEN_DOMAIN_PREFIX}{name} out of `forbidden`.",
                        "zh": f"agent {agent.id!r} 的 {leaf!r} 为 {value}，而契约禁止该知识域；可接受：-1.00。"
                        f"请改正，或从 `forbidden` 中去掉 {FORBIDDEN_DOMAIN_PREFIX}{name}。",
                    },
                    agent.id,
                )


def _assignment_findings(proposal: Proposal) -> Iterator[Finding]:
    known = {subtask.id for subtask in proposal.plan.subtasks}
    for node, agent in proposal.assignment.items():
        if node not in known:
            yield error(
                "unknown_subtask",
                f"assignment.{node}",
                {
                    "en": f"{node!r} is no sub-task of the plan (it has: {_names(known)}). Take the line out or "
                    "correct the id.",
                    "zh": f"计划中没有子任务 {node!r}（现有：{_names(known)}）。请删除该行或改正 id。",
                },
                node,
                agent,
            )
    gaps = coverage(
        proposal.plan,
        proposal.roster,
        proposal.assignment,
        proposal.thresholds,
        proposal.agent_thresholds,
    )
    for gap in gaps:
        about = (gap.node, gap.agent) if gap.agent is not None else (gap.node,)
        texts: dict[Lang, str] = {"en": gap.render("en"), "zh": gap.render("zh")}
        if gap.band is not None:
            texts = {lang: f"{texts[lang]}{_follows(gap.band, lang)}" for lang in texts}
        yield Finding(
            code=gap.kind,
            severity="error" if gap.blocking else "warning",
            where=f"assignment.{gap.node}",
            about=about,
            texts=texts,
        )
    for subtask in proposal.plan.subtasks:
        yield from _ungranted(subtask, proposal)


def _follows(band: Band, lang: Lang) -> str:
    if band is Band.BACKGROUND:
        return {
            "en": " Otherwise it is used on path 2, and declared.",
            "zh": "否则将在路径 2 中使用并须声明。",
        }[lang]
    return {
        "en": " Otherwise the sub-task is expected to stop for lack of it.",
        "zh": "否则预计该子任务会因缺少它而受阻。",
    }[lang]


def _ungranted(subtask: SubTask, proposal: Proposal) -> Iterator[Finding]:
    """What an agent has among its tools and still may not call."""
    assigned = proposal.assignment.get(subtask.id)
    if assigned is None:
        return
    granted = proposal.grants.get(assigned, ())
    for tool in tools_of(subtask.operation):
        if tool not in granted:
            yield error(
                "tool_not_granted",
                f"grants.{assigned}",
                {
                    "en": f"sub-task {subtask.id!r} needs the tool {tool!r}, which agent {assigned!r} may not call. "
                    "Add it to the agent's grants, or choose another agent.",
                    "zh": f"子任务 {subtask.id!r} 需要工具 {tool!r}，而 agent {assigned!r} 无权调用。"
                    "请在 grants 中授予，或换一个 agent。",
                },
                subtask.id,
                assigned,
            )


def _envelope_findings(proposal: Proposal, registry: DomainRegistry) -> Iterator[Finding]:
    envelope = proposal.envelope
    yield from _unknown_agents(proposal, "envelope.ceilings", envelope.ceilings)
    yield from _unknown_agents(proposal, "thresholds.agents", proposal.agent_thresholds)
    for agent, values in envelope.ceilings.items():
        for domain, m100 in values.items():
            where = f"envelope.ceilings.{agent}.{domain}"
            problem = _domain_problem(domain, registry)
            if problem is not None:
                yield error("unknown_domain", where, problem, agent)
            if not MASK_MIN <= m100 <= MASK_MAX:
                yield error(
                    "ceiling_out_of_range",
                    where,
                    {
                        "en": f"got {m100} hundredths; accepted: -1.00 to 1.00.",
                        "zh": f"得到 {m100}（百分之一）；可接受：-1.00 到 1.00。",
                    },
                    agent,
                )


def _grant_findings(proposal: Proposal) -> Iterator[Finding]:
    yield from _unknown_agents(proposal, "grants", proposal.grants)
    tools_by_agent = {agent.id: agent.tools for agent in proposal.roster.agents}
    # A model calls whatever it is granted; deterministic code calls the tools of its operations.
    thinking = {agent.id for agent in proposal.roster.agents if agent.model_policy.kind == "model"}
    for agent, tools in proposal.grants.items():
        for tool in dict.fromkeys(tools):
            if tool not in _SHIPPED_TOOLS:
                yield warning(
                    "unknown_tool",
                    f"grants.{agent}",
                    {
                        "en": f"tool {tool!r} does not ship with the product (it has: {_names(_SHIPPED_TOOLS)}); a "
                        "call of it is refused unless it is installed. Correct the name if it is a slip.",
                        "zh": f"工具 {tool!r} 不是产品自带的（自带：{_names(_SHIPPED_TOOLS)}）；未安装时调用会被拒绝。"
                        "如系笔误，请改正。",
                    },
                    agent,
                )
            elif agent in tools_by_agent and tool not in tools_by_agent[agent] and agent not in thinking:
                yield warning(
                    "grant_unused",
                    f"grants.{agent}",
                    {
                        "en": f"agent {agent!r} may call {tool!r}, which is not among its tools. Take it out if it is "
                        "not meant.",
                        "zh": f"agent {agent!r} 可调用 {tool!r}，但其 tools 中没有它。如非本意，请去掉。",
                    },
                    agent,
                )


def _unknown_agents(proposal: Proposal, where: str, named: Iterable[str]) -> Iterator[Finding]:
    known = {agent.id for agent in proposal.roster.agents}
    for agent in named:
        if agent not in known:
            yield error(
                "unknown_agent",
                f"{where}.{agent}",
                {
                    "en": f"{agent!r} is no agent of the roster (it has: {_names(known)}). Take the line out or "
                    "correct the id.",
                    "zh": f"名单中没有 agent {agent!r}（现有：{_names(known)}）。请删除该行或改正 id。",
                },
                agent,
            )


def _domain_problem(domain: str, registry: DomainRegistry) -> Mapping[Lang, str] | None:
    if domain not in registry:
        return _texts(UnknownDomain(domain, registry.close_matches(domain)))
    if registry.is_leaf(domain):
        return None
    leaves = _names(registry.leaves_under(DomainId(domain)))
    return {
        "en": f"{domain!r} is a group of domains; accepted: one or more of {leaves}.",
        "zh": f"{domain!r} 是一组知识域；可接受：{leaves} 中的一个或多个。",
    }


def _texts(error: UnknownDomain) -> Mapping[Lang, str]:
    return {"en": error.message("en"), "zh": error.message("zh")}


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "-"
