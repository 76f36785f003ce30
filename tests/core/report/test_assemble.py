"""The report's contents: numbers, places, verdicts, leaks; nothing lost, nothing dependent on order."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.citations import anchor
from agents.evidence import ClaimId
from agents.results import Conflict, OpenQuestion
from graphs.contract import Lang
from masks.bands import Band
from masks.domains import DomainId
from masks.leaks.provenance import Leak
from orchestrator.core.claims import ClaimVerdict, Falsified, Level, Uncertain, Verification, confidence
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Sha256
from orchestrator.core.report import REPORT, render_markdown, report_json
from orchestrator.core.report.assemble import assemble_report, run_facts
from tests.agents.workers.material import Quoted, mark, note, output, quoted
from tests.core.builders import plan, proposal
from tests.core.report.delivered import delivered, facts, terminal, verification

PLANT = note("plant.md", "# Plant\n\nThe plant stores 32 MWh.\nIt opened in May 2024.\n")
COPY = note("报告（终稿）.md", "The plant stores 32 MWh.\n", copy_of=PLANT.source.id)
STORES = quoted("n1", PLANT, "The plant stores 32 MWh.", question="How much is stored?")
OPENED = quoted("n1", PLANT, "It opened in May 2024.", question="When did it open?", core=False)


def test_citations_are_numbered_in_the_order_of_the_text_and_claims_without_an_anchor_come_last() -> None:
    unmentioned = quoted("n2", COPY, "The plant stores 32 MWh.")
    text = f"# Title\n\nOpened {anchor(OPENED.claim.id)} stores {anchor(STORES.claim.id)} {anchor(OPENED.claim.id)}"
    report = delivered(terminal("n5", output([unmentioned, STORES, OPENED], text)))

    assert report.title == "Title"
    assert [(c.number, c.claim, c.in_text) for c in report.citations] == [
        (1, OPENED.claim.id, True),
        (2, STORES.claim.id, True),
        (3, unmentioned.claim.id, False),
    ]


def test_a_place_gives_file_lines_characters_and_exact_words() -> None:
    (place,) = delivered(terminal("n5", output([OPENED]))).citations[0].places

    assert (place.uri, place.start_line, place.end_line) == ("plant.md", 4, 4)
    assert PLANT.text[place.start_char : place.end_char] == place.excerpt == "It opened in May 2024."
    assert place.source_digest == PLANT.source.digest


def test_a_copy_names_the_note_that_it_repeats() -> None:
    repeated = quoted("n2", COPY, "The plant stores 32 MWh.")
    report = delivered(terminal("n5", output([STORES, repeated])))

    assert [c.places[0].copy_of for c in report.citations] == [None, "plant.md"]


@pytest.mark.parametrize(
    ("lang", "told"),
    [("en", "same text repeated in 报告（终稿）.md"), ("zh", "同样的文字重复见于 报告（终稿）.md")],
)
def test_a_cited_file_names_once_the_files_that_repeat_it(lang: Lang, told: str) -> None:
    made = output([STORES, OPENED])
    report = delivered(terminal("n5", replace(made, sources=(*made.sources, COPY.source))))

    assert [c.places[0].also_in for c in report.citations] == [("报告（终稿）.md",)] * 2
    assert render_markdown(report, lang).count(told) == 1
    assert "also_in" in json.dumps(report_json(report))


def test_a_claim_without_a_verdict_is_not_traced_and_never_verified() -> None:
    made = output([STORES, OPENED])
    one = ClaimVerdict(
        claim=STORES.claim.id, verdict=Uncertain(reason="no source"), level=Level.L2, traced=True
    )
    checked = Verification(
        outcome="qualified",
        level=Level.L2,
        confidence=confidence(made.claims, [one], Level.L2),
        verdicts=(one,),
    )
    report = delivered(terminal("n5", made, checked))

    assert [c.verdict for c in report.citations] == [Uncertain(reason="no source"), None]
    assert report.not_traced == (2,)
    # One core claim traced of two: mean 0.5, discount 1 - 0.2 x 1/2.
    assert report.confidence[0].confidence.value == 0.5 * 0.9
    assert (report.confidence[0].confidence.traced, report.confidence[0].confidence.total) == (1, 2)


def test_the_worse_of_two_verdicts_on_one_claim_is_reported() -> None:
    made = output([STORES])
    bad = verification(made, {"The plant stores 32 MWh.": Falsified(reason="no such line")})
    for first, second in ((terminal("n5", made), terminal("n6", made, bad)),) * 2:
        report = delivered(first, second)
        assert report.citations[0].verdict == Falsified(reason="no such line")


def test_evidence_that_the_output_does_not_hold_is_named_missing() -> None:
    report = delivered(terminal("n5", replace(output([STORES]), evidence=())))

    assert report.citations[0].places == ()
    assert report.citations[0].missing_evidence == (STORES.evidence.id,)


def test_an_anchor_without_a_claim_is_listed_and_gets_no_number() -> None:
    text = f"Said so {anchor(ClaimId('c-0123456789ab'))} {anchor(STORES.claim.id)}"
    report = delivered(terminal("n5", output([STORES], text)))

    assert report.unknown_anchors == ("c-0123456789ab",)
    assert [c.number for c in report.citations] == [1]


def test_leak_marks_of_all_occurrences_stay_on_the_claim() -> None:
    first = quoted("n1", PLANT, "The plant stores 32 MWh.", leak=mark("law.contract"))
    second = replace(first, claim=replace(first.claim, leaks=(mark("medicine.care", agent="A2"),)))
    report = delivered(terminal("n5", output([first])), terminal("n6", output([second])))

    assert report.citations[0].leaks == (mark("law.contract"), mark("medicine.care", agent="A2"))


def test_leak_rows_show_undeclared_first_then_the_strongest() -> None:
    def leak(domain: str, m100: int, *, declared: bool) -> Leak:
        return Leak(
            agent="A1",
            domain=DomainId(domain),
            m100=m100,
            band=Band.BACKGROUND,
            origin="source",
            declared=declared,
            detected=True,
            start=0,
            end=3,
            text="abc",
        )

    rows = delivered(
        leaks={
            "n10": [leak("a.a", 40, declared=True)],
            "n2": [leak("b.b", 60, declared=True), leak("c.c", 35, declared=False)],
        }
    ).leaks
    assert [(row.node, row.leak.domain) for row in rows] == [("n2", "c.c"), ("n2", "b.b"), ("n10", "a.a")]


def test_conflicts_are_given_by_number_and_open_questions_once() -> None:
    question = OpenQuestion(question="Who pays?", reason="not_found", searched=("pay",))
    conflict = Conflict(about="storage", claims=(OPENED.claim.id, STORES.claim.id))
    made = output([STORES, OPENED], open_questions=(question,), conflicts=(conflict,))
    report = delivered(terminal("n5", made), terminal("n6", made))

    assert [(c.about, c.citations) for c in report.conflicts] == [("storage", (1, 2))]
    assert report.open_questions == (question,)


def test_a_run_without_output_has_a_title_and_nothing_else() -> None:
    report = delivered(about=facts(objective="Why?", gaps=("question 1 has no answer",)))

    assert (report.title, report.body, report.citations, report.mode) == ("Why?", "", (), None)
    assert report.gaps == ("question 1 has no answer",)


def test_the_json_form_reads_back() -> None:
    report = delivered(terminal("n5", output([STORES, OPENED], fields={"a": "b"})))

    assert REPORT.validate_python(json.loads(json.dumps(report_json(report)))) == report


SENTENCES = [
    "The plant stores 32 MWh.",
    "It opened in May 2024.",
    "No permit is needed.",
    "许可证于2027年到期。",
]
CORPUS = [note(f"{n}.md", "\n".join(SENTENCES)) for n in range(3)]


@st.composite
def quotes(draw: st.DrawFn) -> list[Quoted]:
    chosen = draw(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(SENTENCES)), unique=True, max_size=8))
    return [quoted("n1", CORPUS[n], sentence, core=draw(st.booleans())) for n, sentence in chosen]


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["n2", "n10", "n3"]), quotes(), max_size=3))
def test_no_claim_is_lost_or_invented_and_order_does_not_matter(parts: dict[str, list[Quoted]]) -> None:
    terminals = [terminal(node, output(made)) for node, made in parts.items()]
    report = delivered(*terminals)

    assert {c.claim for c in report.citations} == {p.claim.id for made in parts.values() for p in made}
    assert [c.number for c in report.citations] == list(range(1, len(report.citations) + 1))
    assert delivered(*reversed(terminals)) == report


def test_without_an_output_the_title_is_the_goal_on_one_line() -> None:
    base = proposal(plan("a>b"))
    asked = replace(base, goal=replace(base.goal, text="What\n  does it cost?"))
    about = run_facts(RunId("r-1"), asked, Sha256("0" * 64), "partial")
    assert assemble_report(about, (), {}).title == "What does it cost?"
    long = run_facts(
        RunId("r-1"), replace(base, goal=replace(base.goal, text="x" * 500)), Sha256("0" * 64), "partial"
    )
    assert assemble_report(long, (), {}).title == "x" * 119 + "…"
