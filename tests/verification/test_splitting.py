"""Claims, and the facts that they come down to."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.evidence import Evidence, EvidenceId, LeakMark, SourceId
from orchestrator.verification.splitting import (
    MAX_PREMISE_DEPTH,
    Reduction,
    distinct_claims,
    material_of,
    reduce_all,
    split,
)
from tests.verification.cases import Notes, claim, evidence, output

S = SourceId("s-1")
F1 = evidence(S, "one", key="f1")
F2 = evidence(S, "two", key="f2")


def inference(key: str, *premises: Evidence) -> Evidence:
    return evidence(S, key, key=key, kind="inference", premises=premises)


def ids(*keys: str) -> tuple[EvidenceId, ...]:
    return tuple(EvidenceId(key) for key in keys)


def test_a_fact_is_its_own_ground() -> None:
    assert reduce_all([F1])[F1.id] == Reduction(facts=ids("f1"))


def test_an_inference_comes_down_to_the_facts_below_it_each_once() -> None:
    low = inference("low", F1, F2)
    high = inference("high", low, F2)
    found = reduce_all([high, low, F2, F1])
    assert found[high.id] == Reduction(facts=ids("f1", "f2"), height=2)


def test_experience_is_soft_also_below_an_inference() -> None:
    feeling = evidence(S, "usually", key="x", kind="experience")
    found = reduce_all([feeling, F1, inference("i", F1, feeling)])
    assert found[feeling.id] == Reduction(soft=True)
    assert found[EvidenceId("i")] == Reduction(facts=ids("f1"), soft=True, height=1)


def test_premises_that_lead_back_are_a_cycle_for_all_that_rest_on_it() -> None:
    a = evidence(S, "a", key="a", kind="inference")
    b = inference("b", a, F1)
    a = replace(a, premises=ids("b"))
    above = inference("above", a)
    itself = replace(inference("self"), premises=ids("self"))
    found = reduce_all([a, b, above, itself, F1])
    assert {key: found[EvidenceId(key)].problem for key in ("a", "b", "above", "self", "f1")} == {
        "a": "cycle",
        "b": "cycle",
        "above": "cycle",
        "self": "cycle",
        "f1": None,
    }


def test_a_chain_is_followed_to_its_limit() -> None:
    chain: list[Evidence] = [F1]
    for number in range(1, MAX_PREMISE_DEPTH + 2):
        chain.append(inference(f"i{number}", chain[-1]))
    found = reduce_all(chain)
    assert found[chain[MAX_PREMISE_DEPTH].id].problem is None
    assert found[chain[MAX_PREMISE_DEPTH + 1].id].problem == "too_deep"


def test_three_thousand_inferences_on_one_another_do_not_overflow() -> None:
    chain: list[Evidence] = [F1]
    for number in range(3_000):
        chain.append(inference(f"i{number}", chain[-1]))
    assert reduce_all(reversed(chain))[chain[-1].id].problem == "too_deep"


def test_an_inference_from_nothing_or_from_what_is_not_there() -> None:
    lost = replace(inference("lost", F1), premises=ids("f1", "gone"))
    found = reduce_all([inference("empty"), lost, F1])
    assert found[EvidenceId("empty")].problem == "no_premises"
    assert found[lost.id] == Reduction(facts=ids("f1"), problem="missing", height=1)


def test_what_a_model_knew_has_no_facts() -> None:
    found = reduce_all([evidence(S, "known", key="p", origin="parametric")])
    assert found[EvidenceId("p")] == Reduction(problem="parametric")


def test_upstream_evidence_is_followed_to_the_inputs_source(notes: Notes) -> None:
    source = notes.write("a.md", "The plant stores 32 MWh.\n")
    real = notes.quote(source, "The plant stores 32 MWh.")
    pointer = evidence(SourceId("n1"), real.text, key="up", origin="upstream")
    handed = output([claim(real.text, real)], [real], [source])
    mine = output([claim(real.text, pointer)], [pointer])
    material = material_of(mine, [handed])
    assert material.evidence[pointer.id] == replace(real, id=pointer.id)
    assert material.reduction(pointer.id).facts == (pointer.id,)
    assert material_of(mine, []).reduction(pointer.id) == Reduction(problem="upstream")


def test_an_upstream_pointer_is_not_resolved_by_another_pointer() -> None:
    pointer = evidence(SourceId("n1"), "x", key="up", origin="upstream")
    again = evidence(SourceId("n0"), "x", key="up0", origin="upstream")
    material = material_of(output([claim("x", pointer)], [pointer]), [output([], [again])])
    assert material.reduction(pointer.id).problem == "upstream"


def test_evidence_is_not_borrowed_from_an_input() -> None:
    material = material_of(output([claim("one", F1)]), [output([], [F1])])
    assert material.reduction(F1.id).problem == "missing"


def test_copies_are_one_independent_source_and_a_circle_of_copies_too(notes: Notes) -> None:
    first = notes.write("a.md", "x")
    second = notes.write("b.md", "x", copy_of=first.id)
    third = notes.write("c.md", "x", copy_of=second.id)
    alone = notes.write("d.md", "y")
    material = material_of(output(sources=[first, second, third, alone]), [])
    assert material.independent(third.id) == first.id
    assert material.independent(alone.id) == alone.id
    circle = [replace(first, copy_of=third.id), second, third]
    material = material_of(output(sources=circle), [])
    assert len({material.independent(each.id) for each in circle}) == 1


def test_a_claim_on_several_pieces_has_the_facts_of_all() -> None:
    deep = inference("i", F2)
    produced = output([claim("x", F1, deep), claim("y")], [F1, F2, deep])
    first, second = split(produced, material_of(produced, []))
    assert (first.facts, first.derived, first.problems) == (ids("f1", "f2"), True, ())
    assert (second.facts, second.derived, second.soft) == ((), False, False)


def test_a_claim_that_answers_two_questions_is_one_claim() -> None:
    mark = LeakMark(agent="A1", domain="law.tax", strength=55, origin="source", declared=True, node="n1")
    one = claim("x", F1, core=False, question="a")
    two = replace(one, core=True, question="b", leaks=(mark,))
    (kept,) = distinct_claims(output([one, two], [F1]))
    assert kept.core
    assert kept.leaks == (mark,)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40))
def test_any_graph_of_premises_is_reduced(edges: list[tuple[int, int]]) -> None:
    """Facts are 0 to 3, inferences 4 to 11; what is not on or above a cycle has exactly the facts that it reaches."""
    below: dict[int, list[int]] = {number: [] for number in range(12)}
    for above, under in edges:
        if above > 3:
            below[above].append(under)
    made = [
        evidence(S, str(n), key=str(n))
        if n < 4
        else replace(inference(str(n)), premises=ids(*map(str, below[n])))
        for n in range(12)
    ]
    found = reduce_all(made)
    for number in range(12):
        reached, waiting = set[int](), [number]
        while waiting:
            node = waiting.pop()
            for under in below[node]:
                if under not in reached:
                    reached.add(under)
                    waiting.append(under)
        reduction = found[EvidenceId(str(number))]
        cyclic = any(_reaches_itself(node, below) for node in {number, *reached})
        assert (reduction.problem == "cycle") == cyclic
        if not cyclic and number > 3:
            assert {int(fact) for fact in reduction.facts} == {node for node in reached if node < 4}


def _reaches_itself(start: int, below: dict[int, list[int]]) -> bool:
    seen, waiting = set[int](), list(below[start])
    while waiting:
        node = waiting.pop()
        if node == start:
            return True
        if node not in seen:
            seen.add(node)
            waiting.extend(below[node])
    return False
