"""Find the spans of an output that use a domain outside the agent's MAIN band, whatever it declared."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

from masks.bands import DEFAULT_THRESHOLDS, Band, Thresholds
from masks.domains import DomainId, DomainRegistry
from masks.leaks.calibration import Calibration
from masks.leaks.labels import DomainDistribution, DomainLabel, DomainLabeller
from masks.ports import Embedder
from masks.vector import Mask

REMEMBERED_LABELS: Final = 512
"""Sentences whose labels a detector keeps, those that were asked for last: less than a megabyte."""

LONGEST_REMEMBERED: Final = 1_000
"""Characters of the longest sentence whose label is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSpan:
    """Hold one sentence of an output, markers removed, `text == output[start:end]`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRequest:
    """Hold all sentences of one output, in order, with the mask that it was written under."""

    sentences: tuple[SentenceSpan, ...]
    mask: Mask
    thresholds: Thresholds = DEFAULT_THRESHOLDS


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedSpan:
    """Hold a run of neighbouring sentences that use one domain outside the MAIN band."""

    domain: DomainId
    start: int
    end: int
    sentences: tuple[int, ...]
    """Indices into `DetectionRequest.sentences`, ascending and without gaps."""
    probability: float
    """Mean probability of the domain over the sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousSpan:
    """Hold a sentence that could not be told apart below `parent`, and is no leak (semantics 1)."""

    parent: DomainId
    start: int
    end: int
    sentence: int
    """Index into `DetectionRequest.sentences`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Hold what a detector says about one output."""

    distributions: tuple[DomainDistribution, ...]
    """One per sentence, in order."""
    spans: tuple[DetectedSpan, ...]
    """Leaks, in order of their start."""
    detector: str
    """Which detector spoke, with the version of what it rests on."""
    ambiguous: tuple[AmbiguousSpan, ...] = ()


class LeakDetector(Protocol):
    """Detect leaks in one output."""

    def detect(self, request: DetectionRequest) -> Detection:
        """Return one distribution per sentence and the leaks as spans.

        Raises `UnknownDomain` if the mask lists a domain that the detector's registry does not know.
        """


class EmbeddingDetector:
    """Detect leaks by nearest exemplar sentences; needs no model that writes.

    A sentence that comes again, as headings and the sentences of a second attempt do, keeps the label that it got: a
    label depends on nothing but the sentence. Several threads may call it.
    """

    __slots__ = ("_labeller", "_name", "_remembered")

    def __init__(self, embedder: Embedder, registry: DomainRegistry, calibration: Calibration) -> None:
        """Encode the exemplars of `registry` once."""
        self._use(DomainLabeller(embedder, registry, calibration))

    @classmethod
    def sharing(cls, labeller: DomainLabeller) -> Self:
        """Return a detector on a labeller that exists already, so that exemplars are encoded once a "
        "process."""
        detector = cls.__new__(cls)
        detector._use(labeller)
        return detector

    def _use(self, labeller: DomainLabeller) -> None:
        embedder = labeller.embedder
        self._labeller = labeller
        self._remembered: OrderedDict[str, DomainLabel] = OrderedDict()
        self._name = f"exemplars/{embedder.name}@{embedder.version}/{labeller.registry.sha256[:12]}"

    @property
    def name(self) -> str:
        """Identify method, embedder and registry."""
        return self._name

    def detect(self, request: DetectionRequest) -> Detection:
        """Return one distribution per sentence and the leaks as spans.

        A sentence told apart is a leak if its domain is not MAIN. One that is ambiguous below its parent is
        no leak if a leaf of the parent is MAIN and none is below 0; otherwise its most probable leaf there
        decides. An unclassified sentence is never a leak (semantics 1, 2).
        Raises `UnknownDomain` if the mask lists a domain that is no leaf of the registry.
        """
        request.mask.check_against(self._labeller.registry)
        labels = self._labels([sentence.text for sentence in request.sentences])
        leaking: list[tuple[int, DomainId]] = []
        ambiguous: list[AmbiguousSpan] = []
        for index, label in enumerate(labels):
            domain = self._used_domain(label, request)
            if domain is None and label.parent is not None:
                ambiguous.append(_ambiguous(label.parent, index, request))
            elif domain is not None and request.mask.band(domain, request.thresholds) is not Band.MAIN:
                leaking.append((index, domain))
        return Detection(
            distributions=tuple(label.distribution for label in labels),
            spans=_spans(leaking, labels, request),
            detector=self._name,
            ambiguous=tuple(ambiguous),
        )

    def _labels(self, texts: Sequence[str]) -> tuple[DomainLabel, ...]:
        known = {text: label for text in set(texts) if (label := self._recalled(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            new = self._labeller.label(missing, strict=True)
            known.update(zip(missing, new, strict=True))
            for text in missing:
                if len(text) <= LONGEST_REMEMBERED:
                    self._remembered[text] = known[text]
            while len(self._remembered) > REMEMBERED_LABELS:
                self._remembered.popitem(last=False)
        return tuple(known[text] for text in texts)

    def _recalled(self, text: str) -> DomainLabel | None:
        # Taken out and put back as the newest. Each step is one step for other threads too; who comes in between finds
        # nothing and labels the text again, which gives the same.
        label = self._remembered.pop(text, None)
        if label is not None:
            self._remembered[text] = label
        return label

    def _used_domain(self, label: DomainLabel, request: DetectionRequest) -> DomainId | None:
        if label.domain is not None or label.parent is None:
            return label.domain
        registry = self._labeller.registry
        if excuses_ambiguity(label.parent, request.mask, request.thresholds, registry):
            return None
        return _best_below(label, registry)


def excuses_ambiguity(parent: DomainId, mask: Mask, thresholds: Thresholds, registry: DomainRegistry) -> bool:
    """Say whether a text that is ambiguous below `parent` is no leak for this mask.

    True if a leaf of the parent is MAIN and none is below 0 (semantics 1).
    Raises `UnknownDomain` if the registry does not know `parent`.
    """
    leaves = registry.leaves_under(parent)
    some_main = any(mask.band(leaf, thresholds) is Band.MAIN for leaf in leaves)
    return some_main and all(mask.value(leaf) >= 0 for leaf in leaves)


def _best_below(label: DomainLabel, registry: DomainRegistry) -> DomainId | None:
    if label.parent is None:
        return None
    below = registry.leaves_under(label.parent)
    return max(below, key=label.distribution.probability)


def _ambiguous(parent: DomainId, index: int, request: DetectionRequest) -> AmbiguousSpan:
    sentence = request.sentences[index]
    return AmbiguousSpan(parent=parent, start=sentence.start, end=sentence.end, sentence=index)


def _spans(
    leaking: Iterable[tuple[int, DomainId]], labels: tuple[DomainLabel, ...], request: DetectionRequest
) -> tuple[DetectedSpan, ...]:
    runs: list[tuple[DomainId, list[int]]] = []
    for index, domain in leaking:
        if runs and runs[-1][0] == domain and runs[-1][1][-1] == index - 1:
            runs[-1][1].append(index)
        else:
            runs.append((domain, [index]))
    return tuple(
        DetectedSpan(
            domain=domain,
            start=request.sentences[indices[0]].start,
            end=request.sentences[indices[-1]].end,
            sentences=tuple(indices),
            probability=_mean([labels[i].distribution.probability(domain) for i in indices]),
        )
        for domain, indices in runs
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
