"""What is wrong with an edited proposal: where, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphs.contract import Lang
from orchestrator.core.errors import InvalidProposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that has to be corrected before the proposal can be put up for review."""

    where: str
    """The place in the document, e.g. `roster.A1.mask`; empty for the document as a whole."""
    line: int | None = None
    """1-based line of the document."""
    texts: Mapping[Lang, str]

    def render(self, lang: Lang) -> str:
        """Return one line: the place, then what is wrong, what is accepted and what to do.

        >>> Problem(where="plan", line=3, texts={"en": "got 'x'.", "zh": ""}).render("en")
        "plan (line 3): got 'x'."
        """
        if self.line is None:
            place = self.where
        else:
            line = f"line {self.line}" if lang == "en" else f"第 {self.line} 行"
            bracketed = f"{self.where} ({line})" if lang == "en" else f"{self.where}（{line}）"
            place = bracketed if self.where else line
        mark = ": " if lang == "en" else "："
        return f"{place}{mark}{self.texts[lang]}" if place else self.texts[lang]


class Problems:
    """Collects problems, so that all of them are shown at once."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def places(self) -> frozenset[str]:
        """The places at which something is wrong."""
        return frozenset(problem.where for problem in self._found)

    def add(self, where: str, line: int | None, *, en: str, zh: str) -> None:
        """Write down a problem."""
        self.extend((Problem(where=where, line=line, texts={"en": en, "zh": zh}),))

    def extend(self, problems: tuple[Problem, ...]) -> None:
        """Write down several problems; one that is known already is not repeated."""
        self._found.extend(problem for problem in problems if problem not in self._found)

    def raise_any(self) -> None:
        """Raise `InvalidProposal` with every problem, by line, if there is one."""
        if not self._found:
            return
        ordered = sorted(self._found, key=lambda problem: (problem.line is None, problem.line or 0))
        raise InvalidProposal(
            {
                "en": tuple(problem.render("en") for problem in ordered),
                "zh": tuple(problem.render("zh") for problem in ordered),
            }
        )
