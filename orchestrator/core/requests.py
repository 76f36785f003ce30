"""Questions to a person and their answers.

A request is an event with an id, a kind and typed choices; it can be answered later and from another process. Text
is never an approval: an answer names one of the choices, with exactly the values that the choice asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import JsonValue

from agents.tools.contract import HeldCall
from graphs.contract import Lang
from graphs.plan import NodeId
from masks.bands import MASK_MAX, MASK_MIN
from orchestrator.core.ids import RequestId

ChoiceId = Literal[
    "retry",
    "set_mask",
    "reassign",
    "accept",
    "approve",
    "refuse",
    "happened",
    "repeat",
    "nothing",
    "abandon",
    "review",
]
"""What a person can answer.

- `retry`: again, with guidance.
- `set_mask`: set one mask value and run again.
- `reassign`: another agent.
- `accept`: take the output as it is, marked as not verified.
- `approve`: let this one call be made, once, with exactly these arguments.
- `refuse`: do not; the agent is told, with the guidance, and goes on without it.
- `happened`: the call whose outcome nobody knows did happen.
- `repeat`: it did not, and is to be made.
- `nothing`: it did not, and is not to be made: its sub-task is in the plan no more.
- `abandon`: go on without this sub-task and what needs it.
- `review`: back to the review with the plan.
"""

CALL_CHOICES: Final[tuple[ChoiceId, ...]] = ("approve", "refuse", "happened", "repeat", "nothing")
"""Answers about one call: the attempt that it belongs to is gone on with."""


ReasonCode = Literal[
    "depth_limit",
    "attempts_exhausted",
    "second_falsification",
    "repairs_exhausted",
    "outside_failed",
    "model_misconfigured",
    "split_at_fault",
    "outside_envelope",
    "not_verified",
    "untrusted_need",
    "external_effect",
    "source_changed",
    "approval_needed",
    "refused_again",
    "outcome_unknown",
]
"""Why a person is asked; `REASONS` says each in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """One line of the table of what was tried."""

    generation: int
    attempt: int
    agent: str
    outcome: str
    repair: str | None
    """The repair that preceded it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One open question to a person."""

    id: RequestId
    kind: Literal["suspension", "amendment", "call"]
    """`suspension`: bounds are used up; `amendment`: the repair would leave the approved envelope; `call`: one call of
    a tool waits for a person's word."""
    node: NodeId
    reason: ReasonCode
    """Why a person is asked: see `REASONS`."""
    detail: str
    """The failure in its own words."""
    attempts: tuple[AttemptRow, ...]
    choices: tuple[ChoiceId, ...]
    agents: tuple[str, ...] = ()
    """For `reassign`: the other approved agents that can take the sub-task (role, operation, tools), best first."""
    domains: tuple[str, ...] = ()
    """For `set_mask`: domains whose value may help, such as the one that is lacking."""
    closed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Per agent that `set_mask` may name (who works on the sub-task, or could), the domains that no answer opens:
    forbidden by the contract, or at -1.00 (semantics 5)."""
    sources: tuple[str, ...] = ()
    """For reason `source_changed`: the cited sources that are no longer what was read."""
    call: HeldCall | None = None
    """For kind `call`: what the answer is bound to."""
    schema: Mapping[str, JsonValue] = field(default_factory=dict)
    """The JSON schema of its answers, for whoever answers by program: see `answer_schema`."""
    refused: tuple[str, ...] = ()
    """Why answers that were written to it could not be taken, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A person's choice and its values."""

    choice: ChoiceId
    guidance: str = ""
    """For `retry`, and the reason of an `abandon`."""
    agent: str = ""
    """For `reassign` and `set_mask`."""
    domain: str = ""
    """For `set_mask`."""
    value: int | None = None
    """For `set_mask`, in hundredths."""


REASONS: Mapping[ReasonCode, Mapping[Lang, str]] = {
    "depth_limit": {
        "en": "the limit of repairs for this part of the plan is reached",
        "zh": "这部分计划的修复次数已达上限",
    },
    "attempts_exhausted": {
        "en": "the sub-task had as many attempts as the contract allows",
        "zh": "该子任务的尝试次数已达契约允许的上限",
    },
    "second_falsification": {
        "en": "the redone output was falsified again",
        "zh": "重做后的输出再次被证伪",
    },
    "outside_failed": {
        "en": "something outside that it needs failed at every try",
        "zh": "它所依赖的外部资源每次尝试都失败",
    },
    "model_misconfigured": {
        "en": "its model can't be asked as it is set up, and no other try would change that",
        "zh": "按目前的配置无法使用其模型，重试也不会改变",
    },
    "split_at_fault": {
        "en": "the split into sub-tasks seems to be at fault",
        "zh": "子任务划分可能有误",
    },
    "repairs_exhausted": {
        "en": "no repair that the approval grants is left for it",
        "zh": "批准范围内没有可用的修复了",
    },
    "outside_envelope": {
        "en": "the repair would leave what was approved",
        "zh": "所需修复超出已批准的范围",
    },
    "not_verified": {
        "en": "the check could not be carried out",
        "zh": "核验未能完成",
    },
    "untrusted_need": {
        "en": "a knowledge domain is asked for by untrusted text, or is not required by the sub-task",
        "zh": "某知识域的需求来自不受信任的文本，或并非子任务所要求",
    },
    "external_effect": {
        "en": "the repair would throw away work that may already have changed your files or acted on the outside world",
        "zh": "修复会作废可能已改动您的文件或已对外部产生作用的工作",
    },
    "source_changed": {
        "en": "a cited source was changed or deleted since it was read; restore it and retry, or plan anew",
        "zh": "引用的来源在读取之后被改动或删除；请恢复后重试，或重新规划",
    },
    "approval_needed": {
        "en": "a call that changes something needs your approval",
        "zh": "一次会产生改动的调用需要您批准",
    },
    "refused_again": {
        "en": "the agent goes on proposing a call that you refused",
        "zh": "agent 仍在提出您已拒绝的调用",
    },
    "outcome_unknown": {
        "en": "a call that changes something was begun, and nobody knows whether it happened; look, then say so",
        "zh": "一次会产生改动的调用已开始，但无人知晓是否已生效；请查看后告知",
    },
}

CHOICES: Mapping[ChoiceId, Mapping[Lang, str]] = {
    "retry": {"en": "try again, with guidance", "zh": "附加说明后重试"},
    "set_mask": {"en": "set a mask value and run again", "zh": "调整一个蒙版值后重跑"},
    "reassign": {"en": "give it to another agent", "zh": "改派给另一个 agent"},
    "accept": {"en": "take the output as it is, marked as not verified", "zh": "按现状接受，并标记为未核验"},
    "approve": {"en": "make this call, once, exactly as shown", "zh": "照所示内容执行这次调用，仅此一次"},
    "refuse": {"en": "do not make it; the agent goes on without", "zh": "不执行；agent 在没有它的情况下继续"},
    "happened": {"en": "it happened: go on", "zh": "已生效：继续"},
    "repeat": {"en": "it did not happen: make it now", "zh": "未生效：现在执行"},
    "nothing": {"en": "it did not happen: go on without it", "zh": "未生效：不再执行，继续"},
    "abandon": {"en": "go on without it and what needs it", "zh": "放弃此子任务及依赖它的部分"},
    "review": {"en": "go back to the review of the plan", "zh": "退回方案审核"},
}


ANSWER_VALUES: Mapping[ChoiceId, tuple[str, ...]] = {
    "retry": ("guidance",),
    "set_mask": ("agent", "domain", "value"),
    "reassign": ("agent",),
    "accept": (),
    "approve": (),
    "refuse": ("guidance",),
    "happened": (),
    "repeat": (),
    "nothing": (),
    "abandon": ("guidance",),
    "review": (),
}
"""The values that go with each choice; `guidance` may be left out, the others are needed."""


def answer_schema(
    choices: tuple[ChoiceId, ...], agents: tuple[str, ...] = (), masked: tuple[str, ...] = ()
) -> dict[str, JsonValue]:
    """Return the JSON schema that an answer to a request with these choices has to match.

    `agents`: those that `reassign` may name, `masked`: those that `set_mask` may; with none, any text. Closed domains
    are `check_answer`'s to refuse.
    """
    able = {"reassign": agents, "set_mask": masked}
    return {"oneOf": [_choice_schema(choice, able.get(choice, ())) for choice in choices]}


def _choice_schema(choice: ChoiceId, agents: tuple[str, ...]) -> dict[str, JsonValue]:
    text: JsonValue = {"type": "string", "minLength": 1}
    values: dict[str, JsonValue] = {
        "guidance": {"type": "string"},
        "agent": {"enum": list(agents)} if agents else text,
        "domain": text,
        "value": {"type": "integer", "minimum": MASK_MIN, "maximum": MASK_MAX},
    }
    named = ANSWER_VALUES[choice]
    return {
        "type": "object",
        "properties": {"choice": {"const": choice}, **{name: values[name] for name in named}},
        "required": ["choice", *(name for name in named if name != "guidance")],
        "additionalProperties": False,
    }


class InvalidAnswer(ValueError):
    """An answer that the request does not offer, or that lacks a value; nothing is recorded."""


def check_answer(request: Request, answer: Answer) -> None:
    """Raise `InvalidAnswer` unless `answer` is one of the request's choices with exactly the values that it asks for.

    What passes matches the request's schema. It may name only an agent that the request lists for its choice, and no
    domain that the request lists as closed to that agent.
    """
    if answer.choice not in request.choices:
        raise InvalidAnswer(
            f"{answer.choice!r} is no choice of request {request.id!r}; choose one of: {', '.join(request.choices)}"
        )
    surplus = [name for name in _given(answer) if name not in ANSWER_VALUES[answer.choice]]
    if surplus:
        accepted = ", ".join(ANSWER_VALUES[answer.choice]) or "none"
        raise InvalidAnswer(
            f"{answer.choice!r} takes no {' and no '.join(surplus)}; values that go with it: {accepted}"
        )
    if answer.choice == "set_mask" and not (answer.agent and answer.domain and answer.value is not None):
        raise InvalidAnswer("'set_mask' needs an agent, a domain and a value, e.g. A1 law.contracts 0.40")
    if answer.choice == "set_mask" and request.closed and answer.agent not in request.closed:
        able = ", ".join(request.closed)
        raise InvalidAnswer(
            f"{answer.agent!r} neither works on {request.node!r} nor can take it; set a value of one of: {able}"
        )
    if answer.value is not None and not MASK_MIN <= answer.value <= MASK_MAX:
        raise InvalidAnswer(
            f"mask value {answer.value!r} (hundredths) is outside {MASK_MIN}..{MASK_MAX}; give one from -1.00 to 1.00"
        )
    if answer.choice == "set_mask" and answer.value is not None and answer.value > MASK_MIN:
        _check_open(request, answer)
    if answer.choice == "reassign" and not answer.agent:
        raise InvalidAnswer("'reassign' needs the id of an agent of the roster")
    if answer.choice == "reassign" and answer.agent not in request.agents:
        able = ", ".join(request.agents)
        raise InvalidAnswer(
            f"{answer.agent!r} is no agent that can take {request.node!r}; choose one of: {able}"
        )


def _given(answer: Answer) -> tuple[str, ...]:
    named = [name for name in ("guidance", "agent", "domain") if getattr(answer, name)]
    return (*named, *(("value",) if answer.value is not None else ()))


def _check_open(request: Request, answer: Answer) -> None:
    """An answer is given inside what was approved: what the contract or a -1 closes is opened in the review only."""
    if is_closed(answer.domain, request.closed.get(answer.agent, ())):
        raise InvalidAnswer(
            f"{answer.domain!r} is forbidden by the contract or at -1.00 for {answer.agent!r}, and no answer opens it; "
            "choose 'review' to change the proposal, or another domain"
        )


def is_closed(domain: str, shut: tuple[str, ...]) -> bool:
    """Tell whether `domain` is one of `shut`, or below one: a parent closes its leaves."""
    return any(domain == each or domain.startswith(f"{each}.") for each in shut)
