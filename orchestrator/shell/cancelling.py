"""End a run that a dead process left behind, with nothing but the store.

Nothing is executed, so neither the workshop nor the folder of notes is needed: what a crash left under way is ended
in the log, and its checkpoints go with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.core.events import (
    AttemptCancelled,
    Body,
    CancelRequested,
    ExecutorTookOver,
    RunEnded,
)
from orchestrator.core.ids import RunId
from orchestrator.core.state import ENDED, RunState
from orchestrator.core.transition import ACTIVE
from orchestrator.core.unsettled import end_gaps
from orchestrator.shell.ports import Clock
from orchestrator.shell.runs import append, load
from orchestrator.shell.store.holders import acquire_here, this_process
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.rows import AttemptThread

CANCEL_LEASE_S: Final = 30.0
"""How long the right to end a run holds; ending it is one commit."""


def cancel_left_behind(store: RunStore, clock: Clock, run: RunId, *, by: str) -> RunState:
    """Take over a run that nobody executes and end it as cancelled; return it as it is then.

    One commit holds the take-over, the end of every attempt that was under way and the end of the run; checkpoint
    threads and messages that wait go with it. A run that ended meanwhile is returned as it is. Raises `UnknownRun`, and
    `RunBusy` while a process executes it.
    """
    lease = acquire_here(store, run, this_process(), CANCEL_LEASE_S)
    try:
        # Read under the lease: nobody else appends from here on.
        state = load(store, run)
        if state.status in ENDED:
            return state
        return append(
            store,
            clock,
            state,
            [
                ExecutorTookOver(epoch=lease.epoch, holder=lease.holder),
                # One that was asked for before is the one that is carried out.
                *([] if state.cancelling else [CancelRequested(by=by)]),
                *_ends_of_attempts(state),
                RunEnded(outcome="cancelled", gaps=end_gaps(state)),
            ],
            lease=lease,
            delete_threads=tuple(_threads(state, lease.epoch)),
            folded=tuple(message.id for message in store.pending(run)),
        )
    finally:
        store.release(lease)


def _ends_of_attempts(state: RunState) -> Iterator[Body]:
    for name in sorted(state.nodes.keys()):
        node = state.node(name)
        if node.status in ACTIVE:
            yield AttemptCancelled(node=name, generation=node.generation, attempt=node.attempt)


def _threads(state: RunState, epoch: int) -> Iterator[str]:
    """Every checkpoint thread that may be left: of what was under way, of all executors until now."""
    for name in state.nodes:
        node = state.node(name)
        if node.status in ACTIVE:
            for earlier in range(1, epoch):
                yield AttemptThread(
                    run=state.run, node=name, generation=node.generation, attempt=node.attempt, epoch=earlier
                ).text
