"""What a request of a loop holds, whatever the budget."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.context.parts import exchanges_of
from agents.context.working_state import WorkingState
from agents.evidence import LineSpan, SourceId, quote
from agents.models.contract import Message
from agents.models.tokens import EstimatedTokens, message_tokens
from agents.prompts import Excerpt
from agents.prompts_loop import excerpt_block, shown_result
from agents.tools.contract import ToolCall
from agents.workers.model_claims import Piece
from agents.workers.model_loop.conversation import Conversation

COUNTER = EstimatedTokens()
WORDS = st.text("ab \n我>[]", min_size=1, max_size=60).filter(lambda text: bool(text.strip()))


def piece(number: int, text: str) -> Piece:
    span = LineSpan(
        source=SourceId("s"),
        start_line=number,
        end_line=number,
        start_char=number * 100,
        end_char=number * 100 + 1,
    )
    excerpt = Excerpt(key=f"E{number}", text=text, where=f"a.md:{number}")
    return Piece(excerpt=excerpt, evidence=(quote(SourceId("s"), span, text),), sources=())


def turn(number: int, shown: list[Piece]) -> list[Message]:
    call = ToolCall(tool="search_notes", arguments={"query": "q"}, id=f"c{number}")
    result = shown_result([one.excerpt for one in shown], (), None, "en")
    return [
        Message(role="assistant", content="I look.", taint="untrusted", calls=(call,)),
        Message(role="tool", content=result, origin="source", taint="untrusted", call_id=call.id),
    ]


@st.composite
def talks(draw: st.DrawFn) -> tuple[Conversation, dict[str, Piece], dict[str, float]]:
    texts = draw(st.lists(WORDS, min_size=1, max_size=12))
    pieces = {f"E{number}": piece(number, text) for number, text in enumerate(texts, 1)}
    history: list[Message] = []
    rest = list(pieces.values())
    for number in range(draw(st.integers(0, 5))):
        count = draw(st.integers(0, 4))
        shown, rest = rest[:count], rest[count:]
        history.extend(turn(number, shown))
    weights = {key: draw(st.sampled_from([0.2, 0.5, 0.9])) for key in pieces}
    talk = Conversation(
        rules="Rules.", state=WorkingState(goal="T"), counter=COUNTER, lang="en", history=history
    )
    return talk, pieces, weights


@given(talks(), st.integers(0, 800), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_request_is_within_its_budget_and_what_it_shows_is_what_it_says(
    made: tuple[Conversation, dict[str, Piece], dict[str, float]], budget: int, closes: bool
) -> None:
    talk, pieces, weights = made
    closing = "Finish now." if closes else ""
    composed = talk.compose("Task.", pieces, weights, budget, closing=closing)
    assert composed.tokens == sum(message_tokens(message, COUNTER) for message in composed.messages)
    smallest = talk.compose("Task.", pieces, weights, 0, closing=closing)
    assert composed.tokens <= max(budget, smallest.tokens)
    system, task, *rest = composed.messages
    assert (system.role, system.taint, task.role) == ("system", "trusted", "user")
    assert task.content.startswith("Task.")
    assert not closes or composed.messages[-1].content == closing
    exchanges_of(rest)  # raises for a result without its call, and a call without its result
    told = "\n\n".join(message.content for message in (task, *rest)) + "\n"
    shown = {key for key, one in pieces.items() if excerpt_block(one.excerpt, "en") + "\n" in told}
    assert composed.visible <= shown
    gone = {one.part for one in composed.dropped if one.how == "left_out"}
    assert all(f"excerpt {key}" in gone for key in set(pieces) - composed.visible)
    if budget >= 10_000:
        assert composed.visible == set(pieces)


@given(talks())
@settings(max_examples=60, deadline=None)
def test_with_room_for_everything_every_excerpt_is_seen_once(
    made: tuple[Conversation, dict[str, Piece], dict[str, float]],
) -> None:
    talk, pieces, weights = made
    composed = talk.compose("Task.", pieces, weights, 100_000)
    assert composed.visible == set(pieces)
    told = "\n".join(message.content for message in composed.messages)
    assert all(told.count(f"[{key}] a.md") == 1 for key in pieces)


def test_the_heaviest_excerpts_stay_and_the_others_are_said_to_be_left_out() -> None:
    pieces = {f"E{n}": piece(n, f"Number {n} says something about the thing.") for n in range(1, 41)}
    weights = {f"E{n}": n / 40 for n in range(1, 41)}
    talk = Conversation(rules="R", state=WorkingState(goal="T"), counter=COUNTER, lang="zh")
    composed = talk.compose("任务", pieces, weights, 400)
    kept = sorted(int(key[1:]) for key in composed.visible)
    assert kept == list(range(41 - len(kept), 41))
    assert 0 < len(kept) < 40
    assert {one.part for one in composed.dropped} == {f"excerpt E{n}" for n in range(1, 41 - len(kept))}


def test_old_messages_are_folded_and_said_to_be() -> None:
    talk = Conversation(
        rules="R", state=WorkingState(goal="T").with_excluded("nothing here"), counter=COUNTER, lang="en"
    )
    talk.history = [message for number in range(4) for message in turn(number, [])]
    composed = talk.compose("Task.", {}, {}, 10_000)
    assert [(one.part, one.how) for one in composed.dropped] == [("messages 1-4", "summarised")]
    assert "excluded: nothing here" in composed.messages[1].content
    assert composed.messages[1].taint == "untrusted"
