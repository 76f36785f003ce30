"""Settings come from the environment once; the command line beats it, the locale is the last word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from orchestrator.shell.settings import InvalidSetting, settings_from


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({"MASKGRAD_LANG": "zh"}, "zh"),
        ({"MASKGRAD_LANG": "ZH_cn"}, "zh"),
        ({"MASKGRAD_LANG": "en-GB", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"MASKGRAD_LANG": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LC_ALL": "de_DE.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_MESSAGES": "Chinese (Simplified)_China.936"}, "zh"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "POSIX"}, "en"),
    ],
)
def test_the_language(environment: Mapping[str, str], lang: str) -> None:
    assert settings_from(environment).lang == lang


def test_the_command_line_beats_the_environment() -> None:
    assert settings_from({"MASKGRAD_LANG": "zh"}, lang="en").lang == "en"


@pytest.mark.parametrize("name", ["fr", "zhuang", "english", "e n"])
def test_another_language_is_refused_with_what_is_accepted(name: str) -> None:
    with pytest.raises(InvalidSetting, match=rf"language '{name}' is not supported; accepted: 'en' or 'zh'"):
        settings_from({}, lang=name)
    with pytest.raises(InvalidSetting):
        settings_from({"MASKGRAD_LANG": name})


def test_the_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert settings_from({"MASKGRAD_HOME": str(tmp_path)}).store_path == tmp_path / "runs.db"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings_from({"MASKGRAD_HOME": "~/here"}).home == tmp_path / "here"
    assert settings_from({}).home.name == "maskgrad"
    assert not (tmp_path / "here").exists()
