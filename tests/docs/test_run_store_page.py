"""Decision 0011 lists the tables of the run store."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.docs.pages import ROOT, text_of

PAGE = text_of(ROOT / "docs" / "adr" / "0011-the-run-store-as-it-is-built.md")


def test_the_tables_that_the_page_lists_are_those_of_the_file(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "runs.db").close()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    listed = PAGE.partition("**What the file holds.**")[2].partition("**What is not there")[0]
    assert {name for (name,) in rows if not name.startswith("sqlite_")} == set(re.findall(r"`(\w+)`", listed))
