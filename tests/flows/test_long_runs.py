"""Field report, kind 10: a giant result of a tool is stored once, shown as a preview, and a long run stays small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.flows.long_run import MIB, TOKENS_A_CALL, Measured

ROOT = Path(__file__).resolve().parents[2]
MOST_MIB = 350
"""Resident in total, interpreter and modules too (issue 4, "must show")."""


@cache
def measured(calls: int, megabytes: int, giants: int = 1) -> Measured:
    """What the run took, in a process of its own."""
    with TemporaryDirectory() as folder:
        made = subprocess.run(
            [sys.executable, "-m", "tests.flows.long_run", folder, *map(str, (calls, megabytes, giants))],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=False,
            text=True,
            encoding="utf-8",
        )
    assert made.returncode == 0, made.stderr
    return Measured(**json.loads(made.stdout))


@pytest.mark.parametrize(("calls", "megabytes"), [(50, 50), (100, 50)])
def test_kind_10_every_prompt_keeps_its_budget_beside_a_giant(calls: int, megabytes: int) -> None:
    run = measured(calls, megabytes)
    assert (run.status, run.calls, len(run.prompt_tokens)) == ("completed", calls, calls)
    assert run.giant_bytes >= megabytes * MIB
    assert run.shown_chars <= 4_200, "the preview, and the words around it"
    assert all(used <= budget for used, budget in zip(run.prompt_tokens, run.budgets, strict=True))
    assert sum(run.prompt_tokens) <= calls * TOKENS_A_CALL
    # What was said last is no reason for the next prompt to grow.
    assert max(run.prompt_tokens[10:]) <= max(run.prompt_tokens[:10])


def test_kind_10_the_same_giant_is_kept_once() -> None:
    run = measured(20, 5, 3)
    assert (run.status, len(run.wholes), len(set(run.wholes))) == ("completed", 3, 1)
    assert run.log_bytes < 50_000


def test_kind_10_the_memory_of_a_long_run_is_bounded() -> None:
    run = measured(100, 50)
    assert run.peak_mib <= MOST_MIB
    # Twice the calls take no more: what was asked before is let go.
    assert run.peak_mib - measured(50, 50).peak_mib <= 10


def test_kind_10_the_log_grows_with_the_calls_and_not_with_the_data() -> None:
    small, half, whole = measured(20, 5, 3), measured(50, 50), measured(100, 50)
    assert whole.log_bytes < MIB
    # The same for each call, wherever the run stands and however much data there was.
    first, second = (half.log_bytes - small.log_bytes) / 30, (whole.log_bytes - half.log_bytes) / 50
    assert second == pytest.approx(first, rel=0.1)
