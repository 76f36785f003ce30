"""Divide the mask scale into its bands.

A mask value is a whole number of hundredths `m100` in -100..100, so that no float rounding ever moves a
value from one band to another (semantics 1). People read and write it as -1.00 to 1.00.
"""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, Final

from masks.errors import MaskValueError, ThresholdError

MASK_MIN: Final = -100
"""The suppressed end of the scale, -1.00 (specification 3.2)."""

MASK_MAX: Final = 100
"""The main end of the scale, 1.00 (specification 3.2)."""

THETA_MAIN: Final = 70
"""Default theta_main, 0.70: above it a domain is MAIN (specification 3.2)."""

THETA_BG: Final = 30
"""Default theta_bg, 0.30: above it a domain is at least BACKGROUND (specification 3.2)."""

_DECIMAL_TEXT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)", re.ASCII)


class Band(StrEnum):
    """Say how freely an agent may use a domain; the three bands are a partition of the scale."""

    MAIN = "main"
    """Above theta_main: the agent's own field, used freely."""
    BACKGROUND = "background"
    """Above theta_bg, at most theta_main: allowed on path 2, and must be declared."""
    SILENT = "silent"
    """At most theta_bg: not to be used."""


class Suppression(StrEnum):
    """Shade the SILENT band; no fourth band."""

    DORMANT = "dormant"
    """Zero or above: not activated, a leak is possible."""
    WEAKLY_SUPPRESSED = "weakly_suppressed"
    """Below zero, above -1: discouraged."""
    SUPPRESSED = "suppressed"
    """At -1: a suppression prompt is injected, and no repair raises it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Hold theta_main and theta_bg in hundredths, `0 <= background < main < 100`.

    Raises `ThresholdError` for anything else.
    """

    # A mistyped field of a document must not silently leave a default in force.
    __pydantic_config__: ClassVar = {"extra": "forbid"}

    main: int = THETA_MAIN
    background: int = THETA_BG

    def __post_init__(self) -> None:
        whole = type(self.main) is int and type(self.background) is int
        if not whole or not 0 <= self.background < self.main < MASK_MAX:
            raise ThresholdError(self.main, self.background)


DEFAULT_THRESHOLDS: Final = Thresholds()


def check_m100(m100: int) -> int:
    """Return `m100` unchanged.

    Raises `MaskValueError` if it is no whole number of hundredths in -100..100.
    """
    if type(m100) is not int or not MASK_MIN <= m100 <= MASK_MAX:
        raise MaskValueError(m100)
    return m100


def band(m100: int, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> Band:
    """Return the band of `m100` (specification 3.2).

    Raises `MaskValueError` outside -100..100.

    >>> [str(band(m)) for m in (71, 70, 31, 30)]
    ['main', 'background', 'background', 'silent']
    """
    check_m100(m100)
    if m100 > thresholds.main:
        return Band.MAIN
    if m100 > thresholds.background:
        return Band.BACKGROUND
    return Band.SILENT


def suppression(m100: int, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> Suppression | None:
    """Return the shade of a SILENT value, or None for MAIN and BACKGROUND.

    Raises `MaskValueError` outside -100..100.
    """
    if band(m100, thresholds) is not Band.SILENT:
        return None
    if m100 == MASK_MIN:
        return Suppression.SUPPRESSED
    return Suppression.DORMANT if m100 >= 0 else Suppression.WEAKLY_SUPPRESSED


def parse_mask_value(value: object) -> int:
    """Read a mask value as people write it, -1.00 to 1.00, and return hundredths.

    Full-width digits and the typographic minus sign are understood. Nothing is rounded: a value off the
    0.01 grid is refused, because a silent rounding could move it into another band.

    Raises `MaskValueError` for a value out of range, off the grid, or no decimal number at all.

    >>> parse_mask_value("0.55"), parse_mask_value(-1), parse_mask_value("＋０．３")
    (55, -100, 30)
    """
    number = _decimal(value)
    if number is None:
        raise MaskValueError(value)
    hundredths = number * 100
    if not MASK_MIN <= hundredths <= MASK_MAX or hundredths != int(hundredths):
        raise MaskValueError(value)
    return int(hundredths)


def format_mask_value(m100: int) -> str:
    """Write hundredths with two decimals.

    Raises `MaskValueError` outside -100..100.

    >>> format_mask_value(55), format_mask_value(-100), format_mask_value(0)
    ('0.55', '-1.00', '0.00')
    """
    check_m100(m100)
    sign = "-" if m100 < 0 else ""
    return f"{sign}{abs(m100) // 100}.{abs(m100) % 100:02d}"


def _decimal(value: object) -> Decimal | None:
    if isinstance(value, str):
        text = unicodedata.normalize("NFKC", value).replace("\N{MINUS SIGN}", "-").strip()
        return Decimal(text) if _DECIMAL_TEXT.fullmatch(text) else None
    if isinstance(value, float):
        # repr gives the shortest decimal that the writer meant: 0.55 and not 0.55000000000000004441.
        number = Decimal(repr(float(value)))
        return number if number.is_finite() else None
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    return None
