"""What one attempt is told: the orders of its worker and of its check, from the state at its start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal

from agents.results import WorkOutput, WorkResult
from agents.workers.ports import WorkOrder
from graphs.plan import NodeId
from orchestrator.core.claims import Verification
from orchestrator.core.closed_domains import with_closed_domains
from orchestrator.core.events import Body, CallCommitted
from orchestrator.core.ids import ArtefactId
from orchestrator.core.state import RunState
from orchestrator.shell.leak_scan import LeakScan
from orchestrator.shell.ports import AttemptKey
from orchestrator.shell.store.rows import AttemptThread
from orchestrator.verification.carried import with_carried_marks
from orchestrator.verification.ports import CheckOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptJob:
    """One attempt as the executor hands it out."""

    state: RunState
    """As of the attempt's start."""
    key: AttemptKey
    epoch: int
    previous_epoch: int | None
    """Of the executor that left it unfinished, for an attempt that is gone on with."""
    emit: Callable[[Body], None]
    """Hands an event over to be recorded, without waiting."""
    keep: Callable[[Any], ArtefactId]
    """Keeps a JSON value together with the next event."""
    keep_bytes: Callable[[bytes], ArtefactId]
    """Keeps bytes together with the next event."""
    commit: Callable[[CallCommitted], Awaitable[bool]]
    """Records the event and returns once it is in the store; `False` when the attempt has become obsolete."""


class AttemptOrders:
    """Builds the orders of one attempt from the state at its start."""

    def __init__(self, job: AttemptJob, output: Callable[[ArtefactId], WorkOutput]) -> None:
        state = job.state
        assert state.proposal is not None, "attempts exist for approved plans only"
        assert state.index is not None, "attempts exist for approved plans only"
        self._job = job
        self._proposal = state.proposal
        self._node = state.node(job.key.node)
        self._subtask = state.index.subtask(job.key.node)
        self._terminal = not state.index.successors(job.key.node)
        self.agent = state.agent_of(job.key.node)
        self._thresholds = self._proposal.thresholds_of(self.agent.id)
        self._params = {**self._subtask.params, **dict(self._node.params.items())}
        self.lang = state.proposal.goal.lang
        self.required = self._subtask.required_domains
        self.contract = state.proposal.contract
        self._inputs: dict[NodeId, WorkOutput] = {}
        self._verifications: dict[NodeId, Verification] = {}
        for name in state.index.predecessors(job.key.node):
            accepted = state.node(name).accepted
            if state.node(name).status == "accepted" and accepted is not None:
                self._inputs[name] = output(accepted.output)
                self._verifications[name] = accepted.verification
        # Rarely any: all ancestors are looked at only where a person took something.
        taken = state.index.ancestors(job.key.node) & set(state.taken_as_is) if len(state.taken_as_is) else ()
        self._taken_as_is = {
            name: output(accepted.output)
            for name in sorted(taken, key=state.index.rank)
            if state.node(name).status == "accepted" and (accepted := state.node(name).accepted) is not None
        }

    def on(self, path: Literal[1, 2], guards: tuple[str, ...] = ()) -> WorkOrder:
        """Return the worker's order on a path, with guards beyond those of repairs."""
        return WorkOrder(
            subtask=self._subtask,
            agent=self.agent,
            thresholds=self._thresholds,
            path=path,
            lang=self.lang,
            inputs=self._inputs,
            params=self._params,
            guards=(*self._node.guards, *guards),
            limits=self._proposal.contract.limits,
            memories=self._proposal.memories,
        )

    def how_far_checked(self, result: WorkResult) -> Hashable:
        """Return what is known before a check of its level: a level takes many times what the one below takes."""
        node = self._node
        return node.forced_level, self._terminal, result.path, node.redone, bool(node.extended)

    def check(self, result: WorkResult, scan: LeakScan) -> CheckOrder:
        """Return the verifier's order for a result."""
        state, key = self._job.state, self._job.key
        triggers = (
            *(("redo",) if self._node.redone else ()),
            *(("mask_extended",) if self._node.extended else ()),
        )
        seed = state.created.run_seed if state.created else ""
        return CheckOrder(
            subtask=self._subtask,
            contract=self._proposal.contract,
            agent=self.agent,
            thresholds=self._thresholds,
            result=result,
            leaks=scan.report,
            inputs=self._inputs,
            lang=self.lang,
            seed=f"{state.sha256}|{seed}|{key.node}|{key.generation}|{key.attempt}",
            terminal=self._terminal,
            forced_level=self._node.forced_level,
            triggers=triggers,
            extended_domains=self._node.extended,
            params=self._params,
            verifications=self._verifications,
            taken_as_is=self._taken_as_is,
        )

    def finalised(self, result: WorkResult) -> WorkResult:
        """Return the result as it is kept.

        With the leak marks of the inputs on the claims that it carries on (semantics 2), and the closed domains at the
        questions that they keep open.
        """
        output = with_closed_domains(result, self.agent.mask, self.contract)
        return replace(result, output=with_carried_marks(output, self._inputs.values()))


def attempt_thread(job: AttemptJob, epoch: int) -> str:
    """Return the id of the checkpoint thread that `job` has under `epoch`."""
    return AttemptThread(
        run=job.state.run,
        node=job.key.node,
        generation=job.key.generation,
        attempt=job.key.attempt,
        epoch=epoch,
    ).text
