"""What a run is for: finding a fault, measuring, or real work (seed 003, 3.1: three sets of settings, one switch).

The profile is part of the proposal and of its hash: a run that was approved for `evaluate`, where changes are only
pretended, never makes them. What each profile lets tools do is decided by `agents.tools.gate`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agents.tools.contract import Profile
from graphs.contract import Lang, Limits

DEBUG_STEPS: Final = 5
"""Model calls of one attempt in the profile `debug` (003 3.1)."""
SAMPLED: Final = 0.10
"""Of attempts, the share whose calls the log of the profile `production` holds (003 3.4)."""

WORDS: Final[Mapping[Profile, Mapping[Lang, str]]] = {
    "debug": {
        "en": "debug: tools that change something are refused; every event is logged whole",
        "zh": "调试：拒绝会造成改动的工具；完整记录每个事件",
    },
    "evaluate": {
        "en": "evaluate: changes are only pretended; every event is logged in short",
        "zh": "评测：改动只作模拟；简要记录每个事件",
    },
    "production": {
        "en": "production: changes need your approval; the log holds the calls of one attempt in ten",
        "zh": "生产：改动须经您批准；日志只含十分之一尝试的调用",
    },
}
"""What a profile means, for the review."""


def limits_in(profile: Profile, limits: Limits) -> Limits:
    """Return the limits that hold in a profile: `debug` allows `DEBUG_STEPS` model calls, the others what is given."""
    if profile != "debug":
        return limits
    return replace(limits, max_steps_per_node=min(limits.max_steps_per_node, DEBUG_STEPS))


def is_sampled(seed: str, node: str, generation: int, attempt: int, share: float = SAMPLED) -> bool:
    """Tell whether the calls of an attempt are in the sample: the same for the same run seed and attempt.

    `share` is the expected share of attempts, in [0, 1].
    """
    name = f"{seed}\n{node}\n{generation}\n{attempt}"
    drawn = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return drawn < share * 2**64
