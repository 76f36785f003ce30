"""What a command hands back, and how it is written: for people, as one JSON object, or as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.invocation import Form
from orchestrator.interfaces.cli.problems import ErrorKind, Lang, pick
from orchestrator.interfaces.cli.streams import Streams, plain_text

SCHEMA: Final = "maskgrad.cli/1"
"""Names the shape of the envelope below; a change of it is a new number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of a command."""

    data: Any
    """A JSON value."""
    text: str = ""
    """The same for people; data, so it goes to stdout."""
    code: ExitCode = ExitCode.DONE
    notes: tuple[str, ...] = ()
    """What to know and what to do next; talk, so it goes to stderr."""
    written: bool = False
    """Whether data and text are written already, because the command went on after them: only notes are left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a command did not do what it was asked."""

    kind: ErrorKind
    code: str
    """Stable, may be searched for."""
    message: str
    hint: str
    """The next step: a command, or a sentence."""
    retryable: bool
    """Whether the same command may succeed later."""
    exit: ExitCode


def write_result(streams: Streams, form: Form, result: Result) -> None:
    """Write `result` in `form`; notes go to stderr in every form."""
    if result.written:
        pass
    elif form == "text":
        if result.text:
            streams.data(plain_text(result.text.rstrip("\n")))
    else:
        streams.data(_json(form, {"schema": SCHEMA, "ok": True, "data": result.data}))
    for note in result.notes:
        streams.talk(note)


def write_failure(streams: Streams, form: Form, failure: Failure, lang: Lang) -> None:
    """Write `failure` in `form`: for people to stderr, as JSON to stdout like any other result."""
    if form == "text":
        streams.talk(pick(lang, "error: ", "错误：") + failure.message)
        # Most messages name their next step themselves.
        if "maskgrad " not in failure.message:
            streams.talk(pick(lang, "next: ", "下一步：") + failure.hint)
        return
    error = {
        "kind": failure.kind,
        "code": failure.code,
        "message": failure.message,
        "hint": failure.hint,
        "retryable": failure.retryable,
    }
    streams.data(_json(form, {"schema": SCHEMA, "ok": False, "error": error}))


def json_line(document: Mapping[str, Any]) -> str:
    """Return a JSON object on one line, non-ASCII as it is; a lone surrogate becomes an escape."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _json(form: Form, envelope: Mapping[str, Any]) -> str:
    if form == "jsonl":
        return json_line({"type": "result", **envelope})
    text = json.dumps(envelope, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
