"""A table by a model: the model says which cell a claim fills, code draws it and leaves the rest open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.citations import anchor
from agents.workers.ports import WorkOrder
from graphs.contract import Lang
from orchestrator.verification.structure import tables_in
from tests.agents.workers.model_loop.stage import COST, calls, ending, order, run

BALANCED = "A tree of pages is balanced."


def extract(lang: Lang = "en", **params: Any) -> WorkOrder:
    made = order(params, lang=lang)
    return replace(made, subtask=replace(made.subtask, operation="extract"))


def claim(statement: str, excerpt: str, question: int | None, **more: Any) -> Mapping[str, Any]:
    return {"statement": statement, "excerpts": [excerpt], "question": question, **more}


async def test_the_cells_of_named_rows_are_the_questions_and_empty_ones_stay_open(folder: Path) -> None:
    asked = extract(columns=["cost", "shape"], rows=["index", "tree"])
    filled = ending(
        claim("40 MB", "E1", 1),
        claim(BALANCED, "E2", 4),
        complete=False,
        still_open=[{"question": 2, "why": "none"}, {"question": 3, "why": "none"}],
    )
    result, broker = await run(folder, asked, calls(filled))
    output = result.output
    assert broker.searches == ["index cost shape", "tree cost shape"]
    assert "1. index / cost\n2. index / shape\n3. tree / cost\n4. tree / shape" in broker.told(0)
    ids = {made.statement: made.id for made in output.claims}
    assert tables_in(output.text) == (
        (
            ("Item", "cost", "shape"),
            ("index", f"40 MB{anchor(ids['40 MB'])}", "not in the notes"),
            ("tree", "not in the notes", f"{BALANCED}{anchor(ids[BALANCED])}"),
        ),
    )
    assert sorted(output.fields) == ["index / cost", "tree / shape"]
    assert [one.question for one in output.open_questions] == ["index / shape", "tree / cost"]
    assert not result.candidate_complete


async def test_rows_that_the_model_finds_make_the_table_and_a_column_that_nothing_fills_is_open_once(
    folder: Path,
) -> None:
    asked = extract(columns=["cost", "shape", "colour"])
    filled = ending(
        claim("40 MB", "E1", 1, row="Index | big"),
        claim(BALANCED, "E1", 2, row="Tree"),
        claim("Nobody knows.", "E1", None),
        complete=False,
        still_open=[{"question": 3, "why": "none"}],
    )
    result, broker = await run(folder, asked, calls(filled))
    output = result.output
    (table,) = tables_in(output.text)
    assert [row[0] for row in table] == ["Item", "Index \\| big", "Tree"]
    assert [len(row) for row in table] == [4, 4, 4]
    assert [one.question for one in output.open_questions] == ["Index | big / shape", "Tree / cost", "colour"]
    assert set(output.fields) == {"Index | big / cost", "Tree / shape", "cost", "shape"}
    schema = broker.requests[0].tools[-1].input_schema["properties"]["claims"]["items"]
    assert schema["required"] == ["statement", "excerpts", "question", "row"]
    assert "find its rows" in broker.told(0).casefold()


async def test_without_a_row_there_is_a_header_and_every_column_is_open(folder: Path) -> None:
    gives_up = ending(
        complete=False, still_open=[{"question": 1, "why": "没有"}, {"question": 2, "why": "没有"}]
    )
    result, _ = await run(folder, extract("zh", columns=["成本", "形状"]), calls(gives_up))
    assert tables_in(result.output.text) == ((("项目", "成本", "形状"),),)
    assert [one.question for one in result.output.open_questions] == ["成本", "形状"]


async def test_one_statement_may_fill_two_cells(folder: Path) -> None:
    asked = extract(columns=["cost"], rows=["index", "memory"])
    result, _ = await run(folder, asked, calls(ending(claim(COST, "E1", 1), claim(COST, "E1", 2))))
    assert [(made.statement, made.question) for made in result.output.claims] == [
        (COST, "index / cost"),
        (COST, "memory / cost"),
    ]
    assert len({made.id for made in result.output.claims}) == 2
    assert result.output.open_questions == ()
