"""Answers of a model kept in a file, and a model that gives them again: tests and replays need no key and no network.

One line of JSON per answer: the digest of the request, what it was for, and the reply as it was. The request itself is
not kept, the answer is: a recording is as confidential as what the model said.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agents.models.contract import FinalAnswer, ModelError, ModelReply, ModelRequest, ToolCalls
from agents.models.errors import InvalidRecording
from agents.models.ports import ChatPort, Told

_REQUEST: TypeAdapter[ModelRequest] = TypeAdapter(ModelRequest)
_REPLY: TypeAdapter[ModelReply] = TypeAdapter(ModelReply)


def request_digest(name: str, request: ModelRequest) -> str:
    """Return the SHA-256 of what is sent of `request` to the model `name`; what was left out of it does not count."""
    document = _REQUEST.dump_python(replace(request, dropped=()), mode="json")
    text = json.dumps([name, document], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class RecordingChat:
    """Asks the model inside and appends each of its replies to `path`, errors included.

    Raises `OSError` when the file can't be written: an answer that was paid for and is not kept is no recording.
    """

    inner: ChatPort
    path: Path

    def __post_init__(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = self.path.read_bytes() if self.path.exists() else b""
        if text and not text.endswith(b"\n"):
            # A line that a kill cut off must not swallow the next one.
            self._append("")

    @property
    def name(self) -> str:
        """Return the name of the model inside."""
        return self.inner.name

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        """Return what the model inside replies, once that is in the file."""
        reply = await self.inner.complete(request, told)
        entry = {
            "request": request_digest(self.name, request),
            "model": self.name,
            "purpose": request.purpose,
            "reply": _REPLY.dump_python(reply, mode="json"),
        }
        self._append(json.dumps(entry, ensure_ascii=True))
        return reply

    def _append(self, line: str) -> None:
        # As the run store's files: for this user alone, whatever the umask says.
        opened = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(opened, "a", encoding="utf-8", newline="\n") as file:
            file.write(f"{line}\n")


@dataclass(slots=True)
class RecordedChat:
    """Replies from a recording: to a request as when it was recorded, and to no other.

    A request that was recorded several times gets its replies in their order, and then the last one again. Raises
    `InvalidRecording` for a line that is none, and `OSError` for a file that can't be read.
    """

    path: Path
    name: str
    """The model whose replies these are: a file may hold those of several."""
    _replies: Mapping[str, list[ModelReply]] = field(init=False)
    _given: dict[str, int] = field(init=False, default_factory=lambda: defaultdict(int))

    def __post_init__(self) -> None:
        replies: defaultdict[str, list[ModelReply]] = defaultdict(list)
        for number, line in enumerate(self.path.read_text(encoding="utf-8").split("\n"), 1):
            if line:
                digest, reply = _entry(self.path, number, line)
                replies[digest].append(reply)
        self._replies = dict(replies)

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        """Return the recorded reply; a request that was never recorded gets a `ModelError` that says how to."""
        digest = request_digest(self.name, request)
        replies = self._replies.get(digest)
        if replies is None:
            message = (
                f"no recorded reply of {self.name!r} to the request {digest[:12]} (purpose {request.purpose!r}, "
                f"prompt {request.prompt_version or 'unnamed'!r}) in {self.path.name!r}; record it by running once "
                "with RecordingChat over the model"
            )
            return ModelReply(outcome=ModelError(error_type="bad_request", message=message, retryable=False))
        reply = replies[min(self._given[digest], len(replies) - 1)]
        self._given[digest] += 1
        if told is not None and isinstance(reply.outcome, FinalAnswer | ToolCalls) and reply.outcome.text:
            told(reply.outcome.text)
        return reply


def _entry(path: Path, number: int, line: str) -> tuple[str, ModelReply]:
    try:
        entry: Any = json.loads(line)
        return str(entry["request"]), _REPLY.validate_python(entry["reply"])
    except (ValueError, LookupError, TypeError, ValidationError):
        raise InvalidRecording(path, number) from None
