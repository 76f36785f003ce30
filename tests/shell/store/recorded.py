"""Makes the stored run store of the fixtures: the run of `tests.core.recorded` with an artefact, a message, a lease, a
remembered failure and a checkpoint.

`python -m tests.shell.store.recorded FILE` writes it anew. Only for a new schema version, into a new file
(`tests/shell/store/fixtures/store-v<SCHEMA_VERSION>.db`): stores of the older versions exist, so theirs stay.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

from orchestrator.shell.runs import new_event
from orchestrator.shell.store.rows import CheckpointRow, WriteRow
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.recorded import recorded_run
from tests.core.simulation import RUN

MOMENT = 1_767_225_600.0
"""2026-01-01, by the clock of the store."""
ARTEFACT = "What an attempt made. 它做的。".encode()
HOLDER = "host:1@boot/1"
CHECKPOINT = CheckpointRow(
    thread=f"{RUN}/a/1/1/1",
    ns="",
    id="1f0",
    parent=None,
    encoding="msgpack",
    checkpoint=b"\x81\xa1v\x04",
    metadata=b'{"step":1}',
)
WRITE = WriteRow(
    thread=CHECKPOINT.thread,
    ns="",
    checkpoint=CHECKPOINT.id,
    task="t1",
    index=0,
    channel="work",
    encoding="msgpack",
    value=b"\xc0",
    path="~work",
)


def record(path: Path) -> None:
    """Write the store to `path`, as one file."""
    store = SqliteStore(path, clock=lambda: MOMENT)
    store.create_run(RUN, "Why? 为什么？", "2026-01-01T00:00:00.000Z")
    store.append(RUN, 0, [new_event(event) for event in recorded_run().log])
    store.put_artefact(ARTEFACT)
    store.post(RUN, "cancel", '{"by":"ann"}', "once")
    store.add_failure("compare", "extend_mask", "falsified", RUN)
    store.put_checkpoint(CHECKPOINT)
    store.put_checkpoint_writes([WRITE])
    store.acquire(RUN, HOLDER, 30.0)
    store.close()


if __name__ == "__main__":
    record(Path(sys.argv[1]))
    with sqlite3.connect(sys.argv[1]) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("VACUUM")
