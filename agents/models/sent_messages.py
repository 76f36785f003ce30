"""The messages of a request in LangChain's form, such that every provider takes them.

What providers refuse is put into words instead: a call without its result, a result without its call, tool messages
where no tools are on offer, a system message in the middle, an answer without text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages import ToolCall as SentCall

from agents.models.action_protocol import call_words
from agents.models.contract import Message
from agents.tools.contract import ToolCall

_NOTHING = "(no answer)"
"""Stands for an empty message: providers refuse one."""


def sent_messages(messages: Sequence[Message], words: Sequence[str], *, native: bool) -> list[BaseMessage]:
    """Return `messages`, with one system message in front that holds all of them and then `words`.

    `native`: calls and the results that follow them at once go in the provider's own form; otherwise as text.
    """
    told = [message.content for message in messages if message.role == "system"] + list(words)
    rest = [message for message in messages if message.role != "system"]
    sent: list[BaseMessage] = [SystemMessage(content="\n\n".join(told))] if told else []
    position = 0
    while position < len(rest):
        message = rest[position]
        position += 1
        if message.role != "assistant":
            sent.append(HumanMessage(content=message.content or _NOTHING))
            continue
        results = list(takewhile(lambda one: one.role == "tool", rest[position:]))
        position += len(results)
        sent.extend(_turn(message, results if native else (), () if native else results))
    return sent


def _turn(
    answer: Message, results: Sequence[Message], worded_results: Sequence[Message]
) -> Iterator[BaseMessage]:
    """Yield an answer, the results of its calls, and then what belongs to none of them."""
    own = {call.id: call for call in answer.calls if call.id}
    of_call: dict[str, Message] = {}
    others = list(worded_results)
    for result in results:
        if result.call_id in own and result.call_id not in of_call:
            of_call[result.call_id] = result
        else:
            others.append(result)
    native = [own[given] for given in own if given in of_call]
    worded = [call for call in answer.calls if call not in native]
    parts = [answer.content] if answer.content else []
    if worded:
        parts.append(call_words(worded))
    if not parts and not native:
        parts.append(_NOTHING)
    yield AIMessage(content="\n".join(parts), tool_calls=[_call(call) for call in native])
    for call in native:
        yield ToolMessage(content=of_call[call.id].content or _NOTHING, tool_call_id=call.id)
    for result in others:
        yield HumanMessage(content=result.content or _NOTHING)


def _call(call: ToolCall) -> SentCall:
    return SentCall(name=call.tool, args=dict(call.arguments), id=call.id, type="tool_call")
