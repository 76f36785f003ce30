"""The clock of a store: whose time counts for leases, and how it is written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], float]
"""Gives seconds since 1970-01-01 UTC."""


def timestamp(now: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC, to the millisecond.

    >>> timestamp(0.25)
    '1970-01-01T00:00:00.250+00:00'
    """
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
