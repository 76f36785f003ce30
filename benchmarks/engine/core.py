"""What the pure core takes for an event: `apply` and `decide` over the log of a whole run, nothing else."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.engine.loads import Load
from benchmarks.engine.notes import write_node_notes
from benchmarks.engine.ours import ScriptedWorker, approved_run, workshop
from orchestrator.core.decide import decide
from orchestrator.core.events import AttemptStarted, Event
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import apply, fold
from orchestrator.run import execute
from orchestrator.shell.collector import rare_passes
from orchestrator.shell.runs import events_of

_RUN = RunId("r-1")


def log_of(load: Load) -> tuple[Event, ...]:
    """Execute `load` once and return its events."""
    with TemporaryDirectory() as name:
        notes = write_node_notes(Path(name) / "notes", load.parents)
        shop = workshop(Path(name), ScriptedWorker(load=load, notes=notes))
        run = approved_run(shop, load, notes)
        asyncio.run(execute(shop, run))
        try:
            return tuple(events_of(shop.store, run))
        finally:
            shop.store.close()


def cpu_per_event(events: Sequence[Event], repeats: int = 1) -> float:
    """Return the processor time of `apply` and `decide` per event, in seconds.

    From the first attempt on: what comes before happens once per run. `repeats` times the same, for short logs, each
    time as a run of its own (a plan remembers what was once written down about its sub-tasks), and with the garbage
    collector as an execution has it.
    """
    first = next(place for place, event in enumerate(events) if isinstance(event.body, AttemptStarted))
    spent = 0.0
    for _ in range(repeats):
        state = fold(_RUN, events[:first])
        gc.collect()
        with rare_passes():
            began = time.process_time()
            for event in events[first:]:
                state = apply(state, event)
                decide(state, event)
            spent += time.process_time() - began
    return spent / (repeats * (len(events) - first))
