"""Drives `decide` and `apply` as the interpreter does, with scripted outcomes instead of work. No I/O, no clock."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, assert_never

from agents.tools.contract import HeldCall
from graphs.plan import NodeId
from orchestrator.core.blockage import Failure
from orchestrator.core.claims import ClaimVerdict
from orchestrator.core.commands import (
    AcceptAsIs,
    AskPerson,
    Backtrack,
    CancelAll,
    CancelAttempts,
    Command,
    Deliver,
    EndCancelled,
    RecordBlockage,
    ReopenReview,
    RetryAttempt,
    ReuseOutput,
    SkipNodes,
    StartAttempt,
    SuspendRun,
)
from orchestrator.core.decide import decide, recover, still_open
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptHeld,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    Body,
    CallCommitted,
    CallReturned,
    CancelRequested,
    Event,
    ExecutorTookOver,
    FailureRemembered,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    ProposalApproved,
    ProposalDrafted,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunContinued,
    RunCreated,
    RunEnded,
    RunPaused,
    RunSuspended,
)
from orchestrator.core.ids import ArtefactId, ContentDigest, RunId
from orchestrator.core.proposal import Proposal, proposal_sha256
from orchestrator.core.reducer import apply, initial
from orchestrator.core.requests import Answer, InvalidAnswer, Request, check_answer
from orchestrator.core.state import ENDED, RunState
from tests.core.builders import verification

RUN = RunId("r-test")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one execution of a sub-task ends: accepted, or with a failure with or without an output."""

    failure: Failure | None = None
    with_output: bool = False
    variant: str = ""
    """Makes the content differ from that of an equal execution."""
    holds: int = 0
    """How many of its calls wait for a person's word before it ends."""


OK = Outcome()


def fails(failure: Failure) -> Outcome:
    return Outcome(failure=failure)


def rejected(failure: Failure) -> Outcome:
    return Outcome(failure=failure, with_output=True)


def held_call(number: int) -> HeldCall:
    """The `number`-th call of an attempt that a person is asked about."""
    return HeldCall(
        why="approval_needed",
        step="work.1",
        index=number,
        tool="send",
        arguments={"letter": number},
        arguments_digest=str(number),
        side_effect="external",
        tier="external",
    )


Watcher = Callable[[RunState, Event, tuple[Command, ...], RunState], None]
"""Called after each event with the state before, the event, the commands and the state after."""
Key = tuple[NodeId, int, int]
"""Node, generation, attempt."""


def content_of(node: NodeId, inputs: Iterable[ContentDigest | None], variant: str = "") -> ContentDigest:
    """What a sub-task makes of its inputs, whoever works on it and whatever it is told."""
    text = "|".join([node, variant, *sorted(str(given) for given in inputs)])
    return ContentDigest(hashlib.sha256(text.encode()).hexdigest())


def current_content(state: RunState, node: NodeId) -> ContentDigest | None:
    done = state.node(node)
    return done.accepted.content if done.accepted and done.status == "accepted" else None


def expected_content(state: RunState, node: NodeId, variant: str = "") -> ContentDigest:
    assert state.index is not None
    inputs = [current_content(state, source) for source in state.index.predecessors(node)]
    return content_of(node, inputs, variant)


@dataclass
class Simulation:
    """One run. The n-th execution of a node ends as its script says, the ones after the script's end with `OK`."""

    draft: Proposal
    script: Mapping[str, Sequence[Outcome]] = field(default_factory=dict)
    answers: Sequence[Answer] = ()
    """To the requests in the order in which they are answered; after the last one nobody answers."""
    order: Literal["fifo", "random"] = "fifo"
    seed: int = 0
    cap: int = 4
    watchers: Sequence[Watcher] = ()
    amend: Callable[[Proposal], Proposal | None] = lambda _: None
    """The proposal that is approved after a review was reopened; `None`: nobody looks at it."""

    verdicts: tuple[ClaimVerdict, ...] = ()
    traced: dict[NodeId, tuple[ClaimVerdict, ...]] = field(default_factory=dict)
    """Per node, what its check traced where it was accepted."""
    """Of every rejected output."""

    state: RunState = field(init=False)
    log: list[Event] = field(default_factory=list, init=False)
    agenda: list[Command] = field(default_factory=list, init=False)
    running: dict[Key, Outcome] = field(default_factory=dict, init=False)
    executed: dict[NodeId, int] = field(default_factory=dict, init=False)
    executions: list[Key] = field(default_factory=list, init=False)
    held: Counter[Key] = field(default_factory=Counter, init=False)
    answered: int = field(default=0, init=False)
    approvals: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.state = initial(RUN)
        self._random = Random(self.seed)
        self.record(RunCreated(goal="Why?", lang="en", sources=(), run_seed="seed", versions={}))
        self.approve(self.draft)
        self.take_over()

    # What people and processes do

    def approve(self, draft: Proposal) -> None:
        sha256 = proposal_sha256(draft)
        self.record(ProposalDrafted(proposal=draft, sha256=sha256, author="planner"))
        self.record(ProposalApproved(revision=draft.revision, sha256=sha256, by="python"))
        self.approvals += 1

    def take_over(self) -> None:
        """A process begins to execute, or goes on after the last one died."""
        self.agenda.clear()
        self.running.clear()
        self.record(ExecutorTookOver(epoch=self.state.epoch + 1, holder="test"))
        self.agenda.extend(recover(self.state))

    def cancel(self) -> None:
        self.record(CancelRequested(by="test"))

    def remember(self, key: str) -> None:
        self.record(FailureRemembered(key=key))

    def pause(self) -> None:
        self.record(RunPaused(by="test"))

    def go_on(self) -> None:
        self.record(RunContinued(by="test"))

    def answer(self, request: Request, answer: Answer) -> None:
        self.answered += 1
        self.record(RequestAnswered(request=request.id, node=request.node, answer=answer, by="test"))

    # The loop

    def run(self, *, max_steps: int = 20_000) -> RunState:
        """Go on until the run ended or only a person who does not answer could move it."""
        while self.step():
            self.steps += 1
            assert self.steps <= max_steps, "the run does not end"
        return self.state

    def step(self) -> bool:
        """Do one thing; return whether there was one to do."""
        if self.state.status in ENDED:
            return False
        moves = self._moves()
        if moves:
            (moves[0] if self.order == "fifo" else self._random.choice(moves))()
            return True
        if self.state.status == "reviewing":
            return self._review()
        return self._answer_next()

    def _moves(self) -> list[Callable[[], None]]:
        moves: list[Callable[[], None]] = []
        for place, command in enumerate(self.agenda):
            if isinstance(command, StartAttempt) and (self.state.paused or len(self.running) >= self.cap):
                continue
            moves.append(lambda place=place: self.perform(self.agenda.pop(place)))  # type: ignore[misc]
        moves.extend(lambda key=key: self.finish(key) for key in self.running)  # type: ignore[misc]
        return moves

    def _review(self) -> bool:
        assert self.state.proposal is not None
        amended = self.amend(self.state.proposal)
        if amended is None:
            return False
        self.approve(amended)
        self.take_over()
        return True

    def _answer_next(self) -> bool:
        if self.answered >= len(self.answers) or not len(self.state.requests):
            return False
        names = sorted(self.state.requests.keys())
        name = names[0] if self.order == "fifo" else self._random.choice(names)
        request, answer = self.state.requests[name], self.answers[self.answered]
        # An answer that this request does not offer would be refused at the border; nobody insists here.
        try:
            check_answer(request, answer)
        except InvalidAnswer:
            answer = Answer(choice="abandon")
        self.answer(request, answer)
        return True

    def record(self, body: Body) -> Event:
        before = self.state
        event = Event(seq=before.seq + 1, ts="2026-01-01T00:00:00.000Z", body=body, cause=before.seq or None)
        self.state = apply(before, event)
        self.log.append(event)
        commands = decide(self.state, event)
        for watch in self.watchers:
            watch(before, event, commands, self.state)
        self.agenda.extend(commands)
        return event

    def perform(self, command: Command) -> None:
        fresh = still_open(self.state, command)
        if fresh is not None:
            self._perform(fresh)

    def _perform(self, command: Command) -> None:
        match command:
            case StartAttempt():
                self._start(command)
            case CancelAttempts():
                # What runs for an obsolete generation ends by itself, as late or cancelled: see `finish`.
                pass
            case CancelAll():
                self._cancel_left_behind()
            case ReuseOutput():
                self.record(
                    NodeReused(node=command.node, generation=command.generation, input_key=command.input_key)
                )
            case RecordBlockage():
                self.record(
                    BlockageClassified(
                        node=command.node,
                        generation=command.generation,
                        attempt=command.attempt,
                        blockage=command.blockage,
                    )
                )
            case RetryAttempt():
                self.record(
                    RetryScheduled(
                        node=command.node,
                        generation=command.generation,
                        attempt=command.attempt,
                        delay_s=command.delay_s,
                    )
                )
            case Backtrack():
                self.record(Backtracked(plan=command.plan))
            case AskPerson():
                self.record(RequestOpened(request=command.request))
            case AcceptAsIs():
                self.record(
                    NodeAcceptedAsIs(
                        node=command.node, generation=command.generation, request=command.request
                    )
                )
            case SkipNodes():
                self.record(NodesSkipped(nodes=command.nodes, reason=command.reason, detail=command.detail))
            case SuspendRun():
                self.record(RunSuspended(requests=tuple(sorted(self.state.requests.keys()))))
            case ReopenReview():
                self.record(ReviewReopened(request=command.request))
            case Deliver():
                complete = self.state.counts.accepted == len(self.state.nodes)
                self.record(RunEnded(outcome="completed" if complete else "partial"))
            case EndCancelled():
                self.record(RunEnded(outcome="cancelled"))
            case _:
                assert_never(command)

    def _cancel_left_behind(self) -> None:
        for name, node in self.state.nodes.items():
            key = (name, node.generation, node.attempt)
            if node.status in ("running", "verifying") and key not in self.running:
                self.record(AttemptCancelled(node=name, generation=node.generation, attempt=node.attempt))

    def _start(self, command: StartAttempt) -> None:
        key = (command.node, command.generation, command.attempt)
        if key in self.running:
            return
        self.record(
            AttemptStarted(
                node=command.node,
                generation=command.generation,
                attempt=command.attempt,
                epoch=self.state.epoch,
                agent=self.state.assigned[command.node],
                input_key=command.input_key,
            )
        )
        self._make_let_calls(key)
        if command.resumed and self.executions.count(key):
            nth = self.executed[command.node] - 1
        else:
            nth = self.executed.get(command.node, 0)
            self.executed[command.node] = nth + 1
            self.executions.append(key)
        script = self.script.get(command.node, ())
        self.running[key] = script[nth] if nth < len(script) else OK

    def _make_let_calls(self, key: Key) -> None:
        """An attempt that goes on makes the calls that a person let it make, and remembers that."""
        node, generation, attempt = key
        for digest, word in sorted(self.state.node(node).words.items()):
            if word.used or word.word in ("refuse", "happened"):
                continue
            where: dict[str, Any] = {
                "node": node,
                "generation": generation,
                "attempt": attempt,
                "step": "work.1",
            }
            call = held_call(int(digest))
            idem = f"{generation}.{digest}"
            self.record(
                CallCommitted(
                    **where,
                    index=call.index,
                    tool=call.tool,
                    arguments=call.arguments,
                    arguments_digest=digest,
                    side_effect=call.side_effect,
                    key=idem,
                    approval=word.request,
                )
            )
            self.record(
                CallReturned(
                    **where,
                    index=call.index,
                    call="tool",
                    name=call.tool,
                    arguments=call.arguments,
                    arguments_digest=digest,
                    arguments_origin="parametric",
                    arguments_taint="untrusted",
                    result=ArtefactId(f"sent {digest}"),
                    ok=True,
                    summary="sent",
                    key=idem,
                )
            )

    def finish(self, key: Key) -> None:
        """An attempt ends: with its outcome, or, when it is obsolete or everything is cancelled, as cancelled."""
        outcome = self.running.pop(key)
        node, generation, attempt = key
        now = self.state.nodes.get(node)
        late = now is None or (now.generation, now.attempt) != (generation, attempt)
        if late or self.state.cancelling:
            self.record(AttemptCancelled(node=node, generation=generation, attempt=attempt))
            return
        if self.held[key] < outcome.holds:
            self.held[key] += 1
            call = held_call(self.held[key])
            self.record(AttemptHeld(node=node, generation=generation, attempt=attempt, call=call))
            return
        self.record(
            CallReturned(
                node=node,
                generation=generation,
                attempt=attempt,
                step="work.1",
                index=0,
                call="tool",
                name="search",
                arguments={"query": "why"},
                arguments_digest="d",
                arguments_origin="computed",
                arguments_taint="trusted",
                result=ArtefactId("result"),
                ok=True,
                summary="found",
            )
        )
        self.record_outcome(key, outcome)

    def record_outcome(self, key: Key, outcome: Outcome) -> None:
        node, generation, attempt = key
        content = expected_content(self.state, node, outcome.variant)
        output = ArtefactId(f"artefact of {content}")
        failure = outcome.failure
        if failure is None or outcome.with_output:
            self.record(
                AttemptProduced(
                    node=node,
                    generation=generation,
                    attempt=attempt,
                    path=1,
                    mode="scripted",
                    candidate_complete=True,
                )
            )
        if failure is None:
            self.record(
                AttemptVerified(
                    node=node,
                    generation=generation,
                    attempt=attempt,
                    output=output,
                    content=content,
                    path=1,
                    mode="scripted",
                    verification=verification(verdicts=self.traced.get(node, ())),
                )
            )
        elif outcome.with_output:
            falsified = failure.kind == "falsified"
            self.record(
                AttemptRejected(
                    node=node,
                    generation=generation,
                    attempt=attempt,
                    output=output,
                    content=content,
                    path=1,
                    mode="scripted",
                    verification=verification(
                        "falsified" if falsified else "qualified",
                        diagnosis=failure.diagnosis,
                        verdicts=self.verdicts,
                    ),
                    failure=failure,
                )
            )
        else:
            self.record(AttemptFailed(node=node, generation=generation, attempt=attempt, failure=failure))

    # What tests look at

    def bodies(self, *types: type[Body]) -> list[Body]:
        return [event.body for event in self.log if isinstance(event.body, types)]

    def backtracks(self) -> list[Backtracked]:
        return [event.body for event in self.log if isinstance(event.body, Backtracked)]

    def requests(self) -> list[Request]:
        return [event.body.request for event in self.log if isinstance(event.body, RequestOpened)]

    def contents(self) -> dict[NodeId, ContentDigest | None]:
        return {name: current_content(self.state, name) for name in self.state.nodes}

    def statuses(self) -> dict[str, str]:
        return {str(name): node.status for name, node in self.state.nodes.items()}

    def started(self, node: str) -> int:
        """How often a sub-task ran."""
        return sum(name == node for name, _, _ in self.executions)
