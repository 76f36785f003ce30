"""Delivery: the outcome follows from the artefacts and from what was given up; the report is kept with the end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from agents.citations import anchor
from agents.evidence import LineSpan, Source, SourceId, claim_of, quote
from agents.results import OpenQuestion, WorkOutput
from graphs.contract import Criterion
from masks.bands import Band
from masks.leaks.provenance import Leak
from orchestrator.core.claims import ClaimVerdict, Level, Uncertain, Verdict, Verified
from orchestrator.core.events import RunEnded
from orchestrator.core.ids import ArtefactId, ContentDigest
from orchestrator.core.report import REPORT, DeliveredReport
from orchestrator.core.state import Accepted, NodeState, RunState
from orchestrator.shell.delivery import Delivery
from tests.core.builders import CONTRACT, CONTRACTS, n, plan, proposal, verification
from tests.core.simulation import Simulation

SOURCE = Source(id=SourceId("s-1"), uri="a.md", title="a", digest="d", retrieved_at="2026-01-01T00:00:00Z")
WHERE = LineSpan(source=SOURCE.id, start_line=1, end_line=1, start_char=0, end_char=4)
PIECE = quote(SOURCE.id, WHERE, "Why.")
CLAIM = claim_of("b", "Why.", (PIECE.id,), core=True, question="Why?")
ANSWER = WorkOutput(
    text=f"# Answer\n\nWhy. {anchor(CLAIM.id)}", claims=(CLAIM,), evidence=(PIECE,), sources=(SOURCE,)
)
VERIFIED = Verified(source="a.md:1")
LEFT = OpenQuestion(question="Why?", reason="not_found", searched=("why",))
OPEN = WorkOutput(text="# Answer\n\nNothing.", open_questions=(LEFT,))


@dataclass
class Keeper:
    """A journal, as far as a delivery needs it."""

    kept: list[object] = field(default_factory=list)

    def keep(self, document: object) -> ArtefactId:
        self.kept.append(document)
        return ArtefactId(f"artefact {len(self.kept)}")


def done(
    output: WorkOutput,
    *,
    verdict: Verdict = VERIFIED,
    leaks: tuple[Leak, ...] = (),
    lenient: bool = False,
    criteria: tuple[Criterion, ...] = (),
    limit_hit: bool = False,
    internal_error: str | None = None,
) -> tuple[RunEnded, DeliveredReport]:
    """Deliver a run of a>b that ended with `output` at b."""
    acceptance = (*CONTRACT.acceptance, *criteria)
    contract = replace(CONTRACT, allow_unresolved=lenient, acceptance=acceptance)
    run = Simulation(proposal(plan("a>b"), contract=contract))
    run.run()
    state = run.state
    verdicts = (ClaimVerdict(claim=CLAIM.id, verdict=verdict, level=Level.L2, traced=True),)
    for name in ("a", "b"):
        node = state.node(n(name))
        assert node.accepted is not None
        accepted = replace(
            node.accepted,
            output=ArtefactId(name),
            verification=verification(verdicts=verdicts, complete=True),
            leaks=leaks if name == "a" else (),
        )
        state = with_node(state, replace(node, accepted=accepted))
    return delivered(replace(state, limit_hit=limit_hit, internal_error=internal_error), output)


def with_node(state: RunState, node: NodeState) -> RunState:
    return replace(state, nodes=state.nodes.insert(node.id, node))


def delivered(state: RunState, output: WorkOutput) -> tuple[RunEnded, DeliveredReport]:
    keeper = Keeper()
    ended = Delivery(lambda _: output)(state, keeper)  # type: ignore[arg-type]
    (document,) = keeper.kept
    assert ended.report == "artefact 1"
    return ended, REPORT.validate_python(document)


def test_everything_holds() -> None:
    ended, report = done(ANSWER)
    assert (ended.outcome, ended.gaps, ended.stopped, ended.error) == ("completed", (), False, None)
    assert (report.title, report.outcome) == ("Answer", "completed")
    assert [citation.statement for citation in report.citations] == ["Why."]
    assert ended.result


def test_an_uncertain_core_answer_is_a_gap() -> None:
    ended, _ = done(ANSWER, verdict=Uncertain(reason="no source"))
    assert (ended.outcome, ended.gaps) == ("partial", ("Why?: answered, but no source confirms it",))


def test_an_open_question_is_a_gap_unless_the_contract_allows_it() -> None:
    assert done(OPEN)[0].gaps == ("Why?: left open",)
    ended, report = done(OPEN, lenient=True)
    assert (ended.outcome, report.open_questions) == ("completed", (LEFT,))


def test_a_gap_that_is_not_core_is_listed_and_does_not_make_the_run_partial() -> None:
    price = Criterion(id="c2", text="Priced.", kind="field_filled", field="price", core=False)
    ended, report = done(ANSWER, criteria=(price,))
    assert (ended.outcome, ended.gaps) == ("completed", ("price: not filled (not core)",))
    assert report.gaps == ended.gaps
    assert done(ANSWER, criteria=(replace(price, core=True),))[0].outcome == "partial"


def test_a_limit_makes_it_partial_and_stopped_whatever_was_delivered() -> None:
    for output in (ANSWER, OPEN):
        ended, report = done(output, limit_hit=True)
        assert (ended.outcome, ended.stopped, report.stopped) == ("partial", True, True)


def test_a_bug_makes_it_failed_with_its_trace() -> None:
    ended, _ = done(ANSWER, internal_error="Traceback: boom")
    assert (ended.outcome, ended.error) == ("failed", "Traceback: boom")


def test_leaks_of_every_accepted_sub_task_are_in_the_report() -> None:
    leak = Leak(
        agent="A1",
        domain=CONTRACTS,
        m100=50,
        band=Band.BACKGROUND,
        origin="source",
        declared=True,
        detected=True,
        start=0,
        end=3,
        text="Why",
    )
    _, report = done(ANSWER, leaks=(leak,))
    assert [(row.node, row.leak) for row in report.leaks] == [("a", leak)]


@pytest.mark.parametrize(
    ("reason", "limit", "outcome", "gaps"),
    [
        ("abandoned", False, "blocked", ("Why?: not answered", "Look into b: given up")),
        ("limit", True, "partial", ("Why?: not answered", "Look into b: given up")),
        ("optional", False, "blocked", ("Why?: not answered",)),
    ],
)
def test_without_any_output(reason: str, limit: bool, outcome: str, gaps: tuple[str, ...]) -> None:
    run = Simulation(proposal(plan("a>b")))
    run.run()
    node = run.state.node(n("b"))
    state = with_node(run.state, replace(node, status="skipped", skipped_because=reason))  # type: ignore[arg-type]
    ended, report = delivered(replace(state, limit_hit=limit), ANSWER)
    assert (ended.outcome, ended.gaps) == (outcome, gaps)
    assert (report.body, report.citations) == ("", ())


def test_an_output_taken_as_it_is_leaves_a_gap() -> None:
    run = Simulation(proposal(plan("a>b")))
    run.run()
    node = run.state.node(n("b"))
    accepted: Accepted | None = node.accepted
    assert accepted is not None
    verdict = ClaimVerdict(claim=CLAIM.id, verdict=Verified(source="a.md:1"), level=Level.L2, traced=True)
    taken = replace(accepted, as_is=True, verification=verification("not_verified", verdicts=(verdict,)))
    ended, report = delivered(with_node(run.state, replace(node, accepted=taken)), ANSWER)
    assert (ended.outcome, ended.gaps) == ("partial", ("Look into b: taken as it is, not verified",))
    assert report.confidence[0].accepted_as_is


def test_equal_results_have_equal_digests_and_others_do_not() -> None:
    first, again = done(ANSWER)[0].result, done(ANSWER)[0].result
    assert first == again
    assert done(replace(ANSWER, text=ANSWER.text + " And more."))[0].result != first
    assert isinstance(first, str)
    assert ContentDigest(first) == first
