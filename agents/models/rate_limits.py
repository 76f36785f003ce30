"""How much a provider takes in a minute, shared by everything in a process that asks it.

A token bucket each for requests and tokens. It is never quite full at once: a tenth of a minute's amount may go in a
burst, and the rest follows evenly, so that no minute, wherever it begins, holds more than the limit. A request that
would be too early waits; it waits in line, and waiting is no model time.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # settings read limits at every start, and the spec's module costs pydantic's
    from agents.spec import Provider

MINUTE_S: Final = 60.0
BURST_PART: Final = 10
"""One part in so many of a minute's amount may go at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """What a provider takes in any minute; `None`: as much as one likes."""

    requests_per_min: int | None = None
    tokens_per_min: int | None = None


async def _sleep(seconds: float) -> None:
    # Imported here: settings read limits at every start, and most commands never wait.
    import asyncio  # noqa: PLC0415

    await asyncio.sleep(seconds)


class _Bucket:
    """An amount that refills; taking more than there is makes a debt, which is waited for."""

    def __init__(self, burst: float, per_s: float, now: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._level = burst
        self._at = now

    def take(self, amount: float, now: float) -> float:
        """Take `amount`, which may be negative; return the seconds until it is really there."""
        self._level = min(self._burst, self._level + max(0.0, now - self._at) * self._per_s)
        self._at = max(self._at, now)
        self._level = min(self._burst, self._level - amount)
        return max(0.0, -self._level / self._per_s)


def _of_requests(per_min: int, now: float) -> _Bucket:
    burst = max(1, per_min // BURST_PART)
    # The first of the rest comes a full interval after the burst: `burst + (per_min - burst)` in any minute.
    return _Bucket(burst, (per_min - burst + 1) / MINUTE_S, now)


def _of_tokens(per_min: int, now: float) -> _Bucket:
    burst = per_min / BURST_PART
    return _Bucket(burst, (per_min - burst) / MINUTE_S, now)


class _Pace:
    """The time of one provider, by which its buckets refill: it stands still while the provider is held."""

    def __init__(self) -> None:
        self._until = float("-inf")
        self._lost = 0.0

    def hold(self, now: float, until: float) -> None:
        """Stand still until `until`, if that is later than what was said before."""
        if until > self._until:
            self._lost += until - max(now, self._until)
            self._until = until

    def at(self, now: float) -> float:
        """Return the provider's time at `now`."""
        return max(now, self._until) - self._lost

    def reached(self, place: float) -> float:
        """Return when the provider's time is `place`, as far as is known now: a later hold moves it."""
        return max(place + self._lost, self._until)


class RateLimits:
    """The limits of a process. For one thread: that of the event loop on which models are asked."""

    def __init__(
        self,
        limits: Mapping[Provider, RateLimit],
        *,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = _sleep,
    ) -> None:
        """Begin with all that may go in a burst; `now` gives seconds that never go back."""
        self._now = now
        self._sleep = sleep
        start = now()
        self._requests = {
            name: _of_requests(limit.requests_per_min, start)
            for name, limit in limits.items()
            if limit.requests_per_min is not None
        }
        self._tokens = {
            name: _of_tokens(limit.tokens_per_min, start)
            for name, limit in limits.items()
            if limit.tokens_per_min is not None
        }
        self._paces: dict[Provider, _Pace] = {}

    async def admit(self, provider: Provider | None, tokens: int) -> float:
        """Return as soon as a request of about `tokens` may go to `provider`, with the seconds that it waited.

        In the order of the calls. A request larger than what a minute takes waits until so much has come together.
        Cancelled while it waits, it leaves its place to the others.
        """
        if provider is None:
            return 0.0
        pace = self._pace(provider)
        begun = now = self._now()
        place = pace.at(now) + self._take(provider, 1, tokens)
        try:
            # Whoever waits when the provider is held waits on, and keeps its distance to those in front.
            while (wait := pace.reached(place) - now) > 0:
                await self._sleep(wait)
                now = self._now()
        except BaseException:
            self._take(provider, -1, -tokens)
            raise
        return now - begun

    def settle(self, provider: Provider | None, *, reserved: int, used: int, requests: int = 1) -> None:
        """Count what an admitted request really took: `used` tokens of both kinds, in `requests` requests."""
        if provider is not None:
            self._take(provider, requests - 1, used - reserved)

    def hold(self, provider: Provider | None, seconds: float) -> None:
        """Let no request go to `provider` for `seconds`, nor any that waits: it said so, by `Retry-After`."""
        if provider is not None:
            now = self._now()
            self._pace(provider).hold(now, now + max(0.0, seconds))

    def _pace(self, provider: Provider) -> _Pace:
        return self._paces.setdefault(provider, _Pace())

    def _take(self, provider: Provider, requests: int, tokens: int) -> float:
        now = self._pace(provider).at(self._now())
        waits = [0.0]
        if provider in self._requests:
            waits.append(self._requests[provider].take(requests, now))
        if provider in self._tokens:
            waits.append(self._tokens[provider].take(tokens, now))
        return max(waits)
