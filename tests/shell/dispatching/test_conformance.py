"""What every dispatcher does, whoever implements it: order, caps, delays, cancelling, holding, draining, fairness."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

import pytest

from agents.spec import Provider
from graphs.plan import NodeId
from orchestrator.core.ids import RunId
from orchestrator.shell.ports import Dispatcher
from tests.shell.dispatching.stage import IMPLEMENTATIONS, Instant, Shared, Work, ticket, turns


@dataclass
class Scene:
    """A dispatcher with two runs to test, and what they do."""

    clock: Instant
    work: Work
    shared: Shared
    one: Dispatcher
    other: Dispatcher


MakeScene = Callable[..., Scene]


@pytest.fixture(params=list(IMPLEMENTATIONS))
async def make_scene(request: pytest.FixtureRequest) -> AsyncIterator[MakeScene]:
    make = IMPLEMENTATIONS[request.param]
    scenes: list[Scene] = []

    def scene(slots: int = 32, caps: Mapping[str, int] | None = None) -> Scene:
        clock = Instant()
        provider_caps = {Provider(name): cap for name, cap in (caps or {}).items()}
        shared = make(clock, max_in_flight=slots, provider_caps=provider_caps)
        scenes.append(
            Scene(clock, Work(), shared, shared.for_run(RunId("r-1")), shared.for_run(RunId("r-2")))
        )
        return scenes[-1]

    yield scene
    for one in scenes:
        one.one.cancel_all()
        one.other.cancel_all()
        for gate in one.work.gates.values():
            gate.set()
    await turns()


class TestOrder:
    async def test_the_longest_remaining_path_starts_first_and_equals_first_come(
        self, make_scene: MakeScene
    ) -> None:
        scene = make_scene(slots=1)
        work, part = scene.work, scene.one
        part.submit(ticket("first", priority=0), work.of("first"))
        for name, priority in (("low", 1.0), ("high", 3.0), ("also", 3.0), ("mid", 2.0)):
            part.submit(ticket(name, priority=priority), work.of(name))
        await turns()
        for name in ("first", "high", "also", "mid", "low"):
            assert work.started[-1] == name
            assert work.running == [name]
            await work.end(name)
        assert work.running == []

    async def test_a_key_is_queued_once(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=1)
        work, part = scene.work, scene.one
        part.submit(ticket("a"), work.of("a"))
        for again in ("running", "running too"):
            part.submit(ticket("a"), work.of(again))
        part.submit(ticket("b"), work.of("b"))
        part.submit(ticket("b", priority=9.0), work.of("queued"))
        part.submit(ticket("c", delay_s=2.0), work.of("c"))
        part.submit(ticket("c"), work.of("delayed"))
        await turns()
        scene.clock.let_pass(2.0)
        await turns()
        await work.end("a", "b", "c")
        assert work.started == ["a", "b", "c"]
        part.submit(ticket("a"), work.of("after its end"))
        await turns()
        assert work.started[-1] == "after its end"

    async def test_one_that_was_dropped_can_come_again_with_another_place(
        self, make_scene: MakeScene
    ) -> None:
        scene = make_scene(slots=1)
        work, part = scene.work, scene.one
        part.submit(ticket("a"), work.of("a"))
        part.submit(ticket("b", priority=9.0), work.of("dropped"))
        part.cancel(NodeId("b"), before=2)
        part.submit(ticket("b", priority=1.0), work.of("again"))
        part.submit(ticket("c", priority=2.0), work.of("c"))
        await turns()
        await work.end("a", "c", "again")
        assert work.started == ["a", "c", "again"]

    async def test_one_that_is_still_being_stopped_is_known_until_it_ends(
        self, make_scene: MakeScene
    ) -> None:
        scene = make_scene()
        work, part = scene.work, scene.one
        part.submit(ticket("a"), work.of("old", stubborn=True))
        await turns()
        part.cancel(NodeId("a"), before=2)
        part.cancel_all()
        await turns()
        assert work.cancelled == ["old"], "it is told once"
        part.submit(ticket("a"), work.of("new"))
        await turns()
        assert work.started == ["old"]
        await work.end("old")
        part.submit(ticket("a"), work.of("new"))
        await turns()
        assert work.started == ["old", "new"]


class TestCaps:
    async def test_of_the_process_over_all_runs(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=3)
        for number in range(4):
            scene.one.submit(ticket(f"a{number}"), scene.work.of(f"a{number}"))
            scene.other.submit(ticket(f"b{number}"), scene.work.of(f"b{number}"))
        await turns()
        assert len(scene.work.running) == 3
        await scene.work.end("a0", "a1")
        assert len(scene.work.running) == 3

    async def test_of_an_agent_hold_up_nobody_else(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=3)
        work, part = scene.work, scene.one
        for name in ("a1", "a2", "a3"):
            part.submit(ticket(name, agent="A1", cap=1, priority=9), work.of(name))
        part.submit(ticket("b1", agent="A2", cap=1), work.of("b1"))
        await turns()
        assert work.started == ["a1", "b1"]
        await work.end("a1")
        assert work.started == ["a1", "b1", "a2"]
        await work.end("a2", "b1")
        assert work.started[-1] == "a3"
        await work.end("a3")
        await part.drain()

    async def test_of_an_agent_count_within_its_run(self, make_scene: MakeScene) -> None:
        scene = make_scene()
        for part, name in ((scene.one, "a"), (scene.other, "b")):
            for number in range(2):
                part.submit(ticket(f"{name}{number}", cap=1), scene.work.of(f"{name}{number}"))
        await turns()
        assert scene.work.started == ["a0", "b0"]

    async def test_of_an_agent_are_those_of_each_ticket(self, make_scene: MakeScene) -> None:
        """Never so in a run, but the port says nothing of it: the one with room starts past the one without."""
        scene = make_scene()
        work, part = scene.work, scene.one
        part.submit(ticket("first", cap=1), work.of("first"))
        part.submit(ticket("narrow", cap=1, priority=9.0), work.of("narrow"))
        part.submit(ticket("wide", cap=2), work.of("wide"))
        part.submit(ticket("next", cap=2), work.of("next"))
        await turns()
        assert work.started == ["first", "wide"]
        await work.end("first")
        assert work.started == ["first", "wide", "next"]
        await work.end("wide", "next")
        assert work.started[-1] == "narrow"

    async def test_of_a_provider_count_over_all_runs_and_agents(self, make_scene: MakeScene) -> None:
        scene = make_scene(caps={"p": 2})
        for number in range(2):
            scene.one.submit(ticket(f"a{number}", agent="A1", provider="p"), scene.work.of(f"a{number}"))
        scene.other.submit(ticket("b0", agent="A2", provider="p"), scene.work.of("b0"))
        await turns()
        assert scene.work.started == ["a0", "a1"]
        await scene.work.end("a1")
        assert scene.work.started == ["a0", "a1", "b0"]

    async def test_of_a_provider_hold_up_nothing_on_another_one(self, make_scene: MakeScene) -> None:
        scene = make_scene(caps={"p": 1, "q": 1})
        wanted = (("p1", "p"), ("p2", "p"), ("q1", "q"), ("q2", "q"), ("free1", "free"), ("none1", None))
        for rank, (name, provider) in enumerate(wanted):
            scene.one.submit(ticket(name, agent="A1", provider=provider, priority=-rank), scene.work.of(name))
        await turns()
        assert scene.work.started == ["p1", "q1", "free1", "none1"]
        await scene.work.end("q1")
        assert scene.work.started[-1] == "q2"

    async def test_a_provider_without_one_is_bounded_by_the_slots_only(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=8, caps={"p": 1})
        for number in range(10):
            scene.one.submit(ticket(f"{number}", provider="q"), scene.work.of(f"{number}"))
        await turns()
        assert len(scene.work.running) == 8

    async def test_all_three_at_once(self, make_scene: MakeScene) -> None:
        """By hand: p has room for 2, each agent for 1, the process for 3."""
        scene = make_scene(slots=3, caps={"p": 2})
        for name, agent, provider in (
            ("x1", "X", "p"),
            ("x2", "X", "p"),  # X is busy
            ("y1", "Y", "p"),
            ("z1", "Z", "p"),  # p is full
            ("w1", "W", None),
            ("v1", "V", None),  # the process is full
        ):
            scene.one.submit(ticket(name, agent=agent, cap=1, provider=provider), scene.work.of(name))
        await turns()
        assert scene.work.started == ["x1", "y1", "w1"]
        await scene.work.end("w1")
        assert scene.work.started[3:] == ["v1"]
        await scene.work.end("x1")
        assert scene.work.started[4:] == ["x2"]
        await scene.work.end("y1")
        assert scene.work.started[5:] == ["z1"]


class TestDelay:
    async def test_takes_no_slot_and_can_be_cancelled(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=1)
        work, part = scene.work, scene.one
        before = len(scene.clock.waiting)
        part.submit(ticket("later", delay_s=3.0), work.of("later"))
        part.submit(ticket("never", delay_s=4.0), work.of("never"))
        part.submit(ticket("now"), work.of("now"))
        await turns()
        assert work.started == ["now"]
        assert [seconds for seconds, _ in scene.clock.waiting[before:]][-2:] == [3.0, 4.0]
        part.cancel(NodeId("never"), before=2)
        scene.clock.let_pass(4.0)
        await work.end("now")
        assert work.started == ["now", "later"]
        await work.end("later")
        assert work.started == ["now", "later"]

    async def test_that_is_over_while_the_run_is_held_waits_on(self, make_scene: MakeScene) -> None:
        scene = make_scene()
        scene.one.submit(ticket("later", delay_s=3.0), scene.work.of("later"))
        await turns()
        scene.one.hold()
        scene.clock.let_pass(3.0)
        await turns()
        assert scene.work.started == []
        scene.one.go_on()
        await turns()
        assert scene.work.started == ["later"]


class TestCancelling:
    async def test_one_at_its_cap_does_not_block_the_ones_behind_it(self, make_scene: MakeScene) -> None:
        scene = make_scene()
        work, part = scene.work, scene.one
        for name in ("a1", "a2", "a3"):
            part.submit(ticket(name, cap=1), work.of(name))
        await turns()
        part.cancel(NodeId("a2"), before=2)
        await work.end("a1")
        assert work.started == ["a1", "a3"]

    async def test_nor_does_one_between_its_turn_and_its_start(self, make_scene: MakeScene) -> None:
        scene = make_scene()
        work, part = scene.work, scene.one
        for name in ("a1", "a2", "a3"):
            part.submit(ticket(name, cap=1), work.of(name))
        await turns()
        part.hold()
        await work.end("a1")  # a2 is next in line, and held
        part.cancel(NodeId("a2"), before=2)
        part.go_on()
        await turns()
        assert work.started == ["a1", "a3"]

    async def test_stops_older_generations_only(self, make_scene: MakeScene) -> None:
        scene = make_scene()
        work, part = scene.work, scene.one
        part.submit(ticket("a", generation=1), work.of("old"))
        part.submit(ticket("a", generation=2), work.of("new"))
        await turns()
        part.cancel(NodeId("a"), before=2)
        await turns()
        assert work.cancelled == ["old"]
        assert work.running == ["new"]
        part.cancel_all()
        await part.drain()
        assert work.cancelled == ["old", "new"]

    async def test_an_unknown_sub_task_is_no_error(self, make_scene: MakeScene) -> None:
        make_scene().one.cancel(NodeId("nowhere"), before=9)

    async def test_all_of_a_run_leaves_the_other_alone(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=2)
        runs = ((scene.one, "a"), (scene.other, "b"))
        for part, name in runs:
            part.submit(ticket("same"), scene.work.of(f"{name} runs"))
        for part, name in runs:
            part.submit(ticket("next"), scene.work.of(f"{name} waits"))
            part.submit(ticket("late", delay_s=1.0), scene.work.of(f"{name} is late"))
        await turns()
        scene.one.cancel_all()
        await turns()
        scene.clock.let_pass(1.0)
        await scene.work.end("b runs", "b waits", "b is late")
        assert scene.work.cancelled == ["a runs"]
        assert scene.work.started == ["a runs", "b runs", "b waits", "b is late"]
        scene.one.submit(ticket("again"), scene.work.of("again"))
        await turns()
        assert scene.work.started[-1] == "again", "the run can go on"

    async def test_one_that_does_not_let_itself_be_stopped_keeps_its_slot(
        self, make_scene: MakeScene
    ) -> None:
        scene = make_scene(slots=1)
        scene.one.submit(ticket("a"), scene.work.of("a", stubborn=True))
        await turns()
        scene.one.cancel_all()
        scene.other.submit(ticket("b"), scene.work.of("b"))
        await turns()
        assert (scene.work.running, scene.work.started) == (["a"], ["a"])
        await scene.work.end("a")
        assert scene.work.started == ["a", "b"]


class TestHolding:
    async def test_starts_nothing_and_what_runs_goes_on(self, make_scene: MakeScene) -> None:
        scene = make_scene()
        work, part = scene.work, scene.one
        part.submit(ticket("a"), work.of("a"))
        await turns()
        part.hold()
        part.submit(ticket("b"), work.of("b"))
        await work.end("a")
        await part.drain()
        assert work.started == ["a"]
        part.go_on()
        await turns()
        assert work.started == ["a", "b"]

    async def test_gives_the_slots_to_the_others(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=1, caps={"p": 1})
        for part, name in ((scene.one, "a"), (scene.other, "b")):
            for number in range(3):
                made = ticket(f"{number}", provider="p")
                part.submit(made, scene.work.of(f"{name}{number}"))
        await turns()
        scene.one.hold()
        await scene.work.end("a0", "b0", "b1")
        assert scene.work.started == ["a0", "b0", "b1", "b2"]
        assert scene.work.running == ["b2"]
        scene.one.go_on()
        await scene.work.end("b2", "a1")
        assert scene.work.started[-2:] == ["a1", "a2"]


class TestDraining:
    async def test_waits_for_what_runs_in_this_run_only(self, make_scene: MakeScene) -> None:
        scene = make_scene()
        scene.one.submit(ticket("a"), scene.work.of("a"))
        scene.other.submit(ticket("b"), scene.work.of("b"))
        drained = asyncio.ensure_future(scene.one.drain())
        await turns()
        assert not drained.done()
        await scene.work.end("a")
        await drained
        assert scene.work.running == ["b"]

    async def test_does_not_wait_for_delays(self, make_scene: MakeScene) -> None:
        scene = make_scene()
        scene.one.submit(ticket("a", delay_s=5.0), scene.work.of("a"))
        await scene.one.drain()


class TestFairness:
    async def test_runs_take_turns_whatever_their_priorities(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=1)
        for number in range(4):
            scene.one.submit(ticket(f"{number}", priority=100.0), scene.work.of(f"a{number}"))
        for number in range(4):
            scene.other.submit(ticket(f"{number}", priority=0.0), scene.work.of(f"b{number}"))
        await turns()
        for _ in range(8):
            await scene.work.end(scene.work.started[-1])
        assert scene.work.started == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3"]

    async def test_one_that_comes_late_waits_for_one_slot(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=2)
        for number in range(9):
            scene.one.submit(ticket(f"{number}"), scene.work.of(f"a{number}"))
        await turns()
        scene.other.submit(ticket("x"), scene.work.of("b0"))
        await scene.work.end("a0")
        assert scene.work.started == ["a0", "a1", "b0"]

    async def test_a_run_that_had_nothing_to_start_saves_no_turns_up(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=1)
        for number in range(6):
            scene.one.submit(ticket(f"{number}"), scene.work.of(f"a{number}"))
        await turns()
        await scene.work.end("a0", "a1", "a2")
        for number in range(3):
            scene.other.submit(ticket(f"{number}"), scene.work.of(f"b{number}"))
        for name in ("a3", "b0", "a4", "b1", "a5", "b2"):
            assert scene.work.started[-1] == name
            await scene.work.end(name)

    async def test_three_runs_on_one_provider(self, make_scene: MakeScene) -> None:
        scene = make_scene(caps={"p": 1})
        third = scene.shared.for_run(RunId("r-3"))
        for part, name in ((scene.one, "a"), (scene.other, "b"), (third, "c")):
            for number in range(3):
                made = ticket(f"{number}", provider="p", priority=float(number))
                part.submit(made, scene.work.of(f"{name}{number}"))
        await turns()
        for _ in range(9):
            await scene.work.end(scene.work.started[-1])
        # The first came into an empty house; from then on the longest path of each run, in turn.
        assert scene.work.started == ["a0", "b2", "c2", "a2", "b1", "c1", "a1", "b0", "c0"]

    async def test_a_turn_taken_on_one_provider_counts_on_the_other(self, make_scene: MakeScene) -> None:
        scene = make_scene(slots=1, caps={"p": 1, "q": 1})
        scene.one.submit(ticket("first"), scene.work.of("first"))
        for part, name in ((scene.one, "a"), (scene.other, "b")):
            for number, provider in enumerate(("p", "q", "p", "q")):
                made = ticket(f"{number}", provider=provider)
                part.submit(made, scene.work.of(f"{name}{number}"))
        await turns()
        for _ in range(9):
            await scene.work.end(scene.work.started[-1])
        assert scene.work.started == ["first", "b0", "a0", "b1", "a1", "b2", "a2", "b3", "a3"]


async def test_what_escapes_an_attempt_is_reported_and_frees_its_slot(make_scene: MakeScene) -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    scene = make_scene(slots=1)

    async def breaks() -> None:
        raise KeyError("a bug")

    scene.one.submit(ticket("a"), breaks)
    scene.one.submit(ticket("b"), scene.work.of("b"))
    await turns()
    assert [type(error) for error in reported] == [KeyError]
    assert scene.work.started == ["b"]
