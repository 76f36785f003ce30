"""Know the knowledge domains: their names in two languages, their tree, and how to recognise them."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from reprlib import repr as _short
from typing import Final, NewType, Self

from pydantic import ConfigDict, TypeAdapter, ValidationError

from masks.errors import RegistryError, UnknownDomain
from masks.language import LANGS
from masks.language import Lang as Lang

DomainId = NewType("DomainId", str)
"""Identifies an entry of the domain registry, for example `cs.databases`."""

_ID = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*")
_TAXONOMY: Final = "taxonomy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """Describe one knowledge domain. Only leaves carry mask values, key terms and exemplars are theirs."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: DomainId
    names: Mapping[Lang, str]
    aliases: tuple[str, ...] = ()
    """Other names, in any language; unique over the whole registry."""
    parent: DomainId | None = None
    descriptions: Mapping[Lang, str]
    key_terms: Mapping[Lang, tuple[str, ...]] = field(default_factory=dict)
    exemplars: Mapping[Lang, tuple[str, ...]] = field(default_factory=dict)
    """Sentences that belong to this domain and to no other; the detector measures distance to them."""


_DOMAIN: Final = TypeAdapter(Domain)


class DomainRegistry:
    """Hold a consistent set of domains. Immutable; `leaves` and `domains` are sorted by id.

    Build one with `default_registry`, `from_records` or `with_overrides`.
    """

    __slots__ = ("_by_id", "_by_text", "_children", "_leaves", "_sha256")

    def __init__(self, domains: Iterable[Domain]) -> None:
        """Check the domains and index them.

        Raises `RegistryError` for a repeated or malformed id, an unknown parent, a cycle, a language that is
        missing, or a name that two domains claim.
        """
        self._by_id = _index_ids(domains)
        self._children = _index_children(self._by_id)
        self._leaves = tuple(domain for domain in self._by_id if not self._children[domain])
        _check_languages(self._by_id, self._leaves)
        self._by_text = _index_texts(self._by_id)
        self._sha256 = _sha256(self._by_id.values())

    @classmethod
    def default(cls) -> "DomainRegistry":
        """Return the registry that ships with the product."""
        return default_registry()

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, object]]) -> Self:
        """Build a registry from plain records, as read from JSON or YAML.

        Raises `RegistryError` for a record that does not fit `Domain`, and as the constructor does.
        """
        return cls([_domain(record) for record in records])

    def with_overrides(self, records: Iterable[Mapping[str, object]]) -> "DomainRegistry":
        """Return a registry in which each record adds a domain or replaces fields of the one with its id.

        A field given in a record replaces the whole field; a field left out keeps its value.
        Raises `RegistryError` for an id that two records share, and as the constructor does.
        """
        merged: dict[str, Mapping[str, object]] = {d: _record(domain) for d, domain in self._by_id.items()}
        seen: set[str] = set()
        for record in records:
            domain = str(record.get("id", ""))
            if domain in seen:
                raise _duplicate(domain)
            seen.add(domain)
            merged[domain] = {**merged.get(domain, {}), **record}
        return DomainRegistry.from_records(merged.values())

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Return every domain, parents too, sorted by id."""
        return tuple(self._by_id.values())

    @property
    def leaves(self) -> tuple[DomainId, ...]:
        """Return the ids that carry mask values, sorted."""
        return self._leaves

    @property
    def sha256(self) -> str:
        """Return the digest of the content, whatever order or formatting it was read in."""
        return self._sha256

    def __contains__(self, domain: object) -> bool:
        return domain in self._by_id

    def is_leaf(self, domain: str) -> bool:
        """Say whether `domain` is the id of a leaf."""
        return domain in self._by_id and not self._children[DomainId(domain)]

    def get(self, domain: DomainId) -> Domain:
        """Return the domain with this id.

        Raises `UnknownDomain` if no domain has it.
        """
        if domain not in self._by_id:
            raise UnknownDomain(domain, self.close_matches(domain))
        return self._by_id[domain]

    def resolve(self, text: str) -> DomainId:
        """Return the id that `text` names: an id, a name or an alias in either language.

        Width, case and surplus spaces do not matter (Unicode NFKC and case folding).
        Raises `UnknownDomain` with the closest ids if nothing is named so.
        """
        found = self._by_text.get(_fold(text))
        if found is None:
            raise UnknownDomain(text, self.close_matches(text))
        return found

    def close_matches(self, text: str, limit: int = 3) -> tuple[DomainId, ...]:
        """Return up to `limit` ids whose id, name or alias looks like `text`, best first."""
        # Ask for more texts than ids, since several texts lead to one id.
        near = get_close_matches(_fold(text), self._by_text, n=limit * 3, cutoff=0.6)
        return tuple(dict.fromkeys(self._by_text[name] for name in near))[:limit]

    def children(self, domain: DomainId) -> tuple[DomainId, ...]:
        """Return the direct children, sorted; empty for a leaf.

        Raises `UnknownDomain` if the registry does not know `domain`.
        """
        return self._children[self.get(domain).id]

    def leaves_under(self, domain: DomainId) -> tuple[DomainId, ...]:
        """Return the leaves at or below `domain`, sorted; the leaf itself for a leaf.

        Raises `UnknownDomain` if the registry does not know `domain`.
        """
        children = self.children(domain)
        if not children:
            return (domain,)
        return tuple(sorted(leaf for child in children for leaf in self.leaves_under(child)))

    def parent_of(self, domain: DomainId) -> DomainId | None:
        """Return the direct parent, None for a root.

        Raises `UnknownDomain` if the registry does not know `domain`.
        """
        return self.get(domain).parent


@cache
def default_registry() -> DomainRegistry:
    """Return the registry that ships with the product: two levels, English and Chinese."""
    folder = files("masks").joinpath(_TAXONOMY)
    branches = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".json")), key=_name)
    records = [record for branch in branches for record in json.loads(branch.read_text(encoding="utf-8"))]
    return DomainRegistry.from_records(records)


def _name(entry: object) -> str:
    return str(getattr(entry, "name", ""))


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _domain(record: Mapping[str, object]) -> Domain:
    try:
        return _DOMAIN.validate_python(dict(record))
    except ValidationError as error:
        problems = error.errors(include_url=False)
        missing = [str(problem["loc"][0]) for problem in problems if problem["type"] == "missing"]
        en, zh = _missing_fields(missing) if missing else _wrong_field(problems[0])
        raise RegistryError(
            en=f"Domain {record.get('id')!r}: {en}. Accepted fields: {', '.join(_FIELDS)}. Correct the record.",
            zh=f"知识域 {record.get('id')!r}：{zh}。可接受的字段：{'、'.join(_FIELDS)}。请修正该记录。",
        ) from error


_FIELDS: Final = ("id", "names", "aliases", "parent", "descriptions", "key_terms", "exemplars")
_WANTED: Final[Mapping[str, tuple[str, str]]] = {
    "string_type": ("a text", "文本"),
    "tuple_type": ("a list", "列表"),
    "mapping_type": ("one entry for each language", "每种语言一项"),
    "dict_type": ("one entry for each language", "每种语言一项"),
    "literal_error": ("a language: 'en' or 'zh'", "语言：'en' 或 'zh'"),
}
"""What a field holds, by the name that pydantic gives to what it is not."""


def _missing_fields(names: Sequence[str]) -> tuple[str, str]:
    marked = [f"`{name}`" for name in names]
    if len(marked) == 1:
        return f"the field {marked[0]} is missing", f"缺少字段 {marked[0]}"
    return f"the fields {', '.join(marked)} are missing", f"缺少字段 {'、'.join(marked)}"


def _wrong_field(problem: Mapping[str, object]) -> tuple[str, str]:
    """Say what pydantic found."""
    place = problem["loc"]
    assert isinstance(place, tuple), "pydantic names the place in steps"
    where = ".".join(str(part) for part in place if part != "[key]") or "record"
    kind = str(problem["type"])
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"the field `{where}` is not known", f"字段 `{where}` 不存在"
    got = _short(problem["input"])
    wanted = _WANTED.get(kind)
    if wanted is None:
        return f"{where} {got}: {problem['msg']}", f"{where} {got} 不可用"
    return f"{where} {got} is not {wanted[0]}", f"{where} {got} 不是{wanted[1]}"


def _record(domain: Domain) -> dict[str, object]:
    record: dict[str, object] = _DOMAIN.dump_python(domain, mode="json")
    return record


def _index_ids(domains: Iterable[Domain]) -> dict[DomainId, Domain]:
    by_id: dict[DomainId, Domain] = {}
    for domain in domains:
        if not _ID.fullmatch(domain.id):
            raise RegistryError(
                en=(
                    f"Domain id {domain.id!r} is not accepted. Accepted: lower-case ASCII words joined by "
                    "dots, "
                    f"such as 'cs.databases'. Rename it; put other spellings into aliases."
                ),
                zh=(
                    f"知识域标识 {domain.id!r} 不可用。可接受：以点连接的小写 ASCII 单词，如 'cs.databases'。"
                    f"请改名，其他写法放入 aliases。"
                ),
            )
        if domain.id in by_id:
            raise _duplicate(domain.id)
        by_id[domain.id] = domain
    return dict(sorted(by_id.items()))


def _duplicate(domain: str) -> RegistryError:
    return RegistryError(
        en=f"Domain id {domain!r} occurs twice. Accepted: each id once. Remove or rename one of the records.",
        zh=f"知识域标识 {domain!r} 重复出现。可接受：每个标识一次。请删除其中一条记录或改名。",
    )


def _index_children(by_id: Mapping[DomainId, Domain]) -> dict[DomainId, tuple[DomainId, ...]]:
    children: dict[DomainId, list[DomainId]] = {domain: [] for domain in by_id}
    for domain in by_id.values():
        if domain.parent is None:
            continue
        if domain.parent not in by_id:
            raise RegistryError(
                en=(
                    f"Domain {domain.id!r} names the unknown parent {domain.parent!r}. Accepted: the id of a "
                    f"domain in the registry, or none. Add the parent or correct the id."
                ),
                zh=(
                    f"知识域 {domain.id!r} 的上级 {domain.parent!r} 不存在。可接受：注册表中的标识，或留空。"
                    f"请添加该上级或修正标识。"
                ),
            )
        children[domain.parent].append(domain.id)
    _check_acyclic(by_id)
    return {domain: tuple(below) for domain, below in children.items()}


def _check_acyclic(by_id: Mapping[DomainId, Domain]) -> None:
    safe: set[DomainId] = set()
    for start in by_id:
        path: list[DomainId] = []
        at: DomainId | None = start
        while at is not None and at not in safe:
            if at in path:
                cycle = " -> ".join([*path[path.index(at) :], at])
                raise RegistryError(
                    en=f"The parents form the cycle {cycle!r}. Accepted: a tree. Cut one of these parents.",
                    zh=f"上级关系构成环 {cycle!r}。可接受：树形结构。请去掉其中一个上级。",
                )
            path.append(at)
            at = by_id[at].parent
        safe.update(path)


def _check_languages(by_id: Mapping[DomainId, Domain], leaves: Iterable[DomainId]) -> None:
    for domain in by_id.values():
        for lang in LANGS:
            for name, texts in (("names", domain.names), ("descriptions", domain.descriptions)):
                if not texts.get(lang, "").strip():
                    raise _missing(domain.id, name, lang)
    for leaf in leaves:
        for lang in LANGS:
            for name, lists in (("key_terms", by_id[leaf].key_terms), ("exemplars", by_id[leaf].exemplars)):
                if not any(text.strip() for text in lists.get(lang, ())):
                    raise _missing(leaf, name, lang)


def _missing(domain: DomainId, name: str, lang: Lang) -> RegistryError:
    return RegistryError(
        en=(
            f"Domain {domain!r} has no {name} in {lang!r}. Accepted: names and descriptions of every "
            "domain, and "
            f"key terms and exemplars of every leaf, in 'en' and 'zh'. Add the missing text."
        ),
        zh=(
            f"知识域 {domain!r} 缺少 {lang!r} 的 {name}。可接受：每个知识域有中英文名称与说明，"
            f"每个叶子有中英文关键词与例句。请补全。"
        ),
    )


def _index_texts(by_id: Mapping[DomainId, Domain]) -> dict[str, DomainId]:
    by_text: dict[str, DomainId] = {}
    for domain in by_id.values():
        for text in (domain.id, *domain.names.values(), *domain.aliases):
            other = by_text.setdefault(_fold(text), domain.id)
            if other != domain.id:
                raise RegistryError(
                    en=(
                        f"The name {text!r} is claimed by both {other!r} and {domain.id!r}. Accepted: each "
                        "name "
                        f"and alias for one domain. Remove it from one of them."
                    ),
                    zh=(
                        f"名称 {text!r} 同时属于 {other!r} 和 {domain.id!r}。可接受："
                        "每个名称和别名只属于一个知识域。"
                        f"请从其中一个移除。"
                    ),
                )
    return by_text


def _sha256(domains: Iterable[Domain]) -> str:
    canonical = json.dumps(
        [_record(domain) for domain in domains], ensure_ascii=True, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(canonical.encode()).hexdigest()
