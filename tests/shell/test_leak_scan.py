"""The leak scan: what is looked at, by whose label, and which claims carry the marks."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from types import FrameType
from typing import Literal

import pytest

from agents.evidence import LeakMark
from agents.results import Need, WorkOutput, WorkResult
from agents.retrieval.library import NotesLibrary, SectionLabel
from agents.spec import AgentSpec, ModelPolicy
from agents.workers.ports import WorkOrder
from graphs.plan import NodeId
from masks.bands import Band, Thresholds
from masks.domains import DomainId
from masks.leaks.detect import EmbeddingDetector
from masks.leaks.markers import MarkerFindingKind
from masks.leaks.rules import LeakAction
from orchestrator.shell.leak_scan import LeakScan, LeakScanner
from orchestrator.shell.material import label_of
from tests.core.builders import CONTRACTS, DATABASES, MEDICINE, agent, subtask
from tests.flows.stage import (
    DOSE,
    ENDS,
    ROWS,
    YEARS,
    Extras,
    NoteFolder,
    Quoted,
    Stage,
    says,
    set_stage,
    written,
)

HALF = replace(agent("A1", {DATABASES: 90, CONTRACTS: 50}), model_policy=ModelPolicy(kind="embedded"))
WRITER = replace(HALF, model_policy=ModelPolicy(kind="model", model="x:y"))
CLOSED = agent("A1", {DATABASES: 90})


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


@pytest.fixture
def stage(notes: NoteFolder) -> Stage:
    return set_stage(notes)


def scanner(stage: Stage) -> LeakScanner:
    library: NotesLibrary = stage.shop.library(stage.notes.folder)
    return LeakScanner(
        EmbeddingDetector.sharing(stage.shop.labeller),
        stage.shop.registry,
        lambda evidence: label_of(library, evidence),
    )


def order(
    who: AgentSpec = HALF,
    *,
    path: Literal[1, 2] = 1,
    inputs: Mapping[NodeId, WorkOutput] | None = None,
    title: str = "Look into it",
) -> WorkOrder:
    task = replace(subtask("a"), title=title)
    return WorkOrder(
        subtask=task, agent=who, thresholds=Thresholds(), path=path, lang="en", inputs=inputs or {}
    )


def scan(stage: Stage, result: WorkResult, given: WorkOrder | None = None) -> LeakScan:
    return scanner(stage).scan(result, given or order())


def written_words(result: WorkResult, words: str) -> WorkResult:
    """The result with a sentence of the agent's own behind it."""
    return replace(result, output=replace(result.output, text=f"{result.output.text}\n\n{words}"))


def test_two_threads_find_what_one_finds(stage: Stage) -> None:
    quoted = says(stage.notes.quoted("a", "liability.md", YEARS), stage.notes.quoted("b", "storage.md", ROWS))
    results = [written_words(quoted, f"{words} ({turn})") for turn in range(6) for words in (DOSE, ENDS)]
    expected = [scan(stage, result, order(WRITER)) for result in results]
    assert any(found.leaks for found in expected)
    fresh, start = scanner(set_stage(stage.notes)), Barrier(2)

    def work(_: int) -> list[LeakScan]:
        start.wait(timeout=30)
        return [fresh.scan(result, order(WRITER)) for result in results]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(2))) == [expected, expected]


class TestDeclared:
    def test_a_marker_leaves_the_text_and_the_leak_stays_with_its_place(self, stage: Stage) -> None:
        quoted = stage.notes.quoted("a", "liability.md", YEARS).marked("A1", CONTRACTS, 50)
        raw = says(quoted, extras=Extras(path=2))
        assert "[mask leak | agent=A1 | domain=law.contracts | strength=0.50]" in raw.output.text
        found = scan(stage, raw, order(path=2))
        assert "mask leak" not in found.result.output.text
        (leak,) = found.leaks
        text = found.result.output.text
        assert text[leak.start : leak.end] == leak.text == YEARS
        assert (leak.declared, leak.detected, leak.band, leak.strength) == (True, True, Band.BACKGROUND, 50)
        assert (leak.origin, leak.locator, leak.path) == ("source", "liability.md:3", 2)
        (claim,) = found.result.output.claims
        assert claim.leaks == (
            LeakMark(agent="A1", domain=CONTRACTS, strength=50, origin="source", declared=True, node="a"),
        )
        assert (found.spontaneous, found.necessary, found.asked_for) == ((), (), ())

    def test_a_wrong_strength_declares_and_is_a_finding(self, stage: Stage) -> None:
        quoted = stage.notes.quoted("a", "liability.md", YEARS).marked("A1", CONTRACTS, 70)
        found = scan(stage, says(quoted, extras=Extras(path=2)), order(path=2))
        assert [leak.declared for leak in found.leaks] == [True]
        assert [finding.kind for finding in found.report.findings] == [MarkerFindingKind.WRONG_STRENGTH]

    def test_another_agents_marker_declares_nothing(self, stage: Stage) -> None:
        quoted = stage.notes.quoted("a", "liability.md", YEARS).marked("A2", CONTRACTS, 50)
        found = scan(stage, says(quoted), order())
        assert [leak.declared for leak in found.leaks] == [False]

    def test_a_marker_in_a_field_is_not_delivered(self, stage: Stage) -> None:
        marker = "[mask leak | agent=A1 | domain=law.contracts | strength=0.50]"
        result = says(
            stage.notes.quoted("a", "storage.md", ROWS), extras=Extras(fields={"rows": f"42 {marker}"})
        )
        assert scan(stage, result).result.output.fields == {"rows": "42"}


class TestDetected:
    def test_main_material_is_no_leak(self, stage: Stage) -> None:
        assert scan(stage, says(stage.notes.quoted("a", "storage.md", ROWS))).leaks == ()

    def test_an_undeclared_leak_is_found_whatever_the_agent_says(self, stage: Stage) -> None:
        found = scan(stage, says(stage.notes.quoted("a", "liability.md", YEARS)))
        assert [(leak.domain, leak.declared, leak.origin) for leak in found.leaks] == [
            (CONTRACTS, False, "source")
        ]

    def test_the_section_decides_and_not_the_label_that_the_worker_gave(self, stage: Stage) -> None:
        quoted = stage.notes.quoted("a", "liability.md", YEARS)
        lied = replace(quoted, evidence=replace(quoted.evidence, domain=str(DATABASES)))
        assert [leak.domain for leak in scan(stage, says(lied)).leaks] == [CONTRACTS]

    @pytest.mark.parametrize("where", ["another place", "no place", "no source"])
    def test_an_excerpt_that_stands_nowhere_is_judged_by_its_words_and_is_parametric(
        self, stage: Stage, where: str
    ) -> None:
        quoted = stage.notes.quoted("a", "storage.md", ROWS, instead="The contract ends in June.")
        match where:
            case "no place":
                span = replace(quoted.evidence.locator, start_char=9_000, end_char=9_026)
                quoted = replace(quoted, evidence=replace(quoted.evidence, locator=span))
            case "no source":
                lost = replace(quoted.source, id=type(quoted.source.id)("s-0"))
                piece = replace(quoted.evidence, source=lost.id)
                quoted = replace(quoted, source=lost, evidence=piece)
        (leak,) = scan(stage, says(quoted)).leaks
        assert (leak.domain, leak.origin, leak.locator) == (CONTRACTS, "parametric", None)

    def test_a_claim_in_the_agents_own_words_is_judged_by_them(self, stage: Stage) -> None:
        quoted = stage.notes.quoted("a", "liability.md", YEARS)
        words = "The contract is a long one."
        told = replace(quoted, claim=replace(quoted.claim, statement=words))
        (leak,) = scan(stage, says(told)).leaks
        assert (leak.text, leak.origin) == (words, "parametric")

    def test_a_claim_that_the_text_does_not_show_is_looked_at_below_it(self, stage: Stage) -> None:
        result = says(
            stage.notes.quoted("a", "storage.md", ROWS), stage.notes.quoted("a", "liability.md", YEARS)
        )
        hidden = replace(
            result, output=replace(result.output, text=result.output.text.replace(YEARS, "See there."))
        )
        found = scan(stage, hidden)
        (leak,) = found.leaks
        assert leak.text == YEARS
        assert leak.start >= len(found.result.output.text)
        assert YEARS not in found.result.output.text
        assert [bool(claim.leaks) for claim in found.result.output.claims] == [False, True]

    def test_a_statement_is_found_in_a_table_cell_with_escaped_bars(self, stage: Stage) -> None:
        quoted = stage.notes.quoted("a", "liability.md", YEARS)
        words = "The contract | runs"
        told = replace(quoted, claim=replace(quoted.claim, statement=words))
        result = says(told)
        text = "| a |\n| --- |\n| The contract \\| runs |"
        found = scan(stage, replace(result, output=replace(result.output, text=text)))
        (leak,) = found.leaks
        assert leak.text == "The contract \\| runs"

    def test_free_words_of_a_writing_agent_are_looked_at_and_of_an_extractive_one_are_not(
        self, stage: Stage
    ) -> None:
        result = written_words(says(stage.notes.quoted("a", "storage.md", ROWS)), "And the contract too.")
        assert scan(stage, result, order(HALF)).leaks == ()
        (leak,) = scan(stage, result, order(WRITER)).leaks
        assert (leak.text, leak.origin) == ("And the contract too.", "parametric")

    def test_so_are_the_fields_of_a_writing_agent(self, stage: Stage) -> None:
        fields = {"term": "the contract says seven"}
        result = says(stage.notes.quoted("a", "storage.md", ROWS), extras=Extras(fields=fields))
        assert [leak.text for leak in scan(stage, result, order(WRITER)).leaks] == ["the contract says seven"]
        assert scan(stage, result, order(HALF)).leaks == ()


class TestProvenance:
    def test_what_was_handed_over_is_no_leak_of_this_agent(self, stage: Stage) -> None:
        given = says(stage.notes.quoted("x", "liability.md", YEARS)).output
        found = scan(
            stage,
            WorkResult(output=given, candidate_complete=True, mode="scripted", path=1),
            order(inputs={NodeId("x"): given}),
        )
        assert found.leaks == ()

    def test_nor_are_the_words_of_the_sub_task(self, stage: Stage) -> None:
        words = "How long does the contract run?"
        result = written_words(says(stage.notes.quoted("a", "storage.md", ROWS)), words)
        assert scan(stage, result, order(WRITER, title=words)).leaks == ()

    def test_a_claim_that_only_borrows_an_inputs_id_is_the_agents_own(self, stage: Stage) -> None:
        given = says(stage.notes.quoted("x", "liability.md", YEARS)).output
        own = stage.notes.quoted("a", "health.md", DOSE)
        disguised = replace(own, claim=replace(own.claim, id=given.claims[0].id))
        found = scan(stage, says(disguised), order(inputs={NodeId("x"): given}))
        assert [leak.domain for leak in found.leaks] == [MEDICINE]


class TestRules:
    def judged(self, stage: Stage, *parts: Quoted, who: AgentSpec, extras: Extras | None = None) -> LeakScan:
        return scan(stage, says(*parts, extras=extras or Extras()), order(who))

    def test_a_required_silent_domain_is_a_gap(self, stage: Stage) -> None:
        found = self.judged(stage, stage.notes.quoted("a", "liability.md", ENDS), who=CLOSED)
        assert (found.necessary, found.spontaneous, found.asked_for) == ((CONTRACTS,), (), ())

    def test_an_unrequired_one_is_spontaneous(self, stage: Stage) -> None:
        found = self.judged(stage, stage.notes.quoted("a", "health.md", DOSE), who=CLOSED)
        assert (found.necessary, found.spontaneous, found.asked_for) == ((), (MEDICINE,), ())

    def test_a_spontaneous_one_after_a_discarded_output_means_that_the_agent_does_not_fit(
        self, stage: Stage
    ) -> None:
        result = says(stage.notes.quoted("a", "health.md", DOSE))
        actions = {
            blocked: [j.action for j in scanner(stage).scan(result, order(CLOSED), blocked).judgements]
            for blocked in ((), (MEDICINE,), (CONTRACTS,))
        }
        assert actions == {
            (): [LeakAction.BLOCK_AND_REGENERATE],
            (MEDICINE,): [LeakAction.CHANGE_AGENT_OR_GUARD],
            (CONTRACTS,): [LeakAction.BLOCK_AND_REGENERATE],
        }

    def test_what_is_held_against_the_agent_is_noted_at_the_leak_with_its_rule(self, stage: Stage) -> None:
        """Rule 1: background is allowed on path 2 and declared, and only then; rule 2b: spontaneous; 2a: no fault."""
        quoted = stage.notes.quoted("a", "liability.md", YEARS)
        marked = quoted.marked("A1", CONTRACTS, 50)
        medicine = says(stage.notes.quoted("a", "health.md", DOSE))
        required = says(stage.notes.quoted("a", "liability.md", ENDS))
        cases = [
            (says(marked, extras=Extras(path=2)), order(path=2), None),
            (says(quoted, extras=Extras(path=2)), order(path=2), "1"),
            (says(marked), order(), "1"),
            (medicine, order(CLOSED), "2b"),
            (required, order(CLOSED), None),
        ]
        for result, given, rule in cases:
            assert [leak.noted for leak in scan(stage, result, given).leaks] == [rule]

    def test_one_that_the_agent_asks_for_is_for_a_person(self, stage: Stage) -> None:
        need = Need(domain=MEDICINE, question="q", band="SILENT", match=0.9)
        found = self.judged(
            stage, stage.notes.quoted("a", "health.md", DOSE), who=CLOSED, extras=Extras(needs=(need,))
        )
        assert (found.necessary, found.spontaneous, found.asked_for) == ((), (), (MEDICINE,))


def test_a_label_is_given_to_exactly_what_the_notes_hold(stage: Stage) -> None:
    library = stage.shop.library(stage.notes.folder)
    piece = stage.notes.quoted("a", "liability.md", YEARS).evidence
    assert label_of(library, piece) == SectionLabel(domain="law.contracts")
    moved = replace(piece, locator=replace(piece.locator, start_char=piece.locator.start_char + 1))
    assert label_of(library, moved) is None
    assert label_of(library, replace(piece, text=YEARS.upper())) is None
    assert label_of(library, replace(piece, source=type(piece.source)("s-elsewhere"))) is None
    assert DomainId("law.contracts") == CONTRACTS


def test_a_scan_looks_once_at_each_sentence(stage: Stage) -> None:
    quoted = says(stage.notes.quoted("a", "liability.md", YEARS))
    looking = scanner(stage)

    def calls(number: int) -> int:
        words = " ".join(f"The shelf {place} of the archive holds box {place}." for place in range(number))
        result = written_words(quoted, words)
        looking.scan(result, order(WRITER))  # the labels are known from here on
        count = 0

        def counted(frame: FrameType, event: str, argument: object) -> None:
            nonlocal count
            del frame, argument
            count += event in {"call", "c_call"}

        before = sys.getprofile()
        sys.setprofile(counted)
        try:
            looking.scan(result, order(WRITER))
        finally:
            sys.setprofile(before)
        return count

    few, many = calls(40), calls(160)
    assert many <= 4.2 * few
    assert few > 40 * 5
