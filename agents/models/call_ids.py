"""Every proposed call has an id of its own, also where the model gave none or the same one twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agents.models.contract import Message, ToolCalls


def with_unique_ids(proposed: ToolCalls, conversation: Iterable[Message]) -> ToolCalls:
    """Return `proposed` with an id for each call, valid ones first, different from all in `conversation`.

    An id that is free is kept; a taken one gets the first free `-2`, `-3`, …; a missing one is `call-1`, `call-2`, …
    Equal arguments give equal ids, so that a replay finds its results again.
    """
    taken = {call.id for message in conversation for call in message.calls}
    calls = []
    for call in proposed.calls:
        calls.append(replace(call, id=_free(call.id, taken)))
        taken.add(calls[-1].id)
    invalid = []
    for bad in proposed.invalid:
        invalid.append(replace(bad, id=_free(bad.id, taken)))
        taken.add(invalid[-1].id)
    return replace(proposed, calls=tuple(calls), invalid=tuple(invalid))


def _free(wanted: str, taken: set[str]) -> str:
    if wanted and wanted not in taken:
        return wanted
    stem, number = (wanted, 2) if wanted else ("call", 1)
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"
