"""What the loop of one order knows while it is under way, and what it hands over in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from agents.broker import Broker
from agents.context.working_state import WorkingState
from agents.memory.shown import memory_parts
from agents.models.contract import ModelRequest
from agents.models.tokens import TokenCounter, counter_for, offer_tokens
from agents.prompts import Excerpt
from agents.prompts_loop import LOOP_PROMPT_VERSION, loop_system, loop_task, pace_words, told_words
from agents.results import LoopNote, LoopNoteKind, OpenReason, SearchRound, WorkResult
from agents.tools.loops import ActionKey
from agents.workers.model_absences import says_nothing_of_it
from agents.workers.model_citations import key_by_words, key_instead, named_keys
from agents.workers.model_claims import MAX_WORK_TOKENS, Answer, Piece, questions_of
from agents.workers.model_loop.calls import Offered, offered_by
from agents.workers.model_loop.conversation import Composed, Conversation, request_budget
from agents.workers.model_loop.finish import Finish, finish_offer
from agents.workers.model_loop.progress import Progress
from agents.workers.model_loop.rereading import read_again
from agents.workers.model_loop.shelf import Shelf
from agents.workers.model_tables import table_asked
from agents.workers.ports import WorkOrder
from masks.domains import DomainRegistry

NOTE_CHARS: Final = 300
"""Of the model's words in a note."""

BY_CODE: Final = "question"
"""Why code chose a query."""
BY_MODEL: Final = "model"
"""Why a query of the model's was chosen."""


@dataclass(slots=True, kw_only=True)
class Session:
    """One order under way."""

    order: WorkOrder
    broker: Broker
    registry: DomainRegistry
    questions: tuple[str, ...]
    offered: Offered
    shelf: Shelf
    conversation: Conversation
    progress: Progress = field(default_factory=Progress)
    searched: list[str] = field(default_factory=list)
    unsearched: tuple[str, ...] = ()
    """Questions that code could not look up within the limits."""
    rounds: list[SearchRound] = field(default_factory=list)
    notes: list[LoopNote] = field(default_factory=list)
    taken: set[ActionKey] = field(default_factory=set)
    """Actions so far."""
    draft: Finish | None = None
    """The newest `finish` that was not accepted and holds claims."""
    visible: frozenset[str] = frozenset()
    """Excerpts in the newest request."""
    used_tokens: int = 0
    most_tokens: int | None = None
    """Of one request, where the model said that more is too much."""
    stepped: bool = False
    """Whether an answer could be used."""
    unfinished: bool = False
    """Whether code ended the loop, and not the model."""

    @classmethod
    def begun(cls, order: WorkOrder, broker: Broker, registry: DomainRegistry) -> Session:
        """Return the session of `order`, with the material that its inputs hand in."""
        return cls(
            order=order,
            broker=broker,
            registry=registry,
            questions=questions_of(order),
            offered=offered_by(order),
            shelf=Shelf.of(order),
            conversation=Conversation(
                rules=loop_system(order, registry),
                state=WorkingState(goal=order.subtask.title),
                counter=_counter(order.agent.model_policy.model or ""),
                lang=order.lang,
                memories=memory_parts(order.memories, order.lang),
            ),
        )

    def composed(self) -> Composed:
        """Return the messages of the next request."""
        order, conversation = self.order, self.conversation
        steps_left = order.limits.max_steps_per_node - self.progress.steps
        budget = request_budget(
            order.limits.max_model_tokens,
            self.used_tokens,
            steps_left,
            tools=offer_tokens(self.offered.tools, conversation.counter),
        )
        return conversation.compose(
            loop_task(order, self.questions),
            self.shelf.pieces,
            self.shelf.weights,
            budget if self.most_tokens is None else min(budget, self.most_tokens),
            pace=pace_words(steps_left, order.lang),
            closing=told_words((self.progress.closing,), (), order.lang) if self.progress.closing else "",
        )

    def request(self, composed: Composed) -> ModelRequest:
        """Return the next request; without tools but `finish` once they were taken away."""
        tools = () if self.progress.closing else self.offered.tools
        return ModelRequest(
            purpose="work",
            messages=composed.messages,
            tools=(*tools, finish_offer(self.order.lang, len(self.questions), rows=self._finds_rows)),
            calls_only=True,
            max_output_tokens=MAX_WORK_TOKENS,
            prompt_version=LOOP_PROMPT_VERSION,
            dropped=composed.dropped,
        )

    @property
    def _finds_rows(self) -> bool:
        asked = table_asked(self.order)
        return asked is not None and not asked.rows

    def smaller(self, composed: Composed) -> bool:
        """Halve what is sent after the model said that it is too much; false when it can't get smaller."""
        self.most_tokens = composed.tokens // 2
        return self.composed().tokens < composed.tokens

    def _reason(self, question: str) -> OpenReason:
        by_model = any(one.why != BY_CODE for one in self.rounds)
        stopped = self.unfinished or self.progress.closing not in (None, "barren")
        if stopped or (question in self.unsearched and not by_model):
            return "limit_reached"
        return "not_answerable" if self.shelf.pieces else "not_found"

    def _resolved(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a claim with the numbers of the excerpts that it cites: by its words where it names none or others."""
        excerpts = {key: piece.excerpt for key, piece in self.shelf.pieces.items()}
        named = named_keys(entry["excerpts"]) & excerpts.keys()
        if named:
            key = key_instead(named, str(entry["statement"]), excerpts)
        else:
            key = key_by_words(entry["excerpts"], str(entry["statement"]), excerpts)
        if key is None:
            return entry
        self.note("cited_by_words", f"{key}: {entry['statement']}")
        return {**entry, "excerpts": [key]}

    def _is_absence(self, entry: Mapping[str, Any]) -> bool:
        """Return whether a claim only says that the excerpts don't say it, and quotes none that does."""
        statement = str(entry["statement"])
        keys = named_keys(entry["excerpts"])
        cited = {key: piece.excerpt for key, piece in self.shelf.pieces.items() if key in keys}
        return says_nothing_of_it(statement) and key_by_words([], statement, cited) is None

    async def _citable(self, finish: Finish) -> list[Piece]:
        """Return the pieces that claims may cite: what the model saw, read again where it went out of sight."""
        pieces = self.shelf.pieces
        keys = frozenset[str]().union(*(named_keys(entry["excerpts"]) for entry in finish.claims))
        cited = {key: piece for key, piece in pieces.items() if key in keys}
        evicted = self.conversation.evicted(list(cited.values()))
        unseen = [key for key, piece in cited.items() if any(one.id in evicted for one in piece.evidence)]
        reread = await read_again([cited[key] for key in unseen if key in self.shelf.placed], self.broker)
        # What was handed in was checked upstream.
        handed = (cited[key] for key in unseen if key not in self.shelf.placed)
        reread.update({one.id: one.text for piece in handed for one in piece.evidence})
        lost = self.conversation.lost(list(cited.values()), reread)
        kept = []
        for key, piece in cited.items():
            reasons = [lost[one.id] for one in piece.evidence if one.id in lost]
            if not reasons:
                kept.append(piece)
            elif reasons[0] != "never_shown":
                self.note("evidence_changed", f"{key} {piece.excerpt.where}: {reasons[0]}")
        return kept

    async def result(self, finish: Finish) -> WorkResult:
        """Turn a `finish` into the result: citations are attached here, and only to excerpts that are as shown."""
        finish = replace(finish, claims=tuple(map(self._resolved, finish.claims)))
        pieces = await self._citable(finish)
        answer = Answer(order=self.order, registry=self.registry, questions=self.questions, pieces=pieces)
        for entry in finish.claims:
            if self._is_absence(entry):
                self.note("no_claim", str(entry["statement"]))
            else:
                answer.add(entry)
        # A query of the model's is no statement of the output, but a reader of the text could not tell.
        by_code = [one.query for one in self.rounds if one.why == BY_CODE]
        output = answer.output(self.searched, self._reason, told=by_code)
        still_open = [question for _, question in answer.left_open()]
        for entry in finish.open_questions:
            question = (
                self.questions[entry["question"] - 1 : entry["question"]] if entry["question"] > 0 else ()
            )
            if question and question[0] in still_open:
                self.note("open_question", f"{question[0]}: {entry['why']}")
        matched = (
            replace(need, question=answer.name_of(need.question)) for need in self.shelf.needs(still_open)
        )
        needs = {(need.domain, need.question): need for need in (*answer.needs(finish.needs), *matched)}
        return WorkResult(
            output=output,
            candidate_complete=finish.complete and not output.open_questions,
            mode="model",
            path=self.order.path,
            rounds=tuple(self.rounds),
            notes=tuple(self.notes),
            needs=tuple(needs.values()),
            acted_through=("prompt", "selection", "filter") if self.searched else ("prompt",),
        )

    def add_round(self, query: str, why: str, hits: int, new: Sequence[Excerpt]) -> None:
        """Keep what a search was for and what it brought."""
        self.searched.append(query)
        self.rounds.append(SearchRound(query=query, why=why, hits=hits, new_evidence=len(new), open_after=()))
        if new:
            self.add_finding(new)
        elif not hits:
            self.conversation.state = self.conversation.state.with_excluded(query)

    def add_finding(self, new: Sequence[Excerpt]) -> None:
        """Keep where evidence stands: that is what of an old message is worth keeping."""
        keys = new[0].key if len(new) == 1 else f"{new[0].key}-{new[-1].key}"
        evidence = [one.id for excerpt in new for one in self.shelf.pieces[excerpt.key].evidence]
        self.conversation.state = self.conversation.state.with_finding(f"{keys} {new[0].where}", evidence)

    def count_calls(self, number: int) -> None:
        """Count tool calls that are made."""
        state = self.progress
        self.progress = replace(state, actions=state.actions + number, tool_calls=state.tool_calls + number)

    def go_on(self, state: Progress) -> None:
        """Go on with `state`, and note when it is the first without tools."""
        if state.closing is not None and self.progress.closing is None:
            self.note("search_ended" if state.closing == "barren" else "stopped", state.closing)
        self.progress = state

    def note(self, kind: LoopNoteKind, detail: str) -> None:
        """Note what code did, or why the model left something open."""
        self.notes.append(LoopNote(step=self.progress.steps, kind=kind, detail=detail[:NOTE_CHARS]))


@cache
def _counter(model: str) -> TokenCounter:
    """Return the counter of a model; reading a vocabulary takes time."""
    return counter_for(model)
