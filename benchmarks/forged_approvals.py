"""Tries to make calls on approvals that are not theirs: used, expired, foreign, changed. Two processes at once.

Each try goes the way of a real attempt (`orchestrator.shell.effect_calls`), down to the append that reserves the
approval. The tool writes down what it was really asked to do, so what was accepted is counted from outside. Nobody
holds the run's lease: the two processes meet at the head of the log, which is the last thing that parts them.

`python -m benchmarks.forged_approvals DATABASE FILE SEED TRIES` is one of the two processes.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from agents.broker import CallHeld
from agents.tools.contract import HeldCall, ToolCall, ToolOk, ToolResult, ToolSpec
from agents.tools.gate import Ask
from agents.tools.gate_reasons import Reason
from agents.tools.ports import NotPerformed
from benchmarks.engine.loads import Load
from benchmarks.engine.notes import Notes
from benchmarks.engine.ours import proposal_of
from graphs.contract import Lang
from graphs.plan import NodeId
from orchestrator.core.approvals import APPROVAL_TTL_S
from orchestrator.core.events import (
    AttemptHeld,
    AttemptStarted,
    Body,
    CallCommitted,
    ExecutorTookOver,
    ProposalApproved,
    ProposalDrafted,
    RequestAnswered,
    RequestOpened,
    RunCreated,
)
from orchestrator.core.going_back import ask_about_call
from orchestrator.core.ids import ArtefactId, ContentDigest, RunId
from orchestrator.core.proposal import digest_of, proposal_sha256
from orchestrator.core.reducer import initial
from orchestrator.core.requests import Answer
from orchestrator.core.state import RunState
from orchestrator.core.transition import BrokenLog
from orchestrator.shell.call_ledger import CallLedger
from orchestrator.shell.call_time import CallTime
from orchestrator.shell.clock import SystemClock
from orchestrator.shell.effect_calls import EffectCalls
from orchestrator.shell.ports import AttemptKey
from orchestrator.shell.runs import append, caught_up, load
from orchestrator.shell.spending import Spending
from orchestrator.shell.store.errors import HeadMoved
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.sqlite_store import SqliteStore

Kind = Literal["genuine", "stale", "expired", "foreign_node", "foreign_generation", "foreign_tool", "changed"]
KINDS: Final[tuple[Kind, ...]] = (
    "genuine",
    "stale",
    "expired",
    "foreign_node",
    "foreign_generation",
    "foreign_tool",
    "changed",
)
THE_CALL: Final = ("genuine", "stale")
"""The very call that was approved, by what is known now, or was before anything was made: the first one on
each approval is right, each further one is made on a used approval."""
RUN: Final = RunId("r-1")
NODES: Final = 40
"""Approvals that there are: each is for one call of one sub-task."""
PAY: Final = ToolSpec(
    name="pay",
    purpose="Pays.",
    when_to_use="In this benchmark.",
    when_not_to_use="Elsewhere.",
    input_schema={"type": "object"},
    output_schema={"type": "object"},
    scope="this benchmark",
    timeout_s=15.0,
    side_effect="external",
    permission="pay",
    error_codes=(),
    repeat="never",
)
ASKED: Final = Ask(tier="external", reasons=(Reason(code="acts_outside", tool="pay"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What came of the tries of both processes."""

    tries: int
    genuine: int
    """Approvals on which exactly the approved call was made."""
    forged: int
    """Calls that were made beyond that."""
    by_kind: Mapping[str, int]
    """Of those, how many of each kind; `used`: made again on an approval that was good for one call."""


def try_forgeries(tries: int, seed: int) -> Tried:
    """Let two processes make `tries` calls between them and return what was accepted, counted from what was done."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        store = SqliteStore(folder / "runs.db")
        _approve_all(store, folder)
        store.close()
        files = [folder / f"done-{number}.txt" for number in (1, 2)]
        processes = [
            subprocess.Popen(_command(folder / "runs.db", file, seed + place, tries // 2))
            for place, file in enumerate(files)
        ]
        codes = [process.wait() for process in processes]
        if codes != [0, 0]:
            raise RuntimeError(f"a process of the tries ended with {codes}")
        done = [line.split() for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    made = Counter(node for kind, node in done if kind in THE_CALL)
    wrong = Counter(kind for kind, _ in done if kind not in THE_CALL)
    wrong["used"] = sum(times - 1 for times in made.values())
    return Tried(tries=tries // 2 * 2, genuine=len(made), forged=wrong.total(), by_kind=wrong)


def _command(database: Path, file: Path, seed: int, tries: int) -> list[str]:
    return [
        sys.executable,
        "-m",
        "benchmarks.forged_approvals",
        str(database),
        str(file),
        str(seed),
        str(tries),
    ]


def _nodes() -> list[NodeId]:
    return [NodeId(f"n{number}") for number in range(1, NODES + 1)]


def _arguments(node: NodeId) -> dict[str, Any]:
    return {"to": f"supplier of {node}", "amount": 5}


def _digest(tool: str, arguments: Mapping[str, Any]) -> str:
    return digest_of({"tool": tool, "arguments": arguments})


def _approve_all(store: RunStore, folder: Path) -> None:
    """Make a run in which each sub-task's attempt goes on with an approved call."""
    clock = SystemClock()
    work = Load(name="calls", parents={node: () for node in _nodes()}, latency={})
    draft = proposal_of(work, Notes(folder=folder, outputs={}))
    sha256 = proposal_sha256(draft)
    store.create_run(RUN, draft.goal.text, clock.now())
    bodies: list[Body] = [
        RunCreated(goal=draft.goal.text, lang="en", sources=(), run_seed="seed", versions={}),
        ProposalDrafted(proposal=draft, sha256=sha256, author="planner"),
        ProposalApproved(revision=1, sha256=sha256, by="benchmark"),
        ExecutorTookOver(epoch=1, holder="benchmark"),
    ]
    state = append(store, clock, initial(RUN), bodies)
    for node in _nodes():
        started = AttemptStarted(
            node=node,
            generation=1,
            attempt=1,
            epoch=1,
            agent=draft.assignment[node],
            input_key=ContentDigest("key"),
        )
        held = HeldCall(
            why="approval_needed",
            step="work.1.0",
            index=0,
            tool="pay",
            arguments=_arguments(node),
            arguments_digest=_digest("pay", _arguments(node)),
            side_effect="external",
            tier="external",
        )
        state = append(
            store, clock, state, [started, AttemptHeld(node=node, generation=1, attempt=1, call=held)]
        )
        request = ask_about_call(state, state.node(node), held).request
        answered = RequestAnswered(
            request=request.id, node=node, answer=Answer(choice="approve"), by="user", at=clock.now()
        )
        state = append(store, clock, state, [RequestOpened(request=request), answered, started])


class _Pay:
    """Writes down every call that it is asked to make."""

    def __init__(self, spec: ToolSpec, done: Callable[[], None]) -> None:
        self.spec = spec
        self._done = done

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        raise AssertionError(f"an effect is performed: {arguments}")

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        del lang
        return str(arguments)

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        del arguments, key
        self._done()
        return ToolOk(summary="paid", data=None, source="bank")

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        del arguments, key
        return None


@dataclass(slots=True)
class _Forger:
    """One of the two processes."""

    store: RunStore
    file: Path
    state: RunState
    first: RunState
    """As it was in the beginning: whoever goes by it takes every approval for unused."""

    async def try_one(self, kind: Kind, node: NodeId, other: NodeId) -> None:
        """Make one call as `kind` says; whatever refuses it is right to."""
        self.state = caught_up(self.store, self.state)
        known = self.first if kind == "stale" else self.state
        arguments, tool, key = _arguments(node), PAY, AttemptKey(node=node, generation=1, attempt=1)
        words = known.node(node).words
        digest = _digest("pay", arguments)
        match kind:
            case "foreign_node":
                key = replace(key, node=other)
            case "foreign_generation":
                key = replace(key, generation=2)
            case "foreign_tool":
                # The word is brought under the digest of the other tool's call.
                tool = replace(PAY, name="transfer")
                digest, words = _moved(words, digest, _digest("transfer", arguments))
            case "changed":
                arguments = {**arguments, "amount": 50}
                digest, words = _moved(words, digest, _digest("pay", arguments))
            case _:
                pass

        def done() -> None:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{kind} {node}\n")

        calls = EffectCalls(key, "work.1.0", self._ledger(words, kind), "en")
        call = ToolCall(tool=tool.name, arguments=arguments)
        try:
            await calls.make(_Pay(tool, done), call, 0, digest, ASKED, _time())
        except (CallHeld, asyncio.CancelledError, BrokenLog):
            return

    def _ledger(self, words: Any, kind: Kind) -> CallLedger:
        now = datetime.now(UTC)
        if kind == "expired":
            now += timedelta(seconds=APPROVAL_TTL_S + 60)
        return CallLedger(
            run=RUN,
            recorded=self.state.node(NodeId("n1")).calls,
            load=_nothing_kept,
            keep=_keeps_nothing,
            keep_bytes=_keeps_nothing,
            allow_whole=lambda _: None,
            emit=lambda _: None,
            commit=self._commit,
            now=now.isoformat,
            words=words,
        )

    async def _commit(self, body: CallCommitted) -> bool:
        """Append, as the executor does; who comes second reads what the first one wrote and tries again."""
        while True:
            try:
                self.state = append(self.store, SystemClock(), caught_up(self.store, self.state), [body])
            except HeadMoved:
                continue
            return True


def _moved(words: Any, old: str, new: str) -> tuple[str, Any]:
    word = words.get(old)
    return new, words if word is None else words.insert(new, word)


def _time() -> CallTime:
    spending = Spending(SystemClock())
    return CallTime(
        tool=PAY.name, timeout_s=PAY.timeout_s, spending=spending, deadline_s=60.0, keep_bytes=_keeps_nothing
    )


def _keeps_nothing(_: object) -> ArtefactId:
    raise AssertionError("nothing is kept")


async def _nothing_kept(_: object) -> Any:
    raise AssertionError("nothing is kept")


async def _forge(database: Path, file: Path, seed: int, tries: int) -> None:
    store, chance = SqliteStore(database), Random(seed)
    file.touch()
    state = load(store, RUN)
    forger = _Forger(store, file, state, state)
    for _ in range(tries):
        node, other = chance.sample(_nodes(), 2)
        await forger.try_one(chance.choice(KINDS), node, other)
    store.close()


if __name__ == "__main__":
    asyncio.run(_forge(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
