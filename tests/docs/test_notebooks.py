"""Every notebook runs from top to bottom in a kernel of its own, and is stored without outputs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.docs.notebook_run import read_notebook

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def executed(tmp_path: Path) -> Any:
    """Return the quickstart after a run."""
    source, target = ROOT / "notebooks" / "01_quickstart.ipynb", tmp_path / "executed.ipynb"
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs.notebook_run", str(source), str(target)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path / "ipython")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return read_notebook(target)


def _texts(cells: Sequence[Any]) -> Iterator[str]:
    """Yield what the cells printed and showed."""
    for cell in cells:
        for output in cell.get("outputs", []):
            yield output.get("text", "")
            yield output.get("data", {}).get("text/markdown", "")


def test_the_quickstart_is_there() -> None:
    assert [path.name for path in NOTEBOOKS] == ["01_quickstart.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    book = read_notebook(path)
    nbformat.validate(book)
    for cell in book.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        assert cell.metadata == {}


def test_the_quickstart_shows_what_it_says(executed: Any) -> None:
    text = "\n".join(_texts(executed.cells))
    assert "reviewing revision 1" in text
    assert "econ.finance 1.00 -> 0.50 (main -> background)" in text
    assert "refused: " in text
    assert "completed after" in text
    assert "3.6 % fixed" in text
    assert re.search(r"^declared n2 A\d econ\.finance 0\.50 source budget-and-finance\.md:26", text, re.M)
    assert "UNDECLARED" not in text
    assert "What is the annual insurance premium for the plant? —" in text
    assert "verified against fire-safety-concept.md:11" in text
    assert "running {" in text
