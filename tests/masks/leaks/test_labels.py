from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masks.domains import DomainId
from masks.leaks.calibration import Calibration
from masks.leaks.labels import DomainLabel, DomainLabeller, SectionText
from tests.masks.fakes import COOKING, DATABASES, SECURITY, NgramEmbedder, small_registry

REGISTRY = small_registry()
CONSTANTS = Calibration(
    embedder="fake-ngrams",
    registry_sha256=REGISTRY.sha256,
    temperature=0.05,
    none_score=0.15,
    margin=0.45,
    leak_margin=0.9,
    accuracy=1.0,
    coverage=1.0,
    leak_coverage=1.0,
)
LABELLER = DomainLabeller(NgramEmbedder(), REGISTRY, CONSTANTS)
BETWEEN_SIBLINGS = "table rows password"


def test_a_clear_sentence_is_told_apart() -> None:
    (label,) = LABELLER.label(["query joins the table index"])
    assert (label.domain, label.parent) == (DATABASES, "cs")
    assert label.probability == label.distribution.probability(DATABASES) > 0.5
    assert label.margin >= CONSTANTS.margin


def test_a_sentence_between_siblings_is_ambiguous_below_their_parent() -> None:
    (label,) = LABELLER.label([BETWEEN_SIBLINGS])
    assert label.domain is None
    assert label.parent == "cs"
    both = label.distribution.probability(DATABASES) + label.distribution.probability(SECURITY)
    assert label.probability == pytest.approx(both)


@pytest.mark.parametrize("text", ["", "  \n", "——!?", "zzz yyy xxx www"])
def test_what_looks_like_nothing_is_unclassified(text: str) -> None:
    (label,) = LABELLER.label([text])
    assert (label.domain, label.parent) == (None, None)
    assert label.probability == label.distribution.none > 0.5


def test_a_sentence_between_branches_is_unclassified() -> None:
    (label,) = LABELLER.label(["table index query simmer onion soup"])
    assert (label.domain, label.parent) == (None, None)


def test_strict_asks_for_a_larger_lead() -> None:
    text = "a table for runners"
    (loose,), (strict,) = LABELLER.label([text]), LABELLER.label([text], strict=True)
    assert loose.domain == DATABASES
    assert loose.margin < CONSTANTS.leak_margin
    assert strict.domain is None
    assert strict.distribution == loose.distribution


def test_a_distribution_covers_every_leaf_and_sums_to_one() -> None:
    for label in LABELLER.label(["query joins", "", "simmer onion soup", "zzz"]):
        distribution = label.distribution
        assert tuple(leaf for leaf, _ in distribution.probabilities) == REGISTRY.leaves
        assert sum(p for _, p in distribution.probabilities) + distribution.none == pytest.approx(1.0)
        assert distribution.probability(DomainId("nowhere")) == 0.0
        assert distribution.best()[1] == max(p for _, p in distribution.probabilities)


masses = st.lists(st.integers(0, 6), min_size=5, max_size=5).filter(any)


@given(masses, st.sampled_from([0.0, 0.1, 0.25, 0.5]))
def test_a_label_is_what_semantics_say_of_the_distribution(weights: list[int], margin: float) -> None:
    # Ties and exact margins are frequent with so few weights.
    labeller = DomainLabeller(
        NgramEmbedder(), REGISTRY, replace(CONSTANTS, margin=margin, leak_margin=margin)
    )
    row = np.array(weights, dtype=np.float64) / sum(weights)
    label = labeller._decide(row, margin)
    leaves = dict(zip(REGISTRY.leaves, row.tolist(), strict=False))
    none = float(row[-1])
    ranked = sorted([*leaves.items(), (None, none)], key=lambda entry: -entry[1])
    branches = {
        parent: sum(mass for leaf, mass in leaves.items() if REGISTRY.parent_of(leaf) == parent)
        for parent in ("cs", "life")
    }
    above = sorted([*branches.items(), (None, none)], key=lambda entry: -entry[1])
    if ranked[0][0] is not None and ranked[0][1] - ranked[1][1] >= margin:
        expected = (ranked[0][0], REGISTRY.parent_of(ranked[0][0]), ranked[0][1], ranked[0][1] - ranked[1][1])
    elif above[0][0] is not None and above[0][1] - above[1][1] >= margin:
        expected = (None, DomainId(above[0][0]), above[0][1], above[0][1] - above[1][1])
    else:
        expected = (None, None, none, above[0][1] - above[1][1])
    assert (label.domain, label.parent, label.probability, label.margin) == expected
    assert label.distribution.none == none
    assert dict(label.distribution.probabilities) == leaves
    assert all(label.distribution.probability(leaf) == mass for leaf, mass in leaves.items())
    assert label.distribution.best() == max(leaves.items(), key=lambda entry: entry[1])


def test_labels_keep_the_order_and_do_not_depend_on_the_company() -> None:
    texts = ["simmer onion soup", "query joins table rows", "coach wins"]
    together = LABELLER.label(texts)
    assert together == tuple(label for text in texts for label in LABELLER.label([text]))
    assert LABELLER.label([]) == ()


def _section(document: str, text: str) -> SectionText:
    return SectionText(document=document, excerpt=text[:40], text=text)


def test_a_document_settles_what_a_section_leaves_open() -> None:
    open_section = _section("a", BETWEEN_SIBLINGS)
    others = [_section("a", f"query joins the table index and rows, part {n}. " * 8) for n in range(12)]
    alone, together = (
        LABELLER.label_sections([open_section]),
        LABELLER.label_sections([open_section, *others]),
    )
    assert (alone[0].domain, alone[0].parent) == (None, "cs")
    assert together[0].domain == DATABASES
    assert LABELLER.label_sections([open_section, *(replace(o, document="b") for o in others)])[0] == alone[0]


def test_a_section_of_another_domain_keeps_its_own_label() -> None:
    foreign = _section("a", "simmer onion soup")
    others = [_section("a", f"query joins the table index and rows, part {n}. " * 8) for n in range(12)]
    assert LABELLER.label_sections([foreign, *others])[0].domain == COOKING


def test_key_terms_below_the_excerpt_count() -> None:
    vague = "It was planned and then done by all of us there."
    (without,) = LABELLER.label_sections([_section("a", vague)])
    (with_terms,) = LABELLER.label_sections([_section("a", f"{vague} Simmer onion soup.")])
    assert with_terms.distribution.probability(COOKING) > without.distribution.probability(COOKING)


def test_a_blank_section_stays_unclassified_in_any_document() -> None:
    others = [_section("a", f"query joins the table index and rows, part {n}. " * 8) for n in range(12)]
    blank = LABELLER.label_sections([_section("a", "——"), *others])[0]
    assert (blank.domain, blank.parent, blank.probability) == (None, None, 1)
    assert LABELLER.label_sections([]) == ()


def test_two_threads_get_the_labels_that_one_gets() -> None:
    labeller = DomainLabeller(NgramEmbedder(), REGISTRY, CONSTANTS)
    texts = [f"query joins the table index, part {n}" for n in range(20)] + [
        "simmer onion soup",
        "coach wins",
    ]
    sections = [_section("a", text) for text in texts]
    expected = (LABELLER.label(texts), LABELLER.label_sections(sections))
    start = Barrier(2)

    def work(_: int) -> list[tuple[tuple[DomainLabel, ...], tuple[DomainLabel, ...]]]:
        start.wait(timeout=30)
        return [(labeller.label(texts), labeller.label_sections(sections)) for _ in range(4)]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(2))) == [[expected] * 4] * 2


def test_domains_of_a_goal_are_ranked_and_limited() -> None:
    ranked = LABELLER.domains_of_text("query the table index and simmer the onion")
    assert [entry.domain for entry in ranked][:2] == [DATABASES, COOKING]
    assert [entry.probability for entry in ranked] == sorted((e.probability for e in ranked), reverse=True)
    assert len(LABELLER.domains_of_text("query the table index and simmer the onion", limit=1)) == 1
    assert LABELLER.domains_of_text("zzz yyy xxx") == ()
