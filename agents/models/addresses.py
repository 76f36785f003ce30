"""Where the providers' own servers are, and whether a model is asked somewhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from agents.spec import ModelPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnServer:
    """The server of a provider."""

    url: str
    variable: str | None = None
    """Environment variable by which the user sends everything of the provider elsewhere, key included."""

    def named_by(self, environ: Mapping[str, str]) -> str:
        """Return the address that the user's variable holds, empty for none; Ollama's may be host and port alone."""
        said = environ.get(self.variable, "") if self.variable else ""
        return f"http://{said}" if said and self.variable == "OLLAMA_HOST" and "://" not in said else said


OWN_SERVERS: Final[Mapping[str, OwnServer]] = {
    "openai": OwnServer(url="https://api.openai.com/v1", variable="OPENAI_BASE_URL"),
    "anthropic": OwnServer(url="https://api.anthropic.com", variable="ANTHROPIC_BASE_URL"),
    "google_genai": OwnServer(url="https://generativelanguage.googleapis.com"),
    "ollama": OwnServer(url="http://127.0.0.1:11434", variable="OLLAMA_HOST"),
    "deepseek": OwnServer(url="https://api.deepseek.com/v1", variable="DEEPSEEK_API_BASE"),
}


def host_of(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of `url`: what decides whose server it is, and who gets a key."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def is_elsewhere(policy: ModelPolicy, environ: Mapping[str, str]) -> bool:
    """Tell whether the model of `policy` is asked at somebody else's server than its provider's.

    >>> is_elsewhere(ModelPolicy(kind="model", model="openai:x", base_url="http://127.0.0.1:8080/v1"), {})
    True
    """
    own = OWN_SERVERS.get(policy.provider or "")
    url = policy.base_url or (own.named_by(environ) if own is not None else "")
    return bool(url) and (own is None or host_of(url) != host_of(own.url))
