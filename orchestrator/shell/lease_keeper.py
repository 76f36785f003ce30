"""Keep the lease of a run while it is executed, whatever the event loop is busy with.

A worker that reads a long note, or the embedder on many sentences, holds the loop for seconds (checks do not: see
`orchestrator.shell.check_threads`). So the lease is renewed from a thread of its own: a step that takes longer than the
lease holds can't lose it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, Self

from orchestrator.shell.store.errors import StoreError, StoreUnavailable
from orchestrator.shell.store.rows import Lease

_LOG: Final = logging.getLogger(__name__)

RENEWALS_PER_TERM: Final = 3
"""A lease is renewed after a third of its term: two renewals may fail before it runs out."""


class Renewer(Protocol):
    """The store, as far as a lease is kept by it; called from the keeper's thread."""

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """Prolong the lease; raises when it is no longer current."""
        ...


class LeaseKeeper:
    """Renews one lease from entering to leaving the context, and tells `lost` when it is somebody else's by now.

    `lost` is called at most once, from the keeper's thread. Whoever leaves waits for a renewal under way, so that none
    comes after; the event loop does not. A store that can't be written is tried again at the next
    turn: the run's own writes will say what is wrong with it.
    """

    def __init__(
        self, store: Renewer, lease: Lease, ttl_s: float, *, lost: Callable[[StoreError], None]
    ) -> None:
        self._store = store
        self._lease = lease
        self._ttl_s = ttl_s
        self._lost = lost
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="maskgrad-lease", daemon=True)

    async def __aenter__(self) -> Self:
        self._thread.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        await asyncio.to_thread(self._thread.join)

    def _keep(self) -> None:
        while not self._ended.wait(self._ttl_s / RENEWALS_PER_TERM):
            try:
                self._lease = self._store.renew(self._lease, self._ttl_s)
            except StoreUnavailable as error:
                _LOG.warning("the lease of run %r was not renewed this time: %s", self._lease.run, error)
            except StoreError as error:
                self._lost(error)
                return
