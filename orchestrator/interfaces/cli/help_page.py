"""Write the help of a command in the reader's language.

The pages are written here and not by Typer: its headings exist in English only, and their form changes with its
version. What is read from a command is its parameters; the words are in `help_texts`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from typer.core import TyperCommand, TyperGroup

from orchestrator.interfaces.cli.exit_codes import MEANINGS
from orchestrator.interfaces.cli.help_texts import COMMON, EVERYWHERE, HELP, Both, CommandHelp
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.interfaces.cli.streams import columns_of

WIDTH: Final = 100
"""Columns of a help page: fixed, so that the documentation made from it does not depend on a terminal."""
_GAP: Final = 2

_HEADINGS: Final[Mapping[str, Both]] = {
    "usage": ("Usage", "用法"),
    "arguments": ("Arguments", "参数"),
    "options": ("Options", "选项"),
    "commands": ("Commands", "命令"),
    "examples": ("Examples", "示例"),
    "everywhere": ("Anywhere on every command line", "可用于任何命令的任意位置"),
    "codes": ("Exit codes", "退出码"),
}


class _Parameter(Protocol):
    """The part of a parameter that a page shows."""

    name: str | None
    opts: list[str]
    param_type_name: str
    required: bool


class CommandPage(TyperCommand):
    """A command whose help is in the reader's language."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page instead of Typer's."""
        formatter.write(help_page(self, path_of(ctx), language_of(ctx)))


class GroupPage(TyperGroup):
    """A group of commands whose help is in the reader's language."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page instead of Typer's."""
        formatter.write(help_page(self, path_of(ctx), language_of(ctx)))


def path_of(context: Any) -> str:
    """Return the words of a command behind the program's name, e.g. `masks set`."""
    names: list[str] = []
    while context is not None and context.parent is not None:
        names.insert(0, str(context.info_name))
        context = context.parent
    return " ".join(names)


def language_of(context: Any) -> Lang:
    """Return the language of a context: the session's, English without one."""
    return "zh" if getattr(context.obj, "lang", "en") == "zh" else "en"


def help_page(command: Any, path: str, lang: Lang) -> str:
    """Return the help of a command, ending with a newline; `path` is empty for the program itself."""
    texts = HELP[path]
    parts = [
        f"{_word('usage', lang)}: {_usage(command, path)}",
        _indented(_in(texts.does, lang)),
        _indented(_in(texts.more, lang)),
        _section("arguments", lang, _rows(command, texts, "argument", lang)),
        _section("commands", lang, _commands(command, path, lang)),
        _section("options", lang, _rows(command, texts, "option", lang)),
        _section("everywhere", lang, [(name, _in(both, lang)) for name, both in EVERYWHERE]),
        _section("codes", lang, [(str(int(c)), MEANINGS[c][lang]) for c in MEANINGS]) if not path else "",
        _examples(texts, lang),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage(command: Any, path: str) -> str:
    words = ["maskgrad", *path.split()]
    if hasattr(command, "commands"):
        return " ".join([*words, "COMMAND"])
    parameters: list[_Parameter] = list(command.params)
    if any(p.param_type_name == "option" and p.name != "help" for p in parameters):
        words.append("[OPTIONS]")
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            words.append(_name(parameter) if parameter.required else f"[{_name(parameter)}]")
    return " ".join(words)


def _name(parameter: Any) -> str:
    return str(parameter.metavar or (parameter.name or "").upper())


def _rows(command: Any, texts: CommandHelp, kind: str, lang: Lang) -> list[tuple[str, str]]:
    rows = []
    for parameter in command.params:
        if parameter.param_type_name == kind and not parameter.hidden:
            both = texts.parameters.get(parameter.name) or COMMON[parameter.name]
            rows.append((_label(parameter), _in(both, lang)))
    if kind == "option":
        rows.append(("-h, --help", _in(COMMON["help"], lang)))
    return rows


def _label(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _name(parameter)
    names = ", ".join(sorted(parameter.opts, key=len))
    return names if parameter.is_flag else f"{names} {_name(parameter)}"


def _commands(command: Any, path: str, lang: Lang) -> list[tuple[str, str]]:
    names: Iterable[str] = getattr(command, "commands", {})
    return [(name, _in(HELP[f"{path} {name}".strip()].does, lang)) for name in names]


def _examples(texts: CommandHelp, lang: Lang) -> str:
    lines = [f"  {example}" for example in texts.examples]
    return "\n".join([f"{_word('examples', lang)}:", *lines]) if lines else ""


def _section(heading: str, lang: Lang, rows: Sequence[tuple[str, str]]) -> str:
    if not rows:
        return ""
    column = 2 + max(columns_of(label) for label, _ in rows) + _GAP
    lines = [f"{_word(heading, lang)}:"]
    for label, text in rows:
        wrapped = _wrapped(text, WIDTH - column)
        lines.append(f"  {label}{' ' * (column - 2 - columns_of(label))}{wrapped[0]}")
        lines += [" " * column + more for more in wrapped[1:]]
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in _wrapped(text, WIDTH - 2)) if text else ""


def _wrapped(text: str, columns: int) -> list[str]:
    """Break a text into lines of at most `columns` columns; Chinese breaks between any two characters."""
    if text.isascii():
        return textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False) or [""]
    lines, line, width = [], "", 0
    for word in _pieces(text):
        if width + columns_of(word) > columns and line and word not in _NEVER_FIRST:
            lines.append(line.rstrip())
            line, width = "", 0
            word = word.lstrip()
        line += word
        width += columns_of(word)
    return [*lines, line.rstrip()]


_NEVER_FIRST: Final = frozenset("，。；：、）？！”」")
"""Punctuation that does not begin a line."""


def _pieces(text: str) -> list[str]:
    """Split at every wide character and at every space; words of letters stay whole."""
    pieces: list[str] = []
    for char in text:
        wide = columns_of(char) == 2
        if pieces and not wide and char != " " and columns_of(pieces[-1][-1]) == 1:
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def _word(name: str, lang: Lang) -> str:
    return _in(_HEADINGS[name], lang)


def _in(both: Both, lang: Lang) -> str:
    return both[1] if lang == "zh" else both[0]
