"""Answers that were given and that the run has not taken up yet: it does so when somebody executes it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from orchestrator.core.ids import RequestId
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.session import Session


def given_answers(session: Session, state: RunState) -> Mapping[RequestId, str]:
    """Return the choice that was given to each open request, by its id; the first answer stands.

    What is in the inbox and is no answer to an open request is left out: whoever executes the run refuses it.
    """
    if not state.requests:
        return {}
    found: dict[RequestId, str] = {}
    for message in session.store().pending(state.run):
        if message.kind != "answer":
            continue
        request, choice = _read(message.payload)
        asked = state.requests.get(request)
        if asked is not None and choice in asked.choices:
            found.setdefault(request, choice)
    return found


def _read(payload: str) -> tuple[RequestId, str]:
    try:
        written = json.loads(payload)
        return RequestId(str(written["request"])), str(written["answer"]["choice"])
    except (ValueError, KeyError, TypeError):
        return RequestId(""), ""
