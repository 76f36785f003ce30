"""No minute holds more than the limit, nobody waits for ever, and nobody overtakes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.rate_limits import RateLimit, RateLimits
from agents.spec import Provider

A, B = Provider("openai"), Provider("ollama")


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.t = 1000.0

    def now(self) -> float:
        return self.t

    async def sleep(self, seconds: float) -> None:
        self.t += seconds


def limits(time: Time, **of: RateLimit) -> RateLimits:
    return RateLimits({Provider(name): limit for name, limit in of.items()}, now=time.now, sleep=time.sleep)


async def starts(limit: RateLimit, asked: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """When each request goes, asked one after the other with a pause before each."""
    time = Time()
    shared = limits(time, openai=limit)
    gone = []
    for pause, tokens in asked:
        time.t += pause
        await shared.admit(A, tokens)
        gone.append((time.t, tokens))
    return gone


PAUSES = st.floats(min_value=0.0, max_value=40.0, allow_nan=False)


@given(st.integers(1, 40), st.lists(PAUSES, min_size=1, max_size=120))
def test_no_minute_holds_more_requests_than_the_limit(per_min: int, pauses: list[float]) -> None:
    gone = asyncio.run(starts(RateLimit(requests_per_min=per_min), [(pause, 1) for pause in pauses]))
    times = [at for at, _ in gone]
    for position, begin in enumerate(times):
        # Half a millisecond less than a minute: the sums of the clock are not exact.
        assert sum(1 for at in times[position:] if at < begin + 59.9995) <= per_min


@given(st.integers(100, 5000), st.lists(st.tuples(PAUSES, st.integers(0, 100)), min_size=1, max_size=60))
def test_no_minute_holds_more_tokens_than_the_limit(per_min: int, asked: list[tuple[float, int]]) -> None:
    gone = asyncio.run(starts(RateLimit(tokens_per_min=per_min), asked))
    for position, (begin, _) in enumerate(gone):
        held = sum(tokens for at, tokens in gone[position:] if at < begin + 60.0)
        assert held <= per_min + 100  # what goes at the very end of a minute was let in for the next


async def test_the_rate_is_reached() -> None:
    """120 a minute: 12 at once, then one every 60/109 s; a thousand take (1000 - 12) * 60 / 109 s."""
    gone = await starts(RateLimit(requests_per_min=120), [(0.0, 1)] * 1000)
    assert [at for at, _ in gone[:12]] == [1000.0] * 12
    assert gone[12][0] - 1000.0 == pytest.approx(60 / 109)
    assert gone[-1][0] - 1000.0 == pytest.approx(988 * 60 / 109)


async def test_one_a_minute() -> None:
    gone = await starts(RateLimit(requests_per_min=1), [(0.0, 1)] * 3)
    assert [after[0] - before[0] for before, after in pairwise(gone)] == pytest.approx([60.0, 60.0])


async def test_a_request_larger_than_a_minute_goes_all_the_same() -> None:
    """600 a minute: 60 at once and 9 a second, so 1,500 take (1500 - 60) / 9 s."""
    gone = await starts(RateLimit(tokens_per_min=600), [(0.0, 1500), (0.0, 9)])
    assert gone[0][0] - 1000.0 == pytest.approx(160.0)
    assert gone[1][0] - gone[0][0] == pytest.approx(1.0)


async def test_the_longer_wait_counts_and_is_returned() -> None:
    time = Time()
    shared = limits(time, openai=RateLimit(requests_per_min=60, tokens_per_min=600))
    assert await shared.admit(A, 60) == 0.0
    assert await shared.admit(A, 90) == pytest.approx(10.0)


async def test_providers_do_not_wait_for_each_other() -> None:
    time = Time()
    shared = limits(time, openai=RateLimit(requests_per_min=1))
    await shared.admit(A, 1)
    for _ in range(5):
        assert await shared.admit(B, 10**9) == 0.0
        assert await shared.admit(None, 10**9) == 0.0
    assert await shared.admit(A, 1) == pytest.approx(60.0)


async def test_what_was_reserved_too_much_comes_back() -> None:
    time = Time()
    shared = limits(time, openai=RateLimit(tokens_per_min=600))
    await shared.admit(A, 60)
    shared.settle(A, reserved=60, used=15)
    assert await shared.admit(A, 45) == 0.0
    shared.settle(A, reserved=45, used=63)
    assert await shared.admit(A, 0) == pytest.approx(2.0)


async def test_requests_sent_for_one_are_counted() -> None:
    time = Time()
    shared = limits(time, openai=RateLimit(requests_per_min=1))
    await shared.admit(A, 1)
    shared.settle(A, reserved=1, used=1, requests=3)
    assert await shared.admit(A, 1) == pytest.approx(180.0)


async def test_a_provider_that_asks_for_a_pause_gets_it_from_all() -> None:
    time = Time()
    shared = limits(time)
    shared.hold(A, 7.0)
    shared.hold(A, 3.0)
    assert await shared.admit(B, 1) == 0.0
    assert await shared.admit(A, 1) == pytest.approx(7.0)
    assert await shared.admit(A, 1) == 0.0


async def test_who_waits_when_the_provider_is_held_waits_on_and_keeps_its_distance() -> None:
    """60 a minute: 6 at once, then one every 60/55 s; held for 30 s, those in line go after it, one by one."""
    time = Time()
    wake = asyncio.Event()

    async def sleep(seconds: float) -> None:
        due = time.t + seconds
        await wake.wait()
        time.t = max(time.t, due)

    shared = RateLimits({A: RateLimit(requests_per_min=60)}, now=time.now, sleep=sleep)
    for _ in range(6):
        await shared.admit(A, 1)
    gone: list[float] = []

    async def goes() -> None:
        await shared.admit(A, 1)
        gone.append(time.t - 1000.0)

    waiting = [asyncio.ensure_future(goes()) for _ in range(3)]
    await asyncio.sleep(0)
    shared.hold(A, 30.0)
    wake.set()
    await asyncio.gather(*waiting)
    assert gone == pytest.approx([30 + 60 / 55, 30 + 120 / 55, 30 + 180 / 55])


async def test_in_the_order_in_which_they_came_and_a_cancelled_one_leaves_its_place() -> None:
    """One a minute, a wait for real events: each sleeper is woken by hand, so that who waits for how long is seen."""
    waits: list[float] = []
    never = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await never.wait()

    shared = RateLimits({A: RateLimit(requests_per_min=1)}, now=lambda: 5.0, sleep=sleep)
    assert await shared.admit(A, 1) == 0.0
    second, third = (asyncio.ensure_future(shared.admit(A, 1)) for _ in range(2))
    await asyncio.sleep(0)
    assert waits == pytest.approx([60.0, 120.0])
    third.cancel()
    await asyncio.wait([third])
    fourth = asyncio.ensure_future(shared.admit(A, 1))
    await asyncio.sleep(0)
    assert waits == pytest.approx([60.0, 120.0, 120.0])
    for waiting in (second, fourth):
        waiting.cancel()
    await asyncio.wait([second, fourth])
