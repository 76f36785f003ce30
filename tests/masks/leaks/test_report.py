import pytest
from pydantic import TypeAdapter

from masks.bands import Band, Thresholds
from masks.domains import DomainId
from masks.leaks.detect import DetectedSpan, Detection, SentenceSpan
from masks.leaks.markers import LeakMarker, MarkerFindingKind, render_marker, strip_markers
from masks.leaks.provenance import SpanTracer, SuppliedText
from masks.leaks.report import (
    LeakReport,
    LeakStatus,
    WrittenOutput,
    counts,
    cross,
    merge,
    render_text,
    status,
)
from masks.vector import new_mask
from tests.masks.fakes import COOKING, DATABASES, SECURITY, SPORT, small_registry

REGISTRY = small_registry()
MASK = new_mask("ann", {DATABASES: 90, COOKING: 55, SECURITY: -100})
FIRST, SECOND, THIRD = "Rows wait for locks.", "Soup simmers for an hour.", "Onions go in first."
SOURCE = SuppliedText(text=SECOND, kind="source", locator="notes/soup.md:3")


def _marker(domain: str = COOKING, agent: str = "ann", strength: int = 55) -> str:
    return render_marker(LeakMarker(agent=agent, domain=domain, strength=strength), "en")


def _output(text: str) -> WrittenOutput:
    stripped = strip_markers(text)
    sentences = []
    for sentence in (FIRST, SECOND, THIRD):
        if sentence in stripped.text:
            start = stripped.text.index(sentence)
            sentences.append(SentenceSpan(text=sentence, start=start, end=start + len(sentence)))
    return WrittenOutput(agent="ann", mask=MASK, path=2, stripped=stripped, sentences=tuple(sentences))


def _cross(
    text: str, *found: tuple[DomainId, tuple[int, ...]], supplied: tuple[SuppliedText, ...] = ()
) -> LeakReport:
    output = _output(text)
    detected = tuple(
        DetectedSpan(
            domain=domain,
            start=output.sentences[places[0]].start,
            end=output.sentences[places[-1]].end,
            sentences=places,
            probability=0.9,
        )
        for domain, places in found
    )
    detection = Detection(distributions=(), spans=detected, detector="fake")
    return cross(output, detection, SpanTracer(supplied), REGISTRY)


def test_a_leak_both_declared_and_detected_is_one_entry() -> None:
    report = _cross(f"{FIRST} {SECOND} {_marker()}", (COOKING, (1,)), supplied=(SOURCE,))
    (leak,) = report.entries
    assert status(leak) is LeakStatus.CONFIRMED
    assert (leak.agent, leak.domain, leak.strength, leak.band) == ("ann", COOKING, 55, Band.BACKGROUND)
    assert (leak.origin, leak.locator, leak.path) == ("source", "notes/soup.md:3", 2)
    assert (leak.text, leak.start) == (SECOND, len(FIRST) + 1)
    assert report.findings == ()


def test_a_leak_only_detected_is_undeclared_and_parametric_when_it_stands_nowhere() -> None:
    (leak,) = _cross(f"{FIRST} {SECOND}", (COOKING, (1,))).entries
    assert status(leak) is LeakStatus.UNDECLARED
    assert (leak.origin, leak.locator) == ("parametric", None)


def test_a_leak_only_declared_stays_in_the_report() -> None:
    (leak,) = _cross(f"{FIRST} {SECOND} {_marker()}").entries
    assert status(leak) is LeakStatus.DECLARED_ONLY
    assert leak.text == SECOND


@pytest.mark.parametrize(
    "text",
    [f"{SECOND} {_marker()} {THIRD}", f"{SECOND} {THIRD} {_marker()}", f"{_marker()} {SECOND} {THIRD}"],
)
def test_one_marker_declares_the_run_of_sentences_that_it_touches(text: str) -> None:
    (leak,) = _cross(text, (COOKING, (0, 1))).entries
    assert status(leak) is LeakStatus.CONFIRMED
    assert leak.text == f"{SECOND} {THIRD}"


def test_a_marker_between_chinese_sentences_belongs_to_the_one_before_it() -> None:
    first, second = "汤要慢炖一小时。", "事务要等待行锁。"
    output = WrittenOutput(
        agent="ann",
        mask=MASK,
        path=2,
        stripped=strip_markers(f"{first}{_marker()}{second}"),
        sentences=(
            SentenceSpan(text=first, start=0, end=len(first)),
            SentenceSpan(text=second, start=len(first), end=len(first + second)),
        ),
    )
    nothing = Detection(distributions=(), spans=(), detector="fake")
    (leak,) = cross(output, nothing, SpanTracer(()), REGISTRY).entries
    assert leak.text == first


def test_a_marker_elsewhere_or_of_another_domain_declares_nothing_here() -> None:
    elsewhere = _cross(f"{FIRST} {_marker()} {SECOND} {THIRD}", (COOKING, (2,)))
    assert [status(leak) for leak in elsewhere.entries] == [LeakStatus.UNDECLARED, LeakStatus.DECLARED_ONLY]
    other = _cross(f"{FIRST} {SECOND} {_marker(domain=SPORT, strength=0)}", (COOKING, (1,)))
    assert [(leak.domain, status(leak)) for leak in other.entries] == [
        (COOKING, LeakStatus.UNDECLARED),
        (SPORT, LeakStatus.DECLARED_ONLY),
    ]


@pytest.mark.parametrize(
    ("marker", "kind"),
    [
        (_marker(agent="bob"), MarkerFindingKind.WRONG_AGENT),
        (_marker(domain="alchemy"), MarkerFindingKind.UNKNOWN_DOMAIN),
        (_marker(domain=DATABASES, strength=90), MarkerFindingKind.NO_LEAK),
        ("[mask leak | agent=ann]", MarkerFindingKind.MALFORMED),
    ],
)
def test_a_wrong_marker_is_a_finding_and_declares_nothing(marker: str, kind: MarkerFindingKind) -> None:
    report = _cross(f"{FIRST} {SECOND} {marker}", (COOKING, (1,)))
    assert [status(leak) for leak in report.entries] == [LeakStatus.UNDECLARED]
    assert [finding.kind for finding in report.findings] == [kind]


def test_a_wrong_strength_is_a_finding_but_declares() -> None:
    report = _cross(f"{FIRST} {SECOND} {_marker(strength=10)}", (COOKING, (1,)))
    (leak,) = report.entries
    assert status(leak) is LeakStatus.CONFIRMED
    assert leak.strength == 55
    assert [finding.kind for finding in report.findings] == [MarkerFindingKind.WRONG_STRENGTH]


def test_what_was_handed_over_is_no_leak() -> None:
    handed = SuppliedText(text=f"{SECOND} {THIRD}", kind="input", locator="n1.claims")
    report = _cross(f"{SECOND} {THIRD}", (COOKING, (0, 1)), supplied=(handed,))
    assert report == LeakReport()


def test_one_invented_sentence_makes_a_span_parametric() -> None:
    (leak,) = _cross(f"{SECOND} {THIRD}", (COOKING, (0, 1)), supplied=(SOURCE,)).entries
    assert leak.origin == "parametric"


def test_undeclared_leaks_come_first_then_the_strongest() -> None:
    report = _cross(f"{FIRST} {SECOND} {_marker()} {THIRD}", (SPORT, (0,)), (COOKING, (1,)), (SECURITY, (2,)))
    assert [(leak.domain, leak.declared) for leak in report.entries] == [
        (SPORT, False),
        (SECURITY, False),
        (COOKING, True),
    ]
    assert [leak.domain for leak in report.undeclared] == [SPORT, SECURITY]


def test_reports_merge_and_count_per_agent_and_domain() -> None:
    declared = _cross(f"{FIRST} {SECOND} {_marker()}", (COOKING, (1,)))
    hidden = _cross(f"{FIRST} {SECOND}", (COOKING, (1,)), (SPORT, (0,)))
    merged = merge([declared, hidden])
    assert [leak.declared for leak in merged.entries] == [False, False, True]
    assert [tuple(row) for row in counts(merged)] == [("ann", COOKING, 2, 1), ("ann", SPORT, 1, 1)]
    assert merge([]) == LeakReport()


def test_the_text_shows_agent_domain_strength_origin_and_span() -> None:
    report = merge(
        [
            _cross(f"{FIRST} {SECOND} {_marker(strength=10)}", (COOKING, (1,)), supplied=(SOURCE,)),
            _cross(FIRST, (SPORT, (0,))),
        ]
    )
    assert render_text(report, "en").splitlines() == [
        "Undeclared (1)",
        f"  ann -> life.sport | silent | strength 0.00 | path 2 | parametric, nothing to trace | 0-20 | {FIRST}",
        "Declared and detected (1)",
        f"  ann -> life.food | background | strength 0.55 | path 2 | source notes/soup.md:3 | 21-46 | {SECOND}",
        "Faulty markers (1)",
        "  The leak marker states the strength '0.10'; expected '0.55'",
    ]
    chinese = render_text(report, "zh")
    assert chinese.startswith("未声明 (1)\n  ann -> life.sport | 静默域 | 强度 0.00 | 路径 2 | 参数化")


def test_an_empty_report_says_so() -> None:
    assert render_text(LeakReport(), "en") == "No leaks."
    assert render_text(LeakReport(), "zh") == "没有泄漏。"


def test_long_spans_are_cut_and_line_breaks_do_not_break_the_line() -> None:
    (leak,) = _cross(FIRST, (SPORT, (0,))).entries
    long = TypeAdapter(type(leak)).validate_python(
        {**TypeAdapter(type(leak)).dump_python(leak), "text": "a\nb " * 60}
    )
    (line,) = render_text(LeakReport(entries=(long,)), "en").splitlines()[1:]
    assert line.endswith("…")
    assert len(line) < 200


def test_reports_round_trip_as_json() -> None:
    report = _cross(f"{FIRST} {SECOND} {_marker(strength=10)}", (COOKING, (1,)), supplied=(SOURCE,))
    adapter = TypeAdapter(LeakReport)
    assert adapter.validate_json(adapter.dump_json(report)) == report


def test_thresholds_decide_the_band_of_an_entry() -> None:
    output = _output(f"{FIRST} {SECOND}")
    span = DetectedSpan(domain=COOKING, start=21, end=46, sentences=(1,), probability=1.0)
    detection = Detection(distributions=(), spans=(span,), detector="fake")
    (leak,) = cross(output, detection, SpanTracer([]), REGISTRY, Thresholds(main=80, background=60)).entries
    assert leak.band is Band.SILENT
