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

from agents.models.contract import FinalAnswer, ModelError, ModelReply, ModelRequest, ToolCalls, Usage
from agents.models.errors import NO_FOLDER, NO_TEXT, InvalidRecording, RecordingUnavailable, why_unusable
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

    Raises `RecordingUnavailable`, an `OSError`, when its folder is missing or the file can't be written: an answer that
    was paid for and is not kept is no recording.
    """

    inner: ChatPort
    path: Path

    def __post_init__(self) -> None:
        # A folder is not made: a mistyped path would take the recording where nobody looks for it.
        if not self.path.parent.is_dir():
            raise RecordingUnavailable(self.path, "record", NO_FOLDER)
        self._append("")  # what can't be written shows before anything is paid for
        # A line that a kill cut off must not swallow the next one.
        if self._is_cut_off():
            self._append("\n")

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
        self._append(f"{json.dumps(entry, ensure_ascii=True)}\n")
        return reply

    def _is_cut_off(self) -> bool:
        try:
            text = self.path.read_bytes()
        except OSError as error:
            raise RecordingUnavailable(self.path, "record", why_unusable(error)) from error
        return bool(text) and not text.endswith(b"\n")

    def _append(self, text: str) -> None:
        # As the run store's files: for this user alone, whatever the umask says.
        try:
            opened = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(opened, "a", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise RecordingUnavailable(self.path, "record", why_unusable(error)) from error


@dataclass(slots=True)
class RecordedChat:
    """Replies from a recording: to a request as when it was recorded, and to no other.

    Its usage says the tokens of the first time, and that nothing is spent for them now (`Usage.recorded`).
    A request that was recorded several times gets its replies in their order, and then the last one again. Raises
    `InvalidRecording` for a line that is none, and `RecordingUnavailable` for a file that can't be read.
    """

    path: Path
    name: str
    """The model whose replies these are: a file may hold those of several."""
    _replies: Mapping[str, list[ModelReply]] = field(init=False)
    _given: dict[str, int] = field(init=False, default_factory=lambda: defaultdict(int))

    def __post_init__(self) -> None:
        replies: defaultdict[str, list[ModelReply]] = defaultdict(list)
        try:
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise RecordingUnavailable(self.path, "replay", why_unusable(error)) from error
        except UnicodeDecodeError as error:
            raise RecordingUnavailable(self.path, "replay", NO_TEXT) from error
        for number, line in enumerate(text.split("\n"), 1):
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
                f"{self.path.name!r}, request {digest[:12]}, purpose {request.purpose!r}, prompt "
                f"{request.prompt_version or 'unnamed'!r}"
            )
            return ModelReply(
                outcome=ModelError(
                    error_type="misconfigured", message=message, retryable=False, cause="not_recorded"
                ),
                usage=Usage(cost_usd=0.0, recorded=True),
            )
        reply = replies[min(self._given[digest], len(replies) - 1)]
        self._given[digest] += 1
        if told is not None and isinstance(reply.outcome, FinalAnswer | ToolCalls) and reply.outcome.text:
            told(reply.outcome.text)
        return replace(reply, usage=replace(reply.usage, cost_usd=0.0, recorded=True))


def _entry(path: Path, number: int, line: str) -> tuple[str, ModelReply]:
    try:
        entry: Any = json.loads(line)
        return str(entry["request"]), _REPLY.validate_python(entry["reply"])
    except (ValueError, LookupError, TypeError, ValidationError):
        raise InvalidRecording(path, number) from None
