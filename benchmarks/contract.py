"""The contract that all benchmark commands share: options, figures with intervals, one JSON object.

`python -m benchmarks.<name> --data DIR [--set NAME]... [--limit N] [--seed N] [--json]`; a benchmark that makes its own
loads takes no `--data`. Progress goes to stderr, the result to stdout. Intervals are 95 %: bootstrap over rows for
means and paired differences, Wilson for rates.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

DEFAULT_SEED = 7
RESAMPLES = 2_000
_Z95 = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured value."""

    value: float
    low: float
    """Lower end of the 95 % interval."""
    high: float
    n: int
    """Rows that it was taken over."""
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asks for."""

    data: Path
    """Unused by benchmarks that make their own loads."""
    sets: tuple[str, ...]
    """Names of the sets to take; empty: all that the benchmark knows."""
    limit: int | None
    seed: int
    as_json: bool


@dataclass(slots=True, kw_only=True)
class Report:
    """The result of one benchmark run."""

    benchmark: str
    seed: int
    figures: dict[str, Figure] = field(default_factory=dict)
    """Ours."""
    beside: dict[str, Figure] = field(default_factory=dict)
    """Floors, peers and paired differences, on the same rows."""
    missing: dict[str, str] = field(default_factory=dict)
    """Figures that could not be taken, each with its reason."""
    conditions: dict[str, str] = field(default_factory=dict)
    """What the figures were taken under, where that is not plain from the benchmark's name."""
    started: float = field(default_factory=time.perf_counter)

    def as_json(self) -> str:
        """Return the one JSON object of the contract."""
        found: dict[str, Any] = {
            "benchmark": self.benchmark,
            "version": product_version(),
            "seed": self.seed,
            "figures": {key: _rounded(figure) for key, figure in sorted(self.figures.items())},
            "beside": {key: _rounded(figure) for key, figure in sorted(self.beside.items())},
            "seconds": round(time.perf_counter() - self.started, 1),
        }
        if self.missing:
            found["missing"] = self.missing
        if self.conditions:
            found["conditions"] = self.conditions
        return json.dumps(found, ensure_ascii=False, indent=1)

    def as_text(self) -> str:
        """Return the figures as aligned lines, floors and peers indented below."""
        lines = [f"{self.benchmark} (seed {self.seed}, {time.perf_counter() - self.started:.1f} s)"]
        entries = [("", self.figures), ("  beside ", self.beside)]
        for indent, figures in entries:
            for key, one in sorted(figures.items()):
                shown = f"{one.value:8.4f}  [{one.low:.4f}, {one.high:.4f}]  n={one.n}  {one.unit}"
                lines.append(f"{indent + key:<52}{shown}")
        lines += [f"{name}: {text}" for name, text in self.conditions.items()]
        lines += [f"missing {key}: {reason}" for key, reason in sorted(self.missing.items())]
        return "\n".join(lines)


class DataMissing(FileNotFoundError):
    """The folder of data sets, or a set in it, is not there."""


def read_options(name: str, about: str, argv: Sequence[str] | None = None) -> Options:
    """Return the common options of `python -m benchmarks.<name>`; exits with code 2 on bad input."""
    parser = common_parser(name, about)
    return common_options(parser, parser.parse_args(argv))


def common_parser(name: str, about: str, *, with_data: bool = True) -> argparse.ArgumentParser:
    """Return a parser of the common options, to which a benchmark may add its own.

    `with_data=False` leaves out the options that say which rows to take.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    if with_data:
        parser.add_argument(
            "--data", type=Path, required=True, help="folder with the data sets, searched deeply"
        )
        parser.add_argument(
            "--set", dest="sets", action="append", default=[], help="a set to take (repeatable)"
        )
        parser.add_argument("--limit", type=int, help="take at most this many rows of a set")
    else:
        parser.set_defaults(data=Path(), sets=[], limit=None)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of everything random (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def common_options(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Options:
    """Return the common options of what `parser` read; exits with code 2 on bad input."""
    if not given.data.is_dir():
        parser.error(f"--data is {str(given.data)!r}, which is no folder; give the folder with the data sets")
    if given.limit is not None and given.limit < 1:
        parser.error(f"--limit is {given.limit}; give a whole number from 1")
    return Options(
        data=given.data, sets=tuple(given.sets), limit=given.limit, seed=given.seed, as_json=given.json
    )


def finish(report: Report, options: Options) -> None:
    """Print the report in the form asked for."""
    print(report.as_json() if options.as_json else report.as_text())


def progress(text: str) -> None:
    """Say on stderr what is going on."""
    print(text, file=sys.stderr, flush=True)


def rows_of(folder: Path, name: str, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the rows of the set `name`: of `<name>.jsonl` or `<name>.<split>.jsonl` somewhere below `folder`.

    Raises `DataMissing` if there is none.
    """
    rows = list(_lines(file_of(folder, name)))
    return rows if limit is None else rows[:limit]


def file_of(folder: Path, name: str) -> Path:
    """Return the file of the set `name`, see `rows_of`; raises `DataMissing` if there is none."""
    files = sorted([*folder.rglob(f"{name}.jsonl"), *folder.rglob(f"{name}.*.jsonl")])
    if not files:
        raise DataMissing(f"no file {name!r}.*.jsonl below {str(folder)!r}; check --data")
    return files[0]


def mean(values: Sequence[float], unit: str, seed: int) -> Figure:
    """Return the mean with its bootstrap interval; raises `ValueError` for no values."""
    if not values:
        raise ValueError("a mean over no rows")
    array = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(seed).integers(0, len(array), size=(RESAMPLES, len(array)))
    low, high = np.quantile(array[draws].mean(axis=1), [0.025, 0.975])
    return Figure(value=float(array.mean()), low=float(low), high=float(high), n=len(array), unit=unit)


def difference(ours: Sequence[float], theirs: Sequence[float], unit: str, seed: int) -> Figure:
    """Return the mean of the paired differences ours - theirs; raises `ValueError` for unequal lengths."""
    return mean([a - b for a, b in zip(ours, theirs, strict=True)], unit, seed)


def rate(hits: int, n: int, unit: str) -> Figure:
    """Return a rate with its Wilson interval; raises `ValueError` for n = 0."""
    if n < 1:
        raise ValueError("a rate over no rows")
    p = hits / n
    centre = (p + _Z95**2 / (2 * n)) / (1 + _Z95**2 / n)
    half = _Z95 * sqrt(p * (1 - p) / n + _Z95**2 / (4 * n**2)) / (1 + _Z95**2 / n)
    return Figure(value=p, low=max(0.0, centre - half), high=min(1.0, centre + half), n=n, unit=unit)


def product_version() -> str:
    """Return the installed version of the product, `0+source` if it runs without being installed."""
    try:
        return version("maskgrad")
    except PackageNotFoundError:
        return "0+source"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _rounded(figure: Figure) -> dict[str, Any]:
    found = asdict(figure)
    return {key: round(value, 5) if isinstance(value, float) else value for key, value in found.items()}
