"""A stored shape changes with a new schema number only, and every number has its stored log."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from orchestrator.core.events import EVENT_SCHEMA
from tests.core import event_shapes
from tests.core.event_shapes import shapes

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize("version", range(1, EVENT_SCHEMA + 1))
def test_every_version_has_its_shapes_and_its_log(version: int) -> None:
    for name in (f"shapes-v{version}.json", f"log-v{version}.jsonl", f"log-v{version}.summary.json"):
        assert (FIXTURES / name).exists(), name


def test_the_shapes_of_today_are_those_of_the_current_version() -> None:
    known = json.loads((FIXTURES / f"shapes-v{EVENT_SCHEMA}.json").read_text(encoding="utf-8"))
    today = shapes()
    changed = sorted(kind for kind in {*known, *today} if known.get(kind) != today.get(kind))
    assert not changed, (
        f"the stored shape of {changed} is not that of event schema {EVENT_SCHEMA}; raise EVENT_SCHEMA, keep old logs "
        "readable, and store shapes and a log of the new version (tests/core/event_shapes.py, tests/core/recorded.py)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """Something that an event holds."""

    name: str


def body(*fields: tuple[str, Any] | tuple[str, Any, Any]) -> type[Any]:
    tag = ("type", Literal["a"], field(default="a"))
    return make_dataclass("A", [*fields, tag], frozen=True, slots=True, kw_only=True)


PLAIN = body(("node", str), ("inner", Inner))


@pytest.mark.parametrize(
    "other",
    [
        lambda: body(("node", str)),
        lambda: body(("node", str), ("inner", Inner), ("title", str)),
        lambda: body(("node", str), ("inner", Inner), ("more", str, field(default=""))),
        lambda: body(("name", str), ("inner", Inner)),
        lambda: body(("node", int), ("inner", Inner)),
        lambda: body(("node", str | None), ("inner", Inner)),
        lambda: body(("node", str, field(default="n")), ("inner", Inner)),
        lambda: body(("node", str), ("inner", make_dataclass("Inner", [("name", int)]))),
    ],
    ids=["removed", "added", "added_with_default", "renamed", "type", "optional", "default", "within"],
)
def test_a_change_of_a_field_shows(monkeypatch: pytest.MonkeyPatch, other: Callable[[], type[Any]]) -> None:
    assert fingerprint(monkeypatch, PLAIN) != fingerprint(monkeypatch, other())


def test_words_and_the_order_of_fields_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    same = body(("inner", Inner), ("node", str))
    same.__doc__ = "Said in other words."
    assert fingerprint(monkeypatch, PLAIN) == fingerprint(monkeypatch, same)


def fingerprint(monkeypatch: pytest.MonkeyPatch, kind: type[Any]) -> dict[str, str]:
    with monkeypatch.context() as patch:
        patch.setattr(event_shapes, "get_args", lambda _: (kind,))
        return shapes()
