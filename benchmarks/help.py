"""How long a person waits for `maskgrad --help`, beside what importing the command-line library alone takes.

`python -m benchmarks.help` starts both in turn, each in a process of its own; what counts is the ratio of each turn.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.contract import Report, common_options, common_parser, finish, mean

ROOT: Final = Path(__file__).resolve().parents[1]
TURNS: Final = 11
HELP: Final = (sys.executable, "-m", "orchestrator.interfaces.cli", "--help")
FLOOR: Final = (sys.executable, "-c", "import typer")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; return 0."""
    parser = common_parser("help", "How long --help takes, over the import of typer alone.", with_data=False)
    parser.add_argument("--turns", type=int, default=TURNS, help="starts of each (%(default)s)")
    given = parser.parse_args(argv)
    if given.turns < 1:
        parser.error(f"--turns is {given.turns}; give a whole number from 1")
    options = common_options(parser, given)
    report = Report(benchmark="help", seed=options.seed)
    ours, floor = [], []
    for _ in range(given.turns):
        floor.append(_seconds(FLOOR))
        ours.append(_seconds(HELP))
    ratios = [one / other for one, other in zip(ours, floor, strict=True)]
    report.figures["help.over_typer"] = mean(ratios, "times", options.seed)
    report.figures["help.seconds"] = mean(ours, "s", options.seed)
    report.beside["help.seconds.import_typer"] = mean(floor, "s", options.seed)
    report.conditions["median ratio"] = f"{statistics.median(ratios):.2f} (at most 2.5 is wanted)"
    finish(report, options)
    return 0


def _seconds(command: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
