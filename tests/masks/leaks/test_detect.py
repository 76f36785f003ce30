from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from masks.bands import Band, Thresholds
from masks.domains import DomainId
from masks.errors import UnknownDomain
from masks.leaks import detect
from masks.leaks.detect import (
    LONGEST_REMEMBERED,
    REMEMBERED_LABELS,
    Detection,
    DetectionRequest,
    EmbeddingDetector,
    LeakDetector,
    SentenceSpan,
    excuses_ambiguity,
)
from masks.leaks.labels import DomainLabeller
from masks.vector import Mask, new_mask
from tests.masks import mask_strategies
from tests.masks.fakes import COOKING, DATABASES, SECURITY, SPORT, NgramEmbedder, small_registry
from tests.masks.leaks.test_labels import CONSTANTS

REGISTRY = small_registry()
DETECTOR = EmbeddingDetector(NgramEmbedder(), REGISTRY, CONSTANTS)
DATA, SAFE, COOK, RUN = (
    "query joins table rows.",
    "firewall blocks attacker.",
    "simmer onion soup.",
    "marathon medal.",
)
BETWEEN_SIBLINGS = "table index query password firewall attack."
CS_MAIN = new_mask("a", {DATABASES: 90, SECURITY: 80})


def spans(*texts: str) -> tuple[SentenceSpan, ...]:
    """Lay the sentences one blank apart."""
    placed, at = [], 0
    for text in texts:
        placed.append(SentenceSpan(text=text, start=at, end=at + len(text)))
        at += len(text) + 1
    return tuple(placed)


def _detect(mask: Mask, *texts: str, thresholds: Thresholds | None = None) -> Detection:
    request = DetectionRequest(sentences=spans(*texts), mask=mask, thresholds=thresholds or Thresholds())
    return DETECTOR.detect(request)


def _recorded() -> tuple[list[tuple[str, ...]], EmbeddingDetector]:
    """A detector, and what its embedder is asked to encode."""
    embedder = NgramEmbedder()
    detector = EmbeddingDetector(embedder, REGISTRY, CONSTANTS)
    embedder.calls.clear()
    return embedder.calls, detector


def test_a_sentence_that_comes_again_is_encoded_once_whatever_the_mask() -> None:
    asked, detector = _recorded()
    for mask in (CS_MAIN, new_mask("a", {COOKING: 90}), CS_MAIN):
        for texts in ((DATA, COOK, DATA), (COOK, SAFE), (SAFE, DATA, COOK)):
            request = DetectionRequest(sentences=spans(*texts), mask=mask)
            # A detector that has seen nothing yet remembers nothing.
            fresh = EmbeddingDetector(NgramEmbedder(), REGISTRY, CONSTANTS).detect(request)
            got = detector.detect(request)
            assert [(s.domain, s.start, s.end, s.sentences) for s in got.spans] == [
                (s.domain, s.start, s.end, s.sentences) for s in fresh.spans
            ]
            assert len(got.distributions) == len(texts)
            for mine, other in zip(got.distributions, fresh.distributions, strict=True):
                assert mine.masses == pytest.approx(other.masses, abs=1e-12)
    assert asked == [(DATA, COOK), (SAFE,)]


def test_of_many_sentences_those_asked_for_last_are_remembered() -> None:
    asked, detector = _recorded()

    def see(*texts: str) -> None:
        detector.detect(DetectionRequest(sentences=spans(*texts), mask=CS_MAIN))

    see("# Found")
    see(*(f"row {number}" for number in range(REMEMBERED_LABELS - 1)))
    see("# Found")
    see("one more")  # `row 0` is now the one that was not asked for the longest
    asked.clear()
    see("# Found", "row 1", "one more")
    assert asked == []
    see("row 0")
    assert asked == [("row 0",)]


def test_a_very_long_sentence_is_not_kept() -> None:
    asked, detector = _recorded()
    for text in ("x" * LONGEST_REMEMBERED, "x" * (LONGEST_REMEMBERED + 1)):
        for _ in range(2):
            detector.detect(DetectionRequest(sentences=spans(text), mask=CS_MAIN))
    assert [len(text) for (text,) in asked] == [1_000, 1_001, 1_001]


def test_threads_that_push_each_others_labels_out_get_what_one_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "REMEMBERED_LABELS", 2)
    _, detector = _recorded()
    orders = list(permutations((DATA, SAFE, COOK, RUN), 3)) * 8
    domain = {SAFE: SECURITY, COOK: COOKING, RUN: SPORT}

    def leaks(texts: tuple[str, ...]) -> list[DomainId]:
        request = DetectionRequest(sentences=spans(*texts), mask=new_mask("a", {DATABASES: 90}))
        return [span.domain for span in detector.detect(request).spans]

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(leaks, orders))
    assert found == [[domain[text] for text in texts if text != DATA] for texts in orders]


def test_use_of_main_domains_is_no_leak() -> None:
    detection = _detect(CS_MAIN, DATA, SAFE)
    assert detection.spans == ()
    assert len(detection.distributions) == 2


def test_neighbouring_sentences_of_one_domain_form_one_span() -> None:
    detection = _detect(CS_MAIN, DATA, COOK, COOK, SAFE, COOK, RUN)
    placed = spans(DATA, COOK, COOK, SAFE, COOK, RUN)
    assert [(span.domain, span.sentences) for span in detection.spans] == [
        (COOKING, (1, 2)),
        (COOKING, (4,)),
        (SPORT, (5,)),
    ]
    first = detection.spans[0]
    assert (first.start, first.end) == (placed[1].start, placed[2].end)
    mean = sum(detection.distributions[i].probability(COOKING) for i in (1, 2)) / 2
    assert first.probability == pytest.approx(mean)


def test_the_band_decides_and_the_thresholds_move_it() -> None:
    mask = new_mask("a", {DATABASES: 60})
    assert [span.domain for span in _detect(mask, DATA).spans] == [DATABASES]
    assert _detect(mask, DATA, thresholds=Thresholds(main=50)).spans == ()


def test_an_unclassified_sentence_is_never_a_leak() -> None:
    nothing_allowed = new_mask("a", dict.fromkeys(REGISTRY.leaves, -100))
    assert _detect(nothing_allowed, "zzz yyy xxx.", "", "……").spans == ()


def test_ambiguity_below_a_parent_is_excused_by_a_main_leaf() -> None:
    detection = _detect(new_mask("a", {DATABASES: 90}), BETWEEN_SIBLINGS)
    assert detection.spans == ()
    (ambiguous,) = detection.ambiguous
    assert (ambiguous.parent, ambiguous.sentence, ambiguous.start) == ("cs", 0, 0)
    assert ambiguous.end == len(BETWEEN_SIBLINGS)


def test_ambiguity_is_not_excused_without_a_main_leaf_or_with_one_below_zero() -> None:
    for values in ({DATABASES: 60, SECURITY: 60}, {SPORT: 90}):
        (span,) = _detect(new_mask("a", values), BETWEEN_SIBLINGS).spans
        assert span.domain in {DATABASES, SECURITY}
    best = _detect(new_mask("a"), BETWEEN_SIBLINGS).spans[0].domain
    other = SECURITY if best == DATABASES else DATABASES
    (span,) = _detect(new_mask("a", {best: -1, other: 90}), BETWEEN_SIBLINGS).spans
    assert span.domain == best


@given(mask_strategies.masks(), mask_strategies.thresholds())
def test_the_excuse_is_the_rule_word_by_word(mask: Mask, thresholds: Thresholds) -> None:
    cs = [DATABASES, SECURITY]
    expected = any(mask.value(leaf) > thresholds.main for leaf in cs) and not any(
        mask.value(leaf) < 0 for leaf in cs
    )
    assert excuses_ambiguity(DomainId("cs"), mask, thresholds, REGISTRY) is expected


@settings(max_examples=40)
@given(
    mask_strategies.masks(),
    mask_strategies.thresholds(),
    st.lists(st.sampled_from([DATA, SAFE, COOK, RUN, BETWEEN_SIBLINGS, "zzz."]), max_size=6),
)
def test_spans_are_outside_main_ordered_and_disjoint(
    mask: Mask, thresholds: Thresholds, texts: list[str]
) -> None:
    detection = _detect(mask, *texts, thresholds=thresholds)
    assert len(detection.distributions) == len(texts)
    covered = [index for span in detection.spans for index in span.sentences]
    assert covered == sorted(set(covered))
    for span in detection.spans:
        assert mask.band(span.domain, thresholds) is not Band.MAIN
        assert list(span.sentences) == list(range(span.sentences[0], span.sentences[-1] + 1))
    assert not set(covered) & {entry.sentence for entry in detection.ambiguous}


def test_a_foreign_mask_is_refused() -> None:
    with pytest.raises(UnknownDomain):
        _detect(new_mask("a", {DomainId("nowhere"): 90}), DATA)


def test_a_detector_can_share_a_labeller() -> None:
    embedder = NgramEmbedder()
    labeller = DomainLabeller(embedder, REGISTRY, CONSTANTS)
    encoded = len(embedder.calls)
    shared: LeakDetector = EmbeddingDetector.sharing(labeller)
    assert len(embedder.calls) == encoded
    request = DetectionRequest(sentences=spans(DATA, COOK), mask=CS_MAIN)
    assert shared.detect(request) == DETECTOR.detect(request)


def test_the_detector_names_what_it_rests_on() -> None:
    assert DETECTOR.name == f"exemplars/fake-ngrams@1/{REGISTRY.sha256[:12]}"
    assert _detect(CS_MAIN).detector == DETECTOR.name


def test_requests_and_detections_round_trip_as_json() -> None:
    request = DetectionRequest(sentences=spans(DATA, COOK), mask=CS_MAIN)
    detection = _detect(new_mask("a", {DATABASES: 90}), COOK, BETWEEN_SIBLINGS)
    requests, detections = TypeAdapter(DetectionRequest), TypeAdapter(Detection)
    assert requests.validate_json(requests.dump_json(request)) == request
    assert detections.validate_json(detections.dump_json(detection)) == detection
