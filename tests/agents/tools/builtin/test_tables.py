"""`query_table`: figures from SQLite and CSV, and no way to more than reading what was named."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.tools.builtin.tables import QueryTable
from agents.tools.contract import ToolError, ToolOk
from agents.tools.ports import EffectTool, VersionedTool
from agents.tools.previews import PREVIEW_CHARS

CSV = '站点,流量,编号,备注\n东厂,400,007,ok\n\n西厂,12.5,008,"两行\n备注"\n南厂,,009,end\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    with closing(sqlite3.connect(folder / "shop.db")) as shop, shop:
        shop.execute("CREATE TABLE sales (id INTEGER PRIMARY KEY, what TEXT, price REAL)")
        shop.executemany(
            "INSERT INTO sales VALUES (?, ?, ?)", [(n, f"pump {n}", n * 1.5) for n in range(1, 1001)]
        )
    with closing(sqlite3.connect(folder / "secret.db")) as secret, secret:
        secret.execute("CREATE TABLE secret (word TEXT)")
        secret.execute("INSERT INTO secret VALUES ('SECRET')")
    (folder / "sites.csv").write_text(CSV, encoding="utf-8")
    (folder / "german.csv").write_text("a;b\n1;2\n", encoding="utf-8")
    return folder


@pytest.fixture
def tool(folder: Path) -> QueryTable:
    names = {"shop": "shop.db", "sites": "sites.csv", "german": "german.csv", "gone": "gone.db"}
    return QueryTable({name: folder / file for name, file in names.items()})


def data(tool: QueryTable, table: str, sql: str | None = None, **more: Any) -> Any:
    result = asyncio.run(tool.call({"table": table, **({"sql": sql} if sql else {}), **more}))
    assert isinstance(result, ToolOk), result
    assert len(json.dumps(result.data, ensure_ascii=False, allow_nan=False)) <= PREVIEW_CHARS
    assert result.truncated == (result.next_offset is not None)
    return result.data


def error(tool: QueryTable, table: str, sql: str | None = None) -> ToolError:
    result = asyncio.run(tool.call({"table": table, **({"sql": sql} if sql else {})}))
    assert isinstance(result, ToolError), result
    assert result.error_type in tool.spec.error_codes
    return result


def test_figures_come_from_the_table(tool: QueryTable) -> None:
    assert data(tool, "shop", "SELECT count(*), sum(price) FROM sales")["rows"] == [[1000, 750_750.0]]
    assert data(tool, "german", "SELECT a + b FROM data")["rows"] == [[3]]
    assert "CREATE TABLE sales" in data(tool, "shop")["rows"][0][1]


def test_a_csv_file_is_a_table_with_types_and_lines(tool: QueryTable) -> None:
    found = data(tool, "sites", "SELECT _row, 站点, 流量, 编号 FROM data")
    assert found["rows"] == [[2, "东厂", 400.0, "007"], [4, "西厂", 12.5, "008"], [6, "南厂", None, "009"]]
    assert found["locators"] == ["sites:2", "sites:4", "sites:6"]
    assert data(tool, "sites", "SELECT 备注 FROM data WHERE 站点 = '西厂'")["rows"] == [["两行\n备注"]]


def test_pages_join_to_the_whole_result(tool: QueryTable) -> None:
    seen, offset = list[Any](), 0
    while True:
        page = data(
            tool, "shop", "SELECT rowid AS _row, what FROM sales ORDER BY id", limit=200, offset=offset
        )
        seen += page["rows"]
        assert page["locators"] == [f"shop:{row[0]}" for row in page["rows"]]
        if page["next_offset"] is None:
            break
        offset = page["next_offset"]
    assert seen == [[n, f"pump {n}"] for n in range(1, 1001)]


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH DATABASE '{folder}/secret.db' AS s",
        "INSERT INTO sales VALUES (5000, 'x', 1)",
        "UPDATE sales SET price = 0",
        "DELETE FROM sales",
        "DROP TABLE sales",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x AS SELECT 1",
        "PRAGMA database_list",
        "PRAGMA writable_schema = 1",
        "SELECT * FROM pragma_database_list",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "VACUUM INTO '{folder}/copy.db'",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "SELECT 1; DELETE FROM sales",
        "BEGIN",
        "REINDEX",
        "ANALYZE",
        "EXPLAIN DELETE FROM sales",
        "SELECT zeroblob(100000000)",
        "SELECT nothing FROM nowhere",
        "SELECT",
        "",
        "\0",
    ],
)
@pytest.mark.parametrize("table", ["shop", "sites"])
def test_everything_but_reading_is_refused(tool: QueryTable, folder: Path, table: str, sql: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = asyncio.run(tool.call({"table": table, "sql": sql.replace("{folder}", str(folder))}))
    assert isinstance(result, ToolError), result
    assert result.error_type in ("ACCESS_DENIED", "INVALID_ARGUMENT")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_takes_too_long_is_ended(folder: Path) -> None:
    clock = count(0, 3)
    tool = QueryTable({"shop": folder / "shop.db"}, lambda: float(next(clock)))
    assert error(tool, "shop", "SELECT count(*) FROM sales a, sales b, sales c").error_type == "TIMEOUT"


def test_a_table_that_is_not_there_says_which_are(tool: QueryTable) -> None:
    assert "german, gone, shop, sites" in error(tool, "secret").message
    assert error(tool, "gone").error_type == "UNREADABLE"


def test_values_that_json_has_not_are_told(tool: QueryTable) -> None:
    found = data(tool, "shop", "SELECT 9e999, x'00ff', NULL, replace(hex(zeroblob(1000)), '00', 'ab')")
    assert found["rows"][0][:3] == ["inf", "<2 bytes>", None]
    assert found["rows"][0][3].endswith("(2000 characters)")


def test_the_version_changes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n", encoding="utf-8")
    tool = QueryTable({"t": path})
    assert isinstance(tool, VersionedTool)
    assert not isinstance(tool, EffectTool)
    before = tool.source_version({"table": "t"})
    path.write_text("a\n1\n2\n", encoding="utf-8")
    assert tool.source_version({"table": "t"}) != before
    assert tool.source_version({"table": "x"}) is None


CELLS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co")), max_size=6)


def rows_in(tool: QueryTable) -> Iterator[list[Any]]:
    offset: int | None = 0
    while offset is not None:
        page = data(tool, "t", "SELECT * FROM data", offset=offset)
        yield from page["rows"]
        offset = page["next_offset"]


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=20))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_cells_come_back_as_they_are(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    quoted = "\n".join(
        ",".join('"' + cell.replace('"', '""') + '"' for cell in ("字" + a, b + "字")) for a, b in rows
    )
    (tmp_path / "t.csv").write_text(f"甲列,乙列\n{quoted}\n", encoding="utf-8", newline="")
    found = list(rows_in(QueryTable({"t": tmp_path / "t.csv"})))
    assert [tuple(row[1:]) for row in found] == [("字" + a, b + "字") for a, b in rows]
    assert [row[0] for row in found] == list(range(2, len(rows) + 2))
