"""Which tools a model is told of: granted, there, and few enough to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from agents.models.contract import ToolOffer
from agents.retrieval.tokens import terms
from agents.tools.contract import ToolSpec
from agents.tools.ports import SometimesUnavailable, Tool

MOST_OFFERED: Final = 12
"""Tools offered to one agent; with more, models choose wrong ones (seed 003, 2.3; semantics 8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOffered:
    """A granted tool that the model is not told of, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What an agent's model is told of."""

    tools: tuple[ToolOffer, ...]
    """By name: a prompt does not change with the order of grants."""
    left_out: tuple[NotOffered, ...]
    """By name, to be recorded."""


def offered_tools(
    tools: Mapping[str, Tool], granted: Iterable[str], *, about: str, most: int = MOST_OFFERED
) -> Offered:
    """Return the offers of the granted tools that can be used now, at most `most`.

    When there are more, those stay whose purpose shares most words with `about`, the text of the sub-task; of equals,
    the first by name. A name that is granted and not known is left out and said so. Nothing is ever offered that is
    not granted.
    """
    left_out, usable = list[NotOffered](), list[ToolSpec]()
    for name in sorted(set(granted)):
        tool = tools.get(name)
        why = f"no tool {name!r} is known" if tool is None else _unavailable(tool)
        if tool is None or why is not None:
            left_out.append(NotOffered(name=name, why=why or ""))
        else:
            usable.append(tool.spec)
    wanted = set(terms(about))
    ranked = sorted(usable, key=lambda spec: (-len(wanted & _words(spec)), spec.name))
    for spec in ranked[most:]:
        why = f"more than {most} tools are granted, and others fit the sub-task better"
        left_out.append(NotOffered(name=spec.name, why=why))
    offers = sorted((offer_of(spec) for spec in ranked[:most]), key=lambda offer: offer.name)
    return Offered(tools=tuple(offers), left_out=tuple(sorted(left_out, key=lambda each: each.name)))


def offer_of(spec: ToolSpec) -> ToolOffer:
    """Return a tool as a model is told of it: what for, when, when not, and what comes of it."""
    parts = [spec.purpose, f"Use it: {spec.when_to_use}", f"Do not use it: {spec.when_not_to_use}"]
    if spec.side_effect != "read":
        parts.append("It changes something, so that a call may have to be approved by a person first.")
    return ToolOffer(name=spec.name, description="\n".join(parts), input_schema=spec.input_schema)


def _unavailable(tool: Tool) -> str | None:
    return tool.unavailable() if isinstance(tool, SometimesUnavailable) else None


def _words(spec: ToolSpec) -> set[str]:
    return set(terms(f"{spec.name.replace('_', ' ')} {spec.purpose} {spec.when_to_use}"))
