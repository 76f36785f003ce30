"""A workshop for the benchmark's tests: the product's own, with an embedder that means nothing and costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.product import benchmark_workshop
from graphs.contract import Lang
from orchestrator.shell.wiring import Workshop


class Flat:
    """An embedder to which all texts are the same; under the name of the shipped one, whose calibration it takes."""

    name = "use-multilingual-v3"
    version = "0"
    dimension = 1

    def __init__(self) -> None:
        self.texts = 0
        """Texts encoded so far."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text."""
        self.texts += len(texts)
        return np.zeros((len(texts), 1), dtype=np.float32)


def flat_workshop(home: Path, lang: Lang, seed: int) -> Workshop:
    """Return the benchmark's workshop over `Flat`."""
    return replace(benchmark_workshop(home, lang, seed), embedder=Flat())
