"""Hypothesis strategies for thresholds, values and masks over the small registry."""

from hypothesis import strategies as st

from masks.bands import MASK_MAX, MASK_MIN, Thresholds
from masks.domains import DomainId
from masks.vector import Mask, new_mask
from tests.masks.fakes import COOKING, DATABASES, SECURITY, SPORT

LEAVES = (DATABASES, SECURITY, COOKING, SPORT)

values = st.integers(MASK_MIN, MASK_MAX)
leaves = st.sampled_from(LEAVES)


@st.composite
def thresholds(draw: st.DrawFn) -> Thresholds:
    """Draw any accepted pair."""
    main = draw(st.integers(1, MASK_MAX - 1))
    return Thresholds(main=main, background=draw(st.integers(0, main - 1)))


@st.composite
def masks(draw: st.DrawFn) -> Mask:
    """Draw version 1 of a mask over the small registry."""
    drawn: dict[DomainId, int] = draw(st.dictionaries(leaves, values))
    return new_mask(draw(st.text(max_size=8)), drawn)
