"""Calls with an effect at the broker: no limit ends what is behind the commit, and no word lets a loop run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest
from rpds import HashTrieMap

from agents.broker import BudgetExhausted, CallHeld
from agents.tools.contract import HeldCall, ToolCall, ToolError, ToolOk, ToolResult
from agents.tools.ports import NotPerformed
from graphs.contract import Lang, Limits
from orchestrator.core.approvals import CallWord, CommittedCall, Word
from orchestrator.core.ids import ArtefactId, RequestId, RunId
from orchestrator.core.proposal import digest_of
from orchestrator.shell.broker import RecordingBroker
from orchestrator.shell.call_ledger import CallLedger
from orchestrator.shell.spending import Spending
from tests.agents.tools.test_effect_threads import Post, effect
from tests.core.builders import n
from tests.flows.counting import COUNT, CountingTool
from tests.flows.outbox import SEND, Outbox, SendTool
from tests.shell.test_broker import Rig

BOB = ToolCall(tool="send", arguments={"to": "bob", "text": "hello"}, id="call-1")
DIGEST = digest_of({"tool": "send", "arguments": {"to": "bob", "text": "hello"}})
GONE = ToolError(error_type="UNAVAILABLE", message="reset", retryable=True)

Part = Literal["perform", "outcome_of", "preview"]


@dataclass
class Stuck(SendTool):
    """Loses its answer, and is stuck, until it is stopped, in the part that is asked for the `nth` time."""

    part: Part = "outcome_of"
    nth: int = 1
    tells: ToolResult | NotPerformed | None = None
    """What it knows of the call where it isn't stuck."""
    asked: int = 0
    performed: int = 0

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        del arguments, key
        self.performed += 1
        await self._stuck("perform")
        return GONE

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        del arguments, key
        await self._stuck("outcome_of")
        return self.tells

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        await self._stuck("preview")
        return await super().preview(arguments, lang)

    async def _stuck(self, part: Part) -> None:
        if part != self.part:
            return
        self.asked += 1
        if self.asked == self.nth:
            await asyncio.Event().wait()


def word(rig: Rig, said: Word = "approve") -> HashTrieMap[str, CallWord]:
    given = CallWord(
        request=RequestId("q-1"),
        run=RunId("r-1"),
        node=n("a"),
        generation=1,
        tool="send",
        arguments_digest=DIGEST,
        word=said,
        at=rig.clock.now(),
    )
    return HashTrieMap({DIGEST: given})


def committed(ledger: CallLedger, **changes: Any) -> None:
    """Let the call be committed already, by this attempt in an earlier process."""
    before = CommittedCall(
        tool="send",
        key="k-1",
        side_effect="external",
        generation=1,
        attempt=1,
        step="work.1.0",
        index=0,
        arguments=BOB.arguments,
        arguments_digest=DIGEST,
    )
    ledger.committed = ledger.committed.insert("k-1", replace(before, **changes))


def rig_of(tool: Any) -> Rig:
    """A broker's surroundings, a moment before the deadline of the attempt."""
    rig = Rig(tool=tool, granted=("send",), commits=[], limits=replace(Limits(), deadline_s=100.0))
    rig.spending = Spending(rig.clock)
    rig.clock.t += 99.99
    return rig


async def held_by(broker: RecordingBroker) -> HeldCall:
    with pytest.raises(CallHeld) as stop:
        await broker.call_tool(BOB)
    return stop.value.held


class TestTheDeadlineBehindTheCommit:
    @pytest.mark.parametrize(
        ("part", "nth", "repeat"),
        [
            ("perform", 1, "never"),
            ("outcome_of", 1, "never"),
            ("preview", 1, "never"),
            ("perform", 2, "keyed"),
            ("outcome_of", 2, "keyed"),
        ],
    )
    async def test_a_person_is_asked_wherever_it_comes(
        self, part: Part, nth: int, repeat: Literal["never", "keyed"]
    ) -> None:
        """A budget that ends only the attempt would leave a letter of which nobody is ever asked."""
        rig = rig_of(Stuck(Outbox(), spec=replace(SEND, repeat=repeat), part=part, nth=nth))
        held = await held_by(rig.broker(ledger=rig.ledger(words=word(rig))))
        assert (held.why, held.preview) == ("outcome_unknown", "a letter to bob")
        assert rig.commits is not None
        assert [one.approval for one in rig.commits] == ["q-1"]
        assert rig.events == [], "nothing is said of it before somebody knows"

    @pytest.mark.parametrize(
        ("tells", "kind"),
        [
            (ToolOk(summary="sent", data=None, source="post"), "ok"),
            (NotPerformed(), "NOT_PERFORMED"),
        ],
    )
    async def test_a_tool_that_can_tell_at_last_is_believed(
        self, tells: ToolResult | NotPerformed, kind: str
    ) -> None:
        rig = rig_of(Stuck(Outbox(), tells=tells))
        result = await rig.broker(ledger=rig.ledger(words=word(rig))).call_tool(BOB)
        assert (result.error_type if isinstance(result, ToolError) else "ok") == kind
        assert [bool(event.key) for event in rig.events] == [True]

    @pytest.mark.parametrize("attempt", [1, 2])
    async def test_what_was_cut_off_before_is_asked_about(self, attempt: int) -> None:
        rig = rig_of(Stuck(Outbox()))
        ledger = rig.ledger()
        committed(ledger, attempt=attempt)
        with pytest.raises(CallHeld) as stop:
            await rig.broker(ledger=ledger).settle()
        assert (stop.value.held.why, stop.value.held.preview) == ("outcome_unknown", "a letter to bob")

    async def test_a_person_who_said_that_it_happened_is_not_asked_again(self) -> None:
        rig = rig_of(Stuck(Outbox()))
        ledger = rig.ledger(words=word(rig, "happened"))
        committed(ledger)
        await rig.broker(ledger=ledger).settle()
        assert [(event.ok, event.key) for event in rig.events] == [(True, "k-1")]


class TestKeyed:
    async def test_where_the_second_try_is_lost_too_a_person_is_asked(self) -> None:
        tool = Stuck(Outbox(), spec=replace(SEND, repeat="keyed"), nth=0)
        rig = rig_of(tool)
        held = await held_by(rig.broker(ledger=rig.ledger(words=word(rig))))
        assert (held.why, tool.performed) == ("outcome_unknown", 2)

    async def test_what_a_person_says_of_it_goes_before_another_try(self) -> None:
        tool = Stuck(Outbox(), spec=replace(SEND, repeat="keyed"), nth=0)
        rig = rig_of(tool)
        ledger = rig.ledger(words=word(rig, "happened"))
        committed(ledger)
        await rig.broker(ledger=ledger).settle()
        assert ([event.ok for event in rig.events], tool.performed) == ([True], 0)


class TestLoops:
    async def test_an_approved_call_is_made_once_hinted_at_and_then_stopped(self) -> None:
        """As any other call, and the same after a restart: the word is used up in both."""
        outbox = Outbox()
        rig = rig_of(SendTool(outbox))
        words = word(rig)
        for known in (words, HashTrieMap({DIGEST: replace(words[DIGEST], used=True)})):
            broker = rig.broker(ledger=rig.ledger(words=known))
            made = [await broker.call_tool(BOB) for _ in range(2)]
            assert [result.ok for result in made] == [True, True]
            assert isinstance(made[1], ToolOk)
            assert "the same call was made before" in made[1].summary
            with pytest.raises(BudgetExhausted, match="identical_calls"):
                await broker.call_tool(BOB)
        assert [to for _, to in outbox.sent] == ["bob"]
        assert len(rig.events) == 2


class TestWhatCountsAsAReadingNow:
    """`tools.yaml` may call a tool a reading which it did not before: a past effect stays one."""

    def rig(self, side_effect: str) -> tuple[Rig, CountingTool, CallLedger]:
        class Sends(CountingTool):
            async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
                return await super().call({"what": arguments["to"]})

        tool = Sends(spec=replace(COUNT, name="send", input_schema=SEND.input_schema))
        rig = rig_of(tool)
        ledger = rig.ledger()
        committed(ledger, side_effect=side_effect)
        return rig, tool, ledger

    @pytest.mark.parametrize("side_effect", ["write", "external"])
    async def test_an_effect_of_unknown_outcome_is_asked_about(self, side_effect: str) -> None:
        rig, tool, ledger = self.rig(side_effect)
        with pytest.raises(CallHeld, match="outcome_unknown"):
            await rig.broker(ledger=ledger).settle()
        assert tool.calls == []

    async def test_a_reading_that_was_cut_off_is_read_once_for_all_steps(self) -> None:
        rig, tool, ledger = self.rig("read")
        for step in ("work.1.0", "work.2.0"):
            await rig.broker(step, ledger=ledger).settle()
        assert tool.calls == ["bob"]

    @pytest.mark.parametrize(("failed", "calls"), [(False, []), (True, ["bob"])])
    async def test_what_it_made_is_not_made_again_unless_it_certainly_did_nothing(
        self, failed: bool, calls: list[str]
    ) -> None:
        rig, tool, ledger = self.rig("external")
        # Under the key that the call has now, made by an attempt before this one.
        first = rig_of(SendTool(Outbox()))
        await first.broker(ledger=first.ledger(words=word(first))).call_tool(BOB)
        assert first.commits is not None
        (made,) = first.commits
        kept = rig.artefacts
        kept["sent"] = {"ok": True, "summary": "sent", "data": None, "source": "post"}
        ledger.committed = HashTrieMap()
        committed(ledger)
        before = replace(ledger.committed["k-1"], key=made.key, result=ArtefactId("sent"), failed=failed)
        ledger.committed = HashTrieMap({made.key: before})
        result = await rig.broker(ledger=ledger).call_tool(BOB)
        assert tool.calls == calls
        assert isinstance(result, ToolOk)
        assert ("made before" in result.summary) is not failed


class GivesUp:
    """Gives a function up when its thread runs, as a time-out does."""

    def __init__(self, post: Post, repeat: Literal["never", "keyed"]) -> None:
        self.post = post
        self.inner = effect(post.tool(repeat))
        self.spec = replace(self.inner.spec, input_schema=SEND.input_schema)

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        return await self.inner.call(arguments)

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        return await self.inner.preview(arguments, lang)

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        call = asyncio.ensure_future(self.inner.perform({"to": arguments["to"]}, key))
        await asyncio.to_thread(self.post.begun.wait)
        call.cancel()
        raise TimeoutError

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        return await self.inner.outcome_of(arguments, key)


class TestThreads:
    @pytest.mark.parametrize("repeat", ["never", "keyed"])
    async def test_a_function_that_outlives_its_time_is_asked_about_and_not_begun_again(
        self, repeat: Literal["never", "keyed"]
    ) -> None:
        """Its register says that nothing was sent, for it sends later."""
        post = Post()
        rig = rig_of(GivesUp(post, repeat))
        # Time enough: it is the tool that gives up here.
        rig.spending = Spending(rig.clock)
        ledger = rig.ledger(words=word(rig))
        try:
            assert (await held_by(rig.broker(ledger=ledger))).why == "outcome_unknown"
            # The attempt goes on in the same process, while the thread still runs.
            with pytest.raises(CallHeld, match="outcome_unknown"):
                await rig.broker(ledger=rig.ledger(committed=ledger.committed)).settle()
            assert (post.starts, rig.events) == (1, [])
        finally:
            post.let.set()
