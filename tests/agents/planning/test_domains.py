import pytest

from agents.planning.domains import (
    MAX_DOMAINS_PER_NODE,
    MIN_RELEVANCE,
    DomainFinder,
    NoteOutline,
    leaves_of,
    strongest,
)
from masks.domains import DomainId
from masks.errors import UnknownDomain
from tests.agents.planning.rankers import REGISTRY, always

ENERGY, FINANCE, AI = DomainId("env.energy"), DomainId("econ.finance"), DomainId("cs.ai")


def finder(
    *ranked: tuple[str, float],
    outlines: tuple[NoteOutline, ...] = (),
    forbidden: frozenset[DomainId] = frozenset(),
) -> DomainFinder:
    return DomainFinder(rank=always(*ranked), registry=REGISTRY, outlines=outlines, forbidden=forbidden)


def test_relevance_is_the_share_of_the_strongest() -> None:
    found = finder(("env.energy", 0.4), ("econ.finance", 0.2), ("cs.ai", 0.05)).of("storage")
    assert found == {"env.energy": 1.0, "econ.finance": 0.5}
    assert MIN_RELEVANCE > 0.05 / 0.4


def test_at_most_four_domains_are_required() -> None:
    leaves = REGISTRY.leaves[:7]
    found = finder(*((leaf, 0.5) for leaf in leaves)).of("x")
    assert tuple(found) == leaves[:MAX_DOMAINS_PER_NODE]


def test_a_note_whose_headings_match_counts_with_its_labelled_sections() -> None:
    outlines = (
        NoteOutline(title="Insurance", headings=("Premium of the plant",), domains={FINANCE: 3, AI: 1}),
        NoteOutline(title="Weather", headings=("Rain",), domains={AI: 9}),
    )
    found = finder(("env.energy", 0.25), outlines=outlines).of("insurance premium plant")
    # Full overlap of three terms: 0.5 x 1 x 3/4 for finance, 0.5 x 1 x 1/4 for AI, beside 0.25 from the words.
    assert found == {
        "econ.finance": 1.0,
        "env.energy": round(0.25 / 0.375, 2),
        "cs.ai": round(0.125 / 0.375, 2),
    }


def test_without_any_sign_the_notes_at_large_decide() -> None:
    outlines = (
        NoteOutline(title="a", domains={FINANCE: 3, ENERGY: 1}),
        NoteOutline(title="b", domains={FINANCE: 2}),
    )
    assert finder(outlines=outlines).of("zzz") == {"econ.finance": 1.0}
    # Of two notes finance holds 3/4 and all, energy 1/4: too little to be required, enough to be summarised.
    assert finder(outlines=outlines).everywhere() == {
        "econ.finance": 1.0,
        "env.energy": round(0.25 / 1.75, 2),
    }
    assert finder().of("zzz") == {}


def test_an_unlabelled_note_is_ranked_by_its_words() -> None:
    found = finder(("env.energy", 0.3), outlines=(NoteOutline(title="Storage"),)).everywhere()
    assert found == {"env.energy": 1.0}


def test_forbidden_domains_and_strangers_are_never_required() -> None:
    ranked = (("env.energy", 0.9), ("econ.finance", 0.3), ("no.such", 0.8))
    assert finder(*ranked, forbidden=frozenset({ENERGY})).of("x") == {"econ.finance": 1.0}


def test_several_needs_together_keep_the_highest_relevance() -> None:
    needs = [{"a": 0.3, "b": 1.0}, {"a": 0.9, "c": 0.3}, {"d": 0.5, "e": 0.4}]
    assert strongest(needs) == {"b": 1.0, "a": 0.9, "d": 0.5, "e": 0.4}
    assert strongest([]) == {}


def test_a_parent_stands_for_its_leaves() -> None:
    assert leaves_of([DomainId("law")], REGISTRY) == frozenset(REGISTRY.leaves_under(DomainId("law")))
    with pytest.raises(UnknownDomain):
        leaves_of([DomainId("nowhere")], REGISTRY)
