"""What was learnt about costs, kept in `costs.json` of the data directory: factors, and what runs were estimated at.

A file that can't be read is a calibration that is lost: estimates go back to the plain arithmetic.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from agents.models.addresses import is_elsewhere
from agents.models.contract import Usage
from agents.models.prices import cost_of, prices_in
from agents.spec import ModelPolicy
from orchestrator.core.costs import (
    CostEstimate,
    CostKey,
    Price,
    Tokens,
    estimate_cost,
    measured,
    recalibrated,
)
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import ENDED, RunState
from orchestrator.shell.runs import events_of
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.ports import RunStore

COSTS_FILE: Final = "costs.json"
"""In the data directory."""
KEPT_ESTIMATES: Final = 500
"""Runs whose estimate is kept; the oldest goes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """How many times as many tokens one kind of sub-task takes as the arithmetic says."""

    key: CostKey
    times: Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CostBook:
    """The content of the file."""

    factors: tuple[Factor, ...] = ()
    estimates: Mapping[RunId, CostEstimate] = field(default_factory=dict)
    """What finished runs were estimated at before they were measured, oldest first."""

    @property
    def by_key(self) -> Mapping[CostKey, Tokens]:
        """The factors by what they are for."""
        return {factor.key: factor.times for factor in self.factors}


_BOOK: Final = TypeAdapter(CostBook)


def read_costs(settings: Settings) -> CostBook:
    """Return what was learnt; nothing where there is no file or it can't be read."""
    try:
        return _BOOK.validate_json((settings.home / COSTS_FILE).read_bytes())
    except (OSError, ValueError):
        return CostBook()


def price_of(settings: Settings) -> Price:
    """Return the price function of the data directory; raises `InvalidPricesFile`.

    As with the calls themselves, a server other than the provider's costs what the user's table says.
    """
    prices = prices_in(settings.home)
    users = prices.without_shipped()

    def price(policy: ModelPolicy, usage: Usage) -> float | None:
        return cost_of(usage, users if is_elsewhere(policy, os.environ) else prices)

    return price


def estimated(settings: Settings, proposal: Proposal, run: RunId | None = None) -> CostEstimate | None:
    """Return what a run is estimated at, or was before it was measured; `None` where no agent thinks with a model.

    Raises `InvalidPricesFile`.
    """
    book = read_costs(settings)
    kept = book.estimates.get(run) if run is not None else None
    return kept or estimate_cost(proposal, price_of(settings), book.by_key)


def learn(settings: Settings, store: RunStore, state: RunState) -> None:
    """Correct the factors by what a run consumed, if it has ended and asked a model; raises `OSError`.

    Raises `InvalidPricesFile`, too.
    """
    if state.status not in ENDED or state.proposal is None or not state.spent.calls:
        return
    book = read_costs(settings)
    if state.run in book.estimates:
        return
    estimate = estimate_cost(state.proposal, price_of(settings), book.by_key)
    if estimate is None:
        return
    factors = recalibrated(book.by_key, measured(state.proposal, events_of(store, state.run)))
    estimates = {**book.estimates, state.run: estimate}
    kept = dict(list(estimates.items())[-KEPT_ESTIMATES:])
    listed = tuple(Factor(key=key, times=factors[key]) for key in sorted(factors))
    _write(settings.home / COSTS_FILE, replace(book, factors=listed, estimates=kept))


def _write(path: Path, book: CostBook) -> None:
    """Write whole or not at all: another process may read meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=f".{COSTS_FILE}-", delete=False) as file:
        file.write(_BOOK.dump_json(book, indent=1))
    os.replace(file.name, path)
