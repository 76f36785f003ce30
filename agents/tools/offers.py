"""Which tools a model is told of: granted, there, and few enough to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from agents.models.contract import ToolOffer
from agents.retrieval.tokens import terms
from agents.tools.contract import ToolSpec
from agents.tools.ports import SometimesUnavailable, Tool
from agents.tools.told import offer_of, told_spec
from graphs.contract import Lang

MOST_OFFERED: Final = 12
"""Tools offered to one agent; with more, models choose wrong ones (seed 003, 2.3; semantics 8)."""


WhyNot = Literal["unknown", "unavailable", "too_many"]
"""`unknown`: no tool has the name; `unavailable`: it can't be used now; `too_many`: others fit the sub-task better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOffered:
    """A granted tool that the model is not told of, and why."""

    name: str
    why: WhyNot
    detail: str = ""
    """For `unavailable`: what the tool says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What an agent's model is told of."""

    tools: tuple[ToolOffer, ...]
    """By name: a prompt does not change with the order of grants."""
    left_out: tuple[NotOffered, ...]
    """By name, to be recorded."""


def offered_tools(
    tools: Mapping[str, Tool], granted: Iterable[str], lang: Lang, *, about: str, most: int = MOST_OFFERED
) -> Offered:
    """Return the offers of the granted tools that can be used now, at most `most`, in `lang`.

    When there are more, those stay whose purpose shares most words with `about`, the text of the sub-task; of equals,
    the first by name. A name that is granted and not known is left out and said so. Nothing is ever offered that is
    not granted.
    """
    left_out, usable = list[NotOffered](), list[ToolSpec]()
    for name in sorted(set(granted)):
        tool = tools.get(name)
        if tool is None:
            left_out.append(NotOffered(name=name, why="unknown"))
        elif (detail := _unavailable(tool)) is not None:
            left_out.append(NotOffered(name=name, why="unavailable", detail=detail))
        else:
            usable.append(tool.spec)
    if len(usable) > most:
        wanted = set(terms(about))
        usable.sort(key=lambda spec: (-len(wanted & _words(spec)), spec.name))
        left_out += [NotOffered(name=spec.name, why="too_many") for spec in usable[most:]]
    offers = sorted((offer_of(spec, lang) for spec in usable[:most]), key=lambda offer: offer.name)
    return Offered(tools=tuple(offers), left_out=tuple(sorted(left_out, key=lambda each: each.name)))


def _unavailable(tool: Tool) -> str | None:
    return tool.unavailable() if isinstance(tool, SometimesUnavailable) else None


def _words(spec: ToolSpec) -> set[str]:
    """The words of a tool in both languages: the sub-task may be written in either."""
    zh = told_spec(spec, "zh")
    said = (spec.name.replace("_", " "), spec.purpose, spec.when_to_use, zh.purpose, zh.when_to_use)
    return set(terms(" ".join(said)))
