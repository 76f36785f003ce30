"""The tool `calculate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agents.tools.builtin.arithmetic import LONGEST_EXPRESSION, NotCalculable, calculate, decimal_text
from agents.tools.contract import ToolError, ToolOk, ToolResult, ToolSpec

_SHOWN_DIGITS: Final = 1_000

CALCULATE: Final = ToolSpec(
    name="calculate",
    purpose="Calculate an expression exactly, percentages too.",
    when_to_use="For every sum, difference, product, quotient or percentage that an answer rests on.",
    when_not_to_use="For roots, logarithms, dates or units; to count rows of a table: `query_table` does.",
    input_schema={
        "type": "object",
        "properties": {
            "expression": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_EXPRESSION,
                "description": "Numbers without separators of thousands, + - * / // % **, parentheses, '15% of 200', "
                "abs, min, max, sum, round(x, places). 7 % 5 is the remainder.",
            }
        },
        "required": ["expression"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "expression": {"type": "string"},
            "value": {"type": "string", "description": "As a decimal number."},
            "exact": {"type": "boolean", "description": "False: `value` is rounded to 28 digits."},
            "fraction": {"type": "string", "description": "The exact value, as 2/3."},
        },
        "required": ["expression", "value", "exact", "fraction"],
    },
    scope="nothing outside the expression",
    timeout_s=2.0,
    side_effect="read",
    permission="calculate",
    error_codes=("INVALID_ARGUMENT",),
)


@dataclass(frozen=True, slots=True)
class Calculate:
    """The tool `calculate`; its values are recomputed by code and so trusted, its expression is not."""

    spec: ToolSpec = CALCULATE

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the value of the expression."""
        expression = str(arguments["expression"])
        try:
            value = calculate(expression)
        except NotCalculable as error:
            message = f"arguments.expression: {error}"
            return ToolError(error_type="INVALID_ARGUMENT", message=message, retryable=False)
        text, exact = decimal_text(value)
        fraction = str(value)
        if len(text) > _SHOWN_DIGITS or len(fraction) > 2 * _SHOWN_DIGITS:
            message = f"the value has more than {_SHOWN_DIGITS} digits. Round it, or ask for a smaller one"
            return ToolError(error_type="INVALID_ARGUMENT", message=message, retryable=False)
        data = {"expression": expression, "value": text, "exact": exact, "fraction": fraction}
        return ToolOk(
            summary=f"{expression[:80]} {'=' if exact else '≈'} {text[:80]}",
            data=data,
            source="calculation",
            source_version="exact",
        )

    def source_version(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the same version always: the value of an expression does not change."""
        del arguments
        return "exact"
