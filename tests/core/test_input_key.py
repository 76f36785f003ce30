"""Equal keys mean equal work (semantics 6): what counts for a sub-task's key, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.evidence import LineSpan, Source, claim_of, quote, source_id
from agents.results import OpenQuestion, WorkOutput
from agents.spec import AgentId, ModelPolicy
from graphs.plan import Dependency
from masks.bands import Thresholds
from masks.gradient import set_leaf
from orchestrator.core.ids import ArtefactId, ContentDigest, RegionId
from orchestrator.core.input_key import WORK_OUTPUT, content_digest_of, input_key
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import NodeState, RunState
from tests.core.builders import A1, A2, DATABASES, MEDICINE, ROSTER, n, plan, proposal, subtask
from tests.core.simulation import Simulation

WORK = plan("a>c b~c", c=replace(subtask("c"), acceptance=("c1",)))
DRAFT = proposal(WORK)


def state_of(draft: Proposal = DRAFT) -> RunState:
    simulation = Simulation(draft)
    simulation.run()
    return simulation.state


STATE = state_of()
KEY = input_key(STATE, n("c"))


def with_node(node: NodeState) -> RunState:
    return replace(STATE, nodes=STATE.nodes.insert(node.id, node))


def with_content(name: str, content: str) -> RunState:
    node = STATE.node(n(name))
    assert node.accepted is not None
    return with_node(replace(node, accepted=replace(node.accepted, content=ContentDigest(content))))


NODE = STATE.node(n("c"))
SPEC = ROSTER.agents[0]

DIFFERENT: dict[str, RunState] = {
    "an input": with_content("a", "other"),
    "an optional input": with_content("b", "other"),
    "an input that was given up": with_node(replace(STATE.node(n("b")), status="skipped")),
    "a parameter": with_node(replace(NODE, params=NODE.params.insert("exclude_evidence", ["e-1"]))),
    "a guard": with_node(replace(NODE, guards=("mind the year",))),
    "the path it starts on": with_node(replace(NODE, start_path=2)),
    "the agent": replace(STATE, assigned=STATE.assigned.insert(n("c"), A2)),
    "the mask": replace(
        STATE,
        agents=STATE.agents.insert(
            A1, replace(SPEC, mask=set_leaf(SPEC.mask, MEDICINE, 1, author="x", reason="y"))
        ),
    ),
    "the model": replace(
        STATE,
        agents=STATE.agents.insert(A1, replace(SPEC, model_policy=ModelPolicy(kind="model", model="p:m"))),
    ),
    "the server of the model": replace(
        STATE,
        agents=STATE.agents.insert(
            A1, replace(SPEC, model_policy=replace(SPEC.model_policy, base_url="http://127.0.0.1:8091/v1"))
        ),
    ),
    "a tool": replace(STATE, agents=STATE.agents.insert(A1, replace(SPEC, tools=("search",)))),
    "a granted tool": state_of(replace(DRAFT, grants={A1: ("calculator",)})),
    "a threshold": state_of(replace(DRAFT, thresholds=Thresholds(main=71, background=30))),
    "what it has to satisfy": state_of(
        replace(
            DRAFT,
            contract=replace(
                DRAFT.contract, acceptance=(replace(DRAFT.contract.acceptance[0], question="Why not?"),)
            ),
        )
    ),
    "the sub-task": state_of(
        proposal(plan("a>c b~c", c=replace(subtask("c"), acceptance=("c1",), instruction="Briefly.")))
    ),
    "which port an input goes to": state_of(
        proposal(
            replace(
                WORK,
                dependencies=(
                    WORK.dependencies[0],
                    Dependency(source=n("b"), target=n("c"), output="claims", input="from_a"),
                ),
            )
        )
    ),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_what_counts(what: str) -> None:
    assert input_key(DIFFERENT[what], n("c")) != KEY


def test_all_of_these_differ_from_each_other() -> None:
    assert len({input_key(state, n("c")) for state in DIFFERENT.values()}) == len(DIFFERENT)


SAME: dict[str, RunState] = {
    "its history": with_node(
        replace(NODE, generation=7, attempt=3, depth=2, region=RegionId("a"), retries=2)
    ),
    "other sub-tasks": state_of(proposal(replace(plan("a>c b~c x>y", c=WORK.subtasks[1])))),
    "where an input is kept": with_node(
        replace(
            STATE.node(n("a")),
            accepted=replace(STATE.node(n("a")).accepted, output=ArtefactId("moved")),  # type: ignore[type-var]
        )
    ),
    "how an agent came to its mask": replace(
        STATE,
        agents=STATE.agents.insert(
            A1,
            replace(
                SPEC,
                mask=set_leaf(
                    set_leaf(SPEC.mask, DATABASES, 1, author="x", reason="y"),
                    DATABASES,
                    90,
                    author="x",
                    reason="z",
                ),
            ),
        ),
    ),
    "how many attempts an agent may run": replace(
        STATE, agents=STATE.agents.insert(A1, replace(SPEC, max_concurrency=9))
    ),
    "other agents": replace(
        STATE, agents=STATE.agents.insert(AgentId("A9"), replace(SPEC, id=AgentId("A9")))
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_what_does_not_count(what: str) -> None:
    assert input_key(SAME[what], n("c")) == KEY


def digest(output: WorkOutput) -> ContentDigest:
    return content_digest_of(WORK_OUTPUT.dump_python(output, mode="json"))


def test_the_content_of_an_output_is_what_it_says_not_when_it_was_read() -> None:
    identifier = source_id("notes/x.md", "d")
    source = Source(
        id=identifier, uri="notes/x.md", title="X", digest="d", retrieved_at="2026-01-01T00:00:00Z"
    )
    span = LineSpan(source=identifier, start_line=1, end_line=1, start_char=0, end_char=4)
    evidence = quote(identifier, span, "text")
    claim = claim_of("a", "text", (evidence.id,), core=True)
    output = WorkOutput(text="text", claims=(claim,), evidence=(evidence,), sources=(source,))
    later = replace(output, sources=(replace(source, retrieved_at="2027-01-01T00:00:00Z"),))
    assert digest(output) == digest(later)
    others = [
        replace(output, text="other"),
        replace(output, sources=(replace(source, digest="e"),)),
        replace(output, claims=()),
        replace(output, fields={"x": "y"}),
        replace(output, open_questions=(OpenQuestion(question="?", reason="not_found", searched=()),)),
    ]
    assert len({digest(item) for item in (output, *others)}) == 1 + len(others)
