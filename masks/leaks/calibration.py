"""Turn similarities into probabilities, with constants learned from the registry's own exemplars.

`p(leaf) = softmax(score / temperature)` over the leaves and one `none` entry, whose score is the larger of
the similarity to neutral texts and `none_score`. A text is told apart only if its best probability leads the
next by at least a margin; to call it a leak asks for a larger margin than to label it. The constants come
from a leave-one-out pass over the exemplar sentences, so they need no labelled data and can be recomputed
for any embedder and any registry.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from masks.domains import DomainRegistry
from masks.errors import CalibrationError
from masks.leaks.scoring import ExemplarIndex, Matrix
from masks.ports import Embedder

LABEL_PRECISION: Final = 0.90
"""Share of the told-apart exemplars that must be right, in leave-one-out; it fixes `margin`."""

LEAK_PRECISION: Final = 0.94
"""The same for `leak_margin`: a wrong accusation costs a regenerated output, a wrong label only weight."""

NONE_QUANTILE: Final = 0.02
"""Share of the exemplars that may score below `none_score` in their own domain; it fixes `none_score`."""

TEMPERATURES: Final = tuple(round(0.005 + 0.0025 * step, 4) for step in range(59))
"""Candidates for the temperature, 0.005 to 0.15: below, one class takes all; above, none leads."""

MARGINS: Final = tuple(round(0.01 * step, 2) for step in range(100))
"""Candidates for a margin, 0 to 0.99."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Hold the constants of one embedder, and what leave-one-out says about them."""

    embedder: str
    """`Embedder.name` that the constants belong to."""
    registry_sha256: str
    """`DomainRegistry.sha256` that they were computed with."""
    temperature: float
    none_score: float
    """Similarity below which a text belongs to no domain."""
    margin: float
    """Lead, in probability, below which two domains are not told apart."""
    leak_margin: float
    """Lead below which a sentence is not called a leak; at least `margin`."""
    accuracy: float
    """Share of the exemplars whose nearest domain is their own, in leave-one-out."""
    coverage: float
    """Share of the exemplars that `margin` tells apart."""
    leak_coverage: float
    """Share of the exemplars that `leak_margin` tells apart."""


def calibrate(embedder: Embedder, registry: DomainRegistry) -> Calibration:
    """Compute the constants for an embedder and a registry. Deterministic; encodes every exemplar once.

    The temperature minimises the negative log-likelihood of the true domain; each margin is the smallest at
    which the wanted share of the told-apart exemplars is right, or the one with the best share if that is
    never reached.

    Raises `CalibrationError` if the registry has fewer than two leaves.
    """
    return calibrate_index(ExemplarIndex(embedder, registry))


def calibrate_index(index: ExemplarIndex) -> Calibration:
    """Do what `calibrate` does with exemplars that are encoded already."""
    registry = index.registry
    if len(registry.leaves) < 2:
        raise _too_few(len(registry.leaves))
    scores, truth = index.leave_one_out()
    none = len(registry.leaves)
    own = scores[np.arange(len(truth)), truth][truth != none]
    none_score = round(float(np.quantile(own, NONE_QUANTILE)), 3)
    temperature = min(TEMPERATURES, key=lambda t: _loss(probabilities(scores, t, none_score), truth))
    mass = probabilities(scores, temperature, none_score)
    right = mass.argmax(axis=1) == truth
    leads = _lead(mass)
    margin = _margin(right, leads, LABEL_PRECISION)
    leak_margin = max(margin, _margin(right, leads, LEAK_PRECISION))
    return Calibration(
        embedder=index.embedder.name,
        registry_sha256=registry.sha256,
        temperature=temperature,
        none_score=none_score,
        margin=margin,
        leak_margin=leak_margin,
        accuracy=round(float(right.mean()), 4),
        coverage=round(float((leads >= margin).mean()), 4),
        leak_coverage=round(float((leads >= leak_margin).mean()), 4),
    )


def probabilities(scores: Matrix, temperature: float, none_score: float) -> Matrix:
    """Return the rows of `ExemplarIndex.scores` as distributions; the last column is the `none` mass."""
    logits = scores.copy()
    logits[:, -1] = np.maximum(logits[:, -1], none_score)
    logits = (logits - logits.max(axis=1, keepdims=True)) / temperature
    mass = np.exp(logits)
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def shipped_calibration(embedder: str) -> Calibration:
    """Return the constants that ship for an embedder's name.

    They stay usable with an extended registry; `calibrate` gives exact ones.
    Raises `CalibrationError` for an embedder without shipped constants.
    """
    for calibration in SHIPPED:
        if calibration.embedder == embedder:
            return calibration
    raise CalibrationError(
        en=(
            f"No calibration ships for the embedder {embedder!r}. Accepted: "
            f"{', '.join(repr(c.embedder) for c in SHIPPED)}. Compute one with "
            "`masks.leaks.calibration.calibrate`."
        ),
        zh=(
            f"没有随附嵌入模型 {embedder!r} 的校准值。可接受："
            f"{'、'.join(repr(c.embedder) for c in SHIPPED)}。"
            f"请用 `masks.leaks.calibration.calibrate` 计算。"
        ),
    )


SHIPPED: Final[tuple[Calibration, ...]] = (
    Calibration(
        embedder="use-multilingual-v3",
        registry_sha256="f9e4874557ac86e7ea11fc7afc4503e268d54b2a6f4a502009d6f8fd14c82459",
        temperature=0.0225,
        none_score=0.137,
        margin=0.6,
        leak_margin=0.78,
        accuracy=0.7282,
        coverage=0.5795,
        leak_coverage=0.4538,
    ),
)
"""Recomputed and compared by the tests; regenerate with `calibrate` when the taxonomy changes."""


def _loss(mass: Matrix, truth: NDArray[np.intp]) -> float:
    return float(-np.log(np.maximum(mass[np.arange(len(truth)), truth], 1e-12)).mean())


def _lead(mass: Matrix) -> Matrix:
    top = -np.sort(-mass, axis=1)[:, :2]
    return np.asarray(top[:, 0] - top[:, 1])


def _margin(right: NDArray[np.bool_], leads: Matrix, wanted: float) -> float:
    def precision(margin: float) -> float:
        kept = leads >= margin
        return float(right[kept].mean()) if kept.any() else 0.0

    reached = (margin for margin in MARGINS if precision(margin) >= wanted)
    return next(reached, max(MARGINS, key=precision))


def _too_few(leaves: int) -> CalibrationError:
    return CalibrationError(
        en=f"A registry with {leaves!r} leaves cannot be calibrated. Accepted: at least 2. Add domains.",
        zh=f"只有 {leaves!r} 个叶子的注册表无法校准。可接受：至少 2 个。请添加知识域。",
    )
