import time
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from masks.domains import Lang
from masks.errors import MaskValueError
from masks.language import LANGS
from masks.leaks.markers import (
    FoundMarker,
    LeakMarker,
    MarkerDefect,
    MarkerFindingKind,
    StrippedText,
    check_marker,
    declared_leaf,
    find_markers,
    render_finding,
    render_marker,
    strip_markers,
)
from masks.vector import new_mask
from tests.masks import mask_strategies
from tests.masks.fakes import DATABASES, SECURITY, SPORT, small_registry

REGISTRY = small_registry()
ZH = "[蒙版泄漏 | agent=分析员 | 域=cs.databases | 强度=0.55]"
EN = "[mask leak | agent=analyst | domain=cs.databases | strength=0.55]"

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
markers = st.builds(LeakMarker, agent=names, domain=names, strength=mask_strategies.values)
plain = st.text("abc 。.\n数据库%=[]|", max_size=30)
langs = st.sampled_from(LANGS)


def test_markers_have_the_form_of_the_specification() -> None:
    assert render_marker(LeakMarker(agent="分析员", domain="cs.databases", strength=55), "zh") == ZH
    assert render_marker(LeakMarker(agent="analyst", domain="cs.databases", strength=55), "en") == EN


@given(markers, langs)
@example(LeakMarker(agent="a | 域=x]｜＝%7C\n [蒙版泄漏 | ", domain="[mask leak]", strength=-100), "zh")
@example(LeakMarker(agent=" two  spaces ", domain="\t\u2028", strength=0), "en")
@example(LeakMarker(agent="", domain="", strength=100), "en")
def test_every_marker_survives_writing_and_reading(marker: LeakMarker, lang: Lang) -> None:
    (found,) = find_markers(render_marker(marker, lang))
    assert found.marker == marker
    assert found.lang == lang
    assert found.defect is None


@given(plain, markers, plain, markers, plain, langs)
def test_markers_are_found_where_they_stand(
    before: str, first: LeakMarker, between: str, second: LeakMarker, after: str, lang: Lang
) -> None:
    one, two = render_marker(first, lang), render_marker(second, lang)
    text = f"{before}{one}{between}{two}{after}"
    found = find_markers(text)
    assert [marker.marker for marker in found] == [first, second]
    assert [(marker.start, marker.end) for marker in found] == [
        (len(before), len(before + one)),
        (len(before + one + between), len(before + one + between + two)),
    ]
    assert all(text[marker.start : marker.end] == marker.raw for marker in found)


@given(plain, markers, plain, markers, plain, langs)
def test_stripping_takes_markers_and_spaces_and_nothing_else(
    before: str, first: LeakMarker, between: str, second: LeakMarker, after: str, lang: Lang
) -> None:
    text = f"{before}{render_marker(first, lang)}{between}{render_marker(second, lang)}{after}"
    stripped = strip_markers(text)
    assert stripped.text.replace(" ", "") == f"{before}{between}{after}".replace(" ", "")
    assert find_markers(stripped.text) == ()
    assert strip_markers(stripped.text).text == stripped.text
    positions = [marker.position for marker in stripped.markers]
    assert positions == sorted(positions)
    bare = before.replace(" ", ""), (before + between).replace(" ", "")
    assert tuple(stripped.text[:position].replace(" ", "") for position in positions) == bare


@dataclass(frozen=True)
class Variant:
    id: str
    text: str


VARIANTS = [
    Variant("full width", "［蒙版泄漏｜agent＝分析员｜域＝cs.databases｜强度＝０．５５］"),
    Variant("corner brackets", "【蒙版泄漏 | agent=分析员 | 域=cs.databases | 强度=0.55】"),
    Variant("no spaces", "[蒙版泄漏|agent=分析员|域=cs.databases|强度=0.55]"),
    Variant("surplus spaces", "[  蒙版泄漏   |  agent =  分析员  |  域  = cs.databases |强度= 0.55  ]"),
    Variant("other order", "[蒙版泄漏 | 强度=0.55 | 域=cs.databases | agent=分析员]"),
    Variant("mixed languages", "[mask leak | agent=分析员 | 域=cs.databases | strength=0.55]"),
    Variant("upper case", "[Mask Leak | Agent=分析员 | Domain=cs.databases | STRENGTH=0.55]"),
    Variant("hyphen", "[mask-leak | agent=分析员 | domain=cs.databases | strength=.55]"),
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_reading_is_tolerant(variant: Variant) -> None:
    (found,) = find_markers(f"前文{variant.text}后文")
    assert found.marker == LeakMarker(agent="分析员", domain="cs.databases", strength=55)
    assert found.raw == variant.text


@pytest.mark.parametrize(
    "domain", ["cs.databases", "sql", "the cs.databases field", "cs.databases领域", "数据库"]
)
def test_a_domain_may_be_given_by_id_name_or_alias(domain: str) -> None:
    assert declared_leaf(LeakMarker(agent="a", domain=domain, strength=0), REGISTRY) == DATABASES


@pytest.mark.parametrize(
    ("text", "defect"),
    [
        ("[mask leak | agent=a | domain=b]", MarkerDefect.MISSING_FIELD),
        ("[mask leak | ]", MarkerDefect.UNKNOWN_FIELD),
        ("[mask leak | agent=a | agent=b | domain=c | strength=0.5]", MarkerDefect.REPEATED_FIELD),
        ("[mask leak | agent=a | domain=b | strength=0.5 | mood=good]", MarkerDefect.UNKNOWN_FIELD),
        ("[mask leak | agent=a | domain=b | strength=high]", MarkerDefect.BAD_STRENGTH),
        ("[蒙版泄漏 | agent=a | 域=b | 强度=1.2]", MarkerDefect.BAD_STRENGTH),
    ],
)
def test_a_malformed_marker_is_found_and_named(text: str, defect: MarkerDefect) -> None:
    (found,) = find_markers(f"x {text} y")
    assert found.marker is None
    assert found.defect is defect
    assert strip_markers(f"x {text} y").text == "x y"
    (finding,) = check_marker(found, "a", new_mask("a"), REGISTRY)
    assert finding.kind is MarkerFindingKind.MALFORMED
    assert text in render_finding(finding, "en")


def test_an_unclosed_marker_does_not_swallow_the_sentence_behind_it() -> None:
    text = "Rows lock. [mask leak | agent=a | domain=cs.databases | strength=0.5 Readers wait."
    (found,) = find_markers(text)
    assert found.defect is MarkerDefect.UNCLOSED
    assert strip_markers(text).text == "Rows lock. Readers wait."


@pytest.mark.parametrize(
    "text", ["a mask leak happened", "[mask leak]", "[see](x) | a=b", "[1] 蒙版泄漏很少", ""]
)
def test_text_about_leaks_is_no_marker(text: str) -> None:
    assert find_markers(text) == ()
    assert strip_markers(text) == StrippedText(text=text, markers=())


@pytest.mark.parametrize(
    ("text", "expected", "position"),
    [
        (f"Rows lock {EN}. Next.", "Rows lock. Next.", 9),
        (f"Rows lock. {EN} Next.", "Rows lock. Next.", 10),
        (f"{EN} Rows lock.", "Rows lock.", 0),
        (f"行锁会等待{ZH}。下一句。", "行锁会等待。下一句。", 5),
        (f"- one\n{EN} two", "- one\ntwo", 6),
        (f"end {EN}", "end", 3),
    ],
)
def test_no_gap_stays_and_the_position_is_that_of_the_marker(text: str, expected: str, position: int) -> None:
    stripped = strip_markers(text)
    assert stripped.text == expected
    (marker,) = stripped.markers
    assert marker.position == position


def test_a_marker_hidden_in_a_marker_does_not_survive() -> None:
    text = f"[mask{EN} leak | agent=b | domain=x | strength=0.10] claim"
    stripped = strip_markers(text)
    assert stripped.text == "claim"
    assert [marker.position for marker in stripped.markers] == [0, 0]
    agents = {marker.found.marker.agent for marker in stripped.markers if marker.found.marker}
    assert agents == {"analyst", "b"}


def test_hostile_text_is_read_in_linear_time() -> None:
    started = time.perf_counter()
    for text in (
        "[mask leak " + "| a   " * 20_000,
        "[mask leak" + " " * 50_000,
        "[蒙版泄漏 | agent=" * 5_000,
    ):
        find_markers(text)
    assert time.perf_counter() - started < 2.0


def _found(marker: LeakMarker) -> FoundMarker:
    (found,) = find_markers(render_marker(marker, "en"))
    return found


def test_a_right_declaration_has_no_findings() -> None:
    mask = new_mask("分析员", {DATABASES: 55})
    for text in (ZH, ZH.replace("分析员", "分析员 ")):
        (found,) = find_markers(text)
        assert check_marker(found, "分析员", mask, REGISTRY) == ()


@pytest.mark.parametrize(
    ("marker", "kinds"),
    [
        (LeakMarker(agent="b", domain="cs.databases", strength=55), {"WRONG_AGENT"}),
        (LeakMarker(agent="a", domain="cs.databases", strength=54), {"WRONG_STRENGTH"}),
        (LeakMarker(agent="a", domain="alchemy", strength=55), {"UNKNOWN_DOMAIN"}),
        (LeakMarker(agent="a", domain="cs", strength=55), {"UNKNOWN_DOMAIN"}),
        (LeakMarker(agent="b", domain="alchemy", strength=55), {"WRONG_AGENT", "UNKNOWN_DOMAIN"}),
        (LeakMarker(agent="b", domain="cs.databases", strength=-1), {"WRONG_AGENT", "WRONG_STRENGTH"}),
        (LeakMarker(agent="a", domain="life.sport", strength=90), {"NO_LEAK"}),
    ],
)
def test_wrong_declarations_are_findings(marker: LeakMarker, kinds: set[str]) -> None:
    mask = new_mask("a", {DATABASES: 55, SPORT: 90, SECURITY: 0})
    findings = check_marker(_found(marker), "a", mask, REGISTRY)
    assert {finding.kind.name for finding in findings} == kinds
    for finding in findings:
        assert finding.got in render_finding(finding, "en")
        assert "泄漏标记" in render_finding(finding, "zh")


def test_the_expected_strength_is_shown() -> None:
    mask = new_mask("a", {DATABASES: 55})
    (finding,) = check_marker(_found(LeakMarker(agent="a", domain="sql", strength=54)), "a", mask, REGISTRY)
    assert render_finding(finding, "en") == "The leak marker states the strength '0.54'; expected '0.55'"


def test_a_strength_off_the_scale_cannot_be_built() -> None:
    with pytest.raises(MaskValueError):
        LeakMarker(agent="a", domain="b", strength=101)


@given(plain, markers, langs)
def test_stripped_texts_round_trip_as_json(text: str, marker: LeakMarker, lang: Lang) -> None:
    adapter = TypeAdapter(StrippedText)
    stripped = strip_markers(f"{text} {render_marker(marker, lang)} [mask leak | x]")
    assert adapter.validate_json(adapter.dump_json(stripped)) == stripped
