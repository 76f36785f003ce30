"""The rules of the suite hold in each of its processes: no network, no warning, examples that repeat, own data."""

import os
import socket
import warnings
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import SocketBlockedError


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_no_test_reaches_a_network() -> None:
    with pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def test_a_warning_is_an_error() -> None:
    with pytest.raises(UserWarning, match="nobody looks at it"):
        warnings.warn("nobody looks at it", stacklevel=1)


def test_examples_are_the_same_in_every_run_and_no_deadline_judges_them() -> None:
    if settings.get_current_profile_name() != "ci":
        pytest.skip("another profile was asked for")
    assert settings.default is not None
    assert settings.default.derandomize
    assert settings.default.deadline is None


def test_data_is_kept_in_a_fresh_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = Path(os.environ["MASKGRAD_HOME"])
    assert home.parent == tmp_path_factory.getbasetemp()
    assert not home.exists()
    assert "MASKGRAD_LANG" not in os.environ
