"""What follows from which event, and what does not (semantics 5 to 7); whole runs are in `test_recovery`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphs.plan import Plan
from orchestrator.core.claims import RootCause
from orchestrator.core.commands import (
    AskPerson,
    Backtrack,
    CancelAll,
    CancelAttempts,
    Command,
    Deliver,
    EndCancelled,
    RecordBlockage,
    ReuseOutput,
    StartAttempt,
    SuspendRun,
)
from orchestrator.core.decide import decide, recover, still_open
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptStarted,
    Body,
    CancelRequested,
    Event,
    ExecutorTookOver,
    NodeReused,
    NodesSkipped,
    RequestAnswered,
    RequestOpened,
    ReviewReopened,
    RunContinued,
    RunEnded,
    RunPaused,
    RunSuspended,
)
from orchestrator.core.ids import RunId
from orchestrator.core.input_key import input_key
from orchestrator.core.proposal import Proposal
from orchestrator.core.reducer import apply, initial
from orchestrator.core.requests import Answer
from orchestrator.core.state import RunState
from tests.core.builders import A2, CONTRACTS, failure, n, plan, proposal, subtask
from tests.core.simulation import OK, Outcome, Simulation, fails, rejected


class Play:
    """A run that is moved by hand: nothing is carried out unless the test says so."""

    def __init__(self, work: Plan) -> None:
        self._run = Simulation(proposal(work))
        self._run.agenda.clear()
        self._last: tuple[Command, ...] = ()
        self._run.watchers = [self._watch]

    def _watch(self, _: RunState, __: Event, commands: tuple[Command, ...], ___: RunState) -> None:
        self._last = commands

    @property
    def state(self) -> RunState:
        return self._run.state

    def record(self, body: Body) -> tuple[Command, ...]:
        self._run.record(body)
        return self._last

    def start(self, node: str) -> tuple[Command, ...]:
        now = self.state.node(n(node))
        return self.record(
            AttemptStarted(
                node=n(node),
                generation=now.generation,
                attempt=now.attempt + 1,
                epoch=1,
                agent=self.state.assigned[n(node)],
                input_key=input_key(self.state, n(node)),
            )
        )

    def end(self, node: str, outcome: Outcome = OK) -> tuple[Command, ...]:
        now = self.state.node(n(node))
        self._run.record_outcome((now.id, now.generation, now.attempt), outcome)
        return self._last

    def run(self, *nodes: str) -> tuple[Command, ...]:
        for node in nodes:
            self.start(node)
            self.end(node)
        return self._last

    def perform(self, command: Command) -> tuple[Command, ...]:
        self._last = ()
        self._run.perform(command)
        return self._last


def started(commands: tuple[Command, ...]) -> list[str]:
    return [c.node for c in commands if isinstance(c, StartAttempt)]


class TestFlow:
    def test_nothing_is_decided_before_an_executor_took_over(self) -> None:
        simulation = Simulation(proposal(plan("a>b")))
        state = initial(RunId("r-test"))
        for event in simulation.log[:-1]:
            state = apply(state, event)
            assert decide(state, event) == ()
            assert recover(state) == ()
        assert state.status == "confirmed"

    def test_a_new_executor_asks_for_what_is_open(self) -> None:
        play = Play(plan("a>c b>c"))
        assert play.record(ExecutorTookOver(epoch=2, holder="p")) == ()
        assert started(recover(play.state)) == ["a", "b"]

    def test_accepting_starts_whom_it_was_the_last_to_hold_up(self) -> None:
        play = Play(plan("a>c b>c b>d"))
        assert play.start("a") == play.start("b") == ()
        assert play.end("a") == ()
        commands = play.end("b")
        assert started(commands) == ["c", "d"]
        start = commands[0]
        assert isinstance(start, StartAttempt)
        assert (start.generation, start.attempt, start.delay_s, start.resumed) == (1, 1, 0.0, False)
        assert start.input_key == input_key(play.state, n("c"))

    def test_the_last_acceptance_delivers(self) -> None:
        play = Play(plan("a>b"))
        play.run("a")
        assert play.run("b") == (Deliver(),)
        for body in (RunPaused(by="x"), RunContinued(by="x")):
            assert play.record(body) == (), "delivered once"
        assert recover(play.state) == (Deliver(),)
        play.record(RunEnded(outcome="completed"))
        assert recover(play.state) == ()

    def test_the_last_skip_delivers(self) -> None:
        play = Play(plan("a>b"))
        nodes = NodesSkipped(nodes=(n("a"), n("b")), reason="limit", detail="")
        assert play.record(nodes) == (Deliver(),)

    def test_a_skip_starts_whom_it_was_the_last_to_hold_up(self) -> None:
        play = Play(plan("a~c b>c"))
        play.run("b")
        assert started(play.record(NodesSkipped(nodes=(n("a"),), reason="limit", detail=""))) == ["c"]

    def test_a_failure_is_classified_and_then_answered(self) -> None:
        play = Play(plan("a>b"))
        play.run("a")
        play.start("b")
        (record,) = play.end("b", fails(failure("structure")))
        assert isinstance(record, RecordBlockage)
        assert (record.node, record.generation, record.attempt, record.blockage.cls) == ("b", 1, 1, "B")
        assert recover(play.state) == (record,)
        (back,) = play.perform(record)
        assert isinstance(back, Backtrack)
        assert recover(play.state) == (back,)

    def test_a_backtrack_stops_what_runs_in_its_scope_first(self) -> None:
        play = Play(plan("a>b a>c"))
        play.run("a")
        play.start("b")
        play.start("c")
        (record,) = play.end("b", fails(failure("structure")))
        (back,) = play.perform(record)
        assert play.perform(back) == (
            CancelAttempts(node=n("a"), before=2),
            CancelAttempts(node=n("b"), before=2),
            CancelAttempts(node=n("c"), before=2),
            StartAttempt(node=n("a"), generation=2, attempt=1, input_key=input_key(play.state, n("a"))),
        )
        late = AttemptCancelled(node=n("c"), generation=1, attempt=1)
        assert play.record(late) == ()
        early = AttemptCancelled(node=n("a"), generation=1, attempt=1)
        assert play.record(early) == (), "the new start is not issued twice"

    def test_equal_inputs_are_reused_and_others_run(self) -> None:
        play = Play(plan("a>b a>c b>d c>d"))
        play.run("a", "b")
        play.start("c")
        (record,) = play.end("c", fails(failure("structure")))
        (back,) = play.perform(record)
        play.perform(back)
        play.start("a")
        commands = play.end("a")
        key = input_key(play.state, n("b"))
        assert commands[0] == ReuseOutput(node=n("b"), generation=2, input_key=key)
        assert started(commands) == ["c"]
        play.record(NodeReused(node=n("b"), generation=2, input_key=key))
        play.start("c")
        assert started(play.end("c")) == ["d"]

    def test_what_a_person_took_as_it_is_is_reused_too(self) -> None:
        falsified = rejected(failure("falsified", cause=RootCause.PROCESS))
        simulation = Simulation(
            proposal(plan("a>b a>c")),
            # b is taken as it is; then c goes back to a, whose output stays the same.
            {
                "b": [falsified, falsified],
                "c": [
                    *[fails(failure("timeout"))] * 3,
                    fails(failure("domain_closed", domain="med.general")),
                    fails(failure("structure")),
                ],
            },
            answers=[Answer(choice="accept"), Answer(choice="retry")],
        )
        simulation.run()
        assert simulation.state.status == "completed"
        assert [b.plan.invalidated for b in simulation.backtracks()][-1] == ("a", "b", "c")
        assert (simulation.started("a"), simulation.started("b")) == (2, 2)
        reused = simulation.state.node(n("b"))
        assert reused.accepted is not None
        assert (reused.accepted.as_is, reused.generation) == (True, 3)


class TestSuspension:
    def test_a_run_suspends_when_only_persons_can_move_it(self) -> None:
        play = Play(plan("a>b", lone="c"))
        play.start("a")
        play.start("c")
        (record,) = play.end("a", fails(failure("domain_closed", domain="med.general")))
        (ask,) = play.perform(record)
        assert isinstance(ask, AskPerson)
        assert play.perform(ask) == (), "c still runs"
        assert play.end("c") == (SuspendRun(),)
        assert recover(play.state) == (SuspendRun(),)
        play.record(RunSuspended(requests=(ask.request.id,)))
        assert recover(play.state) == ()
        answer = RequestAnswered(
            request=ask.request.id, node=n("a"), answer=Answer(choice="reassign", agent=A2), by="x"
        )
        (back,) = play.record(answer)
        assert isinstance(back, Backtrack)

    def test_a_waiting_sub_task_holds_up_its_descendants_only(self) -> None:
        simulation = Simulation(
            proposal(plan("a>b c>d")), {"a": [fails(failure("domain_closed", domain="med.general"))]}
        )
        simulation.run()
        assert simulation.statuses() == {"a": "suspended", "b": "pending", "c": "accepted", "d": "accepted"}
        assert simulation.state.status == "suspended"

    def test_requests_are_numbered_in_the_order_of_opening(self) -> None:
        asks = {name: [fails(failure("domain_closed", domain="med.general"))] for name in "abc"}
        simulation = Simulation(proposal(plan("", lone="a b c")), asks)
        simulation.run()
        assert sorted(simulation.state.requests) == ["r-test.q1", "r-test.q2", "r-test.q3"]
        assert {request.node for request in simulation.requests()} == {"a", "b", "c"}

    def test_an_answer_names_the_request_that_it_answers(self) -> None:
        falsified = [rejected(failure("falsified"))] * 2
        simulation = Simulation(proposal(plan("", lone="a b")), {"a": falsified, "b": falsified})
        simulation.run()
        first, second = sorted(simulation.state.requests)
        asked = simulation.state.requests[first]
        simulation.answer(asked, Answer(choice="accept"))
        simulation.step()
        taken = simulation.log[-1].body
        assert taken.type == "node.accepted_as_is"
        assert (taken.request, taken.node) == (first, asked.node)
        assert list(simulation.state.requests) == [second]


class TestCancelling:
    def test_stops_everything_and_ends_once(self) -> None:
        play = Play(plan("a>c", lone="b"))
        play.start("a")
        play.start("b")
        assert play.record(CancelRequested(by="x")) == (CancelAll(),)
        assert play.record(CancelRequested(by="y")) == ()
        assert play.end("b", fails(failure("timeout"))) == (), "a still runs"
        stale = AttemptCancelled(node=n("a"), generation=1, attempt=2)
        assert play.record(stale) == ()
        assert play.record(replace(stale, attempt=1)) == (EndCancelled(),)
        assert recover(play.state) == (EndCancelled(),)

    def test_ends_at_once_when_nothing_runs(self) -> None:
        play = Play(plan("a>b"))
        assert play.record(CancelRequested(by="x")) == (CancelAll(), EndCancelled())

    def test_nothing_starts_any_more(self) -> None:
        play = Play(plan("a>b"))
        play.start("a")
        play.record(CancelRequested(by="x"))
        assert play.end("a") == (EndCancelled(),)

    def test_a_result_that_was_never_cut_off_counts(self) -> None:
        play = Play(plan("a>b"))
        play.start("a")
        play.record(CancelRequested(by="x"))
        play.end("a")
        assert play.state.node(n("a")).status == "accepted"


class TestRestart:
    def test_goes_on_with_what_ran(self) -> None:
        play = Play(plan("a>b", lone="c"))
        play.start("a")
        key = play.state.node(n("a")).input_key
        assert key is not None
        play.record(ExecutorTookOver(epoch=2, holder="p"))
        resumed, fresh = recover(play.state)
        assert resumed == StartAttempt(node=n("a"), generation=1, attempt=1, input_key=key, resumed=True)
        assert started((fresh,)) == ["c"]

    def test_ends_a_cancelled_run(self) -> None:
        play = Play(plan("a>b"))
        play.start("a")
        play.record(CancelRequested(by="x"))
        assert recover(play.state) == (CancelAll(),)
        play.record(AttemptCancelled(node=n("a"), generation=1, attempt=1))
        assert recover(play.state) == (EndCancelled(),)

    def test_a_delay_is_kept(self) -> None:
        simulation = Simulation(
            proposal(plan("a>b")), {"a": [fails(failure("rate_limited", retry_after_s=9.0))]}
        )
        while not any(event.body.type == "retry.scheduled" for event in simulation.log):
            simulation.step()
        (start,) = recover(simulation.state)
        assert isinstance(start, StartAttempt)
        assert (start.delay_s, start.attempt) == (9.0, 2)


class TestStillOpen:
    """Commands that waited while other events were recorded."""

    def blocked(self, *nodes: str) -> tuple[Play, list[Command]]:
        """`a` fed `b` and `c`; `nodes` failed and were classified; their repairs were not made yet."""
        play = Play(plan("a>b a>c"))
        play.run("a")
        for node in nodes:
            play.start(node)
        classify = [play.end(node, fails(failure("structure")))[0] for node in nodes]
        return play, [play.perform(command)[0] for command in classify]

    def test_a_repair_of_an_invalidated_sub_task_is_obsolete(self) -> None:
        play, (first, second) = self.blocked("b", "c")
        assert still_open(play.state, first) == first
        play.perform(first)
        assert still_open(play.state, first) is None
        assert still_open(play.state, second) is None
        assert play.perform(second) == ()

    def test_a_start_of_an_older_generation_is_obsolete(self) -> None:
        play = Play(plan("a>b a>c"))
        play.start("a")
        _, start_c = play.end("a")
        assert still_open(play.state, start_c) == start_c
        play.start("b")
        (record,) = play.end("b", fails(failure("structure")))
        (back,) = play.perform(record)
        play.perform(back)
        assert still_open(play.state, start_c) is None

    def test_a_question_is_numbered_when_it_is_asked(self) -> None:
        play = Play(plan("", lone="a b"))
        asks: list[Command] = []
        for name in "ab":
            play.start(name)
            (record,) = play.end(name, fails(failure("domain_closed", domain="med.general")))
            asks += play.perform(record)
        first, second = asks
        assert isinstance(first, AskPerson)
        assert isinstance(second, AskPerson)
        assert first.request.id == second.request.id == "r-test.q1"
        play.perform(first)
        again = still_open(play.state, second)
        assert isinstance(again, AskPerson)
        assert (again.request.id, again.request.node) == ("r-test.q2", "b")

    def test_pausing_does_not_make_commands_obsolete(self) -> None:
        play = Play(plan("a>b"))
        (start,) = recover(play.state)
        play.record(RunPaused(by="x"))
        assert still_open(play.state, start) == start

    def test_a_cancelled_run_drops_everything_but_its_end(self) -> None:
        play, (first, _) = self.blocked("b", "c")
        stop = play.record(CancelRequested(by="x"))
        assert still_open(play.state, first) is None
        assert [still_open(play.state, command) for command in stop] == [CancelAll(), EndCancelled()]
        play.record(RunEnded(outcome="cancelled"))
        assert still_open(play.state, EndCancelled()) is None

    def test_a_suspension_is_obsolete_after_an_answer(self) -> None:
        play = Play(plan("a>b"))
        play.start("a")
        (record,) = play.end("a", fails(failure("domain_closed", domain="med.general")))
        (ask,) = play.perform(record)
        assert isinstance(ask, AskPerson)
        (suspend,) = play.perform(ask)
        assert still_open(play.state, suspend) == suspend
        play.record(
            RequestAnswered(request=ask.request.id, node=n("a"), answer=Answer(choice="retry"), by="x")
        )
        assert still_open(play.state, suspend) is None

    def test_a_delivery_is_obsolete_in_a_review(self) -> None:
        play = Play(plan("", lone="a"))
        (deliver,) = play.run("a")
        assert still_open(play.state, deliver) == Deliver()
        play.record(RunEnded(outcome="completed"))
        assert still_open(play.state, deliver) is None


class TestReview:
    """A person goes back to the plan; what stays as it was is not done again."""

    def amended(self, draft: Proposal) -> Proposal:
        return replace(draft, revision=draft.revision + 1)

    def test_unchanged_sub_tasks_are_reused_without_running(self) -> None:
        falsified = [rejected(failure("falsified", cause=RootCause.PROCESS))] * 2
        simulation = Simulation(
            proposal(plan("a>b b>c a>d")),
            {"b": falsified},
            answers=[Answer(choice="review")],
            amend=self.amended,
        )
        simulation.run()
        assert simulation.state.status == "completed"
        assert {name: simulation.started(name) for name in "abcd"} == {"a": 1, "b": 3, "c": 1, "d": 1}
        assert simulation.state.node(n("a")).generation == 2
        assert [r.answer.choice for e in simulation.log if isinstance(r := e.body, RequestAnswered)] == [
            "review"
        ]
        (reopened,) = [e.body for e in simulation.log if isinstance(e.body, ReviewReopened)]
        (opened,) = [e.body for e in simulation.log if isinstance(e.body, RequestOpened)]
        assert reopened.request == opened.request.id

    def test_a_repaired_sub_task_keeps_its_repair_and_its_output(self) -> None:
        simulation = Simulation(
            proposal(plan("a>b b>c")),
            {
                "b": [fails(failure("domain_closed", domain=CONTRACTS))],
                "c": [fails(failure("domain_closed", domain="med.general"))],
            },
            answers=[Answer(choice="review")],
            amend=self.amended,
        )
        simulation.run()
        assert simulation.state.status == "completed"
        assert {name: simulation.started(name) for name in "abc"} == {"a": 1, "b": 2, "c": 2}
        assert simulation.state.assigned[n("b")] == "A1+b.1"

    @pytest.mark.parametrize("what", ["sub-task", "agent", "ceiling", "criterion"])
    def test_what_the_amendment_changes_runs_again(self, what: str) -> None:
        def amend(draft: Proposal) -> Proposal:
            new = replace(draft, revision=2)
            match what:
                case "sub-task":
                    first, *rest = draft.plan.subtasks
                    changed = replace(first, params={"questions": ["Why now?"]})
                    return replace(new, plan=replace(draft.plan, subtasks=(changed, *rest)))
                case "agent":
                    return replace(new, assignment={**draft.assignment, n("a"): A2})
                case "criterion":
                    (criterion,) = draft.contract.acceptance
                    asked = replace(criterion, question="Why not?")
                    return replace(new, contract=replace(draft.contract, acceptance=(asked,)))
                case _:
                    none = replace(draft.envelope, reassign=False)
                    return replace(new, envelope=none)

        work = plan("a>b", a=replace(subtask("a"), acceptance=("c1",)))
        simulation = Simulation(
            proposal(work),
            {
                "a": [fails(failure("domain_closed", domain=CONTRACTS))],
                "b": [fails(failure("domain_closed", domain="med.general"))],
            },
            answers=[Answer(choice="review")],
            amend=amend,
        )
        simulation.run()
        assert simulation.started("a") == 3
        # The criterion's sub-task keeps the repair, as nothing of it was taken back.
        worker = {"agent": "A2", "criterion": "A1+a.1"}.get(what, "A1")
        assert simulation.state.assigned[n("a")] == worker

    def test_sub_tasks_come_and_go(self) -> None:
        simulation = Simulation(
            proposal(plan("a>b a>d")),
            {"b": [fails(failure("domain_closed", domain="med.general"))]},
            answers=[Answer(choice="review")],
            amend=lambda _: replace(proposal(plan("a>b a>e")), revision=2),
        )
        simulation.run()
        assert simulation.statuses() == {"a": "accepted", "b": "accepted", "e": "accepted"}
        assert simulation.started("a") == 1
