"""The garbage collector while runs are executed: it looks at what is new, and less often.

Attempts make many objects that end with them; the collector's full passes look at everything that the process holds
(modules, notes, labels, the state) and find nothing there. That is what makes a sub-task dearer the more of them a run
has. So what exists when an execution starts is left out of the passes until the last one ends.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

YOUNG_OBJECTS: Final = 5_000
"""New objects before a pass over the young ones: about those of ten attempts. Python's own value is 700 (2,000 since
3.12); more than this gained nothing."""

_lock: Final = Lock()
_before: Final[list[tuple[int, int, int]]] = []
"""The thresholds before each execution under way: as many entries as there are, and the first one is put back."""


@contextmanager
def rare_passes() -> Iterator[None]:
    """Let the collector pass less often inside; afterwards all is as before. May be entered again, from any thread.

    A collector that is switched off, or passes less often already, stays as it is.
    """
    with _lock:
        first, *rest = gc.get_threshold()
        _before.append((first, rest[0], rest[1]))
        if len(_before) == 1:
            gc.freeze()
            if 0 < first < YOUNG_OBJECTS:
                gc.set_threshold(YOUNG_OBJECTS, *rest)
    try:
        yield
    finally:
        with _lock:
            if len(_before) == 1:
                gc.set_threshold(*_before[0])
                gc.unfreeze()
            _before.pop()
