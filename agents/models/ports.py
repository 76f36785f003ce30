"""The port of chat models."""

from __future__ import annotations

from typing import Protocol

from agents.models.contract import ModelReply, ModelRequest


class ChatPort(Protocol):
    """One chat model. Performs exactly one call per request: a retry is for `decide` to order."""

    @property
    def name(self) -> str:
        """Identify the model, `provider:model`; recorded with every call."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Return the model's outcome and what it consumed.

        Everything that goes wrong with the model or on the way to it is a `ModelError`, never an exception;
        cancellation passes through.
        """
        ...
