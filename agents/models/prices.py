"""What tokens cost: data, not code. The shipped table names its sources; the user's `prices.yaml` beats it.

A price that nobody wrote down is unknown and shown as unknown, never taken for nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import yaml

from agents.models.contract import Usage
from agents.models.errors import InvalidPricesFile

PRICES_FILE: Final = "prices.yaml"
"""Name of the user's file in the data directory."""

_TOKENS: Final = 1_000_000
_DATED: Final = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
"""How providers name one version of a model; its price is that of the model."""
_NUMBERS: Final = ("input", "output", "cached_input", "up_to_input_tokens")
_TEXTS: Final = ("source", "as_of")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model costs, in USD per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """Of input that the provider had kept; `None`: as much as other input."""
    up_to_input_tokens: float | None = None
    """The price holds for requests of at most this many input tokens; of longer ones it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices by `provider:model`; `provider:*` stands for every other model of a provider."""

    shipped: Mapping[str, Price] = field(default_factory=dict)
    own: Mapping[str, Price] = field(default_factory=dict)
    """The user's; each beats the shipped one of the same model."""

    def of(self, model: str) -> Price | None:
        """Return the price of `model` (`provider:model`), which may name a version; `None`: unknown."""
        plain = _DATED.sub("", model)
        everything = f"{model.partition(':')[0]}:*"
        for table in (self.own, self.shipped):
            for name in (model, plain, everything):
                if name in table:
                    return table[name]
        return None

    def without_shipped(self) -> Prices:
        """Return the user's prices alone: somebody else's server does not cost what the provider's does."""
        return Prices(own=self.own)


NO_PRICES: Final = Prices()


def cost_of(usage: Usage, prices: Prices) -> float | None:
    """Return what `usage` cost in USD, `usage.model` being `provider:model`; `None` where the price is unknown.

    >>> table = Prices(own={"x:m": Price(input=2.0, output=10.0, cached_input=0.5)})
    >>> cost_of(Usage(model="x:m", input_tokens=1_000_000, cached_input_tokens=400_000, output_tokens=50_000), table)
    1.9
    """
    price = prices.of(usage.model)
    if price is None or usage.input_tokens > (price.up_to_input_tokens or math.inf):
        return None
    cached = min(usage.cached_input_tokens, usage.input_tokens)
    kept = price.input if price.cached_input is None else price.cached_input
    spent = (usage.input_tokens - cached) * price.input + cached * kept + usage.output_tokens * price.output
    return spent / _TOKENS


def prices_in(home: Path) -> Prices:
    """Return the shipped prices with those of the user's file in the data directory `home`, if there is one.

    Raises `InvalidPricesFile`, which names the file, the entry and what is accepted.
    """
    path = home / PRICES_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Prices(shipped=shipped_prices())
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidPricesFile(path, str(error)) from error
    return Prices(shipped=shipped_prices(), own=_table(path, text))


@cache
def shipped_prices() -> Mapping[str, Price]:
    """Return the prices that come with the product; the file says where each is from and when it was read."""
    held = files("agents.models").joinpath(PRICES_FILE)
    return _table(Path(PRICES_FILE), held.read_text(encoding="utf-8"))


def _table(path: Path, text: str) -> Mapping[str, Price]:
    try:
        held = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidPricesFile(path, " ".join(str(error).split())) from error
    entries = {} if held is None else held
    if not isinstance(entries, dict):
        raise InvalidPricesFile(path, repr(held)[:60])
    return {str(name): _price(path, str(name), entry) for name, entry in entries.items()}


def _price(path: Path, name: str, entry: Any) -> Price:
    shown = f"{name}: {entry!r:.80}"
    if ":" not in name or not isinstance(entry, dict) or not {"input", "output"} <= set(entry):
        raise InvalidPricesFile(path, shown)
    if set(entry) - {*_NUMBERS, *_TEXTS}:
        raise InvalidPricesFile(path, shown)
    numbers = {key: entry[key] for key in _NUMBERS if entry.get(key) is not None}
    for number in numbers.values():
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf:
            raise InvalidPricesFile(path, shown)
    return Price(**{key: float(number) for key, number in numbers.items()})
