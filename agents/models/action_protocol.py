"""Tools for models without tool calling: told in words, called by one JSON value, and read back here.

`{"tool": NAME, "arguments": {…}}`, or a list of such. What is read is a proposal as any other: whether the tool exists
and is allowed is for the broker to say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agents.models.contract import InvalidCall, InvalidOutput, ToolCalls, ToolOffer
from agents.models.json_answers import Parsed, read_json_answer
from agents.tools.contract import ToolCall

_CALL: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"tool": {"type": "string"}},
    "required": ["tool"],
}
_NAMED: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
    "required": ["name", "arguments"],
}
_CALLS: Final[Mapping[str, Any]] = {
    "anyOf": [_CALL, _NAMED, {"type": "array", "contains": {"anyOf": [_CALL, _NAMED]}}]
}
"""What counts as a call. The form with `name` is the one that many open models are trained on."""


def action_words(tools: Sequence[ToolOffer]) -> str:
    """Return the words that offer `tools`; for the machine, hence in one language."""
    offered = [
        {"tool": tool.name, "description": tool.description, "arguments": dict(tool.input_schema)}
        for tool in tools
    ]
    shown = "\n".join(json.dumps(entry, ensure_ascii=False, sort_keys=True) for entry in offered)
    return (
        "You may call these tools; each line gives one, with the JSON schema of its arguments:\n"
        f"{shown}\n"
        'To call a tool, answer with {"tool": NAME, "arguments": {...}} and nothing else; to call several, with a '
        "JSON list of such objects. Their results come with the next message. When you need no more tools, give your "
        "answer instead."
    )


def call_schema(tools: Sequence[ToolOffer]) -> Mapping[str, Any]:
    """Return the JSON schema of one call of one of `tools`, for a server that holds a model to a schema.

    Raises `ValueError` for no tools.
    """
    if not tools:
        raise ValueError("no tools to call")
    calls = [
        {
            "type": "object",
            "properties": {
                # The name first: a model that writes in order then fills in what belongs to it.
                "tool": {"type": "string", "enum": [tool.name]},
                "arguments": {"type": "object", **tool.input_schema},
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return calls[0] if len(calls) == 1 else {"type": "object", "anyOf": calls}


def call_words(calls: Sequence[ToolCall]) -> str:
    """Return how a model without tool calling would have written `calls`.

    >>> call_words([ToolCall(tool="search", arguments={"query": "泵"})])
    '{"tool": "search", "arguments": {"query": "泵"}}'
    """
    written = [{"tool": call.tool, "arguments": dict(call.arguments)} for call in calls]
    return json.dumps(written[0] if len(written) == 1 else written, ensure_ascii=False)


def read_actions(text: str) -> ToolCalls | InvalidOutput | None:
    """Return the calls that `text` proposes; `None` where it proposes none.

    A list may hold calls and what is none: those that parse are kept, the others are `invalid`. Without any that
    parses it is an `InvalidOutput`, as is a call that is cut off or no JSON.
    """
    read = read_json_answer(text, _CALLS)
    if not isinstance(read, Parsed):
        return InvalidOutput(raw=text, reason=read.reason) if '"tool"' in text else None
    calls: list[ToolCall] = []
    invalid: list[InvalidCall] = []
    for entry in read.data if isinstance(read.data, list) else [read.data]:
        found = _read(entry)
        if isinstance(found, ToolCall):
            calls.append(found)
        else:
            invalid.append(found)
    if not calls:
        return InvalidOutput(raw=text, reason="; ".join(f"{bad.tool!r}: {bad.reason}" for bad in invalid))
    return ToolCalls(calls=tuple(calls), invalid=tuple(invalid))


def _read(entry: Any) -> ToolCall | InvalidCall:
    raw = json.dumps(entry, ensure_ascii=False)
    if not isinstance(entry, dict):
        return InvalidCall(tool="", raw=raw, reason='accepted: {"tool": NAME, "arguments": {...}}')
    name = entry.get("tool", entry.get("name"))
    arguments = entry.get("arguments", {})
    if not isinstance(name, str):
        return InvalidCall(tool="", raw=raw, reason=f"tool is {name!r}; accepted: a tool's name")
    if not isinstance(arguments, dict):
        return InvalidCall(tool=name, raw=raw, reason=f"arguments is {arguments!r:.60}; accepted: an object")
    return ToolCall(tool=name, arguments=arguments, origin="parametric", taint="untrusted")
