"""The main path, from a goal to a report. Read it top-down; each step is one call further down.

    run = submit(shop, goal, sources)            # draft: intent, plan, roster, masks - one proposal, one hash
    approve(shop, run, revision, sha256)         # the user's word, bound to revision and hash
    state = await execute(shop, run)             # masked execution, verification, backtracks
    report = report_of(shop, run)                # what was delivered, what it rests on, what stays open

    beside = await shadow(shop, run, options)    # the same goal otherwise, to be executed beside it and compared only

A person may change the draft (`revise`), answer a suspended run (`answer`), stop it (`post_control`), and any process
may look at it (`state_of`). These are in `orchestrator.desk`, which is quick to import, and can be had from here, too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from agents.memory.ports import LongTermMemory
from agents.models.contract import Usage
from agents.planning.language import detect_language
from agents.planning.ports import Planner
from agents.retrieval.reading import NOTE_SUFFIXES
from graphs.contract import Goal, Lang
from orchestrator.core.errors import NoNotes, WrongState
from orchestrator.core.events import (
    ForkPoint,
    ProposalDrafted,
    RunCreated,
)
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal, proposal_sha256
from orchestrator.core.state import ENDED, RunState
from orchestrator.desk import (
    answer,
    approval_token,
    approve,
    check_task,
    post_control,
    reject,
    report_of,
    request_changes,
    revise,
    state_of,
)
from orchestrator.shell.executor import LEASE_TTL_S
from orchestrator.shell.journal import Journal, Listener
from orchestrator.shell.lease_keeper import LeaseKeeper
from orchestrator.shell.proposing import ProposalOptions, Proposed, draft_proposal, propose, versions_of
from orchestrator.shell.readiness import check_runnable, one_folder, searched_folder
from orchestrator.shell.remembering import remember_run
from orchestrator.shell.runs import caught_up, create, load
from orchestrator.shell.shadow_options import shadow_options
from orchestrator.shell.store.errors import ArtefactUnreadable, StoreError, StoreUnavailable
from orchestrator.shell.store.holders import acquire_here
from orchestrator.shell.store.rows import Lease
from orchestrator.shell.surroundings import check_versions, record_surroundings
from orchestrator.shell.user_terms import with_terms_of
from orchestrator.shell.wiring import Workshop

__all__ = [
    "answer",
    "approval_token",
    "approve",
    "execute",
    "goal_of",
    "post_control",
    "reject",
    "report_of",
    "request_changes",
    "revise",
    "run_again",
    "shadow",
    "state_of",
    "submit",
    "submit_planned",
]

_LOG: Final = logging.getLogger(__name__)


def submit(
    shop: Workshop,
    text: str,
    *,
    sources: Sequence[Path] = (),
    lang: Lang | None = None,
    options: ProposalOptions | None = None,
) -> RunState:
    """Draft a run for the goal `text` over the folder in `sources`; return it in review.

    `lang` is the goal's language, found from its text when it is `None`. Raises `EmptyGoal`, `FolderNotFound`,
    `FolderUnreadable`, `NoNotes` for a folder without any, `SeveralSources`, `SourcesMissing` when the plan has
    something to search and there is no folder, `UnknownDomain` (for a forbidden domain) and what the store raises.
    """
    goal = goal_of(text, sources, lang)
    folder = one_folder(goal)
    if folder is not None:
        _refuse_without_notes(shop, folder)
    proposal = draft_proposal(shop, goal, options or ProposalOptions())
    searched_folder(proposal)
    return _create(shop, proposal)


async def submit_planned(
    shop: Workshop,
    text: str,
    planner: Planner,
    *,
    sources: Sequence[Path] = (),
    lang: Lang | None = None,
    options: ProposalOptions | None = None,
) -> RunState:
    """Draft a run as `submit` does, with a planner of your own, such as one that asks a chat model.

    Raises as `submit` does; a planner's model that can't be reached leaves the embedded plan and a note in the review.
    """
    goal = goal_of(text, sources, lang)
    folder = one_folder(goal)
    if folder is not None:
        await asyncio.to_thread(_refuse_without_notes, shop, folder)
    proposed = await propose(shop, goal, options or ProposalOptions(), planner)
    searched_folder(proposed.proposal)
    return await asyncio.to_thread(_create, shop, proposed.proposal, usage=proposed.usage)


def run_again(shop: Workshop, run: RunId) -> RunState:
    """Make a new run with a copy of an approved proposal, approved as it was; return it confirmed.

    Raises `WrongState` for a run whose proposal was never approved, and `VersionsDiffer` for one that another domain
    registry or embedder drafted.
    """
    old = load(shop.store, run)
    if old.proposal is None or old.approved_revision is None:
        raise WrongState(run, old.status, wanted="approved", next_step=f"maskgrad review {run}")
    check_versions(shop, old)
    created = _create(
        shop,
        replace(old.proposal, revision=1),
        forked_from=ForkPoint(run=run, seq=old.seq),
        shadow_of=old.shadow_of,
    )
    return _approved(shop, created, by=f"copy of {run}")


async def shadow(
    shop: Workshop, run: RunId, options: ProposalOptions | None = None, *, planner: Planner | None = None
) -> RunState:
    """Draft the goal of an approved run otherwise, to be executed beside it; return the shadow, confirmed.

    `options` say what is otherwise, such as what its agents think with, `planner` who plans it; points that the user
    decided, prohibitions, limits and what wants approval hold for the shadow, and tools and memories that were taken
    out stay out; edits of its plan and its masks do not hold. Whoever calls this approves the shadow unseen. Therefore
    its profile is `evaluate`, in which changes are only pretended, a reading that a person would be asked about is
    refused, and it delivers nothing: neither the long-term memory nor the memory of failed repairs nor the templates
    learn from it. `execute` executes it as any other run.

    Raises `WrongState` for a run that was never approved, `NothingToDo` for a plan without a sub-task, and what
    `submit` raises.
    """
    original = await asyncio.to_thread(load, shop.store, run)
    if original.proposal is None or original.approved_revision is None:
        raise WrongState(run, original.status, wanted="approved", next_step=f"maskgrad review {run}")
    wanted = await asyncio.to_thread(shadow_options, shop, run, original.proposal, options)
    goal = original.proposal.goal
    if planner is None:
        proposed = Proposed(proposal=await asyncio.to_thread(draft_proposal, shop, goal, wanted))
    else:
        proposed = await propose(shop, goal, wanted, planner)
    proposed = replace(proposed, proposal=with_terms_of(original.proposal, proposed.proposal))
    check_task(proposed.proposal)
    searched_folder(proposed.proposal)

    def created() -> RunState:
        made = _create(shop, proposed.proposal, usage=proposed.usage, shadow_of=run)
        return _approved(shop, made, by=f"shadow of {run}")

    return await asyncio.to_thread(created)


def _approved(shop: Workshop, created: RunState, *, by: str) -> RunState:
    assert created.sha256 is not None, "a created run is in review"
    return approve(shop, created.run, 1, created.sha256, by=by)


async def execute(
    shop: Workshop,
    run: RunId,
    *,
    listeners: Sequence[Listener] = (),
    stop: asyncio.Event | None = None,
    other_versions: bool = False,
) -> RunState:
    """Execute an approved run until it ends, waits for persons only, or is stopped; return its state.

    A run that a crash or a stop interrupted is gone on with; nothing that was accepted runs again. When `stop` is set
    the run is left resumable. `other_versions` executes even a run that another domain registry or embedder drafted,
    whatever its masks mean under this one.

    `listeners` are told of each event after it was applied, with the state it led to, on the event loop: they must not
    block. What one raises ends the execution and is raised from here as it is; everything recorded before is kept,
    and the run can be gone on with.

    Several runs are executed at a time by as many calls with the same `shop` on one event loop: they share slots (in
    turn), writer and threads, and none waits for another.

    Raises `WrongState` for a run that is not approved, `NothingToDo` for a plan without a sub-task, `VersionsDiffer`
    unless `other_versions`, what `check_runnable` and `searched_folder` raise, `FolderNotFound`, `FolderUnreadable`,
    `RunBusy` when another process executes it, and what the store raises: a `StoreUnavailable` (`StoreFull`,
    `StoreBroken`, `StoreBusy`) has stopped the run as `stop` does, names it in `run` and the last event that is stored
    in `kept`. Call `execute` again when the store works; what that comes to is what an undisturbed execution comes to.
    An `ArtefactUnreadable` has lost an output that the rest builds on: `run_again` makes the run anew.
    """
    try:
        return await _execute(shop, run, listeners, stop, other_versions)
    except StoreUnavailable as error:
        error.stopped(run, kept=_head(shop, run), step=f"maskgrad resume {run}")
        raise
    except ArtefactUnreadable as error:
        error.needed_by(run)
        raise


async def _execute(
    shop: Workshop,
    run: RunId,
    listeners: Sequence[Listener],
    stop: asyncio.Event | None,
    other_versions: bool,
) -> RunState:
    state = await asyncio.to_thread(_found, shop, run)
    if state.status in ENDED:
        return state
    if state.approved_revision is None or state.proposal is None:
        raise WrongState(run, state.status, wanted="approved", next_step=f"maskgrad review {run}")
    check_task(state.proposal)
    check_versions(shop, state, tolerate=other_versions)
    check_runnable(shop, run, state.proposal)
    folder = searched_folder(state.proposal)
    async with _leased(shop, run) as lease, shop.engine() as engine:
        # What came since, under the lease: nobody else appends from here on. It may have been cancelled in between.
        state = await asyncio.to_thread(caught_up, shop.store, state)
        if state.status in ENDED:
            return state
        if folder is not None:
            await _prepare(shop, lease, folder)
        journal = Journal(state, engine.writer, shop.clock, lease, listeners)
        executor = shop.executor(engine, journal, folder)
        try:
            await record_surroundings(shop, journal, folder)
            async with (
                _stopping(executor.stop, stop),
                LeaseKeeper(shop.store, lease, LEASE_TTL_S, lost=_on_this_loop(executor.abort)),
            ):
                state = await executor.execute()
        except StoreUnavailable as error:
            # A store that can't even be read says nothing of what is kept; the journal knows what it was told.
            kept = _head(shop, run)
            error.stopped(
                run, kept=journal.committed if kept is None else kept, step=f"maskgrad resume {run}"
            )
            raise
    if state.status in ENDED and shop.memory is not None and state.shadow_of is None:
        await asyncio.to_thread(_remember, shop.memory, state, shop.clock.now())
    return state


def _remember(memory: LongTermMemory, state: RunState, now: str) -> None:
    """Keep what the run teaches; a memory that can't be written costs the run nothing."""
    try:
        remember_run(memory, state, now)
    except StoreError as error:
        _LOG.warning("run %s is delivered, and not remembered: %s", state.run, error)


async def _prepare(shop: Workshop, lease: Lease, folder: Path) -> None:
    """Index the notes, which for the first time can take longer than a lease holds: it is kept meanwhile.

    Under the lease: a second executor is refused before it does the same in vain. On a thread: other runs of this loop
    go on meanwhile. If somebody takes the run over all the same, the first write that follows says so.
    """
    async with LeaseKeeper(shop.store, lease, LEASE_TTL_S, lost=_said_by_the_next_write):
        await asyncio.to_thread(shop.prepare, folder)


def _said_by_the_next_write(error: StoreError) -> None:
    del error


def _found(shop: Workshop, run: RunId) -> RunState:
    _give_up_left_lease(shop, run)
    return load(shop.store, run)


@asynccontextmanager
async def _leased(shop: Workshop, run: RunId) -> AsyncIterator[Lease]:
    """Hold the lease of a run. It is taken and given up on a thread: a store that is slow holds up this run only."""
    taking = asyncio.ensure_future(asyncio.to_thread(acquire_here, shop.store, run, shop.holder, LEASE_TTL_S))
    try:
        yield await asyncio.shield(taking)
    finally:
        # Who is cancelled meanwhile can't call the thread back: what it takes is given up all the same.
        await asyncio.wait([taking])
        if not taking.cancelled() and taking.exception() is None:
            shop.left_leases[run] = taking.result()
            await asyncio.shield(asyncio.to_thread(_give_up_left_lease, shop, run))


def _give_up_left_lease(shop: Workshop, run: RunId) -> None:
    """Give up what an execution in this process left. A store that can't: the next call tries again, or it runs out.

    What ended the run must not be hidden by that.
    """
    lease = shop.left_leases.get(run)
    if lease is not None:
        with suppress(StoreUnavailable):
            shop.store.release(lease)
            if shop.left_leases.get(run) is lease:
                del shop.left_leases[run]


def _head(shop: Workshop, run: RunId) -> int | None:
    """The last event of a run that is stored; `None` when the store does not even say that."""
    try:
        return shop.store.head(run)
    except StoreError:
        return None


def goal_of(text: str, sources: Sequence[Path], lang: Lang | None) -> Goal:
    """Return the goal with its language and its folders as absolute paths."""
    found = lang or detect_language(text, "en").lang
    return Goal(text=text, lang=found, sources=tuple(str(path.expanduser().resolve()) for path in sources))


def _refuse_without_notes(shop: Workshop, folder: Path) -> None:
    corpus = shop.library(folder).corpus
    if not corpus.documents:
        raise NoNotes(str(folder), NOTE_SUFFIXES, tuple(skip.path for skip in corpus.skipped))


def _create(
    shop: Workshop,
    proposal: Proposal,
    forked_from: ForkPoint | None = None,
    usage: tuple[Usage, ...] = (),
    shadow_of: RunId | None = None,
) -> RunState:
    run = RunId(shop.ids.run())
    created = RunCreated(
        goal=proposal.goal.text,
        lang=proposal.goal.lang,
        sources=proposal.goal.sources,
        run_seed=shop.ids.seed(),
        versions=versions_of(shop),
        forked_from=forked_from,
        shadow_of=shadow_of,
    )
    drafted = ProposalDrafted(
        proposal=proposal, sha256=proposal_sha256(proposal), author="planner", usage=usage
    )
    return create(shop.store, shop.clock, run, proposal.goal.text, [created, drafted])


def _on_this_loop(tell: Callable[[Exception], None]) -> Callable[[Exception], None]:
    """Return `tell`, to be called from another thread; a loop that has ended needs to be told nothing."""
    loop = asyncio.get_running_loop()

    def hand_over(error: Exception) -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(tell, error)

    return hand_over


@asynccontextmanager
async def _stopping(stop_now: Callable[[], None], stop: asyncio.Event | None) -> AsyncIterator[None]:
    async def wait() -> None:
        assert stop is not None, "only a given event is waited for"
        await stop.wait()
        stop_now()

    watcher = asyncio.ensure_future(wait()) if stop is not None else None
    try:
        yield
    finally:
        if watcher is not None:
            watcher.cancel()
