"""The command line in a process that dies, as by `kill -9`, right after a given commit.

    python -m tests.flows.killed_cli TYPE ARGUMENT...

It executes `maskgrad ARGUMENT...` with the product's own store, workers and embedder, and kills itself as soon as an
event of TYPE that it recorded itself is on disk: the commit is there, and nothing that follows it is.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from orchestrator.interfaces.cli.app import run_command
from orchestrator.interfaces.cli.streams import Streams
from orchestrator.shell.store.ports import Operation, Outcome
from orchestrator.shell.store.sqlite_store import SqliteStore


def main(arguments: Sequence[str]) -> int:
    """Run the command line until the process kills itself; return its exit code if it never did."""
    awaited, *argv = arguments
    commit = SqliteStore.commit
    found: dict[str, int] | None = None

    def commit_and_die(store: SqliteStore, operations: Sequence[Operation[object]]) -> list[Outcome]:
        nonlocal found
        if found is None:
            found = {row.id: store.head(row.id) for row in store.runs()}
        outcomes = commit(store, operations)
        for row in store.runs():
            if any(stored.type == awaited for stored in store.events(row.id, found.get(row.id, 0))):
                os.kill(os.getpid(), signal.SIGKILL)
        return outcomes

    SqliteStore.commit = commit_and_die  # type: ignore[method-assign, assignment]
    return run_command(argv, os.environ, Streams())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
