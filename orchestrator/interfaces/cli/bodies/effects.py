"""Calls of a run that change something, and what came of them, as `show` says it."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from orchestrator.core.effects import EffectCall, effects_of
from orchestrator.core.report import effect_words
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.streams import one_line

_LINE: Final = 400
"""Characters of a line; `--json` has all of a call."""
_CALLS: Final = TypeAdapter(tuple[EffectCall, ...])


def effect_lines(state: RunState, lang: Lang) -> list[str]:
    """Return a line for each call that was to change something, under a head line; nothing where there is none."""
    calls = effects_of(state)
    if not calls:
        return []
    head = pick(lang, "calls that change something:", "会产生改动的调用：")
    return [head, *(f"  {call.node:<5} {one_line(effect_words(call, lang), _LINE)}" for call in calls)]


def effect_documents(state: RunState) -> list[dict[str, Any]]:
    """Return these calls as JSON objects, whole."""
    documents: list[dict[str, Any]] = _CALLS.dump_python(effects_of(state), mode="json")
    return documents
