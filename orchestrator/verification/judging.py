"""Give each claim its verdict from what was traced (specification 4.3, step 4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.evidence import ClaimId, Evidence, EvidenceId
from agents.results import WorkOutput
from graphs.plan import NodeId
from orchestrator.core.claims import (
    ClaimVerdict,
    Falsified,
    Level,
    Uncertain,
    Verdict,
)
from orchestrator.verification.carried import handed_on, repeated_claims, upstream_verdicts
from orchestrator.verification.conflicts import Disagreement, contested, disagreements
from orchestrator.verification.ports import CheckOrder, Defect
from orchestrator.verification.shown import Shown, shown_claims, shows
from orchestrator.verification.splitting import ClaimParts, Material, material_of, split
from orchestrator.verification.statement import Passage, statement_verdict, unsupported
from orchestrator.verification.trace import Trace, Traced, worst
from orchestrator.verification.wording import said


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A claim with its verdict and how it came about."""

    part: ClaimParts
    verdict: ClaimVerdict
    traced: tuple[Traced, ...] = ()
    """What was traced of its evidence."""
    defect: Defect | None = None
    """Given exactly when the verdict is `Falsified`."""
    upstream: str | None = None
    """The sub-task whose verification had falsified the claim already."""

    @property
    def falsified(self) -> bool:
        """Return whether the claim is falsified."""
        return isinstance(self.verdict.verdict, Falsified)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An output taken apart, ready to be judged at any level."""

    order: CheckOrder
    material: Material
    parts: tuple[ClaimParts, ...]
    by_claim: Mapping[ClaimId, ClaimParts]
    shown: Mapping[ClaimId, Sequence[Shown]]
    """Where the text shows each claim."""

    @property
    def facts(self) -> tuple[EvidenceId, ...]:
        """Return every fact that some claim comes down to, each once, in the order of the claims."""
        return tuple(dict.fromkeys(fact for part in self.parts for fact in part.facts))


def case_of(order: CheckOrder) -> Case:
    """Return the order's output taken apart."""
    output = order.result.output
    material = material_of(output, order.inputs.values())
    parts = split(output, material)
    shown: dict[ClaimId, list[Shown]] = {}
    for each in shown_claims(output):
        for claim in each.claims:
            shown.setdefault(claim, []).append(each)
    by_claim = {part.claim.id: part for part in parts}
    return Case(order=order, material=material, parts=parts, by_claim=by_claim, shown=shown)


def judge(case: Case, trace: Trace, facts: Collection[EvidenceId], level: Level) -> tuple[Judged, ...]:
    """Return a verdict for each claim, in their order, from the `facts` that are to be traced.

    A claim is as good as the worst of its evidence, its own words and the words in which the text shows it; a carried
    claim is never better than upstream; what a model knew by itself is at best uncertain, and so is what comes from an
    output that a person took as it is: that was decided, and is not falsified again. A claim of which some facts are
    left out stays untraced, unless one of the others falsifies it.
    """
    judged = [_as_it_was_taken(_judge_one(part, case, trace, facts, level), case) for part in case.parts]
    verdicts = {each.verdict.claim: each.verdict for each in judged}
    found = disagreements(case.order.result.output, case.by_claim, case.material)
    return tuple(
        _disputed(each, found[each.part.claim.id], verdicts, case) if each.part.claim.id in found else each
        for each in judged
    )


def with_verdict(judged: Judged, verdict: Verdict) -> Judged:
    """Return `judged` with another verdict than `Falsified`."""
    return replace(judged, verdict=replace(judged.verdict, verdict=verdict), defect=None, upstream=None)


def handed_down(case: Case, judged: Judged) -> tuple[str, ...]:
    """Return the inputs that handed down what is falsified about a claim: the claim or the evidence, unchanged."""
    return (judged.upstream,) if judged.upstream is not None else _handed(case, judged, case.order.inputs)


def _handed(case: Case, judged: Judged, outputs: Mapping[NodeId, WorkOutput]) -> tuple[str, ...]:
    claim = judged.part.claim
    if judged.defect == "shown_otherwise":
        return ()
    grounds = {each.ground for each in judged.traced if each.defect is not None and each.ground}
    if not grounds:
        return tuple(
            str(node)
            for node, other in handed_on(claim.id, outputs)
            if other.statement == claim.statement and other.evidence == claim.evidence
        )
    own = [case.material.evidence[ground] for ground in grounds]
    return tuple(
        str(node)
        for node, output in outputs.items()
        if any(_same_evidence(mine, other) for mine in own for other in output.evidence)
    )


def _same_evidence(one: Evidence, other: Evidence) -> bool:
    return (one.source, one.locator, one.text) == (other.source, other.locator, other.text)


def _as_it_was_taken(judged: Judged, case: Case) -> Judged:
    """Return `judged`, at best uncertain where it comes from an output that a person took as it is."""
    taken = case.order.taken_as_is
    if judged.falsified:
        names = [node for node in (judged.upstream, *_handed(case, judged, taken)) if node in taken]
    else:
        names = [str(node) for node, output in taken.items() if repeated_claims(judged.part.claim, (output,))]
    if not names:
        return judged
    reason = said(
        case.order.lang,
        en=f"a person took the output of {names[0]!r} as it is: not verified",
        zh=f"{names[0]!r} 的输出由人按现状接受：未核验",
    )
    return with_verdict(judged, Uncertain(reason=reason))


def _disputed(
    judged: Judged, against: Disagreement, verdicts: Mapping[ClaimId, ClaimVerdict], case: Case
) -> Judged:
    verdict = contested(judged.verdict, against, verdicts, case.by_claim, case.material)
    return judged if verdict == judged.verdict.verdict else with_verdict(judged, verdict)


def _judge_one(
    part: ClaimParts,
    case: Case,
    trace: Trace,
    facts: Collection[EvidenceId],
    level: Level,
) -> Judged:
    claim, order = part.claim, case.order
    required = tuple(dict.fromkeys(claim.evidence))
    answers = [trace.evidence(key, facts) for key in required]
    traced = tuple(answer for answer in answers if answer is not None)
    false = next((each for each in traced if isinstance(each.verdict, Falsified)), None)
    complete = bool(required) and len(traced) == len(required)
    if false is not None:
        return _judged(part, false.verdict, level, traced, defect=false.defect)
    for node, above in upstream_verdicts(claim.id, order):
        if isinstance(above.verdict, Falsified):
            return _judged(part, above.verdict, level, traced, defect="upstream", upstream=node)
    if not complete:
        return _judged(part, _untraced(len(traced), len(required), order), level, traced, complete=False)
    verdicts: list[Verdict] = [each.verdict for each in traced]
    passages = trace.passages(part.facts)
    if passages:
        own = _own_words(part, passages, case)
        if isinstance(own, Falsified):
            return _judged(part, own, level, traced, defect="contradicted")
        text = list(_shown_words(part, passages, case))
        otherwise = next((verdict for verdict in text if isinstance(verdict, Falsified)), None)
        if otherwise is not None:
            return _judged(part, otherwise, level, traced, defect="shown_otherwise")
        verdicts.extend((own, *text))
    verdicts.extend(above.verdict for _, above in upstream_verdicts(claim.id, order))
    if claim.origin == "parametric" or any(mark.origin == "parametric" for mark in claim.leaks):
        reason = said(
            order.lang,
            en="out of a model's weights: at best uncertain",
            zh="出自模型参数：至多为不确定",
        )
        verdicts.append(Uncertain(reason=reason))
    return _judged(part, worst(verdicts), level, traced)


def _own_words(part: ClaimParts, passages: tuple[Passage, ...], case: Case) -> Verdict:
    held = [case.material.evidence[key] for key in part.claim.evidence if key in case.material.evidence]
    return statement_verdict(
        part.claim.statement,
        passages,
        delta_max=case.order.contract.delta_max,
        derived=part.derived,
        lang=case.order.lang,
        unconfirmed=[each.text for each in held if each.kind != "inference"],
    )


def _shown_words(part: ClaimParts, passages: tuple[Passage, ...], case: Case) -> Iterator[Verdict]:
    """Yield a verdict for each place where the text shows the claim in other words than its own.

    What a reader reads has to be what was checked: words that its evidence does not hold are falsified, others are
    uncertain unless the evidence says them too.
    """
    order = case.order
    texts = [part.claim.statement, *(passage.text for passage in passages)]
    where = "; ".join(dict.fromkeys(passage.where for passage in passages))
    for each in case.shown.get(part.claim.id, ()):
        if shows(each, part.claim) or not each.sentence:
            continue
        missing = unsupported(each.sentence, texts, delta_max=order.contract.delta_max, lang=order.lang)
        if missing:
            listed = ", ".join(missing)
            reason = said(
                order.lang,
                en=f"the text shows the claim as {each.sentence!r}; its evidence does not say: {listed}",
                zh=f"正文将该论断写作 {each.sentence!r}；其依据中没有：{listed}",
            )
            yield Falsified(reason=reason, source=where)
        elif not any(shows(each, case.by_claim[key].claim) for key in each.claims if key in case.by_claim):
            reason = said(
                order.lang,
                en=f"the text shows the claim in other words: {each.sentence!r}",
                zh=f"正文以其他措辞呈现该论断：{each.sentence!r}",
            )
            yield Uncertain(reason=reason)


def _judged(
    part: ClaimParts,
    verdict: Verdict,
    level: Level,
    traced: tuple[Traced, ...],
    *,
    complete: bool = True,
    defect: Defect | None = None,
    upstream: str | None = None,
) -> Judged:
    public = ClaimVerdict(
        claim=part.claim.id,
        verdict=verdict,
        level=level,
        traced=complete,
        evidence=tuple(each.public for each in traced),
    )
    return Judged(part=part, verdict=public, traced=traced, defect=defect, upstream=upstream)


def _untraced(traced: int, required: int, order: CheckOrder) -> Uncertain:
    if not required:
        return Uncertain(reason=said(order.lang, en="no evidence is given", zh="没有给出依据"))
    return Uncertain(
        reason=said(
            order.lang,
            en=f"{traced} of {required} pieces of evidence traced",
            zh=f"{required} 项依据中追查了 {traced} 项",
        )
    )
