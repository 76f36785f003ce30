"""Hypothesis strategies for runs: plans, outcomes of attempts, answers of persons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st

from graphs.contract import Limits
from graphs.plan import Plan
from masks.bands import Thresholds
from orchestrator.core.claims import RootCause
from orchestrator.core.proposal import Envelope, Proposal
from orchestrator.core.requests import Answer
from tests.core.builders import (
    A1,
    CONTRACT,
    CONTRACTS,
    DATABASES,
    EMBEDDED,
    FORBIDDEN,
    MEDICINE,
    ROSTER,
    SOLO,
    failure,
    plan,
    proposal,
    subtask,
)
from tests.core.simulation import OK, Outcome, fails, rejected

RUNS = settings(
    max_examples=max(300, settings.default.max_examples if settings.default else 0), deadline=None
)
"""At least 300 runs; more with a larger profile (`--hypothesis-profile`)."""

NODES = "abcdefg"
SEVERAL = "Search the notes and compare prices"
"""A title that a lint speaks against: the split may be at fault."""


@st.composite
def plans(draw: st.DrawFn, *, min_nodes: int = 1, max_nodes: int = 6) -> Plan:
    """A DAG over the first letters, with required and optional feeds, optional sub-tasks and doubtful splits."""
    names = NODES[: draw(st.integers(min_nodes, max_nodes))]
    edges = []
    for later in range(1, len(names)):
        for earlier in range(later):
            feed = draw(st.sampled_from(["", "", ">", ">", "~"]))
            if feed:
                edges.append(f"{names[earlier]}{feed}{names[later]}")
    optional = [name for name in names if draw(st.integers(0, 4)) == 0]
    changes = {}
    for name in names:
        if draw(st.integers(0, 4)) == 0:
            changes[name] = replace(subtask(name, optional=name in optional), title=SEVERAL)
    return plan(" ".join(edges), lone=" ".join(names), optional=" ".join(optional), **changes)


def proposals(plans: st.SearchStrategy[Plan]) -> st.SearchStrategy[Proposal]:
    envelopes = st.builds(
        Envelope,
        ceilings=st.sampled_from([{}, {}, {A1: {CONTRACTS: 35}}, {A1: {CONTRACTS: 60}}, {A1: {MEDICINE: 0}}]),
        reassign=st.sampled_from([True, True, True, False]),
    )
    contracts = st.sampled_from([16, 16, 3, 2, 1]).map(
        lambda most: replace(CONTRACT, limits=Limits(max_attempts_per_node=most))
    )
    return st.builds(
        lambda work, roster, envelope, thresholds, contract: proposal(
            work, roster=roster, envelope=envelope, thresholds=thresholds, contract=contract
        ),
        plans,
        st.sampled_from([ROSTER, EMBEDDED, SOLO]),
        envelopes,
        st.sampled_from([Thresholds(), Thresholds(main=75, background=70)]),
        contracts,
    )


transient = st.sampled_from(
    [
        fails(failure("timeout")),
        fails(failure("rate_limited", retry_after_s=7.5)),
        fails(failure("unavailable")),
    ]
)

_blamed = st.sampled_from([None, None, *NODES, "nobody"])
_domains = st.sampled_from([None, DATABASES, CONTRACTS, MEDICINE, FORBIDDEN])

failing: st.SearchStrategy[Outcome] = st.one_of(
    transient,
    st.builds(lambda blamed: rejected(failure("structure", blamed=blamed)), _blamed),
    st.builds(lambda blamed: fails(failure("bad_request", blamed=blamed)), _blamed),
    st.builds(
        lambda domain, tainted: fails(failure("domain_closed", domain=domain, tainted=tainted)),
        _domains,
        st.booleans(),
    ),
    st.builds(lambda domain: rejected(failure("spontaneous_leak", domain=domain)), _domains),
    st.just(fails(failure("tool_missing"))),
    st.builds(
        lambda cause, blamed, domain: rejected(
            failure("falsified", cause=cause, blamed=blamed, domain=domain)
        ),
        st.sampled_from([None, *RootCause]),
        _blamed,
        _domains,
    ),
    st.just(rejected(failure("not_verified"))),
    st.sampled_from([Outcome(holds=1), Outcome(holds=2)]),
    st.just(Outcome(failure=failure("structure"), with_output=True, holds=1)),
    st.just(Outcome(failure=failure("timeout"), holds=2)),
    st.just(fails(failure("limit"))),
    st.just(fails(failure("internal"))),
)
accepted: st.SearchStrategy[Outcome] = st.sampled_from([OK, Outcome(variant="other")])

Scripts = Mapping[str, list[Outcome]]


def scripts(outcomes: st.SearchStrategy[Outcome], *, max_size: int = 5) -> st.SearchStrategy[Scripts]:
    return st.dictionaries(st.sampled_from(NODES), st.lists(outcomes, max_size=max_size), max_size=len(NODES))


answers: st.SearchStrategy[Answer] = st.one_of(
    st.sampled_from(
        [
            Answer(choice="retry"),
            Answer(choice="retry", guidance="Use the newer file."),
            Answer(choice="accept"),
            Answer(choice="abandon"),
            Answer(choice="review"),
        ]
    ),
    st.sampled_from(
        [Answer(choice="approve"), Answer(choice="approve"), Answer(choice="refuse", guidance="Not now.")]
    ),
    st.builds(lambda agent: Answer(choice="reassign", agent=agent), st.just(A1)),
    st.builds(
        lambda domain, value: Answer(choice="set_mask", agent=A1, domain=domain, value=value),
        st.sampled_from([CONTRACTS, MEDICINE]),
        st.integers(-100, 100),
    ),
)


def _with_other_title(draft: Proposal) -> Proposal:
    first, *rest = draft.plan.subtasks
    changed = replace(first, title=f"{first.title}, again")
    return replace(draft, revision=draft.revision + 1, plan=replace(draft.plan, subtasks=(changed, *rest)))


def _next(draft: Proposal) -> Proposal:
    return replace(draft, revision=draft.revision + 1)


amendments: st.SearchStrategy[Callable[[Proposal], Proposal | None]] = st.sampled_from(
    [_next, _with_other_title, lambda _: None]
)
