"""The kinds of ids of a run, and what each identifies. None is made up here: they come in through ports or derive
from the log."""

from __future__ import annotations

from typing import NewType

RunId = NewType("RunId", str)
"""Identifies a run from its draft to its report, e.g. `r-7k2m9d`."""
RequestId = NewType("RequestId", str)
"""Identifies a question to a person: the run's id, `.q` and a number from 1, so that it can be answered alone."""
RegionId = NewType("RegionId", str)
"""Identifies nodes that were invalidated together: the node whose failure opened the region."""
ArtefactId = NewType("ArtefactId", str)
"""The SHA-256 of an artefact's bytes, in hex: where the store keeps it."""
ContentDigest = NewType("ContentDigest", str)
"""The SHA-256 of what an output says, without times: equal for equal work."""


def request_id(run: RunId, number: int) -> RequestId:
    """Return the id of a run's `number`-th request, counted from 1.

    >>> request_id(RunId("r-1"), 2)
    'r-1.q2'
    """
    return RequestId(f"{run}.q{number}")


def run_of_request(request: str) -> RunId:
    """Return the run that a request belongs to; raises `ValueError` for a text that is no request id.

    >>> run_of_request("r-1.q2")
    'r-1'
    """
    run, mark, number = request.rpartition(".q")
    if not run or not mark or not number.isdigit():
        raise ValueError(
            f"{request!r} is no request id; request ids look like 'r-7k2m9d.q1', see `maskgrad show RUN`"
        )
    return RunId(run)
