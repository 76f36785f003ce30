"""Name what this layer needs from outside; implementations live in `agents.models`."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turn sentences of any language into vectors whose dot product is their cosine.

    Several threads may call `encode` at once and get what one would get.
    """

    @property
    def name(self) -> str:
        """Identify the model; calibrations are stored under it."""

    @property
    def version(self) -> str:
        """Identify the weights and the code; recorded in the first event of a run."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one L2-normalised row per text, shape (len(texts), dimension), in the order given."""
