"""The default embedder and the cache in front of any."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.models.embedders import CachedEmbedder, UseEmbedder, normalised
from masks.ports import Embedder


class Lengths:
    """An embedder of one number: the length of the text."""

    name = "lengths"
    version = "2"
    dimension = 1

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        return np.array([[len(text)] for text in texts], dtype=np.float32)


@pytest.fixture(scope="module")
def use() -> Embedder:
    return UseEmbedder()


def test_rows_are_unit_vectors_in_the_order_given(use: Embedder) -> None:
    texts = ["The pump is broken.", "", "水泵坏了。", "A recipe for plum cake with cinnamon and sugar."]
    rows = use.encode(texts)
    assert rows.shape == (4, 512)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1, 1], abs=1e-5)
    assert rows[0] @ rows[2] > rows[0] @ rows[3] + 0.2
    alone = use.encode([texts[3]])[0]
    assert rows[3] == pytest.approx(alone, abs=1e-5)


def test_one_thread_is_used() -> None:
    assert UseEmbedder()._model is None
    embedder = UseEmbedder()
    embedder.encode(["pin"])
    assert embedder._model.threads == 1


def test_the_model_is_named_with_its_version(use: Embedder) -> None:
    assert use.name == "use-multilingual-v3"
    assert use.version[0].isdigit()
    assert use.encode([]).shape == (0, 512)


def test_each_text_is_encoded_once() -> None:
    inner = Lengths()
    cached = CachedEmbedder(inner)
    assert cached.encode(["aa", "b", "aa"]).tolist() == [[2], [1], [2]]
    assert cached.encode(["b", "ccc"]).tolist() == [[1], [3]]
    assert inner.batches == [["aa", "b"], ["ccc"]]
    assert cached.encode([]).shape == (0, 1)
    assert (cached.name, cached.version, cached.dimension) == ("lengths", "2", 1)


def test_only_the_newest_texts_are_kept() -> None:
    inner = Lengths()
    cached = CachedEmbedder(inner, keep=2)
    assert cached.encode(["a", "bb", "ccc", "a"]).tolist() == [[1], [2], [3], [1]]
    assert cached.encode(["bb", "ccc"]).tolist() == [[2], [3]]
    assert cached.encode(["a", "ccc"]).tolist() == [[1], [3]]
    assert cached.encode(["bb"]).tolist() == [[2]]
    assert inner.batches == [["a", "bb", "ccc"], ["a"], ["bb"]]


def test_zero_rows_stay_zero() -> None:
    rows = normalised(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]
