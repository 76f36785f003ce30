"""Complete ids on the command line from the store and the registry.

Whatever goes wrong here completes nothing and says nothing: a shell must not show a traceback on a tab.
"""

# ruff: noqa: PLC0415 - see `opening`

from __future__ import annotations

import os
from typing import Final

LIMIT: Final = 50
"""Runs that are offered, newest first."""


def complete_runs(incomplete: str) -> list[tuple[str, str]]:
    """Return the ids of runs that begin with `incomplete`, each with its goal."""
    from orchestrator.interfaces.cli.opening import open_store
    from orchestrator.shell.settings import settings_from
    from orchestrator.shell.store.errors import StoreError

    try:
        store = open_store(settings_from(os.environ))
        rows = store.runs(LIMIT)
    except (StoreError, ValueError, OSError):
        return []
    return [(row.id, " ".join(row.title.split())[:60]) for row in rows if row.id.startswith(incomplete)]


def complete_requests(incomplete: str) -> list[tuple[str, str]]:
    """Return the ids of open requests of the run that `incomplete` names, or of all runs."""
    from orchestrator.core.ids import RunId
    from orchestrator.interfaces.cli.opening import open_store
    from orchestrator.shell.runs import load
    from orchestrator.shell.settings import settings_from

    try:
        store = open_store(settings_from(os.environ))
        named = incomplete.partition(".")[0]
        states = [load(store, RunId(row.id)) for row in store.runs(LIMIT) if row.id.startswith(named)]
    except (LookupError, ValueError, OSError):
        return []
    found = [request for state in states for request in state.requests.values()]
    return [(r.id, r.node) for r in found if r.id.startswith(incomplete)]


def complete_domains(incomplete: str) -> list[tuple[str, str]]:
    """Return the ids of knowledge domains that begin with `incomplete`, each with its name."""
    from orchestrator.interfaces.cli.opening import open_registry
    from orchestrator.shell.settings import settings_from

    try:
        registry = open_registry(settings_from(os.environ))
    except (ValueError, OSError):
        return []
    return [(d.id, d.names["en"]) for d in registry.domains if d.id.startswith(incomplete)]


def complete_memories(incomplete: str) -> list[tuple[str, str]]:
    """Return the ids of memories that begin with `incomplete`, each with its text."""
    from orchestrator.interfaces.cli.opening import open_memory
    from orchestrator.shell.settings import settings_from
    from orchestrator.shell.store.errors import StoreError

    try:
        entries = open_memory(settings_from(os.environ)).entries()
    except (StoreError, ValueError, OSError):
        return []
    return [(m.id, m.text[:60]) for m in entries if m.id.startswith(incomplete)]


def complete_servers(incomplete: str) -> list[tuple[str, str]]:
    """Return the names of the configured MCP servers that begin with `incomplete`, each with how it is reached."""
    from orchestrator.interfaces.cli.opening import open_toolbox
    from orchestrator.shell.settings import settings_from

    try:
        servers = open_toolbox(settings_from(os.environ)).file.servers
    except (ValueError, OSError):
        return []
    return [(s.name, (s.url or s.command or "")[:60]) for s in servers if s.name.startswith(incomplete)]
