"""Ask a model for one structured answer; tell it what is wrong, at most twice. Every call is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar, assert_never

from agents.models.advice import explained
from agents.models.contract import (
    FinalAnswer,
    InvalidOutput,
    Message,
    ModelError,
    ModelRequest,
    ToolCalls,
)
from agents.models.json_answers import Parsed, read_whole_json
from agents.models.ports import ChatPort
from agents.models.reasons import reason_words
from agents.planning.model.prompts import PLAN_PROMPT_VERSION, repair_messages
from agents.planning.repairs import PlanningCall, PlanRepair, repair
from graphs.contract import Lang

MAX_REPAIR_REQUESTS: Final = 2
"""Times that the model is told what is wrong with one answer (field report 9)."""

MAX_PLAN_TOKENS: Final = 2_000
"""Longest answer: a plan of one level with room to spare; a model that repeats itself stops here."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usable(Generic[T]):
    """What an answer was read as."""

    value: T
    repairs: tuple[PlanRepair, ...] = ()
    told: tuple[str, ...] = ()
    """What the model should put right by its own meaning; it is told once, then code does it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[T]):
    """The best answer, and what was wrong on the way to it."""

    value: T | None
    """`None`: nothing usable came."""
    repairs: tuple[PlanRepair, ...]
    reason: str = ""
    """Why nothing usable came."""


@dataclass(slots=True, kw_only=True)
class Interview:
    """The calls for one plan."""

    chat: ChatPort
    lang: Lang
    calls: list[PlanningCall] = field(default_factory=list)

    async def ask(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        read: Callable[[object], Usable[T] | str],
        *,
        what: str,
    ) -> Answered[T]:
        """Return what `read` makes of the answer; a text from it says why the answer is unusable.

        `what` names the answer in repairs. An answer with faults that are for the model to mend is asked for once more
        and kept: should the next be no better, code mends it.
        """
        best: Usable[T] | None = None
        asked: list[PlanRepair] = []
        sent = tuple(messages)
        reason = ""
        for left in range(MAX_REPAIR_REQUESTS, -1, -1):
            reply = await self._call(sent, schema)
            if not reply.answered:
                reason = reply.reason
                break
            found = read(reply.data) if reply.data is not None else reply.reason
            if isinstance(found, Usable):
                found = _with_form(found, reply.reason, what)
                told_before, best = best is not None, found
                if told_before or not found.told:
                    break
                problems = found.told
            elif best is not None:
                break
            else:
                problems = (reason_words(found, self.lang),)
                reason = found
            if left:
                asked.append(repair("asked_again", what=what, reason="; ".join(problems)))
                sent = (*messages, *repair_messages(reply.raw, problems, self.lang))
        if best is None:
            return Answered(value=None, repairs=tuple(asked), reason=reason)
        return Answered(value=best.value, repairs=(*asked, *best.repairs))

    async def _call(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> _Reply:
        """Perform one call. An answer that breaks the schema is read all the same: whoever asks is tolerant in form."""
        request = ModelRequest(
            purpose="plan",
            messages=tuple(messages),
            output_schema=schema,
            max_output_tokens=MAX_PLAN_TOKENS,
            prompt_version=PLAN_PROMPT_VERSION,
        )
        reply = await self.chat.complete(request)
        outcome = reply.outcome
        self.calls.append(
            PlanningCall(
                model=self.chat.name,
                purpose="plan",
                prompt_version=PLAN_PROMPT_VERSION,
                outcome=outcome.kind,
                usage=reply.usage,
                elapsed_ms=reply.elapsed_ms,
            )
        )
        match outcome:
            case FinalAnswer(data=(dict() | list()) as data):
                return _Reply(raw=outcome.text, data=data)
            case FinalAnswer():
                return _Reply(raw=outcome.text, reason="the answer is no JSON object")
            case ToolCalls():
                names = ", ".join(call.tool for call in outcome.calls)
                return _Reply(raw=names, reason="no tools are on offer here; answer with JSON")
            case InvalidOutput():
                whole = read_whole_json(outcome.raw)
                if isinstance(whole, Parsed):
                    return _Reply(raw=outcome.raw, data=whole.data, reason=outcome.reason)
                return _Reply(raw=outcome.raw, reason=whole.reason)
            case ModelError():
                told = explained(outcome, model=self.chat.name, lang=self.lang, elapsed_ms=reply.elapsed_ms)
                return _Reply(raw="", reason=told, answered=False)
            case _:
                assert_never(outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    """What came of one call."""

    raw: str
    data: object = None
    """The JSON value of the answer; `None`: it holds none."""
    reason: str = ""
    """What is wrong with it."""
    answered: bool = True


def _with_form(found: Usable[T], reason: str, what: str) -> Usable[T]:
    """Name a breach of the schema that was read all the same, unless the reader has named it."""
    if not reason or any(known.kind == "form" for known in found.repairs):
        return found
    return replace(found, repairs=(repair("form", what=what, reason=reason), *found.repairs))
