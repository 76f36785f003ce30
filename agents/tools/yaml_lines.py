"""Read a YAML document with the line of every value, so that a mistake can be told with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from graphs.contract import Lang

LARGEST_FILE: Final = 1_000_000
"""Bytes; no file that a person writes comes near it."""


class InvalidToolsFile(ValueError):
    """A file about tools can't be used: the message names file, line, value, what is accepted and the next step."""

    code = "tools_file_invalid"

    def __init__(self, path: Path, line: int | None, *, en: str, zh: str) -> None:
        self.path = path
        self.line = line
        where = str(path) if line is None else f"{path}:{line}"
        self._messages: Mapping[Lang, str] = {"en": f"{where}: {en}", "zh": f"{where}：{zh}"}
        super().__init__(self._messages["en"])

    def message(self, lang: Lang) -> str:
        """Return the message in `lang`."""
        return self._messages[lang]


@dataclass(frozen=True, slots=True)
class Lined:
    """A value of a YAML document and where it stands."""

    value: Any
    """`str`, `int`, `float`, `bool`, `None`, a list of `Lined`, or a mapping of text to `Lined`."""
    line: int
    """From 1."""
    file: Path

    def wrong(self, *, en: str, zh: str, next_en: str, next_zh: str) -> InvalidToolsFile:
        """Return the error for this value; `en` and `zh` say what is accepted."""
        told = f"{_plain(self.value)!r:.60}"
        return InvalidToolsFile(
            self.file,
            self.line,
            en=f"{told} is not accepted. Accepted: {en}. {next_en}",
            zh=f"{told} 不可接受。可接受：{zh}。{next_zh}",
        )


def read_lined(path: Path) -> Lined | None:
    """Return the document at `path`, `None` for a file that is not there or holds nothing.

    Raises `InvalidToolsFile` for one that can't be read, is no YAML, has a name twice or refers to itself.
    """
    try:
        text = path.read_bytes()[: LARGEST_FILE + 1].decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, None, str(error)) from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise _unreadable(path, line, getattr(error, "problem", None) or str(error)) from error
    return None if node is None else _lined(node, path, 0)


def _lined(node: Any, path: Path, depth: int) -> Lined:
    line = node.start_mark.line + 1
    if depth > 12:
        raise _unreadable(path, line, "it is nested too deep")
    match node:
        case yaml.MappingNode():
            found: dict[str, Lined] = {}
            for key, value in node.value:
                name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
                if not name or name in found:
                    raise InvalidToolsFile(
                        path,
                        key.start_mark.line + 1,
                        en=f"{name!r} is there twice, or is no name. Accepted: each name once. Remove one of them.",
                        zh=f"{name!r} 重复出现或不是名称。可接受：每个名称一次。请删除其一。",
                    )
                found[name] = _lined(value, path, depth + 1)
            return Lined(found, line, path)
        case yaml.SequenceNode():
            return Lined([_lined(each, path, depth + 1) for each in node.value], line, path)
    loader = yaml.SafeLoader("")
    try:
        return Lined(loader.construct_object(node), line, path)
    except (yaml.YAMLError, ValueError) as error:
        raise _unreadable(path, line, str(error)) from error
    finally:
        loader.dispose()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(each.value) for name, each in value.items()}
    return [_plain(each.value) for each in value] if isinstance(value, list) else value


def _unreadable(path: Path, line: int | None, said: str) -> InvalidToolsFile:
    said = " ".join(said.split())
    return InvalidToolsFile(
        path,
        line,
        en=f"it can't be read: {said}. Accepted: YAML in UTF-8. Correct the file.",
        zh=f"无法读取：{said}。可接受：UTF-8 编码的 YAML。请修正该文件。",
    )
