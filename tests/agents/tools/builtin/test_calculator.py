"""The calculator: exact values, percentages, and no way to more than arithmetic."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.builtin.arithmetic import NotCalculable, calculate, decimal_text
from agents.tools.builtin.calculator import Calculate
from agents.tools.contract import ToolError, ToolOk


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.1 + 0.2", "0.3"),
        ("1/3 + 1/6", "0.5"),
        ("15% of 80", "12"),
        ("200 * 15%", "30"),
        ("200 + 10%", "200.1"),
        ("80 的 15%", None),
        ("15%的80", "12"),
        ("(1 + 5%) ** 2", "1.1025"),
        ("17 % 5", "2"),
        ("-17 // 5", "-4"),
        ("１２×３÷４", "9"),
        ("9.6e6 / 12", "800000"),
        ("round(2.5)", "3"),
        ("round(-2.345, 2)", "-2.35"),
        ("round(1234, -2)", "1200"),
        ("sum(1, 2, 3.5)", "6.5"),
        ("max(1, min(5, 3))", "3"),
        ("abs(-1.50)", "1.5"),
        ("2 ** -2", "0.25"),
        ("0.1 ** 3", "0.001"),
    ],
)
def test_values_are_exact(expression: str, value: str | None) -> None:
    if value is None:
        with pytest.raises(NotCalculable):
            calculate(expression)
    else:
        assert calculate(expression) == Fraction(value)
        assert decimal_text(calculate(expression)) == (str(Decimal(value)), True)


@pytest.mark.parametrize(
    "expression",
    [
        *(
            "__import__('os')",
            "().__class__",
            "open('x')",
            "x",
            "[1][0]",
            "1 if 1 else 2",
            "1; 2",
            "lambda: 1",
        ),
        *(
            "'a' * 9",
            "True + 1",
            "1j",
            "0x10",
            "1_000",
            "1,234",
            "f'{1}'",
            "1 < 2",
            "1 or 2",
            "(x := 1)",
            "a.b",
        ),
        *(
            "9 ** 9 ** 9",
            "2 ** 0.5",
            "10 ** 100000",
            "1e9999",
            "((2**999)**9)**9",
            "1 / 0",
            "1 % 0",
            "0 ** -1",
        ),
        *(
            "",
            "   ",
            "(" * 300,
            "-" * 499 + "1" + "+",
            "1" * 501,
            "round(1, 2, 3)",
            "round(1, 1000)",
            "abs(1, 2)",
        ),
        *("min()", "sum(x=1)", "max(*[1])", "1 @ 2", "~1", "1 << 5", "not 1", "1\n2", "\0"),
        *("1if 2", "0or 1", "1 (2)", "0x", "1e", "2^3"),
    ],
)
def test_everything_else_is_refused_with_what_is_accepted(expression: str) -> None:
    result = asyncio.run(Calculate().call({"expression": expression}))
    assert isinstance(result, ToolError)
    assert result.error_type == "INVALID_ARGUMENT"


def test_a_value_that_is_no_decimal_says_so() -> None:
    result = asyncio.run(Calculate().call({"expression": "2 / 3"}))
    assert isinstance(result, ToolOk)
    assert result.data == {
        "expression": "2 / 3",
        "value": "0.6666666666666666666666666667",
        "exact": False,
        "fraction": "2/3",
    }


NUMBERS = st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=4)


@given(left=NUMBERS, right=NUMBERS, operator=st.sampled_from("+-*/"))
def test_it_agrees_with_fractions(left: Decimal, right: Decimal, operator: str) -> None:
    one, other = Fraction(left), Fraction(right)
    if operator == "/" and other == 0:
        return
    wanted = {"+": one + other, "-": one - other, "*": one * other, "/": one / other if other else one}[
        operator
    ]
    assert calculate(f"({left:f}) {operator} ({right:f})") == wanted


@given(text=st.text(max_size=60) | st.text("0123456789.+-*/%()eE, ", max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    result = asyncio.run(Calculate().call({"expression": text}))
    assert isinstance(result, ToolOk | ToolError)
    if isinstance(result, ToolOk):
        assert len(json.dumps(result.data)) < 4_000
        assert Fraction(result.data["fraction"]) == calculate(text)
        assert not result.data["exact"] or Fraction(result.data["value"]) == calculate(text)
