"""The rules of the suite hold: no network, examples that repeat, data in a folder of its own."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import SocketBlockedError


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_no_test_reaches_a_network() -> None:
    with pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)


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
