"""Write each section of a proposal as YAML for people; `reading` and `reading_plan` are the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from agents.spec import AgentSpec
from graphs.contract import Criterion, Lang, Limits, PortSpec
from graphs.plan import Dependency, NodeId, Plan, SubTask, structural_boundary
from masks.bands import Band, Suppression, Thresholds, band, format_mask_value, suppression
from masks.design import render_origin
from masks.domains import DomainId, DomainRegistry
from orchestrator.core.proposal import Proposal
from orchestrator.shell.editing.wording import BANDS, COMMENTS, SUPPRESSIONS
from orchestrator.shell.editing.yaml_text import Page, Value, Verbatim


def write_goal(page: Page, proposal: Proposal, lang: Lang) -> None:
    """Write the goal; it is there to be read."""
    page.comment(COMMENTS["goal"][lang])
    with page.under("goal"):
        page.put("text", proposal.goal.text)
        page.put("lang", proposal.goal.lang)
        page.put("sources", list(proposal.goal.sources))


def write_contract(page: Page, proposal: Proposal, lang: Lang) -> None:
    """Write what a user may change of the task contract."""
    contract = proposal.contract
    page.comment(COMMENTS["contract"][lang])
    with page.under("contract"):
        page.comment(*COMMENTS["acceptance"][lang].splitlines())
        page.put("acceptance", [_criterion(criterion) for criterion in contract.acceptance])
        page.put("allow_unresolved", contract.allow_unresolved, COMMENTS["allow_unresolved"][lang])
        page.comment(COMMENTS["forbidden"][lang])
        page.put("forbidden", list(contract.forbidden))
        page.put("delta_max", contract.delta_max, COMMENTS["delta_max"][lang])
        with page.under("limits"):
            for spec in fields(Limits):
                page.put(spec.name, getattr(contract.limits, spec.name))


def write_thresholds(page: Page, proposal: Proposal, lang: Lang) -> None:
    """Write the thresholds as people write mask values, and the overrides of single agents."""
    page.comment(*COMMENTS["thresholds"][lang].splitlines())
    with page.under("thresholds"):
        for key, value in _thresholds(proposal.thresholds).items():
            page.put(key, value)
        overrides: dict[str, Value] = {a: _thresholds(t) for a, t in proposal.agent_thresholds.items()}
        if overrides:
            page.put("agents", overrides)


def write_plan(page: Page, proposal: Proposal, lang: Lang) -> None:
    """Write the sub-tasks and how they feed each other."""
    plan = proposal.plan
    page.comment(*COMMENTS["plan"][lang].splitlines())
    with page.under("plan"):
        with page.under("subtasks"):
            for number, subtask in enumerate(plan.subtasks):
                if number:
                    page.blank()
                _write_subtask(page, subtask, plan)
        page.comment(COMMENTS["dependencies"][lang])
        page.put("dependencies", [_edge(edge) for edge in plan.dependencies])


def write_roster(page: Page, proposal: Proposal, registry: DomainRegistry, lang: Lang) -> None:
    """Write the agents with their masks; each value says its band and where it comes from."""
    page.comment(*COMMENTS["roster"][lang].splitlines())
    with page.under("roster"):
        for number, agent in enumerate(proposal.roster.agents):
            if number:
                page.blank()
            _write_agent(page, agent, proposal, registry, lang)


def write_assignment(page: Page, proposal: Proposal, lang: Lang) -> None:
    """Write who works on what, in the plan's order, with who else could."""
    page.comment(COMMENTS["assignment"][lang])
    nodes = dict.fromkeys([s.id for s in proposal.plan.subtasks if s.id in proposal.assignment])
    nodes |= dict.fromkeys(proposal.assignment)
    with page.under("assignment"):
        for node in nodes:
            page.put(node, proposal.assignment[node], _others(proposal, node, lang))


def write_envelope(page: Page, proposal: Proposal, lang: Lang) -> None:
    """Write what repairs may do without asking."""
    envelope = proposal.envelope
    page.comment(COMMENTS["envelope"][lang])
    with page.under("envelope"):
        ceilings: dict[str, Value] = {
            agent: {domain: Verbatim(format_mask_value(m100)) for domain, m100 in values.items()}
            for agent, values in envelope.ceilings.items()
        }
        page.comment(COMMENTS["ceilings"][lang])
        page.put("ceilings", ceilings)
        page.put("reassign", envelope.reassign, COMMENTS["reassign"][lang])


def write_grants(page: Page, proposal: Proposal, lang: Lang) -> None:
    """Write which tools each agent may call."""
    page.comment(COMMENTS["grants"][lang])
    with page.under("grants"):
        for agent, tools in proposal.grants.items():
            page.put_flow(agent, tools)


def _write_subtask(page: Page, subtask: SubTask, plan: Plan) -> None:
    with page.under(subtask.id):
        page.put("title", subtask.title)
        page.put("kind", subtask.kind)
        page.put("operation", subtask.operation)
        if subtask.boundary != boundary_in(subtask.id, plan.dependencies):
            page.put("boundary", subtask.boundary)
        if subtask.instruction:
            page.put("instruction", subtask.instruction)
        if subtask.params:
            page.put("params", subtask.params)
        if subtask.required_domains:
            page.put("required_domains", subtask.required_domains)
        if subtask.acceptance:
            page.put_flow("acceptance", subtask.acceptance)
        for side, ports in (("inputs", subtask.inputs), ("outputs", subtask.outputs)):
            if ports:
                page.items(side, [_port(port) for port in ports])
        if subtask.side_effects != "none":
            page.put("side_effects", subtask.side_effects)
        if subtask.failure_semantics != "required":
            page.put("failure_semantics", subtask.failure_semantics)
        page.put("estimate", subtask.estimate)


def _write_agent(
    page: Page, agent: AgentSpec, proposal: Proposal, registry: DomainRegistry, lang: Lang
) -> None:
    with page.under(agent.id):
        page.put("responsibility", agent.responsibility)
        page.put("role", agent.role)
        page.put_flow("operations", agent.operations)
        page.put_flow("tools", agent.tools)
        for side, ports in (("inputs", agent.inputs), ("outputs", agent.outputs)):
            if ports:
                page.items(side, [_port(port) for port in ports])
        policy: dict[str, Value] = {"kind": agent.model_policy.kind}
        if agent.model_policy.model is not None:
            policy["model"] = agent.model_policy.model
        if agent.model_policy.base_url is not None:
            policy["base_url"] = agent.model_policy.base_url
        page.put_flow("model_policy", policy)
        page.put("max_concurrency", agent.max_concurrency)
        with page.under("mask"):
            for domain, m100 in agent.mask.values:
                note = mask_note(proposal, agent, domain, m100, registry, lang)
                page.put(domain, Verbatim(format_mask_value(m100)), note)


def mask_note(
    proposal: Proposal,
    agent: AgentSpec,
    domain: DomainId,
    m100: int,
    registry: DomainRegistry,
    lang: Lang,
) -> str:
    """Return what stands behind one mask value: its band, the domain's name, its origin."""
    parts = [band_name(m100, proposal.thresholds_of(agent.id), lang)]
    if domain in registry:
        parts.append(registry.get(domain).names[lang])
    origin = proposal.mask_origins.get(agent.id, {}).get(domain)
    if origin is not None:
        parts.append(render_origin(origin, lang))
    return ("; " if lang == "en" else "；").join(parts)


def band_name(m100: int, thresholds: Thresholds, lang: Lang) -> str:
    """Return the band of a value in words, for a silent one with its shade."""
    shade = suppression(m100, thresholds)
    if shade is None or shade is Suppression.DORMANT:
        return BANDS[band(m100, thresholds)][lang]
    if shade is Suppression.SUPPRESSED:
        return SUPPRESSIONS[shade][lang]
    mark = ", " if lang == "en" else "、"
    return f"{BANDS[Band.SILENT][lang]}{mark}{SUPPRESSIONS[shade][lang]}"


def boundary_in(node: NodeId, dependencies: Sequence[Dependency]) -> str:
    """Return the boundary that follows from the edges: a sub-task that says nothing has this one."""
    return structural_boundary(
        has_predecessors=any(edge.target == node for edge in dependencies),
        has_successors=any(edge.source == node for edge in dependencies),
    )


def _thresholds(thresholds: Thresholds) -> dict[str, Value]:
    return {
        "main": Verbatim(format_mask_value(thresholds.main)),
        "background": Verbatim(format_mask_value(thresholds.background)),
    }


def _criterion(criterion: Criterion) -> Value:
    document: dict[str, Value] = {"id": criterion.id, "text": criterion.text, "kind": criterion.kind}
    if not criterion.core:
        document["core"] = criterion.core
    if criterion.question is not None:
        document["question"] = criterion.question
    if criterion.field is not None:
        document["field"] = criterion.field
    return document


def _port(port: PortSpec) -> Value:
    document: dict[str, Value] = {"name": port.name, "type": port.type}
    if port.description:
        document["description"] = port.description
    if not port.required:
        document["required"] = port.required
    return document


def _edge(edge: Dependency) -> Value:
    """`n1.claims -> n3.claims`, or the four parts where an arrow in a name would make that ambiguous."""
    arrow = f"{edge.source}.{edge.output} -> {edge.target}.{edge.input}"
    if edge_of_arrow(arrow) == edge:
        # Ids and port names need no quotes, and an arrow has none.
        return Verbatim(arrow) if arrow.replace(" -> ", "").replace(".", "").isidentifier() else arrow
    return {"source": edge.source, "output": edge.output, "target": edge.target, "input": edge.input}


def edge_of_arrow(text: str) -> Dependency | None:
    """Return the edge that `source.output -> target.input` says; `None` for a text of another form."""
    left, arrow, right = text.partition("->")
    source, dot, output = left.strip().partition(".")
    target, other_dot, taken = right.strip().partition(".")
    if not (arrow and dot and other_dot and source and output and target and taken) or "->" in right:
        return None
    return Dependency(source=NodeId(source), output=output, target=NodeId(target), input=taken)


def _others(proposal: Proposal, node: NodeId, lang: Lang) -> str:
    assigned = proposal.assignment[node]
    others = [c for c in proposal.candidates.get(node, ()) if c.agent != assigned]
    if not others:
        return ""
    shown = ", ".join(f"{candidate.agent} {candidate.fit:.2f}" for candidate in others)
    return f"or: {shown}" if lang == "en" else f"或：{shown}"
