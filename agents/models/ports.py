"""The port of chat models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agents.models.contract import ModelReply, ModelRequest

Told = Callable[[str], None]
"""Gets what a model says piece by piece, in order. For showing only: the pieces of an answer that is refused, cut off
or broken off in the middle have been told, too."""


class ChatPort(Protocol):
    """One chat model. Performs exactly one call per request: a retry is for `decide` to order."""

    @property
    def name(self) -> str:
        """Identify the model, `provider:model`; recorded with every call."""

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        """Return the model's outcome and what it consumed; with `told`, its text is told while it comes.

        Everything that goes wrong with the model or on the way to it is a `ModelError`, never an exception;
        cancellation passes through. A provider that refuses the form of a request (a response format, tools) has not
        answered it: the next declared form of it is sent, and `Usage.requests` counts both.
        """
        ...
