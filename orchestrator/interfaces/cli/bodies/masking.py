"""Look at the masks of a run, and set one value while it is in review."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from agents.spec import AgentSpec
from masks.bands import band, format_mask_value, parse_mask_value
from masks.design import render_origin
from masks.gradient import set_value
from orchestrator.core.proposal import Proposal, base_agent
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.editing import save_edit, under_review
from orchestrator.interfaces.cli.bodies.looking import proposal_of, run_state
from orchestrator.interfaces.cli.problems import NotFound
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.editing.carrying import carry_candidates, carry_origins
from orchestrator.shell.editing.wording import BANDS

AUTHOR: Final = "user"
"""Who changed a mask value, in its history."""


def masks_show(session: Session, run: str) -> Result:
    """Return the masks of the agents, repairs included: every domain that is not 0, by band, with its origin."""
    state = run_state(session, run)
    proposal = proposal_of(state)
    agents = _agents(state, proposal)
    lines, documents = [], []
    for agent in agents:
        lines += [*_lines(session, proposal, agent), ""]
        documents.append(_document(proposal, agent))
    return Result(data={"run": state.run, "agents": documents}, text="\n".join(lines))


def masks_set(session: Session, run: str, agent: str, domain: str, value: str, *, dry_run: bool) -> Result:
    """Set one value and save the proposal as its next revision, with changes and consequences shown.

    Raises `WrongState` outside of a review, `NotFound` for an agent, `UnknownDomain`, `MaskValueError`, and
    `InvalidProposal` when the proposal would no longer be sound.
    """
    state = under_review(session, run)
    base, registry = proposal_of(state), session.registry
    spec = _agent(state, base, agent)
    leaf, m100 = registry.resolve(domain), parse_mask_value(value)
    if all(spec.mask.value(one) == m100 for one in registry.leaves_under(leaf)):
        return save_edit(session, state, base, dry_run=dry_run)
    reason = session.pick("set in the review", "审核时设定")
    mask = set_value(spec.mask, leaf, m100, registry=registry, author=AUTHOR, reason=reason)
    edited = replace(base, roster=base.roster.with_agent(replace(spec, mask=mask)))
    edited = replace(
        edited,
        mask_origins=carry_origins(base, edited, registry),
        candidates=carry_candidates(base, edited),
    )
    return save_edit(session, state, edited, dry_run=dry_run)


def _agents(state: RunState, proposal: Proposal) -> tuple[AgentSpec, ...]:
    """The roster of the proposal, or what repairs made of it."""
    if not len(state.agents):
        return proposal.roster.agents
    return tuple(state.agents[name] for name in sorted(state.agents.keys()))


def _agent(state: RunState, proposal: Proposal, name: str) -> AgentSpec:
    found = next((spec for spec in proposal.roster.agents if spec.id == name), None)
    if found is None:
        known = ", ".join(spec.id for spec in proposal.roster.agents)
        raise NotFound(
            "unknown_agent",
            en=f"run {state.run!r} has no agent {name!r}; accepted: {known}",
            zh=f"运行 {state.run!r} 没有 agent {name!r}；可接受：{known}",
        )
    return found


def _lines(session: Session, proposal: Proposal, agent: AgentSpec) -> list[str]:
    lang, registry = session.lang, session.registry
    thresholds = proposal.thresholds_of(agent.id)
    main, background = format_mask_value(thresholds.main), format_mask_value(thresholds.background)
    said = (
        f"main above {main}, background above {background}",
        f"高于 {main} 为主激活域，高于 {background} 为背景域",
    )
    lines = [f"{agent.id}  {one_line(agent.responsibility)}  ({session.pick(*said)})"]
    for domain, m100 in sorted(agent.mask.values, key=lambda entry: (-entry[1], entry[0])):
        words = BANDS[band(m100, thresholds)][lang]
        origin = proposal.mask_origins.get(base_agent(agent.id), {}).get(domain)
        why = render_origin(origin, lang) if origin is not None else ""
        name = registry.get(domain).names[lang] if domain in registry else ""
        lines.append(f"  {format_mask_value(m100):>5}  {words:<10}  {domain:<20} {name}  {why}".rstrip())
    lines.append(session.pick("  every other domain 0.00, silent", "  其余知识域为 0.00，静默域"))
    return lines


def _document(proposal: Proposal, agent: AgentSpec) -> dict[str, object]:
    thresholds = proposal.thresholds_of(agent.id)
    origins = proposal.mask_origins.get(base_agent(agent.id), {})
    values = [
        {
            "domain": domain,
            "value": m100 / 100,
            "m100": m100,
            "band": band(m100, thresholds).value,
            "origin": origins[domain].kind.value if domain in origins else None,
        }
        for domain, m100 in agent.mask.values
    ]
    return {
        "agent": agent.id,
        "role": agent.role,
        "version": agent.mask.version,
        "thresholds": {"main": thresholds.main / 100, "background": thresholds.background / 100},
        "values": values,
    }
