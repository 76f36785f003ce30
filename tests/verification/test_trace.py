"""Tracing facts and combining what is found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.evidence import EvidenceId, SourceId
from orchestrator.core.claims import (
    Contested,
    Deviates,
    Falsified,
    SoftClaim,
    Uncertain,
    Verdict,
    Verified,
    verdict_weight,
)
from orchestrator.verification.broken import CheckBroke
from orchestrator.verification.splitting import material_of
from orchestrator.verification.trace import Trace, product, worst
from tests.verification.cases import BrokenSource, ScriptedSource, claim, evidence, output

S = SourceId("s-1")
F1 = evidence(S, "one", key="f1")
F2 = evidence(S, "two", key="f2")
BOTH = evidence(S, "both", key="i", kind="inference", premises=[F1, F2])
HERE = Verified(source="a.md:1")
THERE = Verified(source="b.md:2")
NOWHERE = Falsified(reason="no such place")
AGAINST = Falsified(reason="12, not 15", source="table.csv:4")


def trace(*sources: ScriptedSource | BrokenSource, delta_max: float = 0.05) -> Trace:
    extra = [
        evidence(S, "usually", key="x", kind="experience"),
        evidence(S, "mixed", key="m", kind="inference", premises=[F1, evidence(S, "u", key="x")]),
        replace(F1, id=EvidenceId("forged"), excerpt_sha256="0" * 64),
        evidence(S, "known", key="p", origin="parametric"),
        replace(BOTH, id=EvidenceId("lost"), premises=(F1.id, EvidenceId("gone"))),
    ]
    produced = output([claim("both", BOTH)], [F1, F2, BOTH, *extra])
    return Trace(material_of(produced, []), sources, delta_max=delta_max, lang="en")


@pytest.mark.parametrize(
    ("answers", "verdict", "defect"),
    [
        ([HERE], HERE, None),
        ([None], None, None),
        ([None, HERE], HERE, None),
        ([NOWHERE], NOWHERE, "place_missing"),
        ([AGAINST], AGAINST, "contradicted"),
        ([NOWHERE, HERE], HERE, None),
        ([HERE, AGAINST], Contested(sources=("a.md:1", "table.csv:4")), None),
        ([NOWHERE, AGAINST], AGAINST, "contradicted"),
        ([HERE, Uncertain(reason="?")], HERE, None),
        ([Uncertain(reason="?"), NOWHERE], NOWHERE, "place_missing"),
        ([Uncertain(reason="?")], Uncertain(reason="?"), None),
    ],
)
def test_what_several_sources_say_of_one_fact(
    answers: list[Verdict | None], verdict: Verdict | None, defect: str | None
) -> None:
    sources = [ScriptedSource({"one": [answer]}) for answer in answers]
    traced = trace(*sources).fact(F1.id)
    if verdict is None:
        assert traced.verdict == Uncertain(reason="no fact source can tell")
    else:
        assert traced.verdict == verdict
    assert traced.defect == defect
    assert traced.ground == (F1.id if defect else None)


@pytest.mark.parametrize(("delta", "kept"), [(0.05, True), (0.0501, False), (float("nan"), False)])
def test_a_deviation_is_accepted_up_to_the_contracts_tolerance(delta: float, kept: bool) -> None:
    said = Deviates(source="t.csv:1", delta=delta, found="100 MW")
    traced = trace(ScriptedSource({"one": [said]})).fact(F1.id)
    if kept:
        assert traced.verdict == said
    else:
        assert isinstance(traced.verdict, Falsified)
        assert traced.verdict.source == "t.csv:1"
        assert "100 MW" in traced.verdict.reason
        assert traced.defect == "contradicted"


def test_each_fact_is_asked_once_in_a_pass() -> None:
    source = ScriptedSource({"one": [HERE], "two": [THERE]})
    once = trace(source)
    for _ in range(3):
        once.evidence(BOTH.id, {F1.id, F2.id})
        once.fact(F1.id)
    assert source.asked == [F1.id, F2.id]


def test_a_forged_digest_is_falsified_without_asking() -> None:
    source = ScriptedSource({"one": [HERE]})
    traced = trace(source).fact(EvidenceId("forged"))
    assert isinstance(traced.verdict, Falsified)
    assert traced.defect == "digest_differs"
    assert source.asked == []


def test_a_source_that_breaks_is_named() -> None:
    with pytest.raises(CheckBroke, match=r"archive: PermissionError: archive.md: permission denied"):
        trace(ScriptedSource({"one": [HERE]}), BrokenSource()).fact(F1.id)


def test_an_inference_is_as_good_as_its_facts() -> None:
    two = Deviates(source="b.md:2", delta=0.02, found="98")
    three = Deviates(source="a.md:1", delta=0.03, found="97")

    def verdict(first: Verdict, second: Verdict) -> Verdict:
        found = trace(ScriptedSource({"one": [first], "two": [second]})).evidence(BOTH.id, {F1.id, F2.id})
        assert found is not None
        return found.verdict

    assert verdict(HERE, THERE) == Verified(source="a.md:1; b.md:2")
    one = verdict(HERE, two)
    assert isinstance(one, Deviates)
    assert (one.source, one.found, round(one.delta, 9)) == ("a.md:1; b.md:2", "98", 0.02)
    both = verdict(three, two)
    assert isinstance(both, Deviates)
    # 0.97 x 0.98 = 0.9506
    assert (both.found, round(both.delta, 9)) == ("97; 98", 0.0494)
    assert verdict(HERE, Uncertain(reason="?")) == Uncertain(reason="?")
    assert verdict(NOWHERE, THERE) == NOWHERE


def test_an_inference_of_which_a_fact_is_left_out_is_open_unless_the_other_is_false() -> None:
    assert trace(ScriptedSource({"one": [HERE]})).evidence(BOTH.id, {F1.id}) is None
    false = trace(ScriptedSource({"one": [NOWHERE]})).evidence(BOTH.id, {F1.id})
    assert false is not None
    assert (false.evidence, false.ground, false.verdict) == (BOTH.id, F1.id, NOWHERE)


@pytest.mark.parametrize("key", ["gone", "lost"])
def test_evidence_or_a_premise_that_is_not_there_is_falsified(key: str) -> None:
    found = trace(ScriptedSource({"one": [HERE]})).evidence(EvidenceId(key), {F1.id})
    assert found is not None
    assert isinstance(found.verdict, Falsified)
    assert (found.defect, found.ground) == ("evidence_missing", None)


def test_experience_is_soft_and_a_models_knowledge_uncertain() -> None:
    source = ScriptedSource({"one": [HERE]})
    found = {key: trace(source).evidence(EvidenceId(key), {F1.id}) for key in ("x", "m", "p")}
    assert {key: each.verdict.kind for key, each in found.items() if each} == {
        "x": "soft_claim",
        "m": "soft_claim",
        "p": "uncertain",
    }
    assert source.asked == [F1.id]


def test_passages_are_what_was_confirmed() -> None:
    once = trace(ScriptedSource({"one": [HERE], "two": [NOWHERE]}))
    assert [(each.text, each.where) for each in once.passages([F1.id, F2.id])] == [("one", "a.md:1")]


VERDICTS: st.SearchStrategy[Verdict] = st.one_of(
    st.just(HERE),
    st.just(THERE),
    st.just(NOWHERE),
    st.just(SoftClaim()),
    st.just(Uncertain(reason="?")),
    st.just(Contested(sources=("a", "b"))),
    st.floats(0.001, 1.0).map(lambda delta: Deviates(source="c", delta=delta, found="1")),
)


@settings(deadline=None)
@given(st.lists(VERDICTS, min_size=1, max_size=6))
def test_the_worst_weighs_least_and_the_product_never_more(verdicts: list[Verdict]) -> None:
    least = min(map(verdict_weight, verdicts))
    assert verdict_weight(worst(verdicts)) == least
    assert verdict_weight(product(verdicts)) <= least + 1e-12
    assert (
        isinstance(worst(verdicts), Falsified) == any(isinstance(each, Falsified) for each in verdicts)
        or least == 0
    )


@settings(deadline=None)
@given(st.lists(VERDICTS, min_size=1, max_size=6))
def test_the_order_of_verdicts_changes_no_weight(verdicts: list[Verdict]) -> None:
    assert verdict_weight(product(verdicts)) == pytest.approx(verdict_weight(product(verdicts[::-1])))
    assert worst(verdicts).kind == worst(verdicts[::-1]).kind
