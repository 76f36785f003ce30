"""The real clock and real ids."""

from __future__ import annotations

import asyncio
import secrets
import time
from datetime import UTC, datetime

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that people don't mistake for one another."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> str:
        """Return the time of day, ISO 8601 in UTC with milliseconds."""
        return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        await asyncio.sleep(seconds)


class RandomIds:
    """Ids and seeds from the operating system's randomness."""

    def run(self) -> str:
        """Return a fresh run id, e.g. `r-7k2m9d`: 30 bits, checked against the store when it is used."""
        return "r-" + "".join(secrets.choice(_ALPHABET) for _ in range(6))

    def seed(self) -> str:
        """Return 16 fresh hex digits."""
        return secrets.token_hex(8)
