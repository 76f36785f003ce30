"""Take over a run whose executor died on this machine, without waiting for its lease to run out."""

from __future__ import annotations

import os
import socket

from orchestrator.core.ids import RunId
from orchestrator.shell.executor import LEASE_TTL_S
from orchestrator.shell.store.rows import Lease
from orchestrator.shell.wiring import Workshop


def free_from_the_dead(shop: Workshop, run: RunId) -> Lease | None:
    """Free a run whose lease belongs to a process of this machine that is gone; return the lease that still stands.

    A lease of another machine, or of a process that lives, is left alone.
    """
    lease = shop.store.lease(run)
    if lease is None or not holder_is_dead(lease.holder):
        return lease
    shop.store.release(shop.store.acquire(run, shop.holder, LEASE_TTL_S, instead_of=lease.holder))
    return None


def holder_is_dead(holder: str) -> bool:
    """Tell whether `holder`, a `host:process` of `Workshop.holder`, is a process of this machine that is gone."""
    host, _, process = holder.rpartition(":")
    if host != socket.gethostname() or not process.isdecimal():
        return False
    if os.name == "nt":
        # There, signal 0 would end the process instead of asking after it.
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
