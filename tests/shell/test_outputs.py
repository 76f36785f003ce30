"""Decoded outputs are bounded, however they came in, and the one used last stays."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.results import WorkOutput
from orchestrator.core.ids import ArtefactId
from orchestrator.core.input_key import WORK_OUTPUT
from orchestrator.shell.outputs import OutputCache


@dataclass
class Shelf:
    """Holds an output for every name, which is its text."""

    reads: list[str] = field(default_factory=list)

    def get_artefact(self, digest: str) -> bytes:
        self.reads.append(digest)
        return WORK_OUTPUT.dump_json(WorkOutput(text=digest))


def test_outputs_that_are_put_count_like_those_that_are_read() -> None:
    cache = OutputCache(Shelf(), size=3)
    for number in range(10):
        cache.put(ArtefactId(f"p{number}"), WorkOutput(text="x"))
    assert len(cache) == 3
    cache.get(ArtefactId("r"))
    assert len(cache) == 3


def test_the_one_that_was_not_used_for_longest_goes() -> None:
    shelf = Shelf()
    cache = OutputCache(shelf, size=2)
    for name in ("a", "b", "a", "c", "a", "b"):
        assert cache.get(ArtefactId(name)).text == name
    # b went for c, because a had been used since.
    assert shelf.reads == ["a", "b", "c", "b"]
    cache.put(ArtefactId("b"), WorkOutput(text="b"))
    cache.put(ArtefactId("d"), WorkOutput(text="d"))
    cache.get(ArtefactId("b"))
    assert shelf.reads == ["a", "b", "c", "b"]
