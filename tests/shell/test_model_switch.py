"""The switch is a file that any process sees; what can't be looked for counts as off."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.shell.model_switch import SWITCH_FILE, ModelSwitch
from orchestrator.shell.settings import InvalidSetting, Settings, settings_from


def switch_in(home: Path, *, models_off: bool = False) -> ModelSwitch:
    return ModelSwitch(Settings(home=home, lang="en", models_off=models_off))


def test_another_process_sees_it_at_once(tmp_path: Path) -> None:
    home = tmp_path / "not made yet"
    mine, theirs = switch_in(home), switch_in(home)
    assert not theirs.is_off()
    mine.turn_off("2026-11-30T10:00:00Z")
    assert theirs.is_off()
    assert theirs.since() == "2026-11-30T10:00:00Z"
    mine.turn_off("2026-12-01T10:00:00Z")
    assert theirs.since() == "2026-11-30T10:00:00Z", "it was off already"
    theirs.turn_on()
    theirs.turn_on()
    assert not mine.is_off()
    assert [path.name for path in home.iterdir()] == []


def test_the_environment_switches_one_process_off(tmp_path: Path) -> None:
    switch = switch_in(tmp_path, models_off=True)
    assert switch.is_off()
    assert not switch.is_set()


def test_a_folder_that_cannot_be_looked_into_counts_as_off(tmp_path: Path) -> None:
    """A name that is too long for the disk is an error that anybody can cause, also who may read everything."""
    assert switch_in(tmp_path / ("x" * 5_000)).is_off()


def test_anything_of_that_name_is_the_switch(tmp_path: Path) -> None:
    (tmp_path / SWITCH_FILE).mkdir()
    assert switch_in(tmp_path).is_off()
    assert switch_in(tmp_path).since() is None


@pytest.mark.parametrize(
    ("text", "off"), [("off", True), ("0", True), ("No", True), ("on", False), ("1", False), ("", False)]
)
def test_the_variable(text: str, off: bool) -> None:
    assert settings_from({"MASKGRAD_MODELS": text}).models_off is off


@pytest.mark.parametrize("name", ["MASKGRAD_MODELS", "MASKGRAD_OTEL", "MASKGRAD_OTEL_CONTENT"])
def test_a_switch_that_is_neither_on_nor_off_is_refused(name: str) -> None:
    with pytest.raises(InvalidSetting, match=f"{name}='maybe' is not supported; accepted: 'on' or 'off'"):
        settings_from({name: "maybe"})
