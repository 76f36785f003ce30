"""A tab completes ids from the store; whatever is wrong with it completes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.interfaces.cli.completion import complete_domains, complete_requests, complete_runs
from tests.interfaces.cli.harness import call, store_log
from tests.interfaces.cli.logs import finished_log, suspended_log


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MASKGRAD_HOME", str(tmp_path))
    return tmp_path


def test_runs_requests_and_domains(home: Path) -> None:
    store_log(home, "r-aaa222", finished_log(), title="First\ngoal")
    store_log(home, "r-test", suspended_log())
    assert complete_runs("r-a") == [("r-aaa222", "First goal")]
    assert {name for name, _ in complete_runs("")} == {"r-aaa222", "r-test"}
    assert complete_requests("r-test.") == [("r-test.q1", "b")]
    assert ("cs.databases", "Databases") in [(d, name.split(" ")[0]) for d, name in complete_domains("cs.")]


def test_a_store_that_can_not_be_read_completes_nothing(home: Path) -> None:
    (home / "runs.db").write_bytes(b"no database" * 500)
    assert complete_runs("r") == []
    assert complete_requests("r") == []


def test_a_shell_gets_the_ids(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_log(home, "r-aaa222", finished_log())
    monkeypatch.setenv("_MASKGRAD_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "maskgrad show r-")
    monkeypatch.setenv("COMP_CWORD", "2")
    called = call(home=home)
    assert (called.code, called.out.split()) == (0, ["r-aaa222"])
