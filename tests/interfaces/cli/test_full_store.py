"""A store that is full or broken, seen from the command line: what is said, the exit code, and how it goes on."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agents.broker import Broker
from agents.results import WorkOutput, WorkResult
from agents.workers.ports import WorkOrder
from orchestrator.core.ids import RunId
from orchestrator.shell.runs import events_of, load
from orchestrator.shell.store.errors import StoreFull
from orchestrator.shell.store.ports import Operation, Outcome
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.harness import Called, call, store_log
from tests.interfaces.cli.logs import reviewing_log
from tests.interfaces.cli.shops import scripted_shop, write_notes

RUN = "r-test22"


def large(order: WorkOrder, broker: Broker) -> WorkResult:
    """Hand over thirty kilobytes that no compression makes smaller."""
    del broker
    noise = base64.b64encode(random.Random(order.subtask.id).randbytes(24_000)).decode()
    output = WorkOutput(text=f"{len(order.inputs) + 1}.", fields={"noise": noise})
    return WorkResult(output=output, candidate_complete=True, mode="scripted", path=order.path)


def shop_on(home: Path, *, more: int | None = None) -> Workshop:
    """A workshop with large outputs, whose store may grow by `more` bytes."""
    shop = scripted_shop(home, dict.fromkeys("abc", large))
    if more is None:
        return shop
    shop.store.close()
    path = home / "runs.db"
    return replace(shop, store=SqliteStore(path, max_bytes=path.stat().st_size + more))


def called(home: Path, *argv: str, more: int | None = None, lang: str = "en") -> Called:
    """One process: its workshop is closed at the end."""
    shop = shop_on(home, more=more)
    try:
        return call(*argv, home=home, shop=shop, environment={"MASKGRAD_LANG": lang})
    finally:
        shop.store.close()


def seen(home: Path) -> tuple[int, str | None]:
    store = SqliteStore(home / "runs.db")
    state = load(store, RunId(RUN))
    store.close()
    return state.seq, state.result


@pytest.fixture
def undisturbed(tmp_path: Path) -> str:
    home = tmp_path / "calm"
    store_log(home, RUN, reviewing_log())
    result = called(home, "run", RUN, "--approve", "--json").data["result"]
    assert isinstance(result, str)
    return result


@pytest.mark.parametrize("more", [45_000, 90_000])
def test_a_run_that_a_full_store_stopped_is_interrupted_and_resumes(
    tmp_path: Path, undisturbed: str, more: int
) -> None:
    home = tmp_path / "home"
    store_log(home, RUN, reviewing_log())
    stopped = called(home, "run", RUN, "--approve", "--json", more=more)
    assert (stopped.code, stopped.error["kind"], stopped.error["code"]) == (1, "store", "store_full")
    seq, result = seen(home)
    assert (seq > 3, result) == (True, None)
    said = stopped.error["message"]
    assert f"The run store '{home / 'runs.db'}' is full: its files take " in said
    assert "Raise MASKGRAD_STORE_MB, then try again" in said
    assert "Free some space" not in said, "the disk has room for the whole limit"
    assert f"Run '{RUN}' was stopped; what was committed up to event {seq} is kept" in said
    assert f"`maskgrad resume {RUN}`" in said
    assert stopped.error["hint"] == f"maskgrad resume {RUN}"
    shown = called(home, "show", RUN, "--json").data
    assert (shown["status"], shown["interrupted"], shown["holder"]) == ("running", True, None)
    assert called(home, "show", RUN).out.startswith(f"{RUN}  interrupted  #{seq}\n")
    assert called(home, "show", RUN, lang="zh").out.startswith(f"{RUN}  已中断  #{seq}\n")
    assert " interrupted " in called(home, "runs").out.splitlines()[1]
    (row,) = called(home, "runs", "--json").data["runs"]
    assert row["interrupted"] is True
    watched = called(home, "watch", RUN, "--display", "none")
    assert (watched.code, f"maskgrad resume {RUN}" in watched.err) == (130, True)
    assert watched.out.startswith(f"{RUN}  interrupted")
    resumed = called(home, "resume", RUN, "--json").data
    assert resumed["result"] == undisturbed
    assert (resumed["status"], resumed["interrupted"]) == ("partial", False)


def test_it_is_said_in_chinese(tmp_path: Path) -> None:
    store_log(tmp_path, RUN, reviewing_log())
    stopped = called(tmp_path, "run", RUN, "--approve", "--display", "none", more=45_000, lang="zh")
    seq, _ = seen(tmp_path)
    assert (stopped.code, stopped.out) == (1, "")
    assert "已满：其文件占用 " in stopped.err
    assert f"运行 '{RUN}' 已停止；已提交的内容（到第 {seq} 个事件为止）会保留，不会重做。" in stopped.err
    assert f"请用 `maskgrad resume {RUN}` 继续" in stopped.err


def test_a_full_store_while_a_resume_begins(tmp_path: Path) -> None:
    store_log(tmp_path, RUN, reviewing_log())
    called(tmp_path, "run", RUN, "--approve", more=45_000)
    seq, _ = seen(tmp_path)
    again = called(tmp_path, "resume", RUN, "--json", more=0)
    assert (again.code, again.error["code"], again.error["hint"]) == (
        1,
        "store_full",
        f"maskgrad resume {RUN}",
    )
    assert seen(tmp_path)[0] >= seq


def test_a_full_store_at_the_draft_leaves_no_run(tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "notes")
    SqliteStore(tmp_path / "runs.db").close()
    refused = called(
        tmp_path, "plan", "What does the battery system cost?", "--sources", str(notes), "--json", more=0
    )
    assert (refused.code, refused.error["code"]) == (1, "store_full")
    assert "then try again; nothing committed is lost" in refused.error["message"]
    assert "RUN" not in refused.error["message"].replace("MASKGRAD_STORE_MB", "")
    assert called(tmp_path, "runs", "--json").data["runs"] == []


def test_a_full_store_at_an_approval_by_run_names_the_run_that_is_there(tmp_path: Path) -> None:
    """Drafted anew, the goal would be there twice."""

    class FullAfterTheDraft(SqliteStore):
        def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
            if self.runs():
                raise StoreFull(self.location)
            return super().commit(operations)

    notes = write_notes(tmp_path / "notes")
    shop = replace(shop_on(tmp_path), store=FullAfterTheDraft(tmp_path / "runs.db"))
    goal = "What does the battery system cost?"
    refused = call("run", goal, "--sources", str(notes), "--approve", "--json", home=tmp_path, shop=shop)
    (row,) = shop.store.runs()
    shop.store.close()
    assert refused.code == 1
    assert refused.error["hint"] == f"maskgrad run {row.id} --approve"
    assert f"what was committed up to event {row.head} is kept" in refused.error["message"]


def test_a_store_whose_folder_was_deleted_says_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    store_log(home, RUN, reviewing_log())
    shop = shop_on(home)
    home.rename(tmp_path / "elsewhere")
    refused = call("approve", f"{RUN}@1-00000000", "--json", home=home, shop=shop)
    assert (refused.code, refused.error["code"]) == (1, "store_broken")
    assert "deleted, moved or replaced while it was open" in refused.error["message"]
    shop.store.close()


def test_the_size_of_the_store_is_a_setting(tmp_path: Path) -> None:
    store_log(tmp_path, RUN, reviewing_log())
    environment = {"MASKGRAD_STORE_MB": "1"}
    note = base64.b64encode(random.Random(1).randbytes(900_000)).decode()
    full = call("request-changes", RUN, note, "--json", home=tmp_path, environment=environment)
    assert (full.code, full.error["code"]) == (1, "store_full")
    assert "its limit is 1,000,000" in full.error["message"]
    assert call("request-changes", RUN, note[:9000], home=tmp_path, environment=environment).code == 0
    assert call("request-changes", RUN, note, home=tmp_path).code == 0


@pytest.mark.parametrize("size", ["0", "-3", "1.5", "a lot"])
@pytest.mark.parametrize(("lang", "words"), [("en", "whole number of megabytes"), ("zh", "兆字节")])
def test_a_size_that_is_none_is_refused(tmp_path: Path, size: str, lang: str, words: str) -> None:
    refused = call(
        "runs", "--json", home=tmp_path, environment={"MASKGRAD_STORE_MB": size, "MASKGRAD_LANG": lang}
    )
    assert (refused.code, refused.error["code"]) == (2, "invalid_setting")
    assert repr(size) in refused.error["message"]
    assert words in refused.error["message"]


def test_what_is_kept_is_never_started_again(tmp_path: Path) -> None:
    store_log(tmp_path, RUN, reviewing_log())
    called(tmp_path, "run", RUN, "--approve", more=90_000)
    called(tmp_path, "resume", RUN)
    store = SqliteStore(tmp_path / "runs.db")
    done: set[str] = set()
    for event in events_of(store, RunId(RUN)):
        node = getattr(event.body, "node", None)
        assert not (event.body.type == "attempt.started" and node in done)
        if event.body.type == "attempt.verified":
            done.add(str(node))
    store.close()
    assert done == {"a", "b", "c"}
