"""The large results of a run: which artefacts an agent may read on in, and the one that was read last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from orchestrator.core.ids import ArtefactId
from orchestrator.shell.outputs import Artefacts
from orchestrator.shell.store.errors import StoreError

MOST_IDS: Final = 10_000
"""Large results of one run in one process that can be read on in; the oldest go first."""


class KeptWholes:
    """Large results of one run: kept in the store, named by digest, and read again page by page.

    An agent can name any digest; only those of this run's own results are read, so that a digest from elsewhere shows
    nothing of another run.
    """

    def __init__(self, artefacts: Artefacts) -> None:
        """Read from `artefacts`."""
        self._artefacts = artefacts
        self._ids: dict[str, None] = {}
        self._last: tuple[str, bytes] | None = None

    def keeper(self, keep: Callable[[bytes], ArtefactId]) -> Callable[[bytes], ArtefactId]:
        """Return `keep`, remembering what it kept."""

        def kept(content: bytes) -> ArtefactId:
            name = keep(content)
            self.allow(name)
            # Until it is stored, and for who reads on at once.
            self._last = (name, content)
            return name

        return kept

    def allow(self, name: str) -> None:
        """Let `name` be read: a recorded result of this run says that it is the whole of one."""
        self._ids.pop(name, None)
        self._ids[name] = None
        while len(self._ids) > MOST_IDS:
            del self._ids[next(iter(self._ids))]

    def load(self, name: str) -> bytes | None:
        """Return a whole of this run; `None` for anything else, and for one that can't be read."""
        if name not in self._ids:
            return None
        if self._last is not None and self._last[0] == name:
            return self._last[1]
        try:
            content = self._artefacts.get_artefact(ArtefactId(name))
        except StoreError:
            return None
        self._last = (name, content)
        return content
