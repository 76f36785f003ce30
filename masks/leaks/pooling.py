"""Let the sections of one document inform each other: what a document is about is seldom said in each section.

A document is taken as a mixture of domains with a flat Dirichlet prior. The share of a domain in the rest of the
document multiplies its probability in a section; a section that clearly speaks of something else stays what it is,
because the prior keeps a share for every domain.
"""

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from masks.leaks.scoring import Matrix

PRIOR_SECTIONS: Final = 20.0
"""Weight of the flat prior, in sections. In documents put together from the registry's own exemplars (each left
out of its own score; most from one domain, some from another or from none) any value from 10 to 40 makes more labels
right and fewer wrong, 10 the most; sections of a real document share its title, so that they count for less."""

WHOLE_SECTION: Final = 300
"""Characters from which on a section has its full weight in its document."""


def section_weights(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the weight of each section in its document, in [0, 1]: its length, capped at `WHOLE_SECTION`."""
    return np.array([min(1.0, len(text.strip()) / WHOLE_SECTION) for text in texts], dtype=np.float64)


def pooled(mass: Matrix, documents: Sequence[Hashable], weights: NDArray[np.float64]) -> Matrix:
    """Return the distributions `mass` of sections, each seen with the others of its document.

    `documents` and `weights` (at least 0) have one entry per row. p'(k) is proportional to p(k) times
    (`PRIOR_SECTIONS` / columns + sum of the other sections' weighted p(k)). A document of one section keeps its
    distribution. The order of rows does not matter.
    """
    rows: dict[Hashable, list[int]] = {}
    for row, document in enumerate(documents):
        rows.setdefault(document, []).append(row)
    result = mass.copy()
    for members in rows.values():
        own = mass[members] * weights[members, None]
        shares = PRIOR_SECTIONS / mass.shape[1] + own.sum(axis=0) - own
        together = mass[members] * shares
        result[members] = together / together.sum(axis=1, keepdims=True)
    return result
