"""The settings of a process, read once from the environment at the edge and passed down."""

from __future__ import annotations

import locale
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from platformdirs import user_data_path

from agents.models.rate_limits import RateLimit

if TYPE_CHECKING:  # every command reads the settings, and the contract's module costs pydantic's start-up
    from agents.spec import Provider
    from agents.tools.contract import Profile
    from graphs.contract import Lang

HOME: Final = "MASKGRAD_HOME"
"""Environment variable: the data directory."""
LANG: Final = "MASKGRAD_LANG"
"""Environment variable: `en` or `zh`, the language of everything that people read."""

STORE_MB: Final = "MASKGRAD_STORE_MB"
"""Environment variable: how large the run store may become, in megabytes; not set: as large as its disk."""
MAX_IN_FLIGHT: Final = "MASKGRAD_MAX_IN_FLIGHT"
"""Environment variable: how many attempts are in flight at a time in one process; not set: the scheduler's default."""
PROVIDER_CAPS: Final = "MASKGRAD_PROVIDER_CAPS"
"""Environment variable: how many of them may think with a model of a provider, such as `ollama=2,openai=4`."""
PROFILE: Final = "MASKGRAD_PROFILE"
"""Environment variable: `debug`, `evaluate` or `production`, what new proposals are drafted for; not set: the last."""
MODEL: Final = "MASKGRAD_MODEL"
"""Environment variable: the chat model that agents think with, such as `ollama:qwen3`; not set: none."""
PLANNER_MODEL: Final = "MASKGRAD_PLANNER_MODEL"
"""Environment variable: the chat model that plans; not set: that of the agents."""
BASE_URL: Final = "MASKGRAD_BASE_URL"
"""Environment variable: the address of their server; not set: the provider's own."""
MODEL_TIMEOUT: Final = "MASKGRAD_MODEL_TIMEOUT"
"""Environment variable: seconds that a model may be silent during a call; not set: the adapter's default."""
MODELS: Final = "MASKGRAD_MODELS"
"""Environment variable: `off` keeps this process from asking any chat model; not set or `on`: the switch in the data
directory says (`maskgrad models`)."""
OTEL: Final = "MASKGRAD_OTEL"
"""Environment variable: `1` sends spans of executed runs; where to is said by OpenTelemetry's own variables."""
OTEL_CONTENT: Final = "MASKGRAD_OTEL_CONTENT"
"""Environment variable: `1` lets texts (goal, arguments, results) into the spans."""

PROFILES: Final = ("debug", "evaluate", "production")
_SWITCH: Final = {
    "1": True,
    "on": True,
    "true": True,
    "yes": True,
    "0": False,
    "off": False,
    "false": False,
    "no": False,
}

RATE_LIMITS: Final = "MASKGRAD_RATE_LIMITS"
"""Environment variable: what a provider takes in a minute, such as `openai=60rpm/90000tpm,ollama=30rpm`."""

_MEGABYTE: Final = 1_000_000
_WHOLE: Final = re.compile(r"0*[1-9][0-9]{0,8}")
_CAP: Final = re.compile(rf"\s*(?P<provider>[^\s=,:]+)\s*=\s*(?P<cap>{_WHOLE.pattern})\s*")


_LIMIT: Final = re.compile(
    rf"\s*(?P<provider>[^\s=,:]+)\s*=\s*(?:(?P<requests>{_WHOLE.pattern})rpm)?(?P<both>/)?"
    rf"(?:(?P<tokens>{_WHOLE.pattern})tpm)?\s*",
    re.IGNORECASE,
)


class InvalidSetting(ValueError):
    """A setting with a value that is not accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where data is kept and how people are spoken to."""

    home: Path
    """The data directory; made when something is first written."""
    lang: Lang
    max_in_flight: int | None = None
    """Attempts in flight at a time, of all runs of the process; `None`: the scheduler's default."""
    provider_caps: Mapping[Provider, int] = field(default_factory=dict)
    """Attempts at a time whose agents think with a model of this provider, of all runs; no entry: no cap of its own."""
    rate_limits: Mapping[Provider, RateLimit] = field(default_factory=dict)
    """What a provider takes in any minute, of all runs; no entry: no limit of its own."""
    store_bytes: int | None = None
    """How large the run store may become; `None`: as large as its disk."""
    profile: Profile = "production"
    """What new proposals are drafted for, unless a command says otherwise."""
    model: str = ""
    """What agents of new proposals think with, `provider:model`; empty: no model."""
    planner_model: str = ""
    """What plans new goals; empty: what agents think with."""
    base_url: str = ""
    """Address of the server of both; empty: the provider's own."""
    model_timeout_s: float | None = None
    """How long a model may be silent during a call, in seconds; `None`: the adapter's default."""
    models_off: bool = False
    """Whether this process asks no chat model, whatever the switch in the data directory says."""
    otel: bool = False
    """Whether spans of executed runs are sent."""
    otel_content: bool = False
    """Whether they hold texts."""

    @property
    def store_path(self) -> Path:
        """The run store's file."""
        return self.home / "runs.db"

    @property
    def memory_path(self) -> Path:
        """The file of the long-term memory."""
        return self.home / "memory.db"


def settings_from(environment: Mapping[str, str], *, lang: str | None = None) -> Settings:
    """Return the settings of `environment`; `lang` (of the command line) beats `MASKGRAD_LANG`, that the locale.

    Raises `InvalidSetting` for a language other than `en` or `zh`, for a size, a number of attempts or seconds that is
    no whole number from 1, for caps and rate limits of providers that are not written as they should be, each provider
    once, for an unknown profile, and for a switch that is neither on nor off.
    """
    home = environment.get(HOME)
    return Settings(
        home=Path(home).expanduser() if home else user_data_path("maskgrad", appauthor=False),
        lang=lang_from(environment, lang=lang),
        max_in_flight=_attempts(environment.get(MAX_IN_FLIGHT, "")),
        provider_caps=_provider_caps(environment.get(PROVIDER_CAPS, "")),
        rate_limits=_rate_limits(environment.get(RATE_LIMITS, "")),
        store_bytes=_megabytes(environment.get(STORE_MB, "")),
        profile=profile_named(environment.get(PROFILE, ""), PROFILE),
        model=environment.get(MODEL, "").strip(),
        planner_model=environment.get(PLANNER_MODEL, "").strip(),
        base_url=environment.get(BASE_URL, "").strip(),
        model_timeout_s=_seconds(environment.get(MODEL_TIMEOUT, "")),
        models_off=not _is_on(environment, MODELS, default=True),
        otel=_is_on(environment, OTEL, default=False),
        otel_content=_is_on(environment, OTEL_CONTENT, default=False),
    )


def lang_from(environment: Mapping[str, str], *, lang: str | None = None) -> Lang:
    """Return the language alone, see `settings_from`; raises `InvalidSetting` for one other than `en` or `zh`."""
    return _language(lang or environment.get(LANG) or _of_locale(environment))


def profile_named(text: str, source: str) -> Profile:
    """Return the profile of that name, `production` for no name; `source` is the option or variable that gave it.

    Raises `InvalidSetting` for another name.
    """
    name = text.strip().casefold() or "production"
    if name not in PROFILES:
        raise InvalidSetting(
            f"profile {text!r} is not supported; accepted: 'debug', 'evaluate' or 'production' ({source})"
        )
    return cast("Profile", name)


def _is_on(environment: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = environment.get(name, "").strip()
    if not text:
        return default
    found = _SWITCH.get(text.casefold())
    if found is None:
        raise InvalidSetting(f"{name}={text!r} is not supported; accepted: 'on' or 'off' (or 1, 0)")
    return found


def _language(name: str) -> Lang:
    short = name.strip().casefold().replace("_", "-")
    if short == "zh" or short.startswith("zh-"):
        return "zh"
    if short == "en" or short.startswith("en-"):
        return "en"
    raise InvalidSetting(f"language {name!r} is not supported; accepted: 'en' or 'zh' (--lang or {LANG})")


def _megabytes(text: str) -> int | None:
    if not text.strip():
        return None
    if not _WHOLE.fullmatch(text.strip()):
        raise InvalidSetting(
            f"store size {text!r} is not supported; accepted: a whole number of megabytes from 1 ({STORE_MB})"
        )
    return int(text) * _MEGABYTE


def _attempts(text: str) -> int | None:
    if not text.strip():
        return None
    if not _WHOLE.fullmatch(text.strip()):
        raise InvalidSetting(
            f"number of attempts {text!r} is not supported; accepted: a whole number from 1 ({MAX_IN_FLIGHT})"
        )
    return int(text)


def _seconds(text: str) -> float | None:
    if not text.strip():
        return None
    if not _WHOLE.fullmatch(text.strip()):
        raise InvalidSetting(
            f"time of a model {text!r} is not supported; accepted: a whole number of seconds from 1 ({MODEL_TIMEOUT})"
        )
    return float(int(text))


def _provider_caps(text: str) -> Mapping[Provider, int]:
    """Return the caps of a text such as `ollama=2,openai=4`; a comma at the end is forgiven."""
    caps: dict[Provider, int] = {}
    for part in _parts(text):
        found = _CAP.fullmatch(part)
        provider = None if found is None else cast("Provider", found["provider"])
        if found is None or provider is None or provider in caps:
            raise InvalidSetting(
                f"cap of a provider {part!r} is not supported; accepted: NAME=NUMBER with a whole number from 1, each "
                f"provider once, such as 'ollama=2,openai=4' ({PROVIDER_CAPS})"
            )
        caps[provider] = int(found["cap"])
    return caps


def _rate_limits(text: str) -> Mapping[Provider, RateLimit]:
    """Return the limits of a text such as `openai=60rpm/90000tpm`; a comma at the end is forgiven."""
    limits: dict[Provider, RateLimit] = {}
    for part in _parts(text):
        found = _LIMIT.fullmatch(part)
        provider = None if found is None else cast("Provider", found["provider"])
        amounts = [] if found is None else [one for one in (found["requests"], found["tokens"]) if one]
        # One slash between two amounts, none beside a single one.
        joined = found is not None and bool(found["both"]) == (len(amounts) == 2)
        if found is None or provider is None or provider in limits or not amounts or not joined:
            raise InvalidSetting(
                f"rate limit of a provider {part!r} is not supported; accepted: NAME=REQUESTSrpm, NAME=TOKENStpm or "
                "both with a slash, whole numbers from 1 per minute, each provider once, such as "
                f"'openai=60rpm/90000tpm,ollama=30rpm' ({RATE_LIMITS})"
            )
        limits[provider] = RateLimit(
            requests_per_min=int(found["requests"]) if found["requests"] else None,
            tokens_per_min=int(found["tokens"]) if found["tokens"] else None,
        )
    return limits


def _parts(text: str) -> list[str]:
    parts = text.split(",")
    return parts[:-1] if not parts[-1].strip() else parts


def _of_locale(environment: Mapping[str, str]) -> str:
    """The locale's language where it is Chinese, else English: an unknown locale is no reason to fail."""
    name = next((environment[v] for v in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(v)), None)
    name = name if name is not None else (locale.getlocale()[0] or "")
    return "zh" if name.casefold().startswith(("zh", "chinese")) else "en"
