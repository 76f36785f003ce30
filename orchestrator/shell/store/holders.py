"""Name the process that holds a lease, so that another one can tell whether it is dead.

After a crash a run should go on at once and not when the lease expires. A holder is taken for dead only where that is
certain: on Linux, on the same boot of the same machine, in the same process namespace, when no process has its number
and start time any more. Everywhere else the lease has to expire.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Final

from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.rows import Lease

_HOLDER: Final = re.compile(r"(?P<host>.*):(?P<pid>\d+)@(?P<place>[\w.]+)/(?P<start>\d+)")
_STATE, _START = 0, 19
"""Where a process's state and start time are behind its name in `/proc/PID/stat` (fields 3 and 22 of `proc(5)`)."""


def this_process() -> str:
    """Return the holder name of this process, such as `host:4711@1f0c3a55.4026531836/88123`."""
    host, pid = platform.node() or "localhost", os.getpid()
    place, start = _place(), _start(pid)
    return f"{host}:{pid}" if place is None or start is None else f"{host}:{pid}@{place}/{start}"


def is_gone(holder: str) -> bool:
    """Tell whether the process of this name has certainly ended; False when that cannot be known here."""
    parts = _HOLDER.fullmatch(holder)
    if parts is None or parts["place"] != _place():
        return False
    return _start(int(parts["pid"])) != int(parts["start"])


def living_lease(store: RunStore, run: str) -> Lease | None:
    """Return the lease of the process that executes a run; `None` if none does, or the one that did has died."""
    lease = store.lease(run)
    return None if lease is None or is_gone(lease.holder) else lease


def acquire_here(store: RunStore, run: str, holder: str, ttl_s: float) -> Lease:
    """Take the lease of a run, at once if its holder is dead. Raises as `StoreWrites.acquire` does."""
    standing = store.lease(run)
    dead = standing.holder if standing is not None and is_gone(standing.holder) else None
    return store.acquire(run, holder, ttl_s, instead_of=dead)


def _place() -> str | None:
    """Name the boot and the process namespace, in which process numbers mean something; None outside Linux."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return None
    return f"{boot[:8]}.{re.sub(r'[^0-9]', '', namespace)}"


def _start(pid: int) -> int | None:
    """Return when a process started, in ticks since the boot; None if there is no such process, or it is a zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name, in brackets, may hold spaces and brackets itself.
    fields = status.rpartition(")")[2].split()
    return None if fields[_STATE] in ("Z", "X") else int(fields[_START])
