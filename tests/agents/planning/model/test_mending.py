import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from agents.planning.model.mending import in_order, longest_chain, mend_edges, mend_graph, replaced, without
from agents.planning.model.steps import Step

IDS = ("a", "b", "c", "d", "e")


def made(identifier: str, *after: str, operation: str = "research") -> Step:
    return Step(id=identifier, operation=operation, title=identifier, after=after)


def network(steps: tuple[Step, ...]) -> "nx.DiGraph[str]":
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(step.id for step in steps)
    graph.add_edges_from((source, step.id) for step in steps for source in step.after)
    return graph


STEPS = st.lists(
    st.builds(
        lambda identifier, after: made(identifier, *after),
        st.sampled_from(IDS),
        st.lists(st.sampled_from((*IDS, "missing")), max_size=4, unique=True),
    ),
    max_size=8,
)


@given(STEPS)
def test_any_steps_become_a_dag_of_the_edges_that_were_written(steps: list[Step]) -> None:
    mended = mend_graph(steps)
    ids = [step.id for step in mended.steps]
    assert len(ids) == len(set(ids)) == len(steps)
    assert nx.is_directed_acyclic_graph(network(mended.steps))
    for before, after in zip(steps, mended.steps, strict=True):
        assert set(after.after) <= set(before.after)
        assert after.title == before.title


@given(STEPS)
def test_each_edge_that_is_gone_has_a_repair(steps: list[Step]) -> None:
    mended = mend_graph(steps)
    gone = sum(len(step.after) for step in steps) - sum(len(step.after) for step in mended.steps)
    cut = [found for found in mended.repairs if found.kind in ("dangling_id", "self_edge", "cycle")]
    assert gone == len(cut)
    renamed = [found for found in mended.repairs if found.kind == "duplicate_id"]
    assert len(renamed) == len(steps) - len({step.id for step in steps})


@given(STEPS)
def test_what_is_a_dag_is_left_as_it_is(steps: list[Step]) -> None:
    once = mend_graph(steps)
    again = mend_graph(once.steps)
    assert again.steps == once.steps
    assert again.repairs == ()


@given(STEPS)
def test_order_and_longest_chain_are_those_of_the_graph(steps: list[Step]) -> None:
    mended = mend_graph(steps).steps
    ordered = [step.id for step in in_order(mended)]
    assert sorted(ordered) == sorted(step.id for step in mended)
    for step in mended:
        assert all(ordered.index(source) < ordered.index(step.id) for source in step.after)
    expected = len(nx.dag_longest_path(network(mended))) if mended else 0
    assert longest_chain(mended) == expected


def test_the_cycle_and_the_missing_id_of_the_field_report() -> None:
    mended = mend_graph([made("t1", "t3"), made("t2", "t9"), made("t3", "t1")])
    assert mended.steps == (made("t1"), made("t2"), made("t3", "t1"))
    assert [(found.kind, dict(found.detail)) for found in mended.repairs] == [
        ("dangling_id", {"id": "t2", "missing": "t9"}),
        ("cycle", {"path": "t1 → t3 → t1", "edge": "t3 → t1"}),
    ]


def test_of_two_edges_against_the_order_the_one_written_last_is_cut() -> None:
    # a → b → c → d, closed by d → a and, inside, by d → c: two cycles, two cuts.
    mended = mend_graph([made("a", "d"), made("b", "a"), made("c", "b", "d"), made("d", "c")])
    assert [step.after for step in mended.steps] == [(), ("a",), ("b",), ("c",)]
    assert sorted(found.detail["edge"] for found in mended.repairs) == ["d → a", "d → c"]


def test_the_later_of_two_steps_with_one_id_is_renamed() -> None:
    mended = mend_graph([made("t1"), made("t1"), made("t1-2", "t1")])
    assert [step.id for step in mended.steps] == ["t1", "t1-3", "t1-2"]
    assert mended.steps[2].after == ("t1",)


def test_an_id_in_other_case_is_found_and_one_from_outside_is_given() -> None:
    mended = mend_graph([made("T1"), made("t2", "t1", "s1", "S2")], outside=("S1", "S2", "T1"))
    assert mended.steps[1].after == ("T1",)
    assert mended.steps[1].given == ("S1", "S2")
    assert mended.repairs == ()


def test_a_table_goes_into_a_merge_only() -> None:
    steps = [
        made("a"),
        made("b"),
        made("c", "a", "b", operation="compare"),
        made("d", "c", operation="outline"),
        made("e", "c", operation="synthesise"),
        made("f", operation="extract"),
        made("g", "f", operation="check"),
    ]
    mended = mend_edges(steps)
    assert [step.after for step in mended.steps] == [(), (), ("a", "b"), ("a", "b"), ("c",), (), ()]
    assert [(found.detail["id"], found.detail["source"]) for found in mended.repairs] == [
        ("d", "c"),
        ("g", "f"),
    ]


def test_a_step_that_goes_leaves_its_sources_and_parts_take_its_place() -> None:
    steps = [made("a"), Step(id="b", operation="x", title="", after=("a",), given=("S1",)), made("c", "b")]
    left = without(steps, "b")
    assert left[1].after == ("a",)
    assert left[1].given == ("S1",)
    parts = replaced(steps, "a", [made("a1"), made("a2")])
    assert [step.id for step in parts] == ["a1", "a2", "b", "c"]
    assert parts[2].after == ("a1", "a2")
