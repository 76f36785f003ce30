"""Claims that came from an input: unchanged, with their leak marks, never more certain than there (semantics 2, 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from agents.evidence import Claim, ClaimId, LeakMark, with_leak
from agents.results import WorkOutput
from graphs.plan import NodeId
from orchestrator.core.claims import ClaimVerdict, Finding
from orchestrator.verification.ports import CheckOrder
from orchestrator.verification.statement import plain
from orchestrator.verification.wording import said


class CarriedClaimChecker:
    """Finds claims that lost their leak marks or were changed on the way; findings ask for level 2."""

    name = "carried claims"

    def check(self, order: CheckOrder) -> tuple[Finding, ...]:
        """Return a finding per claim that lost a mark, and per claim that differs from the input's of the same id."""
        found: list[Finding] = []
        handed_down = [claim for given in order.inputs.values() for claim in given.claims]
        marked = any(claim.leaks for claim in handed_down)
        by_id: dict[ClaimId, list[Claim]] = {}
        for claim in handed_down:
            by_id.setdefault(claim.id, []).append(claim)
        for claim in order.result.output.claims:
            for mark in lost_marks(claim, order.inputs.values()) if marked else ():
                message = said(
                    order.lang,
                    en=f"the leak of {mark.agent!r} into {mark.domain!r} at {mark.node!r} is no longer marked",
                    zh=f"{mark.agent!r} 在 {mark.node!r} 对域 {mark.domain!r} 的泄漏标记已丢失",
                )
                found.append(
                    Finding(code="leak_mark_lost", message=message, severity="uncertain", claim=claim.id)
                )
            if any(_changed(claim, handed) for handed in by_id.get(claim.id, ())):
                message = said(
                    order.lang,
                    en="the claim has the id of an input's claim and another statement or other evidence",
                    zh="该论断沿用了输入论断的标识，但陈述或依据不同",
                )
                found.append(
                    Finding(
                        code="carried_claim_changed", message=message, severity="uncertain", claim=claim.id
                    )
                )
        return tuple(found)


def handed_on(claim: ClaimId, inputs: Mapping[NodeId, WorkOutput]) -> tuple[tuple[NodeId, Claim], ...]:
    """Return the claims of this id that the inputs hold, with the node that each came from."""
    return tuple(
        (node, handed) for node, output in inputs.items() for handed in output.claims if handed.id == claim
    )


def lost_marks(claim: Claim, inputs: Iterable[WorkOutput]) -> tuple[LeakMark, ...]:
    """Return the leak marks that a claim of the inputs has and `claim`, which repeats it, has not.

    A claim repeats the inputs' claims of its id; one with an id of its own repeats those that rest on exactly its
    evidence, or say the same on some of it.
    """
    marks = dict.fromkeys(mark for other in repeated_claims(claim, inputs) for mark in other.leaks)
    return tuple(mark for mark in marks if mark not in claim.leaks)


def repeated_claims(claim: Claim, inputs: Iterable[WorkOutput]) -> tuple[Claim, ...]:
    """Return the claims of `inputs` that `claim` repeats: those of its id, else those on the same grounds."""
    handed = [other for output in inputs for other in output.claims]
    carried = tuple(other for other in handed if other.id == claim.id)
    return carried or tuple(other for other in handed if _repeats(claim, other))


def with_carried_marks(output: WorkOutput, inputs: Iterable[WorkOutput]) -> WorkOutput:
    """Return `output` with the leak marks restored that its claims lost; equal to `output` where none is lost."""
    handed = tuple(inputs)
    if not any(claim.leaks for given in handed for claim in given.claims):
        return output
    return replace(output, claims=tuple(_restored(claim, handed) for claim in output.claims))


def upstream_verdicts(claim: ClaimId, order: CheckOrder) -> tuple[tuple[NodeId, ClaimVerdict], ...]:
    """Return what the verifications of the inputs say of a carried claim, where its evidence was traced there."""
    return tuple(
        (node, verdict)
        for node, _ in handed_on(claim, order.inputs)
        if node in order.verifications
        for verdict in order.verifications[node].verdicts
        if verdict.claim == claim and verdict.traced
    )


def _restored(claim: Claim, inputs: tuple[WorkOutput, ...]) -> Claim:
    for mark in lost_marks(claim, inputs):
        claim = with_leak(claim, mark)
    return claim


def _repeats(claim: Claim, other: Claim) -> bool:
    mine, theirs = set(claim.evidence), set(other.evidence)
    if mine == theirs:
        return bool(mine) or plain(claim.statement) == plain(other.statement)
    return not mine.isdisjoint(theirs) and plain(claim.statement) == plain(other.statement)


def _changed(claim: Claim, handed: Claim) -> bool:
    return claim.statement != handed.statement or set(claim.evidence) != set(handed.evidence)
