"""Say what is wrong with a command line, in the reader's language."""

from __future__ import annotations

import re
from typing import Final

import typer

from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.interfaces.cli.results import Failure

# Typer brings its own copy of Click in some versions and imports Click's in others; the common base of its errors is
# found through the one that is public in all of them.
_BASES: Final = {base.__name__: base for base in typer.BadParameter.__mro__}
COMMAND_LINE_ERROR: Final[type[BaseException]] = _BASES["ClickException"]
"""What the parser raises for a command line that it can't read."""


def usage_failure(error: BaseException, lang: Lang) -> Failure:
    """Return what to show for an error of the parser."""
    name = type(error).__name__
    return Failure(
        kind="usage",
        code=_CODES.get(name, "command_line"),
        message=_chinese(error, name) if lang == "zh" else _english(error),
        hint=_hint(error),
        retryable=False,
        exit=ExitCode.USAGE,
    )


_CODES: Final = {
    "MissingParameter": "argument_missing",
    "NoSuchOption": "unknown_option",
    "BadOptionUsage": "option_without_value",
    "BadParameter": "value_not_accepted",
}


_FORMS: Final = {
    re.compile(r"Got unexpected extra arguments? ?(?:\(s\) )?\((.*)\)", re.DOTALL): r"多余的参数：\1",
    re.compile(r"No such command '([^']*)'\."): r"没有命令 '\1'",
    re.compile(r"No such command '([^']*)'\. Did you mean (.*)\?"): r"没有命令 '\1'；相近的有：\2",
    re.compile(r"Option '(.*)' requires an argument\."): r"选项 '\1' 缺少取值",
    re.compile(r"Option '(.*)' requires (\d+) arguments\."): r"选项 '\1' 需要 \2 个取值",
    re.compile(r"Option '(.*)' does not take a value\."): r"选项 '\1' 不带取值",
    re.compile(r"Missing command\."): "缺少命令",
    re.compile(r"Invalid value for '(.*?)': (.*)", re.DOTALL): r"\1 的取值不可接受：\2",
}
"""Forms of the parser's messages, each with its Chinese."""


def _english(error: BaseException) -> str:
    written = getattr(error, "format_message", None)
    return str(written()) if callable(written) else str(error)


def _chinese(error: BaseException, name: str) -> str:
    match name:
        case "MissingParameter":
            return f"缺少参数 {_parameter(error)!r}"
        case "NoSuchOption":
            near = "、".join(sorted(getattr(error, "possibilities", None) or ()))
            return f"没有选项 {getattr(error, 'option_name', '')!r}" + (f"；相近的有：{near}" if near else "")
        case _:
            return _of_known_form(_english(error))


def _of_known_form(said: str) -> str:
    """Give the Chinese of a message that the parser words itself; one of another form is shown as it is."""
    for form, chinese in _FORMS.items():
        found = form.fullmatch(said)
        if found is not None:
            return found.expand(chinese)
    return f"命令行有误（{said}）"


def _parameter(error: BaseException) -> str:
    param = getattr(error, "param", None)
    return str(getattr(param, "metavar", None) or getattr(param, "name", None) or "?")


def _hint(error: BaseException) -> str:
    context = getattr(error, "ctx", None)
    command = str(getattr(context, "command_path", "maskgrad"))
    return f"{command} --help"
