import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from masks.domains import DomainRegistry, default_registry
from masks.language import LANGS
from masks.leaks.scoring import (
    NEAREST_EXEMPLARS,
    PRODUCT_ROWS,
    PRODUCT_STEPS,
    ROWS_AT_ONCE,
    TERM_WEIGHT,
    TERMS_PER_NEAREST,
    ExemplarIndex,
    inner_products,
    neutral_texts,
)
from tests.masks.fakes import NgramEmbedder, record, small_registry


def _cosine(one: str, two: str) -> float:
    left, right = NgramEmbedder().encode([one, two]).astype(np.float64)
    return float(left @ right)


def _reference(text: str, exemplars: list[str], terms: list[str]) -> float:
    """The documented similarity, sentence by sentence."""

    def top(texts: list[str], count: int) -> float:
        best = sorted((_cosine(text, each) for each in texts), reverse=True)[:count]
        return sum(best) / len(best)

    nearest = max(1, round(len(terms) / TERMS_PER_NEAREST))
    return (1 - TERM_WEIGHT) * top(exemplars, NEAREST_EXEMPLARS) + TERM_WEIGHT * top(terms, nearest)


def test_a_similarity_is_the_documented_mix() -> None:
    registry = small_registry()
    text = "the query joins an index of the table"
    (row,) = ExemplarIndex(NgramEmbedder(), registry).scores([text])
    for column, leaf in enumerate(registry.leaves):
        domain = registry.get(leaf)
        exemplars, terms = (
            [t for lang in LANGS for t in part[lang]] for part in (domain.exemplars, domain.key_terms)
        )
        np.testing.assert_allclose(row[column], _reference(text, exemplars, terms), atol=1e-6)
    neutral = neutral_texts()
    exemplars, terms = (
        [t for lang in LANGS for t in part[lang]] for part in (neutral.exemplars, neutral.key_terms)
    )
    np.testing.assert_allclose(row[-1], _reference(text, exemplars, terms), atol=1e-6)


class RandomEmbedder:
    """A direction of its own for every text, the same each time: any domain may be the nearest."""

    name = "random"
    version = "1"
    dimension = 16

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [
            np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dimension) for text in texts
        ]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32)


def _mean_of_nearest(vector: NDArray[np.float64], others: NDArray[np.float64], count: int) -> float:
    return float(np.mean(sorted((float(vector @ other) for other in others), reverse=True)[:count]))


@pytest.mark.parametrize("shape", ["shipped", "uneven"])
def test_all_domains_are_scored_at_once_as_one_by_one(shape: str) -> None:
    registry = default_registry()
    if shape == "uneven":
        # Groups of 2 to 74 texts: what fills up the short ones must never count.
        sizes = [1, 2, 3, 5, 9, 37]
        registry = DomainRegistry.from_records(
            record(f"leaf{size}", exemplars=[f"{size} text {n}" for n in range(size)]) for size in sizes
        )
    embedder = RandomEmbedder()
    texts = [f"sentence {n}" for n in range(ROWS_AT_ONCE + 3)]
    scores = ExemplarIndex(embedder, registry).scores(texts)
    parts = [registry.get(leaf) for leaf in registry.leaves]
    groups = [(part.exemplars, part.key_terms) for part in parts]
    groups.append((neutral_texts().exemplars, neutral_texts().key_terms))
    assert scores.shape == (len(texts), len(groups))
    for row in (0, 1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 2):
        vector = embedder.encode([texts[row]])[0].astype(np.float64)
        for column, (exemplars, terms) in enumerate(groups):
            near, named = (
                embedder.encode([text for lang in LANGS for text in part[lang]]).astype(np.float64)
                for part in (exemplars, terms)
            )
            expected = (1 - TERM_WEIGHT) * _mean_of_nearest(
                vector, near, NEAREST_EXEMPLARS
            ) + TERM_WEIGHT * _mean_of_nearest(vector, named, max(1, round(len(named) / TERMS_PER_NEAREST)))
            np.testing.assert_allclose(scores[row, column], expected, rtol=0, atol=1e-12)


@given(st.lists(st.text(max_size=8), max_size=4))
def test_a_score_does_not_depend_on_the_company(texts: list[str]) -> None:
    index = ExemplarIndex(RandomEmbedder(), small_registry())
    alone = [index.scores([text])[0] for text in texts]
    for row, expected in zip(index.scores(texts), alone, strict=True):
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-12)


def test_exemplars_are_encoded_once() -> None:
    embedder = NgramEmbedder()
    index = ExemplarIndex(embedder, small_registry())
    index.scores(["a query"])
    index.scores(["another query", "a third"])
    assert embedder.calls[2:] == [("a query",), ("another query", "a third")]
    assert index.scores([]).shape == (0, 5)
    assert len(embedder.calls) == 4


def test_leaving_one_out_hides_the_sentence_and_its_translation() -> None:
    # Each exemplar of this registry has one twin, itself with a full stop, and nothing else in common.
    registry = DomainRegistry.from_records(
        [
            record("one", exemplars=["aaaa bbbb", "cccc dddd"]),
            record("two", exemplars=["eeee ffff", "gggg hhhh"]),
        ]
    )
    for leaf in registry.leaves:
        terms = {"en": ["zzzz"], "zh": ["yyyy"]}
        registry = registry.with_overrides([{"id": leaf, "key_terms": terms}])
    scores, truth = ExemplarIndex(NgramEmbedder(), registry).leave_one_out()
    own = scores[np.arange(len(truth)), truth][truth < 2]
    np.testing.assert_allclose(own, 0.0, atol=1e-6)
    assert truth.tolist()[:8] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_leaving_one_out_hides_the_nearest_key_term_of_the_own_domain_only() -> None:
    # Each exemplar repeats one key term of its domain; nothing else is shared, and one of 4 terms is averaged.
    words = {"one": ["aaaa", "bbbb"], "two": ["eeee", "ffff"]}
    registry = DomainRegistry.from_records(
        [
            {
                **record(leaf, exemplars=[f"{first} xxxx", f"{second} wwww"]),
                "key_terms": {"en": [first, second], "zh": ["zzzz", "yyyy"]},
            }
            for leaf, (first, second) in words.items()
        ]
    )
    index = ExemplarIndex(NgramEmbedder(), registry)
    hidden, truth = index.leave_one_out()
    own = hidden[np.arange(len(truth)), truth][truth < 2]
    np.testing.assert_allclose(own, 0.0, atol=1e-6)
    assert index.scores(["aaaa xxxx"])[0, 0] > TERM_WEIGHT * 0.5


def test_a_long_list_of_key_terms_brings_no_domain_nearer() -> None:
    short, long = ["aaaa", "bbbb"], ["cccc", "dddd", *(f"term{number:04}" for number in range(40))]
    registry = DomainRegistry.from_records(
        [
            {**record(leaf, exemplars=["xxxx"]), "key_terms": {"en": terms, "zh": terms}}
            for leaf, terms in (("one", short), ("two", long))
        ]
    )
    (row,) = ExemplarIndex(NgramEmbedder(), registry).scores(["aaaa cccc"])
    assert row[0] > row[1] > 0


def test_neutral_texts_exist_in_both_languages_and_belong_to_no_domain() -> None:
    neutral = neutral_texts()
    for lang in LANGS:
        assert len(neutral.exemplars[lang]) >= 15
        assert len(neutral.key_terms[lang]) >= 8
    registry = DomainRegistry.default()
    exemplars = {
        text for domain in registry.domains for lang in domain.exemplars for text in domain.exemplars[lang]
    }
    assert exemplars.isdisjoint(text for lang in LANGS for text in neutral.exemplars[lang])


@given(
    st.sampled_from([1, 2, PRODUCT_ROWS, PRODUCT_ROWS + 1, 45]),
    st.sampled_from([1, 3, 700]),
    st.sampled_from([1, 37, 512]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=25, deadline=None)
def test_a_product_in_blocks_is_the_product(rows: int, columns: int, dimension: int, seed: int) -> None:
    # Whole numbers: their products and sums are exact in any order, and Python adds them without BLAS.
    random = np.random.default_rng(seed)
    left = random.integers(-9, 10, size=(rows, dimension))
    right = random.integers(-9, 10, size=(columns, dimension))
    got = inner_products(left.astype(np.float64), right.astype(np.float64))
    assert got.shape == (rows, columns)
    for row in {0, rows // 2, rows - 1}:
        for column in {0, columns // 2, columns - 1}:
            pairs = zip(left[row].tolist(), right[column].tolist(), strict=True)
            assert got[row, column] == sum(one * other for one, other in pairs)


def test_no_product_is_large_enough_for_the_threads_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    multiply = np.matmul

    def counted(left: NDArray[np.float64], right: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        steps.append(left.shape[0] * left.shape[1] * right.shape[1])
        multiply(left, right, out=out)

    monkeypatch.setattr(np, "matmul", counted)
    left, right = np.ones((40, 512)), np.ones((1_724, 512))
    np.testing.assert_array_equal(inner_products(left, right), np.full((40, 1_724), 512.0))
    assert max(steps) <= PRODUCT_STEPS == 262_144
    assert sum(steps) == 40 * 512 * 1_724
    # Not so small either that the calls would cost more than the products.
    assert len(steps) <= 2 * sum(steps) / PRODUCT_STEPS
