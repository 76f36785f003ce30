"""Rules for every test: the same hypothesis examples in every run, no wall clock in a verdict, no data of the user's.

Sockets are closed for the whole suite by `--disable-socket` in pyproject.toml; that no provider of chat models can be
imported is tested in `tests/architecture/test_third_party.py`.
"""

from itertools import count

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=1_000)
# Loaded by default; `pytest --hypothesis-profile=explore` looks for new examples.
settings.load_profile("ci")

_homes = count(1)


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point the data directory to a fresh folder (made when it is first written to), and speak the default language."""
    monkeypatch.setenv("MASKGRAD_HOME", str(tmp_path_factory.getbasetemp() / f"maskgrad-{next(_homes)}"))
    for name in ("MASKGRAD_LANG", "MASKGRAD_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
