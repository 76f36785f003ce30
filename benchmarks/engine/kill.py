"""W5: a run of W2 is killed with SIGKILL when half of its nodes are accepted, and a new process goes on with it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.engine.child import ACCEPTED, LOADS, NOTES, RUN, answer_of, command, go_on
from benchmarks.engine.loads import Load
from benchmarks.engine.notes import Notes, write_node_notes
from orchestrator.shell.runs import load as state_in
from orchestrator.shell.store.sqlite_store import SqliteStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """One run that was killed and gone on with."""

    finished: int
    """Nodes that were accepted when the process was gone."""
    rerun: int
    """Of those, the ones that ran again."""
    digest_equal: bool
    """Whether result and outputs are those of the run that nobody disturbed."""
    rest_s: float
    """From the second process's call of `execute` to its end."""
    ideal_s: float
    """Longest path through what was not accepted: the work that a kill interrupts starts again."""
    restart_s: float
    """From the start of the second process, imports included, to its end."""


class NotInterrupted(RuntimeError):
    """The run was over before it could be killed."""


def kill_and_resume(load: Load) -> Resumed:
    """Execute `load` twice, once undisturbed and once killed at half; raises `NotInterrupted`."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        notes = write_node_notes(folder / "notes", load.parents)
        undisturbed = go_on(_home(folder / "whole", load, notes), load, notes)
        home = _home(folder / "killed", load, notes)
        _run_until(home, len(load.parents) // 2)
        accepted = _accepted(home)
        if len(accepted) == len(load.parents):
            raise NotInterrupted(f"{load.name}: all {len(accepted)} nodes were accepted before the kill")
        began = time.perf_counter()
        rest = answer_of("run", str(home))
        restart_s = time.perf_counter() - began
    return Resumed(
        finished=len(accepted),
        rerun=len(accepted & set(rest["started"])),
        digest_equal=rest["digest"] == undisturbed["digest"] and rest["status"] == undisturbed["status"],
        rest_s=rest["wall"],
        ideal_s=load.without(frozenset(accepted)).critical_path(),
        restart_s=restart_s,
    )


def _home(folder: Path, load: Load, notes: Notes) -> Path:
    folder.mkdir()
    (folder / "load.json").write_bytes(LOADS.dump_json(load))
    (folder / "notes.json").write_bytes(NOTES.dump_json(notes))
    return folder


def _run_until(home: Path, accepted: int) -> None:
    """Start a child and kill it as soon as it has accepted `accepted` nodes."""
    with subprocess.Popen(command("run", str(home)), stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None, "asked for"
        for count, _ in enumerate(line for line in child.stdout if line.startswith(ACCEPTED)):
            if count + 1 == accepted:
                break
        child.kill()


def _accepted(home: Path) -> Set[str]:
    """Return the nodes that are accepted by what is on disk now."""
    store = SqliteStore(home / "runs.db")
    try:
        state = state_in(store, RUN)
    finally:
        store.close()
    return frozenset(str(name) for name in state.nodes if state.node(name).status == "accepted")
