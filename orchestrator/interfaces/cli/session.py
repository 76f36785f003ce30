"""What a command body works with: its settings, its streams, the run store, and the workshop if it needs one.

Looking at a run needs the store only, deciding on it a desk; the workshop brings LangGraph and the embedder along and
is opened by the commands that draft or execute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from orchestrator.interfaces.cli.invocation import Invocation
from orchestrator.interfaces.cli.opening import (
    open_desk,
    open_memory,
    open_registry,
    open_shop,
    open_store,
    open_toolbox,
)
from orchestrator.interfaces.cli.problems import Interrupted, Lang, pick
from orchestrator.interfaces.cli.results import Result, json_line, write_result
from orchestrator.interfaces.cli.streams import Streams

if TYPE_CHECKING:
    from typing import Any

    from agents.memory.ports import LongTermMemory
    from masks.domains import DomainRegistry
    from orchestrator.desk import Desk
    from orchestrator.shell.settings import Settings
    from orchestrator.shell.store.ports import RunStore
    from orchestrator.shell.toolbox import Toolbox
    from orchestrator.shell.wiring import Workshop


class Session:
    """One command: made before the command line is parsed, closed when the process ends."""

    def __init__(
        self,
        invocation: Invocation,
        settings: Settings,
        streams: Streams,
        *,
        shop: Workshop | None = None,
    ) -> None:
        """Return a session; `shop` replaces the workshop and its store, for tests and embedding programs."""
        self.invocation = invocation
        self.settings = settings
        self.streams = streams
        self._shop = shop
        self._store: RunStore | None = shop.store if shop is not None else None
        self._given = shop is not None
        self._registry: DomainRegistry | None = None

    @property
    def lang(self) -> Lang:
        """The reader's language."""
        return self.settings.lang

    @property
    def registry(self) -> DomainRegistry:
        """The knowledge domains: those of the workshop, else those of the product and of the user's file."""
        if self._registry is None:
            self._registry = self._shop.registry if self._shop is not None else open_registry(self.settings)
        return self._registry

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked: a terminal, and results are for people."""
        return self.invocation.form == "text" and self.streams.terminal

    def pick(self, en: str, zh: str) -> str:
        """Return the text of the reader's language."""
        return pick(self.lang, en, zh)

    def talk(self, en: str, zh: str) -> None:
        """Say something to the person, on stderr."""
        self.streams.talk(self.pick(en, zh))

    def say_at_once(self, en: str, zh: str) -> None:
        """Give a person at a terminal a sign of life before something that takes seconds; nobody else needs it."""
        if self.streams.live and self.invocation.display != "none":
            self.talk(en, zh)

    def store(self) -> RunStore:
        """Return the run store, opened at the first use; raises `StoreUnavailable`."""
        if self._store is None:
            self._store = open_store(self.settings)
        return self._store

    def memory(self) -> LongTermMemory:
        """Return the long-term memory: the workshop's where it has one, else the file of the settings."""
        given = self._shop.memory if self._shop is not None else None
        return given if given is not None else open_memory(self.settings)

    def toolbox(self) -> Toolbox:
        """Return the user's tools: the workshop's where it has some, else those of the file of the settings."""
        given = self._shop.toolbox if self._shop is not None else None
        return given if given is not None else open_toolbox(self.settings)

    def desk(self) -> Desk:
        """Return what deciding on a run needs: the workshop that was given, else no more than a store and a clock."""
        return self._shop if self._shop is not None else open_desk(self.settings, self.store())

    def shop(self) -> Workshop:
        """Return the workshop, opened at the first use; raises `StoreUnavailable`."""
        if self._shop is None:
            self._shop = open_shop(self.settings, self.store())
        return self._shop

    def stream(self, document: dict[str, Any]) -> None:
        """Write one event to stdout, in the form `--jsonl`; nothing in the other forms."""
        if self.invocation.form == "jsonl":
            self.streams.data(json_line(document))

    def close(self) -> None:
        """Release the store and the threads of the checks; what was given is for whoever gave it to close."""
        if self._given:
            return
        if self._shop is not None:
            self._shop.close()
        if self._store is not None:
            self._store.close()


Body = Callable[[Session], Result]
"""The body of a command."""


def session_of(context: typer.Context) -> Session:
    """Return the session that the application gave to a command."""
    session = context.obj
    assert isinstance(session, Session), "the application gives every command its session"
    return session


def perform(context: typer.Context, body: Body) -> int:
    """Run the body of a command, write its result and return the exit code."""
    session = session_of(context)
    try:
        result = body(session)
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted",
            en="interrupted; nothing that was recorded is lost. Runs: maskgrad runs",
            zh="已中断；已记录的内容不会丢失。查看运行：maskgrad runs",
        ) from None
    write_result(session.streams, session.invocation.form, result)
    return int(result.code)
