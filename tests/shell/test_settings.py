"""Settings come from the environment once; the command line beats it, the locale is the last word."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from agents.models.rate_limits import RateLimit
from agents.spec import AgentId, Provider
from graphs.plan import NodeId
from orchestrator.core.ids import RunId
from orchestrator.shell.ports import AttemptKey, Ticket
from orchestrator.shell.settings import InvalidSetting, settings_from
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.wiring import Workshop


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


@pytest.mark.parametrize(
    ("text", "number"),
    [("", None), (" ", None), ("1", 1), (" 8 ", 8), ("007", 7), ("999999999", 999_999_999)],
)
def test_how_many_attempts_are_in_flight(text: str, number: int | None) -> None:
    assert settings_from({"MASKGRAD_MAX_IN_FLIGHT": text}).max_in_flight == number
    assert settings_from({}).max_in_flight is None


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "1e3", "٣", "1000000000", "8,9"])
def test_a_number_of_attempts_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(
        InvalidSetting, match=r"accepted: a whole number from 1 \(MASKGRAD_MAX_IN_FLIGHT\)"
    ) as refused:
        settings_from({"MASKGRAD_MAX_IN_FLIGHT": text})
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "caps"),
    [
        ("", {}),
        (" , ", None),
        ("ollama=2,openai=4", {"ollama": 2, "openai": 4}),
        (" ollama = 2 , azure-openai=16,", {"ollama": 2, "azure-openai": 16}),
    ],
)
def test_caps_of_providers(text: str, caps: Mapping[str, int] | None) -> None:
    environment = {"MASKGRAD_PROVIDER_CAPS": text}
    if caps is None:
        with pytest.raises(InvalidSetting):
            settings_from(environment)
        return
    assert dict(settings_from(environment).provider_caps) == caps


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ollama", "ollama"),
        ("ollama=2,openai", "openai"),
        ("ollama=0", "ollama=0"),
        ("ollama=-2", "ollama=-2"),
        ("=2", "=2"),
        ("ollama=2,,openai=4", ""),
        ("ollama=2;openai=4", "ollama=2;openai=4"),
        ("ollama:qwen=2", "ollama:qwen=2"),
        ("ollama=2,ollama=3", "ollama=3"),
    ],
)
def test_a_cap_that_can_not_be_read_is_named(text: str, named: str) -> None:
    with pytest.raises(
        InvalidSetting, match=r"NAME=NUMBER .+ 'ollama=2,openai=4' \(MASKGRAD_PROVIDER_CAPS\)"
    ) as refused:
        settings_from({"MASKGRAD_PROVIDER_CAPS": text})
    assert repr(named) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("", {}),
        (" , ", None),
        ("openai=60rpm", {"openai": RateLimit(requests_per_min=60)}),
        ("openai=90000tpm", {"openai": RateLimit(tokens_per_min=90_000)}),
        (
            " openai = 60rpm/90000tpm , azure-openai=1RPM,",
            {
                "openai": RateLimit(requests_per_min=60, tokens_per_min=90_000),
                "azure-openai": RateLimit(requests_per_min=1),
            },
        ),
    ],
)
def test_rate_limits_of_providers(text: str, limits: Mapping[str, RateLimit] | None) -> None:
    environment = {"MASKGRAD_RATE_LIMITS": text}
    if limits is None:
        with pytest.raises(InvalidSetting):
            settings_from(environment)
        return
    assert dict(settings_from(environment).rate_limits) == limits


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("openai", "openai"),
        ("openai=60", "openai=60"),
        ("openai=", "openai="),
        ("openai=/", "openai=/"),
        ("openai=60rpm/", "openai=60rpm/"),
        ("openai=/90000tpm", "openai=/90000tpm"),
        ("openai=60rpm90000tpm", "openai=60rpm90000tpm"),
        ("openai=0rpm", "openai=0rpm"),
        ("openai=1.5rpm", "openai=1.5rpm"),
        ("openai=90000tpm/60rpm", "openai=90000tpm/60rpm"),
        ("openai=60rpm,,ollama=3rpm", ""),
        ("openai=60rpm;ollama=3rpm", "openai=60rpm;ollama=3rpm"),
        ("openai=60rpm,openai=61rpm", "openai=61rpm"),
    ],
)
def test_a_rate_limit_that_can_not_be_read_is_named(text: str, named: str) -> None:
    with pytest.raises(
        InvalidSetting, match=r"'openai=60rpm/90000tpm,ollama=30rpm' \(MASKGRAD_RATE_LIMITS\)"
    ) as refused:
        settings_from({"MASKGRAD_RATE_LIMITS": text})
    assert repr(named) in str(refused.value)


async def test_the_slots_of_a_process_are_those_of_the_environment(tmp_path: Path) -> None:
    """Two slots, and one of them at most for `ollama`: its second attempt waits, another one takes the free slot."""
    settings = settings_from(
        {
            "MASKGRAD_HOME": str(tmp_path),
            "MASKGRAD_MAX_IN_FLIGHT": "2",
            "MASKGRAD_PROVIDER_CAPS": "ollama=1",
        }
    )
    running: list[str] = []
    end = asyncio.Event()

    async def attempt(name: str) -> None:
        running.append(name)
        await end.wait()

    async with Workshop(settings=settings, store=MemoryStore()).engine() as engine:
        dispatcher = engine.dispatcher.for_run(RunId("r-1"))
        for name, provider in (("a", "ollama"), ("b", "ollama"), ("c", None), ("d", None)):
            key = AttemptKey(node=NodeId(name), generation=1, attempt=1)
            ticket = Ticket(
                key=key,
                agent=AgentId("A1"),
                agent_cap=9,
                priority=1.0,
                provider=Provider(provider) if provider else None,
            )
            dispatcher.submit(ticket, partial(attempt, name))
        await asyncio.sleep(0)
        assert running == ["a", "c"]
        end.set()
        await dispatcher.drain()
    assert sorted(running) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("text", "seconds"), [("", None), (" ", None), ("600", 600.0), (" 1 ", 1.0)])
def test_the_silence_of_a_model(text: str, seconds: float | None) -> None:
    assert settings_from({"MASKGRAD_MODEL_TIMEOUT": text}).model_timeout_s == seconds


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "10s", "for ever"])
def test_a_silence_that_is_no_number_of_seconds_is_named(text: str) -> None:
    with pytest.raises(
        InvalidSetting, match=r"whole number of seconds from 1 \(MASKGRAD_MODEL_TIMEOUT\)"
    ) as refused:
        settings_from({"MASKGRAD_MODEL_TIMEOUT": text})
    assert repr(text) in str(refused.value)
