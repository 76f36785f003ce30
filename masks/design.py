"""Design an agent's mask from what its sub-tasks require."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Final

from masks.bands import DEFAULT_THRESHOLDS, MASK_MAX, MASK_MIN, Thresholds
from masks.domains import DomainId, DomainRegistry, Lang
from masks.errors import DesignError
from masks.vector import Mask, new_mask

REQUIRED_FLOOR: Final = Decimal("0.2")
"""Share of the MAIN band that every required domain gets, whatever its relevance (semantics 1)."""

REQUIRED_SPAN: Final = Decimal("0.8")
"""Share of the MAIN band that relevance decides (semantics 1)."""


class MaskOriginKind(StrEnum):
    """Say why a mask value is what it is (semantics 1)."""

    REQUIRED = "required"
    """A sub-task of the agent requires the domain."""
    NEIGHBOUR = "neighbour"
    """Only a neighbouring sub-task requires it."""
    FORBIDDEN = "forbidden"
    """The goal or the user forbids it."""
    DEFAULT = "default"
    """Nobody asked for it."""
    CATALOGUE = "catalogue"
    """The agent comes from a catalogue and brought its own value."""
    USER = "user"
    """The user set it in the review."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskOrigin:
    """Hold the origin of one value of a mask."""

    kind: MaskOriginKind
    relevance: float | None = None
    """The relevance in (0, 1] behind a REQUIRED value, else None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignedMask:
    """Pair a mask with the origin of every leaf's value."""

    mask: Mask
    origins: Mapping[DomainId, MaskOrigin]
    """One entry per leaf of the registry."""


def design_mask(
    agent: str,
    required: Mapping[DomainId, float],
    neighbours: Collection[DomainId],
    forbidden: Collection[DomainId],
    thresholds: Thresholds,
    registry: DomainRegistry,
) -> DesignedMask:
    """Return the mask of an agent designed for a set of sub-tasks (semantics 1).

    A required domain gets `required_value`, a domain only neighbours need `background_value`, a forbidden
    one -1, every other 0. A parent stands for its leaves; a leaf required twice keeps the higher relevance.
    A forbidden domain stays at -1 even if a neighbour needs it.

    Raises `DesignError` if a leaf is both required and forbidden or a relevance lies outside (0, 1], and
    `UnknownDomain` for a domain that the registry does not know.
    """
    wanted = _leaf_relevances(agent, required, registry)
    banned = {leaf for domain in forbidden for leaf in registry.leaves_under(domain)}
    both = sorted(banned & wanted.keys())
    if both:
        raise _conflict(agent, both[0])
    near = {leaf for domain in neighbours for leaf in registry.leaves_under(domain)}

    values: dict[DomainId, int] = {}
    origins: dict[DomainId, MaskOrigin] = {}
    for leaf in registry.leaves:
        if leaf in banned:
            values[leaf], origins[leaf] = MASK_MIN, MaskOrigin(kind=MaskOriginKind.FORBIDDEN)
        elif leaf in wanted:
            values[leaf] = required_value(wanted[leaf], thresholds)
            origins[leaf] = MaskOrigin(kind=MaskOriginKind.REQUIRED, relevance=wanted[leaf])
        elif leaf in near:
            values[leaf] = background_value(thresholds)
            origins[leaf] = MaskOrigin(kind=MaskOriginKind.NEIGHBOUR)
        else:
            origins[leaf] = MaskOrigin(kind=MaskOriginKind.DEFAULT)
    return DesignedMask(mask=new_mask(agent, values), origins=origins)


def catalogue_mask(mask: Mask, registry: DomainRegistry) -> DesignedMask:
    """Return a catalogue agent's own mask, each value marked as brought along.

    Raises `UnknownDomain` if the mask lists a domain that is no leaf of the registry.
    """
    mask.check_against(registry)
    origins = {leaf: MaskOrigin(kind=MaskOriginKind.CATALOGUE) for leaf in registry.leaves}
    return DesignedMask(mask=mask, origins=origins)


def required_value(relevance: float, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> int:
    """Return `theta_main + (1 - theta_main) x (0.2 + 0.8 x relevance)` in hundredths (semantics 1).

    Rounded half up to the grid and never below the first value above theta_main, so it is MAIN for every
    pair of thresholds and every relevance in (0, 1]. Never falls when the relevance rises.

    Raises `DesignError` for a relevance outside (0, 1].
    """
    if not 0 < relevance <= 1:
        raise _relevance(relevance)
    share = REQUIRED_FLOOR + REQUIRED_SPAN * Decimal(repr(float(relevance)))
    exact = thresholds.main + (MASK_MAX - thresholds.main) * share
    rounded = int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))
    return max(thresholds.main + 1, rounded)


def background_value(thresholds: Thresholds = DEFAULT_THRESHOLDS) -> int:
    """Return the midpoint of theta_bg and theta_main in hundredths (semantics 1).

    A tie rounds up: with thresholds one step apart the lower neighbour would be SILENT.
    """
    return math.ceil((thresholds.background + thresholds.main) / 2)


def render_origin(origin: MaskOrigin, lang: Lang) -> str:
    """Return the origin of a value as the review shows it.

    >>> render_origin(MaskOrigin(kind=MaskOriginKind.REQUIRED, relevance=0.8), "en")
    'required by its sub-tasks (relevance 0.80)'
    """
    text = _ORIGIN_TEXT[origin.kind][lang]
    if origin.relevance is None:
        return text
    detail = f"{origin.relevance:.2f}"
    return f"{text} (relevance {detail})" if lang == "en" else f"{text}（相关度 {detail}）"


_ORIGIN_TEXT: Final[Mapping[MaskOriginKind, Mapping[Lang, str]]] = {
    MaskOriginKind.REQUIRED: {"en": "required by its sub-tasks", "zh": "其子任务所需"},
    MaskOriginKind.NEIGHBOUR: {"en": "required by neighbouring sub-tasks only", "zh": "仅相邻子任务所需"},
    MaskOriginKind.FORBIDDEN: {"en": "forbidden by the goal or the user", "zh": "目标或用户禁止"},
    MaskOriginKind.DEFAULT: {"en": "not asked for", "zh": "未涉及"},
    MaskOriginKind.CATALOGUE: {"en": "brought by the catalogue agent", "zh": "目录 agent 自带"},
    MaskOriginKind.USER: {"en": "set by the user", "zh": "用户设定"},
}


def _leaf_relevances(
    agent: str, required: Mapping[DomainId, float], registry: DomainRegistry
) -> dict[DomainId, float]:
    relevances: dict[DomainId, float] = {}
    for domain, relevance in required.items():
        if not 0 < relevance <= 1:
            raise _relevance(relevance, agent, domain)
        for leaf in registry.leaves_under(domain):
            relevances[leaf] = max(relevance, relevances.get(leaf, 0.0))
    return relevances


def _relevance(relevance: float, agent: str = "", domain: str = "") -> DesignError:
    where_en = f" of domain {domain!r} for agent {agent!r}" if domain else ""
    where_zh = f"agent {agent!r} 的知识域 {domain!r} 的" if domain else ""
    return DesignError(
        en=(
            f"Relevance {relevance!r}{where_en} is not accepted. Accepted: above 0, at most 1. Correct the "
            "plan."
        ),
        zh=f"{where_zh}相关度 {relevance!r} 不可用。可接受：大于 0 且不超过 1。请修正计划。",
    )


def _conflict(agent: str, leaf: DomainId) -> DesignError:
    return DesignError(
        en=(
            f"Domain {leaf!r} is both required by a sub-task of agent {agent!r} and forbidden. Accepted: "
            "one of "
            f"the two. Drop the prohibition, or change the sub-task."
        ),
        zh=(
            f"知识域 {leaf!r} 既为 agent {agent!r} 的子任务所需，又被禁止。可接受：二者之一。"
            f"请取消禁令，或修改该子任务。"
        ),
    )
