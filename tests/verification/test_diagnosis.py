"""Three views, one root cause."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.evidence import Evidence, Source, SourceId
from agents.results import Need, WorkOutput
from graphs.contract import PortSpec
from graphs.plan import NodeId
from masks.bands import Band
from masks.domains import DomainId
from masks.leaks.provenance import Leak
from orchestrator.core.claims import (
    ClaimVerdict,
    Confidence,
    Diagnosis,
    Falsified,
    Level,
    RootCause,
    Verification,
    ViewFinding,
)
from orchestrator.verification.levels import StandardVerifier
from orchestrator.verification.ports import CheckOrder
from orchestrator.verification.sources.documents import DocumentSource
from tests.verification.cases import Notes, agent, claim, evidence, order, output, quoted

N1 = NodeId("n1")
TEXT = "The plant stores 32 MWh.\nThe tax is 12 percent.\n"


def diagnosed(notes: Notes, checked: CheckOrder) -> Diagnosis:
    found = StandardVerifier([DocumentSource(notes.root)]).verify(replace(checked, terminal=True))
    assert found.outcome == "falsified"
    assert found.diagnosis is not None
    assert [view.view for view in found.diagnosis.views] == ["supervisor", "upstream", "downstream"]
    assert all((view.cause is None) == (not view.evidence) for view in found.diagnosis.views)
    return found.diagnosis


def view(diagnosis: Diagnosis, name: str) -> ViewFinding:
    return next(each for each in diagnosis.views if each.view == name)


def invented(source: Source, *, domain: str | None = None) -> Evidence:
    return evidence(source.id, "The plant stores 99 MWh.", (1, 1), (0, 24), domain=domain)


def fabricated(notes: Notes, *, domain: str | None = None) -> WorkOutput:
    """Return an output whose one citation does not stand in the file."""
    source = notes.write("a.md", TEXT)
    piece = invented(source, domain=domain)
    return output([quoted(piece)], [piece], [source])


def misread(notes: Notes, *, domain: str | None = None) -> WorkOutput:
    """Return an output whose one claim says another number than the cited sentence."""
    source = notes.write("a.md", TEXT)
    piece = notes.quote(source, "The tax is 12 percent.", domain=domain)
    return output([claim("The tax is 21 percent.", piece)], [piece], [source])


class TestInput:
    """Wrong or missing input."""

    def test_fabricated_evidence_that_was_handed_down_blames_the_upstream(self, notes: Notes) -> None:
        produced = fabricated(notes)
        found = diagnosed(notes, order(produced, inputs={NodeId("n0"): output(text="t"), N1: produced}))
        assert (found.cause, found.blamed) == (RootCause.INPUT, "n1")
        upstream = view(found, "upstream")
        assert upstream.strength == 1.0
        assert "'n1'" in upstream.evidence[0]

    def test_a_new_claim_on_evidence_that_was_handed_down_blames_the_upstream_too(self, notes: Notes) -> None:
        produced = fabricated(notes)
        (piece,) = produced.evidence
        own = output([claim("Storage: 99 MWh", piece)], [piece], produced.sources)
        assert diagnosed(notes, order(own, inputs={N1: produced})).blamed == "n1"

    def test_evidence_that_was_changed_on_the_way_does_not(self, notes: Notes) -> None:
        produced = fabricated(notes)
        (piece,) = produced.evidence
        handed = output([], [replace(piece, text="The plant stores 32 MWh.")], produced.sources)
        found = diagnosed(notes, order(produced, inputs={N1: handed}))
        assert (found.cause, found.blamed) == (RootCause.PROCESS, None)

    def test_a_misread_claim_that_was_handed_down_blames_the_upstream(self, notes: Notes) -> None:
        produced = misread(notes)
        assert diagnosed(notes, order(produced, inputs={N1: produced})).blamed == "n1"

    def test_a_verdict_of_the_upstream_blames_it(self, notes: Notes) -> None:
        source = notes.write("a.md", TEXT)
        piece = notes.quote(source, "The tax is 12 percent.")
        made = quoted(piece)
        false = ClaimVerdict(claim=made.id, verdict=Falsified(reason="no"), level=Level.L3, traced=True)
        above = Verification(
            outcome="falsified",
            level=Level.L3,
            confidence=Confidence(value=0.0, level=Level.L3, traced=1, total=1),
            verdicts=(false,),
        )
        produced = output([made], [piece], [source])
        found = diagnosed(notes, order(produced, inputs={N1: produced}, verifications={N1: above}))
        assert (found.cause, found.blamed) == (RootCause.INPUT, "n1")

    def test_a_source_that_changed_blames_nobody_in_the_plan(self, notes: Notes) -> None:
        source = notes.write("a.md", TEXT)
        piece = notes.quote(source, "The tax is 12 percent.")
        (notes.root / "a.md").write_text("Rewritten.", encoding="utf-8")
        found = diagnosed(notes, order(output([quoted(piece)], [piece], [source])))
        assert (found.cause, found.blamed) == (RootCause.INPUT, None)
        assert view(found, "upstream").strength == 0.9

    def test_missing_inputs_and_parameters_are_seen(self, notes: Notes) -> None:
        port = (PortSpec(name="claims", type="claims"),)
        upstream = view(diagnosed(notes, order(misread(notes), ports_in=port)), "upstream")
        assert (upstream.cause, upstream.strength) == (RootCause.INPUT, 0.6)
        upstream = view(diagnosed(notes, order(misread(notes), operation="research")), "upstream")
        assert "questions / item+fields" in upstream.evidence[0]
        upstream = view(diagnosed(notes, order(misread(notes), inputs={N1: output(text=" ")})), "upstream")
        assert (upstream.cause, upstream.blamed) == (RootCause.INPUT, "n1")


def as_read(notes: Notes, path: str, content: str) -> Source:
    """Write a note and return its source with the id that a reader gives it, which follows from digest and path."""
    source = notes.write(path, content)
    key = hashlib.sha256(f"{source.digest}\n{path}".encode()).hexdigest()
    return replace(source, id=SourceId(f"s-{key[:12]}"))


def edit(path: Path) -> None:
    path.write_text("Rewritten.", encoding="utf-8")


class TestChangedSources:
    """Files that were changed or deleted after they had been read are named, whatever the root cause is."""

    @pytest.mark.parametrize("change", [edit, Path.unlink])
    def test_the_file_is_named_and_nobody_is_blamed(
        self, notes: Notes, change: Callable[[Path], None]
    ) -> None:
        source = as_read(notes, "sub/a.md", TEXT)
        piece = notes.quote(source, "The tax is 12 percent.")
        change(notes.root / "sub" / "a.md")
        found = diagnosed(notes, order(output([quoted(piece)], [piece], [source])))
        assert (found.cause, found.blamed, found.changed) == (RootCause.INPUT, None, ("sub/a.md",))
        upstream = view(found, "upstream")
        assert upstream.strength == 0.9
        assert "'sub/a.md'" in upstream.evidence[0]

    def test_an_address_that_was_never_read_is_no_deleted_file(self, notes: Notes) -> None:
        source = as_read(notes, "a.md", TEXT)
        made_up = replace(source, uri="b.md")
        piece = notes.quote(source, "The tax is 12 percent.")
        found = diagnosed(notes, order(output([quoted(piece)], [piece], [made_up])))
        assert (found.cause, found.changed) == (RootCause.PROCESS, ())

    def test_each_file_is_named_once_in_the_order_of_citation(self, notes: Notes) -> None:
        b, a, kept = (as_read(notes, name, TEXT) for name in ("b.md", "a.md", "kept.md"))
        tax, storage = "The tax is 12 percent.", "The plant stores 32 MWh."
        pieces = [
            notes.quote(b, tax),
            notes.quote(a, tax),
            notes.quote(b, storage),
            notes.quote(kept, storage),
        ]
        edit(notes.root / "b.md")
        (notes.root / "a.md").unlink()
        produced = output([quoted(each) for each in pieces], pieces, [kept, a, b])
        assert diagnosed(notes, order(produced)).changed == ("b.md", "a.md")

    def test_it_says_nothing_of_the_mask_of_the_agent(self, notes: Notes) -> None:
        source = as_read(notes, "a.md", TEXT)
        piece = notes.quote(source, "The tax is 12 percent.", domain="law.tax")
        edit(notes.root / "a.md")
        produced = output([quoted(piece)], [piece], [source])
        silenced = order(produced, required={"law.tax": 0.5}, worker=agent(law_tax=20))
        assert diagnosed(notes, silenced).cause is RootCause.INPUT
        raised = order(produced, extended=("law.tax",), worker=agent(law_tax=40))
        found = diagnosed(notes, raised)
        assert (found.cause, found.domain) == (RootCause.INPUT, None)

    def test_what_else_is_false_still_counts_for_the_agent(self, notes: Notes) -> None:
        source = as_read(notes, "a.md", TEXT)
        piece = notes.quote(source, "The tax is 12 percent.", domain="law.tax")
        kept = as_read(notes, "kept.md", TEXT)
        false = invented(kept, domain="law.tax")
        edit(notes.root / "a.md")
        produced = output([quoted(piece, false)], [piece, false], [source, kept])
        found = diagnosed(notes, order(produced, extended=("law.tax",), worker=agent(law_tax=40)))
        assert (found.cause, found.domain, found.changed) == (RootCause.CAPABILITY, "law.tax", ("a.md",))

    def test_a_misread_or_invented_excerpt_names_no_file(self, notes: Notes) -> None:
        assert diagnosed(notes, order(misread(notes))).changed == ()
        assert diagnosed(notes, order(fabricated(notes))).changed == ()


class TestMask:
    """A mask value."""

    def test_a_required_domain_that_the_mask_silences(self, notes: Notes) -> None:
        checked = order(
            fabricated(notes, domain="law.tax"), required={"law.tax": 0.5}, worker=agent(law_tax=20)
        )
        found = diagnosed(notes, checked)
        assert (found.cause, found.domain) == (RootCause.MASK, "law.tax")
        assert view(found, "supervisor").strength == 0.9

    def test_a_declared_leak_under_a_misread_claim(self, notes: Notes) -> None:
        found = diagnosed(notes, self.leaking(notes, declared=True))
        assert (found.cause, found.domain) == (RootCause.MASK, "law.tax")

    def test_an_undeclared_leak_is_a_broken_rule(self, notes: Notes) -> None:
        found = diagnosed(notes, self.leaking(notes, declared=False))
        assert (found.cause, found.domain) == (RootCause.PROCESS, "law.tax")

    def leaking(self, notes: Notes, *, declared: bool) -> CheckOrder:
        """Return an order whose misread claim is a background leak."""
        leak = Leak(
            agent="A1",
            domain=DomainId("law.tax"),
            m100=55,
            band=Band.BACKGROUND,
            origin="source",
            declared=declared,
            detected=True,
            start=0,
            end=22,
            text="The tax is 21 percent.",
        )
        elsewhere = replace(leak, text="Something else.", domain=DomainId("law.labour"))
        return order(misread(notes, domain="law.tax"), leaks=(elsewhere, leak), worker=agent(law_tax=55))


class TestCapability:
    """The agent can't."""

    def test_the_crossing_rule_overrides_every_other_view(self, notes: Notes) -> None:
        produced = fabricated(notes, domain="law.tax")
        checked = order(
            produced, inputs={N1: produced}, extended=("law.labour", "law.tax"), worker=agent(law_tax=40)
        )
        found = diagnosed(notes, checked)
        assert (found.cause, found.domain, found.blamed) == (RootCause.CAPABILITY, "law.tax", None)
        assert view(found, "upstream").cause is RootCause.INPUT

    def test_the_crossing_rule_needs_the_falsified_evidence_in_that_domain(self, notes: Notes) -> None:
        source = notes.write("a.md", TEXT)
        false, true = (
            invented(source, domain="energy.storage"),
            notes.quote(source, "The tax is 12 percent.", domain="law.tax"),
        )
        produced = output([quoted(false), quoted(true)], [false, true], [source])
        worker = agent(law_tax=40, energy_storage=90)
        found = diagnosed(notes, order(produced, extended=("law.tax",), worker=worker))
        assert (found.cause, found.domain) == (RootCause.PROCESS, None)

    def test_a_redo_that_fails_again(self, notes: Notes) -> None:
        assert diagnosed(notes, order(fabricated(notes), triggers=("redo",))).cause is RootCause.CAPABILITY

    def test_a_required_domain_that_the_agent_lacked(self, notes: Notes) -> None:
        need = Need(domain="law.tax", question="q", band="SILENT", match=0.9)
        checked = order(misread(notes), needs=(need,), required={"law.tax": 1.0})
        found = diagnosed(notes, checked)
        assert (found.cause, found.domain) == (RootCause.CAPABILITY, "law.tax")
        tainted = order(misread(notes), needs=(replace(need, taint="untrusted"),), required={"law.tax": 1.0})
        assert diagnosed(notes, tainted).cause is RootCause.PROCESS
        assert diagnosed(notes, order(misread(notes), needs=(need,))).cause is RootCause.PROCESS


class TestProcess:
    """The agent could and did not."""

    def test_a_fabricated_citation(self, notes: Notes) -> None:
        found = diagnosed(notes, order(fabricated(notes)))
        assert (found.cause, view(found, "supervisor").strength) == (RootCause.PROCESS, 0.8)
        assert view(found, "upstream").cause is None
        assert view(found, "downstream").cause is None

    def test_silent_material_that_nothing_requires(self, notes: Notes) -> None:
        found = diagnosed(notes, order(misread(notes, domain="law.tax"), worker=agent(law_tax=-50)))
        assert (found.cause, found.domain) == (RootCause.PROCESS, "law.tax")

    def test_a_loop_without_a_round(self, notes: Notes) -> None:
        supervisor = view(diagnosed(notes, order(misread(notes), rounds=())), "supervisor")
        assert (supervisor.cause, supervisor.strength) == (RootCause.PROCESS, 0.75)
        supervisor = view(diagnosed(notes, order(misread(notes), rounds=(), kind="function")), "supervisor")
        assert supervisor.strength == 0.6

    def test_the_downstream_view_sees_what_a_consumer_cannot_follow(self, notes: Notes) -> None:
        produced = replace(misread(notes), text="# Notes\n\nThe tax. [^c-000000000000]")
        downstream = view(diagnosed(notes, order(produced)), "downstream")
        assert (downstream.cause, downstream.strength) == (RootCause.PROCESS, 0.75)
        assert {text.split(":")[0] for text in downstream.evidence} == {"claim_not_cited", "anchor_unknown"}

    def test_loose_ends_elsewhere_weigh_less(self, notes: Notes) -> None:
        produced = misread(notes)
        loose = replace(produced, text=produced.text + "\n\nIt is new. [^c-000000000000]")
        assert view(diagnosed(notes, order(loose)), "downstream").strength == 0.4


class TestDisagreement:
    """The best evidenced view wins, the supervisor on a tie."""

    def test_the_stronger_view_wins(self, notes: Notes) -> None:
        produced = fabricated(notes)
        found = diagnosed(notes, order(produced, rounds=(), inputs={N1: produced}))
        assert (view(found, "supervisor").cause, view(found, "supervisor").strength) == (
            RootCause.PROCESS,
            0.75,
        )
        assert (view(found, "upstream").strength, found.cause) == (1.0, RootCause.INPUT)

    def test_a_tie_is_the_supervisors(self, notes: Notes) -> None:
        port = (PortSpec(name="claims", type="claims"),)
        found = diagnosed(notes, order(misread(notes), ports_in=port))
        assert view(found, "supervisor").strength == view(found, "upstream").strength == 0.6
        assert view(found, "upstream").cause is RootCause.INPUT
        assert found.cause is RootCause.PROCESS

    def test_a_deleted_source_that_was_handed_down_is_the_upstreams(self, notes: Notes) -> None:
        source = notes.write("a.md", TEXT)
        piece = notes.quote(source, "The tax is 12 percent.")
        (notes.root / "a.md").unlink()
        produced = output([quoted(piece)], [piece], [source])
        found = diagnosed(notes, order(produced, inputs={N1: produced}))
        assert (found.cause, found.blamed) == (RootCause.INPUT, "n1")
