"""What the checks of a proposal find: a place, the agents and sub-tasks concerned, and words in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphs.contract import Lang
from graphs.lint import Severity
from orchestrator.shell.editing.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong with a proposal, or that the reviewer should know."""

    code: str
    """Stable; a code of `graphs.lint` or of the check that found it."""
    severity: Severity
    where: str
    """The place in the document, e.g. `assignment.n3`."""
    about: tuple[str, ...] = ()
    """The sub-tasks and agents that it concerns."""
    texts: Mapping[Lang, str]

    def render(self, lang: Lang) -> str:
        """Return one line: the place and the message with its next step."""
        return Problem(where=self.where, texts=self.texts).render(lang)


def error(code: str, where: str, texts: Mapping[Lang, str], *about: str) -> Finding:
    """Return a finding that refuses the proposal."""
    return Finding(code=code, severity="error", where=where, about=about, texts=texts)


def warning(code: str, where: str, texts: Mapping[Lang, str], *about: str) -> Finding:
    """Return a finding that is shown and refuses nothing."""
    return Finding(code=code, severity="warning", where=where, about=about, texts=texts)
