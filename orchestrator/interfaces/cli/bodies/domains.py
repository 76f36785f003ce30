"""Look up knowledge domains."""

from __future__ import annotations

from typing import Any

from masks.domains import Domain
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session


def domains_list(session: Session) -> Result:
    """Return the registry as a tree of ids and names."""
    registry = session.registry
    lines = []
    for domain in registry.domains:
        depth = domain.id.count(".")
        lines.append(f"{'  ' * depth}{domain.id:<{28 - 2 * depth}} {domain.names[session.lang]}")
    documents = [_document(domain) for domain in registry.domains]
    return Result(data={"sha256": registry.sha256, "domains": documents}, text="\n".join(lines))


def domains_show(session: Session, domain: str) -> Result:
    """Return one domain; raises `UnknownDomain` with close matches."""
    registry = session.registry
    found = registry.get(registry.resolve(domain))
    lang, pick = session.lang, session.pick
    lines = [
        f"{found.id}  {found.names['en']} · {found.names['zh']}",
        found.descriptions[lang],
        pick("aliases: ", "别名：") + (", ".join(found.aliases) or "-"),
        pick("parent: ", "上级：") + (found.parent or "-"),
        pick("leaves: ", "下级：") + ", ".join(registry.leaves_under(found.id)),
        pick("key terms: ", "关键词：") + (", ".join(found.key_terms.get(lang, ())) or "-"),
    ]
    leaves = list(registry.leaves_under(found.id))
    return Result(data={**_document(found), "leaves": leaves}, text="\n".join(lines))


def _document(domain: Domain) -> dict[str, Any]:
    return {
        "id": domain.id,
        "names": dict(domain.names),
        "aliases": list(domain.aliases),
        "parent": domain.parent,
        "descriptions": dict(domain.descriptions),
        "key_terms": {lang: list(terms) for lang, terms in domain.key_terms.items()},
    }
