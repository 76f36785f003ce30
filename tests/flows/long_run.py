"""A long run of a scripted model with one giant result of a tool, measured in a process of its own.

    python -m tests.flows.long_run FOLDER CALLS MEGABYTES GIANTS

prints what it took as JSON: see `Measured`.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from agents.models.langchain import LangChainChat
from agents.models.scripted import CallTools, Reply, ScriptedChatModel
from agents.tools.contract import ToolOk, ToolResult, ToolSpec
from orchestrator.core.events import CallReturned
from orchestrator.core.ids import ArtefactId
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.flows.stage import set_stage, written
from tests.flows.test_model_runs import GOOD, draft

MIB: Final = 1 << 20
TOKENS_A_CALL: Final = 3_000
"""Of its prompt, on average; the contract allows so many times the number of calls."""
GIANTS: Final = ("giant", "giant, once more", "giant, for the last time")
"""What the model asks for to get a giant; it is the same each time."""
FIRST_GIANT: Final = 3
"""Which call of the model asks for it first; every other call after that asks again."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a run took."""

    status: str
    calls: int
    """Of the model."""
    imports_mib: float
    """Resident before anything was made: interpreter and modules."""
    peak_mib: float
    """Most that was ever resident."""
    wholes: list[str]
    """Where each result that is a giant is kept."""
    giant_bytes: int
    """Of the JSON of the giant, as the store keeps it."""
    log_bytes: int
    """Of all events of the run."""
    prompt_tokens: list[int]
    """Of each prompt, by the count that the scripted model gives as usage."""
    budgets: list[int]
    """Of each prompt: its share of what was left of the contract's tokens."""
    shown_chars: int
    """Of the longest message in which the giant was shown."""
    file_bytes: int
    """Of the store on disk."""


MEASURE: Final = ToolSpec(
    name="measure",
    purpose="Gives the measurements of a pump.",
    when_to_use="For measurements.",
    when_not_to_use="For anything else.",
    input_schema={
        "type": "object",
        "properties": {"pump": {"type": "string"}},
        "required": ["pump"],
    },
    output_schema={},
    scope="the test",
    timeout_s=60.0,
    side_effect="read",
    permission="measure",
    error_codes=(),
)


@dataclass
class Measuring:
    """A tool: a number for each name, and for `giant` so many megabytes of JSON."""

    megabytes: int
    made: int = 0

    spec: ToolSpec = MEASURE

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.made += 1
        pump = arguments["pump"]
        data: list[str] = [f"{pump}: {len(pump)} bar, 42 °C"]
        if pump in GIANTS:
            line = "水泵 giant: 4.0 bar, 42 °C, 380 m³/h; " * 25
            data = [f"{number:09d} {line}" for number in range(self.megabytes * MIB // len(line.encode()))]
        return ToolOk(summary=f"measured {pump}", data=data, source="pumps")


def script(calls: int, giants: int) -> list[Reply]:
    """The model's answers: each asks for another pump or for a giant, the last one ends it."""
    names = [f"pump {number}" for number in range(calls - 1)]
    for number, giant in enumerate(GIANTS[:giants]):
        names[FIRST_GIANT + 2 * number] = giant
    return [*(CallTools(calls=(("measure", {"pump": name}),)) for name in names), GOOD]


def measured(folder: Path, calls: int, megabytes: int, giants: int, imports_mib: float) -> Measured:
    """Make the run with its store in `folder`."""
    store = SqliteStore(folder / "runs.db")
    model = ScriptedChatModel.in_order(*script(calls, giants))
    stage = set_stage(written(folder / "notes"), store=store, tools={"measure": Measuring(megabytes)})
    stage.shop.worker_for = None
    stage.shop.chat_for = lambda _: LangChainChat(model, "scripted")
    made = draft(tools=("measure", "read_result"))
    allowed = calls * TOKENS_A_CALL
    limits = replace(
        made.contract.limits,
        max_steps_per_node=calls,
        max_actions=3 * calls,
        max_tool_calls=2 * calls,
        max_model_tokens=allowed,
    )
    run = stage.approved(replace(made, contract=replace(made.contract, limits=limits)))
    done = asyncio.run(stage.execute(run))
    peak_mib = peak()

    usages = [body.usage for body in stage.bodies(run, CallReturned) if body.call == "model"]
    tokens = [usage.input_tokens or 0 for usage in usages if usage is not None]
    budgets = [(allowed - sum(tokens[:step])) // (calls - step) for step in range(len(tokens))]
    wholes = [
        json.loads(store.get_artefact(body.result))["whole"]
        for body in stage.bodies(run, CallReturned)
        if body.call == "tool" and body.arguments.get("pump") in GIANTS
    ]
    shown = max(
        len(str(message.content))
        for request in model.requests
        for message in request
        if "水泵 giant" in str(message.content)
    )
    result = Measured(
        status=done.status,
        calls=len(model.requests),
        imports_mib=imports_mib,
        peak_mib=peak_mib,
        wholes=wholes,
        giant_bytes=len(store.get_artefact(ArtefactId(wholes[0]))),
        log_bytes=sum(len(stored.payload.encode()) for stored in store.events(run, 0)),
        prompt_tokens=tokens,
        budgets=budgets,
        shown_chars=shown,
        file_bytes=sum(path.stat().st_size for path in folder.glob("runs.db*")),
    )
    store.close()
    return result


def peak() -> float:
    """The most that was resident in this process until now, in MiB.

    On Linux from `VmHWM`: `ru_maxrss` survives `exec`, so it would give what the process that started this one took.
    """
    status = Path("/proc/self/status")
    if status.exists():
        field = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(field.split()[1]) * 1024 / MIB
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MIB


def main(argv: list[str]) -> int:
    folder, calls, megabytes, giants = Path(argv[0]), int(argv[1]), int(argv[2]), int(argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(json.dumps(asdict(measured(folder, calls, megabytes, giants, peak()))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
