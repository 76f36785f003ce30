import pytest

from masks.domains import DomainId
from masks.leaks.calibration import Calibration
from masks.leaks.labels import DomainLabeller
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


def test_a_clear_sentence_is_told_apart() -> None:
    (label,) = LABELLER.label(["query joins the table index"])
    assert (label.domain, label.parent) == (DATABASES, "cs")
    assert label.probability == label.distribution.probability(DATABASES) > 0.5
    assert label.margin >= CONSTANTS.margin


def test_a_sentence_between_siblings_is_ambiguous_below_their_parent() -> None:
    (label,) = LABELLER.label(["table index query firewall attack"])
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


def test_labels_keep_the_order_and_do_not_depend_on_the_company() -> None:
    texts = ["simmer onion soup", "query joins table rows", "coach wins"]
    together = LABELLER.label(texts)
    assert together == tuple(label for text in texts for label in LABELLER.label([text]))
    assert LABELLER.label([]) == ()


def test_domains_of_a_goal_are_ranked_and_limited() -> None:
    ranked = LABELLER.domains_of_text("query the table index and simmer the onion")
    assert [entry.domain for entry in ranked][:2] == [DATABASES, COOKING]
    assert [entry.probability for entry in ranked] == sorted((e.probability for e in ranked), reverse=True)
    assert len(LABELLER.domains_of_text("query the table index and simmer the onion", limit=1)) == 1
    assert LABELLER.domains_of_text("zzz yyy xxx") == ()
