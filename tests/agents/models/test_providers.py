"""Chat models by name: what is accepted, which key goes where, and what a refusal says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import pytest

from agents.models import providers
from agents.models.errors import (
    ChatUnavailable,
    InvalidBaseUrl,
    MissingKey,
    ProviderNotInstalled,
    UnknownProvider,
)
from agents.models.prices import Price, Prices
from agents.models.providers import PROVIDERS, chat_of, open_chat
from agents.spec import ModelPolicy

KEYS = {
    "OPENAI_API_KEY": "sk-o",
    "ANTHROPIC_API_KEY": "sk-a",
    "GEMINI_API_KEY": "sk-g",
    "DEEPSEEK_API_KEY": "sk-d",
}


def needs(provider: str) -> None:
    if find_spec(PROVIDERS[provider].module) is None:
        pytest.skip(f"the package of {provider} is not installed")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_opens_without_retries_and_with_a_time_out(provider: str) -> None:
    needs(provider)
    chat = open_chat(f"{provider}:some-model", environ=KEYS, timeout_s=12.5)
    assert chat.name == f"{provider}:some-model"
    assert getattr(chat.model, "max_retries", 0) == 0
    made: Any = chat.model
    match provider:
        case "anthropic":
            waits = made.default_request_timeout
        case "google_genai":
            waits = made.timeout
        case "ollama":
            waits = made.client_kwargs["timeout"]
        case _:
            waits = made.request_timeout
    assert waits == 12.5
    assert chat.schema_modes[-1] == "prompt"
    for key in KEYS.values():
        assert key not in repr(chat)


@pytest.mark.parametrize(
    "name", ["gpt-5", "openai", "openai:", "openai: ", ":m", "OpenAI:gpt", "mistral:x", ""]
)
def test_an_unknown_name_is_refused_with_what_is_accepted(name: str) -> None:
    with pytest.raises(UnknownProvider) as refused:
        open_chat(name, environ=KEYS)
    for lang in ("en", "zh"):
        told = refused.value.message(lang)
        assert repr(name) in told
        for provider in PROVIDERS:
            assert f"{provider}:" in told
        assert "--base-url" in told


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        ("openai", ["OPENAI_API_KEY"]),
        ("anthropic", ["ANTHROPIC_API_KEY"]),
        ("google_genai", ["GOOGLE_API_KEY", "GEMINI_API_KEY"]),
        ("deepseek", ["DEEPSEEK_API_KEY"]),
    ],
)
def test_a_missing_key_names_the_variable(
    provider: str, variables: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in variables:
        monkeypatch.setenv(variable, "sk-of-the-process")
    with pytest.raises(MissingKey) as refused:
        open_chat(f"{provider}:m", environ={variables[0]: ""})
    for lang in ("en", "zh"):
        assert all(variable in refused.value.message(lang) for variable in variables)
        assert "sk-of-the-process" not in refused.value.message(lang)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    providers._class_of.cache_clear()
    monkeypatch.setattr(providers, "import_module", missing)
    with pytest.raises(ProviderNotInstalled) as refused:
        open_chat("google_genai:gemini", environ=KEYS)
    for lang in ("en", "zh"):
        assert "pip install 'maskgrad[google]'" in refused.value.message(lang)
    assert isinstance(refused.value, ChatUnavailable)


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8091/v1",
        "ftp://host/v1",
        "http://",
        "http://me:secret@host/v1",
        "http://host:0/v1",
        "http://host:99999/v1",
        "http://a b/v1",
        "",
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidBaseUrl) as refused:
        open_chat("openai:m", environ=KEYS, base_url=url)
    for lang in ("en", "zh"):
        assert "secret" not in refused.value.message(lang)
        assert "http://127.0.0.1:8080/v1" in refused.value.message(lang)


def key_of(chat: Any) -> str:
    return str(chat.model.openai_api_key.get_secret_value())


@pytest.mark.parametrize(
    ("environ", "base_url", "key", "address"),
    [
        (KEYS, None, "sk-o", "https://api.openai.com/v1"),
        (KEYS, "https://api.openai.com/v1", "sk-o", "https://api.openai.com/v1"),
        (KEYS, "http://api.openai.com/v1", "none", "http://api.openai.com/v1"),
        (KEYS, "https://api.openai.com.evil.example/v1", "none", "https://api.openai.com.evil.example/v1"),
        (KEYS, "http://127.0.0.1:8091/v1", "none", "http://127.0.0.1:8091/v1"),
        ({}, "http://127.0.0.1:8091/v1", "none", "http://127.0.0.1:8091/v1"),
        ({"MASKGRAD_API_KEY": "mine"}, "https://host/v1", "mine", "https://host/v1"),
        ({**KEYS, "MASKGRAD_API_KEY": "mine"}, None, "sk-o", "https://api.openai.com/v1"),
        ({**KEYS, "OPENAI_BASE_URL": "https://proxy/v1"}, None, "sk-o", "https://proxy/v1"),
        ({**KEYS, "OPENAI_BASE_URL": "https://proxy/v1"}, "https://proxy/v1", "sk-o", "https://proxy/v1"),
        ({**KEYS, "OPENAI_BASE_URL": "https://proxy/v1"}, "https://other/v1", "none", "https://other/v1"),
        ({"OPENAI_BASE_URL": "http://localhost:1/v1"}, None, "none", "http://localhost:1/v1"),
    ],
)
def test_which_key_goes_to_which_address(
    environ: Mapping[str, str], base_url: str | None, key: str, address: str
) -> None:
    needs("openai")
    chat = open_chat("openai:m", environ=environ, base_url=base_url)
    made: Any = chat.model
    assert (key_of(chat), made.openai_api_base) == (key, address)
    assert chat.hide == (() if key == "none" else (key,))


def test_the_environment_of_the_process_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-process")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere/v1")
    made: Any = open_chat("openai:m", environ=KEYS).model
    assert (made.openai_api_key.get_secret_value(), made.openai_api_base) == (
        "sk-o",
        "https://api.openai.com/v1",
    )


def test_ollamas_address_may_be_a_host_alone() -> None:
    needs("ollama")
    made: Any = open_chat("ollama:qwen3", environ={"OLLAMA_HOST": "10.0.0.7:11434"}).model
    assert made.base_url == "http://10.0.0.7:11434"


def test_shipped_prices_count_for_the_providers_own_server_alone() -> None:
    needs("openai")
    price = Price(input=1.0, output=2.0)
    prices = Prices(shipped={"openai:m": price}, own={"openai:n": price})
    assert open_chat("openai:m", environ=KEYS, prices=prices).prices == prices
    local = open_chat("openai:m", environ={}, base_url="http://127.0.0.1:1/v1", prices=prices)
    assert local.prices == Prices(own={"openai:n": price})


def test_a_policy_names_its_model_and_its_server() -> None:
    needs("openai")
    assert chat_of(ModelPolicy(), environ=KEYS) is None
    assert chat_of(ModelPolicy(kind="scripted"), environ=KEYS) is None
    policy = ModelPolicy(kind="model", model="openai:local", base_url="http://127.0.0.1:8091/v1")
    chat = chat_of(policy, environ={})
    assert chat is not None
    made: Any = chat.model
    assert (chat.name, made.openai_api_base) == ("openai:local", "http://127.0.0.1:8091/v1")


@pytest.mark.parametrize(
    "module", ["agents.models.providers", "agents.models.prices", "agents.models.rate_limits"]
)
def test_no_provider_is_imported_before_it_is_used(module: str) -> None:
    packages = sorted({known.module for known in PROVIDERS.values()} | {"openai", "anthropic", "langgraph"})
    code = f"import sys, {module}; print([name for name in {packages!r} if name in sys.modules])"
    run: Callable[..., Any] = subprocess.run
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
