"""Kill runs at many points, and say at which one it made a difference.

    python -m tests.kill.many --points 200 --seed 7 [--workload w5] [--jobs 2] [--json]

Kills at `--points` random times, spread evenly over the workloads and over the time that each takes undisturbed, and
once at each boundary (every type of event that the undisturbed run records, a checkpoint, a transaction; each recorded
in memory only, before, inside and after its commit). Prints a line for each point; exits 1 if any of them differs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, get_args

from orchestrator.core.events import Event
from tests.kill.harness import Killer, Report
from tests.kill.points import AtCheckpoint, AtCommit, AtEvent, AtTime, Edge, When
from tests.kill.victims import W5, Victim

WORKLOADS: Final[Mapping[str, Victim]] = {
    "w5": W5(seed=1),
    "w5-other": W5(seed=2),
    "w5-failing": W5(seed=3, failing=0.1, searching=True),
    "w5-asking": W5(seed=4, failing=0.05, searching=True, asking=True),
}
"""60 sub-tasks with lognormal latencies each; `failing`: some fail once, some make recorded calls; `asking`: one is
refused by every agent until a person answers, from another connection, while the run is suspended."""

EDGES: Final[tuple[Edge, ...]] = get_args(Edge)
EVENT_EDGES: Final[tuple[Edge | Literal["recorded"], ...]] = ("recorded", *EDGES)


def boundaries(log: Sequence[Event], rnd: random.Random) -> Iterator[When]:
    """Give each kind of boundary once, each at an event or transaction of the undisturbed run that chance picks.

    Except for the events before the first execution, which are appended in one transaction when a run is made.
    """
    executed = [event for event in log if event.seq > _before_execution(log)]
    for type_ in sorted({event.body.type for event in executed}):
        for edge in EVENT_EDGES:
            bodies = [event.body for event in executed if event.body.type == type_]
            yield AtEvent(edge=edge, type=type_, node=getattr(rnd.choice(bodies), "node", None))
    accepted = sum(event.body.type == "attempt.verified" for event in executed)
    for edge in EDGES:
        # Of any sub-task: most of them end so soon that their checkpoint is never written.
        yield AtCheckpoint(edge=edge)
        yield AtCommit(edge=edge, number=rnd.randint(1, accepted // 2))


def _before_execution(log: Sequence[Event]) -> int:
    return next(event.seq for event in log if event.body.type == "proposal.approved")


def shown(when: When) -> str:
    """Return a point in a few words."""
    match when:
        case AtTime(seconds=seconds):
            return f"time {seconds:.3f} s"
        case AtEvent(edge=edge, type=type_, node=node):
            return f"{edge} {type_} {node or ''}".rstrip()
        case AtCheckpoint(edge=edge, node=node):
            return f"{edge} checkpoint {node or ''}".rstrip()
        case AtCommit(edge=edge, number=number):
            return f"{edge} commit {number}"


def rows(report: Report) -> list[str]:
    """Return the cells of a line: point, killed at seq, accepted by then, state and seq at the end, equal or not."""
    (killed,) = report.kills or (None,)
    return [
        shown(killed.when) if killed else "?",
        (f"{killed.seq}" if killed.struck else "not reached") if killed else "?",
        f"{len(killed.accepted)}" if killed else "?",
        f"{report.status} at {len(report.log)}",
        "equal" if report.equal else "; ".join(report.differences),
    ]


def kill_all(name: str, points: int, seed: int, with_boundaries: bool) -> list[tuple[str, Report]]:
    """Kill the runs of one workload and return what came of each."""
    rnd = random.Random(f"{seed} {name}")
    done: list[tuple[str, Report]] = []
    with TemporaryDirectory() as folder, Killer(WORKLOADS[name], Path(folder)) as killer:
        wanted: list[When] = list(boundaries(killer.calm_log, rnd)) if with_boundaries else []
        wanted += killer.random_times(points, rnd)
        while wanted:
            report = killer.kill(wanted.pop())
            say(" | ".join([name, *rows(report)]))
            done.append((name, report))
            if isinstance(report.kills[0].when, AtTime) and not report.kills[0].struck:
                # This process was quicker than the undisturbed one.
                wanted += killer.random_times(1, rnd)
    return done


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill.many", description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=200, help="random times in all")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--workload", action="append", choices=sorted(WORKLOADS), help="one of them; repeatable"
    )
    parser.add_argument("--no-boundaries", action="store_true", help="random times only")
    parser.add_argument("--jobs", type=int, default=2, help="workloads at a time")
    parser.add_argument("--json", action="store_true", help="the summary as JSON")
    asked = parser.parse_args(argv)
    names = asked.workload or list(WORKLOADS)
    shares = [asked.points // len(names) + (place < asked.points % len(names)) for place in range(len(names))]
    say(" | ".join(["workload", "point", "killed at seq", "accepted", "resumed", "result"]))
    with ThreadPoolExecutor(asked.jobs) as pool:
        jobs = [
            pool.submit(kill_all, name, share, asked.seed, not asked.no_boundaries)
            for name, share in zip(names, shares, strict=True)
        ]
        done = [one for job in jobs for one in job.result()]
    reports = [report for _, report in done]
    kills = [kill for report in reports for kill in report.kills]
    summary = {
        "points": len(reports),
        "killed at a random time": sum(isinstance(kill.when, AtTime) and kill.struck for kill in kills),
        "killed at a boundary": sum(not isinstance(kill.when, AtTime) and kill.struck for kill in kills),
        "equal": sum(report.equal for report in reports),
        "different": [[name, *rows(report)] for name, report in done if not report.equal],
    }
    say(json.dumps(summary) if asked.json else "\n".join(f"{key}: {value}" for key, value in summary.items()))
    return 0 if all(report.equal for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
