"""One file in the data directory adds knowledge domains or overrides those of the product."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from masks.domains import DomainId, default_registry
from orchestrator.shell.domains_file import InvalidDomainsFile, registry_in
from orchestrator.shell.proposing import versions_of
from orchestrator.shell.settings import Settings
from orchestrator.shell.wiring import open_workshop
from tests.interfaces.cli.harness import call

POTTERY = {
    "id": "life.pottery",
    "parent": "life",
    "names": {"en": "Pottery", "zh": "陶艺"},
    "aliases": ["ceramics craft"],
    "descriptions": {"en": "Making vessels of clay.", "zh": "以黏土制作器皿。"},
    "key_terms": {"en": ["kiln", "glaze"], "zh": ["窑", "釉"]},
    "exemplars": {
        "en": ["The bowl is fired in the kiln at 1,200 degrees."],
        "zh": ["碗在窑中以一千二百度烧成。"],
    },
}
POTTERY_YAML = """\
- id: life.pottery
  parent: life
  names: {en: Pottery, zh: 陶艺}
  aliases: [ceramics craft]
  descriptions: {en: Making vessels of clay., zh: 以黏土制作器皿。}
  key_terms: {en: [kiln, glaze], zh: [窑, 釉]}
  exemplars:
    en: ["The bowl is fired in the kiln at 1,200 degrees."]
    zh: [碗在窑中以一千二百度烧成。]
"""


def test_without_a_file_the_domains_are_those_of_the_product(tmp_path: Path) -> None:
    assert registry_in(tmp_path) is default_registry()
    assert registry_in(tmp_path / "missing") is default_registry()


def test_a_record_adds_a_domain_and_json_and_yaml_say_the_same(tmp_path: Path) -> None:
    homes = tmp_path / "json", tmp_path / "yaml"
    for home, name, text in zip(
        homes, ("domains.json", "domains.yaml"), (json.dumps([POTTERY]), POTTERY_YAML), strict=True
    ):
        home.mkdir()
        (home / name).write_text(text, encoding="utf-8")
    first, second = map(registry_in, homes)
    assert first.resolve("陶艺") == first.resolve("Ceramics Craft") == "life.pottery"
    assert len(first.leaves) == len(default_registry().leaves) + 1
    assert first.sha256 == second.sha256 != default_registry().sha256


def test_a_record_of_a_known_domain_replaces_the_fields_it_names(tmp_path: Path) -> None:
    names = {"en": "Stores of data", "zh": "数据存储"}
    (tmp_path / "domains.json").write_text(json.dumps([{"id": "cs.databases", "names": names}]), "utf-8")
    changed, before = (r.get(DomainId("cs.databases")) for r in (registry_in(tmp_path), default_registry()))
    assert dict(changed.names) == names
    assert changed.exemplars == before.exemplars


@pytest.mark.parametrize(
    ("text", "told", "told_zh"),
    [
        ("[{", ("can't be read", "a list of records"), "无法读取"),
        ('{"id": "life.pottery"}', ("holds {'id'", "a list of records"), "记录的列表"),
        ('[{"names": {}}]', ("record 1", "id"), "第 1 条记录"),
        ("[7]", ("record 1, 7,", "id"), "第 1 条记录"),
        (json.dumps([{**POTTERY, "parent": "crafts"}]), ("'life.pottery'", "parent 'crafts'"), "上级"),
        (json.dumps([{**POTTERY, "colour": "red"}]), ("'life.pottery'", "colour", "key_terms"), "colour"),
        (json.dumps([{**POTTERY, "names": {"en": "Pottery"}}]), ("'life.pottery'", "names", "'zh'"), "缺少"),
        (json.dumps([{**POTTERY, "exemplars": 5}]), ("'life.pottery'", "exemplars", "5"), "exemplars"),
        (json.dumps([POTTERY, POTTERY]), ("'life.pottery'", "twice"), "重复"),
        (
            json.dumps([{**POTTERY, "aliases": ["databases"]}]),
            ("'cs.databases'", "'life.pottery'"),
            "同时属于",
        ),
    ],
)
def test_a_faulty_file_is_named_with_record_field_and_what_is_accepted(
    tmp_path: Path, text: str, told: tuple[str, ...], told_zh: str
) -> None:
    path = tmp_path / "domains.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDomainsFile) as caught:
        registry_in(tmp_path)
    message = caught.value.message("en")
    assert message.startswith(f"{path}: ")
    assert "Accepted" in message
    assert all(part in message for part in told)
    assert told_zh in caught.value.message("zh")


def test_two_files_are_refused(tmp_path: Path) -> None:
    for name in ("domains.json", "domains.yml"):
        (tmp_path / name).write_text("[]", encoding="utf-8")
    with pytest.raises(InvalidDomainsFile, match=r"holds domains\.json, domains\.yml"):
        registry_in(tmp_path)


def test_a_run_records_the_domains_that_it_was_drafted_with(tmp_path: Path) -> None:
    (tmp_path / "domains.yaml").write_text(POTTERY_YAML, encoding="utf-8")
    with_pottery = open_workshop(Settings(home=tmp_path, lang="en"))
    assert "life.pottery" in with_pottery.registry
    assert versions_of(with_pottery)["registry"].startswith(with_pottery.registry.sha256[:12])
    with_pottery.store.close()


def test_the_commands_know_the_users_domains_and_refuse_a_faulty_file(tmp_path: Path) -> None:
    path = tmp_path / "domains.json"
    path.write_text(json.dumps([POTTERY]), encoding="utf-8")
    called = call("domains", home=tmp_path)
    assert (called.code, "life.pottery" in called.out) == (0, True)
    path.write_text(json.dumps([{**POTTERY, "parent": "crafts"}]), encoding="utf-8")
    refused = call("domains", home=tmp_path)
    assert refused.code == 2
    assert "domains.json: Domain 'life.pottery' names the unknown parent 'crafts'" in refused.err
