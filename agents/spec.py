"""An agent: its responsibility, its mask and what it may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NewType
from urllib.parse import urlsplit

from graphs.contract import PortSpec
from masks.vector import Mask

AgentId = NewType("AgentId", str)
"""Identifies an agent within a proposal, e.g. `A1`."""

Provider = NewType("Provider", str)
"""Identifies who serves chat models, e.g. `ollama`: all agents and runs of a process share what it can take."""

DEFAULT_MAX_CONCURRENCY = 2
"""Attempts that one agent runs at a time, where its spec says nothing (architecture 4)."""

AgentRole = Literal["generate", "verify"]
"""`generate`: works on sub-tasks; `verify`: checks what others produced, never its own."""


def is_server_address(url: str) -> bool:
    """Return whether `url` is an address of a model server: http or https, a host, and no user or password in it.

    >>> [is_server_address(url) for url in ("http://127.0.0.1:8091/v1", "127.0.0.1:8091", "https://me:key@host/v1")]
    [True, False, False]
    """
    try:
        parts = urlsplit(url)
        plain = parts.username is None and parts.password is None and parts.port != 0
    except ValueError:
        return False
    printable = url.isprintable() and " " not in url
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and plain and printable


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """What an agent thinks with."""

    kind: Literal["embedded", "model", "scripted"] = "embedded"
    """`embedded`: deterministic code and the embedder; `model`: a chat model; `scripted`: answers set by a test."""
    model: str | None = None
    """`provider:model`, for kind `model`."""
    base_url: str | None = None
    """Address of the server, for kind `model`; `None`: the provider's own."""

    @property
    def provider(self) -> Provider | None:
        """The provider of the chat model; `None` where no model outside is asked.

        >>> ModelPolicy(kind="model", model="ollama:qwen3").provider
        'ollama'
        """
        if self.kind != "model" or self.model is None:
            return None
        return Provider(self.model.partition(":")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """One agent of a roster."""

    id: AgentId
    responsibility: str
    """One sentence, in the goal's language."""
    role: AgentRole
    operations: tuple[str, ...]
    """The sub-task operations that it can perform (`research`, `compare`, `report`, …)."""
    mask: Mask
    inputs: tuple[PortSpec, ...] = ()
    outputs: tuple[PortSpec, ...] = ()
    tools: tuple[str, ...] = ()
    model_policy: ModelPolicy = field(default_factory=ModelPolicy)
    max_concurrency: int = DEFAULT_MAX_CONCURRENCY
