"""Show what the claims of a run rest on: the place in the notes, the exact quote, and what the checks said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agents.evidence import Claim, Evidence, LeakMark, Source
from agents.results import WorkOutput
from graphs.plan import NodeId
from masks.bands import format_mask_value
from orchestrator.core.claims import ClaimVerdict, Level, Uncertain
from orchestrator.core.input_key import WORK_OUTPUT
from orchestrator.core.report import confidence_words, verdict_words
from orchestrator.core.state import Accepted, RunState
from orchestrator.interfaces.cli.bodies.looking import nodes_of, run_state
from orchestrator.interfaces.cli.bodies.reports import kept_content
from orchestrator.interfaces.cli.problems import Lang, NotFound, pick
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line

NAMED: Final = 8
"""Other outputs with the same claim that are named."""


def evidence(session: Session, run: str, node: str) -> Result:
    """Return claims, evidence and verdicts of one sub-task, or of all that have an output.

    An output that was not accepted is shown too, and marked. Raises `NotFound` for an unknown sub-task.
    """
    state = run_state(session, run)
    names = nodes_of(state)
    if node and node not in names:
        raise _no_such_node(state, node, names)
    documents, shown = [], []
    for name in names:
        kept = _output_of(state, name)
        if (node and name != node) or kept is None:
            continue
        accepted, current = kept
        output = WORK_OUTPUT.validate_json(kept_content(session, state, accepted.output))
        one = _Shown(name, output, accepted, session.lang, current=current)
        documents.append({"node": name, "accepted": current, **one.document()})
        shown.append(one)
    if not documents:
        note = session.pick("no output yet, so no evidence", "尚无输出，因此没有证据")
        return Result(data={"run": state.run, "nodes": []}, notes=(note,))
    return Result(data={"run": state.run, "nodes": documents}, text="\n".join(_all_lines(session, shown)))


def _all_lines(session: Session, shown: Sequence[_Shown]) -> list[str]:
    """Each claim once: in the output where it was checked most thoroughly, with the levels of the others behind."""
    strongest: dict[object, _Shown] = {}
    for one in shown:
        for claim in one.claims:
            known = strongest.get(one.key(claim))
            if known is None or one.level(claim) >= known.level(claim):
                strongest[one.key(claim)] = one
    lines: list[str] = []
    for one in shown:
        own = [claim for claim in one.claims if strongest[one.key(claim)] is one]
        if not own and one.claims:
            continue
        head = f"{one.node}  {confidence_words(one.confidence, session.lang)}"
        lines.append(head if one.current else head + session.pick("  (not accepted)", "（未被接受）"))
        for claim in own:
            others = [other for other in shown if other is not one and other.holds(one.key(claim))]
            behind = ", ".join(f"{other.level(claim)} {other.node}" for other in others[:NAMED])
            behind += f", +{len(others) - NAMED}" if len(others) > NAMED else ""
            lines += one.lines(
                claim, session.pick(f"  (before: {behind})", f"（此前：{behind}）") if behind else ""
            )
        lines.append("")
    return lines


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

    def __init__(
        self, node: NodeId, output: WorkOutput, accepted: Accepted, lang: Lang, *, current: bool
    ) -> None:
        self.node = node
        self.current = current
        self.claims = output.claims
        self.confidence = accepted.verification.confidence
        self._keys = {self.key(claim) for claim in output.claims}
        self._evidence: dict[str, Evidence] = {piece.id: piece for piece in output.evidence}
        self._sources: dict[str, Source] = {source.id: source for source in output.sources}
        self._verdicts = {verdict.claim: verdict for verdict in accepted.verification.verdicts}
        self._sampled = accepted.verification.level is not Level.L1
        self._lang = lang

    def key(self, claim: Claim) -> object:
        """What makes a claim the same one in the output of another sub-task: its words and what it rests on."""
        return one_line(claim.statement), frozenset(claim.evidence)

    def holds(self, key: object) -> bool:
        """Tell whether this output makes the claim of this key."""
        return key in self._keys

    def level(self, claim: Claim) -> str:
        """How thoroughly the same claim was checked here."""
        found = next((own for own in self.claims if self.key(own) == self.key(claim)), None)
        verdict = self._verdicts.get(found.id) if found is not None else None
        return str(verdict.level) if verdict is not None else str(Level.L1)

    def lines(self, claim: Claim, behind: str) -> list[str]:
        """Return a claim with its verdict, its places and its leaks."""
        core = "*" if claim.core else "-"
        return [
            f"{core} {one_line(claim.statement)}",
            f"    {self.level(claim)}  {self._said(claim)}{behind}",
            *(f"    {line}" for piece in claim.evidence for line in self._place(piece)),
            *(f"    {_mark(mark)}" for mark in claim.leaks),
        ]

    def _said(self, claim: Claim) -> str:
        verdict = self._verdicts.get(claim.id)
        # The second level traces a sample: what it left out is no doubt about the claim.
        left_out = verdict is None or (
            isinstance(verdict.verdict, Uncertain) and not verdict.traced and not verdict.evidence
        )
        if left_out and self._sampled and claim.evidence:
            return pick(self._lang, "not in the sample", "未抽到")
        return verdict_words(verdict.verdict if verdict else None, self._lang)

    def document(self) -> dict[str, Any]:
        return {"claims": [self._claim(claim, self._verdicts.get(claim.id)) for claim in self.claims]}

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
            "verdict_words": self._said(claim),
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
