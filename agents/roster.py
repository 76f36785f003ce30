"""The agents of a proposal and who works on what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agents.spec import AgentId, AgentSpec
from graphs.plan import NodeId


class UnknownAgent(LookupError):
    """An agent id that the roster does not hold."""

    def __init__(self, agent: str, known: tuple[str, ...]) -> None:
        self.agent = agent
        super().__init__(f"no agent {agent!r} in the roster; known agents: {', '.join(known) or 'none'}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """The agents, in a stable order."""

    agents: tuple[AgentSpec, ...]

    def get(self, agent: str) -> AgentSpec:
        """Return the agent with this id; raises `UnknownAgent`."""
        for spec in self.agents:
            if spec.id == agent:
                return spec
        raise UnknownAgent(agent, tuple(spec.id for spec in self.agents))

    def with_agent(self, spec: AgentSpec) -> Roster:
        """Return the roster with `spec` in the place of the agent of the same id, or appended."""
        if any(known.id == spec.id for known in self.agents):
            return replace(self, agents=tuple(spec if a.id == spec.id else a for a in self.agents))
        return replace(self, agents=(*self.agents, spec))


Assignment = Mapping[NodeId, AgentId]
"""Who works on each sub-task."""
