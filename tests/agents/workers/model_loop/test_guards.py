"""What code does about a model that goes round in circles, fails, or does not come to an end."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.broker import BudgetExhausted, CallHeld
from agents.models.contract import ModelReply, ModelRequest, ToolOffer
from agents.tools.contract import HeldCall, ToolCall, ToolError, ToolOk, ToolResult
from agents.workers.model_loop import ModelLoop
from agents.workers.model_loop.calls import perform
from agents.workers.ports import WorkFailed
from graphs.contract import Lang
from tests.agents.workers.model_loop.stage import (
    COST,
    GIVES_UP,
    GOOD,
    QUESTION,
    REGISTRY,
    calls,
    ending,
    limited,
    ok,
    order,
    room,
    run,
    search,
    text,
    written,
)


def refused(arguments: Any) -> ToolResult:
    del arguments
    return ToolError(error_type="NOT_FOUND", message="no such thing", retryable=False)


async def test_kind_6_the_same_search_for_ever_is_hinted_at_and_stopped(folder: Path) -> None:
    given = order({"questions": ["Zzz?"]})
    again = calls(search("Zzz?"))
    result, broker = await run(folder, given, *[again] * 200)
    assert len(broker.requests) <= 5
    assert "You have made this very call before" in broker.results(1)[0].content
    assert "third time" in broker.told(2)
    assert [offer.name for offer in broker.requests[2].tools] == ["finish"]
    (gap,) = result.output.open_questions
    assert gap.reason == "limit_reached"
    assert ("stopped", "repeated") in [(note.kind, note.detail) for note in result.notes]
    # Searches by code count too: what it looked up, the hint and the stop, and nothing is performed after that.
    assert broker.searches == ["Zzz?"] * 3


async def test_two_actions_in_turn_are_stopped(folder: Path) -> None:
    looks = {"here": lambda _: ok([1], source_version="1"), "there": lambda _: ok([2], source_version="1")}
    turns = [calls((tool, {})) for tool in ("here", "there") * 2]
    result, broker = await run(folder, order(), *turns, calls(GOOD), others=looks)
    assert [call.tool for call in broker.calls[1:]] == ["here", "there", "here", "there"]
    assert [offer.name for offer in broker.requests[4].tools] == ["finish"]
    assert "made in turn" in broker.requests[4].messages[-1].content
    assert ("stopped", "alternating") in [(note.kind, note.detail) for note in result.notes]
    assert [claim.statement for claim in result.output.claims] == [COST], "what it found is not lost"


async def test_a_source_that_changes_is_no_circle(folder: Path) -> None:
    versions = iter(range(100))
    looks = {tool: lambda _: ok([1], source_version=str(next(versions))) for tool in ("here", "there")}
    turns = [calls((tool, {})) for tool in ("here", "there") * 2]
    result, _ = await run(folder, order(), *turns, calls(GOOD), others=looks)
    assert result.notes == ()


async def test_two_rounds_without_new_evidence_end_a_search(folder: Path) -> None:
    result, broker = await run(
        folder,
        order(),
        calls(search("xylophone")),
        calls(search("zeppelin")),
        calls(search("zither")),
        calls(GIVES_UP),
    )
    assert broker.searches == [QUESTION, "xylophone", "zeppelin"]
    assert [offer.name for offer in broker.requests[2].tools] == ["finish"]
    assert "the search is over" in broker.told(2)
    assert "no tool but `finish`" in broker.results(3)[-1].content
    assert [note.kind for note in result.notes] == ["search_ended", "open_question"]
    (gap,) = result.output.open_questions
    assert gap.reason == "not_answerable", "the search came to its end by itself"
    assert [one.new_evidence for one in result.rounds][1:] == [0, 0]


async def test_paging_on_through_one_search_comes_to_an_end(tmp_path: Path) -> None:
    # 40 notes that all speak of the index: each page of five brings excerpts that were not shown before.
    notes = {f"n{number:02}.md": f"# Part {number}\n\nAn index of kind {number}.\n" for number in range(40)}
    pages = [calls(search("index", offset=offset)) for offset in (5, 10, 15)]
    result, broker = await run(written(tmp_path, notes), order(), *pages, calls(GIVES_UP))
    # The page behind the first is evidence; two further ones are two rounds without any (004 3.5).
    assert [call.arguments.get("offset", 0) for call in broker.calls] == [0, 5, 10, 15]
    assert [note.kind for note in result.notes] == ["search_ended", "open_question"]
    assert "the search is over" in broker.told(3)


async def test_a_claim_that_was_copied_from_another_excerpt_cites_that(folder: Path) -> None:
    lock = "The lock on the index costs 9 coins."
    wrong = ending({"statement": lock, "excerpts": ["E1"], "question": 1})
    result, broker = await run(folder, order(path=2), calls(wrong))
    assert f"{COST}" in broker.told(0)
    (claim,) = result.output.claims
    (evidence,) = result.output.evidence
    assert (claim.statement, evidence.text) == (lock, lock)
    assert ("cited_by_words", f"E2: {lock}") in [(note.kind, note.detail) for note in result.notes]


async def test_a_claim_that_the_excerpts_say_nothing_is_no_claim(folder: Path) -> None:
    lacking = "The price is not confirmed in the given excerpt."
    result, _ = await run(
        folder, order(), calls(ending({"statement": lacking, "excerpts": ["E1"], "question": 1}))
    )
    assert result.output.claims == ()
    (gap,) = result.output.open_questions
    assert gap.question == QUESTION
    assert not result.candidate_complete
    assert ("no_claim", lacking) in [(note.kind, note.detail) for note in result.notes]


async def test_what_a_document_says_of_an_excerpt_is_a_claim(tmp_path: Path) -> None:
    said = "An index is not described in the given excerpt of the manual."
    folder = written(tmp_path, {"a.md": f"# Index\n\n{said}\n"})
    result, _ = await run(
        folder, order(), calls(ending({"statement": said, "excerpts": ["E1"], "question": 1}))
    )
    assert [claim.statement for claim in result.output.claims] == [said]


async def test_two_failed_calls_in_a_row_make_the_model_think_again(folder: Path) -> None:
    tools = {"fetch": refused}
    result, broker = await run(
        folder, order(), calls(("fetch", {"n": 1})), calls(("fetch", {"n": 2})), calls(GOOD), others=tools
    )
    assert "Two calls in a row failed (fetch)" in broker.requests[2].messages[-1].content
    assert "Two calls in a row" not in broker.told(1)
    assert [(note.kind, note.step) for note in result.notes] == [("failures_in_a_row", 2)]
    assert len(broker.requests) == 3, "a reflection is no call of its own"


async def test_a_success_between_failures_is_no_reason_to_think(folder: Path) -> None:
    tools = {"fetch": refused}
    result, _ = await run(
        folder,
        order(),
        calls(("fetch", {"n": 1}), search("tree of pages"), ("fetch", {"n": 2})),
        calls(GOOD),
        others=tools,
    )
    assert result.notes == ()


@pytest.mark.parametrize(
    ("expected", "query", "thinks"),
    [
        (1, "xylophone", True),
        (3, "tree of pages", False),
        (0, "tree of pages", True),
        (0, "xylophone", False),
    ],
)
async def test_a_result_against_what_was_expected_makes_the_model_think_again(
    folder: Path, expected: int, query: str, thinks: bool
) -> None:
    result, broker = await run(folder, order(), calls(search(query, expect=expected)), calls(GOOD))
    assert ("unexpected_result" in [note.kind for note in result.notes]) is thinks
    assert ("not what you expected" in broker.told(1)) is thinks
    assert broker.calls[-1].arguments == {"query": query}, "the tool is not told"


async def test_an_argument_of_the_tool_itself_is_not_taken_away(folder: Path) -> None:
    own = ToolOffer(name="ask", description="d", input_schema={"properties": {"expect": {"type": "integer"}}})
    _, broker = await run(
        folder,
        order(offers=(own,)),
        calls(("ask", {"expect": 3})),
        calls(GOOD),
        others={"ask": lambda _: ok([])},
    )
    assert broker.calls[-1].arguments == {"expect": 3}
    assert broker.requests[0].tools[0].input_schema == own.input_schema


async def test_half_of_the_steps_without_progress_make_the_model_think_again(folder: Path) -> None:
    given = limited(order({"questions": ["Zzz?"]}), max_steps_per_node=6)
    result, broker = await run(
        folder,
        given,
        text("hm"),
        text("hm"),
        calls(search("xylophone")),
        calls(GIVES_UP),
    )
    assert next((note.kind, note.step) for note in result.notes) == ("half_without_progress", 3)
    assert "Half of your steps" in broker.told(3)


async def test_the_last_steps_are_for_the_finish(folder: Path) -> None:
    given = limited(order(), max_steps_per_node=4)
    turns = [calls(search("tree of pages")), calls(search("lock bar", limit=7)), calls(search("page"))]
    result, broker = await run(folder, given, *turns, calls(GOOD))
    offered = [[offer.name for offer in request.tools] for request in broker.requests]
    assert [len(names) for names in offered] == [3, 3, 1, 1]
    assert broker.searches[1:] == ["tree of pages", "lock bar"]
    assert "These are your last steps" in broker.told(2)
    assert result.candidate_complete


async def test_a_budget_that_ends_leaves_the_questions_open_as_limit_reached(folder: Path) -> None:
    given = limited(order(), max_steps_per_node=3)
    turns = [calls(search("tree of pages")), calls(search("lock")), calls(search("bar"))]
    result, _ = await run(folder, given, *turns)
    (gap,) = result.output.open_questions
    assert (gap.reason, gap.searched) == ("limit_reached", (QUESTION, "tree of pages", "lock"))
    assert not result.candidate_complete
    assert "unfinished" in [note.kind for note in result.notes]


async def test_a_budget_that_ends_before_the_first_step_passes(folder: Path) -> None:
    given = limited(order(), max_steps_per_node=2)
    with pytest.raises(BudgetExhausted):
        await run(folder, given, text("hm"), text("hm"))


async def test_a_draft_is_not_lost_with_the_budget(folder: Path) -> None:
    given = limited(order(), max_steps_per_node=2)
    half = ("finish", {"claims": [{"statement": COST, "excerpts": ["E1"], "question": 1}]})
    result, _ = await run(folder, given, calls(half), calls(half))
    assert [claim.statement for claim in result.output.claims] == [COST]
    assert not result.candidate_complete


async def test_calls_beyond_the_limit_are_said_not_to_be_performed(folder: Path) -> None:
    given = limited(order(), max_tool_calls=4)
    many = calls(*(search(f"tree {number}") for number in range(9)))
    _, broker = await run(folder, given, many, calls(GOOD))
    assert len(broker.searches) == 4
    assert [("no more calls" in message.content) for message in broker.results(1)] == [False] * 3 + [True] * 6


async def test_a_limit_that_the_worker_can_not_see_closes_the_tools(folder: Path) -> None:
    given = order()
    broker = room(folder, given, calls(search("tree")), calls(GOOD), raising={})
    inner = broker.call_tool

    async def stopped(call: Any) -> ToolResult:
        if broker.requests:
            raise BudgetExhausted("max_tool_calls", 18, 18)
        return await inner(call)

    broker.call_tool = stopped  # type: ignore[method-assign]
    result = await ModelLoop(REGISTRY).work(given, broker)
    assert [claim.statement for claim in result.output.claims] == [COST]
    assert ("stopped", "limit") in [(note.kind, note.detail) for note in result.notes]


async def test_questions_beyond_the_limits_are_said_to_be_unsearched(folder: Path) -> None:
    questions = [f"What does an index cost in town {number}?" for number in range(6)]
    given = limited(order({"questions": questions}), max_tool_calls=4)
    gives_up = ending(complete=False, still_open=[{"question": n, "why": "none"} for n in range(1, 7)])
    result, broker = await run(folder, given, calls(gives_up))
    assert broker.searches == questions[:2]
    assert [gap.reason for gap in result.output.open_questions] == ["not_answerable"] * 2 + [
        "limit_reached"
    ] * 4


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "The call failed: NOT_FOUND"), ("zh", "调用失败：NOT_FOUND")]
)
async def test_failures_are_told_in_the_language_of_the_goal(folder: Path, lang: Lang, words: str) -> None:
    given = replace(order(), lang=lang)
    _, broker = await run(folder, given, calls(("fetch", {})), calls(GOOD), others={"fetch": refused})
    assert words in broker.results(1)[0].content


async def test_a_search_that_is_not_granted_fails_the_work_as_a_missing_tool(folder: Path) -> None:
    denied = lambda _: ToolError(error_type="ACTION_DENIED", message="not granted", retryable=False)  # noqa: E731
    with pytest.raises(WorkFailed) as caught:
        await run(folder, order(), others={"search_notes": denied})
    assert caught.value.kind == "tool_missing"


class Stopping:
    """A broker that stops or holds a call of one tool."""

    def __init__(self, stop: Exception) -> None:
        self.stop = stop
        self.made: list[str] = []

    async def call_tool(self, call: ToolCall) -> ToolResult:
        if call.tool == "first":
            raise self.stop
        self.made.append(call.tool)
        return ToolOk(summary="", data=None, source="")

    async def call_model(self, request: ModelRequest) -> ModelReply:
        raise AssertionError(request)


BOTH = [ToolCall(tool="first", arguments={}), ToolCall(tool="write_draft", arguments={})]


async def test_what_stands_behind_a_held_call_waits_for_it() -> None:
    held = HeldCall(
        why="approval_needed",
        step="work.1.0",
        index=0,
        tool="first",
        arguments={},
        arguments_digest="d",
        side_effect="external",
        tier="external",
    )
    broker = Stopping(CallHeld(held))
    with pytest.raises(CallHeld):
        await perform(BOTH, broker)
    assert broker.made == []


async def test_nothing_is_made_behind_a_call_that_a_limit_stopped() -> None:
    broker = Stopping(BudgetExhausted("identical_calls", 3, 2))
    results = await perform(BOTH, broker)
    assert broker.made == []
    assert [isinstance(one, BudgetExhausted) for one in results] == [True, True]
