"""The acceptor: does what was made satisfy the contract? Looks at the artefacts themselves, never at what agents say.

`completed` is set here and nowhere else (semantics 7): every acceptance criterion holds. Anything that is missing is a
gap with its reason; a run with a gap in the core is `partial`, any other gap is listed and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from agents.citations import find_anchors
from agents.evidence import Claim, ClaimId
from agents.results import OpenQuestion
from graphs.contract import Criterion, Lang, TaskContract
from orchestrator.core.claims import ClaimVerdict, Contested, Falsified, Uncertain
from orchestrator.core.report.assemble import TerminalOutput
from orchestrator.core.same_question import same_question

GapCode = Literal[
    "no_output",
    "not_answered",
    "left_open",
    "uncertain",
    "contested",
    "falsified",
    "not_filled",
    "not_cited",
    "conflict_hidden",
    "not_checkable",
    "not_verified",
    "not_confirmed",
    "given_up",
    "effect_unknown",
]
"""Why a criterion does not hold, or what of the plan is missing."""

_WORDS: dict[GapCode, dict[Lang, str]] = {
    "no_output": {"en": "nothing was delivered for", "zh": "没有交付"},
    "not_answered": {"en": "not answered", "zh": "未回答"},
    "left_open": {"en": "left open", "zh": "仍未解决"},
    "uncertain": {"en": "answered, but no source confirms it", "zh": "已回答，但没有来源证实"},
    "contested": {"en": "answered, but independent sources disagree", "zh": "已回答，但独立来源互相矛盾"},
    "falsified": {"en": "the answer was falsified", "zh": "答案被证伪"},
    "not_filled": {"en": "not filled", "zh": "未填写"},
    "not_cited": {"en": "a core statement has no source", "zh": "有核心论点没有来源"},
    "conflict_hidden": {"en": "disagreeing sources are not both shown", "zh": "互相矛盾的来源没有都列出"},
    "not_checkable": {"en": "only a person can tell", "zh": "只有人能判断"},
    "not_verified": {"en": "taken as it is, not verified", "zh": "按现状接受，未核验"},
    "not_confirmed": {
        "en": "the checks do not confirm that everything it was asked is addressed",
        "zh": "核验未确认其全部要求都已处理",
    },
    "given_up": {"en": "given up", "zh": "已放弃"},
    "effect_unknown": {
        "en": "begun, and nobody knows whether it happened; look",
        "zh": "已开始，但无人知晓是否已生效；请查看",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One thing that is missing."""

    code: GapCode
    subject: str
    """The criterion or sub-task, in its own words."""
    core: bool = True
    """False: of a criterion that is not core; listed, and no reason for `partial` (`Criterion.core`)."""

    def text(self, lang: Lang) -> str:
        """Return the gap as one line for people."""
        if lang == "en":
            return f"{self.subject}: {_WORDS[self.code][lang]}{'' if self.core else ' (not core)'}"
        return f"{self.subject}：{_WORDS[self.code][lang]}{'' if self.core else '（非核心）'}"


def missing_from(contract: TaskContract, terminals: Sequence[TerminalOutput]) -> tuple[Gap, ...]:
    """Return what of `contract` the accepted terminal outputs do not satisfy, in the contract's order.

    A question honestly left open, with what was searched, counts as addressed when the contract allows it. What a
    worker calls complete counts for nothing until the checks confirm it (seed 000, 7.3). A core claim that is
    falsified, uncertain or contested is a gap whatever the criteria ask (semantics 4), and named once.
    """
    gaps = []
    for criterion in contract.acceptance:
        code = _missing(criterion, contract, terminals)
        if code is not None:
            gaps.append(Gap(code=code, subject=_subject(criterion), core=criterion.core))
    gaps += _doubtful(contract, terminals)
    gaps += [Gap(code="not_verified", subject=t.title) for t in terminals if t.accepted_as_is]
    # Of a single terminal output, a criterion that does not hold says better what is missing.
    if len(terminals) > 1 or not any(gap.core for gap in gaps):
        gaps += [Gap(code="not_confirmed", subject=t.title) for t in terminals if _unconfirmed(t)]
    return tuple(gaps)


def _subject(criterion: Criterion) -> str:
    return criterion.question or criterion.field or criterion.text


def _doubtful(contract: TaskContract, terminals: Sequence[TerminalOutput]) -> list[Gap]:
    """Core claims that no criterion looked at, and that do not hold; of an output taken as it is, that is said once."""
    judged = _judged(contract, terminals)
    found: dict[str, list[ClaimVerdict | None]] = {}
    for terminal in terminals:
        for claim in terminal.output.claims:
            if claim.core and not terminal.accepted_as_is and claim.id not in judged:
                found.setdefault(claim.question or claim.statement, []).append(_verdict(terminal, claim))
    return [
        Gap(code=code, subject=subject)
        for subject, verdicts in found.items()
        if (code := _worst(verdicts)) is not None
    ]


def _judged(contract: TaskContract, terminals: Sequence[TerminalOutput]) -> frozenset[ClaimId]:
    """The claims that a criterion about a question or a field has looked at."""
    looked: set[ClaimId] = set()
    for criterion in contract.acceptance:
        if criterion.kind == "question_answered":
            looked.update(claim.id for _, claim in _answers(_subject(criterion), terminals))
        elif criterion.kind == "field_filled":
            looked.update(claim.id for _, claim in _behind(_subject(criterion), terminals))
    return frozenset(looked)


def _unconfirmed(terminal: TerminalOutput) -> bool:
    return not terminal.accepted_as_is and not terminal.verification.verified_complete


def _missing(
    criterion: Criterion, contract: TaskContract, terminals: Sequence[TerminalOutput]
) -> GapCode | None:
    match criterion.kind:
        case "question_answered":
            return _unanswered(criterion.question or criterion.text, contract, terminals)
        case "field_filled":
            return _unfilled(criterion.field or criterion.text, contract, terminals)
        case "artefact_exists":
            return None if any(t.output.text.strip() for t in terminals) else "no_output"
        case "claims_cited":
            return "not_cited" if any(_uncited(t) for t in terminals) else None
        case "conflicts_shown":
            return "conflict_hidden" if any(_hides_a_conflict(t) for t in terminals) else None
        case "custom":
            return "not_checkable"
        case _:
            assert_never(criterion.kind)


def _unanswered(question: str, contract: TaskContract, terminals: Sequence[TerminalOutput]) -> GapCode | None:
    answers = _answers(question, terminals)
    if not answers:
        return _open(question, contract, terminals)
    return _worst(_verdict(terminal, claim) for terminal, claim in answers)


def _answers(question: str, terminals: Sequence[TerminalOutput]) -> list[tuple[TerminalOutput, Claim]]:
    return [
        (terminal, claim)
        for terminal in terminals
        for claim in terminal.output.claims
        if claim.core and same_question(claim.question, question)
    ]


def _worst(verdicts: Iterable[ClaimVerdict | None]) -> GapCode | None:
    """A core answer that is falsified, untraced, uncertain or contested leaves a gap (semantics 4)."""
    codes: set[GapCode] = set()
    for verdict in verdicts:
        match verdict.verdict if verdict is not None and verdict.traced else None:
            case Falsified():
                codes.add("falsified")
            case None | Uncertain():
                codes.add("uncertain")
            case Contested():
                codes.add("contested")
            case _:
                pass
    order: tuple[GapCode, ...] = ("falsified", "uncertain", "contested")
    return next((code for code in order if code in codes), None)


def _unfilled(field: str, contract: TaskContract, terminals: Sequence[TerminalOutput]) -> GapCode | None:
    """A field counts by what stands behind it: text alone says nothing of its claims."""
    if not any(_texts(field, terminal) for terminal in terminals):
        missing = _open(field, contract, terminals)
        return "not_filled" if missing == "not_answered" else missing
    return _worst(_verdict(terminal, claim) for terminal, claim in _behind(field, terminals))


def _texts(field: str, terminal: TerminalOutput) -> list[str]:
    return [
        text for name, text in terminal.output.fields.items() if same_question(name, field) and text.strip()
    ]


def _behind(field: str, terminals: Sequence[TerminalOutput]) -> list[tuple[TerminalOutput, Claim]]:
    """The claims that the anchors of a field point at."""
    found = []
    for terminal in terminals:
        cited = {anchor.claim for text in _texts(field, terminal) for anchor in find_anchors(text)}
        found += [(terminal, claim) for claim in terminal.output.claims if claim.id in cited]
    return found


def _open(subject: str, contract: TaskContract, terminals: Sequence[TerminalOutput]) -> GapCode | None:
    left = [q for t in terminals for q in t.output.open_questions if same_question(q.question, subject)]
    if not left:
        return "not_answered"
    honest = all(_is_honest(question) for question in left)
    return None if contract.allow_unresolved and honest else "left_open"


def _is_honest(question: OpenQuestion) -> bool:
    """Left open after a search; a limit or a closed domain is no honest end of one."""
    return bool(question.searched) and question.reason in ("not_found", "not_answerable")


def _uncited(terminal: TerminalOutput) -> bool:
    held = {piece.id for piece in terminal.output.evidence}
    return any(
        claim.core and not held.issuperset(claim.evidence or ("",)) for claim in terminal.output.claims
    )


def _hides_a_conflict(terminal: TerminalOutput) -> bool:
    shown = {anchor.claim for anchor in find_anchors(terminal.output.text)}
    return any(not shown.issuperset(conflict.claims) for conflict in terminal.output.conflicts)


def _verdict(terminal: TerminalOutput, claim: Claim) -> ClaimVerdict | None:
    return next((v for v in terminal.verification.verdicts if v.claim == claim.id), None)
