"""Proposals that pass the checks, with whatever text people and planners may write into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st
from pydantic import JsonValue

from agents.operations import SEARCH_TOOLS, VERIFY, field_name
from agents.roster import Roster
from agents.spec import AgentId, AgentSpec, ModelPolicy
from graphs.contract import Ambiguity, Criterion, Goal, Intent, Limits, PortSpec, TaskContract
from graphs.plan import Dependency, NodeId, Plan, SubTask, structural_boundary
from masks.bands import Thresholds
from masks.design import MaskOrigin, MaskOriginKind
from masks.domains import DomainId, default_registry
from masks.gradient import set_leaf
from masks.vector import Mask, new_mask
from orchestrator.core.proposal import Candidate, Envelope, Proposal

T = TypeVar("T")

REGISTRY = default_registry()
LEAVES = REGISTRY.leaves[:8]

TRICKY = (
    "plain words",
    "",
    " ",
    "no",
    "null",
    "True",
    "~",
    "1",
    "0.50",
    "1e3",
    "2026-01-31",
    "a: b",
    "# not a comment",
    "- item",
    "x -> y",
    "a.b",
    "{{ports}}",
    "“引号”，与：冒号",
    "两行\n文字",
    "first\n\n  indented\nlast",
    " leading\nspace",
    "trailing \nspace ",
    "ends with newline\n",
    "tab\tand\rcarriage",
    "back\\slash \"quote\" 'single'",
    "\u0000\u0007\u007f\u0085\u2028\ufeff\U0001f600",
    "&anchor *alias !tag %directive @at `tick`",
    "---\n...\n",
    "!!python/object:os.system",
)
# No surrogates: they are not text, and JSON in UTF-8 has no form for them.
texts = st.sampled_from(TRICKY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
spoken = texts.filter(str.strip)
"""Text where the checks ask for some."""
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
IDS = ("n1", "no", "null", "N-2_b", "true", "e5", "y")
AGENTS = ("A1", "off", "Null")
hundredths = st.integers(-100, 100)


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    """A proposal without errors; everything in it is drawn."""
    contract = draw(contracts())
    plan = draw(plans(contract.acceptance))
    contract = replace(contract, outputs=(PortSpec(name=plan.subtasks[-1].outputs[0].name, type="json"),))
    thresholds = draw(pairs())
    names = [AgentId(name) for name in AGENTS[: draw(st.integers(1, 3))]]
    agents = [draw(generating(name)) for name in names]
    agents.append(replace(draw(generating(AgentId("V1"))), role="verify", operations=(VERIFY,)))
    everyone = [agent.id for agent in agents]
    some = st.lists(st.sampled_from(everyone), unique=True, max_size=2)
    return Proposal(
        revision=draw(st.integers(1, 9)),
        goal=Goal(text=draw(texts), lang=draw(st.sampled_from(["en", "zh"])), sources=draw(several(texts))),
        intent=draw(intents()),
        contract=contract,
        plan=plan,
        roster=Roster(agents=tuple(agents)),
        assignment={subtask.id: draw(st.sampled_from(names)) for subtask in plan.subtasks},
        thresholds=thresholds,
        agent_thresholds={agent: draw(pairs()) for agent in draw(some)},
        grants={agent: (*SEARCH_TOOLS, *draw(several(texts))) for agent in everyone},
        envelope=Envelope(
            ceilings={agent: draw(domain_values()) for agent in draw(some)},
            reassign=draw(st.booleans()),
            resplit_factor=draw(st.integers(1, 9)),
        ),
        mask_origins={
            agent: {
                domain: MaskOrigin(kind=draw(st.sampled_from(MaskOriginKind)))
                for domain in draw(st.lists(st.sampled_from(LEAVES), unique=True, max_size=3))
            }
            for agent in draw(some)
        },
        candidates={
            subtask.id: (Candidate(agent=names[0], fit=0.5, reasons=draw(several(texts))),)
            for subtask in plan.subtasks[:1]
        },
        notes=draw(several(texts)),
    )


THING = "thing"


def in_thing(aspect: str) -> str:
    """The name of a field of the one thing that generated plans look into."""
    return field_name(THING, aspect)


def asking(criteria: Sequence[Criterion]) -> dict[str, JsonValue]:
    """The parameters of a sub-task that asks what the criteria want."""
    fields = [c.field.removeprefix(in_thing("")) for c in criteria if c.kind == "field_filled" and c.field]
    return {"questions": [c.question for c in criteria if c.question], "item": THING, "fields": list(fields)}


@st.composite
def contracts(draw: st.DrawFn) -> TaskContract:
    criteria = []
    for name in draw(st.lists(texts, min_size=1, max_size=3, unique=True)):
        kind = draw(st.sampled_from(["custom", "question_answered", "field_filled", "claims_cited"]))
        criteria.append(
            Criterion(
                id=name,
                text=draw(texts),
                kind=kind,  # type: ignore[arg-type]  # one of the literals above
                core=draw(st.booleans()),
                question=draw(spoken if kind == "question_answered" else st.none() | texts),
                field=draw(spoken.map(in_thing) if kind == "field_filled" else st.none() | texts),
            )
        )
    return TaskContract(
        kind=draw(texts),
        acceptance=tuple(criteria),
        limits=Limits(
            max_actions=draw(st.integers(9, 10**9)),
            deadline_s=draw(st.floats(0.001, 1e9)),
            max_tool_calls=draw(st.integers(0, 99)),
        ),
        forbidden=draw(several(texts)),
        approval_required=draw(several(texts)),
        allow_unresolved=draw(st.booleans()),
        delta_max=draw(st.floats(0, 1)),
    )


@st.composite
def plans(draw: st.DrawFn, acceptance: Sequence[Criterion]) -> Plan:
    criteria = [criterion.id for criterion in acceptance]
    names = [NodeId(name) for name in draw(st.permutations(IDS))[: draw(st.integers(1, 4))]]
    out = {name: draw(texts) for name in names}
    taken = {name: draw(texts) for name in names}
    edges = tuple(
        Dependency(source=source, target=target, output=out[source], input=taken[target])
        for place, target in enumerate(names)
        for source in names[:place]
        if draw(st.booleans())
    )
    sources, targets = {edge.source for edge in edges}, {edge.target for edge in edges}
    subtasks = []
    for place, name in enumerate(names):
        searching = draw(st.booleans())
        subtasks.append(
            SubTask(
                id=name,
                title=draw(texts),
                kind="loop" if searching else "function",
                operation="research" if searching else "compare",
                boundary=structural_boundary(
                    has_predecessors=name in targets, has_successors=name in sources
                ),
                instruction=draw(texts),
                params={
                    **draw(st.dictionaries(texts, json_values, max_size=3)),
                    **(asking(acceptance) if place == 0 else {}),
                },
                inputs=(PortSpec(name=taken[name], type="json", description=draw(texts), required=False),),
                outputs=(PortSpec(name=out[name], type="claims", description=draw(texts)),),
                acceptance=tuple(criteria) if place == 0 else draw(several(st.sampled_from(criteria))),
                required_domains={
                    domain: draw(st.floats(0.01, 1))
                    for domain in draw(st.lists(st.sampled_from(LEAVES), unique=True, max_size=3))
                },
                side_effects=draw(st.sampled_from(["none", "read", "external"])),
                failure_semantics=draw(st.sampled_from(["required", "optional"])),
                estimate=draw(st.floats(0.01, 1e6)),
            )
        )
    return Plan(subtasks=tuple(subtasks), dependencies=edges)


@st.composite
def generating(draw: st.DrawFn, name: AgentId) -> AgentSpec:
    policy = ModelPolicy(kind="scripted")
    if draw(st.booleans()):
        address = draw(st.sampled_from((None, "http://127.0.0.1:8091/v1", "https://模型.example/v1")))
        policy = ModelPolicy(kind="model", model=draw(texts.filter(bool)), base_url=address)
    return AgentSpec(
        id=name,
        responsibility=draw(texts),
        role="generate",
        operations=("research", "compare", *draw(several(texts.filter(lambda text: text != VERIFY)))),
        mask=draw(masks(name)),
        inputs=draw(several(st.builds(PortSpec, name=texts, type=st.just("table"), required=st.booleans()))),
        tools=SEARCH_TOOLS,
        model_policy=policy,
        max_concurrency=draw(st.integers(1, 99)),
    )


@st.composite
def masks(draw: st.DrawFn, name: AgentId) -> Mask:
    """A mask with a history."""
    mask = new_mask(name, draw(domain_values()))
    for leaf, m100 in draw(domain_values()).items():
        mask = set_leaf(mask, leaf, m100, author=draw(spoken), reason=draw(spoken))
    return mask


def domain_values() -> st.SearchStrategy[dict[DomainId, int]]:
    return st.dictionaries(st.sampled_from(LEAVES), hundredths, max_size=3)


def pairs() -> st.SearchStrategy[Thresholds]:
    return (
        st.tuples(st.integers(0, 99), st.integers(0, 99))
        .filter(lambda pair: pair[0] != pair[1])
        .map(lambda pair: Thresholds(main=max(pair), background=min(pair)))
    )


def intents() -> st.SearchStrategy[Intent]:
    open_points = st.builds(Ambiguity, id=texts, question=texts, options=several(texts), assumed=texts)
    return st.builds(
        Intent,
        objective=texts,
        constraints=several(texts),
        assumptions=several(texts),
        ambiguities=several(open_points),
    )


def several(members: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(members, max_size=2).map(tuple)
