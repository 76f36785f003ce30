"""Draft a proposal for a goal: intent, contract, plan, roster, masks, assignment, grants and envelope, as one value."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from agents.assignment import rank_candidates
from agents.memory.contract import Recalled
from agents.memory.recall import recall
from agents.models.contract import Usage
from agents.planning.catalogue import NotesRanker, note_outlines
from agents.planning.domains import DomainRanker, NoteOutline
from agents.planning.embedded import PlannedGoal, PlanOptions, plan_goal
from agents.planning.ports import Planner
from agents.planning.roster_design import DesignedRoster, choose_roster, design_roster
from agents.prompts import PROMPT_VERSION
from agents.prompts_loop import LOOP_PROMPT_VERSION
from agents.retrieval.library import NotesLibrary
from agents.retrieval.reading import Skip, SkipReason
from agents.roster import Roster
from agents.spec import AgentSpec, ModelPolicy
from agents.tools.contract import Profile
from graphs.contract import Ambiguity, Goal, Lang, Limits, TaskContract
from graphs.plan import NodeId, Plan
from masks.bands import DEFAULT_THRESHOLDS, Thresholds
from orchestrator.core.events import EVENT_SCHEMA
from orchestrator.core.profiles import limits_in
from orchestrator.core.proposal import Candidate, Envelope, Proposal
from orchestrator.shell.granting import granting
from orchestrator.shell.store.errors import StoreError
from orchestrator.shell.wiring import Workshop

_LOG: Final = logging.getLogger(__name__)

SKIP_REASONS: Final[Mapping[SkipReason, str]] = {
    "unsupported_type": "文件类型不支持",
    "binary": "二进制文件",
    "too_large": "文件过大",
    "empty": "文件为空",
    "unreadable": "无法读取",
    "outside_folder": "链接指向文件夹之外",
    "unknown_encoding": "编码无法识别",
}
"""Why a file is not read, in Chinese; in English the reason's name is shown."""

LISTED_FILES: Final = 20
"""Files that the review names one by one; of more it says how many there are and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalOptions:
    """What the user sets beside the words of the goal."""

    allow_unresolved: bool | None = None
    """Whether questions may stay open honestly; `None`: as the goal says."""
    forbidden: tuple[str, ...] = ()
    """`domain:<id>` or words."""
    limits: Limits | None = None
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    catalogue: tuple[AgentSpec, ...] = ()
    """Agents to choose from; empty: agents are designed for the plan."""
    policy: ModelPolicy | None = None
    """What designed agents think with; `None`: the embedded default."""
    profile: Profile = "production"
    """What the run is for: see `orchestrator.core.profiles`."""
    settled: tuple[Ambiguity, ...] = ()
    """Points that the goal leaves open and the user has decided (`orchestrator.shell.clarifying`)."""
    memories: tuple[Recalled, ...] | None = None
    """What is remembered for the goal; `None`: what the workshop's memory holds now."""
    grantable: frozenset[str] | None = None
    """Tools that may be granted where the goal calls for them; `None`: each of the workshop's."""


def draft_proposal(shop: Workshop, goal: Goal, options: ProposalOptions) -> Proposal:
    """Return revision 1 of the proposal for `goal`; equal arguments and notes give an equal proposal.

    Raises `EmptyGoal`, `FolderNotFound` when the sources folder does not exist, `UnknownDomain` for a forbidden
    domain that the registry does not know, `DesignError` when a required domain is forbidden.
    """
    material = _material(shop, goal, options)
    planned = plan_goal(
        goal, shop.registry, material.rank, material.outlines, _plan_options(options, material)
    )
    return _proposal(shop, goal, options, material, planned)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A proposal and what it cost."""

    proposal: Proposal
    usage: tuple[Usage, ...] = ()
    """Of the planner's model calls, in order."""


async def propose(shop: Workshop, goal: Goal, options: ProposalOptions, planner: Planner) -> Proposed:
    """Return revision 1 of the proposal for `goal` as `planner` plans it.

    Everything but intent, plan and notes is made as `draft_proposal` makes it: whoever plans, the roster, the masks,
    the grants and the envelope follow from the plan by code. Raises as `draft_proposal` does. Reading notes and
    designing a roster happen on a thread.
    """
    material = await asyncio.to_thread(_material, shop, goal, options)
    planned = await planner.plan(
        goal, shop.registry, material.rank, material.outlines, _plan_options(options, material)
    )
    proposal = await asyncio.to_thread(_proposal, shop, goal, options, material, planned)
    return Proposed(proposal=proposal, usage=tuple(call.usage for call in planned.calls))


def ranked_candidates(
    plan: Plan, roster: Roster, thresholds: Thresholds, lang: Lang
) -> Mapping[NodeId, tuple[Candidate, ...]]:
    """Return every agent that could take each sub-task, best first, with the reasons in `lang`."""
    return {
        subtask.id: tuple(
            Candidate(agent=found.agent, fit=round(found.fit, 4), reasons=found.reasons[lang])
            for found in rank_candidates(subtask, roster, thresholds)
        )
        for subtask in plan.subtasks
    }


def versions_of(shop: Workshop) -> Mapping[str, str]:
    """Return the versions that a run's first event records."""
    return {
        "product": product_version(),
        "event_schema": str(EVENT_SCHEMA),
        "prompts": f"{PROMPT_VERSION} {LOOP_PROMPT_VERSION}",
        "registry": shop.registry.sha256,
        "embedder": f"{shop.embedder.name}@{shop.embedder.version}",
    }


def product_version() -> str:
    """Return the installed version of maskgrad; `unknown` when it runs from a bare checkout."""
    try:
        return version("maskgrad")
    except PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    """What the notes of a goal and the memory give to its planning."""

    library: NotesLibrary | None
    rank: DomainRanker
    outlines: tuple[NoteOutline, ...] | None
    memories: tuple[Recalled, ...]


def _material(shop: Workshop, goal: Goal, options: ProposalOptions) -> _Material:
    memories = recalled(shop, goal) if options.memories is None else options.memories
    if not goal.sources:
        return _Material(library=None, rank=shop.labeller.domains_of_text, outlines=None, memories=memories)
    library = shop.library(Path(goal.sources[0]))
    return _Material(
        library=library,
        rank=NotesRanker(shop.labeller, library),
        outlines=note_outlines(library),
        memories=memories,
    )


def recalled(shop: Workshop, goal: Goal) -> tuple[Recalled, ...]:
    """Return what the workshop's memory holds for `goal`; nothing of one that can't be read, which costs no run.

    Scores are rounded, so that equal memories give an equal hash on every machine.
    """
    if shop.memory is None:
        return ()
    try:
        entries = shop.memory.entries()
    except StoreError as error:
        _LOG.warning("nothing is recalled: %s", error)
        return ()
    found = recall(entries, goal.text, now=shop.clock.now(), embedder=shop.embedder) if entries else ()
    return tuple(replace(each, score=round(each.score, 4)) for each in found)


def _plan_options(options: ProposalOptions, material: _Material) -> PlanOptions:
    return PlanOptions(
        allow_unresolved=options.allow_unresolved,
        forbidden=options.forbidden,
        limits=limits_in(options.profile, options.limits or Limits()),
        settled=options.settled,
        memories=material.memories,
    )


def _proposal(
    shop: Workshop, goal: Goal, options: ProposalOptions, material: _Material, planned: PlannedGoal
) -> Proposal:
    designed = _roster(shop, planned.plan, planned.contract, goal.lang, options)
    granted = granting(designed, goal, shop.tool_specs(), options.grantable)
    asked = bool(planned.calls) or any(a.model_policy.kind == "model" for a in designed.roster.agents)
    return Proposal(
        revision=1,
        goal=goal,
        intent=planned.intent,
        contract=planned.contract,
        plan=planned.plan,
        roster=designed.roster,
        assignment=designed.assignment,
        thresholds=options.thresholds,
        grants=granted.grants,
        profile=options.profile,
        envelope=Envelope(),
        mask_origins=designed.mask_origins,
        candidates=ranked_candidates(planned.plan, designed.roster, options.thresholds, goal.lang),
        notes=(*planned.notes, *granted.notes, *_of_the_files(material.library, goal.lang)),
        # Deterministic planners and agents read none of it, so a proposal without a model does not depend on it.
        memories=material.memories if asked else (),
    )


def _roster(
    shop: Workshop, plan: Plan, contract: TaskContract, lang: Lang, options: ProposalOptions
) -> DesignedRoster:
    if options.catalogue:
        return choose_roster(
            plan, contract, options.catalogue, shop.registry, lang, thresholds=options.thresholds
        )
    return design_roster(
        plan, contract, shop.registry, lang, thresholds=options.thresholds, policy=options.policy
    )


def _of_the_files(library: NotesLibrary | None, lang: Lang) -> Sequence[str]:
    """Say in the review what was not read, and what was read by a guess, before anybody relies on the notes."""
    if library is None:
        return ()
    corpus = library.corpus
    guessed = [f"{document.path} ({document.encoding})" for document in corpus.documents if document.guessed]
    return (*_skips(corpus.skipped, lang), *_guesses(guessed, lang))


def _skips(skipped: Sequence[Skip], lang: Lang) -> Iterator[str]:
    for skip in skipped[:LISTED_FILES]:
        if lang == "zh":
            yield f"未读取：{skip.path}（{SKIP_REASONS[skip.reason]}）"
        else:
            yield f"not read: {skip.path} ({skip.reason})"
    rest = Counter(skip.reason for skip in skipped[LISTED_FILES:])
    if rest and lang == "zh":
        why = "、".join(f"{SKIP_REASONS[reason]} {number} 个" for reason, number in rest.most_common())
        yield f"未读取：另有 {rest.total()} 个文件（{why}）"
    elif rest:
        why = ", ".join(f"{number} {reason}" for reason, number in rest.most_common())
        yield f"not read: {rest.total()} more files ({why})"


def _guesses(guessed: Sequence[str], lang: Lang) -> Iterator[str]:
    more = len(guessed) - LISTED_FILES
    if guessed and lang == "zh":
        rest = f"，另有 {more} 个" if more > 0 else ""
        yield f"编码为推测，请核对引文：{'、'.join(guessed[:LISTED_FILES])}{rest}"
    elif guessed:
        rest = f", {more} more" if more > 0 else ""
        yield f"read by a guess of the encoding, look at the quotes: {', '.join(guessed[:LISTED_FILES])}{rest}"
