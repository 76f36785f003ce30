"""Another package that is called like one of ours is refused at the first import, with its file and the remedy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REMEDY = "python -m venv .venv && .venv/bin/pip install maskgrad"


def _import_orchestrator(*path: Path) -> subprocess.CompletedProcess[str]:
    """Import `orchestrator` in a fresh process that looks into `path`, in that order.

    Without the site packages (`-S`), where an installed maskgrad would be found; the guard needs the standard library.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-S", "-c", "import orchestrator; print(orchestrator.__file__)"],
        cwd=path[0],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_the_own_packages_are_accepted() -> None:
    done = _import_orchestrator(ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()) == ROOT / "orchestrator" / "__init__.py"


@pytest.mark.parametrize("name", ["agents", "graphs", "masks"])
@pytest.mark.parametrize("form", ["{}/__init__.py", "{}.py"], ids=["package", "module"])
def test_a_foreign_package_is_named_with_the_remedy(tmp_path: Path, name: str, form: str) -> None:
    foreign = tmp_path / form.format(name)
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("", encoding="utf-8")
    done = _import_orchestrator(tmp_path, ROOT)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"ImportError: the package {name!r} of maskgrad is hidden by {foreign}")
    assert REMEDY in message


def test_a_package_that_is_missing_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "orchestrator").symlink_to(ROOT / "orchestrator", target_is_directory=True)
    # What is imported is the repository's file; its neighbours are not on the path.
    done = _import_orchestrator(tmp_path)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert "'masks' of maskgrad is hidden by nothing (it is not installed)" in message
    assert REMEDY in message
