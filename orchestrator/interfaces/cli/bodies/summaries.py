"""A run in a few words, and as JSON: the same summary wherever a command ends with a run."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, assert_never

from graphs.plan import NodeId, natural_key
from orchestrator.core.ids import RequestId, RunId, run_of_request
from orchestrator.core.proposal import HASH_PREFIX_LENGTH
from orchestrator.core.requests import CHOICES, REASONS, ChoiceId, Request, answer_schema, is_closed
from orchestrator.core.state import ENDED, NodeState, RunState, RunStatus
from orchestrator.interfaces.cli.bodies.effects import effect_documents
from orchestrator.interfaces.cli.bodies.held_calls import call_document, call_lines, earlier_lines
from orchestrator.interfaces.cli.bodies.looking import nodes_of
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.progress.wording import outcome_words, repair_kind_words
from orchestrator.interfaces.cli.streams import one_line

STATUS_WORDS: Final[Mapping[RunStatus, tuple[str, str]]] = {
    "drafting": ("drafting", "起草中"),
    "reviewing": ("in review", "审核中"),
    "confirmed": ("approved, not begun", "已批准，未开始"),
    "running": ("running", "运行中"),
    "paused": ("paused", "已暂停"),
    "suspended": ("suspended, needs you", "已挂起，需要您"),
    "completed": ("completed", "已完成"),
    "partial": ("partial", "部分完成"),
    "blocked": ("blocked", "受阻"),
    "cancelled": ("cancelled", "已取消"),
    "failed": ("failed", "失败"),
}
"""The states of a run in words."""

NODE_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "pending": ("waiting", "等待"),
    "ready": ("ready", "就绪"),
    "running": ("running", "运行中"),
    "verifying": ("checking", "核验中"),
    "accepted": ("accepted", "已接受"),
    "blocked": ("blocked", "受阻"),
    "suspended": ("needs you", "需要您"),
    "skipped": ("given up", "已放弃"),
}
"""The states of a sub-task in words."""


LISTED: Final = 40
"""Sub-tasks that are listed one by one; a larger plan is summed up, for it would scroll what matters off the screen."""
NOTABLE: Final = 20
"""Sub-tasks of a larger plan that are listed all the same."""
_NOTABLE_FIRST: Final = ("suspended", "blocked", "running", "verifying", "skipped")
"""What a person looks for first."""

INTERRUPTED: Final = ("interrupted", "已中断")
"""The state of a run that nobody executes although its log says that it is running."""


STARTING: Final = ("starting", "启动中")
"""The state of an approved run that a process has taken and not begun yet."""


Given = Mapping[RequestId, str]
"""The choices that were given to open requests and that the run has not taken up yet."""
NOTHING_GIVEN: Final[Given] = MappingProxyType({})

ANSWERED: Final = ("suspended, answered", "已挂起，已回答")
"""The state of a suspended run whose every request has an answer that nobody took up yet."""


def status_words(
    status: RunStatus,
    lang: Lang,
    *,
    interrupted: bool = False,
    starting: bool = False,
    answered: bool = False,
) -> str:
    """Return a run's state in words.

    `interrupted` tells that nobody executes it, `starting` that somebody does, `answered` that no request of it waits
    for a person any more.
    """
    if answered and status == "suspended":
        return pick(lang, *ANSWERED)
    if starting and status == "confirmed":
        return pick(lang, *STARTING)
    return pick(lang, *(INTERRUPTED if interrupted and status == "running" else STATUS_WORDS[status]))


def shadow_words(original: RunId | None, lang: Lang) -> str:
    """Return what a shadow is the shadow of, in brackets; empty for any other run."""
    return pick(lang, f" (shadow of {original})", f"（{original} 的影子）") if original else ""


def approval_of(state: RunState) -> str | None:
    """Return `ID@REV-HASH8` of the revision under review; `None` outside of a review."""
    if state.status != "reviewing" or state.proposal is None or state.sha256 is None:
        return None
    return f"{state.run}@{state.proposal.revision}-{state.sha256[:HASH_PREFIX_LENGTH]}"


def is_answered(state: RunState, given: Given) -> bool:
    """Tell whether every request that a suspended run waits for has been answered."""
    return state.status == "suspended" and all(request in given for request in state.requests)


def next_step(state: RunState, *, starting: bool = False, given: Given = NOTHING_GIVEN) -> str | None:
    """Return the command that takes a run further, or a rejected goal; `None` for any other run that ended.

    One that is `starting` in another process is followed; one whose requests are all answered is gone on with.
    """
    if starting:
        return f"maskgrad watch {state.run}"
    token = approval_of(state)
    if token is not None:
        return f"maskgrad approve {token}"
    waiting = [request for request in state.requests if request not in given]
    if waiting and state.status == "suspended":
        request = state.requests[min(waiting, key=natural_key)]
        return answer_commands(request, request.choices[0])[0]
    if state.status == "confirmed":
        return f"maskgrad run {state.run}"
    if is_rejected(state):
        return plan_anew(state)
    return None if state.status in ENDED else f"maskgrad resume {state.run}"


def is_rejected(state: RunState) -> bool:
    """Tell whether a person rejected the proposal: the run ended before anything was approved."""
    return state.status == "blocked" and state.approved_revision is None


def plan_anew(state: RunState) -> str:
    """Return the command that drafts the goal of a run again."""
    created = state.created
    goal = shlex.quote(one_line(created.goal)) if created is not None else "GOAL"
    folders = created.sources if created is not None else ()
    return " ".join(
        ["maskgrad plan", goal, *(f"--sources {shlex.quote(one_line(folder))}" for folder in folders)]
    )


def run_document(
    state: RunState, *, interrupted: bool = False, starting: bool = False, given: Given = NOTHING_GIVEN
) -> dict[str, Any]:
    """Return a run as a JSON object.

    `interrupted` tells that nobody executes it although it is running, `starting` that somebody took it and has not
    begun, `given` which choices were given to its requests and not taken up yet.
    """
    counts = state.counts
    return {
        "run": state.run,
        "status": state.status,
        "interrupted": interrupted,
        "seq": state.seq,
        "goal": state.created.goal if state.created is not None else None,
        "shadow_of": state.shadow_of,
        "revision": state.proposal.revision if state.proposal is not None else None,
        "sha256": state.sha256,
        "approved_revision": state.approved_revision,
        "approval": approval_of(state),
        "counts": {
            "total": len(state.nodes),
            "accepted": counts.accepted,
            "active": counts.active,
            "ready": counts.ready,
            "blocked": counts.blocked,
            "suspended": counts.suspended,
            "skipped": counts.skipped,
        },
        "requests": [
            {**request_document(state.requests[key]), "given": given.get(key)}
            for key in sorted(state.requests.keys(), key=natural_key)
        ],
        "calls": effect_documents(state),
        "gaps": list(state.gaps),
        "stopped": state.stopped,
        "result": state.result,
        "next": next_step(state, starting=starting, given=given),
    }


def request_document(request: Request) -> dict[str, Any]:
    """Return an open request as a JSON object, with the schema of its answers."""
    return {
        "id": request.id,
        "kind": request.kind,
        "node": request.node,
        "reason": request.reason,
        "detail": request.detail,
        "choices": list(request.choices),
        "agents": list(request.agents),
        "domains": list(request.domains),
        "sources": list(request.sources),
        "call": call_document(request.call) if request.call is not None else None,
        "closed": {agent: list(domains) for agent, domains in request.closed.items()},
        "schema": answer_schema(request.choices),
        "refused": list(request.refused),
        "attempts": [
            {
                "generation": row.generation,
                "attempt": row.attempt,
                "agent": row.agent,
                "outcome": row.outcome,
                "repair": row.repair,
            }
            for row in request.attempts
        ],
    }


def request_lines(request: Request, lang: Lang, given: str | None = None) -> list[str]:
    """Return an open request for people: why, what was tried, and each choice with its commands.

    With the choice that was `given` to it, in place of the choices: the first answer stands.
    """
    lines = [
        f"{request.id}  {request.node}: {REASONS[request.reason][lang]}",
        *(
            (*call_lines(request.call, lang), *earlier_lines(request.call, lang))
            if request.call
            else [f"  {one_line(request.detail, 300)}"]
        ),
    ]
    if request.sources:
        files = ", ".join(one_line(source, 100) for source in request.sources)
        lines.append(pick(lang, f"  restore, then try again: {files}", f"  请恢复后重试：{files}"))
    if request.attempts:
        lines.append(pick(lang, "  tried:", "  已尝试："))
    for row in request.attempts:
        repair = f" · {repair_kind_words(row.repair, lang)}" if row.repair else ""
        ended = outcome_words(row.outcome, lang)
        lines.append(f"    {row.generation}.{row.attempt}  {row.agent}  {ended}{repair}")
    for why in request.refused:
        lines.append(
            pick(
                lang,
                f"  an answer was refused: {one_line(why, 300)}",
                "  有一条回答不符合要求，未被采纳；请重新回答",
            )
        )
    if given is not None:
        return [*lines, given_line(request, given, lang)]
    lines.append(pick(lang, "  choices:", "  选项："))
    for choice in request.choices:
        lines.append(f"    {CHOICES[choice][lang]}")
        lines += [f"      {command}" for command in answer_commands(request, choice)]
    return lines


def given_line(request: Request, given: str, lang: Lang) -> str:
    """Return that a request was answered, with which choice, and how the run goes on."""
    words = next((CHOICES[choice][lang] for choice in request.choices if choice == given), given)
    step = f"maskgrad resume {run_of_request(request.id)}"
    return pick(
        lang,
        f"  answered: {given} ({words}); go on with: {step}",
        f"  已回答：{given}（{words}）；请继续：{step}",
    )


def answer_commands(request: Request, choice: ChoiceId) -> tuple[str, ...]:
    """Return the commands that give an answer: one for each agent or domain that the request says is possible.

    Words in capitals are left to the person: a value, and what the request knows no candidate for.
    """
    head = f"maskgrad answer {request.id} {choice}"
    match choice:
        case "reassign":
            return tuple(f"{head} --agent {_word(name)}" for name in request.agents or ("AGENT",))
        case "set_mask":
            agent = request.attempts[-1].agent if request.attempts else ""
            shut = request.closed.get(agent, ())
            domains = [domain for domain in request.domains if not is_closed(domain, shut)]
            return tuple(
                f"{head} --agent {_word(agent or 'AGENT')} --domain {_word(domain)} --value VALUE"
                for domain in domains or ("DOMAIN",)
            )
        case "retry" | "refuse":
            return (f"{head} [--guidance TEXT]",)
        case "accept" | "approve" | "happened" | "repeat" | "nothing" | "abandon" | "review":
            return (head,)
        case _:
            assert_never(choice)


def _word(name: str) -> str:
    return shlex.quote(one_line(name))


def node_word(node: NodeState, lang: Lang) -> str:
    """Return a sub-task's state in words."""
    return pick(lang, *NODE_WORDS["ready" if node.ready else node.status])


def node_lines(state: RunState, lang: Lang, *, whole: bool = True) -> list[str]:
    """Return one line per sub-task: state, agent, attempts, title.

    Unless `whole`, of a plan with more than `LISTED` of them: how many are in which state, and the `NOTABLE` ones that
    a person looks for first.
    """
    names = nodes_of(state)
    titles = _titles(state)
    if whole or len(names) <= LISTED:
        return [_node_line(state, name, titles, lang) for name in names]
    words = Counter(node_word(node, lang) for node in map(state.nodes.get, names) if node is not None)
    counted = " · ".join(f"{word} {number}" for word, number in words.most_common())
    head = pick(lang, f"  {len(names)} sub-tasks", f"  {len(names)} 个子任务")
    notable = [
        name
        for status in _NOTABLE_FIRST
        for name in names
        if (node := state.nodes.get(name)) is not None and node.status == status
    ]
    lines = [f"{head}{pick(lang, ': ', '：') if counted else ''}{counted}"]
    lines += [_node_line(state, name, titles, lang) for name in notable[:NOTABLE]]
    command = f"maskgrad show {state.run} --all"
    return [*lines, pick(lang, f"  all of them: {command}", f"  查看全部：{command}")]


def _node_line(state: RunState, name: NodeId, titles: Mapping[NodeId, str], lang: Lang) -> str:
    node, title = state.nodes.get(name), titles.get(name, "")
    if node is None:
        return f"  {name:<5} {title}"
    tries = f"{node.generation}.{node.attempt}"
    return f"  {name:<5} {node_word(node, lang):<9} {state.assigned.get(name, ''):<8} {tries:<5} {title}"


def node_documents(state: RunState) -> list[dict[str, Any]]:
    """Return the sub-tasks as JSON objects."""
    documents = []
    titles = _titles(state)
    for name in nodes_of(state):
        node = state.nodes.get(name)
        documents.append(
            {
                "node": name,
                "title": titles.get(name, ""),
                "agent": state.assigned.get(name),
                "status": ("ready" if node.ready else node.status) if node is not None else "draft",
                "generation": node.generation if node is not None else 0,
                "attempt": node.attempt if node is not None else 0,
                "depth": node.depth if node is not None else 0,
                "repairs": list(node.repairs) if node is not None else [],
            }
        )
    return documents


def _titles(state: RunState) -> Mapping[NodeId, str]:
    tasks = state.proposal.plan.subtasks if state.proposal is not None else ()
    return {task.id: one_line(task.title, 80) for task in tasks}
