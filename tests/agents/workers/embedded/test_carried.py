"""What predecessors hand in: unchanged, with marks, independent of order, evidence complete."""

from __future__ import annotations

from dataclasses import replace

from agents.evidence import EvidenceId, SourceId
from agents.results import WorkOutput
from agents.workers.embedded.carried import carry, independent_source, output_of
from graphs.plan import NodeId
from tests.agents.workers.material import mark, note, output, quoted

PLANT = note("plant.md", "The plant stores 32 MWh.\nIt opened in May 2024.\n")
STORES = quoted("n1", PLANT, "The plant stores 32 MWh.")
OPENED = quoted("n2", PLANT, "It opened in May 2024.")


def test_the_order_of_arrival_does_not_matter() -> None:
    first, second = output([STORES]), output([OPENED], fields={"a": "b"})
    forward = carry({NodeId("n2"): first, NodeId("n10"): second})
    backward = carry({NodeId("n10"): second, NodeId("n2"): first})

    assert forward == backward
    assert [claim.id for claim in forward.claims] == [STORES.claim.id, OPENED.claim.id]


def test_a_claim_that_arrives_twice_is_one_with_all_its_marks() -> None:
    plain, leaked = output([STORES]), output([quoted("n1", PLANT, "The plant stores 32 MWh.", leak=mark())])
    (claim,) = carry({NodeId("n1"): plain, NodeId("n2"): leaked}).claims

    assert claim == replace(STORES.claim, leaks=(mark(),))


def test_words_that_leaked_are_marked_whoever_quotes_them() -> None:
    elsewhere = quoted(
        "n3", note("b.md", "The plant stores 32 MWh."), "The plant stores 32 MWh.", leak=mark()
    )
    claims = carry({NodeId("n1"): output([STORES]), NodeId("n3"): output([elsewhere])}).claims

    assert [claim.leaks for claim in claims] == [(mark(),), (mark(),)]


def test_tables_are_taken_over_whole() -> None:
    text = "before\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nbetween | bars\n\n| c |\n| --- |\n| 3 |"
    carried = carry({NodeId("n1"): WorkOutput(text=text)})

    assert carried.tables == ("| a | b |\n| --- | --- |\n| 1 | 2 |", "| c |\n| --- |\n| 3 |")


def test_copies_lead_to_their_original_and_a_circle_ends() -> None:
    a, b, c = (note(f"{n}.md", n).source for n in "abc")
    chain = {a.id: replace(a, copy_of=b.id), b.id: replace(b, copy_of=c.id), c.id: c}
    circle = {a.id: replace(a, copy_of=b.id), b.id: replace(b, copy_of=a.id)}

    assert independent_source(a.id, chain) == c.id
    assert independent_source(a.id, circle) == b.id
    assert independent_source(SourceId("s-x"), {}) == "s-x"


def test_an_output_brings_premises_and_originals_and_nothing_else() -> None:
    copy = note("copy.md", "The plant stores 32 MWh.", copy_of=PLANT.source.id)
    inferred = quoted("n1", copy, "The plant stores 32 MWh.")
    premise = OPENED.evidence
    evidence = replace(inferred.evidence, premises=(premise.id, EvidenceId("e-missing")))
    unused = quoted("n1", note("unused.md", "Nothing."), "Nothing.")
    made = output([replace(inferred, evidence=evidence), OPENED, unused])
    result = output_of(carry({NodeId("n1"): made}), "text", [inferred.claim])

    assert {piece.id for piece in result.evidence} == {evidence.id, premise.id}
    assert {source.uri for source in result.sources} == {"copy.md", "plant.md"}


def test_an_output_brings_the_copies_of_what_it_cites() -> None:
    copy = note("copy.md", "The plant stores 32 MWh.", copy_of=PLANT.source.id)
    made = output([STORES])
    carried = carry({NodeId("n1"): replace(made, sources=(*made.sources, copy.source))})

    assert [source.uri for source in output_of(carried, "", [STORES.claim]).sources] == [
        "plant.md",
        "copy.md",
    ]
