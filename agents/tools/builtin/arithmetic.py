"""Exact arithmetic on a written expression: a whitelist of its syntax tree over fractions, nothing is evaluated."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Final

from agents.tools.texts.contract import say
from agents.tools.texts.material import CALCULATIONS

LONGEST_EXPRESSION: Final = 500
MOST_BITS: Final = 10_000
"""Of a numerator or denominator: some 3,000 digits."""
LARGEST_EXPONENT: Final = 1_000
DIGITS: Final = 28
"""Significant digits of a value that no decimal number is equal to; what Python's `decimal` gives by default."""
_NUMBER: Final = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
_PERCENT: Final = re.compile(rf"(?P<number>{_NUMBER})\s*%(?=\s*(?:[)+\-*/,]|of\b|的|$))")
_GLUED: Final = re.compile(r"[0-9.](?![eE][+-]?[0-9])[A-Za-z_]")
_OF: Final = re.compile(r"(?<=\))\s*(?:of\b|的)")
_SIGNS: Final = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*"})


class NotCalculable(ValueError):
    """An expression that is not accepted, or whose value is not; the message names what is."""


def calculate(expression: str) -> Fraction:
    """Return the exact value of `expression`; raises `NotCalculable`.

    Accepted: numbers, `+ - * / // % **`, parentheses, percentages (`15% of 200`, `200 * 15%`), and the functions
    abs, min, max, sum and round (half away from zero, to so many places). `7 % 5` with a number behind it is the
    remainder.

    >>> calculate("0.1 + 0.2"), calculate("15% of 80"), calculate("7 % 5"), calculate("round(2.345, 2)")
    (Fraction(3, 10), Fraction(12, 1), Fraction(2, 1), Fraction(47, 20))
    """
    if not expression.strip() or len(expression) > LONGEST_EXPRESSION:
        raise NotCalculable(f"it has {len(expression)} characters; accepted: 1 to {LONGEST_EXPRESSION}")
    text = unicodedata.normalize("NFKC", expression).translate(_SIGNS).strip()
    text = _OF.sub(" * ", _PERCENT.sub(r"(\g<number>/100)", text))
    try:
        # Python warns of a name that follows a number at once, on the user's terminal.
        tree = ast.parse("?" if _GLUED.search(text) else text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotCalculable(
            f"{expression[:80]!r} does not read as arithmetic. Accepted: numbers without separators of thousands, "
            "+ - * / // % **, parentheses, percentages, abs, min, max, sum, round"
        ) from None
    return _value(tree.body, text)


def decimal_text(value: Fraction) -> tuple[str, bool]:
    """Return `value` as a decimal number and whether it is exactly that.

    >>> decimal_text(Fraction(1, 8)), decimal_text(Fraction(2, 3))
    (('0.125', True), ('0.6666666666666666666666666667', False))
    """
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest == 1 and places <= LARGEST_EXPONENT:
        digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
        whole, part = (digits[:-places], "." + digits[-places:]) if places else (digits, "")
        return ("-" if value < 0 else "") + whole + part, True
    with localcontext() as context:
        context.prec, context.rounding = DIGITS, ROUND_HALF_UP
        return str(Decimal(value.numerator) / Decimal(value.denominator)), False


def _value(node: ast.expr, text: str) -> Fraction:
    match node:
        case ast.Constant(value=bool() | str() | bytes() | complex() | None):
            raise NotCalculable(f"{ast.unparse(node)[:40]!r} is no number")
        case ast.Constant():
            return _number(ast.get_source_segment(text, node) or "")
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _value(inner, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_value(left, text), _value(right, text)))
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name]([_value(each, text) for each in given])
    raise NotCalculable(
        f"{ast.unparse(node)[:40]!r} is not accepted; accepted: numbers, + - * / // % **, parentheses, percentages, "
        f"{', '.join(sorted(_FUNCTIONS))}"
    )


def _number(written: str) -> Fraction:
    """Return a written number exactly: 0.1 is a tenth."""
    found = re.fullmatch(_NUMBER, written.replace("_", "x"))
    exponent = re.search(r"[eE]([+-]?\d+)$", written)
    if found is None or (exponent is not None and abs(int(exponent[1])) > LARGEST_EXPONENT):
        raise NotCalculable(f"{written[:40]!r} is no number that is accepted, such as 12, 0.5 or 1e6")
    return _bounded(Fraction(written if not written.endswith(".") else written + "0"))


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise NotCalculable(
            f"the value has more than {MOST_BITS} bits; accepted: numbers of some 3,000 digits"
        )
    return value


def _not_by_zero(
    operation: Callable[[Fraction, Fraction], Fraction],
) -> Callable[[Fraction, Fraction], Fraction]:
    def performed(left: Fraction, right: Fraction) -> Fraction:
        if right == 0:
            raise NotCalculable("it divides by zero")
        return operation(left, right)

    return performed


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or abs(exponent) > LARGEST_EXPONENT:
        raise NotCalculable(
            f"the exponent is {exponent}; accepted: whole numbers from -{LARGEST_EXPONENT} to {LARGEST_EXPONENT}"
        )
    if base == 0 and exponent < 0:
        raise NotCalculable("it divides by zero")
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if bits * abs(int(exponent)) > MOST_BITS + bits:
        raise NotCalculable(
            f"the power has more than {MOST_BITS} bits; accepted: numbers of some 3,000 digits"
        )
    return Fraction(base ** int(exponent))


def _round(given: Sequence[Fraction]) -> Fraction:
    """Round half away from zero, as people do on paper; Python's own way is half to even."""
    if not 1 <= len(given) <= 2:
        raise NotCalculable("round takes a number, or a number and the places")
    places = given[1] if len(given) == 2 else Fraction(0)
    if places.denominator != 1 or abs(places) > 100:
        raise NotCalculable(f"the places are {places}; accepted: whole numbers from -100 to 100")
    scale = Fraction(10) ** int(places)
    scaled = abs(given[0]) * scale + Fraction(1, 2)
    rounded = Fraction(scaled.numerator // scaled.denominator) / scale
    return -rounded if given[0] < 0 else rounded


def _of_all(name: str, operation: Callable[[Sequence[Fraction]], Fraction | int]) -> Callable[..., Fraction]:
    def performed(given: Sequence[Fraction]) -> Fraction:
        if not given or (name == "abs" and len(given) != 1):
            code = "one" if name == "abs" else "some"
            raise NotCalculable(say(CALCULATIONS, code, function=name, number=len(given)))
        return _bounded(Fraction(operation(given)))

    return performed


_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: _not_by_zero(lambda left, right: left / right),
    ast.FloorDiv: _not_by_zero(lambda left, right: Fraction(left // right)),
    ast.Mod: _not_by_zero(lambda left, right: left % right),
    ast.Pow: _power,
}
_FUNCTIONS: Final[Mapping[str, Callable[[Sequence[Fraction]], Fraction]]] = {
    "abs": _of_all("abs", lambda given: abs(given[0])),
    "max": _of_all("max", max),
    "min": _of_all("min", min),
    "round": _round,
    "sum": _of_all("sum", sum),
}
