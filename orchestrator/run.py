"""The main path, from a goal to a report. Read it top-down; each step is one call further down.

    run = submit(shop, goal, sources)            # draft: intent, plan, roster, masks - one proposal, one hash
    approve(shop, run, revision, sha256)         # the user's word, bound to revision and hash
    state = await execute(shop, run)             # masked execution, verification, backtracks
    report = report_of(shop, run)                # what was delivered, what it rests on, what stays open

A person may change the draft (`revise`), answer a suspended run (`answer`), stop it (`post_control`), and any process
may look at it (`state_of`, `events`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from agents.planning.language import detect_language
from graphs.contract import Goal, Lang
from orchestrator.core.errors import NoReport, StaleApproval, UnknownRequest, WrongState
from orchestrator.core.events import (
    CancelRequested,
    ChangesWereRequested,
    ForkPoint,
    ProposalApproved,
    ProposalDrafted,
    ProposalRejected,
    RunCreated,
    RunEnded,
)
from orchestrator.core.ids import RunId, run_of_request
from orchestrator.core.proposal import HASH_PREFIX_LENGTH, Proposal, proposal_sha256
from orchestrator.core.report import REPORT, DeliveredReport
from orchestrator.core.requests import Answer, InvalidAnswer, Request, check_answer
from orchestrator.core.state import ENDED, RunState
from orchestrator.shell.executor import LEASE_TTL_S
from orchestrator.shell.inbox import ANSWER
from orchestrator.shell.journal import Journal, Listener
from orchestrator.shell.lease_keeper import LeaseKeeper
from orchestrator.shell.proposing import ProposalOptions, draft_proposal, versions_of
from orchestrator.shell.readiness import check_runnable, one_folder, searched_folder
from orchestrator.shell.runs import append, create, load, post
from orchestrator.shell.store.errors import HeadMoved, RunBusy, StoreUnavailable
from orchestrator.shell.store.holders import acquire_here
from orchestrator.shell.store.writer import Writer
from orchestrator.shell.surroundings import check_versions, record_surroundings
from orchestrator.shell.wiring import Workshop


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
    `SeveralSources`, `SourcesMissing` when the plan has something to search and there is no folder, `UnknownDomain`
    (for a forbidden domain) and what the store raises.
    """
    goal = goal_of(text, sources, lang)
    one_folder(goal)
    proposal = draft_proposal(shop, goal, options or ProposalOptions())
    searched_folder(proposal)
    return _create(shop, proposal)


def run_again(shop: Workshop, run: RunId) -> RunState:
    """Make a new run with a copy of an approved proposal, approved as it was; return it confirmed.

    Raises `WrongState` for a run whose proposal was never approved, and `VersionsDiffer` for one that another domain
    registry or embedder drafted.
    """
    old = load(shop.store, run)
    if old.proposal is None or old.approved_revision is None:
        raise WrongState(run, old.status, wanted="approved", next_step=f"maskgrad review {run}")
    check_versions(shop, old)
    created = _create(shop, replace(old.proposal, revision=1), forked_from=ForkPoint(run=run, seq=old.seq))
    assert created.sha256 is not None, "a created run is in review"
    return approve(shop, created.run, 1, created.sha256, by=f"copy of {run}")


def revise(shop: Workshop, run: RunId, proposal: Proposal, changes: Sequence[str]) -> RunState:
    """Put an edited proposal up for review as the next revision; return the run, back in review.

    The proposal has been checked (`orchestrator.shell.editing`). Raises `WrongState` outside of a review.
    """
    state = _in_review(shop, run)
    assert state.proposal is not None, "a run in review has a proposal"
    edited = replace(proposal, revision=state.proposal.revision + 1)
    body = ProposalDrafted(
        proposal=edited, sha256=proposal_sha256(edited), author="user", changes=tuple(changes)
    )
    return append(shop.store, shop.clock, state, [body])


def approve(shop: Workshop, run: RunId, revision: int, sha256: str, *, by: str) -> RunState:
    """Approve exactly one revision; `sha256` is its hash or the first 8 or more digits of it.

    Raises `StaleApproval` unless both name what is under review, and `WrongState` outside of a review.
    """
    state = _in_review(shop, run)
    assert state.proposal is not None, "a run in review has a proposal"
    assert state.sha256 is not None, "a run in review has a hash"
    named = len(sha256) >= HASH_PREFIX_LENGTH and state.sha256.startswith(sha256)
    if revision != state.proposal.revision or not named:
        raise StaleApproval(run, f"{run}@{revision}-{sha256}", approval_token(state))
    body = ProposalApproved(revision=revision, sha256=state.sha256, by=by)
    return append(shop.store, shop.clock, state, [body])


def request_changes(shop: Workshop, run: RunId, note: str) -> RunState:
    """Write down what the user wants changed; the run stays in review. Text is never an approval."""
    return append(shop.store, shop.clock, _in_review(shop, run), [ChangesWereRequested(note=note)])


def reject(shop: Workshop, run: RunId, note: str) -> RunState:
    """Reject the proposal: the run ends as blocked."""
    return append(shop.store, shop.clock, _in_review(shop, run), [ProposalRejected(note=note)])


def approval_token(state: RunState) -> str:
    """Return what an approval of the revision under review has to name: `ID@REV-HASH8`."""
    assert state.proposal is not None, "a run in review has a proposal"
    assert state.sha256 is not None, "a run in review has a hash"
    return f"{state.run}@{state.proposal.revision}-{state.sha256[:HASH_PREFIX_LENGTH]}"


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

    Raises `WrongState` for a run that is not approved, `VersionsDiffer` unless `other_versions`, what `check_runnable`
    and `searched_folder` raise, `FolderNotFound`, `RunBusy` when another process executes it, and what the store
    raises.
    """
    state = load(shop.store, run)
    if state.status in ENDED:
        return state
    if state.approved_revision is None or state.proposal is None:
        raise WrongState(run, state.status, wanted="approved", next_step=f"maskgrad review {run}")
    check_versions(shop, state, tolerate=other_versions)
    check_runnable(shop, run, state.proposal)
    folder = searched_folder(state.proposal)
    if folder is not None:
        # Before the lease: to index notes for the first time can take longer than it holds.
        shop.prepare(folder)
    lease = acquire_here(shop.store, run, shop.holder, LEASE_TTL_S)
    try:
        async with Writer(shop.store) as writer:
            # Read again under the lease: nobody else appends from here on.
            journal = Journal(load(shop.store, run), writer, shop.clock, lease, listeners)
            executor = shop.executor(writer, journal, folder)
            record_surroundings(shop, journal, folder)
            async with _stopping(executor.stop, stop):
                with LeaseKeeper(shop.store, lease, LEASE_TTL_S, lost=_on_this_loop(executor.abort)):
                    return await executor.execute()
    finally:
        with suppress(StoreUnavailable):  # it runs out by itself, and what ended the run must not be hidden
            shop.store.release(lease)


def answer(shop: Workshop, request: str, reply: Answer, *, by: str) -> Request:
    """Hand a person's answer over to its run and return the request; the run's executor folds it in.

    Works from any process. Raises `ValueError` for a text that is no request id, `UnknownRequest`, `InvalidAnswer`
    (`check_answer`) and `UnknownRun`.
    """
    run = run_of_request(request)
    state = load(shop.store, run)
    wanted = next((known for known in state.requests.values() if known.id == request), None)
    if wanted is None:
        raise UnknownRequest(request, tuple(sorted(state.requests.keys())))
    check_answer(wanted, reply)
    _check_names(shop, state, reply)
    document = {"request": request, "answer": ANSWER.dump_python(reply, mode="json"), "by": by}
    post(shop.store, run, "answer", document, dedup=f"answer:{request}")
    return wanted


def post_control(
    shop: Workshop, run: RunId, kind: Literal["pause", "continue", "cancel"], *, by: str
) -> RunState:
    """Ask a run to pause, go on or cancel; whoever executes it folds that in. Return the run as it is now.

    A run that nobody executes and of which nothing is under way is cancelled at once. Raises `WrongState` for a run
    that ended.
    """
    state = load(shop.store, run)
    if state.status in ENDED:
        raise WrongState(run, state.status, wanted="not ended", next_step=f"maskgrad show {run}")
    if kind == "cancel" and state.status in ("reviewing", "confirmed", "suspended"):
        with suppress(RunBusy, HeadMoved):
            return append(
                shop.store, shop.clock, state, [CancelRequested(by=by), RunEnded(outcome="cancelled")]
            )
    waiting = [
        message for message in shop.store.pending(run) if message.kind in ("pause", "continue", "cancel")
    ]
    if not waiting or waiting[-1].kind != kind:
        last = waiting[-1].id if waiting else 0
        post(shop.store, run, kind, {"by": by}, dedup=f"{kind}:{state.seq}:{last}:{by}")
    return state


def state_of(shop: Workshop, run: RunId, *, at: int | None = None) -> RunState:
    """Return a run as it is, or as it was after the event `at`; no effect is performed."""
    return load(shop.store, run, at=at)


def report_of(shop: Workshop, run: RunId) -> DeliveredReport:
    """Return what a run delivered; raises `NoReport` for one that delivered nothing (yet)."""
    state = load(shop.store, run)
    if state.report is None:
        raise NoReport(run, state.status)
    return REPORT.validate_json(shop.store.get_artefact(state.report))


def goal_of(text: str, sources: Sequence[Path], lang: Lang | None) -> Goal:
    """Return the goal with its language and its folders as absolute paths."""
    found = lang or detect_language(text, "en").lang
    return Goal(text=text, lang=found, sources=tuple(str(path.expanduser().resolve()) for path in sources))


def _create(shop: Workshop, proposal: Proposal, forked_from: ForkPoint | None = None) -> RunState:
    run = RunId(shop.ids.run())
    created = RunCreated(
        goal=proposal.goal.text,
        lang=proposal.goal.lang,
        sources=proposal.goal.sources,
        run_seed=shop.ids.seed(),
        versions=versions_of(shop),
        forked_from=forked_from,
    )
    drafted = ProposalDrafted(proposal=proposal, sha256=proposal_sha256(proposal), author="planner")
    return create(shop.store, shop.clock, run, proposal.goal.text, [created, drafted])


def _check_names(shop: Workshop, state: RunState, reply: Answer) -> None:
    """Refuse an answer that names what does not exist: once it is posted, no other answer counts."""
    if reply.choice not in ("reassign", "set_mask"):
        return
    known = {str(agent): spec for agent, spec in state.agents.items()}
    if reply.agent not in known or known[reply.agent].role != "generate":
        able = ", ".join(sorted(name for name, spec in known.items() if spec.role == "generate"))
        raise InvalidAnswer(f"{reply.agent!r} is no agent that works on sub-tasks; choose one of: {able}")
    if reply.choice == "set_mask" and not shop.registry.is_leaf(reply.domain):
        near = ", ".join(shop.registry.close_matches(reply.domain)) or "see `maskgrad domains`"
        raise InvalidAnswer(
            f"{reply.domain!r} is no knowledge domain that a mask has a value for; near: {near}"
        )


def _in_review(shop: Workshop, run: RunId) -> RunState:
    state = load(shop.store, run)
    if state.status != "reviewing":
        raise WrongState(run, state.status, wanted="'reviewing'", next_step=f"maskgrad show {run}")
    return state


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
