"""Level 1: do text, anchors, claims, evidence and sources of an output fit together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.citations import find_anchors
from agents.evidence import Claim, ClaimId, excerpt_digest
from agents.results import WorkOutput
from graphs.contract import Lang
from orchestrator.core.claims import Finding
from orchestrator.verification.ports import CheckOrder
from orchestrator.verification.shown import Shown, shown_claims, shows
from orchestrator.verification.statement import unsupported
from orchestrator.verification.wording import said

_ANY_ANCHOR = re.compile(r"\[\^([^\]\n]{1,80})\]")


class CitationChecker:
    """Checks that every claim is cited and evidenced and every anchor leads to a claim; findings ask for level 2."""

    name = "citations"

    def check(self, order: CheckOrder) -> tuple[Finding, ...]:
        """Return the loose ends, those of the claims first."""
        output, lang = order.result.output, order.lang
        return (
            *_claims_without_ground(output, lang),
            *_anchors_without_claim(output, lang),
            *_other_words(order),
        )


def _claims_without_ground(output: WorkOutput, lang: Lang) -> Iterator[Finding]:
    evidence = {each.id: each for each in output.evidence}
    sources = {each.id for each in output.sources}
    cited = {found.claim for text in (output.text, *output.fields.values()) for found in find_anchors(text)}
    for claim in output.claims:
        if not claim.evidence:
            message = said(lang, en="a claim without evidence", zh="论断没有依据")
            yield _uncertain("claim_without_evidence", f"{message}: {claim.statement!r}", claim.id)
        if claim.id not in cited:
            message = said(
                lang, en="no anchor in the text points at the claim", zh="正文中没有指向该论断的引注"
            )
            yield _uncertain("claim_not_cited", f"{message}: {claim.statement!r}", claim.id)
        for key in claim.evidence:
            each = evidence.get(key)
            if each is None:
                message = said(
                    lang, en=f"evidence {key!r} is not in the output", zh=f"输出中没有依据 {key!r}"
                )
                yield _uncertain("citation_unresolved", message, claim.id)
            elif each.origin == "source" and each.kind == "fact" and each.source not in sources:
                message = said(
                    lang,
                    en=f"source {each.source!r} is not in the output",
                    zh=f"输出中没有来源 {each.source!r}",
                )
                yield _uncertain("citation_unresolved", message, claim.id)
            elif excerpt_digest(each.text) != each.excerpt_sha256:
                message = said(lang, en=f"the digest of {key!r} is wrong", zh=f"{key!r} 的摘要值有误")
                yield _uncertain("citation_unresolved", message, claim.id)


def _anchors_without_claim(output: WorkOutput, lang: Lang) -> Iterator[Finding]:
    known = {claim.id for claim in output.claims}
    for text in (output.text, *output.fields.values()):
        for name in dict.fromkeys(_ANY_ANCHOR.findall(text)):
            if name not in known:
                message = said(
                    lang, en=f"anchor {name!r} leads to no claim", zh=f"引注 {name!r} 没有对应的论断"
                )
                yield _uncertain("anchor_unknown", message, None)


def _other_words(order: CheckOrder) -> Iterator[Finding]:
    output = order.result.output
    claims = {claim.id: claim for claim in output.claims}
    for shown in shown_claims(output):
        named = [claims[claim] for claim in shown.claims if claim in claims]
        for claim in named:
            if not _fits(shown, claim, named, order):
                message = said(
                    order.lang,
                    en=f"the text says {shown.sentence!r}, the claim {claim.statement!r}",
                    zh=f"正文为 {shown.sentence!r}，而论断为 {claim.statement!r}",
                )
                yield _uncertain("text_differs_from_claim", message, claim.id)


def _fits(shown: Shown, claim: Claim, named: list[Claim], order: CheckOrder) -> bool:
    """Return whether the text says the claim, or says another one of the group that the claim only confirms."""
    if shows(shown, claim) or not shown.sentence:
        return True
    delta_max = order.contract.delta_max
    confirms = not unsupported(shown.sentence, [claim.statement], delta_max=delta_max, lang=order.lang)
    return confirms and any(shows(shown, other) for other in named)


def _uncertain(code: str, message: str, claim: ClaimId | None) -> Finding:
    return Finding(code=code, message=message, severity="uncertain", claim=claim)
