"""A copy of a value with some of its fields changed: what `dataclasses.replace` gives, at a third of its cost.

`replace` goes through `__init__`, keyword by keyword. The states of a run and of a sub-task have about thirty fields
each, and every event copies both, so for them this copies the slots themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    # A type checker knows `replace`, and so the fields that may be named and what may stand in them.
    from dataclasses import replace as changed
else:

    def changed(value, /, **changes):
        """Return a copy of a frozen dataclass with slots in which `changes` stand in the place of what was there.

        Raises `AttributeError` for a field that it does not have, and `TypeError` for a class without slots or with
        a `__post_init__`, which would be skipped.
        """
        kind = type(value)
        slots = _slots_of(kind)
        copy = object.__new__(kind)
        for write, old in zip(slots.writers, slots.read(value), strict=True):
            write(copy, old)
        for name, new in changes.items():
            object.__setattr__(copy, name, new)
        return copy


__all__ = ["changed"]


class _Slots(NamedTuple):
    read: Callable[[Any], tuple[Any, ...]]
    writers: tuple[Callable[[Any, Any], None], ...]


@cache
def _slots_of(kind: type[Any]) -> _Slots:
    names = tuple(field.name for field in fields(kind))
    if len(names) < 2 or not all(hasattr(getattr(kind, name, None), "__set__") for name in names):
        raise TypeError(f"{kind.__name__!r} is no dataclass with slots and at least two fields")
    if hasattr(kind, "__post_init__"):
        raise TypeError(f"{kind.__name__!r} has a `__post_init__`; use `dataclasses.replace`")
    return _Slots(read=attrgetter(*names), writers=tuple(getattr(kind, name).__set__ for name in names))
