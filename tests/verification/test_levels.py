"""The check stage from order to verification, over real files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import FrameType

import pytest
from pydantic import TypeAdapter

from agents.citations import anchor
from agents.evidence import Evidence, EvidenceId, LeakMark, Source, SourceId
from agents.results import Conflict, OpenQuestion, WorkOutput
from graphs.plan import NodeId
from masks.bands import Band
from masks.domains import DomainId
from masks.leaks.provenance import Leak
from orchestrator.core.claims import (
    ClaimVerdict,
    Confidence,
    Contested,
    Deviates,
    Falsified,
    Level,
    RootCause,
    SoftClaim,
    Uncertain,
    Verdict,
    Verification,
    Verified,
)
from orchestrator.verification.levels import (
    StandardVerifier,
    VerifierSettings,
    standard_checkers,
    triggers_of,
)
from orchestrator.verification.ports import CheckOrder, FactSource, L1Checker, Verifier
from orchestrator.verification.sources.documents import DocumentSource
from tests.verification.cases import (
    Answer,
    BrokenChecker,
    BrokenSource,
    Notes,
    ScriptedSource,
    claim,
    codes,
    evidence,
    order,
    output,
    quoted,
)

PLANT = "# Plant\n\nThe plant stores 32 MWh.\nIt opened on 3 May 2024.\nIt employs 12 people.\n"
S = SourceId("s-1")
F1 = evidence(S, "The plant stores 32 MWh.", key="f1")
LISTED = Source(id=S, uri="a.md", title="a", digest="0" * 64, retrieved_at="2026-01-01T00:00:00+00:00")
HERE = Verified(source="a.md:3")
LEAK = Leak(
    agent="A1",
    domain=DomainId("law.tax"),
    m100=55,
    band=Band.BACKGROUND,
    origin="source",
    declared=True,
    detected=True,
    start=0,
    end=5,
    text="x",
    path=2,
)


def plant(notes: Notes) -> WorkOutput:
    """Return one core claim and two others, all quoted from one note."""
    source = notes.write("plant.md", PLANT)
    grounds = [
        notes.quote(source, text)
        for text in ("The plant stores 32 MWh.", "It opened on 3 May 2024.", "It employs 12 people.")
    ]
    claims = [quoted(ground, core=number == 0) for number, ground in enumerate(grounds)]
    return output(claims, grounds, [source])


def verify(checked: CheckOrder, *sources: FactSource) -> Verification:
    return StandardVerifier(sources).verify(checked)


def check(notes: Notes, checked: CheckOrder) -> Verification:
    return verify(checked, DocumentSource(notes.root))


def kinds(verification: Verification) -> list[str]:
    return [each.verdict.kind for each in verification.verdicts]


class TestLevel1:
    """Green light, structural failure, and the reasons to go on."""

    def test_a_sound_output_passes_and_is_not_traced(self, notes: Notes) -> None:
        found = check(notes, order(plant(notes)))
        assert (found.outcome, found.level, found.triggers, found.verdicts) == ("passed", Level.L1, (), ())
        # Nothing traced: 0.5 x (1 - 0.2 x 1).
        assert str(found.confidence) == "L1 0.40, 0 of 3 traced"
        assert found.verified_complete

    def test_a_structural_failure_ends_the_check(self, notes: Notes) -> None:
        found = check(notes, order(plant(notes), params={"questions": ["Who?"]}, terminal=True))
        assert (found.outcome, found.level) == ("structural_failure", Level.L1)
        assert codes(found.findings) == ["question_unaddressed"]
        assert found.diagnosis is None
        assert not found.verified_complete

    @pytest.mark.parametrize(
        ("change", "trigger"),
        [
            ({"terminal": True}, "terminal"),
            ({"path": 2}, "path_2"),
            ({"triggers": ("redo",)}, "redo"),
            ({"triggers": ("mask_extended",), "forced_level": Level.L2}, "mask_extended"),
            ({"forced_level": Level.L2}, "forced"),
            ({"leaks": (LEAK,)}, "leak"),
        ],
    )
    def test_what_asks_for_level_2(self, notes: Notes, change: dict[str, object], trigger: str) -> None:
        checked = order(plant(notes), **change)  # type: ignore[arg-type]  # one keyword of several types at a time
        found = check(notes, checked)
        assert (found.outcome, found.level, found.triggers) == ("qualified", Level.L2, (trigger,))

    def test_level_1_is_no_reason_to_go_on(self, notes: Notes) -> None:
        assert check(notes, order(plant(notes), forced_level=Level.L1)).level is Level.L1

    def test_a_carried_leak_mark_asks_for_level_2(self, notes: Notes) -> None:
        mark = LeakMark(agent="A0", domain="law.tax", strength=40, origin="source", declared=True, node="n0")
        produced = plant(notes)
        marked = replace(produced, claims=(replace(produced.claims[0], leaks=(mark,)), *produced.claims[1:]))
        assert check(notes, order(marked)).triggers == ("leak",)

    def test_findings_become_triggers_once_each(self, notes: Notes) -> None:
        produced = plant(notes)
        loose = replace(produced, text="Nothing is cited here.")
        found = check(notes, order(loose))
        assert codes(found.findings) == ["claim_not_cited"] * 3
        assert found.triggers == ("citation",)
        # What level 1 found fault with is traced on top of the sample: here everything.
        assert str(found.confidence) == "L2 1.00, 3 of 3 traced"


class TestLevel2:
    """A sample, core claims first."""

    def test_the_sample_has_the_core_claim_and_the_confidence_says_how_much_was_traced(
        self, notes: Notes
    ) -> None:
        found = check(notes, order(plant(notes), path=2))
        assert kinds(found) == ["verified", "uncertain", "uncertain"]
        assert [each.traced for each in found.verdicts] == [True, False, False]
        assert found.verdicts[0].verdict == Verified(source="plant.md:3")
        # One of three facts (40 % of 3 is 1.2): 1 x (1 - 0.2 x 2/3) = 0.8667.
        assert str(found.confidence) == "L2 0.87, 1 of 3 traced"

    def test_a_terminal_sub_task_has_every_core_claim_traced(self, notes: Notes) -> None:
        produced = plant(notes)
        core = replace(produced, claims=tuple(replace(each, core=True) for each in produced.claims))
        assert str(check(notes, order(core, terminal=True)).confidence) == "L2 1.00, 3 of 3 traced"
        assert str(check(notes, order(core, path=2)).confidence) == "L2 0.87, 1 of 3 traced"

    def test_the_weights_of_core_and_other_claims(self) -> None:
        grounds = [evidence(S, f"Fact number {n} is known.", key=f"f{n}") for n in range(4)]
        answers: dict[str, list[Answer]] = {
            grounds[0].text: [HERE],
            grounds[1].text: [Deviates(source="t.csv:1", delta=0.04, found="1")],
            grounds[2].text: [None],
            grounds[3].text: [HERE],
        }
        claims = [
            quoted(grounds[0]),
            quoted(grounds[1], core=False),
            quoted(grounds[2], core=False),
            claim("known", evidence(S, "known", key="f9"), core=False),
        ]
        produced = output(claims, [*grounds, evidence(S, "known", key="f9", kind="experience")])
        found = verify(order(produced, forced_level=Level.L3), ScriptedSource(answers))
        assert kinds(found) == ["verified", "deviates", "uncertain", "soft_claim"]
        # Weights 2, 1, 1, 1: (2 x 1 + 0.96 + 0.5 + 0.5) / 5 = 0.792, all traced.
        assert found.confidence.value == pytest.approx(0.792)
        assert (found.outcome, found.confidence.traced) == ("qualified", 4)

    def test_an_unverifiable_claim_is_uncertain_and_qualified(self) -> None:
        found = verify(order(output([quoted(F1)], [F1]), terminal=True))
        assert (found.outcome, kinds(found)) == ("qualified", ["uncertain"])
        assert str(found.confidence) == "L2 0.50, 1 of 1 traced"

    def test_another_wording_is_uncertain_and_another_number_falsified(self, notes: Notes) -> None:
        source = notes.write("plant.md", PLANT)
        ground = notes.quote(source, "The plant stores 32 MWh.")
        loose = check(
            notes, order(output([claim("Storage: 32 MWh", ground)], [ground], [source]), terminal=True)
        )
        assert (loose.outcome, kinds(loose)) == ("qualified", ["uncertain"])
        wrong = check(
            notes, order(output([claim("Storage: 52 MWh", ground)], [ground], [source]), terminal=True)
        )
        assert (wrong.outcome, wrong.level, kinds(wrong)) == ("falsified", Level.L3, ["falsified"])
        verdict = wrong.verdicts[0].verdict
        assert isinstance(verdict, Falsified)
        assert verdict.source == "plant.md:3"
        assert wrong.verdicts[0].evidence[0].verdict == Verified(source="plant.md:3")

    def test_the_worst_piece_of_evidence_decides(self) -> None:
        both = [F1, evidence(S, "It opened on 3 May 2024.", key="f2")]
        source = ScriptedSource({F1.text: [HERE], both[1].text: [Uncertain(reason="?")]})
        found = verify(order(output([quoted(*both)], both), terminal=True), source)
        assert kinds(found) == ["uncertain"]
        assert [each.verdict.kind for each in found.verdicts[0].evidence] == ["verified", "uncertain"]

    def test_a_claim_without_evidence_is_untraced(self) -> None:
        found = verify(order(output([claim("It is big.")], [])))
        assert found.outcome == "qualified"
        assert found.verdicts == (
            ClaimVerdict(
                claim=found.verdicts[0].claim,
                verdict=Uncertain(reason="no evidence is given"),
                level=Level.L2,
                traced=False,
            ),
        )

    def test_evidence_that_is_not_there_is_falsified_whatever_the_sample(self) -> None:
        lost = replace(claim("x y"), evidence=(EvidenceId("gone"),))
        found = verify(order(output([quoted(F1), lost], [F1])), ScriptedSource({F1.text: [HERE]}))
        assert kinds(found) == ["verified", "falsified"]

    @pytest.mark.parametrize("origin", ["claim", "mark"])
    def test_what_a_model_knew_is_at_best_uncertain(self, origin: str) -> None:
        mark = LeakMark(
            agent="A1", domain="law.tax", strength=40, origin="parametric", declared=True, node="n2"
        )
        made = quoted(F1)
        known = replace(made, origin="parametric") if origin == "claim" else replace(made, leaks=(mark,))
        found = verify(order(output([known], [F1]), terminal=True), ScriptedSource({F1.text: [HERE]}))
        assert kinds(found) == ["uncertain"]

    def test_experience_gains_nothing_by_being_called_so(self) -> None:
        usual = evidence(S, "Pumps usually last long.", key="x", kind="experience")
        found = verify(order(output([quoted(usual)], [usual]), terminal=True), ScriptedSource({}))
        assert found.verdicts[0].verdict == SoftClaim()
        assert found.confidence.value == pytest.approx(0.5)

    def test_a_derived_statement_is_uncertain_although_its_premises_are_verified(self) -> None:
        other = evidence(S, "The annex stores 8 MWh.", key="f2")
        total = evidence(S, "Together 40 MWh.", key="i", kind="inference", premises=[F1, other])
        source = ScriptedSource({F1.text: [HERE], other.text: [Verified(source="b.md:1")]})
        found = verify(order(output([quoted(total)], [total, F1, other]), terminal=True), source)
        assert kinds(found) == ["uncertain"]
        assert found.verdicts[0].evidence[0].verdict == Verified(source="a.md:3; b.md:1")

    def test_a_carried_claim_is_never_better_than_upstream(self) -> None:
        made = quoted(F1)
        inputs = {NodeId("n1"): output([made], [F1])}

        def above(verdict: Verdict, *, traced: bool) -> dict[NodeId, Verification]:
            said = ClaimVerdict(claim=made.id, verdict=verdict, level=Level.L2, traced=traced)
            return {
                NodeId("n1"): Verification(
                    outcome="qualified",
                    level=Level.L2,
                    confidence=Confidence(value=0.5, level=Level.L2, traced=1, total=1),
                    verdicts=(said,),
                )
            }

        def carried(verdict: Verdict, *, traced: bool = True) -> Verdict:
            checked = order(
                output([made], [F1]),
                inputs=inputs,
                verifications=above(verdict, traced=traced),
                terminal=True,
            )
            return verify(checked, ScriptedSource({F1.text: [HERE]})).verdicts[0].verdict

        disputed = Contested(sources=("a.md:3", "b.md:1"))
        assert carried(disputed) == disputed
        assert carried(Uncertain(reason="?")) == Uncertain(reason="?")
        assert carried(HERE) == HERE
        assert carried(Uncertain(reason="left out of the sample"), traced=False) == HERE
        assert carried(Falsified(reason="no")) == Falsified(reason="no")

    def test_the_text_that_people_read_has_to_say_what_was_checked(self, notes: Notes) -> None:
        produced = plant(notes)
        first = produced.claims[0]
        wrong = replace(produced, text=produced.text.replace("32 MWh", "99 MWh"))
        found = check(notes, order(wrong))
        assert (found.outcome, found.triggers) == ("falsified", ("citation",))
        verdict = found.verdicts[0].verdict
        assert isinstance(verdict, Falsified)
        assert "99 mwh" in verdict.reason
        loose = replace(
            produced, text=produced.text.replace("The plant stores 32 MWh.", "32 MWh, says the note.")
        )
        found = check(notes, order(loose))
        assert (found.outcome, found.verdicts[0].claim, kinds(found)[0]) == (
            "qualified",
            first.id,
            "uncertain",
        )

    def test_the_same_seed_gives_the_same_verification_and_seeds_differ(self, notes: Notes) -> None:
        source = notes.write("a.md", "\n".join(f"Fact number {n} is known." for n in range(20)))
        grounds = [notes.quote(source, f"Fact number {n} is known.") for n in range(20)]
        produced = output([quoted(each, core=False) for each in grounds], grounds, [source])
        runs = {seed: check(notes, order(produced, path=2, seed=seed)) for seed in ("a", "b", "c")}
        assert all(found.confidence.traced == 8 for found in runs.values())
        assert check(notes, order(produced, path=2, seed="a")) == runs["a"]
        traced = {seed: tuple(each.traced for each in found.verdicts) for seed, found in runs.items()}
        assert len(set(traced.values())) == 3


class TestConflicts:
    """Sources that disagree."""

    def disputed(self, notes: Notes, *, copied: bool = False) -> WorkOutput:
        """Return two claims on two notes that give different numbers."""
        first = notes.write("a.md", "The plant stores 32 MWh.\n")
        second = notes.write("b.md", "The plant stores 30 MWh.\n", copy_of=first.id if copied else None)
        grounds = [
            notes.quote(first, "The plant stores 32 MWh."),
            notes.quote(second, "The plant stores 30 MWh."),
        ]
        claims = [quoted(each) for each in grounds]
        conflict = Conflict(about="storage", claims=tuple(each.id for each in claims))
        return output(claims, grounds, [first, second], conflicts=(conflict,))

    def test_independent_sources_make_both_claims_contested(self, notes: Notes) -> None:
        found = check(notes, order(self.disputed(notes), terminal=True))
        assert found.triggers == ("terminal", "contradiction")
        assert [each.verdict for each in found.verdicts] == [
            Contested(sources=("a.md:1", "b.md:1")),
            Contested(sources=("b.md:1", "a.md:1")),
        ]
        assert (found.outcome, str(found.confidence)) == ("qualified", "L2 0.50, 2 of 2 traced")

    def test_a_copy_is_no_second_source(self, notes: Notes) -> None:
        found = check(notes, order(self.disputed(notes, copied=True), terminal=True))
        assert kinds(found) == ["verified", "verified"]

    def test_a_falsified_side_contests_nothing(self, notes: Notes) -> None:
        produced = self.disputed(notes)
        (notes.root / "b.md").write_text("The plant stores 32 MWh.\n", encoding="utf-8")
        found = check(notes, order(produced, terminal=True))
        assert (found.outcome, kinds(found)) == ("falsified", ["verified", "falsified"])

    def test_a_conflict_with_an_unknown_claim_is_none(self, notes: Notes) -> None:
        produced = self.disputed(notes)
        half = replace(
            produced,
            claims=produced.claims[:1],
            text=f"The plant stores 32 MWh. {anchor(produced.claims[0].id)}",
        )
        assert kinds(check(notes, order(half, terminal=True))) == ["verified"]

    def test_an_undeclared_contradiction_asks_for_level_2(self, notes: Notes) -> None:
        found = check(notes, order(replace(self.disputed(notes), conflicts=())))
        assert found.triggers == ("contradiction",)
        assert codes(found.findings) == ["surface_contradiction"] * 2
        assert kinds(found) == ["verified", "verified"]


class TestLevel3:
    """All evidence again, and whether it bears the falsification out."""

    def test_a_falsified_sample_has_everything_traced(self, notes: Notes) -> None:
        produced = plant(notes)
        invented = replace(produced.evidence[0], text="The plant stores 99 MWh.")
        found = check(notes, order(self.with_evidence(produced, invented), path=2))
        assert (found.outcome, found.level) == ("falsified", Level.L3)
        assert kinds(found) == ["falsified", "verified", "verified"]
        # Weights 2, 1, 1: (0 + 1 + 1) / 4, all traced.
        assert str(found.confidence) == "L3 0.50, 3 of 3 traced"
        assert found.diagnosis is not None
        assert found.diagnosis.cause is RootCause.PROCESS
        assert len(found.diagnosis.views) == 3

    def with_evidence(self, produced: WorkOutput, first: Evidence) -> WorkOutput:
        """Return `produced` with its first claim quoting `first`."""
        piece = evidence(
            first.source,
            first.text,
            (first.locator.start_line, first.locator.end_line),
            (first.locator.start_char, first.locator.end_char),
            key=first.id,
        )
        return output(
            [quoted(piece), *produced.claims[1:]], [piece, *produced.evidence[1:]], produced.sources
        )

    def test_a_forced_level_3_traces_everything_at_once(self, notes: Notes) -> None:
        found = check(notes, order(plant(notes), forced_level=Level.L3))
        assert (found.outcome, str(found.confidence)) == ("qualified", "L3 1.00, 3 of 3 traced")

    def test_a_falsification_that_the_second_look_does_not_bear_out_is_overturned(self) -> None:
        source = ScriptedSource({F1.text: [Falsified(reason="half written file"), HERE]})
        found = verify(order(output([quoted(F1)], [F1], [LISTED]), terminal=True), source)
        assert (found.outcome, found.level, kinds(found)) == ("qualified", Level.L3, ["verified"])
        assert codes(found.findings) == ["falsification_overturned"]
        assert found.diagnosis is None

    def test_a_claim_that_stands_elsewhere_in_the_same_source_is_uncertain(self, notes: Notes) -> None:
        source = notes.write("plant.md", PLANT)
        cited, stands = (
            notes.quote(source, "It employs 12 people."),
            notes.quote(source, "The plant stores 32 MWh."),
        )
        wrong = claim(stands.text, cited)
        found = check(notes, order(output([wrong, quoted(stands)], [cited, stands], [source]), terminal=True))
        assert (found.outcome, kinds(found)) == ("qualified", ["uncertain", "verified"])
        verdict = found.verdicts[0].verdict
        assert isinstance(verdict, Uncertain)
        assert "plant.md:3" in verdict.reason

    def test_a_claim_that_an_independent_source_bears_out_is_contested(self, notes: Notes) -> None:
        first = notes.write("a.md", "The plant stores 30 MWh.\n")
        second = notes.write("b.md", "The plant stores 32 MWh.\n")
        cited, stands = (
            notes.quote(first, "The plant stores 30 MWh."),
            notes.quote(second, "The plant stores 32 MWh."),
        )
        wrong = claim(stands.text, cited)
        produced = output([wrong, quoted(stands)], [cited, stands], [first, second])
        found = check(notes, order(produced, terminal=True))
        assert found.outcome == "qualified"
        assert found.verdicts[0].verdict == Contested(sources=("a.md:1", "b.md:1"))

    def test_a_source_that_contradicts_is_overturned_by_an_independent_one(self) -> None:
        elsewhere = evidence(SourceId("s-2"), F1.text, key="g1")
        against = Falsified(reason="30", source="t.csv:1")

        produced = output([quoted(F1), quoted(elsewhere)], [F1, elsewhere])
        source = ScriptedSource({F1.id: [against], elsewhere.id: [Verified(source="b.md:1")]})
        found = verify(order(produced, terminal=True), source)
        assert (found.outcome, kinds(found)) == ("qualified", ["contested", "verified"])

    def test_a_citation_that_leads_nowhere_is_never_overturned(self, notes: Notes) -> None:
        source = notes.write("plant.md", PLANT)
        real = notes.quote(source, "The plant stores 32 MWh.")
        fake = evidence(source.id, real.text, (5, 5), (36, 60), key="fake")
        found = check(
            notes, order(output([quoted(fake), quoted(real)], [fake, real], [source]), terminal=True)
        )
        assert (found.outcome, kinds(found)) == ("falsified", ["falsified", "verified"])

    def test_a_text_that_shows_it_falsely_is_never_overturned(self, notes: Notes) -> None:
        produced = plant(notes)
        wrong = replace(produced, text=produced.text.replace("32 MWh", "99 MWh"))
        assert check(notes, order(wrong, terminal=True)).outcome == "falsified"

    def test_two_words_are_too_few_to_stand_elsewhere(self, notes: Notes) -> None:
        source = notes.write("plant.md", PLANT)
        cited, stands = (
            notes.quote(source, "It employs 12 people."),
            notes.quote(source, "The plant stores 32 MWh."),
        )
        produced = output([claim("32", cited), quoted(stands)], [cited, stands], [source])
        assert check(notes, order(produced, terminal=True)).outcome == "falsified"


class TestBroken:
    """What breaks is not verified, and never raises."""

    def test_a_checker_that_raises(self, notes: Notes) -> None:
        checkers: tuple[L1Checker, ...] = (*standard_checkers(), BrokenChecker())
        found = StandardVerifier([DocumentSource(notes.root)], checkers).verify(order(plant(notes)))
        assert (found.outcome, found.level) == ("not_verified", Level.L1)
        assert found.error == "spelling: KeyError: 'seed'"
        assert not found.verified_complete
        assert str(found.confidence) == "L1 0.40, 0 of 3 traced"

    def test_a_source_that_raises_even_beside_one_that_answers(self, notes: Notes) -> None:
        checked = order(plant(notes), terminal=True)
        found = verify(checked, DocumentSource(notes.root), BrokenSource())
        assert (found.outcome, found.level, found.verdicts) == ("not_verified", Level.L2, ())
        assert found.error == "archive: PermissionError: archive.md: permission denied"
        assert found.triggers == ("terminal",)

    def test_a_missing_sources_folder(self, notes: Notes) -> None:
        found = verify(order(plant(notes), terminal=True), DocumentSource(notes.root / "gone"))
        assert found.outcome == "not_verified"
        assert found.error is not None
        assert found.error.startswith("documents: FileNotFoundError")

    def test_a_source_that_raises_at_level_3_only(self) -> None:
        source = ScriptedSource({F1.text: [Falsified(reason="no"), OSError("gone")]})
        found = verify(order(output([quoted(F1)], [F1]), terminal=True), source)
        assert (found.outcome, found.level, found.diagnosis) == ("not_verified", Level.L3, None)

    def test_a_bug_of_ours_is_reported_too(self, notes: Notes) -> None:
        checked = replace(order(plant(notes), terminal=True), inputs=None)  # type: ignore[arg-type]  # a broken caller
        found = StandardVerifier([DocumentSource(notes.root)], []).verify(checked)
        assert found.outcome == "not_verified"
        assert found.error is not None
        assert found.error.startswith("check stage: AttributeError")

    def test_an_interrupt_is_not_swallowed(self) -> None:
        source = ScriptedSource({F1.text: [KeyboardInterrupt()]})
        with pytest.raises(KeyboardInterrupt):
            verify(order(output([quoted(F1)], [F1]), terminal=True), source)


def test_only_open_questions_are_qualified_and_complete() -> None:
    left = OpenQuestion(question="Who?", reason="not_found", searched=("owner",))
    produced = output(text="# Open\n\n- Who?", open_questions=(left,))
    found = verify(order(produced, params={"questions": ["Who?"]}, terminal=True))
    assert (found.outcome, found.verified_complete) == ("qualified", True)
    assert str(found.confidence) == "L2 0.40, 0 of 0 traced"


def test_messages_come_in_chinese(notes: Notes) -> None:
    source = notes.write("电站.md", "该站储能32兆瓦时。\n")
    ground = notes.quote(source, "该站储能32兆瓦时。")
    wrong = claim("该站储能52兆瓦时。", ground)
    found = check(notes, order(output([wrong], [ground], [source]), terminal=True, lang="zh"))
    verdict = found.verdicts[0].verdict
    assert isinstance(verdict, Falsified)
    assert verdict.reason.startswith("陈述包含其依据中没有的内容：52")
    assert verdict.source == "电站.md:1"
    assert found.diagnosis is not None
    assert all(
        "一" <= text[0] <= "龥" or text[0] == "“" for view in found.diagnosis.views for text in view.evidence
    )


def test_a_verification_can_be_stored_and_read_back(notes: Notes) -> None:
    adapter = TypeAdapter(Verification)
    produced = plant(notes)
    wrong = replace(produced, text=produced.text.replace("32 MWh", "99 MWh"))
    for found in (check(notes, order(produced)), check(notes, order(wrong, terminal=True))):
        assert adapter.validate_json(adapter.dump_json(found)) == found


def test_the_settings_keep_to_the_specification() -> None:
    assert VerifierSettings(sample_percent=50).sample_percent == 50
    with pytest.raises(ValueError, match="30 to 50"):
        VerifierSettings(sample_percent=60)


def test_the_share_is_a_setting(notes: Notes) -> None:
    source = notes.write("a.md", "\n".join(f"Fact number {n} is known." for n in range(20)))
    grounds = [notes.quote(source, f"Fact number {n} is known.") for n in range(20)]
    produced = output([quoted(each) for each in grounds], grounds, [source])
    half: Verifier = StandardVerifier(
        [DocumentSource(notes.root)], settings=VerifierSettings(sample_percent=50)
    )
    assert str(half.verify(order(produced, path=2)).confidence) == "L2 0.90, 10 of 20 traced"


def test_an_output_that_calls_itself_complete_and_is_not_goes_to_level_2(notes: Notes) -> None:
    source = notes.write("a.md", "The plant stores 32 MWh.\n")
    piece = notes.quote(source, "The plant stores 32 MWh.")
    made = output([quoted(piece, question="How much?")], [piece], [source])
    whole = order(made, params={"questions": ["How much?"]})
    claims_too_much = order(made, params={"questions": ["How much?", "Who owns it?"]})
    honest = replace(claims_too_much, result=replace(claims_too_much.result, candidate_complete=False))
    for asked, told in ((whole, False), (claims_too_much, True), (honest, False)):
        assert ("incomplete" in triggers_of(asked, ())) is told


def _calls(work: Callable[[], object]) -> int:
    """How many functions `work` calls."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        del frame, argument
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("terminal", [False, True], ids=["level 1", "level 2"])
def test_a_check_costs_its_sentences_and_no_more(notes: Notes, terminal: bool) -> None:
    # No two of them speak of the same thing: each has words of its own.
    names = ["".join(letters) for letters in product("bdfgklmnprst", "aeiou", "rmnlk", "ing")][::7]
    lines = [f"The {name}eb stores the {name}ol and the {name}ac of this house." for name in names]
    source = notes.write("house.md", "# House\n\n" + "\n\n".join(lines) + "\n")
    material = StandardVerifier([DocumentSource(notes.root)])

    def calls(number: int) -> int:
        grounds = [notes.quote(source, line) for line in lines[:number]]
        given = order(output([quoted(each) for each in grounds], grounds, [source]), terminal=terminal)
        material.verify(given)  # what is remembered is remembered for both
        return _calls(lambda: material.verify(given))

    few, many = calls(20), calls(80)
    assert many <= 4.4 * few
    assert few > 20 * 10
