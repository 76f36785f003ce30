"""The three views on a falsified output, by rules, and the one root cause that they name (specification 4.5, 4.6).

Every rule names a cause and how well it is evidenced. The rules see what the attempt recorded: its leaks, rounds and
path, the inputs, and what the checks found. With a model the upstream and downstream views are given by agents; these
rules are what is left without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.evidence import Source, source_id
from masks.bands import Band
from masks.domains import DomainId
from masks.leaks.provenance import Leak
from orchestrator.core.claims import Diagnosis, Finding, RootCause, View, ViewFinding
from orchestrator.verification.judging import Case, Judged, handed_down
from orchestrator.verification.questions import effective_params
from orchestrator.verification.trace import Traced
from orchestrator.verification.wording import said

CERTAIN = 1.0
"""The record itself shows it: what is falsified was handed down, or stands in a domain raised for this attempt."""
SILENT_REQUIRED = 0.9
"""Falsified material of a required domain that the mask silences: the mask value is at fault."""
SOURCE_CHANGED = 0.9
"""The user's material was changed or deleted under the run."""
FAILED_AGAIN = 0.85
"""A redo that fails again: the agent was told, and can't."""
SILENT_SPONTANEOUS = 0.8
"""Falsified material of a silent domain that nothing requires: a rule was broken."""
FABRICATED = 0.8
"""A citation that leads nowhere: the agent cites what it did not read."""
UNREADABLE = 0.75
"""A consumer can't follow the falsified claim: its anchor or its evidence is missing, or the text says otherwise."""
SKIPPED = 0.75
"""A loop that claims something without a single round of search."""
LEAKED = 0.7
"""A leak into a background domain under a falsified claim."""
LACKED = 0.65
"""The agent said that it lacked a required domain."""
MISREAD = 0.6
"""The cited place exists and says something else than the agent made of it."""
INCOMPLETE_INPUT = 0.6
"""A required input or parameter was not there."""
LOOSE_ENDS = 0.4
"""Loose ends of citation elsewhere in the output."""
NOTHING_ELSE = 0.2
"""No rule explains it: the agent produced what its material does not hold."""

_NOWHERE = frozenset(
    {"source_unknown", "source_missing", "place_missing", "excerpt_differs", "evidence_missing"}
)
_FORMAT = frozenset({"anchor_unknown", "claim_not_cited", "citation_unresolved", "text_differs_from_claim"})
_ASKING = {"research": (("questions",), ("item", "fields")), "compare": (("items", "aspects"),)}
"""Parameters that an operation needs: one of the groups, all of the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    cause: RootCause
    strength: float
    evidence: str
    blamed: str | None = None
    domain: str | None = None


def diagnose(case: Case, judged: Sequence[Judged], findings: Sequence[Finding]) -> Diagnosis:
    """Return the three views on the falsified claims among `judged` and the root cause.

    The best evidenced view wins, on a tie the supervisor. A falsification that stands in a domain which was raised
    for this attempt is a lack of capability whatever else is seen (crossing rule, specification 6.2). What is false
    only because a file was changed or deleted since it was read says nothing of the agent, and does not count there.
    """
    false = [each for each in judged if each.falsified]
    own = [each for each in false if not _only_changed(case, each)]
    crossing = _crossing(case, own)
    supervisor = _view("supervisor", [crossing] if crossing else list(_supervisor(case, own)))
    upstream = _view("upstream", list(_upstream(case, false)))
    downstream = _view("downstream", list(_downstream(case, false, findings)))
    views = (supervisor, upstream, downstream)
    # `max` keeps the first of equals: the supervisor decides a tie.
    decisive = supervisor if crossing else max(views, key=lambda view: view.strength if view.cause else -1.0)
    return Diagnosis(
        cause=decisive.cause or RootCause.CAPABILITY,
        views=views,
        blamed=decisive.blamed,
        domain=decisive.domain,
        changed=tuple(dict.fromkeys(uri for each in false for uri in _changed(case, each))),
    )


def _changed(case: Case, judged: Judged) -> tuple[str, ...]:
    """Return the URIs of the cited sources that were changed or deleted since they were read, in order of citation."""
    found = [_changed_source(case, traced) for traced in judged.traced]
    return tuple(source.uri for source in found if source is not None)


def _only_changed(case: Case, judged: Judged) -> bool:
    """Return whether nothing else is wrong with a falsified claim."""
    faults = [traced for traced in judged.traced if traced.defect is not None]
    return bool(faults) and all(_changed_source(case, traced) is not None for traced in faults)


def _changed_source(case: Case, traced: Traced) -> Source | None:
    """Return the source of falsified evidence that was read as it is cited, and is changed or gone now."""
    if traced.ground is None or traced.defect not in {"source_changed", "source_missing"}:
        return None
    source = case.material.sources.get(case.material.evidence[traced.ground].source)
    if source is None or (traced.defect == "source_missing" and not _was_read(source)):
        return None
    return source


def _was_read(source: Source) -> bool:
    """Return whether the record of a source is one that the reader made: its id follows from the bytes that it saw.

    An address that somebody made up has no digest that its id could come from.
    """
    return source.id == source_id(source.uri, source.digest)


def _view(view: View, reasons: Sequence[_Reason]) -> ViewFinding:
    """Return the view's strongest reason, with the evidence of all that name the same cause."""
    if not reasons:
        return ViewFinding(view=view, cause=None, strength=0.0, evidence=())
    best = max(reasons, key=lambda reason: reason.strength)
    evidence = dict.fromkeys(
        (best.evidence, *(each.evidence for each in reasons if each.cause is best.cause))
    )
    return ViewFinding(
        view=view,
        cause=best.cause,
        strength=best.strength,
        evidence=tuple(evidence),
        blamed=best.blamed,
        domain=best.domain,
    )


def _crossing(case: Case, false: Sequence[Judged]) -> _Reason | None:
    order = case.order
    for domain in order.extended_domains:
        if any(domain in _domains(case, each) for each in false):
            evidence = said(
                order.lang,
                en=f"falsified in domain {domain!r}, which was raised for this attempt",
                zh=f"证伪内容位于为本次尝试提升的域 {domain!r}",
            )
            return _Reason(cause=RootCause.CAPABILITY, strength=CERTAIN, evidence=evidence, domain=domain)
    return None


def _supervisor(case: Case, false: Sequence[Judged]) -> Iterator[_Reason]:
    order, lang = case.order, case.order.lang
    for each in false:
        yield from _silent_use(case, each)
        yield from _leaked(case, each)
        if each.defect in _NOWHERE and not _unchanged_inputs(case, each):
            evidence = said(
                lang,
                en=f"cites what does not exist: {each.part.claim.statement!r}",
                zh=f"引用了不存在的内容：{each.part.claim.statement!r}",
            )
            yield _Reason(cause=RootCause.PROCESS, strength=FABRICATED, evidence=evidence)
        if each.defect in {"contradicted", "shown_otherwise", "digest_differs"}:
            evidence = said(
                lang,
                en=f"the cited material says something else than {each.part.claim.statement!r}",
                zh=f"所引材料与 {each.part.claim.statement!r} 不符",
            )
            yield _Reason(cause=RootCause.PROCESS, strength=MISREAD, evidence=evidence)
    if order.subtask.kind == "loop" and order.result.output.claims and not order.result.rounds:
        evidence = said(lang, en="claims without a single round of search", zh="未经任何一轮检索便给出论断")
        yield _Reason(cause=RootCause.PROCESS, strength=SKIPPED, evidence=evidence)
    if "redo" in order.triggers:
        evidence = said(lang, en="falsified again in a redo", zh="重做后再次被证伪")
        yield _Reason(cause=RootCause.CAPABILITY, strength=FAILED_AGAIN, evidence=evidence)
    for need in order.result.needs:
        if need.taint == "trusted" and need.domain in order.subtask.required_domains:
            evidence = said(
                lang,
                en=f"the agent lacked the required domain {need.domain!r}",
                zh=f"智能体缺少所需的域 {need.domain!r}",
            )
            yield _Reason(cause=RootCause.CAPABILITY, strength=LACKED, evidence=evidence, domain=need.domain)
    evidence = said(lang, en="nothing else explains it", zh="没有其他解释")
    yield _Reason(cause=RootCause.CAPABILITY, strength=NOTHING_ELSE, evidence=evidence)


def _silent_use(case: Case, judged: Judged) -> Iterator[_Reason]:
    order = case.order
    for domain in _domains(case, judged):
        if order.agent.mask.band(DomainId(domain), order.thresholds) is not Band.SILENT:
            continue
        required = domain in order.subtask.required_domains
        evidence = said(
            order.lang,
            en=f"used domain {domain!r}, which the mask silences" + (" and the sub-task requires" * required),
            zh=f"使用了被蒙版静默的域 {domain!r}" + ("，而该子任务需要它" * required),
        )
        cause = RootCause.MASK if required else RootCause.PROCESS
        strength = SILENT_REQUIRED if required else SILENT_SPONTANEOUS
        yield _Reason(cause=cause, strength=strength, evidence=evidence, domain=domain)


def _leaked(case: Case, judged: Judged) -> Iterator[_Reason]:
    """Yield the background leaks under a falsified claim.

    A declared one says that the mask let unsound material in, an undeclared one that a rule was broken.
    """
    order = case.order
    for leak in order.leaks.entries:
        if leak.band is not Band.BACKGROUND or not _under(leak, judged):
            continue
        evidence = said(
            order.lang,
            en=f"{'declared' if leak.declared else 'undeclared'} leak into {leak.domain!r}: {leak.text!r}",
            zh=f"{'已声明' if leak.declared else '未声明'}的泄漏，域 {leak.domain!r}：{leak.text!r}",
        )
        cause = RootCause.MASK if leak.declared else RootCause.PROCESS
        yield _Reason(cause=cause, strength=LEAKED, evidence=evidence, domain=leak.domain)


def _under(leak: Leak, judged: Judged) -> bool:
    statement = " ".join(judged.part.claim.statement.split())
    text = " ".join(leak.text.split())
    return bool(text) and (text in statement or statement in text)


def _upstream(case: Case, false: Sequence[Judged]) -> Iterator[_Reason]:
    order, lang = case.order, case.order.lang
    for each in false:
        blamed = _unchanged_inputs(case, each)
        if blamed:
            evidence = said(
                lang,
                en=f"handed down by {blamed[0]!r} and passed on unchanged: {each.part.claim.statement!r}",
                zh=f"由 {blamed[0]!r} 传入并原样转交：{each.part.claim.statement!r}",
            )
            yield _Reason(cause=RootCause.INPUT, strength=CERTAIN, evidence=evidence, blamed=blamed[0])
        for uri in _changed(case, each):
            evidence = said(
                lang,
                en=f"changed or deleted since it was read: {uri!r}",
                zh=f"在读取之后被改动或删除：{uri!r}",
            )
            yield _Reason(cause=RootCause.INPUT, strength=SOURCE_CHANGED, evidence=evidence)
    if any(port.required and port.type != "documents" for port in order.subtask.inputs) and not order.inputs:
        evidence = said(lang, en="a required input was not handed over", zh="缺少必需的输入")
        yield _Reason(cause=RootCause.INPUT, strength=INCOMPLETE_INPUT, evidence=evidence)
    for node, output in order.inputs.items():
        if not output.text.strip() and not output.claims and node not in order.taken_as_is:
            evidence = said(lang, en=f"the input of {node!r} is empty", zh=f"{node!r} 的输入为空")
            yield _Reason(cause=RootCause.INPUT, strength=INCOMPLETE_INPUT, evidence=evidence, blamed=node)
    groups = _ASKING.get(order.subtask.operation, ())
    params = effective_params(order)
    if groups and not any(all(params.get(name) for name in group) for group in groups):
        wanted = " / ".join("+".join(group) for group in groups)
        evidence = said(lang, en=f"parameters are missing: {wanted}", zh=f"缺少参数：{wanted}")
        yield _Reason(cause=RootCause.INPUT, strength=INCOMPLETE_INPUT, evidence=evidence)


def _downstream(case: Case, false: Sequence[Judged], findings: Sequence[Finding]) -> Iterator[_Reason]:
    """Yield what a consumer can't work with; the acceptor is the consumer of a leaf."""
    claims = {each.part.claim.id for each in false}
    carried = {each.part.claim.id for each in false if _unchanged_inputs(case, each)}
    for finding in findings:
        if finding.code in _FORMAT:
            own = finding.claim in claims - carried
            yield _Reason(
                cause=RootCause.PROCESS,
                strength=UNREADABLE if own else LOOSE_ENDS,
                evidence=f"{finding.code}: {finding.message}",
            )


def _unchanged_inputs(case: Case, judged: Judged) -> tuple[str, ...]:
    """Return the inputs that may be blamed for what is falsified: nobody is for what a person took as it is."""
    return tuple(node for node in handed_down(case, judged) if node not in case.order.taken_as_is)


def _domains(case: Case, judged: Judged) -> tuple[str, ...]:
    """Return the domains in which the falsified evidence stands: of the evidence at fault, else of all of the claim."""
    grounds = [each.ground for each in judged.traced if each.defect is not None and each.ground]
    facts = grounds or list(judged.part.facts)
    domains = [case.material.evidence[fact].domain for fact in facts if fact in case.material.evidence]
    leaked = [mark.domain for mark in judged.part.claim.leaks if mark.node == case.order.subtask.id]
    return tuple(dict.fromkeys(domain for domain in (*domains, *leaked) if domain))
