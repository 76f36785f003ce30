"""Which knowledge domains a proposed step requires: a model names them; registry, goal and notes decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.operations import OPERATIONS
from agents.planning.domains import MAX_DOMAINS_PER_NODE, DomainFinder
from agents.planning.model.steps import Step
from agents.planning.repairs import PlanRepair, repair
from masks.domains import DomainId
from masks.errors import UnknownDomain


@dataclass(slots=True, kw_only=True)
class RequiredDomains:
    """Resolves the domains of steps."""

    finder: DomainFinder
    found: list[PlanRepair] = field(default_factory=list)

    def of(self, step: Step, text: str) -> dict[str, float]:
        """Return what a step about `text` requires, with relevances in (0, 1].

        The domains of its words and of the notes that speak of them always count: an answer lies in their sections. A
        domain that the model names besides counts as much as the strongest of these, if it is a leaf that is not
        forbidden and of which the notes hold something; a parent stands for those of its leaves that the words speak
        for. At most `MAX_DOMAINS_PER_NODE`.
        """
        required = self.finder.of(text)
        for name in step.domains:
            for leaf in self._leaves(step, name, required):
                required[leaf] = 1.0
        ranked = sorted(required, key=lambda domain: (-required[domain], domain))
        return {domain: required[domain] for domain in ranked[:MAX_DOMAINS_PER_NODE]}

    def _leaves(self, step: Step, name: str, required: Mapping[str, float]) -> tuple[DomainId, ...]:
        if not OPERATIONS[step.operation].tools:
            return ()
        registry = self.finder.registry
        try:
            domain = registry.resolve(name)
        except UnknownDomain:
            self.found.append(repair("unknown_domain", id=step.id, domain=repr(name)))
            return ()
        leaves = registry.leaves_under(domain)
        if all(leaf in self.finder.forbidden for leaf in leaves):
            self.found.append(repair("forbidden_domain", id=step.id, domain=domain))
            return ()
        if not registry.is_leaf(domain):
            return tuple(leaf for leaf in leaves if leaf in required)
        held = self.finder.everywhere()
        if held and domain not in held:
            self.found.append(repair("domain_without_notes", id=step.id, domain=domain))
            return ()
        return (domain,)
