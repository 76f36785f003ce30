"""Answer a request of a run, from whatever process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from masks.bands import parse_mask_value
from masks.domains import DomainRegistry
from orchestrator.core.errors import UnknownRequest
from orchestrator.core.events import RequestAnswered
from orchestrator.core.ids import RunId, run_of_request
from orchestrator.core.requests import ANSWER_VALUES, Answer, ChoiceId, Request
from orchestrator.core.state import RunState
from orchestrator.desk import answer as hand_over
from orchestrator.interfaces.cli.bodies.deciding import BY
from orchestrator.interfaces.cli.bodies.given_answers import given_answers
from orchestrator.interfaces.cli.bodies.looking import holder_name, living_lease, run_state
from orchestrator.interfaces.cli.bodies.summaries import run_document
from orchestrator.interfaces.cli.problems import NotFound, Problem, UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import events_of
from orchestrator.shell.store.errors import AlreadyRecorded


class AnsweredBefore(Problem):
    """The request has another answer; the first one stands."""

    kind = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer as it was typed."""

    choice: str
    guidance: str = ""
    agent: str = ""
    domain: str = ""
    value: str = ""


def answer(session: Session, request: str, reply: Reply) -> Result:
    """Hand an answer over to its run.

    Everything is checked before it is handed over: the first answer that is handed over stands. Raises
    `AnsweredBefore`, `UsageProblem`, `NotFound`, `UnknownDomain`, `MaskValueError`, `UnknownRequest` and `UnknownRun`.
    """
    run = _run_of(request)
    state = run_state(session, run)
    wanted = next((known for known in state.requests.values() if known.id == request), None)
    if wanted is None:
        _refuse_taken_up(session, request, run)
        raise UnknownRequest(request, tuple(sorted(state.requests.keys())))
    typed = _typed(state, wanted, reply, session.registry)
    try:
        hand_over(session.desk(), request, typed, by=BY)
    except AlreadyRecorded:
        raise _answered_before(session, request, run) from None
    lease = living_lease(session, run)
    if lease is not None:
        note = session.pick(
            f"handed over; {holder_name(lease.holder)} executes the run. Follow it with: maskgrad watch {run}",
            f"已转交；由 {holder_name(lease.holder)} 执行该运行。可跟踪：maskgrad watch {run}",
        )
    else:
        note = session.pick(
            f"written down; nobody executes the run now. Go on with: maskgrad resume {run}",
            f"已记录；当前没有进程执行该运行。请继续：maskgrad resume {run}",
        )
    interrupted = lease is None and state.status == "running"
    data = {
        **run_document(state, interrupted=interrupted, given=given_answers(session, state)),
        "answered": request,
        "choice": typed.choice,
        "executed": lease is not None,
    }
    return Result(data=data, notes=(note,))


def _refuse_taken_up(session: Session, request: str, run: RunId) -> None:
    """Raise `AnsweredBefore` where the run has taken an answer to `request` up, with that answer."""
    for event in events_of(session.store(), run):
        if isinstance(event.body, RequestAnswered) and event.body.request == request:
            choice, at = event.body.answer.choice, event.body.at or event.ts
            raise AnsweredBefore(
                "already_answered",
                en=f"request {request!r} was answered with {choice!r} at {at}, and the run went on with that; "
                f"what came of it: maskgrad show {run}",
                zh=f"请求 {request!r} 已于 {at} 以 {choice!r} 回答，运行已据此继续；结果见：maskgrad show {run}",
            )


def _answered_before(session: Session, request: str, run: RunId) -> AnsweredBefore:
    # Whoever executes the run takes the first answer up by itself; with nobody there, the user has to go on.
    step = f"maskgrad {'resume' if living_lease(session, run) is None else 'watch'} {run}"
    return AnsweredBefore(
        "already_answered",
        en=f"request {request!r} is already answered; go on with: {step}",
        zh=f"请求 {request!r} 已经回答过；请继续：{step}",
    )


def _run_of(request: str) -> RunId:
    try:
        return run_of_request(request)
    except ValueError:
        raise UsageProblem(
            "request_form",
            en=f"{request!r} is no request id; accepted: ids like 'r-7k2m9d.q1', as `maskgrad show RUN` lists them",
            zh=f"{request!r} 不是请求标识；可接受：形如 'r-7k2m9d.q1' 的标识，见 `maskgrad show RUN`",
        ) from None


def _typed(state: RunState, request: Request, reply: Reply, registry: DomainRegistry) -> Answer:
    choice = _choice(request, reply.choice)
    given = {name for name in ("guidance", "agent", "domain", "value") if getattr(reply, name)}
    wanted = ANSWER_VALUES[choice]
    missing = [name for name in wanted if name != "guidance" and name not in given]
    surplus = sorted(given - set(wanted))
    if missing or surplus:
        raise _values_refused(choice, wanted, missing, surplus)
    able = _able(state, request, choice)
    if reply.agent and reply.agent not in able:
        known = ", ".join(able)
        raise NotFound(
            "unknown_agent",
            en=f"{reply.agent!r} is no agent that {choice!r} can name for {request.node!r}; accepted: {known}",
            zh=f"{reply.agent!r} 不是 {choice!r} 可以为 {request.node!r} 指定的 agent；可接受：{known}",
        )
    domain = _leaf(reply.domain, registry) if reply.domain else ""
    value = parse_mask_value(reply.value) if reply.value else None
    return Answer(choice=choice, guidance=reply.guidance, agent=reply.agent, domain=domain, value=value)


def _able(state: RunState, request: Request, choice: ChoiceId) -> list[str]:
    """Return the agents that an answer may name: those of the request, else all that work on sub-tasks."""
    listed = request.closed if choice == "set_mask" else request.agents
    return sorted(listed or (name for name, spec in state.agents.items() if spec.role == "generate"))


def _choice(request: Request, text: str) -> ChoiceId:
    for known in get_args(ChoiceId):
        if text == known and known in request.choices:
            choice: ChoiceId = known
            return choice
    accepted = ", ".join(request.choices)
    look = f"maskgrad show {run_of_request(request.id)}"
    raise UsageProblem(
        "invalid_answer",
        en=f"{text!r} is no choice of request {request.id!r}; accepted: {accepted}. See: {look}",
        zh=f"{text!r} 不是请求 {request.id!r} 的选项；可接受：{accepted}。查看：{look}",
    )


def _values_refused(
    choice: str, wanted: tuple[str, ...], missing: list[str], surplus: list[str]
) -> UsageProblem:
    listed = " ".join(f"--{name}" for name in wanted) or "-"
    lacks = " ".join(f"--{name}" for name in missing) or "-"
    extra = " ".join(f"--{name}" for name in surplus) or "-"
    return UsageProblem(
        "invalid_answer",
        en=f"{choice!r} does not fit its values: missing {lacks}, not accepted {extra}; accepted: {listed}",
        zh=f"{choice!r} 的取值不符：缺少 {lacks}，不接受 {extra}；可接受：{listed}",
    )


def _leaf(text: str, registry: DomainRegistry) -> str:
    domain = registry.resolve(text)
    if not registry.is_leaf(domain):
        leaves = ", ".join(registry.leaves_under(domain))
        raise UsageProblem(
            "domain_not_a_leaf",
            en=f"{text!r} stands for several domains; accepted: one of {leaves}",
            zh=f"{text!r} 代表多个知识域；可接受其中之一：{leaves}",
        )
    return domain
