"""A terminal in which the commands of a page are typed, and what the page shows is looked for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.harness import Called, call

LEFT_OUT: Final = "…"
PROGRAM: Final = ".venv/bin/maskgrad "


@dataclass(slots=True)
class Terminal:
    """Runs command lines of one page in one data directory, and checks what is shown of their output."""

    shop: Workshop
    home: Path
    run: str = "RUN"
    hash8: str = "HASH"
    last: Called = field(default_factory=lambda: Called(0, "", ""))

    def session(self, lines: Sequence[str]) -> None:
        """Type each line behind `$ ` and check that what follows it is shown."""
        starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            self.type(lines[start].removeprefix("$ "))
            self.shows(lines[start + 1 : end])

    def type(self, line: str) -> None:
        """Run `maskgrad …` or `echo $?`, with the placeholders filled in."""
        if line == "echo $?":
            self.last = Called(0, f"{self.last.code}\n", "")
            return
        words = [self._filled(word) for word in shlex.split(line)]
        assert words.pop(0) in ("maskgrad", PROGRAM.strip())
        self.last = call(*words, home=self.home, shop=self.shop)
        assert self.last.code in (0, 4), (line, self.last)
        shown = self.last.out + self.last.err
        for token in re.finditer(r"\b(r-\w{6})(?:@\d+-([0-9a-f]{8}))?", shown):
            self.run, self.hash8 = token[1], token[2] or self.hash8

    def shows(self, expected: Sequence[str]) -> None:
        """Check that each line was written, those of one stream in this order; `…` stands for what is left out."""
        places = {"out": 0, "err": 0}
        written = {"out": self.last.out.splitlines(), "err": self.last.err.splitlines()}
        for line in expected:
            if line == LEFT_OUT or not line.strip():
                continue
            where = next((s for s in written if self._find(line, written[s], places[s]) is not None), None)
            assert where is not None, (line, self.last.out, self.last.err)
            found = self._find(line, written[where], places[where])
            assert found is not None
            places[where] = found + 1

    def _find(self, line: str, written: Sequence[str], start: int) -> int | None:
        pattern = ".*".join(re.escape(part) for part in self._filled(line).split(LEFT_OUT))
        return next((n for n in range(start, len(written)) if re.fullmatch(pattern, written[n])), None)

    def _filled(self, text: str) -> str:
        return re.sub(r"\bRUN\b", self.run, re.sub(r"\bHASH\b", self.hash8, text))
