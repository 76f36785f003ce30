"""Is everything that was asked addressed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agents.citations import anchor
from agents.evidence import Claim, SourceId
from agents.results import OpenQuestion, WorkOutput
from graphs.contract import Criterion
from orchestrator.core.claims import ClaimVerdict, Falsified, Level, Uncertain, Verdict
from orchestrator.verification.completeness import verified_complete
from tests.verification.cases import claim, evidence, order, output

F1 = evidence(SourceId("s-1"), "The plant stores 32 MWh.", key="f1")
F2 = evidence(SourceId("s-1"), "It stores 32 MWh, they say.", key="f2")
ANSWER = claim(F1.text, F1, question="How much?")
OPEN = OpenQuestion(question="Who owns it?", reason="not_found", searched=("owner",))


def complete(produced: WorkOutput, *asked: str, false: Iterable[Claim] = ()) -> bool:
    verdicts: list[ClaimVerdict] = []
    for each in produced.claims:
        verdict: Verdict = Falsified(reason="no") if each in false else Uncertain(reason="?")
        verdicts.append(ClaimVerdict(claim=each.id, verdict=verdict, level=Level.L2, traced=True))
    return verified_complete(order(produced, params={"questions": list(asked)}), verdicts)


def test_a_core_claim_answers() -> None:
    assert complete(output([ANSWER], [F1]), "how  much?")
    assert not complete(output([ANSWER], [F1]), "How much?", "Who owns it?")


def test_a_claim_that_is_not_core_does_not() -> None:
    assert not complete(output([replace(ANSWER, core=False)], [F1]), "How much?")


def test_a_falsified_claim_does_not_unless_another_one_answers() -> None:
    other = claim(F2.text, F2, question="How much?")
    assert not complete(output([ANSWER], [F1]), "How much?", false=[ANSWER])
    assert complete(output([ANSWER, other], [F1, F2]), "How much?", false=[ANSWER])


def test_an_open_question_counts_if_it_says_what_was_searched() -> None:
    produced = output([ANSWER], [F1], open_questions=(OPEN,))
    assert complete(produced, "How much?", "Who owns it?")
    unsearched = replace(produced, open_questions=(replace(OPEN, searched=()),))
    assert not complete(unsearched, "How much?", "Who owns it?")


def test_a_field_is_as_good_as_the_claims_that_it_cites() -> None:
    criteria = (Criterion(id="k", text="t", kind="field_filled", field="storage"),)

    def filled(value: str) -> WorkOutput:
        return output([ANSWER], [F1], fields={"Storage": value})

    def checked(value: str, *verdicts: ClaimVerdict) -> bool:
        return verified_complete(order(filled(value), criteria=criteria), verdicts)

    false = ClaimVerdict(claim=ANSWER.id, verdict=Falsified(reason="no"), level=Level.L2, traced=True)
    assert checked(f"32 MWh {anchor(ANSWER.id)}")
    assert not checked(f"32 MWh {anchor(ANSWER.id)}", false)
    assert not checked("32 MWh")
    assert not checked("32 MWh [^c-000000000000]")


def test_asked_nothing_one_good_claim_or_open_question_is_enough() -> None:
    assert complete(output([ANSWER], [F1]))
    assert not complete(output([ANSWER], [F1]), false=[ANSWER])
    assert complete(output(text="t", open_questions=(OPEN,)))
    assert not complete(output(text="t"))


def test_a_sub_task_that_owes_no_claims_gives_a_text() -> None:
    assert verified_complete(order(output(text="t"), port="text"), ())
    assert not verified_complete(order(output(text=" "), port="text"), ())


def test_parameters_that_cannot_be_read_are_never_complete() -> None:
    assert not verified_complete(order(output([ANSWER], [F1]), corrected={"questions": "How much?"}), ())


def test_a_question_in_other_width_and_punctuation_is_addressed() -> None:
    answered = replace(ANSWER, question="How Much\uff1f ")
    produced = output([answered], [F1])
    assert verified_complete(order(produced, params={"questions": ["How much"]}), ())
