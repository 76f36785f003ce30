"""The notes that the measured sub-tasks quote: one line for each node, no two alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agents.citations import anchor
from agents.evidence import Evidence, LineSpan, Source, claim_of, quote, source_id
from agents.results import WorkOutput

QUESTION = "What is known about the databases?"
LINES_PER_FILE = 50
_READ_AT = "2026-01-01T00:00:00Z"


def sentence_of(node: str) -> str:
    """Return what the work on `node` finds: about 200 characters, and no other node finds the same."""
    return (
        f"The database {node} keeps 42 rows of the archive and answers in 7 ms; it was started in 2019 and is read "
        "by two teams, each with a copy of its own, and one more copy lies in the safe of the house."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """A folder of notes as it was written."""

    folder: Path
    outputs: dict[str, WorkOutput]
    """What the work on each node hands over: its sentence, cited."""


def write_node_notes(folder: Path, nodes: Iterable[str]) -> Notes:
    """Write one line per node into files below `folder` and return the outputs that quote them."""
    folder.mkdir(parents=True)
    names = list(nodes)
    outputs: dict[str, WorkOutput] = {}
    for number, start in enumerate(range(0, len(names), LINES_PER_FILE)):
        part = names[start : start + LINES_PER_FILE]
        name = f"databases-{number:04d}.md"
        text = "# Databases\n\n" + "\n\n".join(sentence_of(node) for node in part) + "\n"
        (folder / name).write_bytes(text.encode())
        digest = hashlib.sha256(text.encode()).hexdigest()
        source = Source(
            id=source_id(name, digest), uri=name, title=name, digest=digest, retrieved_at=_READ_AT
        )
        for place, node in enumerate(part):
            outputs[node] = _output(node, source, text.index(sentence_of(node)), 3 + 2 * place)
    return Notes(folder=folder, outputs=outputs)


def _output(node: str, source: Source, start: int, line: int) -> WorkOutput:
    text = sentence_of(node)
    span = LineSpan(
        source=source.id, start_line=line, end_line=line, start_char=start, end_char=start + len(text)
    )
    evidence: Evidence = quote(source.id, span, text)
    claim = claim_of(node, text, (evidence.id,), core=True, question=QUESTION)
    return WorkOutput(
        text=f"# Found\n\n- {text} {anchor(claim.id)}",
        claims=(claim,),
        evidence=(evidence,),
        sources=(source,),
    )
