"""The embedded planner: a goal in, its intent, contract and plan out; no model, no network, always the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from agents.memory.contract import Recalled
from agents.operations import NOTES, REPORT, TABLE
from agents.planning.clarifying import as_decided
from agents.planning.clauses import without_article
from agents.planning.compared import with_notes
from agents.planning.domains import DomainFinder, DomainRanker, NoteOutline, leaves_of
from agents.planning.drafting import PlanDraft
from agents.planning.intent import Prohibitions, resolve_prohibitions, state_intent
from agents.planning.language import detect_language
from agents.planning.patterns.research import subject_of
from agents.planning.reading import read_goal
from agents.planning.readings import (
    CheckTask,
    CompareTask,
    ExtractTask,
    OutlineTask,
    Reading,
    ResearchTask,
    SummariseTask,
    Task,
    UnclearTask,
)
from agents.planning.repairs import PlanningCall, PlanRepair
from agents.planning.templates import COMPUTING, draft_task
from agents.planning.wording import TITLE_LENGTH, counted, listing, say, shorten
from graphs.contract import Ambiguity, Goal, Intent, Lang, Limits, TaskContract
from graphs.plan import NodeId, Plan
from masks.domains import DomainId, DomainRegistry

NO_TASK = "none"
"""Kind of the contract of a text that asks for nothing."""

MIXED = "mixed"
"""Kind of the contract of a goal with tasks of several kinds."""


class EmptyGoal(ValueError):
    """A goal without a single character. The caller shows it; the user types a goal."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._messages: dict[Lang, str] = {
            "en": (
                f"The goal is empty (got {text!r}). Accepted: a question or a task in English or Chinese. "
                "Type one, for example “What does the battery cost?”."
            ),
            "zh": (
                f"目标为空（收到 {text!r}）。可接受：中文或英文的问题或任务。"
                "请输入，例如“电池系统的造价是多少？”。"
            ),
        }
        super().__init__(self._messages["en"])

    def message(self, lang: Lang) -> str:
        """Return the message in `lang`."""
        return self._messages[lang]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What the user sets beside the words of the goal."""

    allow_unresolved: bool | None = None
    """Whether open questions may stay open; `None`: as the goal says, else not."""
    forbidden: tuple[str, ...] = ()
    """Further prohibitions: `domain:<id>` or words."""
    limits: Limits | None = None
    """Limits of every attempt; `None`: the research contract's."""
    settled: tuple[Ambiguity, ...] = ()
    """Points that the goal leaves open and the user has decided, in the order in which they were."""
    memories: tuple[Recalled, ...] = ()
    """What is remembered for the goal: data for a planner that asks a model, the others ignore it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGoal:
    """What the planner proposes for the review."""

    intent: Intent
    contract: TaskContract
    plan: Plan
    notes: tuple[str, ...]
    """What the reviewer should know, in the goal's language."""
    repairs: tuple[PlanRepair, ...] = ()
    """What was put right in a plan that a model proposed, in order; each stands in `notes`, too."""
    calls: tuple[PlanningCall, ...] = ()
    """Every model call that the plan cost, in order; none for the embedded planner."""


def plan_goal(
    goal: Goal,
    registry: DomainRegistry,
    rank: DomainRanker,
    catalogue: Sequence[NoteOutline] | None = None,
    options: PlanOptions | None = None,
) -> PlannedGoal:
    """Return intent, contract and plan of `goal`; equal arguments give equal results.

    The plan of a goal that asks for something has no lint error. A text that asks for nothing ("thanks", blanks,
    emoji) gives an empty plan, a contract without demands and a note that says so. Raises `EmptyGoal` for an empty
    text, `UnknownDomain` for an option `domain:<id>` that the registry does not know, and what `as_decided` raises.
    """
    chosen = options or PlanOptions()
    if not goal.text:
        raise EmptyGoal(goal.text)
    reading = reading_of(goal, registry, tuple(catalogue or ()), chosen.settled)
    prohibitions = resolve_prohibitions((*reading.prohibitions, *chosen.forbidden), registry)
    intent = state_intent(goal, reading, prohibitions, chosen.settled)
    if not reading.tasks:
        return nothing_to_do(goal, intent)
    finder = DomainFinder(
        rank=rank,
        registry=registry,
        outlines=tuple(catalogue or ()),
        forbidden=leaves_of(prohibitions.domains, registry),
    )
    draft = PlanDraft(lang=goal.lang, finder=finder)
    delivered: list[NodeId] = []
    for task in reading.tasks:
        delivered.extend(draft_task(task, draft, tuple(delivered)))
    add_report(reading, draft, delivered, intent.objective)
    plan = draft.plan()
    contract = contract_of(reading, prohibitions, chosen, draft)
    notes = (*draft.notes, *review_notes(goal, reading, prohibitions, finder, plan))
    return PlannedGoal(intent=intent, contract=contract, plan=plan, notes=tuple(dict.fromkeys(notes)))


def reading_of(
    goal: Goal, registry: DomainRegistry, outlines: Sequence[NoteOutline], settled: Sequence[Ambiguity]
) -> Reading:
    """Return how the code reads a goal, under the user's decisions; raises as `as_decided` does."""
    reading = with_notes(read_goal(goal.text), tuple(outlines))
    return as_decided(goal, reading, settled, registry)


def nothing_to_do(goal: Goal, intent: Intent) -> PlannedGoal:
    """Return the empty plan of a text that asks for nothing, with a note that says so."""
    note = say("note_no_task", goal.lang, text=goal.text)
    return PlannedGoal(intent=intent, contract=TaskContract(kind=NO_TASK), plan=Plan(), notes=(note,))


def add_report(reading: Reading, draft: PlanDraft, delivered: Sequence[NodeId], objective: str) -> None:
    """Add the sub-task that delivers what `delivered` hand out, with the criteria of the delivery as a whole."""
    cited = draft.accept("cited", say("accept_cited", draft.lang), "claims_cited")
    exists = draft.accept("report", say("accept_report", draft.lang), "artefact_exists")
    asked = [c.id for c in draft.criteria if c.kind in ("question_answered", "field_filled")]
    questions = [c.question for c in draft.criteria if c.question is not None]
    draft.add(
        "report",
        say("title_report", draft.lang),
        "do_report",
        {
            "title": _report_title(reading, objective, draft.lang),
            "questions": list(questions),
            **({"background": list(reading.context)} if reading.context else {}),
        },
        after=delivered,
        # The report carries claims of its inputs and adds none: it needs no domain of its own.
        domains={},
        acceptance=[*asked, cited, exists],
        estimate=COMPUTING,
    )


def _report_title(reading: Reading, objective: str, lang: Lang) -> str:
    """Name what was asked for: the one thing the goal names, else the objective.

    Several questions have the subject that all of them name, else no other name than their number. Tasks whose
    objective is too long for a title are named by their things, as many as fit.
    """
    named = [_name_of(task, lang) for task in reading.tasks]
    if len(named) == 1 and named[0]:
        return _sentence_case(shorten(named[0], lang))
    text = objective.rstrip(" .。")
    if len(text) <= TITLE_LENGTH[lang] or not any(named):
        return shorten(text, lang) or say("title_report", lang)
    kept = [name[:1].upper() + name[1:] for name in named if name][:1]
    for name in [name for name in named if name][1:]:
        if len(_joined([*kept, name], len(named), lang)) > TITLE_LENGTH[lang]:
            break
        kept.append(name)
    return _joined([shorten(kept[0], lang), *kept[1:]], len(named), lang)


def _sentence_case(title: str) -> str:
    """Begin a title with a capital, unless its first word has its own (“iPhone repairs”)."""
    first = title.partition(" ")[0]
    return title[:1].upper() + title[1:] if first.islower() and first.isalpha() else title


def _joined(names: Sequence[str], of: int, lang: Lang) -> str:
    text = ("; " if lang == "en" else "；").join(names)
    return text if len(names) == of else say("title_more", lang, text=text)


def _name_of(task: Task, lang: Lang) -> str:
    """Return the thing that a task names; empty for one that names none or several."""
    match task:
        case OutlineTask():
            return task.title
        case SummariseTask():
            return task.topics[0] if len(task.topics) == 1 else ""
        case CompareTask():
            return listing(task.items, lang)
        case ResearchTask():
            return _common_title(task.questions, lang)
        case UnclearTask():
            return task.topic
        case ExtractTask() | CheckTask():
            return ""
        case _:
            assert_never(task)


def _common_title(questions: Sequence[str], lang: Lang) -> str:
    if len(questions) == 1:
        return questions[0]
    for subject in filter(None, map(subject_of, questions)):
        bare = without_article(subject)
        if all(bare.casefold() in question.casefold() for question in questions):
            return bare[:1].upper() + bare[1:]
    return say("title_answers", lang, n=counted(len(questions), lang))


def contract_of(
    reading: Reading, prohibitions: Prohibitions, options: PlanOptions, draft: PlanDraft
) -> TaskContract:
    """Return the contract: criteria from the draft, everything else from the words of the goal and its options."""
    kinds = list(dict.fromkeys(task.kind for task in reading.tasks))
    tabular = any(subtask.operation in ("compare", "extract") for subtask in draft.subtasks)
    allowed = options.allow_unresolved
    return TaskContract(
        kind=kinds[0] if len(kinds) == 1 else MIXED,
        inputs=(NOTES,),
        outputs=(REPORT, TABLE) if tabular else (REPORT,),
        acceptance=tuple(draft.criteria),
        limits=options.limits or Limits(),
        forbidden=prohibitions.entries(),
        allow_unresolved=reading.unresolved_allowed if allowed is None else allowed,
    )


def review_notes(
    goal: Goal, reading: Reading, prohibitions: Prohibitions, finder: DomainFinder, plan: Plan
) -> list[str]:
    """Return what the reviewer should know of a drafted plan."""
    notes = [say("note_context", goal.lang, text=shorten(text, goal.lang)) for text in reading.context]
    if reading.actions:
        notes.append(say("note_action", goal.lang, text=listing(reading.actions, goal.lang)))
    if detect_language(goal.text, goal.lang).mixed:
        notes.append(say("note_mixed", goal.lang))
    blind = [s.title for s in plan.subtasks if s.kind == "loop" and not s.required_domains]
    if blind:
        notes.append(say("note_no_domains", goal.lang, text=listing(tuple(blind), goal.lang)))
    needed = _forbidden_but_needed(goal, reading, prohibitions, finder)
    if needed:
        names = tuple(finder.registry.get(domain).names[goal.lang] for domain in needed)
        notes.append(say("note_forbidden_needed", goal.lang, domains=listing(names, goal.lang)))
    return notes


def _forbidden_but_needed(
    goal: Goal, reading: Reading, prohibitions: Prohibitions, finder: DomainFinder
) -> tuple[DomainId, ...]:
    """Return the forbidden domains that would have been the first choice for a question."""
    if not prohibitions.domains:
        return ()
    free = replace(finder, forbidden=frozenset())
    asked = [question for task in reading.tasks if task.kind == "research" for question in task.questions]
    first = {next(iter(free.of(text)), "") for text in asked or [goal.text]}
    return tuple(domain for domain in sorted(finder.forbidden) if domain in first)
