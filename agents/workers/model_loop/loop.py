"""A worker that lets a chat model work in steps: it proposes calls, sees results, and ends by `finish`.

The model proposes; code performs, judges and ends. Numbers of excerpts are given by code, so what was never shown
can't be cited; a claim rests on an excerpt that the model no longer saw only after it was read again. Everything but
the replies of model and tools is a function of the order: a resumed attempt makes the same calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agents.broker import Broker, BudgetExhausted
from agents.models.contract import (
    FinalAnswer,
    InvalidOutput,
    Message,
    ModelError,
    ModelReply,
    ToolCalls,
)
from agents.models.reasons import reason_words
from agents.operations import tools_of
from agents.prompts import REPAIR_CHARS, no_usable_answer_words
from agents.prompts_loop import (
    accepted_words,
    beside_failed_words,
    failed_result,
    never_finished_words,
    not_accepted_words,
    not_performed_words,
    plain_text_reason,
    told_words,
    unfinished_words,
    without_finish_words,
)
from agents.results import WorkResult
from agents.tools.contract import ToolCall, ToolError, ToolOk
from agents.workers.model_claims import model_failure, queries_of, unsearched
from agents.workers.model_loop.calls import Proposal, key_of, perform, proposals_of
from agents.workers.model_loop.conversation import Composed
from agents.workers.model_loop.finish import FINISH, Finish, read_finish
from agents.workers.model_loop.observing import SEARCH, Observation, observe
from agents.workers.model_loop.progress import (
    Trigger,
    asked,
    beyond_repair,
    ending,
    observed,
    room_for_calls,
    unusable,
)
from agents.workers.model_loop.session import BY_CODE, BY_MODEL, NOTE_CHARS, Session
from agents.workers.ports import WorkFailed, WorkOrder
from agents.workers.tool_failures import tool_failure
from masks.domains import DomainRegistry

TOOL_NAME_CHARS: Final = 60
"""Of a tool's name as a model wrote it, where code repeats it."""


@dataclass(frozen=True, slots=True)
class ModelLoop:
    """Performs orders in the steps of the chat model behind the broker."""

    registry: DomainRegistry

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return the model's claims with citations, what stays open, and what code noted on the way.

        Raises `WorkFailed` when the model can't be reached or refuses, and `invalid_output` when it gives nothing
        usable after `MAX_REPAIRS` repairs in a row; lets a `BudgetExhausted` pass that comes before its first step,
        and a `CallHeld` when the calls beside the held one were made.
        """
        session = Session.begun(order, broker, self.registry)
        await _look_up(session)
        try:
            while (finish := await _step(session)) is None:
                pass
        except BudgetExhausted as stop:
            if not session.stepped:
                raise
            finish = _cut_short(session, stop.limit)
        return await session.result(finish)


async def _look_up(session: Session) -> None:
    """Search for each question by code: what is certain to be done needs no step of the model (003 1.2).

    Half of the calls that the limits leave; raises `WorkFailed` for an unusable tool.
    """
    if SEARCH not in tools_of(session.order.subtask.operation):
        return
    queries = queries_of(session.order, session.questions)
    allowed = (room_for_calls(session.progress, session.order.limits) + 1) // 2
    for query in queries[:allowed]:
        call = ToolCall(tool=SEARCH, arguments={"query": query[:1000]})
        try:
            result = await session.broker.call_tool(call)
        except BudgetExhausted:
            break
        session.count_calls(1)
        if isinstance(result, ToolError):
            raise tool_failure(result)
        shown = session.shelf.add_search(result.data)
        session.taken.add(key_of(call, session.offered.tools, result.source_version))
        session.add_round(query, BY_CODE, shown.found, shown.new)
        session.progress = replace(session.progress, news=session.progress.news + len(shown.new))
    session.unsearched = unsearched(session.questions, len(queries), len(session.searched))


async def _step(session: Session) -> Finish | None:
    """Ask the model once and perform what it proposes; return its `finish` when that ends the loop.

    Raises `WorkFailed` when the loop fails, `BudgetExhausted` when the model can't be asked any more.
    """
    session.go_on(session.progress.closed(ending(session.progress, session.order.limits)))
    composed = session.composed()
    request = session.request(composed)
    reply = await session.broker.call_model(request)
    session.visible = composed.visible
    session.conversation.saw(composed.visible, session.shelf.pieces)
    session.used_tokens += _used(reply, composed)
    session.progress = asked(session.progress)
    match reply.outcome:
        case ToolCalls() as answer:
            return await _turn(session, answer)
        case FinalAnswer(text=text):
            return _unusable(session, text, plain_text_reason(session.order.lang))
        case InvalidOutput(raw=raw, reason=reason):
            return _unusable(session, raw, reason)
        case ModelError() as error:
            if error.error_type == "overflow" and session.smaller(composed):
                return None
            session.progress = session.progress.moved("failed")
            raise model_failure(error, reply, session.order)


def _cut_short(session: Session, limit: str) -> Finish:
    """Return what is there when a limit ends the loop before the model does."""
    session.go_on(session.progress.closed("limit"))
    return _unfinished(session, limit)


def _unfinished(session: Session, why: str) -> Finish:
    """Return what the model handed over so far, as not complete; `why` is the code that is noted."""
    session.note("unfinished", why)
    session.unfinished = True
    session.progress = session.progress.moved("done")
    return replace(session.draft or Finish(), complete=False)


async def _turn(session: Session, answer: ToolCalls) -> Finish | None:
    """Perform the calls of an answer; return its `finish` if it is accepted."""
    proposals = proposals_of(answer, session.offered.expecting, session.order.lang)
    calling = [p for p in proposals if p.call.tool != FINISH and not p.invalid]
    room = 0 if session.progress.closing else room_for_calls(session.progress, session.order.limits)
    performing = calling[:room]
    observations: dict[str, Observation] = {}
    triggers: tuple[Trigger, ...] = ()
    if performing or any(p.invalid for p in proposals if p.call.tool != FINISH):
        session.progress = session.progress.moved("act")
        observations, triggers = await _act(session, proposals, performing)
    failed = any(seen.outcome is None or not seen.outcome.ok for seen in observations.values())
    finish, words = _judged(session, proposals, beside_failed=failed)
    results = [
        _result_message(session, p, observations.get(p.call.id), words.get(p.call.id)) for p in proposals
    ]
    said = []
    if triggers:
        session.progress = session.progress.moved("reflect")
        names = [_name(p) for p in proposals if p.call.id in observations]
        said.append(Message(role="user", content=told_words(triggers, names, session.order.lang)))
        for trigger in triggers:
            session.note(trigger, ", ".join(names))
    said_by_model = _assistant(answer.text, [p.call for p in proposals])
    session.conversation.history.extend((said_by_model, *results, *said))
    return _after(session, finish, performed=bool(performing), asked_to_finish=bool(words))


def _after(
    session: Session, finish: Finish | None, *, performed: bool, asked_to_finish: bool
) -> Finish | None:
    """Move on after a turn: to the end, to a repair, or to the next step."""
    if finish is not None and not finish.problems:
        session.stepped = True
        session.progress = (
            session.progress.moved("plan") if session.progress.phase == "reflect" else session.progress
        ).moved("done")
        return finish
    if finish is not None and finish.claims:
        session.draft, session.stepped = finish, True
    if session.progress.phase != "plan":
        session.progress = session.progress.moved("plan")
    if performed and not asked_to_finish:
        session.stepped = True
        session.progress = replace(session.progress, unusable=0)
        return None
    session.progress = unusable(session.progress)
    if not beyond_repair(session.progress):
        return None
    lang = session.order.lang
    if finish is None:
        return _ended(session, "no_finish", never_finished_words(lang))
    return _ended(session, "not_accepted", not_accepted_words(finish.problems, lang))


async def _act(
    session: Session, proposals: Sequence[Proposal], performing: Sequence[Proposal]
) -> tuple[dict[str, Observation], tuple[Trigger, ...]]:
    """Perform calls and judge what came of them, in the order of the answer."""
    lang, offers = session.order.lang, session.offered.tools
    session.count_calls(len(performing))
    returned = await perform([p.call for p in performing], session.broker)
    by_id = dict(zip((p.call.id for p in performing), returned, strict=True))
    seen: dict[str, Observation] = {}
    visible = set(session.visible)
    for proposal in proposals:
        call = proposal.call
        if call.tool == FINISH or (not proposal.invalid and call.id not in by_id):
            continue
        result = by_id.get(call.id) or ToolError(
            error_type="DECISION_INVALID", message=proposal.invalid[:REPAIR_CHARS], retryable=False
        )
        key = key_of(call, offers, result.source_version if isinstance(result, ToolOk) else None)
        known = key in session.taken and not proposal.invalid
        one = observe(proposal, result, session.shelf, visible=visible, key=key, known=known, lang=lang)
        if not (isinstance(result, ToolError) and result.retryable):
            session.taken.add(key)
        visible |= one.shown
        seen[call.id] = one
        session.go_on(session.progress.closed(one.stopped))
        if call.tool == SEARCH and one.outcome is not None and one.outcome.ok:
            query = str(call.arguments.get("query", ""))
            session.add_round(query, BY_MODEL, one.outcome.found or 0, one.new)
        elif one.new:
            session.add_finding(one.new)
    outcomes = tuple(one.outcome for one in seen.values() if one.outcome is not None)
    state, triggers = observed(session.progress, outcomes, session.order.limits)
    session.go_on(state)
    return seen, triggers


def _judged(
    session: Session, proposals: Sequence[Proposal], *, beside_failed: bool
) -> tuple[Finish | None, dict[str, str]]:
    """Return the answer's `finish` as read, and what each call of `finish` is answered, by id."""
    lang, words = session.order.lang, dict[str, str]()
    finish: Finish | None = None
    for proposal in proposals:
        if proposal.call.tool != FINISH:
            continue
        if finish is not None:
            words[proposal.call.id] = not_performed_words("finished", lang)
            continue
        problems = (proposal.invalid,) if proposal.invalid else ()
        finish = (
            Finish(problems=problems)
            if problems
            else read_finish(proposal.call.arguments, session.questions, lang)
        )
        if finish.problems:
            words[proposal.call.id] = unfinished_words(finish.problems, lang)
        elif beside_failed:
            words[proposal.call.id] = beside_failed_words(lang)
            finish = replace(finish, problems=(beside_failed_words(lang),))
        else:
            words[proposal.call.id] = accepted_words(lang)
    return finish, words


def _result_message(
    session: Session, proposal: Proposal, seen: Observation | None, finish_words: str | None
) -> Message:
    call, lang = proposal.call, session.order.lang
    if finish_words is not None:
        content = finish_words
    elif seen is not None:
        content = seen.text
    elif proposal.invalid:
        content = failed_result("DECISION_INVALID", proposal.invalid[:REPAIR_CHARS], lang, retryable=False)
    else:
        content = not_performed_words("closed" if session.progress.closing else "room", lang)
    return Message(role="tool", content=content, origin="source", taint="untrusted", call_id=call.id)


def _unusable(session: Session, raw: str, reason: str) -> Finish | None:
    """Take an answer without calls for what it is: nothing, to be repaired."""
    # What is wrong may quote the answer: on one line it can't pass for anything else.
    told = reason_words(" ".join(reason.split())[:NOTE_CHARS], session.order.lang)
    words = Message(role="user", content=without_finish_words(told, session.order.lang))
    session.conversation.history.extend((_assistant(raw, ()), words))
    session.progress = unusable(session.progress)
    return _ended(session, "unusable", reason) if beyond_repair(session.progress) else None


def _ended(session: Session, why: str, reason: str) -> Finish:
    """Return what is there after the last repair; raises `WorkFailed` for nothing that no guard ended.

    `why` is the code that is noted, `reason` says more of it.
    """
    guarded = session.progress.closing is not None and session.stepped
    if session.draft is None and not guarded:
        session.progress = session.progress.moved("failed")
        repairs = session.progress.unusable - 1
        raise WorkFailed("invalid_output", no_usable_answer_words(repairs, reason, session.order.lang))
    return _unfinished(session, why)


def _assistant(text: str, calls: Sequence[ToolCall]) -> Message:
    return Message(
        role="assistant",
        content=text[:REPAIR_CHARS],
        origin="parametric",
        taint="untrusted",
        calls=tuple(calls),
    )


def _used(reply: ModelReply, composed: Composed) -> int:
    """Return what a reply cost in input tokens; one that does not say is counted as estimated."""
    return reply.usage.input_tokens or composed.tokens


def _name(proposal: Proposal) -> str:
    return " ".join(proposal.call.tool.split())[:TOOL_NAME_CHARS]
