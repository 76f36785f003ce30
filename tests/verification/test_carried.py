"""Claims that came from an input."""

from __future__ import annotations

from dataclasses import replace

from agents.evidence import LeakMark, SourceId
from graphs.plan import NodeId
from orchestrator.verification.carried import CarriedClaimChecker, lost_marks, with_carried_marks
from tests.verification.cases import claim, codes, evidence, order, output

S = SourceId("s-1")
F1 = evidence(S, "The tax is 12%.", key="f1")
F2 = evidence(S, "The tax is due in May.", key="f2")
MARK = LeakMark(agent="A1", domain="law.tax", strength=55, origin="source", declared=True, node="n1")
LEAKED = claim(F1.text, F1, leaks=(MARK,), node="n1")
UPSTREAM = {NodeId("n1"): output([LEAKED], [F1])}


def test_a_claim_carried_with_its_mark_is_fine() -> None:
    assert CarriedClaimChecker().check(order(output([LEAKED], [F1]), inputs=UPSTREAM)) == ()


def test_a_lost_mark_is_found_and_can_be_restored() -> None:
    stripped = output([replace(LEAKED, leaks=())], [F1])
    (finding,) = CarriedClaimChecker().check(order(stripped, inputs=UPSTREAM))
    assert (finding.code, finding.severity, finding.claim) == ("leak_mark_lost", "uncertain", LEAKED.id)
    assert "law.tax" in finding.message
    restored = with_carried_marks(stripped, UPSTREAM.values())
    assert restored == output([LEAKED], [F1])
    assert with_carried_marks(restored, UPSTREAM.values()) == restored


def test_a_claim_made_again_on_the_same_evidence_does_not_get_rid_of_the_mark() -> None:
    again = claim("Tax: 12%.", F1)
    assert again.id != LEAKED.id
    assert lost_marks(again, UPSTREAM.values()) == (MARK,)


def test_the_same_words_on_more_evidence_neither() -> None:
    assert lost_marks(claim(F1.text, F1, F2), UPSTREAM.values()) == (MARK,)


def test_the_same_words_from_another_source_are_another_claim() -> None:
    elsewhere = evidence(SourceId("s-2"), F1.text, key="g1")
    assert lost_marks(claim(F1.text, elsewhere), UPSTREAM.values()) == ()


def test_an_unmarked_claim_of_another_input_keeps_its_own_marks_only() -> None:
    clean = claim(F1.text, F1, node="n0")
    inputs = {**UPSTREAM, NodeId("n0"): output([clean], [F1])}
    assert CarriedClaimChecker().check(order(output([clean], [F1]), inputs=inputs)) == ()


def test_marks_of_all_ways_are_needed() -> None:
    other = replace(MARK, node="n0")
    inputs = [output([LEAKED], [F1]), output([replace(LEAKED, leaks=(other,))], [F1])]
    assert lost_marks(LEAKED, inputs) == (other,)


def test_a_claim_changed_under_its_id_is_found() -> None:
    for changed in (replace(LEAKED, statement="The tax is 21%."), replace(LEAKED, evidence=(F2.id,))):
        findings = CarriedClaimChecker().check(order(output([changed], [F1, F2]), inputs=UPSTREAM))
        assert codes(findings) == ["carried_claim_changed"]
    reordered = replace(LEAKED, core=False, question="q")
    assert CarriedClaimChecker().check(order(output([reordered], [F1]), inputs=UPSTREAM)) == ()
