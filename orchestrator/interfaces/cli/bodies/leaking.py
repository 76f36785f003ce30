"""List the leaks of a run: where an agent used knowledge outside its MAIN band."""

from __future__ import annotations

from dataclasses import dataclass

from graphs.plan import NodeId, natural_key
from masks.bands import format_mask_value
from masks.leaks.provenance import Leak
from orchestrator.core.events import AttemptRejected, AttemptVerified, Event
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.looking import run_state
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.editing.wording import BANDS
from orchestrator.shell.runs import events_of

_SPAN = 120
"""Characters of a span that the list shows; `--json` holds all of it."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A leak with the attempt that it was found in."""

    node: NodeId
    generation: int
    attempt: int
    kept: bool
    """Whether the output that holds it is the accepted one."""
    leak: Leak


def leaks(session: Session, run: str) -> Result:
    """Return every leak of every checked attempt: undeclared first, then the strongest."""
    state = run_state(session, run)
    found = [entry for event in events_of(session.store(), state.run) for entry in _found_in(event, state)]
    found.sort(key=_order)
    if not found:
        note = session.pick("no leak was declared or detected", "没有声明或检测到泄漏")
        return Result(data={"run": state.run, "leaks": []}, notes=(note,))
    lines = [line for entry in found for line in _lines(session, entry)]
    return Result(data={"run": state.run, "leaks": [_document(e) for e in found]}, text="\n".join(lines))


def _found_in(event: Event, state: RunState) -> list[_Found]:
    body = event.body
    if not isinstance(body, AttemptVerified | AttemptRejected):
        return []
    node = state.nodes.get(body.node)
    accepted = node.accepted if node is not None and node.status == "accepted" else None
    kept = accepted is not None and accepted.output == body.output
    return [
        _Found(body.node, body.generation, body.attempt, kept and not leak.blocked, leak)
        for leak in body.leaks
    ]


def _order(entry: _Found) -> tuple[object, ...]:
    leak = entry.leak
    return (leak.declared, -leak.m100, natural_key(entry.node), entry.generation, entry.attempt, leak.start)


def _lines(session: Session, entry: _Found) -> tuple[str, str]:
    leak, pick = entry.leak, session.pick
    if not leak.declared:
        declared = pick("UNDECLARED", "未声明")
    elif leak.detected:
        declared = pick("declared", "已声明")
    else:
        declared = pick("declared only, not detected", "仅声明，未检出")
    origin = pick(leak.origin, {"source": "来源", "parametric": "参数化"}[leak.origin])
    where = one_line(leak.locator or "") or pick("nothing to trace", "无可追溯")
    kept = "" if entry.kept else pick("  (not in an accepted output)", "（不在已接受的输出中）")
    if leak.blocked:
        kept = pick("  (blocked and written again)", "（已阻断并重新生成）")
    noted = pick(
        f"  noted against {leak.agent} (rule {leak.noted})", f"  记在 {leak.agent} 名下（规则 {leak.noted}）"
    )
    name = session.registry.get(leak.domain).names[session.lang] if leak.domain in session.registry else ""
    head = (
        f"{declared}  {entry.node}  {leak.agent} → {leak.domain} {name}  "
        f"{BANDS[leak.band][session.lang]} {format_mask_value(leak.m100)}  {origin}  {where}{kept}"
        f"{noted if leak.noted else ''}"
    )
    # The file and its lines stand in the head; these count in what the agent wrote, from 1, the last one included.
    first, last = leak.start + 1, leak.end
    if leak.blocked:
        place = pick(
            f"characters {first}-{last} of the discarded text of {entry.node}",
            f"{entry.node} 已弃用文本的第 {first}-{last} 个字符",
        )
    else:
        place = pick(
            f"characters {first}-{last} of the text of {entry.node}",
            f"{entry.node} 输出文本的第 {first}-{last} 个字符",
        )
    return head, f"    {place}{pick(': ', '：')}{one_line(leak.text, _SPAN)}"


def _document(entry: _Found) -> dict[str, object]:
    leak = entry.leak
    return {
        "node": entry.node,
        "generation": entry.generation,
        "attempt": entry.attempt,
        "in_accepted_output": entry.kept,
        "agent": leak.agent,
        "domain": leak.domain,
        "strength": leak.m100 / 100,
        "band": leak.band.value,
        "origin": leak.origin,
        "declared": leak.declared,
        "detected": leak.detected,
        "path": leak.path,
        "noted_against_agent": leak.noted,
        "blocked": leak.blocked,
        "start": leak.start,
        "end": leak.end,
        "text": leak.text,
        "locator": leak.locator,
    }
