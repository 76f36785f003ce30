"""A replay of a finished run yields the live state at every `seq`, and performs no effect."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import pytest

from agents.workers.embedded.registry import EmbeddedWorker
from graphs.contract import Lang
from orchestrator.core.events import Event
from orchestrator.core.state import RunState
from orchestrator.run import execute
from orchestrator.shell.broker import RecordingBroker
from orchestrator.shell.clock import RandomIds, SystemClock
from orchestrator.shell.runs import load
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.wiring import Workshop
from orchestrator.verification.levels import StandardVerifier
from tests.flows.driver import EXAMPLES, NOTES, FixedIds, approved_run

EFFECTS: tuple[tuple[type[Any], str], ...] = (
    (EmbeddedWorker, "work"),
    (RecordingBroker, "call_tool"),
    (RecordingBroker, "call_model"),
    (StandardVerifier, "verify"),
    (SystemClock, "now"),
    (SystemClock, "monotonic"),
    (SystemClock, "sleep"),
    (FixedIds, "run"),
    (FixedIds, "seed"),
    (RandomIds, "run"),
    (RandomIds, "seed"),
    (MemoryStore, "commit"),
    (MemoryStore, "now"),
    (MemoryStore, "get_artefact"),
    (socket.socket, "connect"),
)
"""Work, tools, checks, time, ids, writing, and reading what workers and tools returned."""


class EffectPerformed(BaseException):
    """Not an `Exception`, so that nothing catches it."""


def refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise EffectPerformed(name)

    return refuse


@contextmanager
def no_effects() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in EFFECTS:
            patch.setattr(owner, name, refusing(f"{owner.__name__}.{name}"))
        yield


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """One workshop for all goals: notes and exemplars are encoded once."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), lang="en")
    return Workshop(settings=settings, store=MemoryStore(), ids=FixedIds())


GOALS: list[dict[str, Any]] = json.loads((EXAMPLES / "goals.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: str(goal["goal"])[:24])
def test_every_shipped_example_replays_to_the_state_it_had_at_every_seq(
    shop: Workshop, goal: dict[str, Any]
) -> None:
    lang: Lang = goal["lang"]
    approved = approved_run(shop, goal["goal"], NOTES[lang])
    live: list[RunState] = []

    def keep(event: Event, state: RunState) -> None:
        assert event.seq == state.seq
        live.append(state)

    done = asyncio.run(asyncio.wait_for(execute(shop, approved.run, listeners=[keep]), 120))
    assert [state.seq for state in (approved, *live)] == list(range(approved.seq, done.seq + 1))
    with no_effects():
        for expected in (approved, *live):
            assert load(shop.store, approved.run, at=expected.seq) == expected
        assert load(shop.store, approved.run) == done


def test_an_effect_would_be_noticed(shop: Workshop) -> None:
    with no_effects(), pytest.raises(EffectPerformed):
        approved_run(shop, GOALS[0]["goal"], NOTES["en"])
