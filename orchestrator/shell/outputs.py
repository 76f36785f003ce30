"""Kept outputs, decoded: what several sub-tasks build on is read from the store once."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Protocol

from agents.results import WorkOutput
from orchestrator.core.ids import ArtefactId
from orchestrator.core.input_key import WORK_OUTPUT

OUTPUT_CACHE: Final = 256
"""Outputs kept decoded in memory; a join of many inputs reads each once."""


class Artefacts(Protocol):
    """Reads what was kept; the store, as far as attempts need it."""

    def get_artefact(self, digest: str) -> bytes:
        """Return kept bytes."""
        ...


class OutputCache:
    """Decoded outputs, as many as `size`: the one that was not used for longest goes first."""

    def __init__(self, artefacts: Artefacts, size: int = OUTPUT_CACHE) -> None:
        self._artefacts = artefacts
        self._size = size
        self._outputs: OrderedDict[ArtefactId, WorkOutput] = OrderedDict()

    def __len__(self) -> int:
        return len(self._outputs)

    def get(self, artefact: ArtefactId) -> WorkOutput:
        """Return a kept output; raises what the store raises for a missing or damaged one."""
        known = self._outputs.get(artefact)
        if known is None:
            known = WORK_OUTPUT.validate_json(self._artefacts.get_artefact(artefact))
        self.put(artefact, known)
        return known

    def put(self, artefact: ArtefactId, output: WorkOutput) -> None:
        """Keep an output in its decoded form, as the one used last."""
        self._outputs[artefact] = output
        self._outputs.move_to_end(artefact)
        while len(self._outputs) > self._size:
            self._outputs.popitem(last=False)
