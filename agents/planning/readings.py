"""What a goal was read as: the task types that the embedded planner knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchTask:
    """Questions to answer."""

    questions: tuple[str, ...]
    kind: Literal["research"] = "research"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareTask:
    """Things to put beside each other."""

    items: tuple[str, ...]
    """At least two."""
    aspects: tuple[str, ...]
    assumed_aspects: bool = False
    """Whether the goal named no aspect, so that these are ours."""
    scope: str = ""
    """Under what circumstances they are compared ("for use on farms"), as typed."""
    kind: Literal["compare"] = "compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseTask:
    """Main points to give."""

    topics: tuple[str, ...] = ()
    """Empty: everything in the sources."""
    per_document: bool = False
    kind: Literal["summarise"] = "summarise"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractTask:
    """A table to fill."""

    columns: tuple[str, ...]
    rows: tuple[str, ...] = ()
    """The things that get a row, where the goal names them."""
    each: str = ""
    """What gets a row ("contract"), where the goal only says of what kind."""
    kind: Literal["extract"] = "extract"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTask:
    """Statements to hold against the sources."""

    statements: tuple[str, ...] = ()
    """Empty: the statements of `document`."""
    document: str = ""
    previous: bool = False
    """Whether the statements are those that the tasks before give ("then check it")."""
    kind: Literal["check"] = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineTask:
    """A plan to draft."""

    title: str
    subject: str
    sections: tuple[str, ...] = ()
    """What the plan has to hold, where the goal says so."""
    kind: Literal["outline"] = "outline"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclearTask:
    """Words that name a subject and no task that we know."""

    topic: str
    comparison: bool = False
    """Whether it is a comparison whose things the goal does not name."""
    kind: Literal["unclear"] = "unclear"


Task = ResearchTask | CompareTask | SummariseTask | ExtractTask | CheckTask | OutlineTask | UnclearTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A pronoun that was read as the subject of an earlier question."""

    question: str
    pronoun: str
    """Empty where the subject was left out altogether."""
    referent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A goal as tasks and conditions."""

    tasks: tuple[Task, ...]
    """Empty: the text asks for nothing."""
    constraints: tuple[str, ...] = ()
    """Limits of length, format, language, time, sources; as typed."""
    prohibitions: tuple[str, ...] = ()
    """What is not to be done; as typed."""
    unresolved_allowed: bool = False
    """Whether the goal says that an open question may stay open."""
    context: tuple[str, ...] = ()
    """Sentences that ask for nothing and were kept as background."""
    carried: tuple[Carried, ...] = ()
    actions: tuple[str, ...] = ()
    """Verbs of what the goal wants done in the world ("send", "book"), as typed: nothing that a plan can do."""
