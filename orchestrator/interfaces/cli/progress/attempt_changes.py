"""Say what an event of an attempt changed.

Calls of tools and models change no state; they are reported as activity of their sub-task only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from agents.tools.told import told_summary
from orchestrator.core.approvals import CommittedCall
from orchestrator.core.claims import Confidence, Level
from orchestrator.core.effects import EffectOutcome
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptHeld,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    CallCommitted,
    CallReturned,
    CallStreamed,
)
from orchestrator.core.report import confidence_words
from orchestrator.core.report.wording import WORDS
from orchestrator.core.requests import REASONS
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.progress.change import SENTENCE, Change, Teller
from orchestrator.interfaces.cli.progress.wording import error_of_model, failure_words, outcome_of_model
from orchestrator.interfaces.cli.streams import one_line


class AttemptTeller(Teller):
    """Tells the changes of attempts."""

    def tell(
        self,
        body: AttemptStarted
        | CallCommitted
        | CallStreamed
        | CallReturned
        | AttemptHeld
        | AttemptProduced
        | AttemptVerified
        | AttemptRejected
        | AttemptFailed
        | AttemptCancelled,
        state: RunState,
    ) -> Change:
        """Return what `body` changed; `state` is the state after it."""
        title = self.title(state, body.node)
        head: tuple[tuple[str, object], ...] = (("node", body.node),)
        tries: tuple[tuple[str, object], ...] = (
            ("attempt", body.attempt if body.attempt > 1 else None),
            ("generation", body.generation if body.generation > 1 else None),
        )
        match body:
            case AttemptStarted():
                fields = (*head, ("state", "running"), ("agent", body.agent), *tries, ("title", title))
                again = self.pick(f", attempt {body.attempt}", f"，第 {body.attempt} 次尝试")
                said = self.pick(f"started by {body.agent}", f"由 {body.agent} 开始")
                return self.step(body.node, fields, said + (again if body.attempt > 1 else ""), title)
            case CallReturned():
                colon = self.pick(": ", "：")
                said = f"{body.name}{colon}{self._came_to(body)}"
                if body.error:
                    why = error_of_model(body.error, self.lang)
                    said += self.pick(f" ({why})", f"（{why}）")
                fields = (
                    *head,
                    ("call", body.name),
                    ("ok", body.ok),
                    ("summary", self._summary(body)),
                    ("error", body.error or None),
                )
                done = state.nodes.get(body.node)
                if done is not None and body.key in done.committed:
                    return self._effect(body, head, done.committed[body.key])
                return Change(
                    fields=fields, sentence=one_line(said, SENTENCE), node=body.node, weight="activity"
                )
            case CallCommitted():
                said = self.pick(f"{body.tool}: begun", f"{body.tool}：已开始")
                fields = (*head, ("call", body.tool), ("state", "committed"), ("approval", body.approval))
                return Change(fields=fields, sentence=said, node=body.node)
            case CallStreamed():
                fields = (*head, ("call", body.index), ("text", body.text))
                said = one_line(body.text, SENTENCE)
                return Change(fields=fields, sentence=said, node=body.node, weight="activity")
            case AttemptHeld():
                what = REASONS[body.call.why][self.lang]
                fields = (
                    *head,
                    ("state", "held"),
                    ("call", body.call.tool),
                    ("reason", body.call.why),
                    *tries,
                )
                return self.step(body.node, fields, f"{body.call.tool}: {what}", title, weight="attention")
            case AttemptProduced():
                path = self.pick(f"checking, path {body.path}", f"核验中，路径 {body.path}")
                fields = (*head, ("state", "verifying"), ("path", body.path), *tries)
                return self.step(body.node, fields, path, title)
            case AttemptVerified():
                sure = self._checked(body.verification.confidence)
                leaks = sum(not leak.blocked for leak in body.leaks)
                fields = (
                    *head,
                    ("state", "accepted"),
                    _confidence_field(body.verification.confidence),
                    ("path", body.path),
                    ("leaks", leaks or None),
                    *tries,
                )
                leaked = self.pick(f", {leaks} leak(s)", f"，{leaks} 处泄漏") if leaks else ""
                said = self.pick(f"accepted, {sure}{leaked}", f"已接受，{sure}{leaked}")
                return self.step(body.node, fields, said, title)
            case AttemptRejected() | AttemptFailed():
                fields = (
                    *head,
                    ("state", "blocked"),
                    ("failure", body.failure.kind),
                    *tries,
                    ("message", body.failure.message),
                )
                what = failure_words(body.failure.kind, self.lang)
                short = self.pick(f"not accepted ({what})", f"未被接受（{what}）")
                said = self.pick(f"{short}: {body.failure.message}", f"{short}：{body.failure.message}")
                change = self.step(body.node, fields, said, title, weight="attention")
                return replace(change, beside_fields=self.step(body.node, fields, short, title).sentence)
            case AttemptCancelled():
                fields = (*head, ("state", "cancelled"), *tries)
                return self.step(body.node, fields, self.pick("attempt stopped", "尝试已停止"), title)
            case _:
                assert_never(body)

    def _effect(
        self, body: CallReturned, head: tuple[tuple[str, object], ...], call: CommittedCall
    ) -> Change:
        """How a call that changes something ended: a change of state, other than the end of a reading."""
        outcome: EffectOutcome = "nothing" if call.failed else "made"
        fields = (*head, ("call", body.name), ("state", outcome), ("ok", body.ok))
        fields = (*fields, ("summary", self._summary(body)))
        words = WORDS[self.lang].changed[outcome]
        came_to = self._came_to(body)
        said = self.pick(f"{body.name}: {words} ({came_to})", f"{body.name}：{words}（{came_to}）")
        return Change(
            fields=fields,
            sentence=one_line(said, SENTENCE),
            node=body.node,
            weight="attention" if call.failed else "step",
        )

    def _came_to(self, body: CallReturned) -> str:
        """What came of a call, in the reader's language; what a foreign tool said stays as it was said."""
        return outcome_of_model(body.summary, self.lang) if body.call == "model" else self._summary(body)

    def _summary(self, body: CallReturned) -> str:
        """For a log line: the kind of a model's answer is a code there."""
        if body.call == "model":
            return body.summary
        return told_summary(body.summary, self.lang, ok=body.ok)

    def _checked(self, confidence: Confidence) -> str:
        if confidence.level is Level.L1:
            return self.pick("check L1 passed", "L1 核验通过")
        return confidence_words(confidence, self.lang)


def _confidence_field(confidence: Confidence) -> tuple[str, object]:
    """The first level looks at the form only and traces nothing: a number would read as doubt."""
    if confidence.level is Level.L1:
        return ("check", "L1 passed")
    return ("confidence", confidence_words(confidence, "en"))
