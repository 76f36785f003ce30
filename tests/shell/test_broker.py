"""The broker: refused before performed, paid before performed, recorded once, replayed after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from rpds import HashTrieMap

from agents.broker import BudgetExhausted
from agents.models.contract import (
    FinalAnswer,
    Message,
    ModelError,
    ModelReply,
    ModelRequest,
    ToolOffer,
    Usage,
)
from agents.models.ports import Told
from agents.spec import AgentSpec, ModelPolicy
from agents.tools.contract import ToolCall, ToolError, ToolOk, ToolResult
from agents.tools.gate import GateRules
from graphs.contract import Limits
from graphs.plan import NodeId
from orchestrator.core.events import CallCommitted, CallReturned, CallStreamed
from orchestrator.core.ids import ArtefactId, RunId
from orchestrator.core.proposal import canonical_json
from orchestrator.core.state import MODEL_CALL, call_key
from orchestrator.shell.broker import RecordingBroker
from orchestrator.shell.call_gate import CallGate
from orchestrator.shell.call_ledger import CallLedger
from orchestrator.shell.model_calls import ModelCalls, ModelSurroundings
from orchestrator.shell.ports import AttemptKey
from orchestrator.shell.result_cache import ResultCache
from orchestrator.shell.spending import Spending
from tests.core.builders import DATABASES, agent
from tests.flows.counting import COUNT, CountingTool
from tests.flows.stage import FakeClock

KEY = AttemptKey(node=NodeId("a"), generation=1, attempt=1)


@dataclass
class Rig:
    """A broker's surroundings, which outlive a restart."""

    limits: Limits = field(default_factory=Limits)
    granted: tuple[str, ...] = ("count",)
    tool: Any = field(default_factory=CountingTool)
    chat: Any = None
    clock: FakeClock = field(default_factory=FakeClock)
    events: list[CallReturned] = field(default_factory=list)
    artefacts: dict[str, Any] = field(default_factory=dict)
    spending: Spending | None = None
    cache: ResultCache = field(default_factory=ResultCache)
    commits: list[CallCommitted] | None = None
    """`None`: no tool of the test has an effect."""

    def ledger(self, **known: Any) -> CallLedger:
        """What is known as of now: of an attempt that starts, or starts again."""
        recorded: HashTrieMap[str, ArtefactId] = HashTrieMap()
        for event in self.events:
            what = MODEL_CALL if event.call == "model" else event.arguments_digest
            key = call_key(event.step, event.index, what)
            recorded = recorded.insert(key, event.result)
        return CallLedger(
            run=RunId("r-1"),
            recorded=recorded,
            load=self._load,
            keep=self._keep,
            keep_bytes=lambda content: self._keep(content.decode()),
            allow_whole=lambda _: None,
            emit=self._emit,
            commit=self._commit,
            now=self.clock.now,
            **known,
        )

    def broker(
        self, step: str = "work.1.0", who: AgentSpec | None = None, ledger: CallLedger | None = None
    ) -> RecordingBroker:
        """A broker of the attempt; made again without the `ledger` it is the one after a restart."""
        spending = self.spending or Spending(self.clock)
        return RecordingBroker(
            key=KEY,
            lang="en",
            step=step,
            agent=who or agent("A1", {DATABASES: 90}),
            gate=CallGate(GateRules(granted=frozenset(self.granted))),
            tools={self.tool.spec.name: self.tool},
            models=ModelCalls(
                chat=self.chat,
                agent=who or agent("A1", {DATABASES: 90}),
                limits=self.limits,
                spending=spending,
                surroundings=ModelSurroundings(),
            ),
            limits=self.limits,
            ledger=ledger or self.ledger(),
            spending=spending,
            cache=self.cache,
        )

    def _emit(self, body: CallReturned | CallStreamed) -> None:
        assert isinstance(body, CallReturned), "nothing streams here"
        self.events.append(body)

    async def _commit(self, body: CallCommitted) -> bool:
        assert self.commits is not None, f"{body.tool} has no effect"
        self.commits.append(body)
        return True

    async def _load(self, artefact: ArtefactId) -> Any:
        return self.artefacts[artefact]

    def _keep(self, document: Any) -> ArtefactId:
        name = ArtefactId(f"artefact {len(self.artefacts)}")
        canonical_json(document)  # it is JSON
        self.artefacts[name] = document
        return name


def counted(what: str, **changes: Any) -> ToolCall:
    return replace(ToolCall(tool="count", arguments={"what": what}), **changes)


class TestTools:
    async def test_a_call_is_performed_and_recorded_with_origin_and_taint(self) -> None:
        rig = Rig()
        result = await rig.broker().call_tool(counted("rows", origin="parametric", taint="untrusted"))
        assert isinstance(result, ToolOk)
        assert result.data == {"nth": 1}
        (event,) = rig.events
        assert (event.node, event.generation, event.attempt, event.step, event.index) == (
            "a",
            1,
            1,
            "work.1.0",
            0,
        )
        assert (event.call, event.name, event.ok, event.arguments) == (
            "tool",
            "count",
            True,
            {"what": "rows"},
        )
        assert (event.arguments_origin, event.arguments_taint) == ("parametric", "untrusted")

    @pytest.mark.parametrize(
        ("call", "kind", "told"),
        [
            (ToolCall(tool="plot", arguments={}), "DECISION_INVALID", "no tool 'plot'; available: count"),
            (ToolCall(tool="count", arguments={}), "DECISION_INVALID", "arguments: 'what' is missing"),
            (
                ToolCall(tool="count", arguments={"what": 1}),
                "DECISION_INVALID",
                "arguments.what is 1; accepted: string",
            ),
            (ToolCall(tool="count", arguments={"what": float("nan")}), "DECISION_INVALID", "no JSON values"),
        ],
    )
    async def test_what_is_invalid_is_refused_and_not_performed(
        self, call: ToolCall, kind: str, told: str
    ) -> None:
        rig = Rig()
        result = await rig.broker().call_tool(call)
        assert isinstance(result, ToolError)
        assert (result.error_type, result.retryable) == (kind, False)
        assert told in result.message
        assert rig.tool.calls == []

    async def test_what_is_not_granted_is_denied(self) -> None:
        rig = Rig(granted=())
        result = await rig.broker().call_tool(counted("rows"))
        assert isinstance(result, ToolError)
        assert result.error_type == "ACTION_DENIED"
        assert rig.tool.calls == []

    @pytest.mark.parametrize("effect", ["draft", "write", "external"])
    async def test_no_approval_is_assumed_for_a_side_effect(self, effect: Any) -> None:
        rig = Rig(tool=CountingTool(spec=replace(COUNT, side_effect=effect)))
        result = await rig.broker().call_tool(counted("rows"))
        assert isinstance(result, ToolError)
        assert result.error_type == "ACTION_DENIED"
        assert rig.tool.calls == []

    async def test_an_effect_needs_a_tool_that_can_be_looked_up(self) -> None:
        """One that only has `call` could be made twice: nobody could tell afterwards whether it happened."""
        rig = Rig(tool=CountingTool(spec=replace(COUNT, side_effect="draft")))
        result = await rig.broker().call_tool(counted("rows"))
        assert isinstance(result, ToolError)
        assert (result.error_type, "can't be made as one" in result.message) == ("ACTION_DENIED", True)
        assert rig.tool.calls == []

    async def test_a_result_is_kept_for_as_long_as_its_source_has_the_same_version(self) -> None:
        class Versioned(CountingTool):
            version = "v1"

            def source_version(self, arguments: Mapping[str, Any]) -> str | None:
                return None if arguments["what"] == "live" else self.version

        tool = Versioned()
        rig = Rig(tool=tool)
        first = await rig.broker().call_tool(counted("rows"))
        # Another attempt, with an account of its own: the reading is not made again, and not paid.
        other = Rig(tool=tool, cache=rig.cache)
        assert await other.broker().call_tool(counted("rows")) == first
        assert tool.calls == ["rows"]
        assert [event.performed for event in other.events] == [False]
        tool.version = "v2"
        await Rig(tool=tool, cache=rig.cache).broker().call_tool(counted("rows"))
        assert tool.calls == ["rows", "rows"]
        # Of an unknown version a result is good for its attempt only.
        for _ in range(2):
            await Rig(tool=tool, cache=rig.cache).broker().call_tool(counted("live"))
        assert tool.calls == ["rows", "rows", "live", "live"]

    async def test_the_same_question_about_something_that_changed_is_another_one(self) -> None:
        """000 7.4: the source's version is part of what makes two actions the same."""

        class Changing(CountingTool):
            def source_version(self, arguments: Mapping[str, Any]) -> str | None:
                return f"{arguments['what']} {len(self.calls)}"

        rig = Rig(tool=Changing())
        broker = rig.broker()
        for _ in range(6):
            assert isinstance(await broker.call_tool(counted("rows")), ToolOk)
        assert rig.tool.calls == ["rows"] * 6

    async def test_a_failure_that_may_pass_is_tried_again_and_stopped_at_the_third(self) -> None:
        class Flaky(CountingTool):
            async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
                self.calls.append(arguments["what"])
                return ToolError(error_type="UNAVAILABLE", message="busy", retryable=True)

        rig = Rig(tool=Flaky())
        broker = rig.broker()
        for _ in range(2):
            result = await broker.call_tool(counted("rows"))
            assert isinstance(result, ToolError)
            assert "made before" not in result.message
        assert rig.tool.calls == ["rows", "rows"]
        with pytest.raises(BudgetExhausted, match="identical_calls"):
            await broker.call_tool(counted("rows"))

    async def test_a_tool_that_hangs_times_out(self) -> None:
        class Hangs:
            spec = replace(COUNT, timeout_s=0.01)

            async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
                await asyncio.Event().wait()
                raise AssertionError(arguments)

        result = await Rig(tool=Hangs()).broker().call_tool(counted("rows"))
        assert isinstance(result, ToolError)
        assert (result.error_type, result.retryable) == ("TIMEOUT", True)

    async def test_the_deadline_of_the_attempt_ends_a_call_that_is_under_way(self) -> None:
        class Hangs:
            spec = COUNT

            async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
                await asyncio.Event().wait()
                raise AssertionError(arguments)

        rig = Rig(tool=Hangs(), limits=replace(Limits(), deadline_s=100.0))
        rig.spending = Spending(rig.clock)
        rig.clock.t += 99.99
        with pytest.raises(BudgetExhausted, match="'deadline_s' reached: 100 used of 100"):
            await rig.broker().call_tool(counted("rows"))
        assert rig.events == []

    async def test_a_tool_that_breaks_is_a_result_with_the_words_of_the_bug(self) -> None:
        class Breaks:
            spec = COUNT

            async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
                raise KeyError(arguments["what"])

        rig = Rig(tool=Breaks())
        result = await rig.broker().call_tool(counted("rows"))
        assert isinstance(result, ToolError)
        assert (result.error_type, result.retryable) == ("TOOL_FAILED", False)
        (event,) = rig.events
        assert not event.ok
        assert "KeyError: 'rows'" in event.summary

    @pytest.mark.parametrize(
        ("error", "kind", "retryable"),
        [
            (ConnectionResetError(104, "reset by peer"), "UNAVAILABLE", True),
            (OSError(5, "input/output error"), "UNAVAILABLE", True),
            (FileNotFoundError(2, "no such file"), "TOOL_FAILED", False),
            (PermissionError(13, "permission denied"), "TOOL_FAILED", False),
        ],
    )
    async def test_what_the_world_outside_breaks_may_pass_and_what_is_missing_does_not_come_back(
        self, error: OSError, kind: str, retryable: bool
    ) -> None:
        class Breaks:
            spec = COUNT

            async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
                assert arguments == {"what": "rows"}
                raise error

        result = await Rig(tool=Breaks()).broker().call_tool(counted("rows"))
        assert isinstance(result, ToolError)
        assert (result.error_type, result.retryable) == (kind, retryable)
        assert type(error).__name__ in result.message

    @pytest.mark.parametrize(
        "given",
        [
            None,
            {"ok": True},
            ToolOk(data={"n": float("nan")}, summary="x", source="s"),
            ToolOk(data={"n": object()}, summary="x", source="s"),
            ToolOk(data={"n": 1}, summary=7, source="s"),  # type: ignore[arg-type]
        ],
        ids=["nothing", "a dict", "not a number", "an object", "no text"],
    )
    async def test_a_result_of_no_known_shape_is_told_apart(self, given: Any) -> None:
        class Strange:
            spec = COUNT

            async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
                assert arguments
                return given  # type: ignore[no-any-return]

        result = await Rig(tool=Strange()).broker().call_tool(counted("rows"))
        assert isinstance(result, ToolError)
        assert (result.error_type, result.retryable) == ("OBSERVATION_UNKNOWN", False)

    async def test_the_identical_call_is_hinted_at_and_then_stopped(self) -> None:
        """Field report 6: performed once, hint at the second, stop at the third."""
        rig = Rig()
        broker = rig.broker()
        await broker.call_tool(counted("rows"))
        second = await broker.call_tool(counted("rows"))
        assert isinstance(second, ToolOk)
        assert "the same call was made before" in second.summary
        await broker.call_tool(counted("tables"))
        with pytest.raises(BudgetExhausted, match="identical_calls"):
            await broker.call_tool(counted("rows"))
        assert rig.tool.calls == ["rows", "tables"]

    async def test_the_count_of_identical_calls_survives_a_restart(self) -> None:
        rig = Rig()
        before = rig.broker()
        await before.call_tool(counted("rows"))
        await before.call_tool(counted("rows"))
        after = rig.broker()
        for _ in range(2):
            await after.call_tool(counted("rows"))
        with pytest.raises(BudgetExhausted, match="identical_calls"):
            await after.call_tool(counted("rows"))
        assert rig.tool.calls == ["rows"]

    async def test_after_a_restart_recorded_results_come_back_and_new_calls_are_performed(self) -> None:
        rig = Rig()
        first = [await rig.broker().call_tool(counted("rows"))]
        broker = rig.broker()
        again = [await broker.call_tool(counted(what)) for what in ("rows", "tables")]
        assert again[0] == first[0]
        assert rig.tool.calls == ["rows", "tables"]
        assert [event.index for event in rig.events] == [0, 1]

    async def test_other_arguments_or_another_step_are_other_calls(self) -> None:
        rig = Rig()
        await rig.broker("work.1.0").call_tool(counted("rows"))
        await rig.broker("work.1.0").call_tool(counted("tables"))
        await rig.broker("work.2.0").call_tool(counted("rows"))
        # Three brokers with an account each: as many attempts.
        assert rig.tool.calls == ["rows", "tables", "rows"]


class TestLimits:
    async def test_tool_calls(self) -> None:
        rig = Rig(limits=replace(Limits(), max_tool_calls=2))
        broker = rig.broker()
        for what in ("a", "b"):
            await broker.call_tool(counted(what))
        with pytest.raises(BudgetExhausted, match="'max_tool_calls' reached: 2 used of 2"):
            await broker.call_tool(counted("c"))
        assert rig.tool.calls == ["a", "b"]

    async def test_all_steps_of_an_attempt_pay_from_one_account(self) -> None:
        rig = Rig(limits=replace(Limits(), max_tool_calls=3))
        rig.spending = Spending(rig.clock)
        await rig.broker("work.1.0").call_tool(counted("a"))
        await rig.broker("work.1.0").call_tool(counted("b"))
        second = rig.broker("work.2.0")
        await second.call_tool(counted("c"))
        with pytest.raises(BudgetExhausted, match="'max_tool_calls' reached: 3 used of 3"):
            await second.call_tool(counted("d"))
        with pytest.raises(BudgetExhausted, match="max_tool_calls"):
            await rig.broker("work.1.1").call_tool(counted("e"))
        assert rig.tool.calls == ["a", "b", "c"]

    async def test_what_one_step_fetched_is_free_for_the_next(self) -> None:
        rig = Rig(limits=replace(Limits(), max_tool_calls=2, max_actions=2))
        rig.spending = Spending(rig.clock)
        first = rig.broker("work.1.0")
        fetched = [await first.call_tool(counted(what)) for what in ("a", "b")]
        second = rig.broker("work.2.0")
        assert [await second.call_tool(counted(what)) for what in ("b", "a")] == fetched[::-1]
        assert rig.tool.calls == ["a", "b"]
        steps = [(event.step, event.index) for event in rig.events]
        assert steps == [("work.1.0", 0), ("work.1.0", 1), ("work.2.0", 0), ("work.2.0", 1)]
        # After a restart the account comes out the same.
        rig.spending = Spending(rig.clock)
        for step, calls in (("work.1.0", "ab"), ("work.2.0", "ba")):
            broker = rig.broker(step)
            for what in calls:
                await broker.call_tool(counted(what))
        assert (rig.spending.actions, rig.spending.tool_calls) == (2, 2)
        assert rig.tool.calls == ["a", "b"]

    async def test_a_failure_that_may_have_passed_is_tried_again_by_the_next_step(self) -> None:
        class Recovers(CountingTool):
            async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
                result = await super().call(arguments)
                busy = ToolError(error_type="UNAVAILABLE", message="busy", retryable=True)
                return busy if len(self.calls) == 1 else result

        rig = Rig(tool=Recovers())
        rig.spending = Spending(rig.clock)
        assert not (await rig.broker("work.1.0").call_tool(counted("rows"))).ok
        assert (await rig.broker("work.2.0").call_tool(counted("rows"))).ok
        assert rig.tool.calls == ["rows", "rows"]
        # It is no gift: both tries are paid.
        assert (rig.spending.actions, rig.spending.tool_calls) == (2, 2)

    async def test_actions_of_all_steps_are_limited_together(self) -> None:
        rig = Rig(limits=replace(Limits(), max_actions=2))
        rig.spending = Spending(rig.clock)
        await rig.broker("work.1.0").call_tool(counted("a"))
        await rig.broker("work.2.0").call_tool(counted("b"))
        with pytest.raises(BudgetExhausted, match="'max_actions' reached: 2 used of 2"):
            await rig.broker("work.1.1").call_tool(counted("c"))

    async def test_actions_count_refused_calls_too(self) -> None:
        broker = Rig(limits=replace(Limits(), max_actions=2), granted=()).broker()
        for what in ("a", "b"):
            await broker.call_tool(counted(what))
        with pytest.raises(BudgetExhausted, match="max_actions"):
            await broker.call_tool(counted("c"))

    async def test_the_deadline_holds_for_the_whole_attempt(self) -> None:
        rig = Rig(limits=replace(Limits(), deadline_s=10.0))
        rig.spending = Spending(rig.clock)
        await rig.broker("work.1.0").call_tool(counted("a"))
        rig.clock.t = 10.0
        with pytest.raises(BudgetExhausted, match="deadline_s"):
            await rig.broker("work.2.0").call_tool(counted("b"))

    def test_the_defaults_are_those_of_the_research_contract(self) -> None:
        limits = Limits()
        assert (limits.max_actions, limits.max_tool_calls, limits.deadline_s) == (24, 18, 900.0)
        assert (limits.max_model_tokens, limits.max_model_time_s) == (60_000, 180.0)
        assert limits.max_steps_per_node == 12


@dataclass
class Chat:
    """Answers with what it was given and says what that cost."""

    tokens: int = 100
    clock: FakeClock | None = None
    takes_s: float = 0.0
    asked: list[ModelRequest] = field(default_factory=list)

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        del told
        self.asked.append(request)
        if self.clock is not None:
            self.clock.t += self.takes_s
        answer = FinalAnswer(text=f"answer {len(self.asked)}")
        return ModelReply(outcome=answer, usage=Usage(model="m", input_tokens=self.tokens))


def ask(text: str) -> ModelRequest:
    return ModelRequest(purpose="work", messages=(Message(role="user", content=text),))


class TestModels:
    async def test_a_reply_is_recorded_and_comes_back_after_a_restart(self) -> None:
        chat = Chat()
        rig = Rig(chat=chat)
        first = await rig.broker().call_model(ask("why"))
        resumed = rig.broker()
        again = await resumed.call_model(ask("why"))
        other = await resumed.call_model(ask("how"))
        assert first == again != other
        assert [request.messages[0].content for request in chat.asked] == ["why", "how"]
        recorded = [(event.call, event.name, event.summary) for event in rig.events]
        assert recorded == [("model", "m", "final_answer")] * 2

    async def test_a_reply_comes_back_also_where_the_request_looks_otherwise_now(self) -> None:
        """A tool is away at the resume, so that it is not offered: the model is not asked anew for that."""
        chat = Chat()
        rig = Rig(chat=chat)
        offer = ToolOffer(name="count", description="Counts.", input_schema={})
        first = await rig.broker().call_model(replace(ask("why"), tools=(offer,)))
        assert await rig.broker().call_model(ask("why")) == first
        assert len(chat.asked) == 1

    async def test_model_time_is_of_the_attempt_and_not_of_the_process(self) -> None:
        rig = Rig(limits=Limits(max_model_time_s=10))

        class Slow(Chat):
            async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
                rig.clock.t += 9
                return await super().complete(request, told)

        rig.chat = Slow()
        await rig.broker().call_model(ask("why"))
        rig.spending = Spending(rig.clock)
        resumed = rig.broker()
        await resumed.call_model(ask("why"))
        assert rig.spending.model_time_s == 9
        await resumed.call_model(ask("how"))
        with pytest.raises(BudgetExhausted, match="max_model_time_s"):
            await resumed.call_model(ask("where"))

    async def test_a_time_out_may_have_been_paid_for(self) -> None:
        class Lost(Chat):
            async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
                del request, told
                return ModelReply(outcome=ModelError(error_type="timeout", message="?", retryable=True))

        rig = Rig(chat=Lost())
        rig.spending = Spending(rig.clock)
        await rig.broker().call_model(ask("x" * 400))
        assert rig.spending.model_tokens == 100

    async def test_calls_at_the_same_time_pay_from_one_account(self) -> None:
        rig = Rig(limits=Limits(max_tool_calls=1))
        broker = rig.broker()
        made = await asyncio.gather(
            *(broker.call_tool(counted(f"rows {number}")) for number in range(5)), return_exceptions=True
        )
        assert [isinstance(one, ToolOk) for one in made] == [True, False, False, False, False]
        assert all(isinstance(one, BudgetExhausted) for one in made[1:])
        assert len(rig.tool.calls) == 1

    async def test_a_call_that_a_limit_stopped_is_stopped_again(self) -> None:
        rig = Rig(limits=Limits(max_tool_calls=1))
        broker = rig.broker()
        await broker.call_tool(counted("rows"))
        for _ in range(2):
            with pytest.raises(BudgetExhausted, match="max_tool_calls"):
                await broker.call_tool(counted("tables"))

    async def test_without_a_model_it_is_an_error_and_no_exception(self) -> None:
        who = replace(agent("A1", {DATABASES: 90}), model_policy=ModelPolicy(kind="model", model="x:y"))
        reply = await Rig().broker(who=who).call_model(ask("why"))
        assert isinstance(reply.outcome, ModelError)
        assert "'A1' has no model" in reply.outcome.message
        assert not reply.outcome.retryable

    async def test_tokens_hold_for_the_whole_attempt(self) -> None:
        rig = Rig(chat=Chat(tokens=60), limits=replace(Limits(), max_model_tokens=100))
        rig.spending = Spending(rig.clock)
        await rig.broker("work.1.0").call_model(ask("a"))
        await rig.broker("work.2.0").call_model(ask("b"))
        with pytest.raises(BudgetExhausted, match="'max_model_tokens' reached: 120 used of 100"):
            await rig.broker("work.2.1").call_model(ask("c"))

    async def test_the_steps_of_a_model_are_counted_over_the_whole_attempt(self) -> None:
        chat = Chat()
        rig = Rig(chat=chat, limits=replace(Limits(), max_steps_per_node=2))
        rig.spending = Spending(rig.clock)
        await rig.broker("work.1.0").call_model(ask("a"))
        second = rig.broker("work.2.0")
        await second.call_tool(counted("rows"))
        await second.call_model(ask("b"))
        for step in ("work.2.0", "work.2.1"):
            with pytest.raises(BudgetExhausted, match="'max_steps_per_node' reached: 2 used of 2"):
                await rig.broker(step).call_model(ask("c"))
        assert [request.messages[0].content for request in chat.asked] == ["a", "b"]
        # What is refused is no action; tools have a limit of their own.
        assert rig.spending.actions == 3
        assert isinstance(await second.call_tool(counted("tables")), ToolOk)

    async def test_steps_that_were_recorded_before_a_restart_count(self) -> None:
        rig = Rig(chat=Chat(), limits=replace(Limits(), max_steps_per_node=2))
        for last in ("b", "c"):
            broker = rig.broker()
            await broker.call_model(ask("a"))
            await broker.call_model(ask(last))
            with pytest.raises(BudgetExhausted, match="max_steps_per_node"):
                await broker.call_model(ask("d"))

    async def test_a_call_that_the_model_fails_to_answer_is_a_step(self) -> None:
        rig = Rig(limits=replace(Limits(), max_steps_per_node=1))
        broker = rig.broker()
        assert isinstance((await broker.call_model(ask("a"))).outcome, ModelError)
        with pytest.raises(BudgetExhausted, match="'max_steps_per_node' reached: 1 used of 1"):
            await broker.call_model(ask("a"))

    async def test_a_request_that_would_not_fit_is_not_made(self) -> None:
        chat = Chat(tokens=30)
        rig = Rig(chat=chat, limits=replace(Limits(), max_model_tokens=100))
        rig.spending = Spending(rig.clock)
        broker = rig.broker()
        await broker.call_model(ask("a"))
        # 284 letters are 71 tokens, and 70 are left; one token less fits.
        with pytest.raises(BudgetExhausted, match="'max_model_tokens' reached: 30 used of 100"):
            await broker.call_model(ask("b" * 284))
        await broker.call_model(ask("b" * 280))
        assert len(chat.asked) == 2
        # What the model reported replaces the reservation.
        assert rig.spending.model_tokens == 60

    async def test_requests_under_way_hold_their_reservation(self) -> None:
        release = asyncio.Event()

        class Waits(Chat):
            async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
                await release.wait()
                return await super().complete(request, told)

        rig = Rig(chat=Waits(tokens=10), limits=replace(Limits(), max_model_tokens=100))
        rig.spending = Spending(rig.clock)
        first = asyncio.ensure_future(rig.broker("work.1.0").call_model(ask("a" * 240)))
        await asyncio.sleep(0)
        with pytest.raises(BudgetExhausted, match="60 used of 100"):
            await rig.broker("work.2.0").call_model(ask("b" * 240))
        release.set()
        await first
        assert rig.spending.model_tokens == 10

    async def test_a_model_that_does_not_say_what_it_used_is_counted_as_estimated(self) -> None:
        rig = Rig(chat=Chat(tokens=0))
        rig.spending = Spending(rig.clock)
        await rig.broker().call_model(ask("总磷的限值是多少？？？"))
        assert rig.spending.model_tokens == 11 * 3 // 4

    async def test_no_tokens_allowed_means_no_call(self) -> None:
        chat = Chat()
        with pytest.raises(BudgetExhausted, match="max_model_tokens"):
            await Rig(chat=chat, limits=replace(Limits(), max_model_tokens=0)).broker().call_model(ask("a"))
        assert chat.asked == []

    async def test_model_time_holds_for_the_whole_attempt(self) -> None:
        clock = FakeClock()
        rig = Rig(chat=Chat(clock=clock, takes_s=100.0), clock=clock)
        rig.spending = Spending(clock)
        for step in ("work.1.0", "work.2.0"):
            await rig.broker(step).call_model(ask(step))
        with pytest.raises(BudgetExhausted, match="'max_model_time_s' reached: 200 used of 180"):
            await rig.broker("work.2.1").call_model(ask("c"))

    async def test_the_deadline_of_the_attempt_ends_a_call_that_is_under_way(self) -> None:
        class Hangs:
            async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
                await asyncio.Event().wait()
                raise AssertionError(request, told)

        rig = Rig(chat=Hangs(), limits=replace(Limits(), deadline_s=0.01))
        with pytest.raises(BudgetExhausted, match=r"'deadline_s' reached: 0\.01 used of 0\.01"):
            await rig.broker().call_model(ask("why"))
        assert rig.events == []

    async def test_a_model_that_hangs_is_a_timeout(self) -> None:
        class Hangs:
            async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
                await asyncio.Event().wait()
                raise AssertionError(request, told)

        rig = Rig(chat=Hangs(), limits=replace(Limits(), max_model_time_s=0.01))
        reply = await rig.broker().call_model(ask("why"))
        assert isinstance(reply.outcome, ModelError)
        assert (reply.outcome.error_type, reply.outcome.retryable) == ("timeout", True)
        assert not rig.events[0].ok
