from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.shell.store.errors import StoreError
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.rows import AttemptThread, Lease
from tests.shell.store.conformance import StoreRig, checkpoint, event, snapshot, write
from tests.shell.store.rigs import memory_rig, sqlite_rig

NewRig = Callable[[], AbstractContextManager[StoreRig]]
each_store = pytest.mark.parametrize("new_rig", [memory_rig, sqlite_rig])

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@each_store
@settings(max_examples=20, deadline=None, derandomize=True)
@given(batches=st.lists(st.lists(texts, max_size=4), max_size=6))
def test_events_come_back_as_they_went_in_and_seq_is_dense(new_rig: NewRig, batches: list[list[str]]) -> None:
    with new_rig() as rig:
        rig.store.create_run("r-1", "t", "2025")
        head = 0
        for batch in batches:
            head = rig.store.append("r-1", head, [event(payload=text) for text in batch])
        sent = [text for batch in batches for text in batch]
        assert [(e.seq, e.payload) for e in rig.store.events("r-1")] == list(enumerate(sent, start=1))
        assert head == rig.store.head("r-1") == len(sent)


@each_store
@settings(max_examples=20, deadline=None, derandomize=True)
@given(content=st.one_of(st.binary(max_size=64), st.text("ab蒙", min_size=200, max_size=900).map(str.encode)))
def test_an_artefact_comes_back_under_its_sha256(new_rig: NewRig, content: bytes) -> None:
    with new_rig() as rig:
        digest = rig.store.put_artefact(content)
        assert digest == hashlib.sha256(content).hexdigest()
        assert rig.store.get_artefact(digest) == content


runs = st.sampled_from(["r-1", "r-2"])
few = st.integers(0, 3)
threads = st.builds(
    lambda run, epoch: AttemptThread(run=run, node="n", generation=0, attempt=1, epoch=epoch).text,
    runs,
    st.integers(1, 3),
) | st.sampled_from(["t", "u"])
new_events = st.builds(
    lambda idem, payload, cause: event(idem=idem, payload=payload, cause=cause),
    st.sampled_from([None, None, "a", "b", "c"]),
    st.sampled_from(["1", "2"]),
    st.sampled_from([None, None, None, 1, 4]),
)
leases = st.none() | st.builds(
    lambda run, holder, epoch: Lease(run=run, holder=holder, epoch=epoch, expires=0.0),
    runs,
    st.sampled_from(["p", "q"]),
    st.integers(1, 3),
)
Step = Callable[[RunStore, int], object]
"""Does something to a store, given the head of `r-1`."""

steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(
        lambda shift, events, lease, thread, content, folded: (
            lambda store, head: store.append(
                "r-1",
                head + shift,
                events,
                lease=lease,
                delete_threads=[thread],
                artefacts=[content],
                folded=[folded],
            )
        ),
        st.sampled_from([0, 0, 0, 0, -1, 1]),
        st.lists(new_events, max_size=3),
        leases,
        threads,
        st.sampled_from([b"x", b"y" * 900]),
        few,
    ),
    st.builds(
        lambda run, holder, dead: lambda store, _: store.acquire(run, holder, 30.0, instead_of=dead),
        runs,
        st.sampled_from(["p", "q"]),
        st.sampled_from([None, "p"]),
    ),
    st.builds(lambda lease: lambda store, _: lease and store.renew(lease, 60.0), leases),
    st.builds(lambda lease: lambda store, _: lease and store.release(lease), leases),
    st.builds(
        lambda run, payload, dedup: lambda store, _: store.post(run, "k", payload, dedup),
        runs,
        st.sampled_from(["1", "2"]),
        st.sampled_from(["a", "b"]),
    ),
    st.builds(
        lambda run, id_, lease: lambda store, _: store.mark_folded(run, [id_], lease=lease), runs, few, leases
    ),
    st.builds(
        lambda class_, lease: lambda store, _: store.add_failure(class_, "r", "o", "r-1", lease=lease),
        st.sampled_from("ab"),
        leases,
    ),
    st.builds(
        lambda thread, n, ns: lambda store, _: store.put_checkpoint(checkpoint(thread, f"c{n}", ns=ns)),
        threads,
        few,
        st.sampled_from(["", "child"]),
    ),
    st.builds(
        lambda thread, n, index, value: (
            lambda store, _: store.put_checkpoint_writes(
                [
                    write(thread, f"c{n}", "task", index, value),
                    write(thread, f"c{n}", "task", 1, value, path="p"),
                ]
            )
        ),
        threads,
        few,
        st.sampled_from([-3, 0, 1]),
        st.sampled_from([b"1", b"2"]),
    ),
    st.builds(
        lambda source, target, newest: lambda store, _: store.copy_thread(source, target, newest_only=newest),
        threads,
        threads,
        st.booleans(),
    ),
    st.builds(lambda thread: lambda store, _: store.delete_thread(thread), threads),
    st.builds(
        lambda thread, n: lambda store, _: store.delete_checkpoints(thread, "", [f"c{n}"]), threads, few
    ),
)


def result_of(step: Step, rig: StoreRig) -> object:
    try:
        return step(rig.store, rig.store.head("r-1"))
    except StoreError as error:
        return (type(error), str(error))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(script=st.lists(st.tuples(steps, st.sampled_from([0.0, 0.0, 20.0])), max_size=25))
def test_both_stores_do_the_same(script: list[tuple[Step, float]]) -> None:
    """Whatever is asked of them, in whatever order: equal results, equal refusals, equal contents."""
    with memory_rig() as memory, sqlite_rig() as file:
        for rig in (memory, file):
            rig.store.create_run("r-1", "t", "2025")
            rig.store.create_run("r-2", "t", "2025")
        for step, seconds in script:
            for rig in (memory, file):
                rig.clock.now += seconds
            assert result_of(step, memory) == result_of(step, file)
        assert snapshot(memory.store) == snapshot(file.store)
        assert file.store.check() == ()
