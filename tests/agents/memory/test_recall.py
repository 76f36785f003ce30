"""What is remembered is found by words or by meaning, and a nearest memory that has nothing to do with it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.memory.contract import Candidate, Memory, MemoryKind, Recalled, memory_of
from agents.memory.recall import RECALLED, recall
from agents.memory.shown import memory_parts
from agents.models.embedders import UseEmbedder

NOW = "2026-03-01T10:00:00.000Z"


def memory(text: str, kind: MemoryKind = "solution", now: str = "2026-02-01T10:00:00.000Z") -> Memory:
    return memory_of(
        Candidate(
            kind=kind,
            text=text,
            lang="en",
            origin="computed",
            taint="trusted",
            confirmed_by="delivery",
            source_run="r-1",
            task_class="research",
        ),
        now,
    )


BATTERY = memory("“How much does the battery system cost?” was completed by research × 2 → report")
WATER = memory("“新线的通水日期是哪一天？”由 research → report 完成")
LAW = memory(
    "research (law.civil) failed: a knowledge domain was closed; it passed after: an extended mask", "lesson"
)
ALL = (BATTERY, WATER, LAW)


@dataclass(frozen=True)
class Angles:
    """An embedder of two dimensions: each text has the angle that is given for it, in degrees; else 90."""

    degrees: Mapping[str, float]
    name: str = "angles"
    version: str = "1"
    dimension: int = 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.radians([self.degrees.get(text, 90.0) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def found(recalled: tuple[Recalled, ...]) -> list[Memory]:
    return [each.memory for each in recalled]


def test_by_words() -> None:
    assert found(recall(ALL, "the cost of a battery", now=NOW)) == [BATTERY]
    assert found(recall(ALL, "通水日期", now=NOW)) == [WATER]
    assert found(recall(ALL, "closed knowledge domains", now=NOW)) == [LAW]


def test_one_word_in_common_is_not_enough_unless_it_is_all_there_is() -> None:
    assert recall(ALL, "battery of tests for children", now=NOW) == ()
    assert found(recall(ALL, "battery", now=NOW)) == [BATTERY]
    assert recall(ALL, "  ", now=NOW) == ()
    assert recall((), "battery", now=NOW) == ()


def test_by_meaning_where_words_differ() -> None:
    near = Angles({"price of storage": 0.0, BATTERY.text: 60.0, WATER.text: 70.0})
    assert found(recall(ALL, "price of storage", now=NOW, embedder=near)) == [
        BATTERY
    ]  # cos 60° = 0.5, cos 70° = 0.34


def test_words_and_meaning_together_come_first() -> None:
    other = memory("“What does the battery system weigh, and what does it cost?” was completed by research")
    embedder = Angles({"battery system cost": 0.0, other.text: 80.0, BATTERY.text: 10.0})
    by_words = found(recall((BATTERY, other), "battery system cost", now=NOW))
    assert by_words == [other, BATTERY]  # the shorter text ranks first by words alone
    best, second = recall((BATTERY, other), "battery system cost", now=NOW, embedder=embedder)
    assert (best.memory, second.memory) == (other, BATTERY)  # meaning counts 0.3 of words
    assert best.score == pytest.approx(1 + 0.3 * 20 / 21)
    assert second.score == pytest.approx(20 / 21 + 0.3)


def test_preferences_hold_for_every_goal_and_what_expired_for_none() -> None:
    wishes = [replace(memory(f"Wish {n}.", "preference"), confirmed=f"2026-01-0{n}") for n in range(1, 8)]
    old = memory("battery cost", "lesson", now="2025-01-01T00:00:00.000Z")
    recalled = recall([*wishes, BATTERY, old], "battery cost", now=NOW)
    assert found(recalled) == [*wishes[:1:-1], BATTERY]
    assert len(recalled) == RECALLED + 1
    assert (
        len(
            recall(
                [*wishes, *(replace(BATTERY, text=f"battery cost {n}") for n in range(9))],
                "battery cost",
                now=NOW,
            )
        )
        == 2 * RECALLED
    )


@pytest.fixture(scope="module")
def shipped() -> UseEmbedder:
    return UseEmbedder()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is the price of the battery storage?", BATTERY),
        ("电池储能系统的价格是多少？", BATTERY),
        ("When does water flow through the new line?", WATER),
        ("How many goals did Messi score?", None),
    ],
)
def test_the_shipped_embedder_finds_across_languages_and_finds_nothing_unrelated(
    query: str, expected: Memory | None, shipped: UseEmbedder
) -> None:
    recalled = recall(ALL, query, now=NOW, embedder=shipped)
    assert found(recalled)[:1] == ([] if expected is None else [expected])


def test_in_a_prompt_a_memory_is_data_with_its_run_and_date() -> None:
    parts = memory_parts(
        recall([memory("Short lists.", "preference"), BATTERY], "battery cost", now=NOW), "en"
    )
    assert [(p.kind, p.key, p.where) for p in parts] == [
        ("memory", "M1", "preference, r-1, 2026-02-01"),
        ("memory", "M2", "solution, r-1, 2026-02-01"),
    ]
    assert parts[0].weight == 1.0
    (chinese,) = memory_parts(recall([WATER], "通水日期", now=NOW), "zh")
    assert (chinese.where, chinese.text) == ("解决方案，r-1，2026-02-01", WATER.text)
