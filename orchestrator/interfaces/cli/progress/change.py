"""One thing that an event changed: as fields for log lines and as a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graphs.plan import NodeId
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.streams import one_line

Weight = Literal["activity", "step", "attention"]
"""`activity`: nothing changed yet; `step`: a change of state; `attention`: something a person should notice."""

SENTENCE = 200
"""Characters of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that an event changed."""

    fields: tuple[tuple[str, object], ...]
    """For a log line; keys are English."""
    sentence: str
    """For people, on one line."""
    beside_fields: str = ""
    """The sentence as it stands beside the fields, where it would say their longest text once more; empty: as it is."""
    node: NodeId | None = None
    weight: Weight = "step"


class Teller:
    """Words changes in one language."""

    def __init__(self, lang: Lang) -> None:
        self.lang = lang

    def state(self, status: str, sentence: str, **fields: object) -> Change:
        """Return a change of the state of the run."""
        return Change(fields=(("run", status), *fields.items()), sentence=one_line(sentence, SENTENCE))

    def step(
        self,
        node: NodeId,
        fields: tuple[tuple[str, object], ...],
        said: str,
        title: str,
        *,
        weight: Weight = "step",
    ) -> Change:
        """Return a change of a sub-task."""
        sentence = one_line(f"{node} {title}: {said}" if title else f"{node}: {said}", SENTENCE)
        return Change(fields=fields, sentence=sentence, node=node, weight=weight)

    def title(self, state: RunState, node: NodeId) -> str:
        """Return the title of a sub-task; empty where the plan does not have it."""
        index = state.index
        return one_line(index.subtask(node).title, 60) if index is not None and node in index else ""

    def pick(self, en: str, zh: str) -> str:
        """Return the words in the language of the teller."""
        return pick(self.lang, en, zh)
