"""What has to hold after every event of every run, written without the code under test. Watchers of simulations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never

import networkx as nx

from graphs.contract import MAX_REPAIR_DEPTH
from graphs.plan import NodeId, Plan
from orchestrator.core.backtrack import (
    BacktrackPlan,
    ChangeAgent,
    CorrectParameters,
    ExtendMask,
    InjectGuard,
    SetMask,
)
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
from orchestrator.core.decide import recover
from orchestrator.core.events import (
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    Event,
    ExecutorTookOver,
    NodeAcceptedAsIs,
    NodeReused,
    ProposalApproved,
    RequestAnswered,
)
from orchestrator.core.state import Counts, NodeState, RunState
from tests.core.simulation import content_of, current_content

Name = tuple[str | int, ...]
"""What an open command stands for, whatever its details."""


def graph_of(work: Plan) -> nx.DiGraph[NodeId]:
    graph: nx.DiGraph[NodeId] = nx.DiGraph()
    graph.add_nodes_from(task.id for task in work.subtasks)
    graph.add_edges_from((edge.source, edge.target) for edge in work.dependencies)
    return graph


def check_counts(_: RunState, __: Event, ___: tuple[Command, ...], state: RunState) -> None:
    """Counts, waiting numbers and open requests are what a look at every node says."""
    if state.index is None or state.proposal is None or state.status == "reviewing":
        return
    nodes = dict(state.nodes.items())
    as_is = {
        name
        for name, node in nodes.items()
        if node.status == "accepted" and node.accepted is not None and node.accepted.as_is
    }
    accepted = {name for name, node in nodes.items() if node.status == "accepted"}
    assert set(state.taken_as_is) & accepted == as_is
    found = Counter(node.status for node in nodes.values())
    ready = sum(node.status == "pending" and node.waiting == 0 for node in nodes.values())
    assert state.counts == Counts(
        accepted=found["accepted"],
        skipped=found["skipped"],
        active=found["running"] + found["verifying"],
        ready=ready,
        blocked=found["blocked"],
        suspended=found["suspended"],
    )
    graph = graph_of(state.proposal.plan)
    for name, node in nodes.items():
        undone = [p for p in graph.predecessors(name) if nodes[p].status not in ("accepted", "skipped")]
        assert node.waiting == len(undone), name
        if node.status in ("running", "verifying", "accepted", "blocked", "suspended"):
            assert not undone, f"{name} went ahead of {undone}"
        assert (node.request is not None) == (node.status == "suspended")
    suspended = {node.request for node in nodes.values() if node.status == "suspended"}
    assert set(state.requests.keys()) == suspended


def open_commands(state: RunState) -> dict[Name, Command]:
    """The commands that a restart would issue now, by name; attempts that run are only gone on with."""
    commands = recover(state)
    resumed = {c.node for c in commands if isinstance(c, StartAttempt) and c.resumed}
    if commands and not state.cancelling:
        assert resumed == {
            name
            for name, node in state.nodes.items()
            if node.status in ("running", "verifying") or let_go_on(node)
        }
    fresh = [
        c
        for c in commands
        if not (isinstance(c, StartAttempt) and c.resumed and state.node(c.node).status != "blocked")
    ]
    named = {name_of(state, command): command for command in fresh}
    assert len(named) == len(fresh), "a restart issues a command twice"
    return named


def name_of(state: RunState, command: Command) -> Name:
    match command:
        case StartAttempt(resumed=True):
            return _repair_of(state.node(command.node))
        case StartAttempt() | ReuseOutput():
            return ("start", command.node, command.generation, state.node(command.node).attempt + 1)
        case RecordBlockage():
            return ("classify", command.node, command.generation, command.attempt)
        case Backtrack(plan=plan):
            return _repair_of(state.node(plan.node))
        case AskPerson(request=request):
            return _repair_of(state.node(request.node))
        case RetryAttempt() | AcceptAsIs() | ReopenReview():
            return _repair_of(state.node(command.node))
        case SkipNodes(nodes=nodes):
            blocked = [name for name in nodes if state.node(name).status == "blocked"]
            assert len(blocked) == 1
            return _repair_of(state.node(blocked[0]))
        case SuspendRun() | Deliver() | EndCancelled() | CancelAll():
            return (type(command).__name__,)
        case CancelAttempts():
            raise AssertionError("cancellations are no open commands")
        case _:
            assert_never(command)


def let_go_on(node: NodeState) -> bool:
    """Whether a person said a word on the call that the node's attempt rests for."""
    return node.status == "blocked" and node.answer is not None and node.answer.choice in ABOUT_A_CALL


ABOUT_A_CALL = ("approve", "refuse", "happened", "repeat")


def _repair_of(node: NodeState) -> Name:
    return ("repair", node.id, node.generation, node.attempt)


@dataclass
class NothingLostNothingDoubled:
    """What `decide` issues is exactly what an event adds to what a restart would issue."""

    open: dict[Name, Command] = field(default_factory=dict)
    ends: int = 0

    def __call__(self, _: RunState, event: Event, commands: tuple[Command, ...], state: RunState) -> None:
        after = open_commands(state)
        before, self.open = self.open, after
        if isinstance(event.body, ExecutorTookOver):
            assert not commands, "whoever takes over asks `recover`, and nothing else"
            return
        issued = [c for c in commands if not isinstance(c, CancelAttempts)]
        if state.cancelling:
            self._check_end(issued, state)
            return
        assert sorted(map(str, (name_of(state, c) for c in issued))) == sorted(
            map(str, after.keys() - before.keys())
        )
        for command in issued:
            assert after[name_of(state, command)] == command
        for name in after.keys() & before.keys():
            # A start waits for a slot for as long as it takes: what it is about must not change meanwhile.
            assert name[0] != "start" or after[name] == before[name]

    def _check_end(self, issued: Iterable[Command], state: RunState) -> None:
        ends = [command for command in issued if isinstance(command, EndCancelled)]
        self.ends += len(ends)
        assert self.ends <= 1
        assert not any(isinstance(c, StartAttempt | ReuseOutput | Backtrack | AskPerson) for c in issued)
        if ends:
            assert state.counts.active == 0


def check_scope(before: RunState, event: Event, _: tuple[Command, ...], state: RunState) -> None:
    """A backtrack starts exactly its scope over; nothing else is touched."""
    if not isinstance(event.body, Backtracked):
        return
    plan = event.body.plan
    assert state.proposal is not None
    graph = graph_of(state.proposal.plan)
    root = plan.repair.node
    assert set(plan.invalidated) == {root} | nx.descendants(graph, root)
    assert plan.node in plan.invalidated
    places = {name: place for place, name in enumerate(plan.invalidated)}
    assert all(places[a] < places[b] for a, b in graph.subgraph(plan.invalidated).edges)
    for name in before.nodes:
        now, then = state.node(name), before.node(name)
        if name not in plan.invalidated:
            assert now == then, f"{name} is outside of the scope"
            assert state.assigned[name] == before.assigned[name]
        elif then.status == "skipped" and now.status == "skipped":
            assert replace(now, waiting=then.waiting) == then
        else:
            assert now.status == "pending"
            fresh = then.status == "pending" and then.attempt == 0 and then.waiting > 0
            assert now.generation == then.generation + (not fresh)
            assert now.attempt == (0 if not fresh else then.attempt)
            assert fresh or now.depth == plan.depth > then.depth


def check_bounds(before: RunState, event: Event, _: tuple[Command, ...], state: RunState) -> None:
    """Repairs of the controller stay within the depth and the envelope (semantics 5 and 6)."""
    if isinstance(event.body, Backtracked) and event.body.plan.by == "controller":
        plan = event.body.plan
        assert 1 <= plan.depth <= MAX_REPAIR_DEPTH + before.node(plan.node).granted
        _check_envelope(before, plan)
        kinds = state.node(plan.node).repairs
        if state.node(plan.node).granted == 0:
            assert max(Counter(kinds).values()) == 1, "each rung once"


@dataclass
class AttemptsAreBounded:
    """No sub-task gets more attempts than its contract allows, and one more per answer to a request of its own."""

    made: Counter[NodeId] = field(default_factory=Counter)
    answered: Counter[NodeId] = field(default_factory=Counter)

    def __call__(self, before: RunState, event: Event, _: tuple[Command, ...], __: RunState) -> None:
        body = event.body
        if isinstance(body, ProposalApproved):
            self.made.clear()
            self.answered.clear()
        if isinstance(body, RequestAnswered) and body.answer.choice not in ABOUT_A_CALL:
            self.answered[body.node] += 1
        if isinstance(body, AttemptStarted) and before.node(body.node).status == "pending":
            assert before.proposal is not None
            self.made[body.node] += 1
            most = before.proposal.contract.limits.max_attempts_per_node
            assert self.made[body.node] <= most + self.answered[body.node]


def _check_envelope(state: RunState, plan: BacktrackPlan) -> None:
    proposal, fix = state.proposal, plan.repair
    assert proposal is not None
    agent = state.agents[state.assigned[fix.node]]
    roster = {spec.id: spec for spec in proposal.roster.agents}
    task = next(t for t in proposal.plan.subtasks if t.id == fix.node)
    base = agent.id.split("+")[0]
    match fix:
        case ExtendMask():
            own = {str(name): bounds for name, bounds in proposal.agent_thresholds.items()}
            bounds = own.get(base, proposal.thresholds)
            ceilings = {str(name): values for name, values in proposal.envelope.ceilings.items()}
            ceiling = ceilings.get(base, {}).get(fix.domain, min(bounds.background + 10, bounds.main))
            assert bounds.background < fix.new <= min(ceiling, bounds.main)
            assert -100 < fix.old <= bounds.background
            assert fix.domain in task.required_domains
            assert proposal.envelope.reassign
            values = dict(agent.mask.values)
            assert dict(fix.successor.mask.values) == {**values, fix.domain: fix.new}
            assert replace(fix.successor, id=agent.id, mask=agent.mask) == agent
            assert fix.successor.id.startswith(f"{base}+")
            assert (plan.start_path, plan.forced_level) == (2, "L2")
        case ChangeAgent():
            new = roster[fix.new]
            assert proposal.envelope.reassign
            assert new.role == "generate"
            assert task.operation in new.operations
            assert fix.new != base
        case CorrectParameters() | InjectGuard():
            pass
        case SetMask():
            raise AssertionError("only a person sets a mask value")
        case _:
            assert_never(fix)


@dataclass
class NoNeedlessWork:
    """A sub-task runs exactly when what it would be made from differs from what its last accepted output was."""

    started: dict[NodeId, object] = field(default_factory=dict)
    rejected: dict[NodeId, object] = field(default_factory=dict)
    accepted: dict[NodeId, object] = field(default_factory=dict)
    reused: int = 0

    def __call__(self, before: RunState, event: Event, _: tuple[Command, ...], __: RunState) -> None:
        body = event.body
        match body:
            case AttemptStarted() if before.node(body.node).status == "pending":
                made_from = self._made_from(before, body.node)
                assert self.accepted.get(body.node) != made_from, f"{body.node} is valid and runs again"
                self.started[body.node] = made_from
            case NodeReused():
                self.reused += 1
                assert self.accepted[body.node] == self._made_from(before, body.node)
            case AttemptVerified():
                self.accepted[body.node] = self.started[body.node]
            case AttemptRejected():
                self.rejected[body.node] = self.started[body.node]
            case NodeAcceptedAsIs():
                self.accepted[body.node] = self.rejected[body.node]
            case _:
                pass

    @staticmethod
    def _made_from(state: RunState, name: NodeId) -> object:
        assert state.proposal is not None
        node = state.node(name)
        agent = state.agents[state.assigned[name]]
        work = state.proposal.plan
        return (
            next(repr(task) for task in work.subtasks if task.id == name),
            sorted((key, repr(value)) for key, value in node.params.items()),
            node.guards,
            node.start_path,
            (agent.id, agent.mask.values, agent.tools, agent.model_policy, agent.responsibility),
            sorted(
                (edge.source, edge.output, edge.input, str(current_content(state, edge.source)))
                for edge in work.dependencies
                if edge.target == name
            ),
        )


def check_agents(_: RunState, event: Event, __: tuple[Command, ...], state: RunState) -> None:
    """Whoever works is an approved agent or a successor of one."""
    if not isinstance(event.body, Backtracked | ProposalApproved):
        return
    assert state.proposal is not None
    roster = {str(agent.id) for agent in state.proposal.roster.agents}
    for name in state.nodes:
        agent = state.agents[state.assigned[name]]
        assert agent.id == state.assigned[name]
        assert agent.id.split("+")[0] in roster


def check_contents(state: RunState) -> None:
    """Every accepted output was made from what its inputs are now: nothing stale is left."""
    assert state.proposal is not None
    graph = graph_of(state.proposal.plan)
    for name, node in state.nodes.items():
        if node.status == "accepted":
            inputs = [current_content(state, p) for p in graph.predecessors(name)]
            assert node.accepted is not None
            assert node.accepted.content in {
                content_of(name, inputs, variant) for variant in ("", "other")
            }, f"{name} is stale"
