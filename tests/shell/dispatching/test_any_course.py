"""Any course of events: the shared dispatcher starts what the plain one starts, in the same order."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agents.spec import Provider
from graphs.plan import NodeId
from orchestrator.core.ids import RunId
from orchestrator.shell.ports import Dispatcher, Ticket
from orchestrator.shell.scheduler import SharedDispatcher
from tests.shell.dispatching.plain import PlainDispatcher
from tests.shell.dispatching.stage import Instant, Shared, Work, ticket, turns

RUNS = 3
AGENT_CAPS = {"A1": 1, "A2": 2, "A3": 9}
PROVIDERS = (None, "p", "q", "uncapped")
DELAYS = (0.0, 0.0, 0.0, 1.0, 2.0)


@dataclass
class Side:
    """One of the two dispatchers, with its own clock and attempts."""

    shared: Shared
    clock: Instant
    work: Work = field(default_factory=Work)
    parts: list[Dispatcher] = field(default_factory=list)
    tickets: dict[str, tuple[int, Ticket]] = field(default_factory=dict)

    def running(self) -> list[str]:
        over = set(self.work.ended)
        return [name for name in self.work.started if name not in over]


class AnyCourse(RuleBasedStateMachine):
    """Two dispatchers that are told the same."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.sides: tuple[Side, ...] = ()
        self.count = 0
        self.slots = 0
        self.caps: dict[Provider, int] = {}

    @initialize(slots=st.integers(1, 4), p=st.integers(1, 2), q=st.integers(1, 3))
    def begin(self, slots: int, p: int, q: int) -> None:
        self.slots, self.caps = slots, {Provider("p"): p, Provider("q"): q}
        one, other = Instant(), Instant()
        self.sides = (
            Side(SharedDispatcher(one, max_in_flight=slots, provider_caps=self.caps), one),
            Side(PlainDispatcher(other, max_in_flight=slots, provider_caps=self.caps), other),
        )
        for side in self.sides:
            side.parts = [side.shared.for_run(RunId(f"r-{number}")) for number in range(RUNS)]

    def settle(self) -> None:
        for _ in range(4):
            self.loop.run_until_complete(turns())

    @rule(
        run=st.integers(0, RUNS - 1),
        node=st.integers(0, 5),
        generation=st.integers(1, 2),
        agent=st.sampled_from(sorted(AGENT_CAPS)),
        provider=st.sampled_from(PROVIDERS),
        priority=st.integers(0, 3),
        delay_s=st.sampled_from(DELAYS),
        stubborn=st.booleans(),
    )
    def submit(self, run: int, node: int, stubborn: bool, **how: Any) -> None:
        self.count += 1
        name = f"{self.count}"

        async def told() -> None:
            for side in self.sides:
                made = ticket(f"n{node}", cap=AGENT_CAPS[how["agent"]], **how)
                side.tickets[name] = (run, made)
                side.parts[run].submit(made, side.work.of(name, stubborn=stubborn))

        self.loop.run_until_complete(told())
        self.settle()

    @precondition(lambda self: self.sides and self.sides[0].running())
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(self.sides[0].running()))
        for side in self.sides:
            side.work.gates[name].set()
        self.settle()

    @rule(run=st.integers(0, RUNS - 1), node=st.integers(0, 5), before=st.integers(1, 3))
    def cancel(self, run: int, node: int, before: int) -> None:
        for side in self.sides:
            side.parts[run].cancel(NodeId(f"n{node}"), before)
        self.settle()

    @rule(run=st.integers(0, RUNS - 1))
    def cancel_all(self, run: int) -> None:
        for side in self.sides:
            side.parts[run].cancel_all()
        self.settle()

    @rule(run=st.integers(0, RUNS - 1))
    def hold(self, run: int) -> None:
        for side in self.sides:
            side.parts[run].hold()
        self.settle()

    @rule(run=st.integers(0, RUNS - 1))
    def go_on(self, run: int) -> None:
        async def told() -> None:
            for side in self.sides:
                side.parts[run].go_on()

        self.loop.run_until_complete(told())
        self.settle()

    @rule(upto=st.sampled_from((1.0, 2.0)))
    def time_passes(self, upto: float) -> None:
        for side in self.sides:
            side.clock.let_pass(upto)
        self.settle()

    @invariant()
    def both_started_the_same(self) -> None:
        if self.sides:
            one, other = self.sides
            assert one.work.started == other.work.started
            assert one.work.cancelled == other.work.cancelled
            assert one.running() == other.running()

    @invariant()
    def caps_hold(self) -> None:
        if not self.sides:
            return
        side = self.sides[0]
        running = [side.tickets[name] for name in side.running()]
        assert len(running) <= self.slots
        for provider, cap in self.caps.items():
            assert sum(made.provider == provider for _, made in running) <= cap
        for run in range(RUNS):
            for agent, cap in AGENT_CAPS.items():
                assert sum((of, made.agent) == (run, agent) for of, made in running) <= cap

    def teardown(self) -> None:
        """Nobody is forgotten: when nothing is held and everything may end, all that was not dropped has run."""

        async def all_ends() -> None:
            for side in self.sides:
                for part in side.parts:
                    part.go_on()
            for _ in range(40 + 4 * self.count):
                for side in self.sides:
                    side.clock.let_pass(9.0)
                    for gate in side.work.gates.values():
                        gate.set()
                await asyncio.sleep(0)

        self.loop.run_until_complete(all_ends())
        try:
            if self.sides:
                one, other = self.sides
                assert one.work.started == other.work.started
                assert one.running() == []
        finally:
            self.loop.close()


TestAnyCourse = AnyCourse.TestCase
TestAnyCourse.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
