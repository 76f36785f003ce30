"""Leaks are listed with everything that a person needs to judge them, and their marks stay on the claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.evidence import LeakMark, LineSpan, Source, SourceId, claim_of, quote, with_leak
from agents.results import WorkOutput
from masks.bands import Band
from masks.domains import DomainId
from masks.leaks.provenance import Leak
from orchestrator.core.claims import ClaimVerdict, EvidenceVerdict, Level, Verified
from orchestrator.core.events import AttemptVerified, Event
from orchestrator.core.ids import ArtefactId
from orchestrator.core.input_key import WORK_OUTPUT
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.builders import verification
from tests.interfaces.cli.harness import call, store_log
from tests.interfaces.cli.logs import finished_log

QUOTE = "The offer lapses after 14 days."
SOURCE = Source(
    id=SourceId("s-1"),
    uri="permits.md",
    title="Permits",
    digest="ab" * 32,
    retrieved_at="2026-01-01T00:00:00Z",
)
EVIDENCE = quote(
    SOURCE.id, LineSpan(source=SOURCE.id, start_line=7, end_line=8, start_char=10, end_char=41), QUOTE
)
MARK = LeakMark(agent="A1", domain="law.civil", strength=50, origin="source", declared=True, node="a")
CLAIM = with_leak(claim_of("a", QUOTE, (EVIDENCE.id,), core=True), MARK)
VERDICT = Verified(source="permits.md:7")

DECLARED = Leak(
    agent="A1",
    domain=DomainId("law.civil"),
    m100=50,
    band=Band.BACKGROUND,
    origin="source",
    declared=True,
    detected=True,
    start=0,
    end=len(QUOTE),
    text=QUOTE,
    locator="permits.md:7-8",
    path=2,
)
HIDDEN = replace(
    DECLARED,
    m100=20,
    band=Band.SILENT,
    origin="parametric",
    declared=False,
    locator=None,
    start=40,
    end=52,
    text="By the way.",
    noted="2b",
)


def leaking_log(artefact: str) -> list[Event]:
    """The finished run, in which `a` leaked twice."""

    def changed(event: Event) -> Event:
        body = event.body
        if not isinstance(body, AttemptVerified) or body.node != "a":
            return event
        judged = ClaimVerdict(
            claim=CLAIM.id,
            verdict=VERDICT,
            level=Level.L2,
            traced=True,
            evidence=(EvidenceVerdict(evidence=EVIDENCE.id, verdict=VERDICT),),
        )
        leaked = replace(
            body,
            output=ArtefactId(artefact),
            leaks=(DECLARED, HIDDEN),
            verification=verification(verdicts=(judged,)),
        )
        return replace(event, body=leaked)

    return [changed(event) for event in finished_log()]


def stored(home: Path, source: Source) -> Path:
    """A home with the leaking run, whose note is `source`."""
    store = SqliteStore(home / "runs.db")
    output = WorkOutput(text=QUOTE, claims=(CLAIM,), evidence=(EVIDENCE,), sources=(source,))
    artefact = store.put_artefact(WORK_OUTPUT.dump_json(output))
    store.close()
    store_log(home, "r-leak22", leaking_log(artefact))
    return home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return stored(tmp_path, SOURCE)


def test_a_leak_names_agent_domain_strength_origin_span_and_position(home: Path) -> None:
    hidden, declared = call("leaks", "r-leak22", "--json", home=home).data["leaks"]
    assert declared == {
        "node": "a",
        "generation": 1,
        "attempt": 1,
        "in_accepted_output": True,
        "agent": "A1",
        "domain": "law.civil",
        "strength": 0.5,
        "band": "background",
        "origin": "source",
        "declared": True,
        "detected": True,
        "path": 2,
        "noted_against_agent": None,
        "blocked": False,
        "start": 0,
        "end": len(QUOTE),
        "text": QUOTE,
        "locator": "permits.md:7-8",
    }
    assert (hidden["declared"], hidden["origin"], hidden["locator"]) == (False, "parametric", None)
    assert hidden["noted_against_agent"] == "2b"


@pytest.mark.parametrize(
    ("lang", "noted", "blocked"),
    [
        ("en", "noted against A1 (rule 2b)", "(blocked and written again)"),
        ("zh", "记在 A1 名下（规则 2b）", "（已阻断并重新生成）"),
    ],
)
def test_what_is_noted_against_an_agent_names_the_rule(
    tmp_path: Path, lang: str, noted: str, blocked: str
) -> None:
    discarded = replace(HIDDEN, blocked=True)

    def with_discarded(event: Event) -> Event:
        body = event.body
        if not isinstance(body, AttemptVerified) or body.node != "a":
            return event
        return replace(event, body=replace(body, leaks=(DECLARED, HIDDEN, discarded)))

    store_log(tmp_path, "r-leak22", [with_discarded(event) for event in finished_log()])
    heads = call("leaks", "r-leak22", "--lang", lang, home=tmp_path).out.splitlines()[::2]
    assert [noted in head for head in heads] == [True, True, False]
    assert [blocked in head for head in heads] == [False, True, False]
    documents = call("leaks", "r-leak22", "--json", home=tmp_path).data["leaks"]
    assert [one["in_accepted_output"] for one in documents] == [True, False, True]


@pytest.mark.parametrize(
    ("lang", "first", "second"),
    [
        (
            "en",
            ("UNDECLARED", "silent 0.20", "nothing to trace"),
            ("declared", "background 0.50", "permits.md:7-8"),
        ),
        ("zh", ("未声明", "静默域 0.20", "无可追溯"), ("已声明", "背景域 0.50", "permits.md:7-8")),
    ],
)
def test_the_undeclared_come_first(
    home: Path, lang: str, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    lines = call("leaks", "r-leak22", "--lang", lang, home=home).out.splitlines()
    assert len(lines) == 4
    assert all(word in lines[0] for word in first)
    assert "By the way." in lines[1]
    assert all(word in lines[2] for word in second)
    assert QUOTE in lines[3]


@pytest.mark.parametrize(
    ("lang", "hidden", "declared", "discarded"),
    [
        (
            "en",
            "    characters 41-52 of the text of a: By the way.",
            f"    characters 1-31 of the text of a: {QUOTE}",
            "    characters 41-52 of the discarded text of a: By the way.",
        ),
        (
            "zh",
            "    a 输出文本的第 41-52 个字符：By the way.",
            f"    a 输出文本的第 1-31 个字符：{QUOTE}",
            "    a 已弃用文本的第 41-52 个字符：By the way.",
        ),
    ],
)
def test_the_place_of_a_leak_says_in_which_text_it_counts(
    tmp_path: Path, lang: str, hidden: str, declared: str, discarded: str
) -> None:
    # Line 7 of the note begins at its character 10, but the quote is what the output begins with.
    def with_discarded(event: Event) -> Event:
        body = event.body
        if not isinstance(body, AttemptVerified) or body.node != "a":
            return event
        return replace(event, body=replace(body, leaks=(DECLARED, HIDDEN, replace(HIDDEN, blocked=True))))

    store_log(tmp_path, "r-leak22", [with_discarded(event) for event in finished_log()])
    lines = call("leaks", "r-leak22", "--lang", lang, home=tmp_path).out.splitlines()
    assert lines[1::2] == [hidden, discarded, declared]


def test_the_mark_stays_on_the_claim(home: Path) -> None:
    (node,) = call("evidence", "r-leak22", "a", "--json", home=home).data["nodes"]
    (claim,) = node["claims"]
    assert claim["leaks"] == [
        {
            "agent": "A1",
            "domain": "law.civil",
            "strength": 0.5,
            "origin": "source",
            "declared": True,
            "node": "a",
        }
    ]
    assert (claim["verdict"], claim["level"], claim["traced"]) == ("verified", "L2", True)
    text = call("evidence", "r-leak22", "a", home=home).out
    assert "permits.md:7-8" in text
    assert f"“{QUOTE}”" in text
    assert "law.civil 0.50" in text


def test_the_name_of_a_note_fakes_no_row(tmp_path: Path) -> None:
    sly = replace(SOURCE, uri="a.md:1\n* A false claim\n    L4  verified\x1b[2J.md")
    lines = call("evidence", "r-leak22", "a", home=stored(tmp_path, sly)).out.splitlines()
    assert len([line for line in lines if line.startswith("* ")]) == 1
    (place,) = [line for line in lines if "a.md:1" in line]
    assert place.endswith(".md:7-8")
    assert "\x1b" not in place


def test_no_leak_is_an_empty_list(tmp_path: Path) -> None:
    store_log(tmp_path, "r-none22", finished_log())
    called = call("leaks", "r-none22", "--json", home=tmp_path)
    assert called.data["leaks"] == []
    assert "no leak" in called.err
