"""Fixtures of the verification's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verification.cases import Notes


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """Return an empty folder of notes."""
    return Notes(root=tmp_path)
