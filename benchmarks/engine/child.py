"""What is measured in a process of its own: peak memory, and a run that is killed and gone on with.

    python -m benchmarks.engine.child memory NODES SEED constant|shipped
    python -m benchmarks.engine.child run FOLDER

Prints one JSON object as its last line; `run` prints a line for each accepted node before it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from agents.models.embedders import CachedEmbedder, UseEmbedder
from benchmarks.engine.loads import Load, w1
from benchmarks.engine.notes import Notes
from benchmarks.engine.ours import (
    ScriptedWorker,
    approved_run,
    digest_of_run,
    run_ours,
    workshop,
)
from orchestrator.core.events import AttemptVerified, Event
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.run import execute
from orchestrator.shell.store.errors import UnknownRun

RUN = RunId("r-1")
STATUS = Path("/proc/self/status")
"""Where Linux says what memory a process takes."""
ACCEPTED = "accepted "
"""Begins the line that a child prints for each accepted node."""
LOADS = TypeAdapter(Load)
NOTES = TypeAdapter(Notes)
"""(De)serialise what a child is to execute."""

_KIB = 1024


def command(*arguments: str) -> list[str]:
    """Return the command line of a child."""
    return [sys.executable, "-m", "benchmarks.engine.child", *arguments]


def answer_of(*arguments: str) -> dict[str, Any]:
    """Run a child to its end and return what it printed; raises `CalledProcessError` when it fails."""
    done = subprocess.run(command(*arguments), stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def memory(nodes: int, seed: int, shipped: bool) -> dict[str, float]:
    """Return the peak of resident memory during a W1 run above what the imports left, in MiB."""
    before = _memory("VmRSS")
    run_ours(w1(nodes, seed), embedder=CachedEmbedder(UseEmbedder()) if shipped else None)
    return {"imports": before, "above_imports": _memory("VmHWM") - before}


def go_on(
    folder: Path, load: Load, notes: Notes, listeners: Sequence[Callable[[Event, RunState], None]] = ()
) -> dict[str, Any]:
    """Execute the run in `folder` to its end, from the start or from where it was cut off."""
    worker = ScriptedWorker(load=load, notes=notes)
    shop = workshop(folder, worker)
    try:
        shop.store.run(RUN)
    except UnknownRun:
        approved_run(shop, load, notes)
    shop.prepare(notes.folder)
    began = time.perf_counter()
    state = asyncio.run(execute(shop, RUN, listeners=listeners))
    wall = time.perf_counter() - began
    digest = digest_of_run(shop, RUN, state)
    shop.store.close()
    return {"wall": wall, "started": worker.started, "status": state.status, "digest": digest}


def _tell_accepted(event: Event, state: RunState) -> None:
    del state
    if isinstance(event.body, AttemptVerified):
        print(f"{ACCEPTED}{event.body.node}", flush=True)


def _memory(which: str) -> float:
    """Return a line of the process's status in MiB; not `getrusage`, whose peak is inherited from the parent."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{which}:"):
            return int(line.split()[1]) / _KIB
    raise OSError(f"{str(STATUS)!r} has no line {which!r}")


def main(arguments: Sequence[str]) -> None:
    """Do what the first argument names."""
    match arguments:
        case ["memory", nodes, seed, embedder]:
            print(json.dumps(memory(int(nodes), int(seed), embedder == "shipped")))
        case ["run", folder]:
            home = Path(folder)
            load = LOADS.validate_json((home / "load.json").read_bytes())
            notes = NOTES.validate_json((home / "notes.json").read_bytes())
            print(json.dumps(go_on(home, load, notes, [_tell_accepted])))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
