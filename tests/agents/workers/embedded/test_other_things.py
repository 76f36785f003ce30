"""Sentences of one form about different things: no disagreement, and only the one asked for is the answer."""

from __future__ import annotations

from typing import Final

import pytest

from agents.workers.embedded.answer_forms import NONE, STRICT, form_strength
from agents.workers.embedded.findings import finding_on
from agents.workers.embedded.other_things import of_other_things
from agents.workers.embedded.quantities import read_quantities
from agents.workers.embedded.question import read_question
from graphs.contract import Lang
from tests.agents.workers.embedded.test_research import research
from tests.agents.workers.material import library


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The otter population counted 253 animals.", "The kestrel population counted 866 animals."),
        ("The cost of feeding the otter is €71 a year.", "The cost of feeding the heron is €79 a year."),
        ("The old mill employs 382 people.", "The old forge employs 12 people."),
        ("Otters ate 30 kg of fish in 2025.", "Herons ate 20 kg of fish in 2025."),
        ("水獭种群在调查中有253只。", "红隼种群在调查中有866只。"),
        ("保护水獭每年花费71000欧元。", "保护苍鹭每年花费79000欧元。"),
        ("灯塔建于1661年。", "面包房建于1702年。"),
    ],
)
def test_a_noun_in_the_place_of_another_is_another_thing(a: str, b: str) -> None:
    assert of_other_things(a, b)
    assert of_other_things(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The plant stores 32 MWh.", "The plant holds 30 MWh."),
        ("The fair opens on 3 May.", "The fair opens on 9 June."),
        ("The battery system costs €9.", "The new battery system costs €10."),
        ("The budget says that the fair costs €9.", "The minutes say that the fair costs €10."),
        ("The insurer pays €9.", "The insurance pays €10."),
        ("电站储存32兆瓦时。", "电站容纳30兆瓦时。"),
        ("新电站于2024年5月投产。", "电站于2023年6月投产。"),
        ("预算表说集市花费9欧元。", "纪要说集市花费10欧元。"),
    ],
)
def test_other_verbs_values_and_tellers_leave_the_thing_as_it_is(a: str, b: str) -> None:
    assert not of_other_things(a, b)
    assert not of_other_things(b, a)


ANIMALS: Final = (("otter", 253), ("kestrel", 866), ("toad", 247), ("heron", 143))
ANIMALS_ZH: Final = (("水獭", 253), ("红隼", 866), ("蟾蜍", 247), ("苍鹭", 143))
BUILDINGS: Final = (("lighthouse", 1661), ("bakery", 1702), ("foundry", 1956), ("chapel", 1458))
BUILDINGS_ZH: Final = (("灯塔", 1661), ("面包房", 1702), ("铸造厂", 1956), ("小教堂", 1458))

FORMS: Final = [
    (
        ANIMALS,
        "The {} population of the reserve counted {} animals in the survey of 2025.",
        "How many animals did the {} population of the reserve count in 2025?",
    ),
    (ANIMALS_ZH, "保护区的{}种群在2025年的调查中有{}只。", "2025年保护区的{}种群有多少只？"),
    (BUILDINGS, "The {} was founded in {} by a guild.", "In which year was the {} founded?"),
    (BUILDINGS_ZH, "{}于{}年由行会建立。", "{}建立于哪一年？"),
]


@pytest.mark.parametrize(("things", "said", "asked"), FORMS)
async def test_of_notes_of_one_form_the_one_asked_for_answers_alone(
    things: tuple[tuple[str, int], ...], said: str, asked: str
) -> None:
    notes = {f"{n}.md": f"# Note {n}\n\n{said.format(*thing)}\n" for n, thing in enumerate(things)}
    for thing in things:
        output = (await research({"questions": [asked.format(thing[0])]}, library(notes))).output
        assert [claim.statement for claim in output.claims] == [said.format(*thing)]
        assert output.conflicts == ()


@pytest.mark.parametrize(("things", "said", "asked"), FORMS)
async def test_two_notes_that_differ_about_the_same_thing_still_disagree(
    things: tuple[tuple[str, int], ...], said: str, asked: str
) -> None:
    (thing, value), other = things[0], things[1]
    told = [said.format(thing, value), said.format(thing, value + 31), said.format(*other)]
    notes = {f"{n}.md": f"# Note {n}\n\n{sentence}\n" for n, sentence in enumerate(told)}
    output = (await research({"questions": [asked.format(thing)]}, library(notes))).output

    assert {claim.statement for claim in output.claims} == set(told[:2])
    assert [len(conflict.claims) for conflict in output.conflicts] == [2]


async def test_a_thing_that_only_the_heading_names_is_told_apart_by_it() -> None:
    line = "The population counted {} animals in the survey."
    notes = {
        f"{name}.md": f"# Survey\n\n## {name.title()}\n\n{line.format(count)}\n" for name, count in ANIMALS
    }
    asked = "How many animals did the otter population count?"
    output = (await research({"questions": [asked]}, library(notes))).output

    assert [claim.statement for claim in output.claims] == [line.format(253)]
    assert output.conflicts == ()


def test_a_statement_is_not_told_otherwise_by_a_sentence_about_another_thing() -> None:
    said = "The kestrel population of the reserve counted €866 in the survey of 2025."
    assert finding_on("The otter population of the reserve counted €253 in the survey of 2025.", said) is None
    assert finding_on(said.replace("866", "253"), said) == "says_otherwise"


@pytest.mark.parametrize(
    ("lang", "text", "form"),
    [
        ("en", "The mill was founded in 1661 by a guild.", STRICT),
        ("en", "It has stood there since 1458.", STRICT),
        ("en", "The mill was sold in 1200 lots.", NONE),
        ("en", "The mill grinds 1661 sacks.", NONE),
        ("zh", "磨坊建于1661年。", STRICT),
        ("zh", "磨坊磨了1661袋。", NONE),
    ],
)
def test_a_year_before_1900_answers_when_it_reads_as_one(lang: Lang, text: str, form: float) -> None:
    asked = {"en": "In which year was the mill founded?", "zh": "磨坊建立于哪一年？"}[lang]
    assert form_strength(read_question(asked), text) == form


def test_a_year_before_1900_is_a_date_and_no_measure() -> None:
    read = read_quantities("The mill was founded in 1661 by a guild.")
    assert [day.year for day in read.days] == [1661]
    assert read.measures == ()
