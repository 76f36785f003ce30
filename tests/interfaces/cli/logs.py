"""Logs of runs for tests of the commands that look: made by the core's own decisions, without any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.roster import Roster
from graphs.contract import Criterion, Lang
from masks.domains import DomainId
from orchestrator.core.events import Event, ProposalDrafted, RunCreated
from orchestrator.core.proposal import Proposal, proposal_sha256
from tests.core import builders
from tests.core.simulation import Simulation, fails, rejected


def suspended_log() -> list[Event]:
    """A run whose second sub-task failed until a person is asked; the third waits for it."""
    failing = [fails(builders.failure("domain_closed", domain=builders.CONTRACTS)) for _ in range(12)]
    run = Simulation(builders.proposal(builders.plan("a>c b>c")), script={"b": failing})
    assert run.run().status == "suspended"
    return run.log


def finished_log() -> list[Event]:
    """A run that delivered nothing but ended well: its last event has no report."""
    run = Simulation(builders.proposal(builders.plan("a>c b>c")))
    assert run.run().status == "completed"
    return run.log


def backtracked_log() -> list[Event]:
    """A run with a class B blockage, a backtrack and a second, accepted attempt."""
    bad = [rejected(builders.failure("structure", blamed="a"))]
    run = Simulation(builders.proposal(builders.plan("a>b b>c")), script={"b": bad})
    assert run.run().status == "completed"
    return run.log


def draft(lang: Lang = "en", edges: str = "a>c b>c") -> Proposal:
    """A sound proposal over domains that exist: A1 does everything, A2 could, V1 checks."""
    work = builders.plan(edges)
    tasks = tuple(
        replace(task, operation="compare", required_domains={"cs.databases": 1.0}, acceptance=("c1",))
        for task in work.subtasks
    )
    base = builders.proposal(replace(work, subtasks=tasks), lang=lang)
    return replace(
        base,
        contract=replace(
            base.contract,
            acceptance=(Criterion(id="c1", text="Delivered.", kind="custom"),),
            allow_unresolved=True,
        ),
        roster=Roster(
            agents=(
                builders.agent("A1", MASK, operations=("compare",)),
                builders.agent("A2", MASK, operations=("compare",)),
                builders.agent("V1", MASK, role="verify", operations=("verify",)),
            )
        ),
    )


MASK = {DomainId("cs.databases"): 90, DomainId("econ.finance"): 50, DomainId("law.civil"): -100}
"""One domain in each band."""


def reviewing_log(lang: Lang = "en", edges: str = "a>c b>c") -> list[Event]:
    """A run in review."""
    proposal = draft(lang, edges)
    created = RunCreated(goal="Why?", lang=lang, sources=(), run_seed="seed", versions={})
    drafted = ProposalDrafted(proposal=proposal, sha256=proposal_sha256(proposal), author="planner")
    return _stamped([created, drafted])


def _stamped(bodies: Sequence[RunCreated | ProposalDrafted]) -> list[Event]:
    return [
        Event(seq=seq, ts="2026-01-01T00:00:00.000Z", body=body) for seq, body in enumerate(bodies, start=1)
    ]
