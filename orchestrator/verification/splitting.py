"""Split an output into its claims and the facts that they come down to (specification 4.3, steps 1 and 2).

An inference is reduced to its premises until only facts and judgements by experience are left. An upstream output is
no end: evidence that points at one is followed to the evidence that stands there.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from agents.evidence import Claim, ClaimId, Evidence, EvidenceId, Source, SourceId, with_leak
from agents.results import WorkOutput

MAX_PREMISE_DEPTH = 8
"""Inferences that may rest on one another; a longer chain is not followed (issue 6: cycle and depth guarded)."""

Problem = Literal["missing", "cycle", "too_deep", "no_premises", "parametric", "upstream"]
"""Why evidence comes down to nothing: `missing`: the output does not hold it; `cycle`: its premises lead back to it;
`too_deep`: beyond `MAX_PREMISE_DEPTH`; `no_premises`: an inference from nothing; `parametric`: out of a model's
weights; `upstream`: points at an output of another sub-task that holds no such evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """What a piece of evidence comes down to."""

    facts: tuple[EvidenceId, ...] = ()
    """The facts to be traced, each once, in the order in which they are met."""
    soft: bool = False
    """Whether a judgement by experience is among its grounds."""
    problem: Problem | None = None
    """Of this evidence or of a premise; the other premises are still in `facts`."""
    height: int = 0
    """Inferences on the longest chain down to a fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimParts:
    """A claim and the facts that it comes down to."""

    claim: Claim
    facts: tuple[EvidenceId, ...]
    """To be traced, each once."""
    soft: bool
    """Rests, among others, on experience."""
    problems: tuple[Problem, ...] = ()
    derived: bool = False
    """Whether an inference is among its evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What an output and its inputs hold, by id."""

    evidence: Mapping[EvidenceId, Evidence]
    sources: Mapping[SourceId, Source]
    reductions: Mapping[EvidenceId, Reduction] = field(default_factory=dict)

    def reduction(self, evidence: EvidenceId) -> Reduction:
        """Return what `evidence` comes down to; `missing` for an id that the output does not hold."""
        return self.reductions.get(evidence, _MISSING)

    def independent(self, source: SourceId) -> SourceId:
        """Return the source that `source` repeats, itself where it repeats none: copies count once."""
        seen: set[SourceId] = set()
        while source not in seen:
            seen.add(source)
            known = self.sources.get(source)
            if known is None or known.copy_of is None:
                return source
            source = known.copy_of
        return min(seen)


_MISSING = Reduction(problem="missing")


def material_of(output: WorkOutput, inputs: Iterable[WorkOutput]) -> Material:
    """Return the evidence and sources of `output`, and what each piece of evidence comes down to.

    Of the inputs only what evidence of origin `upstream` points at is used: a claim can't borrow evidence that its
    own output does not show.
    """
    upstream = tuple(inputs)
    sources: dict[SourceId, Source] = {}
    for other in upstream:
        sources.update((source.id, source) for source in other.sources)
    sources.update((source.id, source) for source in output.sources)
    shown = {evidence.id: evidence for evidence in output.evidence}
    handed = [evidence for other in upstream for evidence in other.evidence]
    evidence = {key: _through(each, sources, handed) for key, each in shown.items()}
    return Material(evidence=evidence, sources=sources, reductions=reduce_all(evidence.values(), sources))


def split(output: WorkOutput, material: Material) -> tuple[ClaimParts, ...]:
    """Return the claims of `output` with the facts that each comes down to, in their order."""
    return tuple(_parts(claim, material) for claim in distinct_claims(output))


def distinct_claims(output: WorkOutput) -> tuple[Claim, ...]:
    """Return each claim of `output` once: a claim that answers several questions is listed for each of them.

    It is core if it is core for one of them, and keeps the leak marks of all.
    """
    found: dict[ClaimId, Claim] = {}
    for claim in output.claims:
        kept = found.setdefault(claim.id, claim)
        for mark in claim.leaks:
            kept = with_leak(kept, mark)
        found[claim.id] = replace(kept, core=True) if claim.core and not kept.core else kept
    return tuple(found.values())


def reduce_all(
    evidence: Iterable[Evidence], sources: Mapping[SourceId, Source] | None = None
) -> dict[EvidenceId, Reduction]:
    """Return what each piece of evidence comes down to.

    Works upwards from the facts, so that neither a cycle nor a long chain of premises can make it run away.
    """
    known = {each.id: each for each in evidence}
    done: dict[EvidenceId, Reduction] = {}
    waiting = Counter({each.id: len(_known_premises(each, known)) for each in known.values()})
    used_by: dict[EvidenceId, list[EvidenceId]] = {}
    for each in known.values():
        for premise in _known_premises(each, known):
            used_by.setdefault(premise, []).append(each.id)
    ready = deque(key for key in known if waiting[key] == 0)
    while ready:
        key = ready.popleft()
        done[key] = _reduction(known[key], done, sources or {})
        for user in used_by.get(key, ()):
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    return {key: done.get(key, Reduction(problem="cycle")) for key in known}


def _known_premises(evidence: Evidence, known: Mapping[EvidenceId, Evidence]) -> tuple[EvidenceId, ...]:
    if evidence.kind != "inference":
        return ()
    return tuple(premise for premise in dict.fromkeys(evidence.premises) if premise in known)


def _reduction(
    evidence: Evidence, done: Mapping[EvidenceId, Reduction], sources: Mapping[SourceId, Source]
) -> Reduction:
    if evidence.origin == "parametric":
        return Reduction(problem="parametric")
    if evidence.kind == "experience":
        return Reduction(soft=True)
    if evidence.kind == "fact":
        return (
            Reduction(problem="upstream")
            if _points_upstream(evidence, sources)
            else Reduction(facts=(evidence.id,))
        )
    premises = [done.get(premise, _MISSING) for premise in dict.fromkeys(evidence.premises)]
    height = 1 + max((premise.height for premise in premises), default=0)
    problem: Problem | None = next((premise.problem for premise in premises if premise.problem), None)
    if not premises:
        problem = "no_premises"
    elif height > MAX_PREMISE_DEPTH:
        problem = "too_deep"
    facts = dict.fromkeys(fact for premise in premises for fact in premise.facts)
    soft = any(premise.soft for premise in premises)
    return Reduction(facts=tuple(facts), soft=soft, problem=problem, height=height)


def _points_upstream(evidence: Evidence, sources: Mapping[SourceId, Source]) -> bool:
    source = sources.get(evidence.source)
    return evidence.origin == "upstream" or (source is not None and source.origin == "upstream")


def _through(evidence: Evidence, sources: Mapping[SourceId, Source], handed: Iterable[Evidence]) -> Evidence:
    """Return the evidence of an input that `evidence` repeats, if it points at an output of another sub-task."""
    if evidence.kind != "fact" or not _points_upstream(evidence, sources):
        return evidence
    for each in handed:
        if each.kind == "fact" and each.text == evidence.text and not _points_upstream(each, sources):
            return replace(each, id=evidence.id)
    return evidence


def _parts(claim: Claim, material: Material) -> ClaimParts:
    required = [material.reduction(key) for key in dict.fromkeys(claim.evidence)]
    return ClaimParts(
        claim=claim,
        facts=tuple(dict.fromkeys(fact for each in required for fact in each.facts)),
        soft=any(each.soft for each in required),
        problems=tuple(dict.fromkeys(each.problem for each in required if each.problem)),
        derived=any(each.height > 0 for each in required),
    )
