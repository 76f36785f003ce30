import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.plan import NodeId, Plan, index_plan
from graphs.render import escape_label, to_mermaid, to_outline
from tests import strategies
from tests.strategies import bare_subtask, hand_plan

A, B = NodeId("a"), NodeId("b")
ENTITY = re.compile(r"#([0-9]+);")
LINES = (
    re.compile(r'    s\d+(\[\[|\[|\(|\{\{)"[^"]*"(\]\]|\]|\)|\}\})'),
    re.compile(r'    s\d+ -->\|"[^"]*"\| s\d+'),
    re.compile(r"    classDef [a-z]+ [a-z0-9#:,]+"),
    re.compile(r"    class s\d+(,s\d+)* [a-z]+"),
)


def unescape(label: str) -> str:
    """What a browser shows for a label."""
    return ENTITY.sub(lambda found: chr(int(found.group(1))), label)


@given(st.text())
def test_labels_show_the_text_and_hold_no_syntax(text: str) -> None:
    label = escape_label(text)
    assert re.fullmatch(r"[\w #;]*", label)
    visible = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    assert unescape(label) == visible


NASTY = [
    'end"] --> x["',
    "%%{init: {}}%%",
    "<script>alert(1)</script>",
    "click s0 href",
    "换行\n`code` #35; 【全角】",
    "\x1b[31mred",
    "",
]


@pytest.mark.parametrize("title", NASTY)
def test_no_title_agent_or_state_can_break_the_chart(title: str) -> None:
    plan = hand_plan("a>b")
    plan = replace(plan, subtasks=(replace(plan.subtasks[0], title=title), plan.subtasks[1]))
    chart = to_mermaid(index_plan(plan), {A: title}, {A: title, B: "accepted"}, "zh")
    first, *rest = chart.splitlines()
    assert first == "flowchart LR"
    assert all(any(form.fullmatch(line) for form in LINES) for line in rest), chart


@given(strategies.plans(min_nodes=1))
def test_every_node_and_every_joined_pair_is_drawn_once(plan: Plan) -> None:
    lines = to_mermaid(index_plan(plan)).splitlines()[1:]
    assert sum(bool(LINES[0].fullmatch(line)) for line in lines) == len(plan.subtasks)
    pairs = {(edge.source, edge.target) for edge in plan.dependencies}
    assert sum(bool(LINES[1].fullmatch(line)) for line in lines) == len(pairs)
    assert all(any(form.fullmatch(line) for form in LINES) for line in lines)


def test_mermaid_by_hand() -> None:
    plan = hand_plan("a>b")
    plan = replace(plan, subtasks=(replace(plan.subtasks[0], title="查价格", kind="loop"), plan.subtasks[1]))
    assert to_mermaid(index_plan(plan), {A: "scout"}, {A: "running", B: "odd"}, "zh") == (
        "flowchart LR\n"
        '    s0("a#58; 查价格<br/>#64; scout<br/>运行中")\n'
        '    s1[["b#58; b<br/>odd"]]\n'
        '    s0 -->|"claims"| s1\n'
        "    classDef running fill:#dbeafe,stroke:#1d4ed8,color:#111\n"
        "    class s0 running\n"
    )


def test_outline_by_hand() -> None:
    plan = hand_plan("a>b")
    plan = replace(plan, subtasks=(plan.subtasks[0], replace(plan.subtasks[1], failure_semantics="optional")))
    index = index_plan(plan)
    assert to_outline(index, "en", {A: "scout"}) == (
        "1. a  a  [function, check, entry] @ scout\n"
        "2. b  b  [function, check, exit, optional]\n"
        "   needs: a.claims -> claims\n"
    )
    assert to_outline(index, "zh") == (
        "1. a  a  [函数，check，入口]\n2. b  b  [函数，check，出口，可选]\n   需要: a.claims -> claims\n"
    )
    assert to_outline(index_plan(Plan()), "en") == "(empty plan)\n"
    assert to_outline(index_plan(Plan()), "zh") == "（空计划）\n"


@pytest.mark.parametrize("title", NASTY)
def test_an_outline_has_one_line_per_node_whatever_the_title(title: str) -> None:
    outline = to_outline(index_plan(Plan(subtasks=(bare_subtask("a", title=title or " "),))), "en")
    assert outline.count("\n") == 1
    assert outline.removesuffix("\n").isprintable()
