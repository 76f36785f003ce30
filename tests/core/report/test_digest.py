"""The result digest: same result, same digest; another result, another digest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from agents.results import OpenQuestion
from orchestrator.core.claims import Deviates, Falsified, Verified
from orchestrator.core.ids import RunId
from orchestrator.core.report import DeliveredReport, result_digest
from tests.agents.workers.material import mark, note, output, quoted
from tests.core.report.delivered import delivered, facts, terminal, verification

PLANT = note("plant.md", "The plant stores 32 MWh.\nIt opened in May 2024.\n")
STORES = quoted("n1", PLANT, "The plant stores 32 MWh.")
OPENED = quoted("n1", PLANT, "It opened in May 2024.")
BASE = delivered(terminal("n5", output([STORES, OPENED])))


@dataclass(frozen=True)
class Case:
    id: str
    change: Callable[[], DeliveredReport]


SAME = [
    Case("another run", lambda: replace(BASE, run=RunId("r-2"))),
    Case("read at another time", lambda: _with_source(retrieved_at="2030-01-01T00:00:00+00:00")),
    Case("claims made by another node", lambda: _made_by("n7")),
    Case("reported by another node", lambda: delivered(terminal("n6", output([STORES, OPENED])))),
    Case("verdict worded differently", lambda: _with_verdict(Verified(source="plant.md line 1"))),
    Case(
        "claims in another order, text the same",
        lambda: delivered(terminal("n5", output([OPENED, STORES], text=output([STORES, OPENED]).text))),
    ),
]
DIFFERENT = [
    Case("another text", lambda: replace(BASE, body=BASE.body + " more")),
    Case("a claim less", lambda: replace(BASE, citations=BASE.citations[:1])),
    Case("another verdict", lambda: _with_verdict(Falsified(reason="x"))),
    Case("a deviation", lambda: _with_verdict(Deviates(source="x", delta=0.01, found="31"))),
    Case("a leak mark", lambda: _with_leak()),
    Case("another field", lambda: replace(BASE, fields={"cost": "5"})),
    Case("an open question", lambda: replace(BASE, open_questions=(_open(),))),
    Case("another file content", lambda: _with_source(digest="0" * 64)),
]


def _open() -> OpenQuestion:
    return OpenQuestion(question="Who?", reason="not_found", searched=())


def _with_source(**changes: str) -> DeliveredReport:
    made = output([STORES, OPENED])
    sources = tuple(replace(source, **changes) for source in made.sources)  # type: ignore[arg-type]
    return delivered(terminal("n5", replace(made, sources=sources)))


def _made_by(node: str) -> DeliveredReport:
    parts = [quoted(node, PLANT, part.claim.statement) for part in (STORES, OPENED)]
    return delivered(terminal("n5", output(parts)))


def _with_verdict(verdict: Verified | Falsified | Deviates) -> DeliveredReport:
    made = output([STORES, OPENED])
    return delivered(terminal("n5", made, verification(made, {STORES.claim.statement: verdict})))


def _with_leak() -> DeliveredReport:
    leaked = quoted("n1", PLANT, "The plant stores 32 MWh.", leak=mark())
    return delivered(terminal("n5", output([leaked, OPENED])))


@pytest.mark.parametrize("case", SAME, ids=lambda case: case.id)
def test_what_is_no_result_does_not_count(case: Case) -> None:
    assert result_digest(case.change()) == result_digest(BASE)


@pytest.mark.parametrize("case", DIFFERENT, ids=lambda case: case.id)
def test_every_part_of_the_result_counts(case: Case) -> None:
    assert result_digest(case.change()) != result_digest(BASE)


def test_terminals_in_any_order_give_one_digest() -> None:
    first, second = terminal("n5", output([STORES])), terminal("n6", output([OPENED]))

    assert result_digest(delivered(first, second)) == result_digest(delivered(second, first))
    assert len(result_digest(delivered(about=facts()))) == 64
