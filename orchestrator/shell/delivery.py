"""Deliver a run whose sub-tasks are all done: accept, assemble the report, keep its artefacts, say the outcome."""

from __future__ import annotations

from collections.abc import Callable

from agents.results import WorkOutput
from graphs.plan import NodeId
from masks.leaks.provenance import Leak
from orchestrator.core.acceptor import Gap, missing_from
from orchestrator.core.effects import effects_of
from orchestrator.core.events import RunEnded, RunOutcome
from orchestrator.core.ids import ArtefactId
from orchestrator.core.report import (
    TerminalOutput,
    assemble_report,
    report_json,
    result_digest,
    run_facts,
)
from orchestrator.core.state import RunState
from orchestrator.core.unsettled import unsettled_gaps
from orchestrator.shell.journal import Journal

OutputOf = Callable[[ArtefactId], WorkOutput]


class Delivery:
    """Makes the last event of a run; `output_of` reads kept outputs."""

    def __init__(self, output_of: OutputOf) -> None:
        self._output_of = output_of

    def __call__(self, state: RunState, journal: Journal) -> RunEnded:
        """Return the end of the run; its report is kept with the same event."""
        assert state.proposal is not None, "only an approved run is delivered"
        assert state.sha256 is not None, "only an approved run is delivered"
        lang = state.proposal.goal.lang
        terminals = self._terminals(state)
        missing = (
            *missing_from(state.proposal.contract, terminals),
            *_given_up(state),
            *_taken_as_is(state),
            *unsettled_gaps(state),
        )
        gaps = tuple(gap.text(lang) for gap in missing)
        outcome = _outcome(state, terminals, core_missing=any(gap.core for gap in missing))
        facts = run_facts(
            state.run,
            state.proposal,
            state.sha256,
            outcome,
            gaps=gaps,
            changes=effects_of(state),
            stopped=state.limit_hit,
        )
        report = assemble_report(facts, terminals, _leaks(state))
        return RunEnded(
            outcome=outcome,
            gaps=gaps,
            stopped=state.limit_hit,
            report=journal.keep(report_json(report)),
            result=result_digest(report),
            error=state.internal_error,
        )

    def _terminals(self, state: RunState) -> tuple[TerminalOutput, ...]:
        assert state.index is not None, "only an approved run is delivered"
        found = []
        for name in state.index.exits:
            node = state.node(name)
            if node.status == "accepted" and node.accepted is not None:
                found.append(
                    TerminalOutput(
                        node=name,
                        title=state.index.subtask(name).title,
                        output=self._output_of(node.accepted.output),
                        verification=node.accepted.verification,
                        mode=node.accepted.mode,
                        accepted_as_is=node.accepted.as_is,
                    )
                )
        return tuple(found)


def _outcome(state: RunState, terminals: tuple[TerminalOutput, ...], *, core_missing: bool) -> RunOutcome:
    if state.internal_error is not None:
        return "failed"
    if state.limit_hit:
        return "partial"  # a budget or loop guard ended it, whatever is left (semantics 7)
    if not terminals and len(state.nodes):
        return "blocked"
    return "partial" if core_missing else "completed"


def _given_up(state: RunState) -> tuple[Gap, ...]:
    assert state.index is not None, "only an approved run is delivered"
    return tuple(
        Gap(code="given_up", subject=state.index.subtask(name).title)
        for name in state.index.order
        if state.node(name).status == "skipped" and state.node(name).skipped_because != "optional"
    )


def _taken_as_is(state: RunState) -> tuple[Gap, ...]:
    """Sub-tasks before the last ones whose output a person took; the acceptor names the last ones itself."""
    assert state.index is not None, "only an approved run is delivered"
    exits = frozenset(state.index.exits)
    return tuple(
        Gap(code="not_verified", subject=state.index.subtask(name).title)
        for name in state.index.order
        if name not in exits
        and state.node(name).status == "accepted"
        and (accepted := state.node(name).accepted) is not None
        and accepted.as_is
    )


def _leaks(state: RunState) -> dict[NodeId, tuple[Leak, ...]]:
    return {
        name: tuple(leak for leak in node.accepted.leaks if not leak.blocked)
        for name, node in state.nodes.items()
        if node.status == "accepted" and node.accepted is not None
    }
