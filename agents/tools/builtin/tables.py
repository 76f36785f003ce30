"""The tool `query_table`: one SELECT over a SQLite database or a CSV file that the user named, read only.

SQLite itself holds the line: the file is opened read-only, an authoriser lets SELECT, the reading of columns and plain
functions through and nothing else (no ATTACH, no PRAGMA, no extension, no write), a handler ends what takes too long.
"""

from __future__ import annotations

import asyncio
import csv
import io
import math
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents.tools.builtin.files import text_of
from agents.tools.contract import ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.previews import PREVIEW_CHARS, TOOL_TIMEOUT_S, json_chars

MOST_ROWS: Final = 200
"""Of one page."""
FARTHEST_ROW: Final = 100_000
LARGEST_CSV: Final = 20_000_000
"""Bytes of a CSV file: it is held in memory."""
QUERY_TIME_S: Final = 10.0
_CELL_CHARS: Final = 500
_LARGEST_VALUE: Final = 1_000_000
"""Bytes of a value within a query: a function that makes a larger one ends it."""
_STEPS: Final = 20_000
"""Steps of SQLite's machine between two looks at the time."""
ROW_COLUMN: Final = "_row"
"""Of a CSV file as a table: the line that the record begins at, from 1."""
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
_NOT_CALLED: Final = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_REAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+(?:[eE][+-]?[0-9]{1,3})?")

QUERY_TABLE: Final = ToolSpec(
    name="query_table",
    purpose="Ask a table (a SQLite database or a CSV file) with one SELECT; without `sql`, say what is in it.",
    when_to_use="To find, count, sum or group rows; the exact figures of an answer come from here.",
    when_not_to_use="For text files and notes; to change a table: nothing can be written.",
    input_schema={
        "type": "object",
        "properties": {
            "table": {
                "type": "string",
                "minLength": 1,
                "maxLength": 60,
                "description": "Name of the table's source.",
            },
            "sql": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4_000,
                "description": "One SELECT in SQLite's dialect. A CSV file is the table `data`; select its column "
                "`_row`, or of a database's table `rowid AS _row`, to cite rows by it.",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": 50},
            "offset": {"type": "integer", "minimum": 0, "maximum": FARTHEST_ROW, "default": 0},
        },
        "required": ["table"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "columns": {"type": "array"},
            "rows": {"type": "array"},
            "locators": {"type": "array", "description": "Where each row stands, to cite it."},
            "next_offset": {"type": ["integer", "null"]},
        },
        "required": ["columns", "rows", "locators", "next_offset"],
    },
    scope="the tables that the user named",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="read",
    permission="tables.read",
    error_codes=("NOT_FOUND", "INVALID_ARGUMENT", "ACCESS_DENIED", "TIMEOUT", "TOO_LARGE", "UNREADABLE"),
)


class _Refused(Exception):
    def __init__(self, code: str, message: str, *, retryable: bool = False) -> None:
        self.error = ToolError(error_type=code, message=message, retryable=retryable)
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class QueryTable:
    """The tool over the tables of the user, by name."""

    tables: Mapping[str, Path]
    monotonic: Callable[[], float] = time.monotonic
    spec: ToolSpec = QUERY_TABLE

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the page of the result that begins at `offset`."""
        return await asyncio.to_thread(self._asked, arguments)

    def source_version(self, arguments: Mapping[str, Any]) -> str | None:
        """Return what changes when the file, or what SQLite has beside it, is written."""
        path = self.tables.get(str(arguments.get("table")))
        return None if path is None else _version(path)

    def _asked(self, arguments: Mapping[str, Any]) -> ToolResult:
        name, sql = str(arguments["table"]), arguments.get("sql")
        path = self.tables.get(name)
        if path is None:
            known = ", ".join(sorted(self.tables)) or "none"
            return _Refused("NOT_FOUND", f"no table {name!r:.60}; accepted: {known}").error
        try:
            version = _version(path)
            with closing(_opened(path)) as connection:
                self._guard(connection)
                data = (
                    _described(connection)
                    if sql is None
                    else _page(
                        connection, name, str(sql), arguments.get("limit", 50), arguments.get("offset", 0)
                    )
                )
        except _Refused as refused:
            return refused.error
        except (sqlite3.Error, sqlite3.Warning) as error:
            return _of_sqlite(error)
        except OSError as error:
            return _Refused("UNREADABLE", f"table {name!r} can't be read: {error.strerror}").error
        after = data["next_offset"]
        more = f" (truncated: go on with offset={after})" if after is not None else ""
        return ToolOk(
            summary=f"{len(data['rows'])} rows of {name!r}{more}",
            data=data,
            source=f"table {name}",
            source_version=version,
            truncated=after is not None,
            next_offset=after,
        )

    def _guard(self, connection: sqlite3.Connection) -> None:
        """Close every way but reading, for whatever is asked from now on."""
        until = self.monotonic() + QUERY_TIME_S
        connection.set_progress_handler(lambda: self.monotonic() > until, _STEPS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_authorizer(_authorised)


def _authorised(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action not in _ALLOWED:
        return sqlite3.SQLITE_DENY
    named = second if action == sqlite3.SQLITE_FUNCTION else first
    forbidden = (named or "").lower() in _NOT_CALLED or (named or "").lower().startswith("pragma_")
    return sqlite3.SQLITE_DENY if forbidden else sqlite3.SQLITE_OK


def _opened(path: Path) -> sqlite3.Connection:
    if path.suffix.lower() in (".csv", ".tsv"):
        return _loaded(path)
    if not path.is_file():
        raise _Refused(
            "UNREADABLE", f"no file is at the table's path ({path.name}). Ask the user to correct it."
        )
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2.0)


def _loaded(path: Path) -> sqlite3.Connection:
    """Return the CSV file as the table `data` of a database in memory."""
    with path.open("rb") as file:
        content = file.read(LARGEST_CSV + 1)
    if len(content) > LARGEST_CSV:
        raise _Refused(
            "TOO_LARGE", f"{path.name} has more than {LARGEST_CSV} bytes. Ask for it as a database."
        )
    text = text_of(content)
    if text is None:
        raise _Refused("UNREADABLE", f"{path.name} is no text. Ask the user to save it as CSV in UTF-8.")
    rows = _records(text, "\t" if path.suffix.lower() == ".tsv" else _delimiter(text))
    _, header = next(rows, (1, []))
    names = _column_names(header)
    records = list(rows)
    columns = [
        _typed([record[place] if place < len(record) else None for _, record in records])
        for place in range(len(names))
    ]
    connection = sqlite3.connect(":memory:")
    quoted = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in (ROW_COLUMN, *names))
    connection.execute(f"CREATE TABLE data ({quoted})")
    marks = ", ".join("?" * (len(names) + 1))
    lines = [line for line, _ in records]
    connection.executemany(f"INSERT INTO data VALUES ({marks})", zip(lines, *columns, strict=True))
    connection.commit()
    return connection


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each record that is not empty with the line that it begins at."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    begins = 1
    try:
        for record in reader:
            if record:
                yield begins, record
            begins = reader.line_num + 1
    except csv.Error as error:
        raise _Refused("UNREADABLE", f"the CSV can't be read at line {reader.line_num}: {error}") from error


def _delimiter(text: str) -> str:
    """Return what separates the first line into most fields: `,`, `;` or a tab."""
    first = text.partition("\n")[0]
    return max(",;\t", key=first.count)


def _column_names(header: Sequence[str]) -> list[str]:
    """Return a name for each column: as written, made different where two are equal."""
    names, seen = list[str](), {ROW_COLUMN}
    for number, written in enumerate(header, 1):
        name = base = written.strip() or f"column_{number}"
        copy = 2
        while name.casefold() in seen:
            name, copy = f"{base}_{copy}", copy + 1
        seen.add(name.casefold())
        names.append(name)
    return names


def _typed(cells: Sequence[str | None]) -> Sequence[Any]:
    """Return the cells of a column as numbers when all of them are; a number with a leading 0 is an identifier."""
    given = [cell.strip() for cell in cells if cell is not None and cell.strip()]
    if given and all(_INTEGER.fullmatch(cell) for cell in given):
        return [None if cell is None or not cell.strip() else int(cell) for cell in cells]
    if given and all(_INTEGER.fullmatch(cell) or _REAL.fullmatch(cell) for cell in given):
        return [None if cell is None or not cell.strip() else float(cell) for cell in cells]
    return cells


def _described(connection: sqlite3.Connection) -> dict[str, Any]:
    found = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchmany(MOST_ROWS)
    rows = [[name, str(sql or "")[:_CELL_CHARS]] for name, sql in found]
    return _fitted(["name", "sql"], rows, [f"schema of {name}" for name, _ in rows], 0, more=False)


def _page(connection: sqlite3.Connection, name: str, sql: str, limit: int, offset: int) -> dict[str, Any]:
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise _Refused("ACCESS_DENIED", "only a SELECT is accepted; nothing can be written")
    columns = [str(each[0]) for each in cursor.description]
    for _ in range(offset):
        if cursor.fetchone() is None:
            break
    found = cursor.fetchmany(limit + 1)
    rows = [[_cell(value) for value in row] for row in found[:limit]]
    # As the query names it: whoever cites a row is checked by asking for that row again.
    place = columns.index(ROW_COLUMN) if ROW_COLUMN in columns else None
    locators = [
        f"{name}:{row[place]}" if place is not None else f"{name}: row {offset + number} of the result"
        for number, row in enumerate(rows, 1)
    ]
    return _fitted(columns, rows, locators, offset, more=len(found) > limit)


def _fitted(
    columns: list[str], rows: list[list[Any]], locators: list[str], offset: int, *, more: bool
) -> dict[str, Any]:
    """Return as many rows as fit into a preview, at least one."""

    def data(count: int) -> dict[str, Any]:
        after = offset + count if more or count < len(rows) else None
        return {"columns": columns, "rows": rows[:count], "locators": locators[:count], "next_offset": after}

    count = len(rows)
    while count > 1 and json_chars(data(count)) > PREVIEW_CHARS:
        count = count * 3 // 4
    return data(count)


def _cell(value: Any) -> Any:
    match value:
        case bytes():
            return f"<{len(value)} bytes>"
        case str() if len(value) > _CELL_CHARS:
            return value[:_CELL_CHARS] + f"… ({len(value)} characters)"
        case float() if not math.isfinite(value):
            return str(value)
    return value


def _of_sqlite(error: sqlite3.Error | sqlite3.Warning) -> ToolError:
    said = str(error)
    if "interrupted" in said:
        message = (
            f"the query took more than {QUERY_TIME_S:g} s. Narrow it with WHERE, or ask for fewer columns"
        )
        return _Refused("TIMEOUT", message).error
    if "not authorized" in said or "prohibited" in said or "readonly" in said:
        return _Refused("ACCESS_DENIED", f"{said}: only a SELECT over the named tables is accepted").error
    if isinstance(error, sqlite3.OperationalError) and ("locked" in said or "busy" in said):
        return _Refused("UNREADABLE", f"the database is being written: {said}", retryable=True).error
    message = f"the query is not accepted: {said}. Call without `sql` to see tables and columns"
    return _Refused("INVALID_ARGUMENT", message).error


def _version(path: Path) -> str | None:
    stamps = list[str]()
    for each in (path, path.with_name(path.name + "-wal")):
        try:
            found = each.stat()
        except OSError:
            continue
        stamps.append(f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}")
    return "+".join(stamps) or None
