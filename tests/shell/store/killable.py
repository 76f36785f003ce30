"""A process that writes to a store until it is killed, and says on stdout what was acknowledged.

`python -m tests.shell.store.killable PATH` appends to the runs `r-0` to `r-4` side by side. Each append ends an
attempt: it has an artefact that its payload names, and deletes the thread that was checkpointed for it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from orchestrator.shell.store.ports import Operation
from orchestrator.shell.store.rows import AttemptThread, CheckpointRow, artefact_digest
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.writer import Writer
from tests.shell.store.conformance import checkpoint, event

RUNS = tuple(f"r-{number}" for number in range(5))


def thread_of(run: str, seq: int) -> str:
    """Return the thread of the attempt that event `seq` ends."""
    return AttemptThread(run=run, node=f"n{seq}", generation=0, attempt=1, epoch=0).text


def artefact_of(run: str, seq: int) -> bytes:
    """Return what the attempt that event `seq` ends has made."""
    return f"{run} {seq} ".encode() * 80


def keep(row: CheckpointRow) -> Operation[None]:
    """Return the operation that keeps a checkpoint."""
    return lambda writes: writes.put_checkpoint(row)


async def append_forever(writer: Writer, run: str) -> None:
    """Append behind the head of the run, telling each acknowledged event."""
    head = writer.store.head(run)
    while True:
        seq = head + 1
        thread, artefact = thread_of(run, seq), artefact_of(run, seq)
        await writer.write(keep(checkpoint(thread, "c1", body=b"x" * 700)))
        done = event(payload=artefact_digest(artefact), idem=f"n{seq}.done")
        head = await writer.append(run, head, [done], artefacts=[artefact], delete_threads=[thread])
        os.write(1, f"{run} {head}\n".encode())


async def main(path: Path) -> None:
    """Write until killed."""
    writer = Writer(SqliteStore(path))
    await asyncio.gather(*(append_forever(writer, run) for run in RUNS))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
