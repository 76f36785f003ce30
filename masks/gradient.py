"""Change a mask, one recorded version at a time, and say how strongly each domain acts.

Every operation returns a new mask with `version + 1` and one `MaskChange` per touched leaf; the mask given
is left as it was. A parent domain stands for all leaves below it (semantics 1). `author` and `reason` must
say something, since the history is what a reviewer reads. All of them raise `UnknownDomain` for a domain
that the registry does not know and `GradientError` for an empty author or reason.
"""

from collections.abc import Iterable
from typing import Final

from masks.bands import (
    DEFAULT_THRESHOLDS,
    MASK_MAX,
    MASK_MIN,
    Band,
    Thresholds,
    band,
    check_m100,
    format_mask_value,
)
from masks.domains import DomainId, DomainRegistry
from masks.errors import GradientError, MaskValueError, NothingToUndo, SuppressedDomain
from masks.vector import Mask, MaskChange, MaskOperation, canonical_values

EXTENSION_STEP: Final = 10
"""How far above theta_bg an extension reaches, 0.10 (semantics 5, class C)."""


def set_value(
    mask: Mask, domain: DomainId, m100: int, *, registry: DomainRegistry, author: str, reason: str
) -> Mask:
    """Set a domain to `m100` hundredths; only this, `set_leaf` and `undo` lift a suppressed domain.

    Raises `MaskValueError` for a value outside -100..100.
    """
    new = check_m100(m100)
    targets = [(leaf, new) for leaf in registry.leaves_under(domain)]
    return _changed(mask, targets, operation="set", author=author, reason=reason)


def raise_by(
    mask: Mask, domain: DomainId, amount: int, *, registry: DomainRegistry, author: str, reason: str
) -> Mask:
    """Raise a domain by `amount` hundredths (1 to 200).

    Raises `MaskValueError` if a leaf would pass 1.00 or the amount is not positive, and `SuppressedDomain`
    for a leaf at -1.
    """
    _check_amount(amount)
    leaves = registry.leaves_under(domain)
    _refuse_suppressed(mask, leaves)
    targets = [(leaf, check_m100(mask.value(leaf) + amount)) for leaf in leaves]
    return _changed(mask, targets, operation="raise", author=author, reason=reason)


def lower_by(
    mask: Mask, domain: DomainId, amount: int, *, registry: DomainRegistry, author: str, reason: str
) -> Mask:
    """Lower a domain by `amount` hundredths (1 to 200).

    Raises `MaskValueError` if a leaf would fall below -1.00 or the amount is not positive.
    """
    _check_amount(amount)
    targets = [(leaf, check_m100(mask.value(leaf) - amount)) for leaf in registry.leaves_under(domain)]
    return _changed(mask, targets, operation="lower", author=author, reason=reason)


def extension_target(thresholds: Thresholds = DEFAULT_THRESHOLDS) -> int:
    """Return the value, in hundredths, that an extension sets: `min(theta_bg + 0.10, theta_main)`.

    It is BACKGROUND for every pair of thresholds (semantics 5, class C).
    """
    return min(thresholds.background + EXTENSION_STEP, thresholds.main)


def extend(
    mask: Mask,
    domain: DomainId,
    *,
    registry: DomainRegistry,
    author: str,
    reason: str,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
) -> Mask:
    """Open a silent domain as background, the repair of a capability gap (semantics 5, class C).

    Under a parent, only the silent leaves are opened. Raises `SuppressedDomain` if any of the leaves is at
    -1, whoever set it, and `GradientError` if none is silent.
    """
    leaves = registry.leaves_under(domain)
    _refuse_suppressed(mask, leaves)
    silent = [leaf for leaf in leaves if mask.band(leaf, thresholds) is Band.SILENT]
    if not silent:
        raise _already_open(mask, domain, thresholds)
    targets = [(leaf, extension_target(thresholds)) for leaf in silent]
    return _changed(mask, targets, operation="extend", author=author, reason=reason)


def set_leaf(mask: Mask, leaf: DomainId, m100: int, *, author: str, reason: str) -> Mask:
    """Set one leaf to `m100` hundredths; for callers that hold no registry, so whether it exists is not checked.

    Raises `MaskValueError` for a value outside -100..100.
    """
    return _changed(mask, [(leaf, check_m100(m100))], operation="set", author=author, reason=reason)


def extend_leaf(
    mask: Mask, leaf: DomainId, *, author: str, reason: str, thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Mask:
    """Open one silent leaf as background, as `extend` does; whether the leaf exists is not checked.

    Raises `SuppressedDomain` for a leaf at -1 and `GradientError` for one that is not silent.
    """
    _refuse_suppressed(mask, [leaf])
    if mask.band(leaf, thresholds) is not Band.SILENT:
        raise _already_open(mask, leaf, thresholds)
    targets = [(leaf, extension_target(thresholds))]
    return _changed(mask, targets, operation="extend", author=author, reason=reason)


def suppress(mask: Mask, domain: DomainId, *, registry: DomainRegistry, author: str, reason: str) -> Mask:
    """Set a domain to -1; only a person lifts that again."""
    targets = [(leaf, MASK_MIN) for leaf in registry.leaves_under(domain)]
    return _changed(mask, targets, operation="suppress", author=author, reason=reason)


def undo(mask: Mask, *, author: str, reason: str) -> Mask:
    """Take the last operation back by appending its inverse; undoing twice restores it.

    Raises `NothingToUndo` for a mask without changes.
    """
    if not mask.changes:
        raise NothingToUndo(mask.agent, mask.version)
    last = mask.changes[-1].version
    targets = [(change.domain, change.old) for change in mask.changes if change.version == last]
    return _changed(mask, targets, operation="undo", author=author, reason=reason)


def selection_weight(
    m100: int, thresholds: Thresholds = DEFAULT_THRESHOLDS, *, background_open: bool
) -> float:
    """Return the weight in [0, 1] of a domain's material in selection.

    `(m - theta_bg) / (1 - theta_bg)` in an open band, 0 in a closed one. MAIN is always open, BACKGROUND if
    `background_open` (path 2), SILENT never (semantics 1, 3). Inside an open band the weight rises strictly
    with m and lies in (0, 1]; one formula over both bands keeps background below main material.
    Raises `MaskValueError` outside -100..100.

    >>> [round(selection_weight(m, background_open=True), 3) for m in (30, 31, 50, 71, 100)]
    [0.0, 0.014, 0.286, 0.586, 1.0]
    >>> selection_weight(50, background_open=False)
    0.0
    """
    where = band(m100, thresholds)
    if where is Band.SILENT or (where is Band.BACKGROUND and not background_open):
        return 0.0
    return (m100 - thresholds.background) / (MASK_MAX - thresholds.background)


def _changed(
    mask: Mask,
    targets: Iterable[tuple[DomainId, int]],
    *,
    operation: MaskOperation,
    author: str,
    reason: str,
) -> Mask:
    _check_signed(mask, author=author, reason=reason)
    values = dict(mask.values)
    version = mask.version + 1
    changes = []
    for domain, new in targets:
        changes.append(
            MaskChange(
                version=version,
                domain=domain,
                old=mask.value(domain),
                new=new,
                author=author,
                reason=reason,
                operation=operation,
            )
        )
        values[domain] = new
    return Mask(
        agent=mask.agent,
        version=version,
        values=canonical_values(values),
        changes=(*mask.changes, *changes),
    )


def _refuse_suppressed(mask: Mask, leaves: Iterable[DomainId]) -> None:
    for leaf in leaves:
        if mask.value(leaf) == MASK_MIN:
            raise SuppressedDomain(mask.agent, leaf)


def _check_amount(amount: int) -> None:
    if type(amount) is not int or amount <= 0:
        raise MaskValueError(amount)


def _check_signed(mask: Mask, *, author: str, reason: str) -> None:
    for field, text in (("author", author), ("reason", reason)):
        if not text.strip():
            raise GradientError(
                en=(
                    f"The change to the mask of agent {mask.agent!r} has the {field} {text!r}. Accepted: a "
                    "text "
                    f"that says who changes it and why. Give one."
                ),
                zh=(
                    f"对 agent {mask.agent!r} 蒙版的修改，{field} 为 {text!r}。可接受：说明由谁、"
                    "为何修改的文字。请补上。"
                ),
            )


def _already_open(mask: Mask, domain: DomainId, thresholds: Thresholds) -> GradientError:
    value = format_mask_value(mask.value(domain))
    ceiling = format_mask_value(thresholds.background)
    return GradientError(
        en=(
            f"Domain {domain!r} of agent {mask.agent!r} is not silent (value {value}), so there is nothing "
            "to "
            f"extend. Accepted: a domain at most at {ceiling}. Use `raise_by`, or change the agent."
        ),
        zh=(
            f"agent {mask.agent!r} 的知识域 {domain!r} 并非静默（值为 {value}），无需扩展。可接受：不高于 "
            f"{ceiling} 的知识域。"
            f"请用 `raise_by`，或更换 agent。"
        ),
    )
