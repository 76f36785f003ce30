"""Open the run store and the workshop, each only when a command needs it.

This, `commands` and `bodies.starting` are the only places that import our own modules inside functions: `maskgrad
--help` and the completion of a shell must not wait for pydantic, numpy, LangGraph and an embedder that they don't use.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.memory.ports import LongTermMemory
    from masks.domains import DomainRegistry
    from orchestrator.desk import Desk
    from orchestrator.shell.settings import Settings
    from orchestrator.shell.store.ports import RunStore
    from orchestrator.shell.toolbox import Toolbox
    from orchestrator.shell.wiring import Workshop


def open_store(settings: Settings) -> RunStore:
    """Return the run store of `settings`; raises `StoreUnavailable` when it can't be opened."""
    from orchestrator.shell.store.sqlite_store import SqliteStore

    return SqliteStore(settings.store_path, max_bytes=settings.store_bytes)


def open_memory(settings: Settings) -> LongTermMemory:
    """Return the long-term memory of `settings`; its file is made with the first entry."""
    from orchestrator.shell.clock import SystemClock
    from orchestrator.shell.memory_file import MemoryFile

    return MemoryFile(settings.memory_path, SystemClock().now)


def open_toolbox(settings: Settings) -> Toolbox:
    """Return the tools that the user's file in the data directory allows; it is read at the first use."""
    from orchestrator.shell.toolbox import Toolbox

    return Toolbox(settings.home, os.environ)


def open_desk(settings: Settings, store: RunStore) -> Desk:
    """Return a desk on `store`, for deciding on runs without drafting or executing any."""
    from orchestrator.desk import OpenDesk
    from orchestrator.shell.clock import SystemClock

    return OpenDesk(store=store, clock=SystemClock(), registry=open_registry(settings))


def open_shop(settings: Settings, store: RunStore) -> Workshop:
    """Return a workshop on `store`."""
    from orchestrator.shell.chat_models import ChatModels
    from orchestrator.shell.wiring import Workshop

    chats = ChatModels(os.environ, settings.home, settings.model_timeout_s)
    return Workshop(
        settings=settings,
        store=store,
        registry=open_registry(settings),
        memory=open_memory(settings),
        chats=chats,
        chat_for=chats.of_agent,
        toolbox=open_toolbox(settings),
    )


def open_registry(settings: Settings) -> DomainRegistry:
    """Return the knowledge domains of the product and of the user's file; raises `InvalidDomainsFile`."""
    from orchestrator.shell.domains_file import registry_in

    return registry_in(settings.home)
