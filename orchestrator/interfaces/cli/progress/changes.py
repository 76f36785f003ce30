"""Say what an event changed: as fields for log lines and as a sentence for people.

Calls of tools and models change no state; they are reported as activity of their sub-task only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from graphs.plan import NodeId, natural_key
from orchestrator.core.approvals import CommittedCall
from orchestrator.core.blockage import Blockage
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
    Backtracked,
    BlockageClassified,
    CallCommitted,
    CallReturned,
    CallStreamed,
    CancelRequested,
    ChangesWereRequested,
    Event,
    ExecutorTookOver,
    FailureRemembered,
    MessageRefused,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    ProposalApproved,
    ProposalDrafted,
    ProposalRejected,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunContinued,
    RunCreated,
    RunEnded,
    RunPaused,
    RunSuspended,
    SourcesRead,
)
from orchestrator.core.proposal import HASH_PREFIX_LENGTH
from orchestrator.core.report import confidence_words
from orchestrator.core.report.wording import WORDS
from orchestrator.core.requests import CHOICES, REASONS
from orchestrator.core.state import ENDED, RunState
from orchestrator.core.transition import ACTIVE
from orchestrator.interfaces.cli.bodies.summaries import status_words
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.progress.repairs import repair_fields, repair_words
from orchestrator.interfaces.cli.progress.wording import (
    DECIDED_BY,
    GIVEN_UP,
    LEVELS,
    failure_words,
    not_read_words,
)
from orchestrator.interfaces.cli.streams import one_line

Weight = Literal["activity", "step", "attention"]
"""`activity`: nothing changed yet; `step`: a change of state; `attention`: something a person should notice."""

_OfTheRun = (
    RunCreated
    | ProposalDrafted
    | ChangesWereRequested
    | ProposalRejected
    | ProposalApproved
    | ExecutorTookOver
    | RunPaused
    | RunContinued
    | CancelRequested
    | RunEnded
    | FailureRemembered
)
"""Events that are about no single sub-task."""

_SENTENCE = 200
"""Characters of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that an event changed."""

    fields: tuple[tuple[str, object], ...]
    """For a log line; keys are English."""
    sentence: str
    """For people, on one line."""
    node: NodeId | None = None
    weight: Weight = "step"


class Narrator:
    """Tells the changes of one run in order; it remembers why a sub-task was blocked, to name it as a cause."""

    def __init__(self, lang: Lang, *, following: bool = False) -> None:
        """Return a narrator; one that is `following` also tells when a paused run has come to a stand."""
        self._lang = lang
        self._following = following
        self._stands = False
        self._blockages: dict[str, Blockage] = {}

    def tell(self, event: Event, state: RunState) -> tuple[Change, ...]:
        """Return what `event` changed; `state` is the state after it."""
        changes = self._changes(event, state)
        stood, self._stands = self._stands, state.paused and not state.counts.active
        if self._following and self._stands and not stood and state.status not in ENDED:
            return (*changes, self._standing(state))
        return changes

    def _changes(self, event: Event, state: RunState) -> tuple[Change, ...]:
        body = event.body
        if isinstance(body, BlockageClassified):
            self._blockages[body.node] = body.blockage
        match body:
            case SourcesRead():
                return self._sources(body)
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
                return (self._attempt(body, state),)
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
                return (self._person(body),)
            case _:
                return self._run(body, state)

    def _sources(self, body: SourcesRead) -> tuple[Change, ...]:
        left = len(body.skipped)
        counted = self._pick(
            f"{body.documents} documents read" + (f", {left} not read" if left else ""),
            f"已读取 {body.documents} 份文档" + (f"，{left} 份未读取" if left else ""),
        )
        first = Change(
            fields=(("sources", "read"), ("documents", body.documents), ("skipped", len(body.skipped))),
            sentence=counted,
        )
        skipped = [
            Change(
                fields=(("file", file.uri), ("state", "skipped"), ("reason", file.reason)),
                sentence=self._pick(
                    f"not read: {one_line(file.uri)} ({not_read_words(file.reason, 'en')})",
                    f"未读取：{one_line(file.uri)}（{not_read_words(file.reason, 'zh')}）",
                ),
                weight="attention",
            )
            for file in body.skipped
        ]
        return (first, *skipped)

    def _attempt(
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
        title = self._title(state, body.node)
        head: tuple[tuple[str, object], ...] = (("node", body.node),)
        tries: tuple[tuple[str, object], ...] = (
            ("attempt", body.attempt if body.attempt > 1 else None),
            ("generation", body.generation if body.generation > 1 else None),
        )
        match body:
            case AttemptStarted():
                fields = (*head, ("state", "running"), ("agent", body.agent), *tries, ("title", title))
                again = self._pick(f", attempt {body.attempt}", f"，第 {body.attempt} 次尝试")
                said = self._pick(f"started by {body.agent}", f"由 {body.agent} 开始")
                return self._step(body.node, fields, said + (again if body.attempt > 1 else ""), title)
            case CallReturned():
                said = f"{body.name}: {body.summary}" + (f" ({body.error})" if body.error else "")
                fields = (
                    *head,
                    ("call", body.name),
                    ("ok", body.ok),
                    ("summary", body.summary),
                    ("error", body.error or None),
                )
                done = state.nodes.get(body.node)
                if done is not None and body.key in done.committed:
                    return self._effect(body, head, done.committed[body.key])
                return Change(
                    fields=fields, sentence=one_line(said, _SENTENCE), node=body.node, weight="activity"
                )
            case CallCommitted():
                said = self._pick(f"{body.tool}: begun", f"{body.tool}：已开始")
                fields = (*head, ("call", body.tool), ("state", "committed"), ("approval", body.approval))
                return Change(fields=fields, sentence=said, node=body.node)
            case CallStreamed():
                fields = (*head, ("call", body.index), ("text", body.text))
                said = one_line(body.text, _SENTENCE)
                return Change(fields=fields, sentence=said, node=body.node, weight="activity")
            case AttemptHeld():
                what = REASONS[body.call.why][self._lang]
                fields = (
                    *head,
                    ("state", "held"),
                    ("call", body.call.tool),
                    ("reason", body.call.why),
                    *tries,
                )
                return self._step(body.node, fields, f"{body.call.tool}: {what}", title, weight="attention")
            case AttemptProduced():
                path = self._pick(f"checking, path {body.path}", f"核验中，路径 {body.path}")
                fields = (*head, ("state", "verifying"), ("path", body.path), *tries)
                return self._step(body.node, fields, path, title)
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
                leaked = self._pick(f", {leaks} leak(s)", f"，{leaks} 处泄漏") if leaks else ""
                said = self._pick(f"accepted, {sure}{leaked}", f"已接受，{sure}{leaked}")
                return self._step(body.node, fields, said, title)
            case AttemptRejected() | AttemptFailed():
                fields = (
                    *head,
                    ("state", "blocked"),
                    ("failure", body.failure.kind),
                    *tries,
                    ("message", body.failure.message),
                )
                what = failure_words(body.failure.kind, self._lang)
                said = self._pick(
                    f"not accepted ({what}): {body.failure.message}",
                    f"未被接受（{what}）：{body.failure.message}",
                )
                return self._step(body.node, fields, said, title, weight="attention")
            case AttemptCancelled():
                fields = (*head, ("state", "cancelled"), *tries)
                return self._step(body.node, fields, self._pick("attempt stopped", "尝试已停止"), title)
            case _:
                assert_never(body)

    def _effect(
        self, body: CallReturned, head: tuple[tuple[str, object], ...], call: CommittedCall
    ) -> Change:
        """How a call that changes something ended: a change of state, other than the end of a reading."""
        outcome: EffectOutcome = "nothing" if call.failed else "made"
        fields = (*head, ("call", body.name), ("state", outcome), ("ok", body.ok), ("summary", body.summary))
        words = WORDS[self._lang].changed[outcome]
        said = self._pick(f"{body.name}: {words} ({body.summary})", f"{body.name}：{words}（{body.summary}）")
        return Change(
            fields=fields,
            sentence=one_line(said, _SENTENCE),
            node=body.node,
            weight="attention" if call.failed else "step",
        )

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
                said = self._pick("accepted again, its inputs are unchanged", "输入未变，直接再次接受")
                fields: tuple[tuple[str, object], ...] = (
                    ("node", body.node),
                    ("state", "accepted"),
                    ("reused", True),
                )
                return self._step(body.node, fields, said, self._title(state, body.node))
            case NodeAcceptedAsIs():
                said = self._pick("taken by a person as it is, not verified", "由人按现状接受，未核验")
                fields = (
                    ("node", body.node),
                    ("state", "accepted"),
                    ("as_is", True),
                    ("request", body.request),
                )
                return self._step(body.node, fields, said, self._title(state, body.node), weight="attention")
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
                why = self._pick(*GIVEN_UP[body.reason])
                said = self._pick(
                    f"{names}: given up ({why}) {detail}",
                    f"{names}：已放弃（{why}）{detail}",
                )
                return Change(fields=fields, sentence=one_line(said, _SENTENCE), weight="attention")
            case BlockageClassified():
                cls = body.blockage.cls
                why = self._pick("; ", "；").join(each.text(self._lang) for each in body.blockage.reasons)
                fields = (
                    ("node", body.node),
                    ("class", cls),
                    ("domain", body.blockage.domain),
                    ("blamed", body.blockage.blamed),
                    ("reason", "; ".join(map(str, body.blockage.reasons))),
                )
                said = self._pick(f"blockage of class {cls}: {why}", f"{cls} 类阻塞：{why}")
                return self._step(body.node, fields, said, self._title(state, body.node), weight="attention")
            case RetryScheduled():
                fields = (
                    ("node", body.node),
                    ("state", "pending"),
                    ("retry", body.attempt),
                    ("delay_s", f"{body.delay_s:.1f}"),
                )
                said = self._pick(f"again in {body.delay_s:.1f} s", f"{body.delay_s:.1f} 秒后重试")
                return self._step(body.node, fields, said, self._title(state, body.node))
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
        repair = repair_words(plan.repair, self._lang)
        again = ", ".join(plan.invalidated)
        why = self._pick(*DECIDED_BY[plan.by])
        if blockage is not None:
            what = failure_words(blockage.failure.kind, self._lang)
            why = self._pick(f"{blockage.cls} ({what})", f"{blockage.cls} 类阻塞（{what}）")
        level = self._pick(*LEVELS[plan.level])
        said = self._pick(
            f"{plan.node}: went back {level} because of {why}; {repair}; again: {again}",
            f"{plan.node}：因{why}回溯（{level}）；{repair}；重做：{again}",
        )
        return Change(fields=fields, sentence=one_line(said, _SENTENCE), node=plan.node, weight="attention")

    def _person(
        self, body: RequestOpened | MessageRefused | RequestAnswered | RunSuspended | ReviewReopened
    ) -> Change:
        match body:
            case RequestOpened(request=request):
                fields: tuple[tuple[str, object], ...] = (
                    ("request", request.id),
                    ("node", request.node),
                    ("reason", request.reason),
                    ("choices", request.choices),
                    ("detail", request.detail),
                )
                why = REASONS[request.reason][self._lang]
                said = self._pick(
                    f"needs you: {request.id} on {request.node}: {why}. maskgrad answer {request.id} "
                    f"{'|'.join(request.choices)}",
                    f"需要您：{request.id}（{request.node}）：{why}。maskgrad answer {request.id} "
                    f"{'|'.join(request.choices)}",
                )
                return Change(fields=fields, sentence=one_line(said, _SENTENCE), weight="attention")
            case RequestAnswered():
                fields = (("request", body.request), ("answer", body.answer.choice), ("by", body.by))
                choice = CHOICES[body.answer.choice][self._lang]
                said = self._pick(f"{body.request} answered: {choice}", f"{body.request} 已回答：{choice}")
                return Change(fields=fields, sentence=said, node=body.node)
            case MessageRefused():
                about = body.request or body.kind
                fields = (
                    ("message", body.kind),
                    ("state", "refused"),
                    ("request", body.request),
                    ("by", body.by),
                    ("why", body.why),
                )
                said = self._pick(
                    f"{about}: what {body.by} wrote was refused: {body.why}",
                    f"{about}：{body.by} 写入的内容不符合要求，未被采纳",
                )
                return Change(fields=fields, sentence=one_line(said, _SENTENCE), weight="attention")
            case RunSuspended():
                fields = (("run", "suspended"), ("requests", body.requests))
                said = self._pick(
                    "suspended: waits for " + ", ".join(body.requests),
                    "已挂起：等待 " + "、".join(body.requests),
                )
                return Change(fields=fields, sentence=said, weight="attention")
            case ReviewReopened():
                fields = (("run", "reviewing"), ("request", body.request))
                return Change(
                    fields=fields,
                    sentence=self._pick("back in review", "退回审核"),
                    weight="attention",
                )
            case _:
                assert_never(body)

    def _run(self, body: _OfTheRun, state: RunState) -> tuple[Change, ...]:
        match body:
            case RunCreated():
                return (self._state("drafting", self._pick("run created", "运行已创建")),)
            case ProposalDrafted():
                name = f"{body.proposal.revision}-{body.sha256[:HASH_PREFIX_LENGTH]}"
                said = self._pick(f"revision {name} is up for review", f"修订版 {name} 待审核")
                return (self._state("reviewing", said, revision=name, author=body.author),)
            case ChangesWereRequested():
                said = self._pick(f"changes requested: {body.note}", f"请求修改：{body.note}")
                return (self._state("reviewing", said, note=body.note),)
            case ProposalRejected():
                return (
                    self._state("blocked", self._pick("proposal rejected", "方案被拒绝"), note=body.note),
                )
            case ProposalApproved():
                said = self._pick(f"revision {body.revision} approved", f"修订版 {body.revision} 已批准")
                return (self._state("confirmed", said, revision=body.revision, by=body.by),)
            case ExecutorTookOver():
                # Which process it is stands in the event; a person has no use for it.
                said = (
                    self._pick("execution begins", "开始执行")
                    if body.epoch == 1
                    else self._pick("execution goes on", "继续执行")
                )
                return (self._state("running", said, epoch=body.epoch),)
            case RunPaused():
                return (self._paused(body, state),)
            case RunContinued():
                return (self._state("running", self._pick("goes on", "继续"), by=body.by),)
            case CancelRequested():
                return (self._state("cancelling", self._pick("cancelled", "已请求取消"), by=body.by),)
            case RunEnded():
                outcome = status_words(body.outcome, self._lang)
                said = self._pick(f"ended: {outcome}", f"已结束：{outcome}")
                return (
                    self._state(
                        body.outcome, said, gaps=len(body.gaps) or None, stopped=body.stopped or None
                    ),
                )
            case FailureRemembered():
                return ()
            case _:
                assert_never(body)

    def _paused(self, body: RunPaused, state: RunState) -> Change:
        """What still goes on, and how to go on with the rest."""
        under_way = tuple(name for name, node in state.nodes.items() if node.status in ACTIVE)
        names = ", ".join(sorted(under_way, key=natural_key))
        step = f"maskgrad resume {state.run}"
        said = self._pick(
            f"paused; {names} {'finishes' if len(under_way) == 1 else 'finish'} first. Go on with: {step}"
            if names
            else f"paused; nothing is under way. Go on with: {step}",
            f"已暂停；{names} 会先完成。继续：{step}"
            if names
            else f"已暂停；没有进行中的子任务。继续：{step}",
        )
        fields = (("run", "paused"), ("by", body.by), ("running", names), ("next", step))
        return Change(fields=fields, sentence=one_line(said, _SENTENCE), weight="attention")

    def _standing(self, state: RunState) -> Change:
        """That a paused run waits: whoever executes or watches it would take the silence for work."""
        step = f"maskgrad resume {state.run}"
        said = self._pick(
            f"paused; nothing runs. Waits for: {step}; Ctrl-C ends this process",
            f"已暂停；没有任何内容在运行。等待：{step}；Ctrl-C 结束本进程",
        )
        fields = (("run", "paused"), ("running", "nothing"), ("next", step), ("end", "Ctrl-C"))
        return Change(fields=fields, sentence=one_line(said, _SENTENCE), weight="attention")

    def _state(self, status: str, sentence: str, **fields: object) -> Change:
        return Change(fields=(("run", status), *fields.items()), sentence=one_line(sentence, _SENTENCE))

    def _step(
        self,
        node: NodeId,
        fields: tuple[tuple[str, object], ...],
        said: str,
        title: str,
        *,
        weight: Weight = "step",
    ) -> Change:
        sentence = one_line(f"{node} {title}: {said}" if title else f"{node}: {said}", _SENTENCE)
        return Change(fields=fields, sentence=sentence, node=node, weight=weight)

    def _checked(self, confidence: Confidence) -> str:
        if confidence.level is Level.L1:
            return self._pick("check L1 passed", "L1 核验通过")
        return confidence_words(confidence, self._lang)

    def _title(self, state: RunState, node: NodeId) -> str:
        index = state.index
        return one_line(index.subtask(node).title, 60) if index is not None and node in index else ""

    def _pick(self, en: str, zh: str) -> str:
        return pick(self._lang, en, zh)


def _confidence_field(confidence: Confidence) -> tuple[str, object]:
    """The first level looks at the form only and traces nothing: a number would read as doubt."""
    if confidence.level is Level.L1:
        return ("check", "L1 passed")
    return ("confidence", confidence_words(confidence, "en"))
