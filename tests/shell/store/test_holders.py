from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.shell.store.errors import RunBusy
from orchestrator.shell.store.holders import acquire_here, is_gone, this_process
from orchestrator.shell.store.sqlite_store import SqliteStore

ROOT = Path(__file__).parents[3]
HOLD = """
import sys
from pathlib import Path
from orchestrator.shell.store.holders import acquire_here, this_process
from orchestrator.shell.store.sqlite_store import SqliteStore
acquire_here(SqliteStore(Path(sys.argv[1])), "r-1", this_process(), 3600.0)
print(this_process(), flush=True)
sys.stdin.read()
"""

only_on_linux = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="elsewhere a lease has to expire"
)


def test_this_process_is_not_gone() -> None:
    assert not is_gone(this_process())


@pytest.mark.parametrize("holder", ["", "host:1", "host:999999@other.1/5", "x", "host:1@/1"])
def test_what_cannot_be_known_is_not_gone(holder: str) -> None:
    assert not is_gone(holder)


@only_on_linux
def test_a_number_that_went_to_another_process_is_gone() -> None:
    before, _, start = this_process().rpartition("/")
    assert is_gone(f"{before}/{int(start) - 1}")


@only_on_linux
def test_a_run_goes_on_at_once_after_its_executor_was_killed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    store.create_run("r-1", "t", "2025")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "runs.db")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        holder = process.stdout.readline().strip()
        assert not is_gone(holder)
        with pytest.raises(RunBusy, match=f"executed by process {process.pid} on") as busy:
            acquire_here(store, "r-1", this_process(), 30.0)
        assert busy.value.holder == holder
        process.kill()
    assert is_gone(holder)
    lease = acquire_here(store, "r-1", this_process(), 30.0)
    assert (lease.epoch, lease.holder) == (2, this_process())
    with pytest.raises(RunBusy):
        acquire_here(store, "r-1", this_process(), 30.0)
    store.close()
