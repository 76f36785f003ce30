"""Prices are data: what is written down counts, what is not is unknown."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agents.models.contract import Usage
from agents.models.errors import InvalidPricesFile
from agents.models.prices import NO_PRICES, Price, Prices, cost_of, prices_in, shipped_prices

TOKENS = st.integers(min_value=0, max_value=2_000_000)
CENTS = st.integers(min_value=0, max_value=10_000)


@given(TOKENS, TOKENS, TOKENS, CENTS, CENTS, CENTS)
def test_a_cost_is_the_sum_of_its_parts(
    read: int, cached: int, written: int, cents_in: int, cents_out: int, cents_cached: int
) -> None:
    price = Price(input=cents_in / 100, output=cents_out / 100, cached_input=cents_cached / 100)
    usage = Usage(model="x:m", input_tokens=read + cached, cached_input_tokens=cached, output_tokens=written)
    exact = Fraction(read * cents_in + cached * cents_cached + written * cents_out, 100 * 1_000_000)
    assert cost_of(usage, Prices(own={"x:m": price})) == pytest.approx(float(exact), rel=1e-9, abs=1e-12)


def test_kept_input_costs_as_much_as_other_where_nothing_else_is_said() -> None:
    usage = Usage(model="x:m", input_tokens=1_000_000, cached_input_tokens=900_000)
    assert cost_of(usage, Prices(own={"x:m": Price(input=3.0, output=9.0)})) == 3.0


def test_what_is_unknown_is_not_nothing() -> None:
    usage = Usage(model="x:m", input_tokens=5)
    assert cost_of(usage, NO_PRICES) is None
    assert cost_of(usage, Prices(own={"x:m": Price(input=0.0, output=0.0)})) == 0.0
    limited = Prices(own={"x:m": Price(input=1.0, output=1.0, up_to_input_tokens=5)})
    assert cost_of(usage, limited) == pytest.approx(5e-6)
    assert cost_of(Usage(model="x:m", input_tokens=6), limited) is None


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("x:m", 1.0),
        ("x:m-2026-01-31", 1.0),
        ("x:m-20260131", 1.0),
        ("x:m-latest", 1.0),
        ("x:m-2", None),
        ("x:m-mini", None),
        ("m", None),
        ("y:anything", 2.0),
        ("y:special", 3.0),
        ("z:m", None),
    ],
)
def test_which_price_a_model_has(model: str, found: float | None) -> None:
    table = Prices(
        shipped={"x:m": Price(input=9.0, output=0.0), "y:special": Price(input=9.0, output=0.0)},
        own={
            "x:m": Price(input=1.0, output=0.0),
            "y:*": Price(input=2.0, output=0.0),
            "y:special": Price(input=3.0, output=0.0),
        },
    )
    price = table.of(model)
    assert (price.input if price else None) == found


def test_every_shipped_price_names_its_source_and_day() -> None:
    held = yaml.safe_load(files("agents.models").joinpath("prices.yaml").read_text(encoding="utf-8"))
    assert len(shipped_prices()) == len(held) > 20
    for name, entry in held.items():
        assert name.split(":")[0] in {"openai", "anthropic", "google_genai", "deepseek"}
        assert entry["source"].startswith("https://")
        assert date.fromisoformat(entry["as_of"]) <= date(2026, 12, 31)
        assert 0 < entry["input"] < entry["output"]
        assert entry.get("cached_input", 0) < entry["input"]


def test_the_users_file_beats_what_is_shipped(tmp_path: Path) -> None:
    assert prices_in(tmp_path).own == {}
    (tmp_path / "prices.yaml").write_text(
        "openai:gpt-4o: {input: 1, output: 2, source: 合同, as_of: 2026-11-01}\n"
        "openai:local: {input: 0, output: 0}\n",
        encoding="utf-8",
    )
    prices = prices_in(tmp_path)
    assert prices.of("openai:gpt-4o") == Price(input=1.0, output=2.0)
    assert prices.of("openai:local") == Price(input=0.0, output=0.0)
    assert prices.of("openai:gpt-4o-mini") == shipped_prices()["openai:gpt-4o-mini"]
    assert prices.without_shipped().of("openai:gpt-4o-mini") is None


@pytest.mark.parametrize(
    "text",
    [
        "- a list",
        "openai:m: 5",
        "openai:m: {input: 1}",
        "openai:m: {input: 1, output: free}",
        "openai:m: {input: -1, output: 1}",
        "openai:m: {input: .inf, output: 1}",
        "openai:m: {input: true, output: 1}",
        "openai:m: {input: 1, output: 1, per: token}",
        "gpt-4o: {input: 1, output: 1}",
        "openai:m: {input: 1, output: [",
        "!!python/object/apply:os.getcwd []",
    ],
)
def test_a_file_that_can_not_be_used_is_named_with_what_is_accepted(text: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidPricesFile) as refused:
        prices_in(tmp_path)
    for lang in ("en", "zh"):
        told = refused.value.message(lang)
        assert str(path) in told
        assert "{input: 0.5, output: 1.5, cached_input: 0.1}" in told


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidPricesFile, match=r"prices\.yaml"):
        prices_in(tmp_path)
