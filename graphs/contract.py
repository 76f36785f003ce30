"""What the user wants and when it counts as delivered.

A goal is the user's sentence, an intent is our reading of it, and a task contract is the part that
programs check: inputs, outputs, acceptance, limits (specification 2.1; 000 3.1). Success conditions
(`acceptance`) and stop conditions (`limits`) are two things: running out of a budget is never a
success (000 3.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final, Literal, get_args

from pydantic import ConfigDict

Lang = Literal["en", "zh"]
"""The two languages of everything that people read."""

PortType = Literal["text", "claims", "table", "report", "documents", "json"]
"""What flows along an edge of the plan.

- `text`: prose.
- `claims`: statements, each with its evidence.
- `table`: rows and columns.
- `report`: the delivered document.
- `documents`: sources as the user supplied them.
- `json`: any other structured value.
"""

CriterionKind = Literal[
    "question_answered", "field_filled", "artefact_exists", "claims_cited", "conflicts_shown", "custom"
]
"""How the acceptor checks a criterion.

- `question_answered`: the question of `Criterion.question` is answered (or, if the contract has
  `allow_unresolved`, left open with what was searched).
- `field_filled`: the field named by `Criterion.field` is there and not empty.
- `artefact_exists`: the output exists and parses.
- `claims_cited`: every core claim carries a source.
- `conflicts_shown`: sources that disagree are both shown.
- `custom`: only a person or a model can tell; never passed by a program.
"""

DELTA_MAX: Final = 0.05
"""Relative deviation up to which a measured quantity still counts as the same (semantics 4)."""

MAX_ACTIONS: Final = 24
"""Tool and model calls of one attempt under the research contract (000 3.1: limits of one agent's loop)."""

MAX_TOOL_CALLS: Final = 18
"""Tool calls of one attempt under the research contract (000 3.1)."""

DEADLINE_S: Final = 900.0
"""Seconds that one attempt may take under the research contract (000 3.1)."""

MAX_MODEL_TOKENS: Final = 60_000
"""Model input tokens of one sub-task (003 3.2)."""

MAX_MODEL_TIME_S: Final = 180.0
"""Seconds of model time of one sub-task (003 3.2)."""

MAX_STEPS_PER_NODE: Final = 12
"""Steps that a model may take for one attempt of a sub-task, a call each (003 3.2)."""

MAX_TRANSIENT_RETRIES: Final = 3
"""Retries of a class A blockage before it is re-classified (semantics 5)."""

MAX_REPAIR_DEPTH: Final = 3
"""Repairs other than A charged to a region before it suspends (specification 5.2, semantics 6)."""

MAX_ATTEMPTS_PER_NODE: Final = (1 + MAX_REPAIR_DEPTH) * (1 + MAX_TRANSIENT_RETRIES)
"""Attempts of one node under one approval: the first round and each repair, every one with its retries."""

FORBIDDEN_DOMAIN_PREFIX: Final = "domain:"
"""Marks an entry of `TaskContract.forbidden` as a knowledge domain id instead of free text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What the user typed and where to look."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    text: str
    """The user's words, unchanged."""
    lang: Lang
    """The language of the goal, and of everything delivered."""
    sources: tuple[str, ...] = ()
    """Folders and files that may be searched, as the user named them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambiguity:
    """A point that the goal leaves open (specification 2.1)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    id: str
    question: str
    """What the user should decide, as a question."""
    options: tuple[str, ...]
    """The readings we see, best first."""
    assumed: str
    """The reading that the proposal is built on until the user says otherwise."""

    @property
    def settled(self) -> bool:
        """Whether the user has decided it: then one reading is left."""
        return self.options == (self.assumed,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """Our reading of a goal (specification 2.1)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    objective: str
    """What the user finally wants, in one sentence."""
    constraints: tuple[str, ...] = ()
    """Format, time, quality, prohibitions."""
    assumptions: tuple[str, ...] = ()
    """What the user takes for granted without saying it."""
    ambiguities: tuple[Ambiguity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSpec:
    """One named, typed input or output of a sub-task or of the whole task."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    name: str
    type: PortType
    description: str = ""
    required: bool = True
    """False: the consumer works without it, and an input needs no edge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One condition of delivery."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    id: str
    text: str
    kind: CriterionKind
    core: bool = True
    """False: a miss is reported and does not make the run partial."""
    question: str | None = None
    """The question to answer; set for `question_answered`."""
    field: str | None = None
    """The name of the field to fill; set for `field_filled`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When an attempt must stop. Every default is a named constant of this module with its source."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    max_actions: int = MAX_ACTIONS
    """Tool and model calls of one attempt, at least 1."""
    max_tool_calls: int = MAX_TOOL_CALLS
    """Tool calls of one attempt, at least 0."""
    deadline_s: float = DEADLINE_S
    """Seconds of one attempt, above 0."""
    max_model_tokens: int = MAX_MODEL_TOKENS
    """Model input tokens of one attempt, at least 0 (0: no model may be called)."""
    max_model_time_s: float = MAX_MODEL_TIME_S
    """Seconds of model time of one attempt, at least 0."""
    max_steps_per_node: int = MAX_STEPS_PER_NODE
    """Model calls of one attempt, at least 1: each is a step of the model. Both paths and the repairs of an answer
    count together, tool calls don't (`max_tool_calls`)."""
    max_attempts_per_node: int = MAX_ATTEMPTS_PER_NODE
    """Attempts of one sub-task under one approval of its plan, at least 1; a person's answer grants one more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContract:
    """What has to be delivered, and under which conditions (000 3.1)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    kind: str
    """The class of task, such as `research` or `compare`; failure memory is keyed by it."""
    inputs: tuple[PortSpec, ...] = ()
    """What the user supplies. A sub-task reads one by declaring an input port of the same name."""
    outputs: tuple[PortSpec, ...] = ()
    acceptance: tuple[Criterion, ...] = ()
    limits: Limits = Limits()
    forbidden: tuple[str, ...] = ()
    """Free text, or `domain:<id>` for a knowledge domain that no agent may use."""
    approval_required: tuple[str, ...] = ()
    """Actions that a person approves one by one."""
    allow_unresolved: bool = False
    """True: a question honestly left open, with what was searched, counts as addressed."""
    delta_max: float = DELTA_MAX
    """In [0, 1]: the deviation of a measured quantity that is still accepted (semantics 4)."""


def forbidden_domains(contract: TaskContract) -> frozenset[str]:
    """Give the ids of the domains that the contract forbids.

    >>> sorted(forbidden_domains(TaskContract(kind="x", forbidden=("no guessing", "domain:law.tax"))))
    ['law.tax']
    """
    return frozenset(
        entry.removeprefix(FORBIDDEN_DOMAIN_PREFIX).strip()
        for entry in contract.forbidden
        if entry.startswith(FORBIDDEN_DOMAIN_PREFIX)
    )


_ACCEPTED: Final[Mapping[PortType, frozenset[str]]] = MappingProxyType(
    {
        "text": frozenset({"text", "report"}),
        "claims": frozenset({"claims"}),
        "table": frozenset({"table"}),
        "report": frozenset({"report"}),
        "documents": frozenset({"documents"}),
        "json": frozenset(get_args(PortType)),
    }
)


def port_accepts(consumer: PortType, producer: PortType) -> bool:
    """Tell whether an input of type `consumer` can take an output of type `producer`.

    Equal types fit; a report is also text, and `json` takes anything.
    """
    return producer in _ACCEPTED[consumer]
