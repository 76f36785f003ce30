"""The dispatcher: longest remaining path first, caps, delays, cancelling, holding; nobody is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.spec import AgentId
from graphs.plan import NodeId
from orchestrator.shell.ports import AttemptKey, Ticket
from orchestrator.shell.scheduler import DEFAULT_MAX_IN_FLIGHT, LocalDispatcher


class Instant:
    """A clock whose delays pass when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> str:
        return "2026-01-01T00:00:00.000Z"

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((seconds, done))
        await done

    def pass_all(self) -> None:
        for _, done in self.waiting:
            if not done.done():
                done.set_result(None)


def ticket(
    node: str,
    *,
    agent: str = "A1",
    cap: int = 99,
    priority: float = 0.0,
    delay_s: float = 0.0,
    generation: int = 1,
) -> Ticket:
    return Ticket(
        key=AttemptKey(node=NodeId(node), generation=generation, attempt=1),
        agent=AgentId(agent),
        agent_cap=cap,
        priority=priority,
        delay_s=delay_s,
    )


@dataclass
class Work:
    """Attempts that end when the test lets them."""

    started: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    def of(self, name: str) -> Callable[[], Awaitable[None]]:
        gate = self.gates.setdefault(name, asyncio.Event())

        async def run() -> None:
            self.started.append(name)
            try:
                await gate.wait()
            except asyncio.CancelledError:
                self.cancelled.append(name)
                raise

        return run

    async def end(self, *names: str) -> None:
        for name in names:
            self.gates[name].set()
        await turns()


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_longest_remaining_path_starts_first_and_equals_first_come() -> None:
    work, dispatcher = Work(), LocalDispatcher(Instant(), max_in_flight=1)
    dispatcher.submit(ticket("first", priority=0), work.of("first"))
    for name, priority in (("low", 1.0), ("high", 3.0), ("also", 3.0), ("mid", 2.0)):
        dispatcher.submit(ticket(name, priority=priority), work.of(name))
    await turns()
    for name in ("first", "high", "also", "mid", "low"):
        assert work.started[-1] == name
        assert dispatcher.in_flight == 1
        await work.end(name)
    assert dispatcher.in_flight == 0


async def test_an_agent_at_its_cap_holds_up_nobody_else() -> None:
    work, dispatcher = Work(), LocalDispatcher(Instant(), max_in_flight=3)
    for name in ("a1", "a2", "a3"):
        dispatcher.submit(ticket(name, agent="A1", cap=1, priority=9), work.of(name))
    dispatcher.submit(ticket("b1", agent="A2", cap=1), work.of("b1"))
    await turns()
    assert work.started == ["a1", "b1"]
    await work.end("a1")
    assert work.started == ["a1", "b1", "a2"]
    await work.end("a2", "b1")
    assert work.started[-1] == "a3"
    await work.end("a3")
    await dispatcher.drain()


async def test_a_cancelled_attempt_at_its_cap_does_not_block_the_ones_behind_it() -> None:
    work, dispatcher = Work(), LocalDispatcher(Instant())
    for name in ("a1", "a2", "a3"):
        dispatcher.submit(ticket(name, cap=1), work.of(name))
    await turns()
    dispatcher.cancel(NodeId("a2"), before=2)
    await work.end("a1")
    assert work.started == ["a1", "a3"]


async def test_nor_does_one_that_is_cancelled_between_its_turn_and_its_start() -> None:
    work, dispatcher = Work(), LocalDispatcher(Instant())
    for name in ("a1", "a2", "a3"):
        dispatcher.submit(ticket(name, cap=1), work.of(name))
    await turns()
    dispatcher.hold()
    await work.end("a1")  # a2 is next in line, and held
    dispatcher.cancel(NodeId("a2"), before=2)
    dispatcher.go_on()
    await turns()
    assert work.started == ["a1", "a3"]


async def test_a_key_is_queued_once() -> None:
    work, dispatcher = Work(), LocalDispatcher(Instant())
    for _ in range(2):
        dispatcher.submit(ticket("a"), work.of("a"))
        await turns()
    assert work.started == ["a"]
    await work.end("a")
    dispatcher.submit(ticket("a"), work.of("a"))
    await turns()
    assert work.started == ["a", "a"]


async def test_cancel_stops_older_generations_only() -> None:
    work, dispatcher = Work(), LocalDispatcher(Instant())
    dispatcher.submit(ticket("a", generation=1), work.of("old"))
    dispatcher.submit(ticket("a", generation=2), work.of("new"))
    await turns()
    dispatcher.cancel(NodeId("a"), before=2)
    await turns()
    assert work.cancelled == ["old"]
    assert dispatcher.in_flight == 1
    dispatcher.cancel_all()
    await dispatcher.drain()
    assert work.cancelled == ["old", "new"]


async def test_a_delayed_attempt_takes_no_slot_and_can_be_cancelled() -> None:
    clock, work = Instant(), Work()
    dispatcher = LocalDispatcher(clock, max_in_flight=1)
    dispatcher.submit(ticket("later", delay_s=3.0), work.of("later"))
    dispatcher.submit(ticket("never", delay_s=4.0), work.of("never"))
    dispatcher.submit(ticket("now"), work.of("now"))
    await turns()
    assert work.started == ["now"]
    assert [seconds for seconds, _ in clock.waiting] == [3.0, 4.0]
    dispatcher.cancel(NodeId("never"), before=2)
    clock.pass_all()
    await work.end("now")
    assert work.started == ["now", "later"]
    await work.end("later")
    assert work.started == ["now", "later"]


async def test_held_nothing_starts_and_what_runs_goes_on() -> None:
    work, dispatcher = Work(), LocalDispatcher(Instant())
    dispatcher.submit(ticket("a"), work.of("a"))
    await turns()
    dispatcher.hold()
    dispatcher.submit(ticket("b"), work.of("b"))
    await work.end("a")
    await dispatcher.drain()
    assert work.started == ["a"]
    dispatcher.go_on()
    await turns()
    assert work.started == ["a", "b"]


async def test_what_escapes_an_attempt_is_reported_and_frees_its_slot() -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    work, dispatcher = Work(), LocalDispatcher(Instant(), max_in_flight=1)

    async def breaks() -> None:
        raise KeyError("a bug")

    dispatcher.submit(ticket("a"), breaks)
    dispatcher.submit(ticket("b"), work.of("b"))
    await turns()
    assert [type(error) for error in reported] == [KeyError]
    assert work.started == ["b"]


@pytest.mark.parametrize("slots", [0, -1])
async def test_there_is_at_least_one_slot(slots: int) -> None:
    with pytest.raises(ValueError, match=f"max_in_flight is {slots}; accepted: 1 or more"):
        LocalDispatcher(Instant(), max_in_flight=slots)


def test_the_default_cap() -> None:
    assert DEFAULT_MAX_IN_FLIGHT == 32


@given(
    seed=st.integers(0, 10_000),
    slots=st.integers(1, 4),
    caps=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    size=st.integers(1, 14),
)
def test_every_attempt_that_is_not_cancelled_runs_within_the_caps(
    seed: int, slots: int, caps: list[int], size: int
) -> None:
    """Whatever is cancelled, held or delayed on the way: caps hold at every moment, and nobody starves."""
    asyncio.run(_any_course(Random(seed), slots, caps, size))


async def _any_course(random: Random, slots: int, caps: list[int], size: int) -> None:
    clock, dispatcher = Instant(), None
    dispatcher = LocalDispatcher(clock, max_in_flight=slots)
    running: dict[str, int] = {}
    agents = {f"n{index}": random.randrange(len(caps)) for index in range(size)}
    done: set[str] = set()
    cancelled: set[str] = set()

    def attempt(name: str) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            running[name] = agents[name]
            assert len(running) <= slots
            assert sum(agent == agents[name] for agent in running.values()) <= caps[agents[name]]
            try:
                for _ in range(random.randrange(4)):
                    await asyncio.sleep(0)
                done.add(name)
            finally:
                del running[name]

        return run

    for name, agent in agents.items():
        delay = random.choice((0.0, 0.0, 1.0))
        made = ticket(name, agent=f"A{agent}", cap=caps[agent], priority=random.random(), delay_s=delay)
        dispatcher.submit(made, attempt(name))
        match random.randrange(5):
            case 0:
                victim = random.choice(list(agents))
                if victim not in done:
                    cancelled.add(victim)
                    dispatcher.cancel(NodeId(victim), before=2)
            case 1:
                dispatcher.hold()
            case 2:
                dispatcher.go_on()
            case _:
                await asyncio.sleep(0)
    dispatcher.go_on()
    clock.pass_all()
    for _ in range(20 * size):
        clock.pass_all()
        await asyncio.sleep(0)
    assert dispatcher.in_flight == 0
    # A node that was cancelled before it was submitted runs all the same.
    assert done >= set(agents) - cancelled
