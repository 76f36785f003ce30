"""Whatever a conversation holds, it goes out in a form that providers take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from agents.models.contract import Message
from agents.models.sent_messages import sent_messages
from agents.tools.contract import ToolCall

CALL = ToolCall(tool="search", arguments={"q": "x"}, id="c1")
OTHER = ToolCall(tool="read", arguments={}, id="c2")


def test_one_system_message_in_front_holds_them_all_and_the_words() -> None:
    sent = sent_messages(
        [
            Message(role="system", content="one"),
            Message(role="user", content="go"),
            Message(role="system", content="two"),
        ],
        ["three"],
        native=True,
    )
    assert sent == [SystemMessage(content="one\n\ntwo\n\nthree"), HumanMessage(content="go")]
    assert sent_messages([Message(role="user", content="go")], [], native=True) == [
        HumanMessage(content="go")
    ]


def test_a_call_and_its_result_are_native_only_as_a_pair() -> None:
    messages = [
        Message(role="user", content="go"),
        Message(role="assistant", content="looking", calls=(CALL, OTHER)),
        Message(role="tool", content="found", call_id="c1"),
        Message(role="tool", content="of a call that was cut from the window", call_id="c9"),
    ]
    sent = sent_messages(messages, [], native=True)
    assert isinstance(sent[1], AIMessage)
    assert [call["id"] for call in sent[1].tool_calls] == ["c1"]
    assert sent[1].content == 'looking\n{"tool": "read", "arguments": {}}'
    assert sent[2] == ToolMessage(content="found", tool_call_id="c1")
    assert sent[3] == HumanMessage(content="of a call that was cut from the window")


def test_without_native_tools_all_is_text() -> None:
    messages = [
        Message(role="assistant", content="", calls=(CALL,)),
        Message(role="tool", content="found", call_id="c1"),
    ]
    assert sent_messages(messages, [], native=False) == [
        AIMessage(content='{"tool": "search", "arguments": {"q": "x"}}'),
        HumanMessage(content="found"),
    ]


MESSAGES = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        content=st.sampled_from(["", "text"]),
        calls=st.lists(st.sampled_from([CALL, OTHER]), max_size=2, unique_by=lambda call: call.id).map(tuple),
        call_id=st.sampled_from(["", "c1", "c2", "c3"]),
    ),
    max_size=8,
)


@given(MESSAGES, st.booleans())
def test_no_message_is_empty_and_results_follow_their_calls(messages: list[Message], native: bool) -> None:
    sent = sent_messages(messages, [], native=native)
    waiting: list[str | None] = []
    for position, message in enumerate(sent):
        assert not isinstance(message, SystemMessage) or position == 0
        if isinstance(message, ToolMessage):
            waiting.remove(message.tool_call_id)
            continue
        assert not waiting, "every native call has its result before anything else"
        if isinstance(message, AIMessage):
            waiting = [call["id"] for call in message.tool_calls]
            assert native or not waiting
            assert message.content or waiting
        elif isinstance(message, HumanMessage):
            assert message.content
    assert not waiting
    assert len(sent) == len([m for m in messages if m.role != "system"]) + any(
        m.role == "system" for m in messages
    )
