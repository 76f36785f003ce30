"""What every run store must do. A test module per implementation subclasses `RunStoreConformance` and gives a rig."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, cast

import pytest

from orchestrator.shell.store.errors import (
    AlreadyRecorded,
    ArtefactCorrupted,
    ArtefactMissing,
    HeadMoved,
    NotStorable,
    RunBusy,
    RunExists,
    StaleLease,
    StoreClosed,
    UnknownRun,
)
from orchestrator.shell.store.ports import Committed, Refused, RunStore, StoreWrites
from orchestrator.shell.store.rows import (
    AttemptThread,
    CheckpointRow,
    Lease,
    NewEvent,
    StoredEvent,
    WriteRow,
)

START = 1_700_000_000.0
"""2023-11-14T22:13:20Z"""


@dataclass
class FakeClock:
    """A clock that moves when it is told to."""

    now: float = START

    def __call__(self) -> float:
        return self.now


class PowerCut(BaseException):
    """The end of a process, as far as a transaction can tell: no `except Exception` sees it."""


@dataclass
class Fuse:
    """Lets `left` elementary writes through and then raises, while it is armed."""

    left: int | None = None
    error: Callable[[], BaseException] = PowerCut

    def spend(self) -> None:
        """Count one elementary write."""
        if self.left is None:
            return
        if self.left == 0:
            raise self.error()
        self.left -= 1


class StoreRig(Protocol):
    """A store under test and the means to disturb it."""

    @property
    def store(self) -> RunStore: ...

    @property
    def clock(self) -> FakeClock: ...

    @property
    def fuse(self) -> Fuse: ...

    def corrupt(self, digest: str) -> None:
        """Change a byte of a kept artefact behind the store's back."""


def event(name: str = "node.started", payload: str = "{}", **fields: object) -> NewEvent:
    """Return an event with little in it."""
    values: dict[str, object] = {"v": 1, "type": name, "ts": "2025-01-02T03:04:05+00:00", "payload": payload}
    return NewEvent(**(values | fields))  # type: ignore[arg-type]


def checkpoint(
    thread: str, id_: str, *, ns: str = "", parent: str | None = None, body: bytes = b"{}"
) -> CheckpointRow:
    """Return a checkpoint with little in it."""
    return CheckpointRow(
        thread=thread, ns=ns, id=id_, parent=parent, encoding="json", checkpoint=body, metadata=b'{"step":0}'
    )


def write(
    thread: str, checkpoint_id: str, task: str, index: int, value: bytes, *, ns: str = "", path: str = ""
) -> WriteRow:
    """Return a task's write."""
    return WriteRow(
        thread=thread,
        ns=ns,
        checkpoint=checkpoint_id,
        task=task,
        index=index,
        channel="output",
        encoding="json",
        value=value,
        path=path,
    )


def snapshot(store: RunStore, runs: Sequence[str] = ("r-1", "r-2")) -> object:
    """Return everything that can be read of these runs, to compare."""
    return (
        store.runs(),
        [list(store.events(run)) for run in runs],
        [store.pending(run) for run in runs],
        [store.lease(run) for run in runs],
        [
            (row, store.checkpoint_writes(row.thread, row.ns, row.id))
            for row in sorted(store.checkpoints(), key=lambda row: (row.thread, row.ns, row.id))
        ],
        store.failures(),
        store.info().artefacts,
    )


@dataclass
class _Appender:
    """A thread that appends to one run beside others, reading the head again when it moved."""

    store: RunStore
    name: str
    count: int
    heads: list[int] = field(default_factory=list)

    def __call__(self) -> None:
        for number in range(self.count):
            while True:
                head = self.store.head("r-1")
                try:
                    self.heads.append(self.store.append("r-1", head, [event(idem=f"{self.name}-{number}")]))
                except HeadMoved:
                    continue
                break


class RunStoreConformance:
    """The suite."""

    def new_rig(self) -> AbstractContextManager[StoreRig]:
        """Return a rig with an empty store."""
        raise NotImplementedError

    @pytest.fixture
    def rig(self) -> Iterator[StoreRig]:
        """Return a rig whose store has the runs `r-1` and `r-2`."""
        with self.new_rig() as rig:
            rig.store.create_run("r-1", "first", "2025-01-01T00:00:00+00:00")
            rig.store.create_run("r-2", "second", "2025-01-02T00:00:00+00:00")
            yield rig

    # Runs

    def test_a_new_run_has_no_events_and_is_listed_newest_first(self, rig: StoreRig) -> None:
        rig.store.append("r-1", 0, [event(), event()])
        assert [(row.id, row.title, row.head) for row in rig.store.runs()] == [
            ("r-2", "second", 0),
            ("r-1", "first", 2),
        ]
        assert [row.id for row in rig.store.runs(limit=1)] == ["r-2"]
        assert rig.store.run("r-1").created == "2025-01-01T00:00:00+00:00"

    @pytest.mark.parametrize("run", ["", "r/1"])
    def test_a_run_id_that_cannot_lead_a_thread_id_is_refused(self, rig: StoreRig, run: str) -> None:
        with pytest.raises(NotStorable, match="cannot be stored"):
            rig.store.create_run(run, "t", "2025")

    def test_an_id_names_one_run(self, rig: StoreRig) -> None:
        with pytest.raises(RunExists):
            rig.store.create_run("r-1", "again", "2026")
        assert rig.store.run("r-1").title == "first"

    @pytest.mark.parametrize(
        "use",
        [
            lambda store: store.run("r-9"),
            lambda store: store.head("r-9"),
            lambda store: store.events("r-9"),
            lambda store: store.lease("r-9"),
            lambda store: store.append("r-9", 0, [event()]),
            lambda store: store.post("r-9", "answer", "{}", "a"),
            lambda store: store.acquire("r-9", "p", 1.0),
            lambda store: store.mark_folded("r-9", []),
            lambda store: store.add_failure("c", "r", "o", "r-9"),
        ],
    )
    def test_an_unknown_run_is_named(self, rig: StoreRig, use: Callable[[RunStore], object]) -> None:
        with pytest.raises(UnknownRun, match="'r-9'"):
            use(rig.store)

    # Appending

    def test_every_field_is_kept(self, rig: StoreRig) -> None:
        rig.store.append("r-1", 0, [event()])
        new = NewEvent(v=3, type="节点.完成", ts="2025", payload='{"a":"甲\\u0000"}', cause=1, idem="n1.done")
        rig.store.append("r-1", 1, [new])
        assert list(rig.store.events("r-1", after=1)) == [
            StoredEvent(
                run="r-1",
                seq=2,
                v=3,
                type="节点.完成",
                ts="2025",
                payload='{"a":"甲\\u0000"}',
                cause=1,
                idem="n1.done",
            )
        ]

    def test_events_are_read_from_after_up_to(self, rig: StoreRig) -> None:
        rig.store.append("r-1", 0, [event(payload=str(n)) for n in range(1, 8)])

        def seqs(after: int, upto: int | None) -> list[int]:
            return [e.seq for e in rig.store.events("r-1", after, upto)]

        assert seqs(0, None) == [1, 2, 3, 4, 5, 6, 7]
        assert seqs(2, 5) == [3, 4, 5]
        assert seqs(6, 99) == [7]
        assert seqs(7, None) == seqs(3, 3) == seqs(5, 2) == []
        assert seqs(-3, 1) == [1]

    def test_an_iterator_ends_at_the_head_it_was_asked_at(self, rig: StoreRig) -> None:
        rig.store.append("r-1", 0, [event(), event()])
        events = rig.store.events("r-1")
        first = next(events)
        rig.store.append("r-1", 2, [event()])
        assert [first.seq, *(e.seq for e in events)] == [1, 2]

    def test_a_moved_head_refuses_the_append_and_says_both_heads(self, rig: StoreRig) -> None:
        rig.store.append("r-1", 0, [event("first")])
        for wrong in (0, 2):
            with pytest.raises(HeadMoved) as caught:
                rig.store.append("r-1", wrong, [event("second")])
            assert (caught.value.expected, caught.value.actual) == (wrong, 1)
        assert [e.type for e in rig.store.events("r-1")] == ["first"]

    def test_runs_count_by_themselves(self, rig: StoreRig) -> None:
        rig.store.append("r-1", 0, [event(idem="x")])
        assert rig.store.append("r-2", 0, [event(idem="x")]) == 1

    def test_an_append_without_events_checks_the_head(self, rig: StoreRig) -> None:
        assert rig.store.append("r-1", 0, []) == 0
        with pytest.raises(HeadMoved):
            rig.store.append("r-1", 1, [])

    def test_a_repeated_append_returns_the_head_of_the_first(self, rig: StoreRig) -> None:
        batch = [event("a"), event("b", idem="x"), event("c", cause=1)]
        assert rig.store.append("r-1", 0, batch) == 3
        assert rig.store.append("r-1", 0, batch) == 3
        rig.store.append("r-1", 3, [event("d")])
        assert rig.store.append("r-1", 0, batch) == 3
        assert rig.store.append("r-1", 4, [event("b", idem="x", ts="later", v=2)]) == 2
        assert [e.type for e in rig.store.events("r-1")] == ["a", "b", "c", "d"]

    def test_a_repeated_append_without_a_name_is_a_new_append(self, rig: StoreRig) -> None:
        rig.store.append("r-1", 0, [event()])
        with pytest.raises(HeadMoved):
            rig.store.append("r-1", 0, [event()])

    @pytest.mark.parametrize(
        "batch",
        [
            [event("b", payload='{"other":1}', idem="x")],
            [event("other", idem="x")],
            [event("b", idem="x"), event("more", idem="y")],
            [event("not a"), event("b", idem="x")],
            [event("new", idem="y"), event("b", idem="x")],
        ],
        ids=["payload", "type", "longer", "before", "later in the batch"],
    )
    def test_a_name_stands_for_one_event(self, rig: StoreRig, batch: list[NewEvent]) -> None:
        rig.store.append("r-1", 0, [event("a"), event("b", idem="x")])
        with pytest.raises(AlreadyRecorded):
            rig.store.append("r-1", 2, batch)
        assert rig.store.head("r-1") == 2

    def test_an_append_has_a_name_once(self, rig: StoreRig) -> None:
        with pytest.raises(NotStorable, match="'z'"):
            rig.store.append("r-1", 0, [event("twice", idem="z"), event("twice", idem="z")])
        assert rig.store.head("r-1") == 0

    @pytest.mark.parametrize("cause", [0, -1, 3, 4])
    def test_a_cause_is_an_earlier_event(self, rig: StoreRig, cause: int) -> None:
        rig.store.append("r-1", 0, [event()])
        with pytest.raises(NotStorable, match="cause of event 3"):
            rig.store.append("r-1", 1, [event(cause=1), event(cause=cause)])
        assert rig.store.append("r-1", 1, [event(cause=1), event(cause=2)]) == 3

    def test_text_that_utf8_cannot_hold_is_refused_whole(self, rig: StoreRig) -> None:
        with pytest.raises(NotStorable, match="surrogates"):
            rig.store.append("r-1", 0, [event(payload="good"), event(payload="bad \ud800")])
        assert rig.store.head("r-1") == 0

    def test_threads_that_append_side_by_side_lose_nothing(self, rig: StoreRig) -> None:
        appenders = [_Appender(rig.store, f"t{n}", 12) for n in range(4)]
        threads = [threading.Thread(target=appender) for appender in appenders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stored = list(rig.store.events("r-1"))
        assert [e.seq for e in stored] == list(range(1, 49))
        assert {e.idem for e in stored} == {f"t{n}-{number}" for n in range(4) for number in range(12)}
        assert sorted(head for appender in appenders for head in appender.heads) == list(range(1, 49))

    # Leases

    def test_one_process_executes_a_run(self, rig: StoreRig) -> None:
        lease = rig.store.acquire("r-1", "host:1", 30.0)
        assert lease == Lease(run="r-1", holder="host:1", epoch=1, expires=START + 30)
        assert rig.store.lease("r-1") == lease
        rig.clock.now += 29
        for holder in ("host:2", "host:1"):
            with pytest.raises(RunBusy, match="process 1 on 'host' until 2023-11-14 22:13:50 UTC") as caught:
                rig.store.acquire("r-1", holder, 30.0)
            assert caught.value.expires == START + 30
        assert rig.store.acquire("r-2", "host:2", 30.0).epoch == 1

    def test_an_expired_lease_is_taken_over_under_a_new_epoch(self, rig: StoreRig) -> None:
        rig.store.acquire("r-1", "host:1", 30.0)
        rig.clock.now += 30
        assert rig.store.lease("r-1") is None
        assert rig.store.acquire("r-1", "host:2", 10.0).epoch == 2
        assert rig.store.lease("r-1") == Lease(run="r-1", holder="host:2", epoch=2, expires=START + 40)

    def test_the_lease_of_a_dead_holder_is_taken_before_it_expires(self, rig: StoreRig) -> None:
        rig.store.acquire("r-1", "host:1", 30.0)
        with pytest.raises(RunBusy):
            rig.store.acquire("r-1", "host:3", 30.0, instead_of="host:2")
        assert rig.store.acquire("r-1", "host:3", 30.0, instead_of="host:1").epoch == 2

    def test_a_renewed_lease_runs_from_now(self, rig: StoreRig) -> None:
        lease = rig.store.acquire("r-1", "host:1", 30.0)
        rig.clock.now += 20
        renewed = rig.store.renew(lease, 30.0)
        assert (renewed.epoch, renewed.expires) == (1, START + 50)
        rig.clock.now += 29
        with pytest.raises(RunBusy):
            rig.store.acquire("r-1", "host:2", 30.0)

    def test_a_released_lease_is_free_at_once_and_writes_nothing_more(self, rig: StoreRig) -> None:
        lease = rig.store.acquire("r-1", "host:1", 30.0)
        rig.store.release(lease)
        rig.store.release(lease)
        assert rig.store.lease("r-1") is None
        with pytest.raises(StaleLease):
            rig.store.append("r-1", 0, [event()], lease=lease)
        with pytest.raises(StaleLease):
            rig.store.renew(lease, 30.0)
        assert rig.store.acquire("r-1", "host:2", 30.0).epoch == 2

    def test_a_stale_release_does_not_free_the_run(self, rig: StoreRig) -> None:
        old = rig.store.acquire("r-1", "host:1", 30.0)
        rig.clock.now += 31
        new = rig.store.acquire("r-1", "host:2", 30.0)
        rig.store.release(old)
        assert rig.store.lease("r-1") == new

    @pytest.mark.parametrize("ttl_s", [0.0, -1.0, float("inf"), float("nan")])
    def test_a_lease_runs_for_a_time(self, rig: StoreRig, ttl_s: float) -> None:
        with pytest.raises(NotStorable):
            rig.store.acquire("r-1", "host:1", ttl_s)
        lease = rig.store.acquire("r-1", "host:1", 1.0)
        with pytest.raises(NotStorable):
            rig.store.renew(lease, ttl_s)

    def test_a_holder_has_a_name(self, rig: StoreRig) -> None:
        with pytest.raises(NotStorable):
            rig.store.acquire("r-1", "", 30.0)

    @pytest.mark.parametrize(
        "late_write",
        [
            lambda store, lease: store.append("r-1", 0, [event()], lease=lease),
            lambda store, lease: store.append("r-1", 0, [], lease=lease, folded=[1]),
            lambda store, lease: store.mark_folded("r-1", [1], lease=lease),
            lambda store, lease: store.renew(lease, 30.0),
            lambda store, lease: store.add_failure("class", "repair", "outcome", "r-1", lease=lease),
            lambda store, _: store.put_checkpoint(checkpoint("r-1/n/0/1/1", "c1")),
            lambda store, _: store.put_checkpoint_writes([write("r-1/n/0/1/1", "c1", "t", 0, b"1")]),
            lambda store, _: store.copy_thread("r-1/n/0/1/2", "r-1/n/0/1/1"),
        ],
        ids=["append", "fold by append", "fold", "renew", "failure", "checkpoint", "writes", "copy"],
    )
    def test_a_stopped_and_continued_process_writes_nothing(
        self, rig: StoreRig, late_write: Callable[[RunStore, Lease], object]
    ) -> None:
        old = rig.store.acquire("r-1", "host:1", 30.0)
        rig.store.post("r-1", "answer", "{}", "a")
        rig.clock.now += 31
        rig.store.acquire("r-1", "host:2", 30.0)
        rig.store.put_checkpoint(checkpoint("r-1/n/0/1/2", "c1"))
        before = snapshot(rig.store)
        with pytest.raises(StaleLease) as caught:
            late_write(rig.store, old)
        assert (caught.value.epoch, caught.value.current) == (1, 2)
        assert snapshot(rig.store) == before

    def test_an_expired_lease_that_nobody_took_may_still_write(self, rig: StoreRig) -> None:
        lease = rig.store.acquire("r-1", "host:1", 30.0)
        rig.clock.now += 300
        assert rig.store.append("r-1", 0, [event()], lease=lease) == 1
        assert rig.store.renew(lease, 30.0).expires == START + 330

    def test_nobody_writes_beside_the_holder_without_a_lease(self, rig: StoreRig) -> None:
        lease = rig.store.acquire("r-1", "host:1", 30.0)
        with pytest.raises(RunBusy, match="process 1 on 'host'"):
            rig.store.append("r-1", 0, [event()])
        with pytest.raises(RunBusy, match="process 1 on 'host'"):
            rig.store.add_failure("class", "repair", "outcome", "r-1")
        assert rig.store.append("r-1", 0, [event()], lease=lease) == 1
        rig.clock.now += 31
        assert rig.store.append("r-1", 1, [event()]) == 2

    def test_the_lease_of_another_run_is_refused(self, rig: StoreRig) -> None:
        lease = rig.store.acquire("r-2", "host:1", 30.0)
        with pytest.raises(NotStorable, match="'r-2'"):
            rig.store.append("r-1", 0, [event()], lease=lease)

    def test_a_lease_that_never_was_is_stale(self, rig: StoreRig) -> None:
        with pytest.raises(StaleLease):
            rig.store.append(
                "r-1", 0, [event()], lease=Lease(run="r-1", holder="x", epoch=1, expires=START + 99)
            )

    # Artefacts

    @pytest.mark.parametrize("content", [b"", b"\x00\xff", "蒙版".encode() * 400])
    def test_artefacts_are_kept_under_their_sha256(self, rig: StoreRig, content: bytes) -> None:
        digest = rig.store.put_artefact(content)
        assert digest == hashlib.sha256(content).hexdigest()
        assert rig.store.put_artefact(content) == digest
        assert rig.store.get_artefact(digest) == content
        assert rig.store.info().artefacts == 1

    @pytest.mark.parametrize("content", [b"short", b"long " * 1000])
    def test_a_damaged_artefact_is_found_out(self, rig: StoreRig, content: bytes) -> None:
        sound = rig.store.put_artefact(b"another")
        digest = rig.store.put_artefact(content)
        assert rig.store.check() == ()
        rig.corrupt(digest)
        with pytest.raises(ArtefactCorrupted, match=digest):
            rig.store.get_artefact(digest)
        assert [digest in line for line in rig.store.check()] == [True]
        assert rig.store.get_artefact(sound) == b"another"

    def test_a_missing_artefact_is_named(self, rig: StoreRig) -> None:
        with pytest.raises(ArtefactMissing, match="'abc'"):
            rig.store.get_artefact("abc")

    def test_artefacts_come_with_their_event_or_not_at_all(self, rig: StoreRig) -> None:
        digest = hashlib.sha256(b"result").hexdigest()
        with pytest.raises(HeadMoved):
            rig.store.append("r-1", 1, [event()], artefacts=[b"result"])
        with pytest.raises(ArtefactMissing):
            rig.store.get_artefact(digest)
        rig.store.append("r-1", 0, [event()], artefacts=[b"result"])
        assert rig.store.get_artefact(digest) == b"result"

    # Messages

    def test_messages_wait_in_the_order_of_posting(self, rig: StoreRig) -> None:
        first = rig.store.post("r-1", "answer", '{"choice":"retry"}', "q1")
        rig.store.post("r-2", "cancel", "{}", "c")
        rig.clock.now += 1.5
        second = rig.store.post("r-1", "cancel", "{}", "c")
        waiting = rig.store.pending("r-1")
        assert [(m.id, m.run, m.kind, m.payload, m.ts) for m in waiting] == [
            (first, "r-1", "answer", '{"choice":"retry"}', "2023-11-14T22:13:20.000+00:00"),
            (second, "r-1", "cancel", "{}", "2023-11-14T22:13:21.500+00:00"),
        ]
        assert first < second
        assert [m.id for m in rig.store.pending("r-1", after=first)] == [second]
        assert rig.store.info().open_messages == 3

    def test_any_process_posts_while_a_run_is_executed(self, rig: StoreRig) -> None:
        rig.store.acquire("r-1", "host:1", 30.0)
        rig.store.post("r-1", "pause", "{}", "p")
        assert [m.kind for m in rig.store.pending("r-1")] == ["pause"]

    def test_a_repeated_message_is_the_same_message(self, rig: StoreRig) -> None:
        first = rig.store.post("r-1", "answer", '{"choice":"retry"}', "q1")
        assert rig.store.post("r-1", "answer", '{"choice":"retry"}', "q1") == first
        rig.store.mark_folded("r-1", [first])
        assert rig.store.post("r-1", "answer", '{"choice":"retry"}', "q1") == first
        assert rig.store.pending("r-1") == ()

    @pytest.mark.parametrize(("kind", "payload"), [("answer", "other"), ("other", "{}")])
    def test_a_second_answer_is_refused(self, rig: StoreRig, kind: str, payload: str) -> None:
        first = rig.store.post("r-1", "answer", "{}", "q1")
        with pytest.raises(AlreadyRecorded, match="'q1'") as caught:
            rig.store.post("r-1", kind, payload, "q1")
        assert caught.value.where == first
        assert [m.payload for m in rig.store.pending("r-1")] == ["{}"]

    def test_a_message_is_folded_with_its_event_or_not_at_all(self, rig: StoreRig) -> None:
        first, second, foreign = (
            rig.store.post(run, "k", "{}", d) for run, d in (("r-1", "a"), ("r-1", "b"), ("r-2", "a"))
        )
        with pytest.raises(HeadMoved):
            rig.store.append("r-1", 5, [event()], folded=[first])
        assert [m.id for m in rig.store.pending("r-1")] == [first, second]
        rig.store.append("r-1", 0, [event()], folded=[first, foreign, 99])
        assert [m.id for m in rig.store.pending("r-1")] == [second]
        assert [m.id for m in rig.store.pending("r-2")] == [foreign]

    # Failures

    def test_failures_are_remembered_by_class(self, rig: StoreRig) -> None:
        for class_, repair in (("a", "extend"), ("b", "extend"), ("a", "reassign")):
            rig.store.add_failure(class_, repair, "failed again", "r-1")
        assert [(f.task_class, f.repair) for f in rig.store.failures()] == [
            ("a", "extend"),
            ("b", "extend"),
            ("a", "reassign"),
        ]
        assert [f.repair for f in rig.store.failures("a")] == ["extend", "reassign"]
        assert {(f.outcome, f.run, f.ts[:10]) for f in rig.store.failures()} == {
            ("failed again", "r-1", "2023-11-14")
        }

    # Checkpoints

    def test_checkpoints_are_found_by_id_and_by_age(self, rig: StoreRig) -> None:
        rows = [
            checkpoint("t", f"c{n}", parent=f"c{n - 1}" if n else None, body=b"%d" % n) for n in (1, 0, 2)
        ]
        for row in [*rows, checkpoint("t", "c9", ns="child"), checkpoint("u", "c8")]:
            rig.store.put_checkpoint(row)
        assert rig.store.checkpoint("t", "") == rows[2]
        assert rig.store.checkpoint("t", "", "c1") == rows[0]
        assert rig.store.checkpoint("t", "", "c9") is None
        assert rig.store.checkpoint("v", "") is None
        assert [row.id for row in rig.store.checkpoints("t", "")] == ["c2", "c1", "c0"]
        assert [row.id for row in rig.store.checkpoints("t")] == ["c9", "c2", "c1", "c0"]
        assert [row.id for row in rig.store.checkpoints("t", "", before="c2")] == ["c1", "c0"]
        assert [row.thread for row in rig.store.checkpoints(exactly="c8")] == ["u"]
        assert len(rig.store.checkpoints()) == 5

    def test_a_checkpoint_of_the_same_id_replaces(self, rig: StoreRig) -> None:
        rig.store.put_checkpoint(checkpoint("t", "c1", body=b"old"))
        rig.store.put_checkpoint(checkpoint("t", "c1", body=b"new"))
        assert [row.checkpoint for row in rig.store.checkpoints("t")] == [b"new"]

    def test_writes_are_ordered_and_only_special_ones_are_replaced(self, rig: StoreRig) -> None:
        rig.store.put_checkpoint_writes(
            [
                write("t", "c1", "task-a", 1, b"a1", path="~2"),
                write("t", "c1", "task-a", 0, b"a0", path="~2"),
                write("t", "c1", "task-b", 0, b"b0", path="~1"),
                write("t", "c1", "task-b", -3, b"interrupt", path="~1"),
                write("t", "c2", "task-b", 0, b"other checkpoint"),
            ]
        )
        rig.store.put_checkpoint_writes(
            [
                write("t", "c1", "task-b", 0, b"again", path="~1"),
                write("t", "c1", "task-b", -3, b"interrupt 2", path="~1"),
            ]
        )
        values = [row.value for row in rig.store.checkpoint_writes("t", "", "c1")]
        assert values == [b"interrupt 2", b"b0", b"a0", b"a1"]

    def test_a_take_over_copies_the_newest_checkpoint_of_each_namespace(self, rig: StoreRig) -> None:
        old, new = (AttemptThread(run="r-1", node="n", generation=0, attempt=1, epoch=e).text for e in (1, 2))
        for row in (
            checkpoint(old, "c1"),
            checkpoint(old, "c2", parent="c1"),
            checkpoint(old, "c1", ns="child"),
        ):
            rig.store.put_checkpoint(row)
        rig.store.put_checkpoint_writes([write(old, "c1", "t", 0, b"1"), write(old, "c2", "t", 0, b"2")])
        assert rig.store.copy_thread(old, new, newest_only=True) == 2
        assert sorted((r.ns, r.id, r.parent) for r in rig.store.checkpoints(new)) == [
            ("", "c2", None),
            ("child", "c1", None),
        ]
        assert [w.value for w in rig.store.checkpoint_writes(new, "", "c2")] == [b"2"]
        assert rig.store.checkpoint_writes(new, "", "c1") == ()
        assert len(rig.store.checkpoints(old)) == 3

    def test_a_whole_thread_is_copied_and_deleted(self, rig: StoreRig) -> None:
        for row in (checkpoint("t", "c1"), checkpoint("t", "c2", parent="c1")):
            rig.store.put_checkpoint(row)
        rig.store.put_checkpoint_writes([write("t", "c1", "task", 0, b"1")])
        assert rig.store.copy_thread("t", "u") == 2
        assert rig.store.copy_thread("nothing", "v") == 0
        rig.store.delete_thread("t")
        rig.store.delete_thread("nothing")
        assert not rig.store.checkpoints("t")
        assert not rig.store.checkpoint_writes("t", "", "c1")
        assert [(r.id, r.parent) for r in rig.store.checkpoints("u")] == [("c2", "c1"), ("c1", None)]
        assert [w.value for w in rig.store.checkpoint_writes("u", "", "c1")] == [b"1"]

    @pytest.mark.parametrize(("newest_only", "copied"), [(False, [b"early"]), (True, [])])
    def test_writes_before_their_checkpoint_are_part_of_the_whole_thread(
        self, rig: StoreRig, newest_only: bool, copied: list[bytes]
    ) -> None:
        rig.store.put_checkpoint(checkpoint("t", "c1"))
        rig.store.put_checkpoint_writes([write("t", "c2", "task", 0, b"early")])
        assert rig.store.copy_thread("t", "u", newest_only=newest_only) == 1
        assert [w.value for w in rig.store.checkpoint_writes("u", "", "c2")] == copied

    def test_single_checkpoints_go_with_their_writes(self, rig: StoreRig) -> None:
        for id_ in ("c1", "c2"):
            rig.store.put_checkpoint(checkpoint("t", id_))
            rig.store.put_checkpoint_writes([write("t", id_, "task", 0, id_.encode())])
        rig.store.delete_checkpoints("t", "", ["c1", "c7"])
        assert [row.id for row in rig.store.checkpoints("t")] == ["c2"]
        assert rig.store.checkpoint_writes("t", "", "c1") == ()
        assert len(rig.store.checkpoint_writes("t", "", "c2")) == 1

    def test_the_last_event_of_an_attempt_deletes_its_thread(self, rig: StoreRig) -> None:
        rig.store.put_checkpoint(checkpoint("t", "c1"))
        with pytest.raises(HeadMoved):
            rig.store.append("r-1", 7, [event()], delete_threads=["t"])
        assert rig.store.checkpoint("t", "") is not None
        rig.store.append("r-1", 0, [event()], delete_threads=["t"])
        assert rig.store.checkpoint("t", "") is None

    # Transactions

    def test_operations_succeed_or_fail_each_by_itself(self, rig: StoreRig) -> None:
        def half(writes: StoreWrites) -> object:
            writes.append("r-2", 0, [event("lost")])
            raise ZeroDivisionError

        outcomes = rig.store.commit(
            [
                lambda writes: writes.append("r-1", 0, [event("a")]),
                lambda writes: writes.append("r-1", 0, [event("late")]),
                half,
                lambda writes: writes.append("r-1", 1, [event("b")]),
            ]
        )
        assert outcomes[0] == Committed(value=1)
        assert isinstance(cast("Refused", outcomes[1]).error, HeadMoved)
        assert isinstance(cast("Refused", outcomes[2]).error, ZeroDivisionError)
        assert outcomes[3] == Committed(value=2)
        assert [e.type for e in rig.store.events("r-1")] == ["a", "b"]
        assert rig.store.head("r-2") == 0

    def test_nothing_to_commit_is_fine(self, rig: StoreRig) -> None:
        assert rig.store.commit([]) == []

    @pytest.mark.parametrize("error", [PowerCut, RuntimeError])
    def test_a_cut_between_any_two_writes_leaves_no_trace(
        self, rig: StoreRig, error: type[BaseException]
    ) -> None:
        """Everything one attempt ends with, in one operation: after each cut the store is as before it."""
        lease = rig.store.acquire("r-1", "host:1", 30.0)
        message = rig.store.post("r-1", "answer", "{}", "q")
        rig.store.put_checkpoint(checkpoint("t", "c1"))
        rig.store.put_checkpoint_writes([write("t", "c1", "task", 0, b"1")])
        rig.store.add_failure("class", "repair", "outcome", "r-1", lease=lease)

        def everything(writes: StoreWrites) -> object:
            writes.create_run("r-3", "third", "2025-01-03")
            writes.copy_thread("t", "u")
            writes.add_failure("class", "other repair", "outcome", "r-1", lease=lease)
            writes.post("r-2", "cancel", "{}", "c")
            return writes.append(
                "r-1",
                0,
                [event(idem="x"), event(idem="y")],
                lease=writes.renew(lease, 60.0),
                delete_threads=["t"],
                artefacts=[b"one", b"two"],
                folded=[message],
            )

        before = snapshot(rig.store)
        cuts = 0
        rig.fuse.error = error
        while True:
            rig.fuse.left = cuts
            if error is PowerCut:
                try:
                    outcome = rig.store.commit([everything])[0]
                except PowerCut:
                    outcome = None
            else:
                outcome = rig.store.commit([everything])[0]
            spent = rig.fuse.left
            rig.fuse.left = None
            if isinstance(outcome, Committed):
                break
            assert spent == 0
            assert snapshot(rig.store) == before, f"a cut after {cuts} writes left something behind"
            cuts += 1
        assert outcome == Committed(value=2)
        assert cuts >= 12
        assert [e.idem for e in rig.store.events("r-1")] == ["x", "y"]
        assert (rig.store.pending("r-1"), rig.store.checkpoints("t")) == ((), ())
        assert [record.repair for record in rig.store.failures()] == ["repair", "other repair"]

    def test_a_power_cut_takes_the_whole_transaction_with_it(self, rig: StoreRig) -> None:
        def cut(_: StoreWrites) -> object:
            raise PowerCut

        before = snapshot(rig.store)
        with pytest.raises(PowerCut):
            rig.store.commit([lambda writes: writes.append("r-1", 0, [event()]), cut])
        assert snapshot(rig.store) == before
        assert rig.store.append("r-1", 0, [event()]) == 1

    def test_a_closed_store_says_so(self, rig: StoreRig) -> None:
        rig.store.close()
        rig.store.close()
        with pytest.raises(StoreClosed):
            rig.store.head("r-1")
        with pytest.raises(StoreClosed):
            rig.store.append("r-1", 0, [event()])

    def test_the_counts_are_right(self, rig: StoreRig) -> None:
        rig.store.append("r-1", 0, [event(), event()], artefacts=[b"x" * 3000])
        rig.store.put_checkpoint(checkpoint("t", "c1"))
        info = rig.store.info()
        assert (info.runs, info.events, info.artefacts, info.checkpoints) == (2, 2, 1, 1)
        assert 0 < info.artefact_bytes <= 3000
        assert info.bytes > 0
