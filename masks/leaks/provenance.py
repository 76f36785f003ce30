"""Say what a leak is and where its text came from."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from masks.bands import Band
from masks.domains import DomainId

LeakOrigin: TypeAlias = Literal["source", "parametric"]
"""source: the agent fetched it, so it can be traced; parametric: found in no input and no source, so it
came out of the model's weights and the claim is at best uncertain (semantics 2)."""

GenerationPath: TypeAlias = Literal[1, 2]
"""1: MAIN only; 2: MAIN and BACKGROUND, every leak marked (semantics 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """Hold one span of an agent's output that uses a domain outside the agent's MAIN band."""

    agent: str
    domain: DomainId
    m100: int
    """The agent's mask value for the domain when the span was written, in hundredths."""
    band: Band
    origin: LeakOrigin
    declared: bool
    """The agent marked it."""
    detected: bool
    """The detector found it, whatever the agent declared."""
    start: int
    """First character in the delivered text, markers removed."""
    end: int
    """One past the last character."""
    text: str
    """The span itself, equal to `output[start:end]`."""
    locator: str | None = None
    """Where the span stands in its source; None for a parametric leak."""
    path: GenerationPath = 1

    @property
    def strength(self) -> int:
        """Return the strength a marker states: the mask value in hundredths (specification 3.3)."""
        return self.m100
