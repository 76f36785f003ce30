"""Chat models by name: `provider:model`, each provider's package imported when it is first used.

Keys come from the environment alone and stay in the client. The key of a provider goes to that provider: another
server gets the one of `SERVER_KEY`, or none, so that an address in a proposal can't lead a key away.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from agents.models.addresses import OWN_SERVERS, host_of
from agents.models.errors import InvalidBaseUrl, MissingKey, ProviderNotInstalled, UnknownProvider
from agents.models.forms import Dialect, SchemaMode
from agents.models.langchain import LangChainChat
from agents.models.prices import NO_PRICES, Prices
from agents.spec import ModelPolicy, is_server_address

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

DEFAULT_TIMEOUT_S: Final = 180.0
"""Longest silence of a provider: the model time of a whole sub-task (003 3.2), which the broker ends sooner."""

SERVER_KEY: Final = "MASKGRAD_API_KEY"
"""Environment variable: the key of a model server with an address of its own."""

NO_KEY: Final = "none"
"""Sent to a server with an address of its own where no key is set: clients insist on one, local servers ignore it."""

_EACH_ITS_OWN: Final[Mapping[str, str]] = {"Connection": "close"}
"""Headers of every request: no connection is kept for the next. One that was opened under an event loop that has
ended since, as of the planner when the run begins, or that the server cut while nobody asked, would be taken for a
failure of the model; a new one costs a fraction of what an answer takes. LangChain's clients share their connections in
the whole process, so that a new client for a new loop would not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """How the chat models of a provider are made."""

    extra: str
    """Of this distribution, with the package in it."""
    module: str
    kind: str
    """The class in `module`."""
    keys: tuple[str, ...]
    """Environment variables that may hold its key, the first one set counts; empty: it takes none."""
    dialect: Dialect
    schema_modes: tuple[SchemaMode, ...]


PROVIDERS: Final[Mapping[str, _Provider]] = {
    "openai": _Provider(
        extra="openai",
        module="langchain_openai",
        kind="ChatOpenAI",
        keys=("OPENAI_API_KEY",),
        dialect="openai",
        schema_modes=("json_schema", "json_mode", "prompt"),
    ),
    "anthropic": _Provider(
        extra="anthropic",
        module="langchain_anthropic",
        kind="ChatAnthropic",
        keys=("ANTHROPIC_API_KEY",),
        dialect="anthropic",
        schema_modes=("function_calling", "prompt"),
    ),
    "google_genai": _Provider(
        extra="google",
        module="langchain_google_genai",
        kind="ChatGoogleGenerativeAI",
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        dialect="google",
        schema_modes=("json_schema", "json_mode", "prompt"),
    ),
    "ollama": _Provider(
        extra="ollama",
        module="langchain_ollama",
        kind="ChatOllama",
        keys=(),
        dialect="ollama",
        schema_modes=("json_schema", "json_mode", "prompt"),
    ),
    "deepseek": _Provider(
        extra="deepseek",
        module="langchain_deepseek",
        kind="ChatDeepSeek",
        keys=("DEEPSEEK_API_KEY",),
        dialect="openai",
        schema_modes=("json_mode", "function_calling", "prompt"),
    ),
}


class _Access(NamedTuple):
    """Where a model is and with which key."""

    url: str
    key: str
    foreign: bool
    """Whether the server is somebody else's than the provider's."""


def open_chat(
    name: str,
    *,
    environ: Mapping[str, str],
    base_url: str | None = None,
    options: Mapping[str, Any] | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    prices: Prices = NO_PRICES,
) -> LangChainChat:
    """Return the chat model `name` (`provider:model`), at `base_url` where that is given; nothing is sent yet.

    `options` are further arguments of every call, such as `temperature`. The shipped prices count for the provider's
    own server alone.

    Raises `UnknownProvider`, `InvalidBaseUrl`, `MissingKey` and `ProviderNotInstalled`, each a `ChatUnavailable`.
    """
    provider, _, model = name.partition(":")
    known = PROVIDERS.get(provider)
    if known is None or not model.strip():
        raise UnknownProvider(name, tuple(PROVIDERS))
    access = _access(provider, known, base_url, environ)
    client = _MAKERS[known.dialect](_class_of(provider, access.foreign), model.strip(), access, timeout_s)
    return LangChainChat(
        client,
        name,
        schema_modes=_server_modes(known) if access.foreign else known.schema_modes,
        dialect=known.dialect,
        options=dict(options or {}),
        prices=prices.without_shipped() if access.foreign else prices,
        address=access.url,
        hide=() if access.key == NO_KEY else (access.key,),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStanding:
    """What models of a provider need here, and what of it is there."""

    provider: str
    extra: str
    """Of this distribution, with its package."""
    installed: bool
    address: str
    """Where its calls go without `--base-url`."""
    keys: tuple[str, ...]
    """Environment variables that may hold its key; empty: it needs none."""
    key: str | None
    """That of them which is set; never its value."""


def standings(environ: Mapping[str, str]) -> tuple[ProviderStanding, ...]:
    """Return how each provider stands, in their order; imports none and asks none.

    Its address is the user's own where that can be used, else the provider's.
    """
    found = []
    for name, known in PROVIDERS.items():
        own = OWN_SERVERS[name]
        users = own.named_by(environ)
        found.append(
            ProviderStanding(
                provider=name,
                extra=known.extra,
                installed=find_spec(known.module) is not None,
                address=users if users and is_server_address(users) else own.url,
                keys=known.keys,
                key=next((variable for variable in known.keys if environ.get(variable)), None),
            )
        )
    return tuple(found)


def chat_of(
    policy: ModelPolicy,
    *,
    environ: Mapping[str, str],
    timeout_s: float = DEFAULT_TIMEOUT_S,
    prices: Prices = NO_PRICES,
) -> LangChainChat | None:
    """Return the chat model that `policy` names, `None` where it names none; raises as `open_chat`."""
    if policy.kind != "model" or policy.model is None:
        return None
    return open_chat(
        policy.model, environ=environ, base_url=policy.base_url, timeout_s=timeout_s, prices=prices
    )


def _server_modes(known: _Provider) -> tuple[SchemaMode, ...]:
    """At another address anything may answer that has the provider's interface: llama.cpp's form is tried, too."""
    modes = list(known.schema_modes)
    if known.dialect == "openai" and "json_mode" in modes:
        modes.insert(modes.index("json_mode"), "json_object_schema")
    return tuple(modes)


def _access(provider: str, known: _Provider, base_url: str | None, environ: Mapping[str, str]) -> _Access:
    """Decide on the address and the key; see the head of this module."""
    server = OWN_SERVERS[provider]
    users = server.named_by(environ)
    url = _checked(base_url if base_url is not None else users or server.url)
    own = {host_of(server.url), *([host_of(users)] if users else [])}
    foreign = host_of(url) != host_of(server.url)
    if host_of(url) not in own:
        return _Access(url, environ.get(SERVER_KEY) or NO_KEY, foreign)
    if not known.keys:
        return _Access(url, NO_KEY, foreign)
    for variable in known.keys:
        if environ.get(variable):
            return _Access(url, environ[variable], foreign)
    if foreign and _is_loopback(url):
        return _Access(url, NO_KEY, foreign)
    raise MissingKey(provider, known.keys)


def _checked(url: str) -> str:
    if not is_server_address(url):
        raise InvalidBaseUrl(url)
    return url


def _is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in {"127.0.0.1", "::1", "localhost"}


_Maker = Callable[[Any, str, _Access, float], "BaseChatModel"]


def _openai(kind: Any, model: str, access: _Access, timeout_s: float) -> BaseChatModel:
    # Said on stderr of a schema that is refused; the next form is sent instead, see `LangChainChat`.
    for said in ("This model does not support OpenAI's structured", "Invalid schema for OpenAI's structured"):
        warnings.filterwarnings("ignore", message=said, category=UserWarning)
    made: BaseChatModel = kind(
        model=model,
        base_url=access.url,
        api_key=access.key,
        timeout=timeout_s,
        # Its own default ends a stream after two minutes of silence, which is what a small machine needs to read a
        # long prompt.
        stream_chunk_timeout=timeout_s,
        max_retries=0,
        default_headers=_EACH_ITS_OWN,
        stream_usage=True,
        # Only OpenAI itself has the other interface.
        use_responses_api=False if access.foreign else None,
    )
    return made


def _anthropic(kind: Any, model: str, access: _Access, timeout_s: float) -> BaseChatModel:
    made: BaseChatModel = kind(
        model=model,
        base_url=access.url,
        api_key=access.key,
        timeout=timeout_s,
        max_retries=0,
        default_headers=_EACH_ITS_OWN,
    )
    return made


def _google(kind: Any, model: str, access: _Access, timeout_s: float) -> BaseChatModel:
    made: BaseChatModel = kind(
        model=model,
        base_url=access.url,
        api_key=access.key,
        timeout=timeout_s,
        max_retries=0,
        additional_headers=dict(_EACH_ITS_OWN),
    )
    return made


def _ollama(kind: Any, model: str, access: _Access, timeout_s: float) -> BaseChatModel:
    headers = dict(_EACH_ITS_OWN)
    if access.key != NO_KEY:
        headers["Authorization"] = f"Bearer {access.key}"
    client: dict[str, Any] = {"timeout": timeout_s, "headers": headers}
    made: BaseChatModel = kind(model=model, base_url=access.url, client_kwargs=client)
    return made


_MAKERS: Final[Mapping[Dialect, _Maker]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "ollama": _ollama,
}


@cache
def _class_of(provider: str, foreign: bool) -> Any:
    """Import the provider's class, for its own or a `foreign` server; raises `ProviderNotInstalled`."""
    known = PROVIDERS[provider]
    try:
        kind = getattr(import_module(known.module), known.kind)
    except ImportError:
        raise ProviderNotInstalled(provider, known.extra) from None
    if known.dialect not in {"openai", "anthropic"}:
        return kind
    # Imported with the provider's package: it has no business in a process that thinks without one.
    answers = import_module("agents.models.tolerant_answers")
    if known.dialect == "openai":
        return answers.tolerant_openai(kind, foreign=foreign)
    return answers.tolerant_anthropic(kind)
