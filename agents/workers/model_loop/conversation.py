"""What a model is sent at each step, within a budget: rules, task, excerpts, a summary and the newest messages.

Built on `agents.context`. An excerpt stands where it was found, in the result of its call, as long as that is in view;
after that among the excerpts under the task, the heaviest as far as they fit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from agents.context.assembly import Assembled, ContextOverflow, assemble
from agents.context.evidence_view import EvidenceView, checked_citations, needs_rereading
from agents.context.parts import Part
from agents.context.window import summary_of, window_of
from agents.context.working_state import WorkingState
from agents.evidence import EvidenceId
from agents.models.contract import Dropped, Message
from agents.models.tokens import TokenCounter, message_tokens
from agents.prompts_loop import excerpt_block
from agents.workers.model_claims import Piece
from graphs.contract import Lang

LEAST_TOKENS: Final = 2_000
"""Of one request, however little is left: with less no excerpt fits beside rules and tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The messages of one request."""

    messages: tuple[Message, ...]
    tokens: int
    """As counted for the budget."""
    visible: frozenset[str]
    """Numbers of the excerpts that stand in it, in full."""
    dropped: tuple[Dropped, ...] = ()


@dataclass(slots=True, kw_only=True)
class Conversation:
    """The messages of a loop, and what of its evidence the model sees."""

    rules: str
    state: WorkingState
    """What was found and what brought nothing: what the summary is made of."""
    counter: TokenCounter
    lang: Lang
    history: list[Message] = field(default_factory=list)
    memories: tuple[Part, ...] = ()
    """What is remembered for the goal, as data."""
    view: EvidenceView = field(default_factory=EvidenceView)
    _sizes: dict[str, int] = field(default_factory=dict)
    """Tokens of each excerpt, by number."""

    def compose(
        self,
        task: str,
        pieces: Mapping[str, Piece],
        weights: Mapping[str, float],
        budget: int,
        *,
        pace: str = "",
        closing: str = "",
    ) -> Composed:
        """Return the messages within `budget` tokens, or the fewest that a request can have.

        `pieces` holds every excerpt by number, `weights` which of them are left out last; `pace` says how far
        the work is, `closing` is said last.
        """
        window = window_of(self.history, self.state, self.lang)
        said = (Message(role="user", content=closing),) if closing else ()
        recent = (*window.recent, *said)
        summary = summary_of(self.state, self.lang)
        frame = [
            Part(kind="rules", text=self.rules, taint="trusted"),
            Part(kind="task", text=task, taint="trusted"),
            *((Part(kind="summary", text=summary, origin="source"),) if summary else ()),
            *self.memories,
            *((Part(kind="pace", text=pace, taint="trusted"),) if pace else ()),
        ]
        listed = set(pieces) - self._shown_by(recent, pieces)
        while True:
            fitting = self._fitting(
                sorted(listed, key=lambda key: (-weights[key], int(key[1:]))), pieces, budget
            )
            excerpts = [_part(key, pieces[key], weights[key]) for key in pieces if key in fitting]
            made = self._assembled([*frame, *excerpts], recent, budget)
            in_messages = self._shown_by(made.messages[1:], pieces)
            # What the assembly cut out of a result, or folded with it, gets its chance among the excerpts.
            lost = set(pieces) - listed - in_messages
            if not lost:
                break
            listed |= lost
        return Composed(
            messages=made.messages,
            tokens=made.tokens,
            visible=in_messages | frozenset(made.shown),
            dropped=(
                *self._folded(window.folded, told=bool(summary)),
                *made.dropped,
                *self._left_out(listed - fitting, pieces),
            ),
        )

    def saw(self, visible: Collection[str], pieces: Mapping[str, Piece]) -> None:
        """Take note of what the newest request showed."""
        self.view = self.view.after(
            evidence for key, piece in pieces.items() if key in visible for evidence in piece.evidence
        )

    def evicted(self, cited: Sequence[Piece]) -> frozenset[EvidenceId]:
        """Return the evidence of `cited` pieces that has to be read again before a claim rests on it."""
        return frozenset(needs_rereading(_evidence(cited), self.view))

    def lost(self, cited: Sequence[Piece], reread: Mapping[EvidenceId, str | None]) -> dict[EvidenceId, str]:
        """Return the evidence that a claim does not keep, and why; `reread` holds what was read again."""
        checked = checked_citations(_evidence(cited), self.view, reread)
        return {lost.evidence: lost.reason for lost in checked.lost}

    def _assembled(self, parts: Sequence[Part], recent: Sequence[Message], budget: int) -> Assembled:
        made = assemble(parts, recent, budget, counter=self.counter, lang=self.lang)
        if isinstance(made, ContextOverflow):
            # A share of what is left, not what the model takes: the broker says whether the rest allows it.
            made = assemble(parts, recent, made.needed, counter=self.counter, lang=self.lang)
        assert isinstance(made, Assembled), "the smallest prompt fits into its own size"
        return made

    def _fitting(self, ranked: Sequence[str], pieces: Mapping[str, Piece], budget: int) -> frozenset[str]:
        """Return as many of the heaviest as fit by themselves: the assembly would leave the others out one by one."""
        fitting: list[str] = []
        for key in ranked:
            if key not in self._sizes:
                self._sizes[key] = self.counter.count(excerpt_block(pieces[key].excerpt, self.lang))
            budget -= self._sizes[key]
            if budget < 0:
                break
            fitting.append(key)
        return frozenset(fitting)

    def _shown_by(self, messages: Sequence[Message], pieces: Mapping[str, Piece]) -> frozenset[str]:
        """Return the excerpts that stand whole in the results among `messages`."""
        text = "\n\n".join(message.content for message in messages if message.role == "tool")
        if not text:
            return frozenset()
        # With the end of its last line: no excerpt is taken for the beginning of a longer one.
        return frozenset(
            key
            for key, piece in pieces.items()
            if f"{excerpt_block(piece.excerpt, self.lang)}\n" in f"{text}\n"
        )

    def _left_out(self, keys: Collection[str], pieces: Mapping[str, Piece]) -> tuple[Dropped, ...]:
        return tuple(
            Dropped(
                part=f"excerpt {key}",
                how="left_out",
                tokens=self._sizes.get(key) or self.counter.count(pieces[key].excerpt.text),
            )
            for key in pieces
            if key in keys
        )

    def _folded(self, number: int, *, told: bool) -> tuple[Dropped, ...]:
        if not number:
            return ()
        name = "message 1" if number == 1 else f"messages 1-{number}"
        tokens = sum(message_tokens(message, self.counter) for message in self.history[:number])
        return (Dropped(part=name, how="summarised" if told else "left_out", tokens=tokens),)


def _part(key: str, piece: Piece, weight: float) -> Part:
    excerpt = piece.excerpt
    return Part(
        kind="excerpt", text=excerpt.text, key=key, where=excerpt.where, origin="source", weight=weight
    )


def request_budget(allowed: int, used: int, steps_left: int, *, tools: int = 0) -> int:
    """Return the tokens for the messages of the next request: an equal share of what is left, so that the last step
    has one, less what the `tools` take.

    >>> [request_budget(60_000, 0, 12), request_budget(60_000, 50_000, 2), request_budget(60_000, 59_000, 3)]
    [5000, 5000, 2000]
    """
    return max(LEAST_TOKENS, (allowed - used) // max(1, steps_left) - tools)


def _evidence(pieces: Sequence[Piece]) -> list[EvidenceId]:
    return [evidence.id for piece in pieces for evidence in piece.evidence]
