"""What the result of a call shows a model, and what it means to the guards."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agents.broker import BudgetExhausted
from agents.prompts import Excerpt
from agents.prompts_loop import data_result, failed_result, repeated_words, shown_result, told_words
from agents.tools.builtin.notes import DEFAULT_HITS
from agents.tools.contract import ToolCall, ToolError, ToolOk
from agents.tools.loops import ActionKey
from agents.tools.told import told_result
from agents.workers.model_loop.calls import Proposal, Returned
from agents.workers.model_loop.progress import CallOutcome, Closing
from agents.workers.model_loop.shelf import Shelf, Shown
from graphs.contract import Lang

RESULT_CHARS: Final = 4_000
"""Of one result (003 2.3)."""

SEARCH: Final = "search_notes"
READ: Final = "read_note"

FAR_DOWN: Final = 2 * DEFAULT_HITS
"""Place in a search from which on hits are no new evidence, the second page behind the first one: what is near to the
query stands before. Small models page on through one search to its end. Our choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One result as the loop takes it."""

    text: str
    """For the model; what stems from the tool is quoted as data."""
    outcome: CallOutcome | None
    """`None`: a limit stopped the call, so nothing was observed."""
    shown: frozenset[str] = frozenset()
    """Numbers of the excerpts in `text`."""
    new: tuple[Excerpt, ...] = ()
    """Those that had no number before."""
    stopped: Closing | None = None


def observe(
    proposal: Proposal,
    returned: Returned,
    shelf: Shelf,
    *,
    visible: Collection[str],
    key: ActionKey,
    known: bool,
    lang: Lang,
) -> Observation:
    """Return what a result shows; excerpts go to the `shelf` and are shown as far as the mask lets them.

    `visible` are the excerpts that the model sees already, `known` says whether the same action was taken before.
    """
    call = proposal.call
    seeking = call.tool in (SEARCH, READ)
    # In the language of the goal, as far as the words are the program's own.
    returned = returned if isinstance(returned, BudgetExhausted) else told_result(returned, lang)
    match returned:
        case BudgetExhausted():
            why: Closing = "repeated" if returned.limit == "identical_calls" else "limit"
            return Observation(text=told_words((why,), (), lang), outcome=None, stopped=why)
        case ToolError():
            text = failed_result(
                returned.error_type,
                returned.message[:RESULT_CHARS],
                lang,
                retryable=returned.retryable,
            )
            outcome = CallOutcome(key=key, ok=False, seeking=seeking, expected=proposal.expected)
            return Observation(text=_with_hint(text, lang, known=known), outcome=outcome)
        case ToolOk() if seeking:
            shown = _taken(call.tool, returned, shelf, visible)
            text = shown_result(
                shown.excerpts, shown.again, returned.next_offset or _next(returned.data), lang
            )
            outcome = CallOutcome(
                key=key,
                ok=True,
                seeking=True,
                expected=proposal.expected,
                found=shown.found,
                news=0 if _far_down(call) else len(shown.new),
            )
            keys = frozenset(excerpt.key for excerpt in shown.excerpts)
            return Observation(
                text=_with_hint(text, lang, known=known), outcome=outcome, shown=keys, new=shown.new
            )
        case ToolOk():
            written = _written(returned)
            text = data_result(
                written[:RESULT_CHARS],
                returned.next_offset,
                cut=returned.truncated or len(written) > RESULT_CHARS,
                lang=lang,
            )
            outcome = CallOutcome(
                key=key,
                ok=True,
                expected=proposal.expected,
                found=_number_of(returned.data),
                news=0 if known else 1,
            )
            return Observation(text=_with_hint(text, lang, known=known), outcome=outcome)


def _taken(tool: str, result: ToolOk, shelf: Shelf, visible: Collection[str]) -> Shown:
    return (
        shelf.add_search(result.data, visible) if tool == SEARCH else shelf.add_reading(result.data, visible)
    )


def _far_down(call: ToolCall) -> bool:
    """Return whether a call pages on through a search far behind its best hits."""
    offset = call.arguments.get("offset", 0)
    return call.tool == SEARCH and isinstance(offset, int) and offset >= FAR_DOWN


def _next(data: Any) -> int | None:
    offset = data.get("next_offset") if isinstance(data, Mapping) else None
    return offset if isinstance(offset, int) else None


def _written(result: ToolOk) -> str:
    data = result.data
    body = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, sort_keys=True)
    return f"{result.summary}\n{body}"


def _number_of(data: Any) -> int | None:
    """Return how many results a tool gave: of a list, or of the only list in an object."""
    if isinstance(data, list | tuple):
        return len(data)
    if not isinstance(data, Mapping):
        return None
    lists = [value for value in data.values() if isinstance(value, list | tuple)]
    return len(lists[0]) if len(lists) == 1 else None


def _with_hint(text: str, lang: Lang, *, known: bool) -> str:
    return f"{repeated_words(lang)}\n{text}" if known else text
