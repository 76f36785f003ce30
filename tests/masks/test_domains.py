from collections import Counter
from typing import Any

import pytest
from pydantic import TypeAdapter

from masks.domains import Domain, DomainId, DomainRegistry, default_registry
from masks.errors import RegistryError, UnknownDomain
from masks.language import LANGS
from tests.masks.fakes import COOKING, DATABASES, SECURITY, SPORT, record, small_records, small_registry


def test_the_default_taxonomy_has_two_levels_and_about_thirty_leaves() -> None:
    registry = default_registry()
    assert 30 <= len(registry.leaves) <= 45
    for leaf in registry.leaves:
        parent = registry.parent_of(leaf)
        assert parent is not None
        assert registry.parent_of(parent) is None
        assert leaf == f"{parent}.{leaf.partition('.')[2]}"
    assert list(registry.leaves) == sorted(registry.leaves)
    assert DomainRegistry.default() is registry


@pytest.mark.parametrize("leaf", default_registry().leaves)
def test_each_default_leaf_is_described_in_both_languages(leaf: DomainId) -> None:
    domain = default_registry().get(leaf)
    for lang in LANGS:
        assert domain.names[lang]
        assert domain.descriptions[lang]
        assert len(domain.key_terms[lang]) >= 20
        assert len(domain.exemplars[lang]) >= 8
        assert all(text == text.strip() for text in (*domain.key_terms[lang], *domain.exemplars[lang]))
    assert all(text.isascii() for text in domain.exemplars["en"])
    assert not any(text.isascii() for text in domain.exemplars["zh"])


def test_each_default_domain_can_be_named_otherwise_in_both_languages() -> None:
    for domain in default_registry().domains:
        in_latin = [alias.isascii() for alias in domain.aliases]
        assert True in in_latin, domain.id
        assert False in in_latin, domain.id


def test_a_key_term_of_the_default_taxonomy_belongs_to_one_leaf() -> None:
    registry = default_registry()
    terms = Counter(
        term
        for leaf in registry.leaves
        for term in {text.casefold() for lang in LANGS for text in registry.get(leaf).key_terms[lang]}
    )
    assert [text for text, number in terms.items() if number > 1] == []


def test_no_sentence_of_the_default_taxonomy_stands_twice() -> None:
    sentences = Counter(
        text
        for domain in default_registry().domains
        for lang in domain.exemplars
        for text in domain.exemplars[lang]
    )
    assert [text for text, number in sentences.items() if number > 1] == []


def test_sentences_of_a_domain_do_not_share_a_pattern() -> None:
    for leaf in default_registry().leaves:
        openings = [text.split()[0:2] for text in default_registry().get(leaf).exemplars["en"]]
        assert max(Counter(map(tuple, openings)).values()) <= 2


def test_every_id_name_and_alias_resolves_to_its_domain() -> None:
    registry = default_registry()
    for domain in registry.domains:
        for text in (domain.id, *domain.names.values(), *domain.aliases):
            assert registry.resolve(text) == domain.id


@pytest.mark.parametrize(
    "text", ["cs.databases", "CS.Databases", "ＳＱＬ", " sql ", "数据库", "the  CS.databases field"]
)
def test_width_case_and_spaces_do_not_matter(text: str) -> None:
    assert small_registry().resolve(text) == DATABASES


def test_an_unknown_domain_names_what_is_close() -> None:
    with pytest.raises(UnknownDomain, match=r"'cs\.databses'") as caught:
        default_registry().resolve("cs.databses")
    assert caught.value.matches[0] == "cs.databases"
    assert "maskgrad domains" in str(caught.value)
    assert "cs.databases" in caught.value.message("zh")
    with pytest.raises(LookupError):
        default_registry().get(DomainId("nowhere"))


def test_the_tree_is_walked_in_a_stable_order() -> None:
    registry = DomainRegistry.from_records(reversed(small_records()))
    assert registry.leaves == (DATABASES, SECURITY, COOKING, SPORT)
    assert registry.children(DomainId("cs")) == (DATABASES, SECURITY)
    assert registry.leaves_under(DomainId("life")) == (COOKING, SPORT)
    assert registry.leaves_under(SPORT) == (SPORT,)
    assert registry.parent_of(SPORT) == "life"
    assert registry.parent_of(DomainId("life")) is None
    assert registry.is_leaf(SPORT)
    assert not registry.is_leaf("life")
    assert not registry.is_leaf("nowhere")
    assert "life" in registry
    assert "nowhere" not in registry


def test_the_digest_covers_the_content_and_not_its_order() -> None:
    assert DomainRegistry.from_records(reversed(small_records())).sha256 == small_registry().sha256
    changed = small_registry().with_overrides([{"id": "cs.databases", "aliases": ["SQL"]}])
    assert changed.sha256 != small_registry().sha256


def test_an_override_replaces_the_given_fields_only() -> None:
    registry = small_registry().with_overrides(
        [{"id": "cs.databases", "names": {"en": "Data", "zh": "数据"}}]
    )
    assert registry.resolve("data") == DATABASES
    assert registry.get(DATABASES).exemplars == small_registry().get(DATABASES).exemplars
    assert registry.leaves == small_registry().leaves


def test_an_override_adds_a_domain() -> None:
    registry = small_registry().with_overrides(
        [record("life.chess", parent="life", exemplars=["rook takes bishop"])]
    )
    assert registry.leaves_under(DomainId("life")) == ("life.chess", COOKING, SPORT)
    assert small_registry().leaves == (DATABASES, SECURITY, COOKING, SPORT)


def test_domains_round_trip_as_json() -> None:
    adapter = TypeAdapter(list[Domain])
    domains = list(default_registry().domains)
    assert adapter.validate_json(adapter.dump_json(domains)) == domains


def _without(domain: str, field: str, lang: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = small_records()
    for entry in records:
        if entry["id"] == domain:
            entry[field] = {key: text for key, text in entry[field].items() if key != lang}
    return records


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("field", ["names", "descriptions", "key_terms", "exemplars"])
def test_a_missing_language_is_refused(field: str, lang: str) -> None:
    with pytest.raises(RegistryError, match=rf"'cs\.databases' has no {field} in '{lang}'") as caught:
        DomainRegistry.from_records(_without("cs.databases", field, lang))
    assert "缺少" in caught.value.message("zh")


def test_contradicting_records_are_refused() -> None:
    good = small_records()
    with pytest.raises(RegistryError, match=r"'cs\.databases' occurs twice"):
        DomainRegistry.from_records([*good, good[1]])
    with pytest.raises(RegistryError, match="'life' occurs twice"):
        small_registry().with_overrides([{"id": "life"}, {"id": "life"}])
    with pytest.raises(RegistryError, match="unknown parent 'nowhere'"):
        DomainRegistry.from_records([*good, record("x", parent="nowhere", exemplars=["x"])])
    with pytest.raises(RegistryError, match=r"claimed by both 'cs\.databases' and 'x'"):
        DomainRegistry.from_records([*good, record("x", exemplars=["x"], aliases=["ｓｑｌ"])])
    with pytest.raises(RegistryError, match=r"'Databases!' is not accepted"):
        DomainRegistry.from_records([*good, record("Databases!", exemplars=["x"])])


def test_a_cycle_is_named_with_its_path() -> None:
    cycle = [record("a", parent="c"), record("b", parent="a"), record("c", parent="b")]
    with pytest.raises(RegistryError, match="'a -> c -> b -> a'"):
        DomainRegistry.from_records(cycle)


def test_a_malformed_record_is_refused_with_its_field() -> None:
    with pytest.raises(RegistryError, match="nonsense"):
        DomainRegistry.from_records([{**record("x", exemplars=["x"]), "nonsense": 1}])
    with pytest.raises(RegistryError, match="'x': names"):
        DomainRegistry.from_records([{**record("x", exemplars=["x"]), "names": "x"}])


@pytest.mark.parametrize(
    ("change", "en", "zh"),
    [
        ({"names": None}, "the field `names` is missing.", "缺少字段 `names`。"),
        (
            {"names": None, "descriptions": None},
            "the fields `names`, `descriptions` are missing.",
            "缺少字段 `names`、`descriptions`。",
        ),
        ({"nonsense": 1}, "the field `nonsense` is not known.", "字段 `nonsense` 不存在。"),
        ({"names": "x"}, "names 'x' is not one entry for each language.", "names 'x' 不是每种语言一项。"),
        ({"parent": 7}, "parent 7 is not a text.", "parent 7 不是文本。"),
        ({"aliases": 7}, "aliases 7 is not a list.", "aliases 7 不是列表。"),
        (
            {"names": {"en": "x", "zh": "x", "fr": "x"}},
            "names.fr 'fr' is not a language: 'en' or 'zh'.",
            "names.fr 'fr' 不是语言：'en' 或 'zh'。",
        ),
    ],
)
def test_what_is_wrong_with_a_record_is_said_in_both_languages(
    change: dict[str, Any], en: str, zh: str
) -> None:
    changed = {**record("x", exemplars=["x"]), **change}
    with pytest.raises(RegistryError) as caught:
        DomainRegistry.from_records([{name: value for name, value in changed.items() if value is not None}])
    assert caught.value.message("en").startswith(f"Domain 'x': {en} Accepted fields: id, names")
    assert caught.value.message("zh").startswith(f"知识域 'x'：{zh}可接受的字段：id、names")


def test_an_unknown_domain_sends_nobody_to_a_file_that_nothing_reads() -> None:
    error = UnknownDomain("cs.databses", ["cs.databases"])
    for lang in ("en", "zh"):
        message = error.message(lang)
        assert "maskgrad domains" in message
        assert "file" not in message
        assert "文件" not in message
