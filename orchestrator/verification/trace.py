"""Trace facts to fact sources: the reduction to material (specification 4.3, step 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agents.evidence import Evidence, EvidenceId, excerpt_digest
from graphs.contract import Lang
from orchestrator.core.claims import (
    Contested,
    Deviates,
    EvidenceVerdict,
    Falsified,
    SoftClaim,
    Uncertain,
    Verdict,
    Verified,
    verdict_weight,
)
from orchestrator.verification.broken import guarded
from orchestrator.verification.ports import Defect, FactSource, FactVerdict, ReadingSource
from orchestrator.verification.splitting import MAX_PREMISE_DEPTH, Material, Problem
from orchestrator.verification.statement import Passage
from orchestrator.verification.wording import said

_TIES: Mapping[type[Verdict], int] = {
    Falsified: 0,
    Uncertain: 1,
    Contested: 2,
    SoftClaim: 3,
    Deviates: 4,
    Verified: 5,
}
"""Which of two verdicts of one weight is the worse: the one that says less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """What tracing one piece of evidence said, and what is wrong with it."""

    evidence: EvidenceId
    verdict: Verdict
    defect: Defect | None = None
    """Given exactly when the verdict is `Falsified`."""
    ground: EvidenceId | None = None
    """The fact that falsified it; itself for a fact, `None` where what is cited does not exist."""

    @property
    def public(self) -> EvidenceVerdict:
        """Return the part that is recorded."""
        return EvidenceVerdict(evidence=self.evidence, verdict=self.verdict)


class Trace:
    """One pass over the evidence of an output: each fact is asked once, all facts anew in every pass."""

    def __init__(
        self, material: Material, fact_sources: Sequence[FactSource], *, delta_max: float, lang: Lang
    ) -> None:
        """Prepare a pass; `delta_max` is the contract's tolerance for measured quantities, in [0, 1]."""
        self._material = material
        self._fact_sources = tuple(
            source.for_pass() if isinstance(source, ReadingSource) else source for source in fact_sources
        )
        self._delta_max = delta_max
        self._lang = lang
        self._facts: dict[EvidenceId, Traced] = {}

    def fact(self, key: EvidenceId) -> Traced:
        """Return what the fact sources say of a fact; raises `CheckBroke` if one of them raises."""
        if key not in self._facts:
            self._facts[key] = self._ask(self._material.evidence[key])
        return self._facts[key]

    def evidence(self, key: EvidenceId, facts: Collection[EvidenceId]) -> Traced | None:
        """Return the verdict on a piece of evidence from those of its grounds that are in `facts`.

        An inference is as good as the facts that it comes down to: the worst of them, and the product where all are
        found (semantics 4). `None` when facts are left out and none of the others is falsified.
        """
        reduction = self._material.reduction(key)
        grounds = [self.fact(fact) for fact in reduction.facts if fact in facts]
        false = next((ground for ground in grounds if isinstance(ground.verdict, Falsified)), None)
        if false is not None:
            return replace(false, evidence=key)
        if reduction.problem == "missing":
            return Traced(
                evidence=key, verdict=Falsified(reason=self._missing(key)), defect="evidence_missing"
            )
        if len(grounds) < len(reduction.facts):
            return None
        verdicts = [ground.verdict for ground in grounds]
        if reduction.soft:
            verdicts.append(SoftClaim())
        if reduction.problem is not None:
            verdicts.append(Uncertain(reason=_problem(reduction.problem, self._lang)))
        return Traced(evidence=key, verdict=product(verdicts))

    def passages(self, facts: Iterable[EvidenceId]) -> tuple[Passage, ...]:
        """Return the texts of those `facts` that their sources confirm."""
        found: list[Passage] = []
        for key in facts:
            match self.fact(key).verdict:
                case Verified(source=where) | Deviates(source=where):
                    found.append(Passage(text=self._material.evidence[key].text, where=where))
                case Contested(sources=places):
                    found.append(Passage(text=self._material.evidence[key].text, where="; ".join(places)))
                case _:
                    pass
        return tuple(found)

    def _ask(self, evidence: Evidence) -> Traced:
        if excerpt_digest(evidence.text) != evidence.excerpt_sha256:
            reason = said(
                self._lang,
                en="the digest of the evidence is not that of its text",
                zh="依据的摘要值与其文本不符",
            )
            return Traced(
                evidence=evidence.id,
                verdict=Falsified(reason=reason),
                defect="digest_differs",
                ground=evidence.id,
            )
        answers = [
            guarded(source.name, partial(source.trace, evidence, self._material.sources, lang=self._lang))
            for source in self._fact_sources
        ]
        return self._settled(
            evidence.id, [self._tolerated(answer) for answer in answers if answer is not None]
        )

    def _tolerated(self, answer: FactVerdict) -> FactVerdict:
        match answer.verdict:
            case Deviates(delta=delta, source=source, found=found) if not delta <= self._delta_max:
                reason = said(
                    self._lang,
                    en=f"deviates by {delta:.1%} from {found!r}, more than the accepted {self._delta_max:.1%}",
                    zh=f"与 {found!r} 相差 {delta:.1%}，超过可接受的 {self._delta_max:.1%}",
                )
                return FactVerdict(verdict=Falsified(reason=reason, source=source), defect="contradicted")
            case Falsified(source=source) if answer.defect is None:
                return FactVerdict(
                    verdict=answer.verdict, defect="contradicted" if source else "place_missing"
                )
            case _:
                return answer

    def _settled(self, key: EvidenceId, answers: list[FactVerdict]) -> Traced:
        """Return one verdict for what several fact sources say.

        A source that contradicts another one makes the fact contested. That one source does not hold the cited place
        says nothing against another one that does.
        """
        good = [
            answer.verdict
            for answer in answers
            if isinstance(answer.verdict, (Verified, Deviates, Contested))
        ]
        false = [answer for answer in answers if isinstance(answer.verdict, Falsified)]
        against = [answer for answer in false if answer.defect == "contradicted"]
        if good and against:
            places = [
                place for verdict in (*good, *(a.verdict for a in against)) for place in _places(verdict)
            ]
            return Traced(evidence=key, verdict=Contested(sources=tuple(dict.fromkeys(places))))
        if good:
            return Traced(evidence=key, verdict=worst(good))
        if false:
            chosen = (against or false)[0]
            return Traced(evidence=key, verdict=chosen.verdict, defect=chosen.defect, ground=key)
        if answers:
            return Traced(evidence=key, verdict=worst([answer.verdict for answer in answers]))
        reason = said(self._lang, en="no fact source can tell", zh="没有可以核实它的事实来源")
        return Traced(evidence=key, verdict=Uncertain(reason=reason))

    def _missing(self, key: EvidenceId) -> str:
        return said(
            self._lang,
            en=f"evidence {key!r} is cited, and it or one of its premises is not in the output",
            zh=f"引用了依据 {key!r}，但输出中没有它或它的某个前提",
        )


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of least weight, of several the one that says less; raises `ValueError` for none."""
    return min(verdicts, key=lambda verdict: (verdict_weight(verdict), _TIES[type(verdict)]))


def product(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on what rests on all of `verdicts`.

    The worst of them, and where all were found, the product of their weights (semantics 4): two deviations of 2 %
    make one of 3.96 %. Uncertain for none.
    """
    if not verdicts:
        return Uncertain(reason="-")
    found = [verdict for verdict in verdicts if isinstance(verdict, (Verified, Deviates))]
    if len(found) < len(verdicts) or len(found) == 1:
        return worst(verdicts)
    weight = 1.0
    for verdict in found:
        weight *= verdict_weight(verdict)
    places = "; ".join(dict.fromkeys(verdict.source for verdict in found))
    deviating = [verdict for verdict in found if isinstance(verdict, Deviates)]
    if not deviating:
        return Verified(source=places)
    return Deviates(source=places, delta=1 - weight, found="; ".join(verdict.found for verdict in deviating))


def _places(verdict: Verdict) -> tuple[str, ...]:
    match verdict:
        case Verified(source=source) | Deviates(source=source):
            return (source,)
        case Contested(sources=sources):
            return sources
        case Falsified(source=source):
            return (source,) if source else ()
        case _:
            return ()


def _problem(problem: Problem, lang: Lang) -> str:
    match problem:
        case "cycle":
            return said(lang, en="its premises lead back to itself", zh="其前提循环地回到自身")
        case "too_deep":
            return said(
                lang,
                en=f"it rests on a chain of more than {MAX_PREMISE_DEPTH} inferences",
                zh=f"其推理链超过 {MAX_PREMISE_DEPTH} 层",
            )
        case "no_premises":
            return said(lang, en="an inference that names no premises", zh="推理没有给出前提")
        case "parametric":
            return said(
                lang,
                en="out of a model's weights: there is no material to trace it to",
                zh="出自模型参数：没有可追溯的材料",
            )
        case "upstream":
            return said(
                lang,
                en="it points at the output of another sub-task, which is no source",
                zh="它指向另一子任务的输出，而输出不是来源",
            )
        case "missing":
            return said(lang, en="it is not in the output", zh="输出中没有它")
