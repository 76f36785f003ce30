"""Say what an event of a run changed: its state, what it read, what it asks of persons."""

from __future__ import annotations

from typing import assert_never

from graphs.plan import natural_key
from orchestrator.core.events import (
    CancelRequested,
    ChangesWereRequested,
    ExecutorTookOver,
    FailureRemembered,
    MessageRefused,
    ProposalApproved,
    ProposalDrafted,
    ProposalRejected,
    RequestAnswered,
    RequestOpened,
    ReviewReopened,
    RunContinued,
    RunCreated,
    RunEnded,
    RunPaused,
    RunSuspended,
    SourcesRead,
)
from orchestrator.core.proposal import HASH_PREFIX_LENGTH
from orchestrator.core.requests import CHOICES, REASONS
from orchestrator.core.state import RunState
from orchestrator.core.transition import ACTIVE
from orchestrator.interfaces.cli.bodies.summaries import status_words
from orchestrator.interfaces.cli.progress.change import SENTENCE, Change, Teller
from orchestrator.interfaces.cli.progress.wording import (
    not_read_words,
)
from orchestrator.interfaces.cli.streams import one_line

OfTheRun = (
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


class RunTeller(Teller):
    """Tells the changes of a run as a whole."""

    def sources(self, body: SourcesRead) -> tuple[Change, ...]:
        """Return what was read, and each file that was not."""
        left = len(body.skipped)
        counted = self.pick(
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
                sentence=self.pick(
                    f"not read: {one_line(file.uri)} ({not_read_words(file.reason, 'en')})",
                    f"未读取：{one_line(file.uri)}（{not_read_words(file.reason, 'zh')}）",
                ),
                weight="attention",
            )
            for file in body.skipped
        ]
        return (first, *skipped)

    def person(
        self, body: RequestOpened | MessageRefused | RequestAnswered | RunSuspended | ReviewReopened
    ) -> Change:
        """Return what was asked of a person, or came of it."""
        match body:
            case RequestOpened(request=request):
                fields: tuple[tuple[str, object], ...] = (
                    ("request", request.id),
                    ("node", request.node),
                    ("reason", request.reason),
                    ("choices", request.choices),
                    ("detail", request.detail),
                )
                why = REASONS[request.reason][self.lang]
                said = self.pick(
                    f"needs you: {request.id} on {request.node}: {why}. maskgrad answer {request.id} "
                    f"{'|'.join(request.choices)}",
                    f"需要您：{request.id}（{request.node}）：{why}。maskgrad answer {request.id} "
                    f"{'|'.join(request.choices)}",
                )
                return Change(fields=fields, sentence=one_line(said, SENTENCE), weight="attention")
            case RequestAnswered():
                fields = (("request", body.request), ("answer", body.answer.choice), ("by", body.by))
                choice = CHOICES[body.answer.choice][self.lang]
                said = self.pick(f"{body.request} answered: {choice}", f"{body.request} 已回答：{choice}")
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
                said = self.pick(
                    f"{about}: what {body.by} wrote was refused: {body.why}",
                    f"{about}：{body.by} 写入的内容不符合要求，未被采纳",
                )
                return Change(fields=fields, sentence=one_line(said, SENTENCE), weight="attention")
            case RunSuspended():
                fields = (("run", "suspended"), ("requests", body.requests))
                said = self.pick(
                    "suspended: waits for " + ", ".join(body.requests),
                    "已挂起：等待 " + "、".join(body.requests),
                )
                return Change(fields=fields, sentence=said, weight="attention")
            case ReviewReopened():
                fields = (("run", "reviewing"), ("request", body.request))
                return Change(
                    fields=fields,
                    sentence=self.pick("back in review", "退回审核"),
                    weight="attention",
                )
            case _:
                assert_never(body)

    def run(self, body: OfTheRun, state: RunState) -> tuple[Change, ...]:
        """Return what an event about the run as a whole changed."""
        match body:
            case RunCreated():
                return (self.state("drafting", self.pick("run created", "运行已创建")),)
            case ProposalDrafted():
                name = f"{body.proposal.revision}-{body.sha256[:HASH_PREFIX_LENGTH]}"
                said = self.pick(f"revision {name} is up for review", f"修订版 {name} 待审核")
                return (self.state("reviewing", said, revision=name, author=body.author),)
            case ChangesWereRequested():
                said = self.pick(f"changes requested: {body.note}", f"请求修改：{body.note}")
                return (self.state("reviewing", said, note=body.note),)
            case ProposalRejected():
                return (self.state("blocked", self.pick("proposal rejected", "方案被拒绝"), note=body.note),)
            case ProposalApproved():
                said = self.pick(f"revision {body.revision} approved", f"修订版 {body.revision} 已批准")
                return (self.state("confirmed", said, revision=body.revision, by=body.by),)
            case ExecutorTookOver():
                # Which process it is stands in the event; a person has no use for it.
                said = (
                    self.pick("execution begins", "开始执行")
                    if body.epoch == 1
                    else self.pick("execution goes on", "继续执行")
                )
                return (self.state("running", said, epoch=body.epoch),)
            case RunPaused():
                return (self._paused(body, state),)
            case RunContinued():
                return (self.state("running", self.pick("goes on", "继续"), by=body.by),)
            case CancelRequested():
                return (self.state("cancelling", self.pick("cancelled", "已请求取消"), by=body.by),)
            case RunEnded():
                outcome = status_words(body.outcome, self.lang)
                said = self.pick(f"ended: {outcome}", f"已结束：{outcome}")
                return (
                    self.state(body.outcome, said, gaps=len(body.gaps) or None, stopped=body.stopped or None),
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
        said = self.pick(
            f"paused; {names} {'finishes' if len(under_way) == 1 else 'finish'} first. Go on with: {step}"
            if names
            else f"paused; nothing is under way. Go on with: {step}",
            f"已暂停；{names} 会先完成。继续：{step}"
            if names
            else f"已暂停；没有进行中的子任务。继续：{step}",
        )
        fields = (("run", "paused"), ("by", body.by), ("running", names), ("next", step))
        return Change(fields=fields, sentence=one_line(said, SENTENCE), weight="attention")

    def standing(self, state: RunState) -> Change:
        """That a paused run waits: whoever executes or watches it would take the silence for work."""
        step = f"maskgrad resume {state.run}"
        said = self.pick(
            f"paused; nothing runs. Waits for: {step}; Ctrl-C ends this process",
            f"已暂停；没有任何内容在运行。等待：{step}；Ctrl-C 结束本进程",
        )
        fields = (("run", "paused"), ("running", "nothing"), ("next", step), ("end", "Ctrl-C"))
        return Change(fields=fields, sentence=one_line(said, SENTENCE), weight="attention")
