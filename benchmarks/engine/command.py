"""The engine on loads of known shape, beside plain asyncio and beside LangGraph with a node per sub-task ("G").

`python -m benchmarks.engine [--rounds N] [--only w1,w2] [--seed N] [--json]` measures, `--costs` says what each part of
a sub-task costs. Everything is on: masks, leak scan, L1 and L2, event log, checkpoints, SQLite store. Ours and the
peers take turns in one process; a figure is the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.contract import Report, common_options, common_parser, finish
from benchmarks.engine.costs import as_markdown, take_costs
from benchmarks.engine.figures import PARTS, take_disk, warm_up
from benchmarks.engine.ours import conditions
from benchmarks.engine.sizes import MIN_ROUNDS, Sizes, tiny


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print; exits with code 2 on bad input."""
    parser = common_parser("engine", "the engine beside plain asyncio and LangGraph", with_data=False)
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS, help="of each comparison (%(default)s)")
    parser.add_argument("--only", default="", help=f"parts to take, with commas: {', '.join(PARTS)}")
    parser.add_argument("--costs", action="store_true", help="say what each part of a sub-task costs instead")
    parser.add_argument(
        "--lang", choices=["en", "zh"], default="en", help="of the table of --costs (%(default)s)"
    )
    parser.add_argument("--tiny", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    options = common_options(parser, given)
    if given.rounds < 1:
        parser.error(f"--rounds is {given.rounds}; give a whole number from 1, and {MIN_ROUNDS} for figures")
    parts = [part for part in given.only.split(",") if part] or list(PARTS)
    for part in parts:
        if part not in PARTS:
            parser.error(f"--only names {part!r}; accepted: {', '.join(PARTS)}")
    sizes = tiny(options.seed) if given.tiny else replace(Sizes(seed=options.seed), rounds=given.rounds)
    report = Report(benchmark="engine", seed=options.seed, conditions=conditions())
    warm_up(sizes)
    if given.costs:
        take_costs(report, sizes)
        print(report.as_json() if options.as_json else as_markdown(report, given.lang))
        return
    take_disk(report, sizes)
    for part in parts:
        if part != "fsync":
            PARTS[part](report, sizes)
    finish(report, options)
