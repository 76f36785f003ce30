"""The LangGraph graph that executes one attempt of a sub-task: work on it, then check what was made.

Compiled once per executor. Between the stages the worker's result is kept as a checkpoint of LangGraph's, so that a
crash during the check does not repeat the work. The state holds JSON only; everything that can act (worker, broker,
detector, verifier) comes in through the context and is never checkpointed.

    attempt   from the beginning: work, keep the result, check
    check     from a result that another process left

    work      path 1; when a question stays open for lack of a BACKGROUND domain, path 2
    check     leaks (a spontaneous one: once more, paths as in `work`, with the suppression guard), L1, L2, L3, finalise

In one process nothing can come between the stages, so they are one step of the graph: a second one costs 0.2 to 0.3 ms
(decision 0010). The graph is built from LangGraph's own parts (`Pregel`), not as a `StateGraph`: that takes in
its input in a step of its own and translates every value from and to a dict. For the same reason a stage writes its
channel itself instead of being followed by a writer: the two would make a sequence, which opens a task and a callback
manager for each of its steps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.channels import EphemeralValue, LastValue
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.pregel import NodeBuilder, Pregel
from pydantic import TypeAdapter

import orchestrator.shell.langgraph_env  # noqa: F401 - sets the environment before LangGraph is imported
from agents.results import WorkResult
from masks.leaks.provenance import Leak
from orchestrator.core.blockage import Failure
from orchestrator.core.claims import Verification
from orchestrator.shell.leak_scan import LeakScan

RECURSION_LIMIT: Final = 50
"""Steps of one attempt graph; LangGraph's own default is 10,007."""

WORK_RESULT = TypeAdapter(WorkResult)


CONTEXT: Final = "__maskgrad_attempt"
"""Where the `AttemptContext` stands in a config's `configurable`. LangGraph keeps names that begin so out of a
checkpoint's metadata."""

ATTEMPT: Final = "attempt"
CHECK: Final = "check"
"""The nodes of the graph."""

START_CHANNEL: Final = "start"
"""Whatever is written to it starts an attempt from the beginning; nothing of it is kept."""
RESULT_CHANNEL: Final = "result"
"""A `WorkResult` as JSON text, after the work: what is checkpointed, and starts the check."""
FINISHED_CHANNEL: Final = "finished"
"""Set after the check. What the attempt came to is in the context, and in the event that ends the attempt."""

FROM_THE_BEGINNING: Final = {START_CHANNEL: True}
"""The input of a new attempt."""


def from_result(text: str) -> dict[str, str]:
    """Return the input of an attempt whose result is there, as JSON text, and waits for its check."""
    return {RESULT_CHANNEL: text}


AttemptGraph = Pregel[Any, Any, Any, Any]


class Made(NamedTuple):
    """What a worker made."""

    result: WorkResult
    text: str
    """The same as JSON text."""


class Examined(NamedTuple):
    """What was found in a result."""

    scan: LeakScan
    verification: Verification | None
    """`None` where a leak blocks the result: it is made once more instead of being verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedAttempt:
    """What an attempt came to."""

    result: WorkResult
    """With the markers taken out of the text and the leak marks on the claims, those of the inputs too."""
    verification: Verification
    leaks: tuple[Leak, ...]
    """Those of `result`, then those for which an output before it was discarded."""
    failure: Failure | None


@dataclass(slots=True, kw_only=True)
class AttemptContext:
    """What an attempt can do, and what it came to."""

    work: Callable[[Literal[1, 2], tuple[str, ...]], Awaitable[Made]]
    """Runs the worker on a path, with additional guards."""
    start_path: Literal[1, 2]
    examine: Callable[[Made, tuple[str, ...]], Awaitable[Examined]]
    """Finds and crosses leaks, told of the domains for whose spontaneous use an output was discarded already; verifies
    what is not blocked."""
    keep: Callable[[str], None]
    """Told of a worker's result as JSON text, before it is checked: going on with the attempt starts from it."""
    suppress: Callable[[tuple[str, ...]], str]
    """Returns the suppression guard for domains that leaked spontaneously."""
    judge: Callable[[WorkResult, LeakScan, Verification], Failure | None]
    """Returns why the attempt is not accepted, or `None`."""
    finalise: Callable[[WorkResult], WorkResult]
    """Returns the result as it is kept: what travels with a claim is on it, whatever the worker dropped."""
    finished: FinishedAttempt | None = None
    """Set by the check."""


def build_attempt_graph(saver: BaseCheckpointSaver[Any] | None = None) -> AttemptGraph:
    """Return the graph; an attempt runs it with `FROM_THE_BEGINNING` or `from_result`, its context in `CONTEXT`.

    Attempts need no `saver`: a new one has nothing to load and keeps what there is to keep itself.
    """
    return Pregel(
        nodes={
            ATTEMPT: _node(attempt, START_CHANNEL),
            CHECK: _node(_check_kept, RESULT_CHANNEL),
        },
        channels={
            START_CHANNEL: EphemeralValue(bool),
            RESULT_CHANNEL: LastValue(str),
            FINISHED_CHANNEL: LastValue(bool),
        },
        input_channels=[START_CHANNEL, RESULT_CHANNEL],
        output_channels=FINISHED_CHANNEL,
        checkpointer=saver,
        name="attempt",
    )


_CHECKPOINT_VERSION: Final = 4
"""LangGraph's format of checkpoints; it reads those of older ones."""


def checkpoint_after_work(result: str) -> Checkpoint:
    """Return the checkpoint of an attempt whose next node is `check`, with a worker's `result` as JSON text.

    Made by us, for LangGraph puts one only where a step ends, and in the background, with a task for each of the
    checkpoints and writes of an attempt, of which this is the only one that is ever read.
    """
    empty = empty_checkpoint()
    return Checkpoint(
        v=_CHECKPOINT_VERSION,
        id=empty["id"],
        ts=empty["ts"],
        channel_values={RESULT_CHANNEL: result},
        channel_versions={START_CHANNEL: 2, RESULT_CHANNEL: 2},
        versions_seen={"__input__": {}, ATTEMPT: {START_CHANNEL: 1}},
        updated_channels=[RESULT_CHANNEL],
    )


Stage = Callable[[Any, AttemptContext], Awaitable[None]]
"""Is given what stands in its channel."""


def _node(stage: Stage, source: str) -> Any:
    (write,) = NodeBuilder().write_to(FINISHED_CHANNEL).build().writers
    return NodeBuilder().subscribe_only(source).do(_Stage(stage, write)).build().copy({"writers": []})


class _Stage(Runnable[Any, Any]):
    """A stage as LangGraph calls it."""

    def __init__(self, stage: Stage, write: Runnable[Any, Any]) -> None:
        self._stage = stage
        self._write = write

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Raise `NotImplementedError`: attempts run on an event loop."""
        raise NotImplementedError("attempts run on an event loop")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Run the stage with the context of the attempt, and write that it is finished."""
        del kwargs
        assert config is not None, "LangGraph calls a stage with a config"
        await self._stage(input, config["configurable"][CONTEXT])
        return await self._write.ainvoke(True, config)


async def attempt(start: object, context: AttemptContext) -> None:
    """Work, keep the result, and check it; `start` says nothing."""
    del start
    made = await _from_path(context, context.start_path, ())
    context.keep(made.text)
    await _check(made, context)


async def _check_kept(text: str, context: AttemptContext) -> None:
    await _check(Made(WORK_RESULT.validate_json(text), text), context)


async def _from_path(context: AttemptContext, path: Literal[1, 2], guards: tuple[str, ...]) -> Made:
    made = await context.work(path, guards)
    if path == 1 and _lacks_background(made.result):
        made = await context.work(2, guards)
    return made


def _lacks_background(result: WorkResult) -> bool:
    """Path 2 starts only when a question of path 1 stays open for lack of a BACKGROUND domain (semantics 3)."""
    still_open = {question.question for question in result.output.open_questions}
    return any(need.band == "BACKGROUND" and need.question in still_open for need in result.needs)


async def _check(made: Made, context: AttemptContext) -> None:
    scan, verification = await context.examine(made, ())
    discarded: tuple[Leak, ...] = ()
    if verification is None:
        # Rule 2b: blocked, and once more under the suppression guard; a second time the agent does not fit.
        blocked = scan.spontaneous
        discarded = tuple(replace(leak, blocked=True) for leak in scan.leaks if leak.domain in blocked)
        made = await _from_path(context, made.result.path, (context.suppress(blocked),))
        scan, verification = await context.examine(made, blocked)
    assert verification is not None, "only a first result is blocked"
    context.finished = FinishedAttempt(
        result=context.finalise(scan.result),
        verification=verification,
        leaks=(*scan.leaks, *discarded),
        failure=context.judge(scan.result, scan, verification),
    )
