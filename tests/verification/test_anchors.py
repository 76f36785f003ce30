"""Level 1: text, anchors, claims and evidence fit together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.citations import anchor
from agents.evidence import EvidenceId, SourceId
from agents.results import WorkOutput
from orchestrator.verification.anchors import CitationChecker
from orchestrator.verification.shown import Shown, shown_claims, shows
from tests.verification.cases import Notes, claim, codes, evidence, order, output, quoted

S = SourceId("s-1")
F1 = evidence(S, "The plant stores 32 MWh.", key="f1")
F2 = evidence(S, "It opened on 3 May 2024.", key="f2")
C1, C2 = quoted(F1), quoted(F2)


@pytest.fixture
def sound(notes: Notes) -> WorkOutput:
    source = notes.write("a.md", "x")
    grounds = [
        evidence(source.id, F1.text, key="f1"),
        evidence(source.id, F2.text, key="f2"),
    ]
    return output([C1, C2], grounds, [source])


def found(produced: WorkOutput) -> list[str]:
    findings = CitationChecker().check(order(produced))
    assert all(finding.severity == "uncertain" for finding in findings)
    return codes(findings)


def test_a_sound_output_has_no_findings(sound: WorkOutput) -> None:
    assert found(sound) == []


def test_a_claim_without_evidence(sound: WorkOutput) -> None:
    bare = replace(C2, evidence=())
    assert found(replace(sound, claims=(C1, bare))) == ["claim_without_evidence"]


def test_a_claim_that_no_anchor_points_at(sound: WorkOutput) -> None:
    produced = replace(sound, text=f"{F1.text} {anchor(C1.id)}")
    (finding,) = CitationChecker().check(order(produced, lang="zh"))
    assert (finding.code, finding.claim) == ("claim_not_cited", C2.id)
    assert "引注" in finding.message


def test_an_anchor_in_a_field_counts(sound: WorkOutput) -> None:
    produced = replace(
        sound,
        text=f"{F1.text} {anchor(C1.id)}",
        fields={"opened": f"{F2.text} {anchor(C2.id)}"},
    )
    assert found(produced) == []


@pytest.mark.parametrize("name", ["c-000000000000", "c-xyz", "1"])
def test_an_anchor_that_leads_to_no_claim(sound: WorkOutput, name: str) -> None:
    assert found(replace(sound, text=sound.text + f"\n\nIt is new. [^{name}]")) == ["anchor_unknown"]


def test_evidence_or_source_that_the_output_does_not_hold(sound: WorkOutput) -> None:
    lost = replace(C2, evidence=(EvidenceId("gone"),))
    assert found(replace(sound, claims=(C1, lost))) == ["citation_unresolved"]
    assert found(replace(sound, sources=())) == ["citation_unresolved"] * 2
    forged = replace(sound.evidence[0], excerpt_sha256="0" * 64)
    assert found(replace(sound, evidence=(forged, sound.evidence[1]))) == ["citation_unresolved"]


def test_a_text_that_says_something_else_than_the_claim(sound: WorkOutput) -> None:
    text = f"The plant stores 99 MWh. {anchor(C1.id)}\n{F2.text} {anchor(C2.id)}"
    (finding,) = CitationChecker().check(order(replace(sound, text=text)))
    assert (finding.code, finding.claim) == ("text_differs_from_claim", C1.id)
    assert "99 MWh" in finding.message
    assert "32 MWh" in finding.message


def test_a_confirming_claim_may_have_other_words_and_not_other_numbers(notes: Notes) -> None:
    source = notes.write("a.md", "x")
    first = evidence(source.id, "The plant stores 32 MWh.", key="f1")
    same = evidence(source.id, "32 MWh are stored by the plant", key="f2")
    other = evidence(source.id, "30 MWh are stored by the plant", key="f3")

    def shown_with(ground: object) -> list[str]:
        second = same if ground is same else other
        claims = [quoted(first), quoted(second)]
        text = f"{first.text} {anchor(claims[0].id)}{anchor(claims[1].id)}"
        return found(output(claims, [first, second], [source], text=text))

    assert shown_with(same) == []
    assert shown_with(other) == ["text_differs_from_claim"]


def test_markers_stand_behind_anchors_and_are_no_part_of_the_next_sentence(sound: WorkOutput) -> None:
    text = (
        f"- {F1.text} {anchor(C1.id)} [mask leak | agent=A1 | domain=law.tax | strength=0.55]\n"
        f"- {F2.text} {anchor(C2.id)}[蒙版泄漏 | agent=A1 | 域=law.tax | 强度=0.55]\n"
    )
    produced = replace(sound, text=text)
    assert found(produced) == []
    first, second = shown_claims(produced)
    assert first.sentence == F1.text
    assert second.sentence == F2.text


def test_what_stands_before_a_group_of_anchors() -> None:
    text = (
        f"# Plant\n\nFrom the notes: first. Second one. {anchor(C1.id)} {anchor(C2.id)}\n\n"
        f"| Cost | 12 {anchor(C2.id)} |\n"
    )
    first, second = shown_claims(output(text=text))
    assert first.claims == (C1.id, C2.id)
    assert first.sentence == "Second one."
    assert second.claims == (C2.id,)
    assert second.sentence == "Cost 12"


def test_a_group_without_words_shows_nothing() -> None:
    assert Shown(claims=(C1.id,), text=" \n| ").sentence == ""
    assert not shows(Shown(claims=(C1.id,), text=" \n| "), C1)


def test_a_claim_of_two_lines_is_shown_over_two_lines() -> None:
    both = claim("It is new.\nIt is big.", F1)
    assert shows(Shown(claims=(both.id,), text="- It is new.\n  It is big. "), both)
