"""Workshops for tests: one with the product's own parts over a few notes, one whose workers are written down."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.broker import Broker
from agents.results import WorkOutput, WorkResult
from agents.workers.ports import WorkOrder
from agents.workers.scripted import ANY, Answer, ScriptedWorker, ScriptKey
from graphs.plan import NodeId
from orchestrator.core.claims import Level, Verification, confidence
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from orchestrator.verification.ports import CheckOrder

DIMENSION = 16

NOTES: Mapping[str, str] = {
    "costs.md": "# Costs\n\nThe battery system costs €9.6 million without tax.\n\nThe fence costs €40,000.\n",
    "fire.md": "# Fire safety\n\nBattery containers must stand at least 3 m apart on all sides.\n",
    "设施.md": "# 泵房\n\n泵房的造价为320万元。\n",
}
"""A folder of notes, by file name."""


def write_notes(folder: Path) -> Path:
    """Write `NOTES`, and a file that is no text."""
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "picture.md").write_bytes(b"\x89PNG\x00\x01\x02\x00\xff")
    return folder


def real_shop(home: Path) -> Workshop:
    """Return the product's own workshop."""
    settings = Settings(home=home, lang="en")
    return Workshop(settings=settings, store=SqliteStore(settings.store_path))


class HashedEmbedder:
    """Gives every text a vector that depends on nothing but its characters: for runs in which it does not matter."""

    name = "use-multilingual-v3"
    version = "0"
    dimension = DIMENSION

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text."""
        rows = [np.frombuffer(hashlib.sha256(t.encode()).digest()[:DIMENSION], dtype=np.uint8) for t in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), DIMENSION) - 127.5
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


class LenientVerifier:
    """Passes whatever it is given."""

    def verify(self, order: CheckOrder) -> Verification:
        """Return a green light."""
        del order
        return Verification(outcome="passed", level=Level.L1, confidence=confidence((), (), Level.L1))


def scripted_shop(home: Path, script: Mapping[str, Answer | Exception]) -> Workshop:
    """Return a workshop whose workers do what `script` says per sub-task, and hand over a line for every other one."""
    entries: dict[ScriptKey, WorkResult | Answer | Exception] = {
        (NodeId(node), ANY): entry for node, entry in script.items()
    }
    for node in "abcd":
        entries.setdefault((NodeId(node), ANY), _line)
    worker = ScriptedWorker(entries)
    settings = Settings(home=home, lang="en")
    return Workshop(
        settings=settings,
        store=SqliteStore(settings.store_path),
        embedder=HashedEmbedder(),
        worker_for=lambda _: worker,
        verifier=LenientVerifier(),
    )


def _line(order: WorkOrder, broker: Broker) -> WorkResult:
    del broker
    # No letters: vectors of characters would find a knowledge domain in any sentence.
    output = WorkOutput(text=f"{len(order.inputs) + 1}.")
    return WorkResult(output=output, candidate_complete=True, mode="scripted", path=order.path)


async def never(order: WorkOrder, broker: Broker) -> WorkResult:
    """Work until stopped."""
    await asyncio.Event().wait()
    return _line(order, broker)


def stuck(order: WorkOrder, broker: Broker) -> WorkResult:
    """Hold the whole process up, whoever asks it to stop."""
    threading.Event().wait()
    return _line(order, broker)
