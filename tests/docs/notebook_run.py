"""Execute a notebook in a kernel of its own and write it with its outputs.

    python -m tests.docs.notebook_run NOTEBOOK OUTPUT

A process of its own, because the client leaves its sockets to the garbage collector, which would fail tests at random.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

CELL_TIMEOUT_S: Final = 120
"""How long one cell may take, in seconds."""


def read_notebook(path: Path) -> Any:
    """Return the notebook at `path` in the current format."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def run_notebook(path: Path) -> Any:
    """Return the notebook with the outputs of a run in its own folder; raises `CellExecutionError`.

    The kernel talks over Unix sockets: no port is opened.
    """
    book = read_notebook(path)
    with tempfile.TemporaryDirectory() as folder:
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
        where = {"metadata": {"path": str(path.parent)}}
        NotebookClient(book, km=kernel, timeout=CELL_TIMEOUT_S, resources=where).execute()
    return book


def main(arguments: Sequence[str]) -> None:
    """Run the notebook that the first argument names, and write it to the second."""
    source, target = map(Path, arguments)
    nbformat.write(run_notebook(source), target)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(sys.argv[1:])
