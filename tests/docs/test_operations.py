"""What the pages on operating it say: their commands are executed, their messages are those of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.retrieval.reading import MAX_NOTE_BYTES
from orchestrator.interfaces.cli.failures import failure_of
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.shell.executor import LEASE_TTL_S
from orchestrator.shell.journal import LINGER_S, WAITING_LIMIT
from orchestrator.shell.lease_keeper import RENEWALS_PER_TERM
from orchestrator.shell.scheduler import DEFAULT_MAX_IN_FLIGHT
from orchestrator.shell.settings import Settings
from orchestrator.shell.store import errors as store_errors
from orchestrator.shell.store.errors import Room, StoreFull
from orchestrator.shell.store.sqlite_connection import BUSY_TIMEOUT_S
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.docs.pages import ROOT, blocks, text_of
from tests.docs.terminal import Terminal
from tests.kill.many import WORKLOADS
from tests.kill.victims import W5

PAGES: dict[Lang, Path] = {
    "en": ROOT / "docs" / "operations.md",
    "zh": ROOT / "docs" / "operations.zh-CN.md",
}


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.chdir(ROOT)
    settings = Settings(home=tmp_path, lang="en")
    store = SqliteStore(settings.store_path)
    yield Terminal(shop=Workshop(settings=settings, store=store), home=tmp_path)
    store.close()


def test_the_commands_show_what_the_pages_say(terminal: Terminal) -> None:
    english, chinese = (
        [block.text for block in blocks(text_of(page)) if block.language == "console"]
        for page in PAGES.values()
    )
    assert english == chinese
    assert len(english) == 4
    for session in english:
        terminal.session(session.splitlines())


@pytest.mark.parametrize("lang", PAGES)
def test_the_message_of_a_full_store_is_the_programs(lang: Lang) -> None:
    full = StoreFull("/home/ann/.local/share/maskgrad/runs.db", Room(size=393_216, free=0))
    full.stopped("r-7k2m9d", kept=42, step="maskgrad resume r-7k2m9d")
    said = failure_of(full, lang, home=None, args=["run", "r-7k2m9d"]).message
    head = {"en": "error: ", "zh": "错误："}[lang]
    assert f"{head}{said}\n" in [block.text for block in blocks(text_of(PAGES[lang]))]


@pytest.mark.parametrize("lang", PAGES)
def test_the_codes_of_the_table_are_those_of_the_errors(lang: Lang) -> None:
    rows = re.findall(r"^\| .+ \| `(store_\w+)` \| .+ \|$", text_of(PAGES[lang]), re.MULTILINE)
    known = {kind.code for kind in store_errors.StoreUnavailable.__subclasses__()}
    # A store is closed by a program that is mistaken, never by what happens to it.
    assert set(rows) == known - {store_errors.StoreClosed.code}


def test_the_numbers_are_those_of_the_program() -> None:
    text = " ".join(text_of(PAGES["en"]).split())
    assert LEASE_TTL_S == 30.0
    assert LEASE_TTL_S / RENEWALS_PER_TERM == 10.0
    assert "holds for 30 seconds and is renewed every ten" in text
    assert (DEFAULT_MAX_IN_FLIGHT, "At most 32 attempts" in text) == (32, True)
    assert (MAX_NOTE_BYTES, "Notes above 5 MB are not read" in text) == (5_000_000, True)
    assert (BUSY_TIMEOUT_S, "locked for ten seconds" in text) == (10.0, True)
    assert (WAITING_LIMIT, "while 1,024 events of a run wait" in text) == (1_024, True)
    assert (LINGER_S, "follows within 50 ms" in text) == (0.05, True)
    sizes = {len(victim.load.parents) for victim in WORKLOADS.values() if isinstance(victim, W5)}
    assert (len(WORKLOADS), sizes, "four runs of 60 sub-tasks" in text) == (4, {60}, True)


@pytest.mark.parametrize("lang", PAGES)
def test_the_kill_target_is_what_the_page_names(lang: Lang) -> None:
    """200 random times are those of the target; a page names command and module."""
    recipe = re.search(r"^kill:\n\t(.+)$", text_of(ROOT / "Makefile"), re.MULTILINE)
    assert recipe is not None
    assert recipe[1] == "$(BIN)/python -m tests.kill.many --points 200 --seed 7"
    assert "`make kill`" in text_of(PAGES[lang])
    assert " 200 " in text_of(PAGES[lang]).partition("`python -m tests.kill.many`")[2]
