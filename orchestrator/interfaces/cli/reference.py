"""The reference of the command line as a page of documentation, from the same texts as the help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import typer

from orchestrator.interfaces.cli.commands import make_app
from orchestrator.interfaces.cli.help_page import help_page
from orchestrator.interfaces.cli.problems import Lang, pick

_INTRODUCTION: Final = (
    "# Commands\n\n"
    "Data goes to stdout, talk to stderr. With `--json` every command, also one that fails, writes one object to\n"
    "stdout: `{schema, ok, data}` or `{schema, ok, error: {kind, code, message, hint, retryable}}`; with `--jsonl` it\n"
    "writes events as they are stored and, as the last line, the same object with `type: result`.\n"
    "The kinds of errors are `usage`, `not_found`, `invalid`, `state`, `busy`, `store`, `unavailable`, `interrupted`\n"
    "and `internal`.\n\n"
    "This page is written from the help of the commands; a test compares them.\n",
    "# 命令\n\n"
    "数据写到标准输出，说明写到标准错误。使用 `--json` 时，每个命令（失败的也是）向标准输出写一个对象：\n"
    "`{schema, ok, data}` 或 `{schema, ok, error: {kind, code, message, hint, retryable}}`；使用 `--jsonl` 时按存储的\n"
    "形式写出事件，最后一行是同样的对象并带有 `type: result`。错误种类有 `usage`、`not_found`、`invalid`、`state`、\n"
    "`busy`、`store`、`unavailable`、`interrupted` 和 `internal`。\n\n"
    "本页由命令的帮助生成；有测试对照二者。\n",
)


def command_paths() -> dict[str, Any]:
    """Return every command by the words behind the program's name, the program itself under the empty text."""
    return dict(_walk("", typer.main.get_command(make_app())))


def reference_page(lang: Lang) -> str:
    """Return the page in `lang`, as Markdown."""
    parts = [pick(lang, *_INTRODUCTION)]
    for path, command in command_paths().items():
        title = f"maskgrad {path}".strip()
        parts.append(f"## `{title}`\n\n```text\n{help_page(command, path, lang)}```\n")
    return "\n".join(parts)


def _walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _walk(f"{path} {name}".strip(), below)
