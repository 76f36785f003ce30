"""Read the agents of an edited document; changed mask values become recorded operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast, get_args

from agents.roster import Roster
from agents.spec import AgentId, AgentRole, AgentSpec, ModelPolicy
from graphs.contract import Lang
from masks.domains import DomainId, DomainRegistry
from masks.gradient import set_leaf
from masks.vector import Mask, new_mask
from orchestrator.core.proposal import Proposal
from orchestrator.shell.editing.reading import read_by_domain, read_mask_value
from orchestrator.shell.editing.reading_plan import read_ports
from orchestrator.shell.editing.yaml_tree import Item

USER: Final = "user"
"""The author of mask operations that an edit makes."""

_AGENT: Final = (
    "responsibility",
    "role",
    "operations",
    "tools",
    "inputs",
    "outputs",
    "model_policy",
    "max_concurrency",
    "mask",
)
_REQUIRED: Final = ("responsibility", "role", "operations", "tools", "mask")
_REASON: Final[Mapping[Lang, str]] = {"en": "set in the review", "zh": "审核时设定"}


def read_roster(item: Item | None, base: Proposal, registry: DomainRegistry) -> Roster:
    """Return the agents in the order in which they are written."""
    if item is None:
        return base.roster
    known = {agent.id: agent for agent in base.roster.agents}
    return Roster(
        agents=tuple(
            _agent(AgentId(name), one, known.get(AgentId(name)), registry, base.goal.lang)
            for name, one in item.entries().items()
        )
    )


def _agent(
    name: AgentId, item: Item, before: AgentSpec | None, registry: DomainRegistry, lang: Lang
) -> AgentSpec:
    found = item.fields(_AGENT, required=_REQUIRED)
    agent = AgentSpec(
        id=name,
        responsibility=found["responsibility"].text("") if "responsibility" in found else "",
        role=cast(AgentRole, found["role"].choice(get_args(AgentRole), "generate"))
        if "role" in found
        else "generate",
        operations=found["operations"].texts() if "operations" in found else (),
        tools=found["tools"].texts() if "tools" in found else (),
        mask=before.mask if before is not None else new_mask(name),
    )
    if "mask" in found:
        values = _mask_values(found["mask"], registry)
        agent = replace(agent, mask=_changed(agent.mask, values, before is None, lang))
    if "inputs" in found:
        agent = replace(agent, inputs=read_ports(found["inputs"]))
    if "outputs" in found:
        agent = replace(agent, outputs=read_ports(found["outputs"]))
    if "model_policy" in found:
        agent = replace(agent, model_policy=_policy(found["model_policy"]))
    if "max_concurrency" in found:
        agent = replace(agent, max_concurrency=found["max_concurrency"].whole(agent.max_concurrency))
    return agent


def _policy(item: Item) -> ModelPolicy:
    found = item.fields(("kind", "model", "base_url"), required=("kind",))
    kinds = ("embedded", "model", "scripted")
    policy = ModelPolicy()
    if "kind" in found:
        match found["kind"].choice(kinds, "embedded"):
            case "model":
                policy = ModelPolicy(kind="model")
            case "scripted":
                policy = ModelPolicy(kind="scripted")
    if "model" in found:
        policy = replace(policy, model=found["model"].optional_text())
    if "base_url" in found:
        policy = replace(policy, base_url=found["base_url"].optional_text())
    return policy


def _mask_values(item: Item, registry: DomainRegistry) -> Mapping[DomainId, int]:
    """The value of every leaf that the document names; a leaf beats a group that it belongs to."""
    read = read_by_domain(item, registry, read_mask_value)
    values: dict[DomainId, int] = {}
    for domain in sorted(read, key=lambda domain: -len(registry.leaves_under(domain))):
        values.update(dict.fromkeys(registry.leaves_under(domain), read[domain]))
    return values


def _changed(mask: Mask, values: Mapping[DomainId, int], new: bool, lang: Lang) -> Mask:
    """The mask with `values`, zero elsewhere. A new agent's first values are its design, not a change."""
    if new:
        return new_mask(mask.agent, values)
    for leaf in sorted({domain for domain, _ in mask.values} | set(values)):
        wanted = values.get(leaf, 0)
        if mask.value(leaf) != wanted:
            mask = set_leaf(mask, leaf, wanted, author=USER, reason=_REASON[lang])
    return mask
