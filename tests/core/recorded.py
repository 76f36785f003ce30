"""Makes the stored log of the fixtures: a small run with a backtrack, a held call, a request and its answer.

`python -m tests.core.recorded > tests/core/fixtures/log-v<EVENT_SCHEMA>.jsonl` writes it anew. Only for a new schema
version, into a new file: a stored log stays what it was, because logs of that version exist.
"""

from __future__ import annotations

import json
import sys

from orchestrator.core.claims import RootCause
from orchestrator.core.events import to_wire
from orchestrator.core.requests import Answer
from tests.core.builders import CONTRACTS, MEDICINE, failure, plan, proposal
from tests.core.simulation import RUN, Outcome, Simulation, fails, rejected


def recorded_run() -> Simulation:
    """b goes back to a, d's question is withdrawn, f is reused, c is extended, d asks again and gets a mask value."""
    simulation = Simulation(
        proposal(plan("a>b b>c a>d c~e d>e a>f")),
        {
            "b": [
                fails(failure("rate_limited", retry_after_s=2.0)),
                rejected(failure("falsified", cause=RootCause.INPUT, blamed="a")),
            ],
            "e": [Outcome(holds=1)],
            "c": [fails(failure("domain_closed", domain=CONTRACTS))],
            "d": [fails(failure("domain_closed", domain=MEDICINE))] * 2,
        },
        answers=[Answer(choice="set_mask", agent="A1", domain=MEDICINE, value=40), Answer(choice="approve")],
    )
    simulation.run()
    return simulation


if __name__ == "__main__":
    for event in recorded_run().log:
        sys.stdout.write(json.dumps(to_wire(RUN, event), ensure_ascii=False, sort_keys=True) + "\n")
