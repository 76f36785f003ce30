"""Run one attempt of a sub-task on its LangGraph thread and say in one event what came of it."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any, Final, Literal, Protocol

from langchain_core.callbacks import AsyncCallbackManager
from langgraph.checkpoint.base import Checkpoint

from agents.broker import BudgetExhausted, CallHeld
from agents.models.ports import ChatPort
from agents.results import WorkOutput, WorkResult
from agents.spec import AgentSpec
from agents.tools.ports import Tool
from agents.tools.told import told
from agents.workers.ports import Worker, WorkFailed, WorkOrder
from graphs.contract import Lang
from orchestrator.core.blockage import Failure
from orchestrator.core.dropped import dropped_calls
from orchestrator.core.events import (
    AttemptFailed,
    AttemptHeld,
    AttemptProduced,
    AttemptRejected,
    AttemptVerified,
)
from orchestrator.core.ids import ArtefactId
from orchestrator.core.input_key import WORK_OUTPUT, content_digest_of
from orchestrator.shell.attempt_graph import (
    CONTEXT,
    FROM_THE_BEGINNING,
    RECURSION_LIMIT,
    WORK_RESULT,
    AttemptContext,
    AttemptGraph,
    Examined,
    FinishedAttempt,
    Made,
    checkpoint_after_work,
    from_result,
)
from orchestrator.shell.attempt_judgement import judge_attempt
from orchestrator.shell.attempt_orders import AttemptJob, AttemptOrders, attempt_thread
from orchestrator.shell.broker import RecordingBroker
from orchestrator.shell.call_gate import call_gate, granted_tools, told_of_tools, trusted_texts
from orchestrator.shell.call_ledger import CallLedger
from orchestrator.shell.check_threads import CheckThreads
from orchestrator.shell.failure_texts import (
    limit_reached,
    suppression_guard,
)
from orchestrator.shell.journal import JournalBroken
from orchestrator.shell.kept_wholes import KeptWholes
from orchestrator.shell.leak_scan import LeakScanner
from orchestrator.shell.model_calls import ModelCalls, ModelSurroundings
from orchestrator.shell.outputs import Artefacts, OutputCache
from orchestrator.shell.ports import Clock
from orchestrator.shell.result_cache import ResultCache
from orchestrator.shell.spending import Spending, deadline_reached
from orchestrator.shell.store.checkpoint_json import encoded
from orchestrator.shell.store.errors import NotStorable, StoreError
from orchestrator.shell.toolbox import RunTools
from orchestrator.verification.ports import Verifier

Finished = AttemptVerified | AttemptRejected | AttemptFailed
Rested = Finished | AttemptHeld
"""What an attempt comes to: its end, or a rest until a person said a word."""

HANDING_OVER_S: Final = 2.0
"""What a worker gets beyond the deadline of its attempt to hand over what it has, in seconds: the broker ends its last
call at the deadline, and an answer with the rest left open is worth more than none."""

_LOG: Final = logging.getLogger(__name__)


class Threads(Protocol):
    """Keeps checkpoints of attempts, and carries an unfinished attempt's newest one over to a new epoch."""

    async def take_over(self, sources: Sequence[str], target: str) -> str | None:
        """Carry over the result that was kept last under `sources`, newest first, and return it; `None` without one."""
        ...

    def keep(self, thread: str, make: Callable[[], Checkpoint]) -> None:
        """Queue a checkpoint, which is made when it is written."""
        ...


class AttemptRunner:
    """Runs attempts: everything that they need from outside is injected here."""

    def __init__(
        self,
        *,
        graph: AttemptGraph,
        threads: Threads,
        artefacts: Artefacts,
        worker_for: Callable[[AgentSpec], Worker],
        chat_for: Callable[[AgentSpec], ChatPort | None],
        tools: RunTools,
        scanner: LeakScanner,
        verifier: Verifier,
        checks: CheckThreads,
        clock: Clock,
        models: ModelSurroundings | None = None,
        wholes: KeptWholes | None = None,
        allowed_hosts: frozenset[str] = frozenset(),
    ) -> None:
        self._graph = graph
        self._threads = threads
        self._artefacts = artefacts
        self._worker_for = worker_for
        self._chat_for = chat_for
        self._tools = tools
        self._scanner = scanner
        self._verifier = verifier
        self._checks = checks
        self._clock = clock
        self._models = models or ModelSurroundings()
        self._cache = ResultCache()
        self._allowed_hosts = allowed_hosts
        self._wholes = wholes or KeptWholes(artefacts)
        self._outputs = OutputCache(artefacts)

    async def run(self, job: AttemptJob) -> Rested:
        """Return the event that ends the attempt, or lets it rest.

        A failure of any kind is an event, never an exception. Except where the store fails: that says nothing of the
        attempt, which can be gone on with. Raises `StoreError`, and `JournalBroken` where the journal met it before.
        """
        try:
            return self._event(job, await self._execute(job))
        except BudgetExhausted as stop:
            return _failed(job, Failure(kind="limit", message=limit_reached(stop, _lang(job))))
        except CallHeld as rest:
            key = job.key
            return AttemptHeld(node=key.node, generation=key.generation, attempt=key.attempt, call=rest.held)
        except WorkFailed as failed:
            failure = Failure(
                kind=failed.kind, message=told(failed.message, _lang(job)), retry_after_s=failed.retry_after_s
            )
            return _failed(job, failure)
        except (NotStorable, UnicodeEncodeError) as error:
            # What was made has no form as JSON text, say half of a character: that is for who made it to repair, and a
            # resume would only meet it again.
            return _failed(job, Failure(kind="invalid_output", message=str(error)))
        except (StoreError, JournalBroken):
            raise
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - the one broad catch: a bug must end typed, with its trace
            trace = "".join(traceback.format_exception(error))
            return _failed(job, Failure(kind="internal", message=repr(error), trace=trace))

    def output(self, artefact: ArtefactId) -> WorkOutput:
        """Return a kept output, decoded; raises what the store raises for a missing or damaged one."""
        return self._outputs.get(artefact)

    async def _execute(self, job: AttemptJob) -> FinishedAttempt:
        thread = attempt_thread(job, job.epoch)
        context = self._context(job, thread)
        config: Any = {
            "configurable": {"thread_id": thread, CONTEXT: context},
            "recursion_limit": RECURSION_LIMIT,
            # One of its own, or LangChain looks for tracing services in the environment: what an attempt reads and
            # makes leaves this machine through granted tools and the agent's model only.
            "callbacks": AsyncCallbackManager(handlers=[]),
        }
        text = None if job.previous_epoch is None else await self._left_off(job, thread)
        start = FROM_THE_BEGINNING if text is None else from_result(text)
        await self._graph.ainvoke(start, config, version="v2")
        assert context.finished is not None, "an attempt ends with its check"
        return context.finished

    async def _left_off(self, job: AttemptJob, thread: str) -> str | None:
        """Carry over the result that executors of earlier epochs left, and return it as JSON text; `None` without one.

        One that can't be read (damaged, or another version's) is a cache that is lost, and no failure of the worker's:
        the attempt starts anew, with the results of its calls from the log.
        """
        # Each of them may have died before or after it carried the result over.
        left = [attempt_thread(job, epoch) for epoch in range(job.epoch - 1, 0, -1)]
        try:
            text = await self._threads.take_over(left, thread)
            if text is not None:
                WORK_RESULT.validate_json(text)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            _LOG.warning("the checkpoint of %r can't be read, its attempt starts anew: %s", thread, error)
            return None
        return text

    def _context(self, job: AttemptJob, own_thread: str) -> AttemptContext:
        orders = AttemptOrders(job, self.output)
        node = job.state.node(job.key.node)
        worker = self._worker_for(orders.agent)
        # Of the whole attempt: what a step spends, commits or uses up is so for the next one.
        spending, ledger = Spending(self._clock), self._ledger(job)

        async def work(path: Literal[1, 2], guards: tuple[str, ...]) -> Made:
            tools = await self._tools.now(granted_tools(job.state, orders.agent))
            order, left_out = told_of_tools(orders.on(path, guards), job.state, tools)
            broker = self._broker(job, order, f"work.{path}.{len(guards)}", spending, ledger, tools)
            await broker.settle()
            # Which path it was is for the order to say: on path 2 leaks are allowed that path 1 forbids.
            made = await _in_time(worker.work(order, broker), spending, order.limits.deadline_s)
            result = replace(made, path=path, notes=(*left_out, *made.notes))
            # Before anything of it goes into the log or a checkpoint: neither could take it, and the run would stop.
            return Made(result, _json_text(result))

        loop, thread = asyncio.get_running_loop(), threading.get_ident()

        async def examine(made: Made, blocked: tuple[str, ...]) -> Examined:
            return await self._checks.run(
                lambda: self._examined(made.result, orders, blocked, produced),
                len(made.text),
                orders.how_far_checked(made.result),
            )

        def produced(result: WorkResult) -> None:
            if threading.get_ident() == thread:
                job.emit(_produced(job, result))
            else:
                loop.call_soon_threadsafe(job.emit, _produced(job, result))

        return AttemptContext(
            work=work,
            start_path=node.start_path,
            examine=examine,
            keep=lambda text: self._threads.keep(own_thread, partial(checkpoint_after_work, text)),
            suppress=lambda domains: suppression_guard(domains, orders.lang),
            judge=lambda result, scan, verdict: judge_attempt(
                result, scan, verdict, frozenset(orders.required), orders.contract, orders.lang
            ),
            finalise=orders.finalised,
        )

    def _examined(
        self,
        result: WorkResult,
        orders: AttemptOrders,
        blocked: tuple[str, ...],
        produced: Callable[[WorkResult], None],
    ) -> Examined:
        """Scan and verify `result`, and tell of it in between; on whatever thread this runs."""
        found = self._scanner.scan(result, orders.on(result.path), blocked)
        if found.spontaneous and not blocked:
            return Examined(found, None)
        produced(found.result)
        return Examined(found, self._verifier.verify(orders.check(found.result, found)))

    def _ledger(self, job: AttemptJob) -> CallLedger:
        node = job.state.node(job.key.node)
        return CallLedger(
            run=job.state.run,
            recorded=node.calls,
            load=self._load,
            keep=job.keep,
            keep_bytes=self._wholes.keeper(job.keep_bytes),
            allow_whole=self._wholes.allow,
            emit=job.emit,
            commit=job.commit,
            now=self._clock.now,
            words=node.words,
            committed=node.committed,
            dropped=dropped_calls(job.state),
        )

    def _broker(
        self,
        job: AttemptJob,
        order: WorkOrder,
        step: str,
        spending: Spending,
        ledger: CallLedger,
        tools: Mapping[str, Tool],
    ) -> RecordingBroker:
        proposal = job.state.proposal
        assert proposal is not None, "attempts exist for approved plans only"
        limits = proposal.contract.limits
        return RecordingBroker(
            key=job.key,
            lang=proposal.goal.lang,
            step=step,
            agent=order.agent,
            gate=call_gate(
                proposal,
                order,
                tools,
                trusted_texts(job.state),
                self._allowed_hosts,
                shadow=job.state.shadow_of is not None,
            ),
            tools=tools,
            models=ModelCalls(
                chat=self._chat_for(order.agent),
                agent=order.agent,
                limits=limits,
                spending=spending,
                surroundings=self._models,
            ),
            limits=limits,
            ledger=ledger,
            spending=spending,
            cache=self._cache,
        )

    async def _load(self, artefact: ArtefactId) -> Any:
        return json.loads(self._artefacts.get_artefact(artefact))

    def _event(self, job: AttemptJob, finished: FinishedAttempt) -> Finished:
        output = finished.result.output
        document = WORK_OUTPUT.dump_python(output, mode="json")
        artefact = job.keep(document)
        self._outputs.put(artefact, output)
        common: dict[str, Any] = {
            "node": job.key.node,
            "generation": job.key.generation,
            "attempt": job.key.attempt,
            "output": artefact,
            "content": content_digest_of(document),
            "path": finished.result.path,
            "mode": finished.result.mode,
            "verification": finished.verification,
            "leaks": finished.leaks,
        }
        if finished.failure is not None:
            return AttemptRejected(**common, failure=finished.failure)
        return AttemptVerified(**common)


async def _in_time(work: Awaitable[WorkResult], spending: Spending, deadline_s: float) -> WorkResult:
    """Return what a worker makes until the deadline of its attempt; raises `BudgetExhausted` when that has passed.

    It holds for all the work of the attempt together, whatever the worker waits for.
    """
    until = asyncio.timeout(deadline_s + HANDING_OVER_S - spending.elapsed_s)
    try:
        async with until:
            return await work
    except TimeoutError:
        if not until.expired():
            raise
        raise deadline_reached(spending, deadline_s) from None


def _json_text(result: WorkResult) -> str:
    """Return a result as JSON text; raises `NotStorable` for half of a character and for a number that is none."""
    if all(isfinite(need.match) for need in result.needs):
        with suppress(ValueError):
            return WORK_RESULT.dump_json(result).decode()
    # Slower, and refuses what the other way would not take, or would take for null.
    return encoded(WORK_RESULT.dump_python(result, mode="json")).decode()


def _lang(job: AttemptJob) -> Lang:
    assert job.state.proposal is not None, "attempts exist for approved plans only"
    return job.state.proposal.goal.lang


def _produced(job: AttemptJob, result: WorkResult) -> AttemptProduced:
    return AttemptProduced(
        node=job.key.node,
        generation=job.key.generation,
        attempt=job.key.attempt,
        path=result.path,
        mode=result.mode,
        candidate_complete=result.candidate_complete,
        acted_through=result.acted_through,
        needs=result.needs,
        rounds=result.rounds,
        notes=result.notes,
    )


def _failed(job: AttemptJob, failure: Failure) -> AttemptFailed:
    return AttemptFailed(
        node=job.key.node, generation=job.key.generation, attempt=job.key.attempt, failure=failure
    )
