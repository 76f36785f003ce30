"""The user's own knowledge domains: one file in the data directory adds to the registry or overrides it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from masks.domains import DomainRegistry, default_registry
from masks.errors import RegistryError

DOMAINS_FILES: Final = ("domains.json", "domains.yaml", "domains.yml")
"""Names of the file, of which at most one may exist."""

_READERS: Final[Mapping[str, Callable[[str], Any]]] = {".json": json.loads}


class InvalidDomainsFile(RegistryError):
    """The user's file of knowledge domains can't be used; `path` is the file."""

    code = "domains_file_invalid"

    def __init__(self, path: Path, *, en: str, zh: str) -> None:
        self.path = path
        super().__init__(en=f"{path}: {en}", zh=f"{path}：{zh}")


def registry_in(home: Path) -> DomainRegistry:
    """Return the domains of the product with those of the file in `home`, if there is one.

    The file holds a list of records, each with the `id` of a domain: one that the product knows has the given fields
    replaced, any other is added. The registry's digest covers them, so that a run is only executed with the domains
    that it was drafted with. Raises `InvalidDomainsFile`, which names the file, the record, the field and what is
    accepted.
    """
    found = [path for path in (home / name for name in DOMAINS_FILES) if path.exists()]
    if not found:
        return default_registry()
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise InvalidDomainsFile(
            home,
            en=f"holds {names}. Accepted: one file of domains. Merge them into one and remove the others.",
            zh=f"其中有 {names}。可接受：一个知识域文件。请合并为一个并删除其余。",
        )
    (path,) = found
    records = _records(path)
    try:
        return default_registry().with_overrides(records)
    except RegistryError as error:
        raise InvalidDomainsFile(path, en=error.message("en"), zh=error.message("zh")) from error


def _records(path: Path) -> list[Mapping[str, object]]:
    try:
        held = _READERS.get(path.suffix, yaml.safe_load)(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())
        raise InvalidDomainsFile(
            path,
            en=f"can't be read: {said}. Accepted: a list of records in JSON or YAML, in UTF-8. Correct the file.",
            zh=f"无法读取：{said}。可接受：JSON 或 YAML 的记录列表，UTF-8 编码。请修正该文件。",
        ) from error
    if not isinstance(held, list):
        raise InvalidDomainsFile(
            path,
            en=f"holds {held!r:.60}. Accepted: a list of records, each with an id. Put the records into one list.",
            zh=f"内容为 {held!r:.60}。可接受：记录的列表，每条有 id。请将各记录放入一个列表。",
        )
    for number, record in enumerate(held, 1):
        if not isinstance(record, dict) or not isinstance(record.get("id"), str):
            raise InvalidDomainsFile(
                path,
                en=f"record {number}, {record!r:.60}, has no id. Accepted: a text such as 'crafts.pottery' in the "
                "field id. Give the record one.",
                zh=f"第 {number} 条记录 {record!r:.60} 没有 id。可接受：字段 id 中的文本，如 'crafts.pottery'。"
                "请补上。",
            )
    return held
