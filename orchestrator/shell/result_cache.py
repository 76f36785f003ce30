"""Results of readings, kept for as long as what they read has the same version."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from agents.tools.contract import ToolOk, ToolResult

MOST_RESULTS: Final = 256
"""Results that are kept; the one that was used longest ago goes first. With previews of 4,000 characters about 1 MB."""


class ResultCache:
    """Results by call and version, shared by all attempts of a run in one process."""

    def __init__(self, most: int = MOST_RESULTS) -> None:
        """Keep at most `most` results, at least 1."""
        self._most = most
        self._kept: OrderedDict[tuple[str, str], ToolResult] = OrderedDict()

    def get(self, digest: str, version: str | None) -> ToolResult | None:
        """Return the result of the call with `digest` on a source of `version`; none of an unknown version."""
        if version is None:
            return None
        found = self._kept.get((digest, version))
        if found is not None:
            self._kept.move_to_end((digest, version))
        return found

    def put(self, digest: str, version: str | None, result: ToolResult) -> None:
        """Keep a result of a known version; an error is none."""
        if version is None or not isinstance(result, ToolOk):
            return
        if result.source_version is not None and result.source_version != version:
            # It changed between the question and the answer: which of the two it is of can't be told.
            return
        self._kept[digest, version] = result
        self._kept.move_to_end((digest, version))
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
