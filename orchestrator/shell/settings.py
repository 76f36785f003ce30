"""The settings of a process, read once from the environment at the edge and passed down."""

from __future__ import annotations

import locale
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from platformdirs import user_data_path

if TYPE_CHECKING:  # every command reads the settings, and the contract's module costs pydantic's start-up
    from agents.spec import Provider
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

_MEGABYTE: Final = 1_000_000
_WHOLE: Final = re.compile(r"0*[1-9][0-9]{0,8}")
_CAP: Final = re.compile(rf"\s*(?P<provider>[^\s=,:]+)\s*=\s*(?P<cap>{_WHOLE.pattern})\s*")


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
    store_bytes: int | None = None
    """How large the run store may become; `None`: as large as its disk."""

    @property
    def store_path(self) -> Path:
        """The run store's file."""
        return self.home / "runs.db"


def settings_from(environment: Mapping[str, str], *, lang: str | None = None) -> Settings:
    """Return the settings of `environment`; `lang` (of the command line) beats `MASKGRAD_LANG`, that the locale.

    Raises `InvalidSetting` for a language other than `en` or `zh`, for a size or a number of attempts that is no whole
    number from 1, and for caps of providers that are not written as `NAME=NUMBER`, each provider once.
    """
    home = environment.get(HOME)
    return Settings(
        home=Path(home).expanduser() if home else user_data_path("maskgrad", appauthor=False),
        lang=lang_from(environment, lang=lang),
        max_in_flight=_attempts(environment.get(MAX_IN_FLIGHT, "")),
        provider_caps=_provider_caps(environment.get(PROVIDER_CAPS, "")),
        store_bytes=_megabytes(environment.get(STORE_MB, "")),
    )


def lang_from(environment: Mapping[str, str], *, lang: str | None = None) -> Lang:
    """Return the language alone, see `settings_from`; raises `InvalidSetting` for one other than `en` or `zh`."""
    return _language(lang or environment.get(LANG) or _of_locale(environment))


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


def _provider_caps(text: str) -> Mapping[Provider, int]:
    """Return the caps of a text such as `ollama=2,openai=4`; a comma at the end is forgiven."""
    caps: dict[Provider, int] = {}
    parts = text.split(",")
    for part in parts[:-1] if not parts[-1].strip() else parts:
        found = _CAP.fullmatch(part)
        provider = None if found is None else cast("Provider", found["provider"])
        if found is None or provider is None or provider in caps:
            raise InvalidSetting(
                f"cap of a provider {part!r} is not supported; accepted: NAME=NUMBER with a whole number from 1, each "
                f"provider once, such as 'ollama=2,openai=4' ({PROVIDER_CAPS})"
            )
        caps[provider] = int(found["cap"])
    return caps


def _of_locale(environment: Mapping[str, str]) -> str:
    """The locale's language where it is Chinese, else English: an unknown locale is no reason to fail."""
    name = next((environment[v] for v in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(v)), None)
    name = name if name is not None else (locale.getlocale()[0] or "")
    return "zh" if name.casefold().startswith(("zh", "chinese")) else "en"
