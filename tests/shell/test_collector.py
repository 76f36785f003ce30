"""The collector while runs are executed: set once, put back with the last one, and left alone where it is off."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from orchestrator.shell.collector import YOUNG_OBJECTS, rare_passes


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_it_passes_less_often_inside_and_as_before_afterwards() -> None:
    gc.set_threshold(700, 7, 9)
    with rare_passes():
        assert gc.get_threshold() == (YOUNG_OBJECTS, 7, 9)
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == (700, 7, 9)
    assert gc.get_freeze_count() == 0


def test_the_last_of_several_executions_puts_it_back() -> None:
    gc.set_threshold(700, 7, 9)
    one, other = rare_passes(), rare_passes()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold() == (YOUNG_OBJECTS, 7, 9)
    assert gc.get_freeze_count() > 0
    other.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 7, 9)


def test_an_error_puts_it_back_too() -> None:
    gc.set_threshold(700, 7, 9)
    with pytest.raises(LookupError), rare_passes():
        raise LookupError
    assert gc.get_threshold() == (700, 7, 9)


@pytest.mark.parametrize("chosen", [(0, 7, 9), (YOUNG_OBJECTS + 1, 7, 9)])
def test_what_passes_less_often_already_stays(chosen: tuple[int, int, int]) -> None:
    gc.set_threshold(*chosen)
    with rare_passes():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen
