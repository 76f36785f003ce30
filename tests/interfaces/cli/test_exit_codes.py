"""The table of exit codes says what semantics 7 says."""

from __future__ import annotations

from typing import get_args

import pytest

from orchestrator.core.state import RunStatus
from orchestrator.interfaces.cli.exit_codes import MEANINGS, ExitCode, exit_code_of
from orchestrator.interfaces.cli.failures import EXIT_OF_KIND

# Typed from semantics 7, not from the code: state, ended by a limit, code.
TABLE: list[tuple[RunStatus, bool, int]] = [
    ("completed", False, 0),
    ("failed", False, 1),
    ("reviewing", False, 3),
    ("suspended", False, 3),
    ("partial", False, 4),
    ("blocked", False, 4),
    ("partial", True, 5),
    ("cancelled", False, 130),
    # In no state that semantics 7 names a code for: a draft and an approved run wait for a person to go on, a run
    # that is left while it is executed or paused was interrupted.
    ("drafting", False, 3),
    ("confirmed", False, 3),
    ("running", False, 130),
    ("paused", False, 130),
]


@pytest.mark.parametrize(("status", "stopped", "code"), TABLE)
def test_code_of_each_state(status: RunStatus, stopped: bool, code: int) -> None:
    assert exit_code_of(status, stopped=stopped) == code


def test_every_state_is_in_the_table() -> None:
    assert {status for status, _, _ in TABLE} == set(get_args(RunStatus))


def test_every_code_has_a_meaning_in_both_languages() -> None:
    assert set(MEANINGS) == set(ExitCode)
    assert all(texts["en"] and texts["zh"] for texts in MEANINGS.values())


def test_the_table_says_that_a_cancelled_run_is_final_and_a_busy_one_refused() -> None:
    assert MEANINGS[ExitCode.INTERRUPTED]["en"].endswith("or cancelled: final")
    assert MEANINGS[ExitCode.INTERRUPTED]["zh"].endswith("或已取消：不可再继续")
    assert EXIT_OF_KIND["busy"] is ExitCode.USAGE
    assert "another process executes the run" in MEANINGS[ExitCode.USAGE]["en"]
    assert "正由其他进程执行" in MEANINGS[ExitCode.USAGE]["zh"]
