"""Turn an exception of a checker or fact source into a result: what broke is not verified, and never a pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


class CheckBroke(Exception):
    """A part of the check stage raised; `StandardVerifier` catches it and reports `not_verified`."""

    def __init__(self, part: str, error: Exception) -> None:
        self.part = part
        super().__init__(f"{part}: {type(error).__name__}: {error}")


def guarded(part: str, call: Callable[[], _T]) -> _T:
    """Return what `call` returns; raises `CheckBroke` naming `part` for whatever it raises."""
    try:
        return call()
    except CheckBroke:
        raise
    except Exception as error:  # any failure of a checker means the same: nothing is known of the output
        raise CheckBroke(part, error) from error
