"""Say which repair a backtrack made."""

from __future__ import annotations

from typing import assert_never

from masks.bands import format_mask_value
from orchestrator.core.backtrack import (
    ChangeAgent,
    CorrectParameters,
    ExtendMask,
    InjectGuard,
    Repair,
    SetMask,
)
from orchestrator.interfaces.cli.problems import Lang, pick


def repair_fields(repair: Repair) -> tuple[tuple[str, object], ...]:
    """Return a repair as fields of a log line."""
    head = ("repair", repair.kind)
    match repair:
        case CorrectParameters():
            return (
                head,
                ("repaired", repair.node),
                ("params", tuple(sorted(repair.params))),
                ("guard", repair.guard),
            )
        case ExtendMask() | SetMask():
            change = f"{format_mask_value(repair.old)}->{format_mask_value(repair.new)}"
            return (head, ("domain", repair.domain), ("mask", change))
        case ChangeAgent():
            return (head, ("agent", f"{repair.old}->{repair.new}"))
        case InjectGuard():
            return (head, ("guard", repair.guard))
        case _:
            assert_never(repair)


def repair_words(repair: Repair, lang: Lang) -> str:
    """Return a repair in words."""
    match repair:
        case CorrectParameters():
            return pick(lang, f"parameters of {repair.node} corrected", f"修正 {repair.node} 的参数")
        case ExtendMask() | SetMask():
            change = f"{repair.domain} {format_mask_value(repair.old)} → {format_mask_value(repair.new)}"
            return pick(lang, f"mask changed: {change}", f"调整蒙版：{change}")
        case ChangeAgent():
            return pick(lang, f"agent {repair.old} → {repair.new}", f"改派 {repair.old} → {repair.new}")
        case InjectGuard():
            return pick(lang, f"told in addition: {repair.guard}", f"附加约束：{repair.guard}")
        case _:
            assert_never(repair)
