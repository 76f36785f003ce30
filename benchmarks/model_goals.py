"""Whole jobs with a real chat model as planner and worker: how they end, and how much of its output needs repair.

`python -m benchmarks.model_goals --model openai:local --base-url URL` takes four English and four Chinese goals over
the example notes, each from the goal to the delivered report, approved as drafted. A small model on a small machine
takes minutes for an answer: the time limits are far above those of the product (`--timeout` for one answer).
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from agents.models.contract import InvalidOutput, ModelError, ModelReply, ModelRequest, ToolCalls
from agents.models.errors import ChatUnavailable
from agents.models.ports import ChatPort, Told
from agents.models.providers import open_chat
from agents.planning.domains import DomainRanker, NoteOutline
from agents.planning.embedded import PlannedGoal, PlanOptions
from agents.planning.language import detect_language
from agents.planning.model.planner import ModelPlanner
from agents.spec import ModelPolicy
from benchmarks.contract import Report, common_options, common_parser, finish, mean, progress, rate
from graphs.contract import Goal, Lang, Limits
from graphs.lint import errors, lint
from masks.domains import DomainRegistry
from orchestrator.core.errors import NoReport
from orchestrator.core.events import AttemptProduced
from orchestrator.core.report import CitedPlace, DeliveredReport
from orchestrator.run import approve, execute, report_of, submit_planned
from orchestrator.shell.proposing import ProposalOptions
from orchestrator.shell.runs import events_of
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop

ROOT: Final = Path(__file__).resolve().parents[1]
GOALS: Final = (
    "How far apart must the battery containers stand?",
    "改造后出水总磷的限值是多少？",
    "By when must the grid connection offer be accepted, and what happens if it is not?",
    "排污许可证最迟应在什么时候重新申请？",
    "What permits does the project need?",
    "厂区屋顶光伏每年发多少电？",
    "Compare the two battery offers on price and guarantee.",
    "总结项目的主要风险。",
)
"""Single facts, a fact with its consequence, a list, a comparison, a summary."""
TIMEOUT_S: Final = 1_500.0
MOST_OUTPUT_TOKENS: Final = 1_200
"""Of one answer: small models sometimes go on for ever."""
LIMITS: Final = Limits(max_model_time_s=6_000.0, deadline_s=9_000.0)


@dataclass(slots=True)
class Watched:
    """A chat model, and what it answered."""

    inner: ChatPort
    replies: list[tuple[ModelRequest, ModelReply]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        reply = await self.inner.complete(request, told)
        self.replies.append((request, reply))
        progress(f"    {request.purpose}: {_outcome(reply)}, {_size(reply)}")
        return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How one goal went."""

    status: str
    """Of the run; `crashed` after an exception."""
    reasons: tuple[str, ...] = ()
    """Why it is not complete."""
    valid: bool = False
    """Whether the approved plan has no lint error."""
    by_model: bool = False
    """Whether the plan is the model's; false after a fallback to the embedded planner."""
    repairs: tuple[str, ...] = ()
    """Kinds of what was put right in the plan."""
    produced: tuple[str, ...] = ()
    """How each output came about."""
    claims: int = 0
    traced: int = 0
    """Claims of the report that rest on words which stand where it says."""
    seconds: float = 0.0


def main(argv: Sequence[str] | None = None) -> int:
    """Take the goals and print how they went; return 0, 2 for a model that can't be opened."""
    parser = common_parser("model_goals", (__doc__ or "").splitlines()[0], with_data=False)
    parser.add_argument("--model", required=True, help="provider:model, as in `maskgrad run --model`")
    parser.add_argument("--base-url", help="address of its server; without: the provider's own")
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT_S, help="seconds for one answer (%(default)g)"
    )
    parser.add_argument("--goals", type=int, default=len(GOALS), help="take the first N goals (%(default)s)")
    parser.add_argument(
        "--after",
        type=int,
        default=0,
        help="leave out the first N goals, which were taken before (%(default)s)",
    )
    given = parser.parse_args(argv)
    if not 1 <= given.goals <= len(GOALS):
        parser.error(f"--goals is {given.goals}; give a whole number from 1 to {len(GOALS)}")
    if not 0 <= given.after < given.goals:
        parser.error(f"--after is {given.after}; give a whole number from 0 to {given.goals - 1}")
    options = common_options(parser, given)
    try:
        chat = open_chat(
            given.model,
            environ=os.environ,
            base_url=given.base_url,
            timeout_s=given.timeout,
            options={"temperature": 0, "max_tokens": MOST_OUTPUT_TOKENS},
        )
    except ChatUnavailable as error:
        parser.error(str(error))
    watched = Watched(chat)
    policy = ModelPolicy(kind="model", model=given.model, base_url=given.base_url)
    with tempfile.TemporaryDirectory(prefix="maskgrad-model-goals-") as home:
        goals = GOALS[given.after : given.goals]
        done = [one_goal(goal, watched, policy, Path(home) / str(at)) for at, goal in enumerate(goals)]
    report = Report(benchmark="model_goals", seed=options.seed)
    add_figures(report, done, watched.replies)
    finish(report, options)
    return 0


def model_workshop(home: Path, lang: Lang, chat: ChatPort, policy: ModelPolicy) -> Workshop:
    """Return a workshop as users have it, whose agents think with `chat`."""
    # One answer at a time: a small machine does not answer two sooner.
    caps = {policy.provider: 1} if policy.provider else {}
    settings = Settings(home=home, lang=lang, provider_caps=caps)
    return Workshop(settings=settings, store=SqliteStore(home / "runs.db"), chat_for=lambda _: chat)


ModelWorkshopOf = Callable[[Path, Lang, ChatPort, ModelPolicy], Workshop]
"""Makes the workshop of one goal."""


def one_goal(
    text: str, chat: Watched, policy: ModelPolicy, home: Path, workshop_of: ModelWorkshopOf = model_workshop
) -> Done:
    """Take one goal from its words to the report; an exception makes it `crashed`, and the next one is taken."""
    progress(f"{text}")
    started = time.perf_counter()
    try:
        done = asyncio.run(_taken(text, chat, policy, home, workshop_of))
    except Exception as error:  # noqa: BLE001 - what breaks is what is counted
        done = Done(status="crashed", reasons=(f"{type(error).__name__}: {error}",))
    done = replace(done, seconds=time.perf_counter() - started)
    progress(f"  {done}")
    return done


async def _taken(
    text: str, chat: Watched, policy: ModelPolicy, home: Path, workshop_of: ModelWorkshopOf
) -> Done:
    lang = detect_language(text).lang
    notes = ROOT / "examples" / f"notes-{lang}"
    home.mkdir()
    shop = workshop_of(home, lang, chat, policy)
    options = ProposalOptions(policy=policy, limits=LIMITS, allow_unresolved=True)
    planner = _Remembering(ModelPlanner(chat))
    drafted = await submit_planned(shop, text, planner, sources=[notes], options=options)
    assert drafted.proposal is not None
    assert drafted.sha256 is not None
    approve(shop, drafted.run, drafted.proposal.revision, drafted.sha256, by="benchmark")
    state = await execute(shop, drafted.run)
    produced = [one.body for one in events_of(shop.store, state.run) if isinstance(one.body, AttemptProduced)]
    try:
        report: DeliveredReport | None = report_of(shop, state.run)
    except NoReport:
        report = None
    places = [claim.places for claim in report.citations] if report else []
    shop.store.close()
    return Done(
        status=state.status,
        reasons=state.gaps,
        valid=not errors(lint(drafted.proposal.plan, drafted.proposal.contract)),
        by_model="fallback" not in planner.kinds,
        repairs=planner.kinds,
        produced=tuple(f"{body.node}: {body.mode}" for body in produced),
        claims=len(places),
        traced=sum(bool(cited) and all(stands_there(one, notes) for one in cited) for cited in places),
    )


@dataclass(slots=True)
class _Remembering:
    """A planner that keeps what had to be put right."""

    inner: ModelPlanner
    kinds: tuple[str, ...] = ()

    async def plan(
        self,
        goal: Goal,
        registry: DomainRegistry,
        rank: DomainRanker,
        catalogue: Sequence[NoteOutline] | None = None,
        options: PlanOptions | None = None,
    ) -> PlannedGoal:
        planned = await self.inner.plan(goal, registry, rank, catalogue, options)
        self.kinds = tuple(one.kind for one in planned.repairs)
        return planned


def add_figures(
    report: Report, done: Sequence[Done], replies: Sequence[tuple[ModelRequest, ModelReply]]
) -> None:
    """Add what the goals came to."""
    goals, seed = len(done), report.seed
    figures = report.figures
    figures["goals.delivered"] = rate(
        sum(one.status in ("completed", "partial") for one in done), goals, "goals"
    )
    figures["goals.completed"] = rate(sum(one.status == "completed" for one in done), goals, "goals")
    figures["goals.crashed"] = rate(sum(one.status == "crashed" for one in done), goals, "goals")
    figures["plans.valid"] = rate(sum(one.valid for one in done), goals, "plans")
    figures["plans.by_model"] = rate(sum(one.by_model for one in done), goals, "plans")
    figures["plans.repaired"] = rate(sum(bool(one.repairs) for one in done), goals, "plans")
    figures["goals.minutes"] = mean([one.seconds / 60 for one in done], "minutes", seed)
    claims = sum(one.claims for one in done)
    if claims:
        figures["claims.traced"] = rate(sum(one.traced for one in done), claims, "claims")
    else:
        report.missing["claims.traced"] = "no report with a claim was delivered"
    for purpose in sorted({request.purpose for request, _ in replies}):
        answers = [reply for request, reply in replies if request.purpose == purpose]
        unusable = sum(_is_unusable(reply) for reply in answers)
        figures[f"answers.{purpose}.unusable"] = rate(unusable, len(answers), "answers")
    kinds = Counter(kind for one in done for kind in one.repairs)
    report.conditions["repairs of plans"] = ", ".join(
        f"{kind} {count}" for kind, count in kinds.most_common()
    )
    outcomes = Counter(f"{request.purpose} {_outcome(reply)}" for request, reply in replies)
    report.conditions["answers"] = ", ".join(f"{kind} {count}" for kind, count in outcomes.most_common())
    report.conditions["goals"] = "; ".join(
        f"{one.status} ({one.claims} claims, {', '.join(one.produced)}{_because(one)})" for one in done
    )


def _because(one: Done) -> str:
    return f", because: {' / '.join(one.reasons)}" if one.reasons else ""


def _is_unusable(reply: ModelReply) -> bool:
    """Whether an answer, or a call in it, could not be read as what was asked for."""
    outcome = reply.outcome
    return isinstance(outcome, InvalidOutput | ModelError) or (
        isinstance(outcome, ToolCalls) and bool(outcome.invalid)
    )


def _outcome(reply: ModelReply) -> str:
    outcome = reply.outcome
    if isinstance(outcome, ModelError):
        return f"{outcome.kind} {outcome.error_type}"
    if isinstance(outcome, InvalidOutput):
        return f"{outcome.kind} ({outcome.reason[:80]})"
    if isinstance(outcome, ToolCalls):
        names = [call.tool for call in outcome.calls] + [
            f"{bad.tool} (unreadable)" for bad in outcome.invalid
        ]
        return f"calls {' + '.join(names)}"
    return outcome.kind


def _size(reply: ModelReply) -> str:
    usage = reply.usage
    return (
        f"{usage.input_tokens} + {usage.output_tokens} tokens, {reply.elapsed_ms / 1000:.0f} s, {reply.means}"
    )


def stands_there(place: CitedPlace, folder: Path) -> bool:
    """Look the place up again: the file is the one that was read, and the words stand in it."""
    try:
        content = (folder / place.uri).read_bytes()
    except OSError:
        return False
    text = content.decode("utf-8")
    return (
        sha256(content).hexdigest() == place.source_digest
        and bool(place.excerpt)
        and text[place.start_char : place.end_char] == place.excerpt
    )


if __name__ == "__main__":
    raise SystemExit(main())
