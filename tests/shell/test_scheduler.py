"""The dispatcher of a process: its defaults, what it refuses, and what it costs. What it does: `dispatching/`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.spec import Provider
from orchestrator.core.ids import RunId
from orchestrator.shell import turns as turns_module
from orchestrator.shell.scheduler import DEFAULT_MAX_IN_FLIGHT, SharedDispatcher
from orchestrator.shell.turns import Entry, RunQueue, Turns
from tests.shell.dispatching.stage import Instant, Work, ticket, turns

HEAP = ("heappush", "heappop", "heapreplace")


@pytest.mark.parametrize("slots", [0, -1])
def test_there_is_at_least_one_slot(slots: int) -> None:
    with pytest.raises(ValueError, match=f"max_in_flight is {slots}; accepted: 1 or more"):
        SharedDispatcher(Instant(), max_in_flight=slots)


def test_a_provider_takes_at_least_one_attempt() -> None:
    with pytest.raises(ValueError, match="ollama is 0; accepted: 1 or more"):
        SharedDispatcher(Instant(), provider_caps={Provider("ollama"): 0})


def test_so_does_an_agent() -> None:
    part = SharedDispatcher(Instant()).for_run(RunId("r-1"))
    with pytest.raises(ValueError, match="the cap of agent 'A1' is 0; accepted: 1 or more"):
        part.submit(ticket("a", cap=0), Work().of("a"))


def test_the_default_cap() -> None:
    assert DEFAULT_MAX_IN_FLIGHT == 32


async def test_what_escapes_an_attempt_is_reported_with_its_run_and_place() -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))

    async def breaks() -> None:
        raise KeyError("a bug")

    SharedDispatcher(Instant()).for_run(RunId("r-7")).submit(ticket("here"), breaks)
    await turns()
    assert len(reported) == 1
    assert "'r-7'" in reported[0]
    assert "'here'" in reported[0]


class Counted:
    """How many operations on heaps there were."""

    def __init__(self) -> None:
        self.operations = 0

    def counting(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.operations += 1
            return operation(*arguments)

        return counted


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    found = Counted()
    for name in HEAP:
        monkeypatch.setattr(turns_module, name, found.counting(getattr(turns_module, name)))
    yield found
    assert found.operations, "the module's own operations were counted"


OPERATIONS_PER_ATTEMPT = 10
"""Into its lane and out of it, its offer in and out, its run listed, and the places of the turn in between."""


def nobody(entry: Entry) -> None:
    raise AssertionError(entry)


def add(queue: RunQueue, name: str, **how: Any) -> Entry:
    entry = queue.entry(ticket(name, **how), nobody)
    queue.add(entry)
    return entry


def at_the_agents_cap(line: Turns, many: int) -> None:
    """One run, whose many agents have two attempts each: one runs, one waits for it."""
    queue = line.new_run()
    for number in range(many):
        for _ in range(2):
            add(queue, f"{number}", agent=f"A{number}", cap=1, priority=9.0)
        assert line.take() is not None
    assert line.take() is None


def at_the_providers_cap(line: Turns, many: int) -> None:
    """Many runs that wait for one provider."""
    for number in range(many):
        queue = line.new_run()
        for _ in range(2):
            add(queue, f"{number}", provider="full", priority=9.0)
    assert line.take() is not None
    assert line.take() is None


def held(line: Turns, many: int) -> None:
    """Many paused runs with work in line."""
    for number in range(many):
        queue = line.new_run()
        add(queue, f"{number}", priority=9.0)
        queue.hold()
    assert line.take() is None


def over(line: Turns, many: int) -> None:
    """Many runs that were cancelled."""
    for number in range(many):
        queue = line.new_run()
        add(queue, f"{number}", priority=9.0)
        queue.clear()
    assert line.take() is None


def long_lines(line: Turns, many: int) -> None:
    """One run with a long line of attempts behind the ones that are counted."""
    queue = line.new_run()
    for number in range(many):
        add(queue, f"{number}", priority=-9.0, agent=f"A{number % 7}", provider="full")
    assert line.take() is not None
    assert line.take() is None


@pytest.mark.parametrize("many", [10, 3_000])
@pytest.mark.parametrize("park", [at_the_agents_cap, at_the_providers_cap, held, over, long_lines])
def test_an_attempt_costs_the_same_whatever_waits(
    park: Callable[[Turns, int], None], many: int, counted: Counted
) -> None:
    """Each operation costs a logarithm; how many there are depends on nothing."""
    line = Turns(1_000_000, {Provider("full"): 1})
    park(line, many)
    queue = line.new_run()
    for number in range(50):
        counted.operations = 0
        for agent in ("A1", "A2"):
            add(queue, f"{number}", agent=agent)
        for _ in range(2):
            entry = line.take()
            assert entry is not None
            assert entry.lane.offers.queue is queue
            line.give_back(entry)
        assert counted.operations <= 2 * OPERATIONS_PER_ATTEMPT


def test_the_end_of_one_at_a_cap_starts_the_next_at_the_same_cost(counted: Counted) -> None:
    """A thousand runs take turns on a provider that takes one at a time, and each agent has its turn, too."""
    line = Turns(10, {Provider("full"): 1})
    for _ in range(1_000):
        queue = line.new_run()
        for number in range(3):
            add(queue, f"{number}", agent=f"A{number}", cap=1, provider="full")
    served: list[RunQueue] = []
    for _ in range(3_000):
        counted.operations = 0
        entry = line.take()
        assert entry is not None
        line.give_back(entry)
        served.append(entry.lane.offers.queue)
        assert counted.operations <= OPERATIONS_PER_ATTEMPT
    assert line.take() is None
    assert served[:1_000] == served[1_000:2_000] == served[2_000:]
    assert len(set(served)) == 1_000
