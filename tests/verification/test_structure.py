"""Level 1: form."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import JsonValue

from agents.evidence import SourceId
from agents.results import OpenQuestion, WorkOutput
from graphs.contract import Criterion, PortType
from orchestrator.verification.ports import CheckOrder
from orchestrator.verification.structure import StructureChecker, tables_in
from tests.verification.cases import claim, codes, evidence, order, output

S = SourceId("s-1")
F1 = evidence(S, "The plant stores 32 MWh.", key="f1")
OPEN = OpenQuestion(question="Who owns it?", reason="not_found", searched=("owner",))
TABLE = "| Item | Cost |\n| --- | ---: |\n| Plant A | 12 |\n| Plant B | 15 |"


def found(checked: CheckOrder) -> list[str]:
    findings = StructureChecker().check(checked)
    assert all(finding.severity == "structural" for finding in findings)
    return codes(findings)


def answered(question: str = "How much?") -> WorkOutput:
    return output([claim(F1.text, F1, question=question)], [F1])


def test_a_sound_output_has_no_findings() -> None:
    produced = replace(answered(), open_questions=(OPEN,))
    assert found(order(produced, params={"questions": ["How much?", "Who owns it?"]})) == []


def test_an_empty_text_is_all_that_is_said_of_it() -> None:
    assert found(order(output(text=" \n\t"), params={"questions": ["How much?"]})) == ["empty_output"]


@pytest.mark.parametrize("place", ["text", "claim", "evidence"])
def test_broken_characters_are_unparseable(place: str) -> None:
    bad = "half a pair \ud83d"
    produced = {
        "text": output([claim("x", F1)], [F1], text=bad),
        "claim": output([claim("x", F1), replace(claim("y", F1), statement=bad)], [F1], text="t"),
        "evidence": output([claim("x", F1)], [replace(F1, text=bad)]),
    }[place]
    assert found(order(produced)) == ["unparseable"]


@pytest.mark.parametrize(
    ("port", "produced", "good"),
    [
        ("claims", answered(), True),
        ("claims", replace(output(text="t"), open_questions=(OPEN,)), True),
        ("claims", output(text="nothing to say"), False),
        ("table", output(text=TABLE), True),
        ("table", output(text="| no | rule |\n| 1 | 2 |"), False),
        ("table", output(text=TABLE + "\n| Plant C |"), False),
        ("report", output(text="Intro\n\n## Findings\n\nx"), True),
        ("report", output(text="#no heading"), False),
        ("json", output(text='{"a": [1]}'), True),
        ("json", output(text="a: 1", fields={"a": "1"}), True),
        ("json", output(text="{a: 1"), False),
        ("documents", output(text="t"), False),
        ("text", output(text="t"), True),
    ],
)
def test_the_output_port_has_its_type(port: PortType, produced: WorkOutput, good: bool) -> None:
    assert found(order(produced, port=port)) == ([] if good else ["wrong_type"])


def test_a_table_names_every_item_and_aspect() -> None:
    params: dict[str, JsonValue] = {
        "items": ["Plant A", "plant b", "Plant C"],
        "aspects": ["Cost", "Lifetime"],
    }
    findings = StructureChecker().check(order(output(text=TABLE), port="table", params=params))
    assert codes(findings) == ["field_missing", "field_missing"]
    assert "'Plant C' (items)" in findings[0].message
    assert "'Lifetime' (aspects)" in findings[1].message


def test_a_question_neither_answered_nor_open_is_missing() -> None:
    params: dict[str, JsonValue] = {"questions": ["How much?", "Since when?"]}
    (finding,) = StructureChecker().check(order(answered(), params=params, lang="zh"))
    assert finding.code == "question_unaddressed"
    assert "Since when?" in finding.message
    assert "未决" in finding.message


def test_corrected_parameters_replace_those_of_the_plan() -> None:
    produced = answered("How many?")
    assert found(order(produced, params={"questions": ["How much?"]})) == ["question_unaddressed"]
    assert (
        found(order(produced, params={"questions": ["How much?"]}, corrected={"questions": ["how  many?"]}))
        == []
    )


def test_fields_are_filled_by_a_claim_a_value_or_left_open() -> None:
    produced = replace(
        answered("cost"),
        fields={"Lifetime": "20 years"},
        open_questions=(replace(OPEN, question="safety"),),
    )
    assert found(order(produced, params={"item": "A", "fields": ["cost", "lifetime", "safety"]})) == []
    assert found(order(produced, params={"item": "A", "fields": ["cost", "owner"]})) == [
        "question_unaddressed"
    ]


def test_the_criteria_of_the_sub_task_count_and_those_of_others_do_not() -> None:
    criteria = (
        Criterion(id="k1", text="t", kind="question_answered", question="How much?"),
        Criterion(id="k2", text="t", kind="field_filled", field="owner"),
    )
    assert found(order(output(text="t", fields={"x": "1"}), port="json", criteria=criteria)) == [
        "question_unaddressed",
        "field_missing",
    ]
    other = order(output(text="t", fields={"x": "1"}), port="json", criteria=criteria)
    assert found(replace(other, subtask=replace(other.subtask, acceptance=()))) == []
    filled = replace(answered(), fields={"Owner": "the city"})
    assert found(order(filled, criteria=criteria)) == []


@pytest.mark.parametrize("value", ["How much?", 7, [1], {"a": "b"}])
def test_questions_that_are_no_list_of_texts(value: object) -> None:
    assert found(order(answered(), corrected={"questions": value})) == ["params_invalid"]


def test_one_id_for_two_things_is_structural() -> None:
    first = claim("x", F1)
    twin = replace(first, statement="y")
    assert found(order(output([first, twin], [F1]))) == ["duplicate_id"]
    assert found(order(output([first], [F1, replace(F1, text="other")]))) == ["duplicate_id"]
    assert found(order(output([first, replace(first, question="b", core=False)], [F1]))) == []


def test_tables_are_read_with_and_without_outer_bars_and_escaped_bars() -> None:
    text = f"before\n{TABLE}\n\na | b\n--|--\nx \\| y | z\n"
    assert tables_in(text) == (
        (("Item", "Cost"), ("Plant A", "12"), ("Plant B", "15")),
        (("a", "b"), ("x \\| y", "z")),
    )
