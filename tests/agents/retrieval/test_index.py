"""The hybrid index over small notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.retrieval.index import NoteIndex, Weights
from agents.retrieval.reading import document_from_text

NOTES = {
    "pump.md": "# Pump station\n\nThe pump moves 40 litres a second.\n\n## Repair\n\nThe seal was changed in May.\n",
    "sheep.md": "# Sheep\n\nSixty sheep keep the grass short.\n",
    "泵站.md": "# 泵站\n\n水泵每秒输送四十升水。\n\n## 维修\n\n密封圈于五月更换。\n",
}


class Themes:
    """An embedder of three directions: water, animals, everything else."""

    name = "themes"
    version = "1"
    dimension = 3

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        rows = [
            [
                float(any(w in t for w in ("pump", "水", "irrigation"))),
                float("sheep" in t or "flock" in t),
                0.1,
            ]
            for t in texts
        ]
        array = np.array(rows, dtype=np.float32)
        unit: NDArray[np.float32] = array / np.linalg.norm(array, axis=1, keepdims=True)
        return unit


def index(embedder: Themes | None = None) -> NoteIndex:
    return NoteIndex([document_from_text(path, text) for path, text in NOTES.items()], embedder)


def headings(found: NoteIndex, query: str, limit: int = 3) -> list[str]:
    return [found.entries[hit.entry].section.heading for hit in found.search(query, limit)]


def test_words_find_sections_in_both_languages() -> None:
    found = index()
    assert headings(found, "how many litres does the pump move")[0] == "Pump station"
    assert headings(found, "密封圈什么时候更换")[0] == "泵站 > 维修"
    assert headings(found, "seal of the pump")[0] == "Pump station > Repair"


def test_meaning_finds_what_words_miss() -> None:
    assert index().search("flock", 3) == ()
    assert headings(index(Themes()), "flock", 1) == ["Sheep"]


def test_pages_follow_each_other_without_overlap() -> None:
    found = index(Themes())
    every = found.search("pump sheep seal 水", 10)
    assert [
        hit.entry
        for hit in (*found.search("pump sheep seal 水", 2), *found.search("pump sheep seal 水", 8, 2))
    ] == [hit.entry for hit in every]
    assert [hit.score for hit in every] == sorted((hit.score for hit in every), reverse=True)
    assert all(hit.score > 0 for hit in every)


def test_sections_are_encoded_once() -> None:
    embedder = Themes()
    found = index(embedder)
    found.search("pump", 3)
    first = len(embedder.encoded)
    found.search("sheep", 3)
    assert len(embedder.encoded) == first + 1


def test_the_best_unit_is_named() -> None:
    found = index()
    hit = found.search("grass", 1)[0]
    assert hit.best_unit is not None
    assert found.entries[hit.entry].units[hit.best_unit].text == "Sixty sheep keep the grass short."


def test_weights_switch_lists_off() -> None:
    assert index(Themes()).search("flock", 3, weights=Weights(meaning=0)) == ()


def test_rare_terms_weigh_more_and_unseen_ones_most() -> None:
    found = index()
    assert found.frequency("pump") == 2
    assert found.rarity("pump") < found.rarity("grass") < found.rarity("unheard")


def test_an_empty_corpus_and_an_empty_query_find_nothing() -> None:
    assert NoteIndex([], None).search("pump", 3) == ()
    assert index().search("the of", 3) == ()
