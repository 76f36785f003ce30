"""The chat models of a process: opened by name when an agent first needs one, with the keys of the environment.

Recording and replay sit here, in front of the provider: with `MASKGRAD_RECORD=FILE` every reply goes into a file, with
`MASKGRAD_REPLAY=FILE` it comes from there and no provider is opened at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agents.models.errors import RecordAndReplay
from agents.models.ports import ChatPort
from agents.models.prices import Prices, prices_in
from agents.models.providers import DEFAULT_TIMEOUT_S, chat_of
from agents.models.recorded import RecordedChat, RecordingChat
from agents.spec import AgentSpec, ModelPolicy

RECORD: Final = "MASKGRAD_RECORD"
"""Environment variable: the file that replies are recorded in."""
REPLAY: Final = "MASKGRAD_REPLAY"
"""Environment variable: the file that replies are taken from."""


class ChatModels:
    """Opens chat models and keeps them: what one learnt of its provider is known to all who ask it."""

    def __init__(self, environ: Mapping[str, str], home: Path, timeout_s: float | None = None) -> None:
        """`environ` holds the keys, `home` the user's prices; a call may be silent for `timeout_s` seconds."""
        self._environ = environ
        self._home = home
        self.timeout_s: Final = DEFAULT_TIMEOUT_S if timeout_s is None else timeout_s
        self._open: dict[tuple[str | None, str | None], ChatPort] = {}
        self._prices: Prices | None = None

    def of_agent(self, agent: AgentSpec) -> ChatPort | None:
        """Return the model that `agent` thinks with; raises as `of_policy`."""
        return self.of_policy(agent.model_policy)

    def of_policy(self, policy: ModelPolicy) -> ChatPort | None:
        """Return the model that `policy` names, `None` where it names none.

        Raises a `ChatUnavailable` for a provider that is unknown, not installed or without a key, for an address that
        is none, for a file of prices or recordings that can't be read, and where both recording and replay are set.
        """
        if policy.kind != "model" or policy.model is None:
            return None
        key = (policy.model, policy.base_url)
        if key not in self._open:
            self._open[key] = self._opened(policy, policy.model)
        return self._open[key]

    def prices(self) -> Prices:
        """Return the prices of this process; raises `InvalidPricesFile`."""
        if self._prices is None:
            self._prices = prices_in(self._home)
        return self._prices

    def _opened(self, policy: ModelPolicy, name: str) -> ChatPort:
        if self._environ.get(REPLAY) and self._environ.get(RECORD):
            raise RecordAndReplay
        if self._environ.get(REPLAY):
            return RecordedChat(path=Path(self._environ[REPLAY]), name=name)
        chat = chat_of(policy, environ=self._environ, timeout_s=self.timeout_s, prices=self.prices())
        assert chat is not None, "the policy names a model"
        if self._environ.get(RECORD):
            return RecordingChat(inner=chat, path=Path(self._environ[RECORD]))
        return chat
