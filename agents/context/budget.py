"""How many tokens of a model's window the messages of a request may take (seed 003, 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SAFETY_PERCENT: Final = 15
"""Of the window that stays free (003 3.3): what a count may be too low by, and what a provider adds."""
OUTPUT_TOKENS: Final = 2_000
"""Kept for the answer (003 3.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBudget:
    """The shares of a context window, all in tokens."""

    window: int
    """What the model takes, prompt and answer together."""
    output: int = OUTPUT_TOKENS
    tools: int = 0
    """What the descriptions of the offered tools take (`agents.models.tokens.offer_tokens`)."""

    @property
    def input(self) -> int:
        """What the whole request may take: 85 % of the window less the answer, at least 0.

        >>> WindowBudget(window=32_000).input
        25200
        """
        return max(0, self.window * (100 - SAFETY_PERCENT) // 100 - self.output)

    @property
    def messages(self) -> int:
        """What its messages may take: the input less the tools, at least 0."""
        return max(0, self.input - self.tools)

    def rounds(self, fixed: int, per_round: int) -> int:
        """Return how many rounds of a loop fit beside `fixed` tokens of prompt before something has to be folded.

        >>> WindowBudget(window=32_000, tools=1_100).rounds(fixed=800, per_round=970)
        24
        """
        return max(0, self.messages - fixed) // max(1, per_round)
