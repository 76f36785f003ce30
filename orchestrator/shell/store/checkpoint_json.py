"""Serialise what LangGraph checkpoints as JSON and nothing else.

A checkpoint is read back in another process, perhaps after the code changed, so it holds data and no objects: what is
no JSON is refused when it is written, and nothing is ever constructed when it is read, except LangGraph's own
`Interrupt`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

import orchestrator.shell.langgraph_env  # noqa: F401

# isort: split
from langgraph.types import Interrupt

from orchestrator.shell.store.errors import NotStorable, not_unicode

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class JsonSerializer:
    """LangGraph's `SerializerProtocol` with the encodings `json`, `bytes` and `interrupts`.

    As in all JSON, a tuple comes back as a list and a key as text. An exception is kept as its `repr`, which is what
    LangGraph keeps of it too.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Return the encoding and the bytes of a value. Raises `NotStorable` for what is no JSON."""
        if isinstance(obj, bytes):
            return "bytes", obj
        if isinstance(obj, BaseException):
            return "json", encoded(repr(obj))
        if _are_interrupts(obj):
            return "interrupts", encoded([_fields(interrupt) for interrupt in obj])
        return "json", encoded(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Return the value of an encoding and bytes.

        Raises `NotStorable` for an unknown encoding, and for bytes that are not what this encoding writes.
        """
        encoding, content = data
        try:
            match encoding:
                case "json":
                    return json.loads(content)
                case "bytes":
                    return content
                case "interrupts":
                    return [_interrupt(fields) for fields in json.loads(content)]
        except (TypeError, ValueError, RecursionError) as error:
            raise NotStorable(
                f"A checkpoint value in the encoding {encoding!r} with the content",
                _shortened(repr(content)),
                accepted_en=f"what this program wrote ({error})",
                accepted_zh=f"由本程序写入的内容（{error}）",
            ) from error
        raise NotStorable(
            "A checkpoint value in the encoding",
            encoding,
            accepted_en="'json', 'bytes', 'interrupts'",
            accepted_zh="'json'、'bytes'、'interrupts'",
        )


def encoded(value: object) -> bytes:
    """Return a value as JSON. Raises `NotStorable`, naming the type that JSON has no form for."""
    try:
        return _ENCODER.encode(value).encode()
    except UnicodeEncodeError as error:
        raise not_unicode(error) from error
    except (TypeError, ValueError) as error:
        raise NotStorable(
            "The checkpoint value",
            _shortened(repr(value)),
            accepted_en=f"JSON values, finite and without cycles ({error})",
            accepted_zh=f"有限且无循环的 JSON 值（{error}）",
        ) from error


def _are_interrupts(obj: object) -> TypeGuard[list[Interrupt[Any]] | tuple[Interrupt[Any], ...]]:
    return isinstance(obj, list | tuple) and bool(obj) and all(isinstance(item, Interrupt) for item in obj)


def _fields(interrupt: Interrupt[Any]) -> Mapping[str, object]:
    return {"value": interrupt.value, "id": interrupt.id, "response_schema": interrupt.response_schema}


def _interrupt(fields: Mapping[str, Any]) -> Interrupt[Any]:
    # LangGraph's constructor takes any further argument in silence.
    if sorted(fields) != ["id", "response_schema", "value"]:
        raise ValueError(f"an interrupt has no fields {sorted(fields)!r}")
    return Interrupt(**fields)


def _shortened(text: str, length: int = 120) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
