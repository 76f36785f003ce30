"""Which claims are one, which confirm each other, and which are different things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.evidence import ClaimId
from agents.results import Conflict
from agents.workers.embedded.carried import Carried, carry
from agents.workers.embedded.merging import merge, restated, says_the_same
from graphs.plan import NodeId
from tests.agents.workers.material import Note, Quoted, mark, note, output, quoted

SENTENCE = "The plant stores 32 MWh of energy."
FIRST = note("first.md", f"{SENTENCE}\nIt opened in May 2024.\nNo permit is needed.")
SECOND = note("second.md", f"Other.\n{SENTENCE}\n")
COPY = note("copy.md", f"{SENTENCE}\n", copy_of=FIRST.source.id)


def pool(*parts: Sequence[Quoted]) -> Carried:
    sources = replace(output([]), sources=(FIRST.source, SECOND.source, COPY.source))
    made = {NodeId(f"n{n}"): output(list(part)) for n, part in enumerate(parts)}
    return carry(made | {NodeId("sources"): sources})


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("It opened in May.", "it opened in May", True),
        ("- **Cost:** high", "Cost: high", True),
        ("The plant stores 32 MWh.", "The plant stores 32.0 MWh.", False),
        ("The plant stores 2.5 MWh.", "The plant stores 25 MWh.", False),
        ("The pumps are safe.", "The pumps are not safe.", False),
        ("水泵是安全的。", "水泵是不安全的。", False),
        ("新线的通水日期为2027年6月30日。", "新线的通水日期为2027年6月30日；", True),
        ("Oslo has a plant for solid waste.", "Bergen has a plant for solid waste.", False),
        ("→", "←", False),
    ],
)
def test_saying_the_same_means_the_same_words_numbers_and_negations(a: str, b: str, same: bool) -> None:
    assert says_the_same(a, b) is same
    assert says_the_same(b, a) is same


def test_a_sentence_with_one_more_word_in_twelve_holds_the_other() -> None:
    short = "The city council accepted the offer of the grid company last Tuesday evening."
    assert says_the_same(short, short.replace("evening", "evening indeed"))
    assert not says_the_same(short, short.replace("Tuesday", "Monday"))


def test_one_sentence_quoted_by_two_nodes_is_one_claim_with_the_marks_of_both() -> None:
    one = quoted("n1", FIRST, SENTENCE)
    two = quoted("n2", FIRST, SENTENCE, leak=mark())
    merged = merge([one.claim, two.claim], pool([one], [two]))

    assert len(merged.claims) == 1
    assert merged.claims[0].leaks == (mark(),)
    assert len(merged.dropped) == 1


def test_a_copy_counts_once_and_the_original_is_kept() -> None:
    copied, original = quoted("n1", COPY, SENTENCE), quoted("n2", FIRST, SENTENCE)
    merged = merge([copied.claim, original.claim], pool([copied], [original]))

    assert [claim.id for claim in merged.claims] == [original.claim.id]
    assert merged.dropped == {copied.claim.id: original.claim.id}


def test_independent_sources_stay_side_by_side_in_one_statement() -> None:
    one, two = quoted("n1", FIRST, SENTENCE), quoted("n1", SECOND, SENTENCE)
    merged = merge([one.claim, two.claim], pool([one, two]))

    assert len(merged.statements) == 1
    assert {claim.id for claim in merged.claims} == {one.claim.id, two.claim.id}
    assert merged.dropped == {}


def test_a_kept_claim_is_core_if_a_dropped_one_was() -> None:
    beside, core = quoted("n1", FIRST, SENTENCE, core=False), quoted("n2", COPY, SENTENCE, core=True)
    merged = merge([beside.claim, core.claim], pool([beside], [core]))

    assert [claim.core for claim in merged.claims] == [True]


def test_conflicts_are_restated_in_terms_of_what_is_shown() -> None:
    one, two = quoted("n1", FIRST, SENTENCE), quoted("n2", COPY, SENTENCE)
    other = quoted("n1", FIRST, "It opened in May 2024.")
    merged = merge([one.claim, two.claim, other.claim], pool([one, other], [two]))
    gone = Conflict(about="x", claims=(two.claim.id, other.claim.id))
    lone = Conflict(about="y", claims=(one.claim.id, two.claim.id))
    unknown = Conflict(about="z", claims=(one.claim.id, ClaimId("c-000000000000")))

    assert restated([gone, lone, unknown], merged.statements, merged.dropped) == (
        Conflict(about="x", claims=(one.claim.id, other.claim.id)),
    )


SENTENCES = [SENTENCE, "It opened in May 2024.", "No permit is needed."]


def drawn_note(number: int) -> Note:
    text = "\n".join(SENTENCES)
    return note(f"{number}.md", text, copy_of=FIRST.source.id if number == 2 else None)


@st.composite
def parts(draw: st.DrawFn) -> list[Quoted]:
    chosen = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["n1", "n2"]),
                st.integers(0, 2),
                st.sampled_from(SENTENCES),
                st.booleans(),
                st.booleans(),
            ),
            max_size=9,
            unique_by=lambda drawn: drawn[:3],
        )
    )
    return [
        quoted(node, drawn_note(number), sentence, core=core, leak=mark(node=node) if leak else None)
        for node, number, sentence, core, leak in chosen
    ]


@settings(deadline=None)
@given(parts())
def test_every_claim_is_kept_or_one_that_says_the_same_is_and_no_mark_is_lost(
    given_parts: list[Quoted],
) -> None:
    carried = pool(given_parts)
    merged = merge(carried.claims, carried)
    kept = {claim.id: claim for claim in merged.claims}

    assert set(kept) <= {claim.id for claim in carried.claims}
    assert len(kept) == len(merged.claims)
    for claim in carried.claims:
        stands = kept[merged.dropped.get(claim.id, claim.id)]
        assert stands.statement == claim.statement
        assert set(claim.leaks) <= set(stands.leaks)
        assert stands.core or not claim.core
