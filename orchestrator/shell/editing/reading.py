"""Read the sections of an edited document that stand for themselves: goal, contract, thresholds, envelope, grants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeVar, cast, get_args

from agents.roster import Assignment
from agents.spec import AgentId
from graphs.contract import (
    FORBIDDEN_DOMAIN_PREFIX,
    Criterion,
    CriterionKind,
    Goal,
    Lang,
    Limits,
    TaskContract,
)
from graphs.plan import NodeId
from masks.bands import Thresholds, parse_mask_value
from masks.domains import DomainId, DomainRegistry
from masks.errors import MaskValueError, ThresholdError, UnknownDomain
from masks.language import LANGS
from orchestrator.core.proposal import Envelope, Proposal
from orchestrator.shell.editing.yaml_tree import Item

T = TypeVar("T")

_CRITERION: Final = ("id", "text", "kind", "core", "question", "field")
_CONTRACT: Final = ("acceptance", "allow_unresolved", "forbidden", "delta_max", "limits")
_WHOLE_LIMITS: Final = frozenset(spec.name for spec in fields(Limits) if isinstance(spec.default, int))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadThresholds:
    """The thresholds of a proposal and the overrides of single agents."""

    every: Thresholds
    agents: Mapping[AgentId, Thresholds]


def read_goal(item: Item) -> Goal | None:
    """Return the goal as written; `None` if a part of it can't be read."""
    found = item.fields(("text", "lang", "sources"), required=("text", "lang", "sources"))
    if len(found) < len(("text", "lang", "sources")):
        return None
    return Goal(
        text=found["text"].text(""),
        lang=cast(Lang, found["lang"].choice(LANGS, "en")),
        sources=found["sources"].texts(),
    )


def read_contract(item: Item | None, base: TaskContract, registry: DomainRegistry) -> TaskContract:
    """Return the contract with what may be edited; kind, inputs, outputs and approvals stay."""
    if item is None:
        return base
    found = item.fields(_CONTRACT, required=_CONTRACT)
    contract = base
    if "acceptance" in found:
        contract = replace(contract, acceptance=tuple(_criterion(one) for one in found["acceptance"].items()))
    if "allow_unresolved" in found:
        contract = replace(contract, allow_unresolved=found["allow_unresolved"].flag(base.allow_unresolved))
    if "forbidden" in found:
        contract = replace(contract, forbidden=_forbidden(found["forbidden"], base, registry))
    if "delta_max" in found:
        contract = replace(contract, delta_max=found["delta_max"].number(base.delta_max))
    if "limits" in found:
        contract = replace(contract, limits=_limits(found["limits"]))
    return contract


def read_thresholds(item: Item | None, base: Proposal) -> ReadThresholds:
    """Return the thresholds in hundredths."""
    if item is None:
        return ReadThresholds(every=base.thresholds, agents=base.agent_thresholds)
    found = item.fields(("main", "background", "agents"), required=("main", "background"))
    every = _pair(item, found, base.thresholds)
    agents: dict[AgentId, Thresholds] = {}
    if "agents" in found:
        for agent, own in found["agents"].entries().items():
            agents[AgentId(agent)] = _pair(
                own, own.fields(("main", "background"), required=("main", "background")), every
            )
    return ReadThresholds(every=every, agents=agents)


def read_assignment(item: Item | None, base: Assignment) -> Assignment:
    """Return who works on what, as written; whether they exist is for the checks."""
    if item is None:
        return base
    return {NodeId(node): AgentId(agent.text("")) for node, agent in item.entries().items()}


def read_envelope(item: Item | None, base: Envelope, registry: DomainRegistry) -> Envelope:
    """Return the envelope; what is left out takes its default."""
    if item is None:
        return base
    found = item.fields(("ceilings", "reassign"))
    envelope = Envelope(resplit_factor=base.resplit_factor)
    if "ceilings" in found:
        ceilings = {
            AgentId(agent): read_by_domain(values, registry, read_mask_value)
            for agent, values in found["ceilings"].entries().items()
        }
        envelope = replace(envelope, ceilings=ceilings)
    if "reassign" in found:
        envelope = replace(envelope, reassign=found["reassign"].flag(base.reassign))
    return envelope


def read_grants(
    item: Item | None, base: Mapping[AgentId, tuple[str, ...]]
) -> Mapping[AgentId, tuple[str, ...]]:
    """Return the tools that each agent may call, as written."""
    if item is None:
        return base
    return {AgentId(agent): tools.texts() for agent, tools in item.entries().items()}


def read_mask_value(item: Item) -> int | None:
    """Return a mask value in hundredths; `None`, with a problem, for anything that is none."""
    typed = item.raw()
    if typed is None:
        item.refuse("-1.00 to 1.00 in steps of 0.01", "-1.00 到 1.00，步长 0.01")
        return None
    try:
        return parse_mask_value(typed)
    except MaskValueError as error:
        item.problem(en=error.message("en"), zh=error.message("zh"))
        return None


def resolve_domain(name: str, item: Item, registry: DomainRegistry) -> DomainId | None:
    """Return the id that `name` (an id, a name or an alias) stands for; `None`, with a problem, for none."""
    try:
        return registry.resolve(name)
    except UnknownDomain as error:
        item.problem(en=error.message("en"), zh=error.message("zh"))
        return None


def read_by_domain(
    item: Item, registry: DomainRegistry, read: Callable[[Item], T | None]
) -> Mapping[DomainId, T]:
    """Return a mapping from domains, each value as `read` gives it; two names of one domain are a problem.

    What can't be read, key or value, is left out.
    """
    found: dict[DomainId, T] = {}
    for name, value in item.entries().items():
        domain, content = resolve_domain(name, value, registry), read(value)
        if domain is None or content is None:
            continue
        if domain in found:
            value.problem(
                en=f"{name!r} and another key both name the domain {domain!r}. Keep one.",
                zh=f"{name!r} 与另一个键都指知识域 {domain!r}。请只保留一个。",
            )
            continue
        found[domain] = content
    return found


def _criterion(item: Item) -> Criterion:
    found = item.fields(_CRITERION, required=("id", "text", "kind"))
    return Criterion(
        id=found["id"].text("") if "id" in found else "",
        text=found["text"].text("") if "text" in found else "",
        kind=cast(CriterionKind, found["kind"].choice(get_args(CriterionKind), "custom"))
        if "kind" in found
        else "custom",
        core=found["core"].flag(True) if "core" in found else True,
        question=found["question"].optional_text() if "question" in found else None,
        field=found["field"].optional_text() if "field" in found else None,
    )


def _forbidden(item: Item, base: TaskContract, registry: DomainRegistry) -> tuple[str, ...]:
    """The entries as written; a domain under any of its names becomes its id, so that it is found everywhere."""
    entries: list[str] = []
    for one in item.items():
        entry = one.text("")
        if entry.startswith(FORBIDDEN_DOMAIN_PREFIX) and entry not in base.forbidden:
            domain = resolve_domain(entry.removeprefix(FORBIDDEN_DOMAIN_PREFIX).strip(), one, registry)
            entry = f"{FORBIDDEN_DOMAIN_PREFIX}{domain}" if domain is not None else entry
        entries.append(entry)
    return tuple(entries)


def _limits(item: Item) -> Limits:
    found = item.fields(tuple(spec.name for spec in fields(Limits)))
    changes: dict[str, Any] = {}
    for name, value in found.items():
        default = getattr(Limits(), name)
        changes[name] = value.whole(default) if name in _WHOLE_LIMITS else value.number(default)
    return Limits(**changes)


def _pair(item: Item, found: Mapping[str, Item], fallback: Thresholds) -> Thresholds:
    values = {name: read_mask_value(found[name]) for name in ("main", "background") if name in found}
    main, background = values.get("main"), values.get("background")
    if main is None or background is None:
        return fallback
    try:
        return Thresholds(main=main, background=background)
    except ThresholdError:
        item.problem(
            en=f"got main {found['main'].raw()} and background {found['background'].raw()}; accepted: "
            "0.00 <= background < main < 1.00, in steps of 0.01. The default is 0.70 and 0.30.",
            zh=f"得到 main {found['main'].raw()}、background {found['background'].raw()}；可接受："
            "0.00 <= background < main < 1.00，步长 0.01。默认为 0.70 与 0.30。",
        )
        return fallback
