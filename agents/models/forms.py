"""How a model is told the schema of its answer and the tools on offer: forms, and the order to fall back in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from agents.models.contract import ModelRequest, ToolOffer
from agents.models.failures import model_error, status_of
from agents.models.outcomes import ANSWER_TOOL

SchemaMode = Literal["prompt", "json_schema", "json_object_schema", "json_mode", "function_calling"]
"""How a model is told the schema of a structured answer; always in words, and in addition:

- `prompt`: nothing; every model understands it.
- `json_schema`: the schema in the request, where the provider enforces it.
- `json_object_schema`: "some JSON object" in the request, with the schema beside it: llama.cpp's own form, where it is
  enforced; other servers pass over the schema.
- `json_mode`: "some JSON object" in the request.
- `function_calling`: the schema as that of a tool which the model has to call.
"""

ToolMode = Literal["native", "json"]
"""How a model is told the tools.

- `native`: in the provider's own form.
- `json`: in words; the model answers with the call as JSON, see `agents.models.action_protocol`.
"""

Dialect = Literal["openai", "anthropic", "google", "ollama"]
"""Whose names for options a chat model takes; LangChain does not hide them."""


class Form(NamedTuple):
    """How one request is sent."""

    schema: SchemaMode | None
    """`None`: the answer is free text. With tools in words and no schema of the answer: that of a call."""
    tools: ToolMode | None
    """`None`: no tools are on offer."""

    @property
    def means(self) -> str:
        """Name the form in the record.

        >>> Form("prompt", "native").means
        'tools:native+prompt'
        """
        parts = [f"tools:{self.tools}"] if self.tools else []
        return "+".join([*parts, *([self.schema] if self.schema else [])])


_HOLDING: Final = frozenset[SchemaMode](("json_schema", "json_object_schema", "json_mode"))
"""Modes that keep an answer from being anything but JSON."""

_FORM_STATUS: Final = frozenset({400, 404, 422, 500, 501})
"""With which providers refuse a form: 404 is a router without a host for it, 500 a local server without templates."""

_TOOL_OPTIONS: Final = ("jinja", "tool_choice", "'tools'")
_TOOL_WORDS: Final = ("tool", "function call", "function_call")
_SCHEMA_WORDS: Final = (
    "response_format",
    "response format",
    "response_schema",
    "response_json_schema",
    "responseschema",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "output_config",
    "output_format",
    "structured output",
    "grammar",
    "tool_choice",
)


def forms_of(
    request: ModelRequest,
    schema_modes: Sequence[SchemaMode],
    tool_modes: Sequence[ToolMode],
    dialect: Dialect,
) -> tuple[Form, ...]:
    """Return the forms in which `request` can be sent, the preferred one first; the last is words alone where it may.

    With tools on offer the answer is not forced into its schema but where the provider lets a model choose between
    both: `json_schema` and `json_mode` with OpenAI's form. With tools in words it never is: a call has another form.
    Where only a call will do, tools in words are told with the schema of a call.
    """
    schema = request.output_schema
    if not request.tools:
        fitting = () if schema is None else [mode for mode in schema_modes if _fits(mode, schema)]
        return tuple(Form(mode, None) for mode in fitting or (None if schema is None else "prompt",))
    forms: list[Form] = []
    for tools in tool_modes:
        if schema is None:
            held = _HOLDING if tools == "json" and request.calls_only else ()
            forms.extend(Form(mode, tools) for mode in schema_modes if mode in held)
            forms.append(Form(None, tools))
            continue
        free = (
            ("json_schema", "json_object_schema", "json_mode")
            if tools == "native" and dialect == "openai"
            else ()
        )
        modes = [mode for mode in schema_modes if mode in free and _fits(mode, schema)]
        forms.extend(Form(mode, tools) for mode in (*modes, "prompt"))
    return tuple(forms)


def _fits(mode: SchemaMode, schema: Mapping[str, Any]) -> bool:
    """Two modes can ask for a JSON object only."""
    return mode in {"prompt", "json_schema"} or schema.get("type") == "object"


def refused_part(error: Exception, form: Form) -> Literal["tools", "schema"] | None:
    """Return which part of `form` the provider refused with `error`; `None`: the error is about something else."""
    status = status_of(error)
    if status not in _FORM_STATUS or model_error(error).error_type == "overflow":
        return None
    told = str(error).casefold()
    if status == 500:
        # A fault of the server, unless it names the option.
        if form.schema not in {None, "prompt"} and "response_format" in told:
            return "schema"
        return "tools" if form.tools == "native" and any(w in told for w in _TOOL_OPTIONS) else None
    if form.schema not in {None, "prompt"} and any(word in told for word in _SCHEMA_WORDS):
        return "schema"
    if form.tools == "native" and any(word in told for word in _TOOL_WORDS):
        return "tools"
    if form.schema == "function_calling" and any(word in told for word in _TOOL_WORDS):
        return "schema"
    return None


def schema_words(schema: Mapping[str, Any]) -> str:
    """Return the words that ask for a structured answer; for the machine, hence in one language."""
    shown = json.dumps(schema, ensure_ascii=False, sort_keys=True)
    return f"Answer with one JSON value that fits this JSON schema, and nothing else:\n{shown}"


def schema_options(mode: SchemaMode | None, schema: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    """Return the options of a call by which a provider is told `schema`; none for `function_calling`, a bound tool."""
    match mode, dialect:
        case "json_schema", "google":
            return {"response_mime_type": "application/json", "response_json_schema": dict(schema)}
        case "json_mode", "google":
            return {"response_mime_type": "application/json"}
        case "json_schema", "ollama":
            return {"format": dict(schema)}
        case "json_mode", "ollama":
            return {"format": "json"}
        case "json_schema", "anthropic":
            # LangChain makes Anthropic's own option of it.
            return {"response_format": {"type": "json_schema", "json_schema": {"schema": dict(schema)}}}
        case "json_schema", _:
            described = {"name": "answer", "schema": dict(schema)}
            return _openai_format({"type": "json_schema", "json_schema": described})
        case "json_object_schema", _:
            return _openai_format({"type": "json_object", "schema": dict(schema)})
        case "json_mode", _:
            return _openai_format({"type": "json_object"})
        case _:
            return {}


def _openai_format(response_format: dict[str, Any]) -> dict[str, Any]:
    """In the body as it is: under its own name, the client would refuse tools beside it and raise for cut answers."""
    return {"extra_body": {"response_format": response_format}}


def length_options(tokens: int | None, dialect: Dialect) -> dict[str, Any]:
    """Return the option that limits the answer to `tokens`.

    >>> length_options(50, "google")
    {'max_output_tokens': 50}
    """
    if tokens is None or dialect == "ollama":
        # Ollama takes its options all at once, and those are the model's own: `LangChainChat` sets it there.
        return {}
    return {"max_output_tokens" if dialect == "google" else "max_tokens": tokens}


def bound_tools(tools: Sequence[ToolOffer]) -> list[dict[str, Any]]:
    """Return `tools` in OpenAI's form, which LangChain translates into every other."""
    return [_function(tool.name, tool.description, tool.input_schema) for tool in tools]


def answer_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tool by whose call a model answers in `schema`."""
    return _function(ANSWER_TOOL, "Give the answer.", schema)


def _function(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, **schema}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }
