"""What a person took as it is counts as uncertain further down, and nobody is blamed for it (semantics 7, `accept`)."""

from __future__ import annotations

from dataclasses import replace

from agents.evidence import Evidence, Source
from agents.results import WorkOutput
from graphs.plan import NodeId
from orchestrator.core.claims import Falsified, RootCause, Uncertain, Verification
from orchestrator.verification.levels import StandardVerifier
from orchestrator.verification.ports import CheckOrder
from orchestrator.verification.sources.documents import DocumentSource
from tests.verification.cases import Notes, claim, evidence, order, output, quoted

N0, N1 = NodeId("n0"), NodeId("n1")
TEXT = "The plant stores 32 MWh.\nThe tax is 12 percent.\n"


def note(notes: Notes) -> Source:
    return notes.write("a.md", TEXT)


def invented(source: Source) -> Evidence:
    return evidence(source.id, "The plant stores 99 MWh.", (1, 1), (0, 24))


def fabricated(notes: Notes) -> WorkOutput:
    """One claim that does not stand in the file, and one that does."""
    source = note(notes)
    false, true = invented(source), notes.quote(source, "The tax is 12 percent.")
    return output([quoted(false), quoted(true)], [false, true], [source])


def checked(notes: Notes, asked: CheckOrder) -> Verification:
    return StandardVerifier([DocumentSource(notes.root)]).verify(replace(asked, terminal=True))


def test_handed_on_by_the_sub_task_itself_or_by_one_between(notes: Notes) -> None:
    produced = fabricated(notes)
    for inputs, taken in (({N1: produced}, {N1: produced}), ({N1: produced}, {N0: produced})):
        assert checked(notes, order(produced, inputs=inputs)).outcome == "falsified"
        found = checked(notes, order(produced, inputs=inputs, taken_as_is=taken))
        assert found.outcome == "qualified"
        (name,) = taken
        for verdict in found.verdicts:
            assert isinstance(verdict.verdict, Uncertain)
            assert verdict.verdict.reason == f"a person took the output of {name!r} as it is: not verified"


def test_a_claim_of_its_own_on_evidence_that_was_taken_is_uncertain(notes: Notes) -> None:
    produced = fabricated(notes)
    false = produced.evidence[0]
    own = output([claim("Storage: 99 MWh", false)], [false], produced.sources)
    found = checked(notes, order(own, inputs={N1: produced}, taken_as_is={N1: produced}, lang="zh"))
    (verdict,) = found.verdicts
    assert verdict.verdict == Uncertain(reason="'n1' 的输出由人按现状接受：未核验")


def test_what_the_sub_task_adds_is_judged_as_ever_and_is_its_own_fault(notes: Notes) -> None:
    produced = fabricated(notes)
    tax = notes.quote(note(notes), "The tax is 12 percent.")
    other = claim("The tax is 21 percent.", tax, node="n9")
    mixed = output([*produced.claims, other], produced.evidence, produced.sources)
    found = checked(notes, order(mixed, inputs={N1: produced}, taken_as_is={N1: produced}))
    assert found.outcome == "falsified"
    false = [v.claim for v in found.verdicts if isinstance(v.verdict, Falsified)]
    assert false == [other.id]
    assert found.diagnosis is not None
    assert (found.diagnosis.cause, found.diagnosis.blamed) == (RootCause.PROCESS, None)
