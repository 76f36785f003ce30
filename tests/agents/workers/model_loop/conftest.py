from pathlib import Path

import pytest

from tests.agents.workers.model_loop.stage import written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path)
