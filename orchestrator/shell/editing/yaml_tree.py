"""Read YAML that a person edited: strict, with the place of every value, collecting problems instead of stopping.

Scalars are resolved as in the core schema of YAML 1.2 (`true`, `false`, `null`, numbers); everything else is text, so
`no` and `2026-01-31` stay what was typed. Keys that occur twice, aliases and tags are problems.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Final

import yaml
from pydantic import JsonValue

from graphs.contract import Lang
from orchestrator.shell.editing.problems import Problems

_TAG: Final = "tag:yaml.org,2002:"
_MAX_DEPTH: Final = 60
"""Nesting that no proposal reaches; deeper input is refused before it exhausts the stack."""
_MAX_DIGITS: Final = 4_000
"""Characters of a whole number; Python itself refuses to convert more than 4,300 digits."""
_SHOWN: Final = 60
"""Characters of a value that a problem shows."""


class Item:
    """One value of the document with its place. What it does not accept, it writes down as a problem."""

    __slots__ = ("_node", "_problems", "path")

    def __init__(self, node: yaml.Node, path: str, problems: Problems) -> None:
        self._node = node
        self._problems = problems
        self.path = path

    @property
    def line(self) -> int:
        """The 1-based line on which the value begins."""
        return int(self._node.start_mark.line) + 1

    @property
    def is_mapping(self) -> bool:
        """Whether a mapping stands here."""
        return isinstance(self._node, yaml.MappingNode)

    def places(self) -> Mapping[str, int]:
        """Return the line of every value at or below this one, by its path."""
        found = {self.path: self.line}
        pending = [self._node]
        paths = [self.path]
        while pending:
            node, path = pending.pop(), paths.pop()
            inner: list[tuple[str, int, yaml.Node]] = []
            if isinstance(node, yaml.MappingNode):
                inner = [
                    (f"{path}.{key.value}".lstrip("."), key.start_mark.line + 1, value)
                    for key, value in node.value
                ]
            elif isinstance(node, yaml.SequenceNode):
                inner = [
                    (f"{path}[{n}]", value.start_mark.line + 1, value) for n, value in enumerate(node.value)
                ]
            for place, line, value in inner:
                found.setdefault(place, line)
                pending.append(value)
                paths.append(place)
        return found

    def problem(self, *, en: str, zh: str) -> None:
        """Write down that something is wrong here."""
        self._problems.add(self.path, self.line, en=en, zh=zh)

    def refuse(self, en: str, zh: str) -> None:
        """Write down that the value here is not accepted; `en` and `zh` say what is."""
        shown_en, shown_zh = self.shown("en"), self.shown("zh")
        self.problem(en=f"got {shown_en}; accepted: {en}.", zh=f"得到 {shown_zh}；可接受：{zh}。")

    def shown(self, lang: Lang) -> str:
        """Return the value as a problem names it."""
        node = self._node
        if isinstance(node, yaml.ScalarNode):
            if node.tag == f"{_TAG}null":
                return "nothing" if lang == "en" else "空值"
            text = str(node.value)
            return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
        if isinstance(node, yaml.SequenceNode):
            return "a list" if lang == "en" else "列表"
        return "a mapping" if lang == "en" else "映射"

    def fields(self, accepted: Collection[str], *, required: Collection[str] = ()) -> Mapping[str, Item]:
        """Return the values of a mapping with fixed keys; unknown and missing keys are problems."""
        found: dict[str, Item] = {}
        meant: set[str] = set()
        for key, item in self.entries().items():
            if key in accepted:
                found[key] = item
                continue
            near = get_close_matches(key, accepted, n=1)
            meant.update(near)
            hint_en = f" Did you mean {near[0]!r}?" if near else ""
            hint_zh = f"是否想写 {near[0]!r}？" if near else ""
            names = ", ".join(accepted)
            item.problem(
                en=f"unknown key {key!r}; accepted: {names}.{hint_en}",
                zh=f"未知的键 {key!r}；可接受：{names}。{hint_zh}",
            )
        if self.is_mapping:
            for key in required:
                if key not in found and key not in meant:
                    self.problem(
                        en=f"the key {key!r} is missing. Write it; an empty value is written [] or {{}}.",
                        zh=f"缺少键 {key!r}。请写上；空值写作 [] 或 {{}}。",
                    )
        return found

    def entries(self) -> Mapping[str, Item]:
        """Return the values of a mapping with free keys, in order; a key that occurs twice is a problem."""
        if not isinstance(self._node, yaml.MappingNode):
            self.refuse("a mapping (key: value)", "映射（键: 值）")
            return {}
        found: dict[str, Item] = {}
        for key_node, value_node in self._node.value:
            key = Item(key_node, self.path, self._problems)
            name = key.raw()
            if name is None:
                key.refuse("text as a key; quote it", "以文字为键；请加引号")
                continue
            item = Item(value_node, f"{self.path}.{name}".lstrip("."), self._problems)
            if name in found:
                first = found[name].line
                self._problems.add(
                    item.path,
                    key.line,
                    en=f"the key {name!r} occurs twice (first for the value in line {first}). Keep one.",
                    zh=f"键 {name!r} 重复（首次的值在第 {first} 行）。请只保留一个。",
                )
            else:
                found[name] = item
        return found

    def items(self) -> tuple[Item, ...]:
        """Return the members of a list."""
        if not isinstance(self._node, yaml.SequenceNode):
            self.refuse("a list", "列表")
            return ()
        return tuple(
            Item(node, f"{self.path}[{number}]", self._problems)
            for number, node in enumerate(self._node.value)
        )

    def raw(self) -> str | None:
        """Return a scalar as it was typed; `None` for anything else, and for nothing at all. No problem is added."""
        if isinstance(self._node, yaml.ScalarNode) and self._node.tag != f"{_TAG}null":
            return str(self._node.value)
        return None

    def text(self, default: str) -> str:
        """Return text. What looks like a number or a date is taken as it was typed."""
        value = self.raw()
        if value is None:
            self.refuse("text", "文字")
            return default
        return value

    def optional_text(self) -> str | None:
        """Return text, or `None` for `null`."""
        if isinstance(self._node, yaml.ScalarNode) and self._node.tag == f"{_TAG}null":
            return None
        return self.text("")

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(item.text("") for item in self.items())

    def choice(self, accepted: Collection[str], default: str) -> str:
        """Return one of a few words."""
        value = self.raw()
        if value is not None and value in accepted:
            return value
        names = ", ".join(accepted)
        self.refuse(names, names)
        return default

    def flag(self, default: bool) -> bool:
        """Return `true` or `false`."""
        if self._node.tag != f"{_TAG}bool":
            self.refuse("true or false", "true 或 false")
            return default
        return str(self._node.value).casefold() == "true"

    def whole(self, default: int) -> int:
        """Return a whole number."""
        value = self.raw() or ""
        if self._node.tag != f"{_TAG}int" or len(value) > _MAX_DIGITS:
            self.refuse("a whole number", "整数")
            return default
        return int(value)

    def number(self, default: float) -> float:
        """Return a finite number."""
        value = self.raw() or ""
        tagged = self._node.tag in (f"{_TAG}int", f"{_TAG}float")
        if not tagged or not abs(float(value)) < float("inf"):
            self.refuse("a number", "数字")
            return default
        return float(value)

    def json(self) -> JsonValue:
        """Return whatever stands here as a JSON value."""
        if isinstance(self._node, yaml.SequenceNode):
            return [item.json() for item in self.items()]
        if isinstance(self._node, yaml.MappingNode):
            return {key: item.json() for key, item in self.entries().items()}
        match self._node.tag.removeprefix(_TAG):
            case "null":
                return None
            case "bool":
                return self.flag(False)
            case "int":
                return self.whole(0)
            case "float":
                return self.number(0.0)
            case _:
                return self.text("")


LEAVE_UNSAVED: Final[Mapping[Lang, str]] = {
    "en": "To leave without changes, close it without saving.",
    "zh": "如不想更改，请不保存直接关闭。",
}
"""What to do about an empty document in an editor."""


def read_tree(text: str, problems: Problems, *, if_empty: Mapping[Lang, str] = LEAVE_UNSAVED) -> Item | None:
    """Return the document's root; `None`, with a problem that names line and column, if it can't be read.

    `if_empty` is what to do about an empty document.
    """
    try:
        node = _Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(filter(None, (error.context, error.problem)))
        _syntax(problems, said, mark.line + 1 if mark else None, mark.column + 1 if mark else None)
        return None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        column = error.position - (before.rfind("\n") + 1) + 1
        shown = f"the character {ascii(chr(error.character)) if isinstance(error.character, int) else '?'}"
        _syntax(problems, shown, before.count("\n") + 1, column)
        return None
    if node is None:
        problems.add(
            "",
            None,
            en=f"the document is empty. {if_empty['en']}",
            zh=f"文档为空。{if_empty['zh']}",
        )
        return None
    return Item(node, "", problems)


def _syntax(problems: Problems, said: str, line: int | None, column: int | None) -> None:
    problems.add(
        "",
        line,
        en=f"no valid YAML at column {column}: {said}. Quote text with special characters; indent by two spaces.",
        zh=f"第 {column} 列处不是有效的 YAML：{said}。含特殊字符的文字请加引号；缩进用两个空格。",
    )


class _Loader(yaml.SafeLoader):
    """Composes the nodes of one document; aliases, tags and endless nesting are refused."""

    # Declared as a variable of instances in the type stubs; PyYAML keeps and copies it per class.
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nesting = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.composer.ComposerError(
                None, None, "anchors (&) and aliases (*) are not accepted", event.start_mark
            )
        if getattr(event, "tag", None) is not None:
            raise yaml.composer.ComposerError(None, None, "tags (!) are not accepted", event.start_mark)
        if self._nesting > _MAX_DEPTH:
            raise yaml.composer.ComposerError(None, None, "nested too deeply", event.start_mark)
        self._nesting += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._nesting -= 1


for _kind, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(rf"(?:{_pattern})\Z"), _first)
