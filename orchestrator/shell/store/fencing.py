"""The rules of leases: who may execute a run, and whose writes are refused (architecture 5).

A lease that stands is kept even after its release, with an empty holder, so that epochs only rise. A lease that
expired but was not taken over may still write: nobody else did.
"""

from __future__ import annotations

from dataclasses import replace

from orchestrator.shell.store.errors import NotStorable, RunBusy, StaleLease
from orchestrator.shell.store.rows import AttemptThread, Lease

NOBODY = ""
"""The holder of a released lease."""


def require_current(run: str, given: Lease | None, standing: Lease | None, now: float) -> None:
    """Raise unless a write to `run` under the lease `given` is allowed beside the one that stands.

    Raises `StaleLease` for a lease that is not the standing one, `RunBusy` for a write without a lease while one runs,
    `NotStorable` for the lease of another run.
    """
    if given is None:
        if standing is not None and is_running(standing, now):
            raise RunBusy(run, standing.holder, standing.expires)
        return
    if given.run != run:
        raise NotStorable(
            "A write under the lease of run",
            given.run,
            accepted_en=f"a lease on the run it writes to, {run!r}",
            accepted_zh=f"对所写运行 {run!r} 的租约",
        )
    if standing is None or (standing.epoch, standing.holder) != (given.epoch, given.holder):
        raise StaleLease(run, given.epoch, standing.epoch if standing is not None else 0)


def require_current_epoch(thread: str, standing: Lease | None) -> None:
    """Raise `StaleLease` for the thread of an attempt whose epoch is not that of the standing lease."""
    attempt = AttemptThread.parse(thread)
    if attempt is not None and standing is not None and standing.epoch != attempt.epoch:
        raise StaleLease(attempt.run, attempt.epoch, standing.epoch)


def taken(
    run: str, holder: str, ttl_s: float, standing: Lease | None, now: float, instead_of: str | None
) -> Lease:
    """Return the lease that `holder` gets. Raises `RunBusy` if another one runs that is not `instead_of`'s."""
    require_ttl(ttl_s)
    if not holder:
        raise NotStorable("The holder", holder, accepted_en="a name", accepted_zh="非空名称")
    if standing is not None and is_running(standing, now) and standing.holder != instead_of:
        raise RunBusy(run, standing.holder, standing.expires)
    epoch = 1 if standing is None else standing.epoch + 1
    return Lease(run=run, holder=holder, epoch=epoch, expires=now + ttl_s)


def renewed(lease: Lease, ttl_s: float, standing: Lease | None, now: float) -> Lease:
    """Return the lease running `ttl_s` seconds from `now`. Raises `StaleLease` if it is not the standing one."""
    require_ttl(ttl_s)
    require_current(lease.run, lease, standing, now)
    return replace(lease, expires=now + ttl_s)


def is_running(lease: Lease, now: float) -> bool:
    """Tell whether somebody holds the lease and it has not expired."""
    return lease.holder != NOBODY and lease.expires > now


def require_ttl(ttl_s: float) -> None:
    """Raise `NotStorable` unless a lease can run for `ttl_s` seconds."""
    if not 0 < ttl_s < float("inf"):
        raise NotStorable(
            "A lease of seconds", ttl_s, accepted_en="a finite number above 0", accepted_zh="大于 0 的有限数"
        )
