"""A model server on the loopback that answers as scripted, faults included, and counts what it is asked.

The real client packages of OpenAI and Anthropic talk to it over HTTP, so that what a fault looks like after all their
layers is seen and not guessed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A whole response."""

    status: int = 200
    body: Any = None
    """JSON value, or bytes to be sent as they are."""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Events:
    """A response in server-sent events."""

    data: Sequence[tuple[str, Any]]
    """Name (empty: none) and JSON value, or a text as it is."""
    reset: bool = False
    """Whether the connection is reset after them instead of being closed in order."""


@dataclass(frozen=True, kw_only=True)
class Silence:
    """No response, ever."""


Response = Answer | Events | Silence


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(kw_only=True)
class FaultServer:
    """Where it listens, what it will answer (the last response again and again) and what it was asked."""

    port: int
    responses: list[Response]
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _next(self) -> Response:
        return self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]


@asynccontextmanager
async def fault_server(*responses: Response) -> AsyncIterator[FaultServer]:
    """Serve `responses` in their order on an ephemeral port."""
    closed = asyncio.Event()
    tasks: set[asyncio.Task[None]] = set()
    rig = FaultServer(port=0, responses=list(responses))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await _exchange(rig, reader, writer, closed)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone: it gave up, as it should
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    rig.port = server.sockets[0].getsockname()[1]
    try:
        yield rig
    finally:
        closed.set()
        server.close()
        if tasks:
            await asyncio.wait(tasks)
        await server.wait_closed()


async def _exchange(
    rig: FaultServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, closed: asyncio.Event
) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().casefold(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    rig.asked.append(
        Asked(path=head[0].split(" ")[1], headers=headers, body=json.loads(body) if body else None)
    )
    match rig._next():
        case Silence():
            await closed.wait()
        case Answer() as answer:
            content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            sent = {"content-type": "application/json", "content-length": str(len(content)), **answer.headers}
            writer.write(_head(answer.status, sent) + content)
            await writer.drain()
        case Events() as events:
            writer.write(_head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
            for name, value in events.data:
                text = value if isinstance(value, str) else json.dumps(value)
                event = (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
                writer.write(f"{len(event.encode()):x}\r\n".encode() + event.encode() + b"\r\n")
                await writer.drain()
            if events.reset:
                writer.transport.abort()
                return
            writer.write(b"0\r\n\r\n")
            await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode()


def openai_answer(
    content: str | None = "fine",
    *,
    finish: str = "stop",
    calls: Sequence[tuple[str | None, str, Any]] = (),
    refusal: str | None = None,
) -> Answer:
    """A chat completion; `calls` are `(id, tool, arguments)`, the arguments as they are sent."""
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": refusal}
    if calls:
        message["tool_calls"] = [
            {"id": given, "type": "function", "function": {"name": tool, "arguments": arguments}}
            for given, tool, arguments in calls
        ]
    return Answer(
        body={
            "id": "c-1",
            "object": "chat.completion",
            "created": 1,
            "model": "toy-1",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": 12,
                "completion_tokens": 3,
                "total_tokens": 15,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
        }
    )


def openai_error(status: int, message: str, *, code: str | None = None, **headers: str) -> Answer:
    """An error in OpenAI's form."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
    return Answer(
        status=status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def openai_events(
    *deltas: Mapping[str, Any], finish: str | None = "stop", done: bool = True, reset: bool = False
) -> Events:
    """A streamed chat completion of `deltas`."""
    base = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "toy-1"}
    data: list[tuple[str, Any]] = [
        ("", {**base, "choices": [{"index": 0, "delta": dict(delta), "finish_reason": None}]})
        for delta in deltas
    ]
    if finish is not None:
        data.append(("", {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
        usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
        data.append(("", {**base, "choices": [], "usage": usage}))
    if done:
        data.append(("", "[DONE]"))
    return Events(data=data, reset=reset)


def anthropic_answer(*blocks: Mapping[str, Any], stop: str = "end_turn") -> Answer:
    """A message of `blocks`."""
    return Answer(
        body={
            "id": "m-1",
            "type": "message",
            "role": "assistant",
            "model": "toy-a",
            "content": [dict(block) for block in blocks],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 12, "output_tokens": 3},
        }
    )


def anthropic_error(status: int, kind: str, message: str, **headers: str) -> Answer:
    """An error in Anthropic's form."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Answer(
        status=status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def anthropic_events(
    *texts: str, stop: str | None = "end_turn", error: str | None = None, reset: bool = False
) -> Events:
    """A streamed message of one text block; `error` is the type of an error event after the texts."""
    message: dict[str, Any] = {
        "id": "m-1",
        "type": "message",
        "role": "assistant",
        "model": "toy-a",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 1},
    }
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    data: list[tuple[str, Any]] = [
        ("message_start", {"type": "message_start", "message": message}),
        ("content_block_start", block),
    ]
    for text in texts:
        delta = {"type": "text_delta", "text": text}
        data.append(("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}))
    if error is not None:
        data.append(("error", {"type": "error", "error": {"type": error, "message": "Overloaded"}}))
    elif stop is not None:
        end = {"stop_reason": stop, "stop_sequence": None}
        data.append(("content_block_stop", {"type": "content_block_stop", "index": 0}))
        data.append(("message_delta", {"type": "message_delta", "delta": end, "usage": {"output_tokens": 3}}))
        data.append(("message_stop", {"type": "message_stop"}))
    return Events(data=data, reset=reset)
