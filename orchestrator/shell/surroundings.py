"""What an executor finds around a run when it takes it over: versions, notes, and what earlier runs learned."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator.core.errors import VersionsDiffer
from orchestrator.core.events import Body, FailureRemembered, SkippedFile, SourcesRead
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import digest_of
from orchestrator.core.repairs import MEMORY_MARK, memory_key
from orchestrator.core.state import RunState
from orchestrator.shell.journal import Journal
from orchestrator.shell.proposing import versions_of
from orchestrator.shell.runs import event_of
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.wiring import Workshop

_LOG: Final = logging.getLogger(__name__)

DECISIVE: Final = ("registry", "embedder")
"""The versions that masks, labels and leaks rest on; a log of a newer event schema can't be read in the first place."""


def check_versions(shop: Workshop, state: RunState, *, tolerate: bool = False) -> None:
    """Raise `VersionsDiffer` when the run was drafted with another registry or embedder than the workshop has.

    What `tolerate` lets pass, and another version of the product, is said in a log line.
    """
    recorded = state.created.versions if state.created is not None else {}
    current = versions_of(shop)
    for part in (*DECISIVE, "product"):
        if recorded.get(part, current[part]) == current[part]:
            continue
        if part in DECISIVE and not tolerate:
            raise VersionsDiffer(state.run, part, recorded[part], current[part])
        _LOG.warning(
            "run %r was drafted with the %s %r, this is %r", state.run, part, recorded[part], current[part]
        )


async def record_surroundings(shop: Workshop, journal: Journal, folder: Path | None) -> None:
    """Record the notes below `folder` unless the log says that they are as they were, and what other runs learned.

    Notes and log are read on a thread; nobody else records meanwhile.
    """
    for body in await asyncio.to_thread(_surroundings, shop, journal.state, folder):
        journal.record(body)


def _surroundings(shop: Workshop, state: RunState, folder: Path | None) -> list[Body]:
    found: list[Body] = []
    if folder is not None:
        sources = _sources(shop, folder)
        if sources.digest != _last_digest(shop.store, state.run):
            found.append(sources)
    return found + [FailureRemembered(key=key) for key in _lessons(shop.store, state)]


def _sources(shop: Workshop, folder: Path) -> SourcesRead:
    corpus = shop.library(folder).corpus
    return SourcesRead(
        documents=len(corpus.documents),
        digest=digest_of([[d.source.uri, d.source.digest] for d in corpus.documents]),
        skipped=tuple(SkippedFile(uri=skip.path, reason=skip.reason) for skip in corpus.skipped),
    )


def _last_digest(store: RunStore, run: RunId) -> str | None:
    found = None
    for stored in store.events(run):
        if stored.type == "sources.read":
            body = event_of(stored).body
            found = body.digest if isinstance(body, SourcesRead) else found
    return found


def _lessons(store: RunStore, state: RunState) -> Iterator[str]:
    """Keys of repairs that other runs found to be wrong for a class of task of this plan, each once."""
    classes = dict.fromkeys(
        memory_key(state, name, "", "").rpartition(MEMORY_MARK)[0] for name in sorted(state.nodes.keys())
    )
    keys = (
        f"{record.task_class}{MEMORY_MARK}{record.repair}"
        for task_class in classes
        for record in store.failures(task_class)
        # What this run wrote before a crash is decided again, and then recorded with the repair that follows.
        if record.run != state.run
    )
    return (key for key in dict.fromkeys(keys) if key not in state.remembered)
