"""The events of a run: what happened, in the past tense. The log of them is the only truth.

An `Event` is a stamped body: `seq`, `ts` and `cause` are set once, when it is recorded, never when it is read. On
the wire and in the store it is `{"v", "seq", "ts", "run", "type", "cause", "data"}`; `type` is the body's literal
tag. When the shape of a stored body changes, `EVENT_SCHEMA` goes up and old logs stay readable (fixtures in
`tests/core/fixtures`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter

from agents.evidence import Origin, Taint
from agents.models.contract import Dropped, Usage
from agents.results import LoopNote, Need, SearchRound, WorkMode
from agents.spec import AgentId
from agents.tools.contract import HeldCall, SideEffectClass
from graphs.contract import Lang
from graphs.plan import NodeId
from masks.leaks.provenance import Leak
from orchestrator.core.backtrack import BacktrackPlan
from orchestrator.core.blockage import Blockage, Failure
from orchestrator.core.claims import Verification
from orchestrator.core.ids import ArtefactId, ContentDigest, RequestId, RunId
from orchestrator.core.proposal import Proposal, Sha256
from orchestrator.core.requests import Answer, Request

EVENT_SCHEMA = 2
"""Version of the shapes below, in every stored event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkPoint:
    """Where a forked run branched off."""

    run: RunId
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCreated:
    """A goal was submitted; the run is being drafted."""

    goal: str
    lang: Lang
    sources: tuple[str, ...]
    run_seed: str
    """Everything seeded derives from the proposal's hash and this."""
    versions: Mapping[str, str]
    """Of product, event schema, prompts, registry, embedder and model."""
    forked_from: ForkPoint | None = None
    shadow_of: RunId | None = None
    """The run that this one is only compared with; it delivers nothing and nothing is learnt from it."""
    type: Literal["run.created"] = "run.created"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalDrafted:
    """A revision of the proposal is up for review."""

    proposal: Proposal
    sha256: Sha256
    author: Literal["planner", "user"]
    changes: tuple[str, ...] = ()
    """What differs from the revision before, one line each."""
    usage: tuple[Usage, ...] = ()
    """Of the model calls that the plan cost, in order."""
    type: Literal["proposal.drafted"] = "proposal.drafted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesWereRequested:
    """The user wants another revision."""

    note: str
    type: Literal["proposal.changes_requested"] = "proposal.changes_requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRejected:
    """The user wants no such run."""

    note: str
    type: Literal["proposal.rejected"] = "proposal.rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalApproved:
    """The user approved exactly this revision."""

    revision: int
    sha256: Sha256
    by: str
    """How: `cli`, `--approve`, `python`, `http`."""
    type: Literal["proposal.approved"] = "proposal.approved"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """A file of the sources folder that was not read."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesRead:
    """The material of the run as it was found."""

    documents: int
    digest: str
    """Over paths and contents."""
    skipped: tuple[SkippedFile, ...] = ()
    type: Literal["sources.read"] = "sources.read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorTookOver:
    """A process began (or went on) to execute the run."""

    epoch: int
    """Rises with each executor; writes of an older epoch are refused."""
    holder: str
    type: Literal["run.executor"] = "run.executor"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused:
    """No further attempt starts until the run is continued."""

    by: str
    type: Literal["run.paused"] = "run.paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContinued:
    """A paused run goes on."""

    by: str
    type: Literal["run.continued"] = "run.continued"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRequested:
    """Somebody cancelled the run."""

    by: str
    type: Literal["run.cancel_requested"] = "run.cancel_requested"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStarted:
    """An attempt of a sub-task got a slot."""

    node: NodeId
    generation: int
    attempt: int
    """From 1 in each generation."""
    epoch: int
    agent: AgentId
    input_key: ContentDigest
    """Over sub-task, inputs, parameters, guards, agent and mask: equal keys mean equal work."""
    type: Literal["attempt.started"] = "attempt.started"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReturned:
    """A tool or model call of an attempt returned; a resumed attempt gets this result instead of calling again."""

    node: NodeId
    generation: int
    attempt: int
    step: str
    """The stage and path it belongs to, e.g. `work.1`."""
    index: int
    """From 0 within the step."""
    call: Literal["tool", "model"]
    name: str
    """The tool, or the model."""
    arguments: Mapping[str, JsonValue]
    """Of a tool call; a model's request is found by its digest."""
    arguments_digest: str
    arguments_origin: Origin
    arguments_taint: Taint
    result: ArtefactId
    ok: bool
    summary: str
    call_id: str = ""
    """Under which the model proposed it; empty for one of the worker's own."""
    key: str = ""
    """Of a tool call with an effect: what it was committed and performed under."""
    performed: bool = True
    """Of a tool call: whether the tool was asked at all; one that was refused, mocked or known already was not."""
    usage: Usage | None = None
    """Of a model call: what it consumed."""
    elapsed_ms: float = 0.0
    """By the clock of the process."""
    prompt_version: str = ""
    """Of a model call: which prompt it was asked with."""
    means: str = ""
    """Of a model call: how it was told schema and tools in the end."""
    dropped: tuple[Dropped, ...] = ()
    """Of a model call: what did not fit into its prompt."""
    error: str = ""
    """Of a model call that failed: the type of its error, such as `timeout` or `rate_limited`."""
    type: Literal["call.returned"] = "call.returned"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCommitted:
    """A call with an effect is about to be performed, with exactly these arguments: it uses up its approval.

    In the store before the tool is asked. Without a `CallReturned` after it nobody knows what came of it.
    """

    node: NodeId
    generation: int
    attempt: int
    step: str
    index: int
    tool: str
    arguments: Mapping[str, JsonValue]
    arguments_digest: str
    side_effect: SideEffectClass
    key: str
    """The idempotency key."""
    approval: RequestId | None
    """The request that it was approved by; `None` where none is needed."""
    call_id: str = ""
    preview: str = ""
    """What it changes, where nobody was asked: of a draft, its diff."""
    type: Literal["call.committed"] = "call.committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStreamed:
    """A part of a model's answer while it is being written; the answer itself comes with `CallReturned`."""

    node: NodeId
    generation: int
    attempt: int
    step: str
    index: int
    text: str
    type: Literal["call.streamed"] = "call.streamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptHeld:
    """An attempt rests until a person said a word on one of its calls; then it is gone on with from the log."""

    node: NodeId
    generation: int
    attempt: int
    call: HeldCall
    type: Literal["attempt.held"] = "attempt.held"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptProduced:
    """A worker handed over an output; its check begins."""

    node: NodeId
    generation: int
    attempt: int
    path: Literal[1, 2]
    mode: WorkMode
    candidate_complete: bool
    """The worker's own opinion."""
    acted_through: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    rounds: tuple[SearchRound, ...] = ()
    notes: tuple[LoopNote, ...] = ()
    """What code did or noted about the loop of a model."""
    type: Literal["attempt.produced"] = "attempt.produced"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptVerified:
    """An output passed its check: the sub-task is accepted."""

    node: NodeId
    generation: int
    attempt: int
    output: ArtefactId
    content: ContentDigest
    path: Literal[1, 2]
    mode: WorkMode
    verification: Verification
    leaks: tuple[Leak, ...] = ()
    type: Literal["attempt.verified"] = "attempt.verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRejected:
    """An output did not pass its check."""

    node: NodeId
    generation: int
    attempt: int
    output: ArtefactId
    content: ContentDigest
    path: Literal[1, 2]
    mode: WorkMode
    verification: Verification
    failure: Failure
    leaks: tuple[Leak, ...] = ()
    type: Literal["attempt.rejected"] = "attempt.rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed:
    """An attempt ended without an output."""

    node: NodeId
    generation: int
    attempt: int
    failure: Failure
    type: Literal["attempt.failed"] = "attempt.failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptCancelled:
    """A running attempt was stopped, because of a backtrack or a cancellation."""

    node: NodeId
    generation: int
    attempt: int
    type: Literal["attempt.cancelled"] = "attempt.cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReused:
    """An invalidated sub-task's new inputs equal its old ones: its output is accepted again without running."""

    node: NodeId
    generation: int
    input_key: ContentDigest
    type: Literal["node.reused"] = "node.reused"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAcceptedAsIs:
    """A person took an output that did not pass its check; it stays marked as not verified."""

    node: NodeId
    generation: int
    request: RequestId
    type: Literal["node.accepted_as_is"] = "node.accepted_as_is"


SkipReason = Literal["abandoned", "optional", "limit", "internal"]
"""`abandoned`: a person gave it up; `optional`: it failed for good and the plan can do without it; `limit`: a budget or
loop guard ended it; `internal`: an error of the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesSkipped:
    """Sub-tasks were given up, with those that can't go on without them; the others that they feed go on."""

    nodes: tuple[NodeId, ...]
    reason: SkipReason
    detail: str
    type: Literal["node.skipped"] = "node.skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockageClassified:
    """A failure was classed A, B, C or D."""

    node: NodeId
    generation: int
    attempt: int
    blockage: Blockage
    type: Literal["failure.classified"] = "failure.classified"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled:
    """Class A: the same attempt will be made again after a delay."""

    node: NodeId
    generation: int
    attempt: int
    """Of the attempt to come."""
    delay_s: float
    type: Literal["retry.scheduled"] = "retry.scheduled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtracked:
    """The run went back: sub-tasks were invalidated and one repair was made."""

    plan: BacktrackPlan
    type: Literal["backtrack.started"] = "backtrack.started"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRemembered:
    """An earlier run found a repair to be wrong for a class of task: this one does not try it."""

    key: str
    """`orchestrator.core.repairs.memory_key` of class and repair."""
    type: Literal["failure.remembered"] = "failure.remembered"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOpened:
    """A person is asked; the sub-task is suspended until the answer."""

    request: Request
    type: Literal["request.opened"] = "request.opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRefused:
    """A message of another process led to nothing, because it was not written as its kind or its request asks."""

    kind: str
    """What it called itself: `answer`, `pause`, `continue`, `cancel`, or what nobody knows."""
    request: RequestId | None
    """The open request that it was to answer, where it names one."""
    by: str
    why: str
    """In English, for whoever wrote the message by program."""
    type: Literal["message.refused"] = "message.refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAnswered:
    """A person answered."""

    request: RequestId
    node: NodeId
    answer: Answer
    by: str
    at: str = ""
    """When it was given, ISO 8601: before it was recorded, where nobody executed the run."""
    type: Literal["request.answered"] = "request.answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSuspended:
    """Nothing can go on before a person answers."""

    requests: tuple[RequestId, ...]
    type: Literal["run.suspended"] = "run.suspended"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewReopened:
    """A person chose to go back to the review of the plan."""

    request: RequestId
    type: Literal["review.reopened"] = "review.reopened"


RunOutcome = Literal["completed", "partial", "blocked", "cancelled", "failed"]
"""Semantics 7; `suspended` is no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """The run reached its outcome."""

    outcome: RunOutcome
    gaps: tuple[str, ...] = ()
    """What of the contract is missing; of a `completed` run, what is not core."""
    stopped: bool = False
    """Whether a limit ended it early."""
    report: ArtefactId | None = None
    result: ContentDigest | None = None
    """Over artefacts, claims and verdicts: equal for equal results, whatever the times and ids."""
    error: str | None = None
    """The trace, for `failed`."""
    type: Literal["run.ended"] = "run.ended"


Body = (
    RunCreated
    | ProposalDrafted
    | ChangesWereRequested
    | ProposalRejected
    | ProposalApproved
    | SourcesRead
    | ExecutorTookOver
    | RunPaused
    | RunContinued
    | CancelRequested
    | AttemptStarted
    | CallCommitted
    | CallStreamed
    | CallReturned
    | AttemptHeld
    | AttemptProduced
    | AttemptVerified
    | AttemptRejected
    | AttemptFailed
    | AttemptCancelled
    | NodeReused
    | NodeAcceptedAsIs
    | NodesSkipped
    | BlockageClassified
    | RetryScheduled
    | Backtracked
    | FailureRemembered
    | RequestOpened
    | MessageRefused
    | RequestAnswered
    | RunSuspended
    | ReviewReopened
    | RunEnded
)

BODY: TypeAdapter[Body] = TypeAdapter(
    Annotated[Body, Field(discriminator="type")],
    # As `json.dumps` writes it and `json.loads` reads it: a null in its place would make the log unreadable.
    config=ConfigDict(ser_json_inf_nan="constants"),
)
"""(De)serialises event bodies at the borders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A body with its place in the log."""

    seq: int
    """From 1, dense per run."""
    ts: str
    """ISO 8601, UTC, when it was recorded."""
    body: Body
    cause: int | None = None
    """The `seq` of the event that led to it."""
    v: int = EVENT_SCHEMA


class UnreadableEvent(ValueError):
    """A stored event of a schema newer than this program's, or not of its schema's shape."""


def to_wire(run: RunId, event: Event) -> dict[str, Any]:
    """Return the event as the JSON object that the store, the stream and the page share."""
    data = BODY.dump_python(event.body, mode="json")
    kind = data.pop("type")
    return {
        "v": event.v,
        "seq": event.seq,
        "ts": event.ts,
        "run": run,
        "type": kind,
        "cause": event.cause,
        "data": data,
    }


def data_text(body: Body) -> str:
    """Return the `data` of a body's wire form as the JSON text that the store keeps: compact, non-ASCII as it is."""
    return BODY.dump_json(body, exclude={"type"}).decode()


def from_wire(document: Mapping[str, Any]) -> Event:
    """Return the event of a JSON object made by `to_wire`.

    Raises `UnreadableEvent` when its schema is newer than `EVENT_SCHEMA` or its shape is not that of its type.
    """
    version = document.get("v")
    if type(version) is not int or not 1 <= version <= EVENT_SCHEMA:
        raise UnreadableEvent(
            f"event schema {version!r} is not readable by this program (it reads 1 to {EVENT_SCHEMA}); "
            "update maskgrad to read this run"
        )
    try:
        body = BODY.validate_python({**document["data"], "type": document["type"]})
        seq, ts, cause = _place(document)
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableEvent(f"event {document.get('seq')!r} is not of its type's shape: {error}") from error
    return Event(seq=seq, ts=ts, cause=cause, v=version, body=body)


def _place(document: Mapping[str, Any]) -> tuple[int, str, int | None]:
    seq, ts, cause = document["seq"], document["ts"], document["cause"]
    if type(seq) is not int or type(ts) is not str or not (cause is None or type(cause) is int):
        raise TypeError(
            f"seq {seq!r}, ts {ts!r}, cause {cause!r} are not a number, a time and a number or null"
        )
    return seq, ts, cause
