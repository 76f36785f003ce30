"""Say what an event changed: as fields for log lines and as a sentence for people."""

from __future__ import annotations

from typing import assert_never

from orchestrator.core.blockage import Blockage
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptHeld,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    CallCommitted,
    CallReturned,
    CallStreamed,
    Event,
    MessageRefused,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunSuspended,
    SourcesRead,
)
from orchestrator.core.state import ENDED, RunState
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.interfaces.cli.progress.attempt_changes import AttemptTeller
from orchestrator.interfaces.cli.progress.change import SENTENCE, Change, Teller
from orchestrator.interfaces.cli.progress.repairs import repair_fields, repair_words
from orchestrator.interfaces.cli.progress.run_changes import RunTeller
from orchestrator.interfaces.cli.progress.wording import (
    DECIDED_BY,
    GIVEN_UP,
    LEVELS,
    failure_words,
)
from orchestrator.interfaces.cli.streams import one_line


class Narrator(Teller):
    """Tells the changes of one run in order; it remembers why a sub-task was blocked, to name it as a cause."""

    def __init__(self, lang: Lang, *, following: bool = False) -> None:
        """Return a narrator; one that is `following` also tells when a paused run has come to a stand."""
        super().__init__(lang)
        self._of_attempts = AttemptTeller(lang)
        self._of_the_run = RunTeller(lang)
        self._following = following
        self._stands = False
        self._blockages: dict[str, Blockage] = {}

    def tell(self, event: Event, state: RunState) -> tuple[Change, ...]:
        """Return what `event` changed; `state` is the state after it."""
        changes = self._changes(event, state)
        stood, self._stands = self._stands, state.paused and not state.counts.active
        if self._following and self._stands and not stood and state.status not in ENDED:
            return (*changes, self._of_the_run.standing(state))
        return changes

    def _changes(self, event: Event, state: RunState) -> tuple[Change, ...]:
        body = event.body
        if isinstance(body, BlockageClassified):
            self._blockages[body.node] = body.blockage
        match body:
            case SourcesRead():
                return self._of_the_run.sources(body)
            case (
                AttemptStarted()
                | CallCommitted()
                | CallStreamed()
                | CallReturned()
                | AttemptHeld()
                | AttemptProduced()
                | AttemptVerified()
                | AttemptRejected()
                | AttemptFailed()
                | AttemptCancelled()
            ):
                return (self._of_attempts.tell(body, state),)
            case (
                NodeReused()
                | NodeAcceptedAsIs()
                | NodesSkipped()
                | BlockageClassified()
                | RetryScheduled()
                | Backtracked()
            ):
                return (self._node(body, event, state),)
            case RequestOpened() | MessageRefused() | RequestAnswered() | RunSuspended() | ReviewReopened():
                return (self._of_the_run.person(body),)
            case _:
                return self._of_the_run.run(body, state)

    def _node(
        self,
        body: NodeReused
        | NodeAcceptedAsIs
        | NodesSkipped
        | BlockageClassified
        | RetryScheduled
        | Backtracked,
        event: Event,
        state: RunState,
    ) -> Change:
        match body:
            case NodeReused():
                said = self.pick("accepted again, its inputs are unchanged", "输入未变，直接再次接受")
                fields: tuple[tuple[str, object], ...] = (
                    ("node", body.node),
                    ("state", "accepted"),
                    ("reused", True),
                )
                return self.step(body.node, fields, said, self.title(state, body.node))
            case NodeAcceptedAsIs():
                said = self.pick("taken by a person as it is, not verified", "由人按现状接受，未核验")
                fields = (
                    ("node", body.node),
                    ("state", "accepted"),
                    ("as_is", True),
                    ("request", body.request),
                )
                return self.step(body.node, fields, said, self.title(state, body.node), weight="attention")
            case NodesSkipped():
                names = ", ".join(body.nodes)
                # Of an error of the program the detail is its trace: the last line names it, a file keeps it.
                detail = body.detail.strip().splitlines()[-1] if body.detail.strip() else ""
                fields = (
                    ("nodes", body.nodes),
                    ("state", "skipped"),
                    ("reason", body.reason),
                    ("detail", detail),
                )
                why = self.pick(*GIVEN_UP[body.reason])
                said = self.pick(
                    f"{names}: given up ({why}) {detail}",
                    f"{names}：已放弃（{why}）{detail}",
                )
                return Change(fields=fields, sentence=one_line(said, SENTENCE), weight="attention")
            case BlockageClassified():
                cls = body.blockage.cls
                why = self.pick("; ", "；").join(each.text(self.lang) for each in body.blockage.reasons)
                fields = (
                    ("node", body.node),
                    ("class", cls),
                    ("domain", body.blockage.domain),
                    ("blamed", body.blockage.blamed),
                    ("reason", "; ".join(map(str, body.blockage.reasons))),
                )
                said = self.pick(f"blockage of class {cls}: {why}", f"{cls} 类阻塞：{why}")
                return self.step(body.node, fields, said, self.title(state, body.node), weight="attention")
            case RetryScheduled():
                fields = (
                    ("node", body.node),
                    ("state", "pending"),
                    ("retry", body.attempt),
                    ("delay_s", f"{body.delay_s:.1f}"),
                )
                said = self.pick(f"again in {body.delay_s:.1f} s", f"{body.delay_s:.1f} 秒后重试")
                return self.step(body.node, fields, said, self.title(state, body.node))
            case Backtracked():
                return self._backtrack(body, event)
            case _:
                assert_never(body)

    def _backtrack(self, body: Backtracked, event: Event) -> Change:
        plan = body.plan
        blockage = self._blockages.get(plan.node)
        cause = f"{blockage.cls} {blockage.failure.kind}" if blockage is not None else ""
        fields = (
            ("backtrack", plan.level.value),
            ("node", plan.node),
            ("cause", cause),
            ("cause_seq", event.cause),
            ("depth", plan.depth),
            ("invalidated", plan.invalidated),
            *repair_fields(plan.repair),
            ("by", plan.by),
        )
        repair = repair_words(plan.repair, self.lang)
        again = ", ".join(plan.invalidated)
        why = self.pick(*DECIDED_BY[plan.by])
        if blockage is not None:
            what = failure_words(blockage.failure.kind, self.lang)
            why = self.pick(f"{blockage.cls} ({what})", f"{blockage.cls} 类阻塞（{what}）")
        level = self.pick(*LEVELS[plan.level])
        said = self.pick(
            f"{plan.node}: went back {level} because of {why}; {repair}; again: {again}",
            f"{plan.node}：因{why}回溯（{level}）；{repair}；重做：{again}",
        )
        return Change(fields=fields, sentence=one_line(said, SENTENCE), node=plan.node, weight="attention")
