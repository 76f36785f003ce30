"""What a question is about: sentences that share a word with it answer nothing."""

from __future__ import annotations

import pytest

from agents.retrieval.library import NotesLibrary
from agents.workers.embedded.answer_forms import LOOSE, NONE, STRICT, form_strength
from agents.workers.embedded.material import Candidate
from agents.workers.embedded.question import read_question
from agents.workers.embedded.research import ResearchWorker
from agents.workers.embedded.subject import Reach, is_reached, on_subject, says_enough
from graphs.contract import Lang
from tests.agents.workers.embedded.test_selection import passage
from tests.agents.workers.material import LibraryBroker, agent, library, order

FARM = {
    "house.md": "# Minutes\n\nMr Abel Stone owns a house in Mill Road. The decision is expected in spring.\n",
    "mill.md": (
        "# Mill\n\nThe mill has two wheels. The expected yield of the mill is 40 kWh a day. "
        "Visitors are welcome on Sundays.\n"
    ),
}
AID = {
    "aid.md": (
        "# First aid\n\n## Ammonia\n\nRinse ammonia off the skin with water for 15 minutes. "
        "Ammonia in the eyes needs a doctor.\n\n"
        "## Heat stroke\n\nBring the person into the shade. Cool the skin with water.\n\n"
        "## Boxes\n\n| place | content |\n| --- | --- |\n| gate | skin cream and water |\n"
    ),
}
AID_ZH = {
    "aid.md": (
        "# 应急\n\n## 氨水\n\n氨水溅到皮肤上，立即用清水冲洗15分钟。氨水溅入眼睛，冲洗后送医。\n\n"
        "## 高温\n\n把人移到阴凉处，用清水擦拭皮肤。\n\n## 中控室\n\n中控室放两台对讲机。\n"
    ),
}


async def said(question: str, notes: NotesLibrary, lang: Lang = "en") -> list[str]:
    who = agent(operations=("research",))
    asked = order("research", params={"questions": [question]}, lang=lang, who=who)
    result = await ResearchWorker().work(asked, LibraryBroker(notes))
    if not result.output.claims:
        (left,) = result.output.open_questions
        assert left.searched, "an open question says what was searched"
    return [claim.statement for claim in result.output.claims]


@pytest.mark.parametrize(
    ("question", "notes", "lang"),
    [
        ("Who owns the land?", FARM, "en"),
        ("What is the expected colour of the barn?", FARM, "en"),
        ("Why did the bakery close?", FARM, "en"),
        ("How is frostbite treated?", AID, "en"),
        ("中暑怎么急救？", AID_ZH, "zh"),
        ("对讲机的租金怎么缴纳？", AID_ZH, "zh"),
    ],
)
async def test_a_shared_word_answers_nothing(question: str, notes: dict[str, str], lang: Lang) -> None:
    assert await said(question, library(notes, by_words_only=False), lang) == []


async def test_only_the_subject_asked_for_is_quoted() -> None:
    found = await said("What is the expected yield of the mill?", library(FARM, by_words_only=False))
    assert "The expected yield of the mill is 40 kWh a day." in found
    assert "The decision is expected in spring." not in found


async def test_an_answer_keeps_to_its_subject_in_every_sentence() -> None:
    found = await said("How is ammonia on the skin treated?", library(AID, by_words_only=False))
    assert "Rinse ammonia off the skin with water for 15 minutes." in found
    assert not [one for one in found if "shade" in one or "Cool" in one]
    found = await said("氨水溅到皮肤上怎么办？", library(AID_ZH, by_words_only=False), "zh")
    assert "氨水溅到皮肤上，立即用清水冲洗15分钟。" in found
    assert not [one for one in found if "阴凉" in one or "对讲机" in one]


async def test_table_rows_stand_behind_prose() -> None:
    notes = {
        "a.md": (
            "# Pumps\n\n| pump | maintenance of the pump |\n| --- | --- |\n| main pump | oil in spring |\n\n"
            "Maintenance of the main pump includes new seals and oil.\n"
        )
    }
    found = await said("How is maintenance of the main pump done?", library(notes, by_words_only=False))
    assert found == [
        "Maintenance of the main pump includes new seals and oil.",
        "oil in spring",
    ]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Who owns the barn?", "The barn stands in Mill Road.", NONE),
        ("Who owns the barn?", "The barn belongs to Abel Stone.", STRICT),
        ("Who owns the barn?", "The barn belongs to the parish council.", LOOSE),
        ("谁负责监测？", "监测由环保公司负责。", LOOSE),
        ("谁负责监测？", "监测每月一次。", NONE),
    ],
)
def test_who_asks_for_a_person_an_organisation_or_a_role(question: str, text: str, expected: float) -> None:
    assert form_strength(read_question(question), text) == expected


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What is the expected yield of the plant?", ("yield",)),
        ("What is the purpose of the plant?", ()),
        ("How is the plant cooled?", ()),
        ("东湾花园的物业费如何缴纳？", ("物业费",)),
        ("水泵的作用是什么？", ()),
    ],
)
def test_what_is_asked_for_is_read_off_the_wording(text: str, subject: tuple[str, ...]) -> None:
    assert read_question(text).subject == subject


def test_a_long_question_needs_less_of_itself_in_one_sentence() -> None:
    some = Reach(share=0.35, met=frozenset({"a", "b"}))
    assert is_reached([some], 6, frozenset(), "en")
    assert not is_reached([some], 2, frozenset(), "en")
    assert not is_reached([some], 6, frozenset({"c"}), "en")
    assert not is_reached([], 1, frozenset(), "en")
    assert says_enough(Reach(met=frozenset({"a"})), 1, "en")
    assert not says_enough(Reach(met=frozenset({"a"})), 2, "en")
    assert says_enough(Reach(met=frozenset({"a"})), 2, "zh")


def test_the_sentence_right_after_goes_on_about_the_subject() -> None:
    place = passage(1, None, "The mill turns at dawn. It rests at noon. Bread is cheap.")
    first, second, third = (Candidate(passage=place, index=index) for index in range(3))
    reaches = {
        first: Reach(share=0.9, met=frozenset({"mill", "turn"})),
        second: Reach(share=0.1, own=False),
        third: Reach(share=0.0, own=False),
    }
    assert on_subject(reaches, frozenset()) == {first, second}
