"""Where a model's loop stands, and what code makes of that: a pure state machine of six phases.

    plan ──calls──► act ──► observe ──┬──────────► plan
     │ └─unusable─► plan              ├─ reflect ─► plan
     ├─finish, or the end of a limit─► done ◄──┘
     └─nothing usable, no model──────► failed

The three triggers of a reflection (003 2.1) and the guards are judged here, by code, from what was observed; the model
is never asked whether it is stuck.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

from agents.tools.loops import ALTERNATION, ActionKey, alternates
from agents.workers.model_claims import MAX_REPAIRS
from graphs.contract import Limits

Phase = Literal["plan", "act", "observe", "reflect", "done", "failed"]
"""`plan`: the model is asked; `act`: its calls are performed; `observe`: their results are judged; `reflect`: it is
told to think again; `done`: there is a result; `failed`: there is none."""

MOVES: Final[Mapping[Phase, frozenset[Phase]]] = {
    "plan": frozenset({"plan", "act", "done", "failed"}),
    "act": frozenset({"observe"}),
    "observe": frozenset({"plan", "reflect", "done"}),
    "reflect": frozenset({"plan"}),
    "done": frozenset(),
    "failed": frozenset(),
}
"""Every move that there is."""

Trigger = Literal["failures_in_a_row", "unexpected_result", "half_without_progress"]
TRIGGERS: Final[tuple[Trigger, ...]] = get_args(Trigger)

Closing = Literal["barren", "repeated", "alternating", "steps", "actions", "limit"]
"""Why the tools were taken away, so that the model can only finish.

- `barren`: two rounds in a row brought nothing new; the search ended by itself.
- `repeated`, `alternating`: the same action again and again, the same two in turn.
- `steps`, `actions`: only as many are left as a finish and its repair need.
- `limit`: the broker stopped a call at another limit.
"""

FAILURES_IN_A_ROW: Final = 2
"""Failed tool calls in a row that make the model think again (003 2.1)."""

BARREN_ROUNDS: Final = 2
"""Rounds in a row without new evidence that end a search (004 3.5)."""

FINISH_STEPS: Final = 2
"""Steps that are kept for `finish`: one, and one repair of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What one call came to, as far as guards need it."""

    key: ActionKey
    ok: bool
    seeking: bool = False
    """Whether it was to find or read material."""
    expected: int | None = None
    """How many results the model said that it expects; `None`: it said nothing."""
    found: int | None = None
    """How many there were; `None`: such a result has no number."""
    news: int = 0
    """Excerpts that were not shown before; for a call that seeks none, 1 for a first result."""

    @property
    def contradicts(self) -> bool:
        """Whether it found nothing where something was expected, or something where nothing was."""
        if not self.ok or self.expected is None or self.found is None:
            return False
        return (self.expected > 0) != (self.found > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a loop stands."""

    phase: Phase = "plan"
    steps: int = 0
    """Answers of the model."""
    actions: int = 0
    """Tool and model calls, those by code too."""
    tool_calls: int = 0
    unusable: int = 0
    """Answers in a row that could not be used."""
    failures: int = 0
    """Failed tool calls in a row."""
    barren: int = 0
    """Rounds in a row without new evidence."""
    news: int = 0
    """Of all calls."""
    told: frozenset[Trigger] = field(default_factory=frozenset)
    """Triggers that are told once only and were."""
    recent: tuple[ActionKey, ...] = ()
    """The newest actions, as many as an alternation has."""
    closing: Closing | None = None

    def moved(self, phase: Phase) -> Progress:
        """Return the state in `phase`; raises `ValueError` for a move that there is not."""
        if phase not in MOVES[self.phase]:
            raise ValueError(
                f"no move from {self.phase!r} to {phase!r}; accepted: {sorted(MOVES[self.phase])}"
            )
        return replace(self, phase=phase)

    def closed(self, why: Closing | None) -> Progress:
        """Return the state without tools; the first reason stays."""
        return self if why is None or self.closing is not None else replace(self, closing=why)


def asked(progress: Progress) -> Progress:
    """Return the state after one more answer of the model."""
    return replace(progress, steps=progress.steps + 1, actions=progress.actions + 1)


def unusable(progress: Progress) -> Progress:
    """Return the state after an answer that can't be used; from the third in a row on nothing is repaired."""
    return replace(progress, unusable=progress.unusable + 1).moved("plan")


def beyond_repair(progress: Progress) -> bool:
    """Return whether the model was told often enough what is wrong with its answers."""
    return progress.unusable > MAX_REPAIRS


def observed(
    progress: Progress, outcomes: tuple[CallOutcome, ...], limits: Limits
) -> tuple[Progress, tuple[Trigger, ...]]:
    """Return the state after the calls of one answer, in `observe`, and the triggers that they set off."""
    state, triggers = progress, set[Trigger]()
    for outcome in outcomes:
        failures = 0 if outcome.ok else state.failures + 1
        if failures >= FAILURES_IN_A_ROW:
            triggers.add("failures_in_a_row")
            failures = 0
        if outcome.contradicts:
            triggers.add("unexpected_result")
        recent = (*state.recent, outcome.key)[-ALTERNATION:]
        state = replace(state, failures=failures, recent=recent, news=state.news + outcome.news)
        if alternates(recent):
            state = state.closed("alternating")
    if any(outcome.seeking for outcome in outcomes):
        new = any(outcome.news for outcome in outcomes)
        state = replace(state, barren=0 if new else state.barren + 1)
    if state.barren >= BARREN_ROUNDS:
        state = state.closed("barren")
    if "half_without_progress" not in state.told and half_without_progress(state, limits):
        triggers.add("half_without_progress")
        state = replace(state, told=state.told | {"half_without_progress"})
    return state.moved("observe"), tuple(one for one in TRIGGERS if one in triggers)


def half_without_progress(progress: Progress, limits: Limits) -> bool:
    """Return whether half of the steps are used and nothing came of them (003 2.1)."""
    return progress.news == 0 and 2 * progress.steps >= limits.max_steps_per_node


def ending(progress: Progress, limits: Limits) -> Closing | None:
    """Return the limit of which only as much is left as a finish needs; `None` while there is more."""
    kept = min(FINISH_STEPS, max(1, limits.max_steps_per_node // 2))
    if limits.max_steps_per_node - progress.steps <= kept:
        return "steps"
    return "actions" if limits.max_actions - progress.actions <= kept else None


def room_for_calls(progress: Progress, limits: Limits) -> int:
    """Return how many tool calls may still be made, so that a finish and its repair can follow."""
    actions = limits.max_actions - progress.actions - FINISH_STEPS
    return max(0, min(actions, limits.max_tool_calls - progress.tool_calls))
