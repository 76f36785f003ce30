"""Show what the claims of a run rest on: the place in the notes, the exact quote, and what the checks said."""

from __future__ import annotations

from typing import Any

from agents.evidence import Claim, Evidence, LeakMark, Source
from agents.results import WorkOutput
from graphs.plan import NodeId
from masks.bands import format_mask_value
from orchestrator.core.claims import ClaimVerdict
from orchestrator.core.input_key import WORK_OUTPUT
from orchestrator.core.report import confidence_words, verdict_words
from orchestrator.core.state import Accepted, RunState
from orchestrator.interfaces.cli.bodies.looking import nodes_of, run_state
from orchestrator.interfaces.cli.problems import Lang, NotFound
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line


def evidence(session: Session, run: str, node: str) -> Result:
    """Return claims, evidence and verdicts of one sub-task, or of all that have an output.

    An output that was not accepted is shown too, and marked. Raises `NotFound` for an unknown sub-task.
    """
    state = run_state(session, run)
    names = nodes_of(state)
    if node and node not in names:
        raise _no_such_node(state, node, names)
    documents, lines = [], []
    for name in names:
        kept = _output_of(state, name)
        if (node and name != node) or kept is None:
            continue
        accepted, current = kept
        output = WORK_OUTPUT.validate_json(session.store().get_artefact(accepted.output))
        shown = _Shown(output, accepted, session.lang)
        documents.append({"node": name, "accepted": current, **shown.document()})
        head = f"{name}  {confidence_words(accepted.verification.confidence, session.lang)}"
        lines += [
            head if current else head + session.pick("  (not accepted)", "（未被接受）"),
            *shown.lines(),
            "",
        ]
    if not documents:
        note = session.pick("no output yet, so no evidence", "尚无输出，因此没有证据")
        return Result(data={"run": state.run, "nodes": []}, notes=(note,))
    return Result(data={"run": state.run, "nodes": documents}, text="\n".join(lines))


def _no_such_node(state: RunState, node: str, names: tuple[NodeId, ...]) -> NotFound:
    known = ", ".join(names) or "-"
    return NotFound(
        "unknown_node",
        en=f"run {state.run!r} has no sub-task {node!r}; accepted: {known}",
        zh=f"运行 {state.run!r} 没有子任务 {node!r}；可接受：{known}",
    )


def _output_of(state: RunState, name: NodeId) -> tuple[Accepted, bool] | None:
    """The output to show, and whether it is accepted: the current one, else the last that did not pass."""
    node = state.nodes.get(name)
    if node is None:
        return None
    if node.status == "accepted" and node.accepted is not None:
        return node.accepted, True
    return (node.rejected, False) if node.rejected is not None else None


class _Shown:
    """One output with its verdicts, as lines and as a document."""

    def __init__(self, output: WorkOutput, accepted: Accepted, lang: Lang) -> None:
        self._claims = output.claims
        self._evidence: dict[str, Evidence] = {piece.id: piece for piece in output.evidence}
        self._sources: dict[str, Source] = {source.id: source for source in output.sources}
        self._verdicts = {verdict.claim: verdict for verdict in accepted.verification.verdicts}
        self._lang = lang

    def lines(self) -> list[str]:
        found: list[str] = []
        for claim in self._claims:
            verdict = self._verdicts.get(claim.id)
            core = "*" if claim.core else "-"
            level = verdict.level if verdict is not None else "L1"
            found.append(f"{core} {one_line(claim.statement)}")
            found.append(f"    {level}  {verdict_words(verdict.verdict if verdict else None, self._lang)}")
            found += [f"    {line}" for piece in claim.evidence for line in self._place(piece)]
            found += [f"    {_mark(mark)}" for mark in claim.leaks]
        return found

    def document(self) -> dict[str, Any]:
        return {"claims": [self._claim(claim, self._verdicts.get(claim.id)) for claim in self._claims]}

    def _place(self, name: str) -> tuple[str, ...]:
        piece = self._evidence.get(name)
        source = self._sources.get(piece.source) if piece is not None else None
        if piece is None or source is None:
            return (f"? {one_line(name)}",)
        return (f"{_position(piece, source)}", f"  “{one_line(piece.text)}”")

    def _claim(self, claim: Claim, verdict: ClaimVerdict | None) -> dict[str, Any]:
        return {
            "id": claim.id,
            "statement": claim.statement,
            "core": claim.core,
            "question": claim.question,
            "origin": claim.origin,
            "taint": claim.taint,
            "verdict": verdict.verdict.kind if verdict is not None else None,
            "verdict_words": verdict_words(verdict.verdict if verdict else None, self._lang),
            "level": verdict.level.value if verdict is not None else None,
            "traced": verdict.traced if verdict is not None else False,
            "leaks": [
                {
                    "agent": mark.agent,
                    "domain": mark.domain,
                    "strength": mark.strength / 100,
                    "origin": mark.origin,
                    "declared": mark.declared,
                    "node": mark.node,
                }
                for mark in claim.leaks
            ],
            "evidence": [self._piece(name) for name in claim.evidence],
        }

    def _piece(self, name: str) -> dict[str, Any]:
        piece = self._evidence.get(name)
        source = self._sources.get(piece.source) if piece is not None else None
        if piece is None or source is None:
            return {"id": name, "missing": True}
        return {
            "id": name,
            "file": source.uri,
            "source_sha256": source.digest,
            "start_line": piece.locator.start_line,
            "end_line": piece.locator.end_line,
            "start_char": piece.locator.start_char,
            "end_char": piece.locator.end_char,
            "quote": piece.text,
            "domain": piece.domain,
            "copy_of": source.copy_of,
        }


def _position(piece: Evidence, source: Source) -> str:
    start, end = piece.locator.start_line, piece.locator.end_line
    file = one_line(source.uri)
    return f"{file}:{start}" if start == end else f"{file}:{start}-{end}"


def _mark(mark: LeakMark) -> str:
    return (
        f"leak: {mark.node} {mark.agent} → {mark.domain} {format_mask_value(mark.strength)} ({mark.origin})"
    )
