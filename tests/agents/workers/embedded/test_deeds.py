"""Who does what: the verb that is asked about, and whether a text names its doer."""

from __future__ import annotations

import pytest

from agents.workers.embedded.answer_forms import LOOSE, NONE, STRICT
from agents.workers.embedded.deeds import deed_of, doer_strength
from agents.workers.embedded.question import read_question
from tests.agents.workers.embedded.test_subject import said
from tests.agents.workers.material import library


@pytest.mark.parametrize(
    ("question", "deed"),
    [
        ("Who paints the boat?", "paint"),
        ("Who has painted the boat?", "paint"),
        ("Who will be painting the boat?", "paint"),
        ("By whom was the boat painted?", "paint"),
        ("Who wrote the log?", "write"),
        ("Who is the harbour master?", ""),
        ("Who has the key?", ""),
        ("Who did the crew elect?", ""),
        ("谁修理渔船？", "修理"),
        ("渔船由谁修理？", "修理"),
        ("船长是谁？", ""),
    ],
)
def test_the_deed_is_read_off_the_question(question: str, deed: str) -> None:
    assert deed_of(question) == deed


@pytest.mark.parametrize(
    ("question", "text", "strength"),
    [
        ("Who paints the boat?", "Nils will paint the boat in May.", STRICT),
        ("Who painted the boat?", "The boat is painted by Nils Holm.", STRICT),
        ("Who paints the boat?", "The carpenter paints the boat.", LOOSE),
        ("Who paints the boat?", "The boat was painted by the harbour office.", NONE),
        ("Who paints the boat?", "The harbour office paints the boat.", LOOSE),
        ("Who paints the boat?", "The money for the boat is due on painting.", NONE),
        ("Who paints the boat?", "Nils Holm sold the boat.", NONE),
        ("Who paints the boat?", "The boat is painted by 20 May.", NONE),
        ("Who paints the boat?", "Nils buys the boat after Eva has painted the shed.", NONE),
        ("Who paints the shed?", "Nils buys the boat after Eva has painted the shed.", STRICT),
        ("Who wrote the log?", "Author: Eva Lind.", STRICT),
        ("Who owns the pier?", "The pier belongs to the parish council.", LOOSE),
        ("Who insures the boat?", "Their boat insurance with Nils Holm has ended.", NONE),
        ("谁修理渔船？", "渔船由王建国修理。", STRICT),
        ("谁修理渔船？", "渔船由船舶公司修理。", LOOSE),
        ("谁修理渔船？", "王建国买了渔船。", NONE),
        ("谁修理渔船？", "渔船每年修理一次。", NONE),
        ("谁批准航行？", "批准人：王建国。", STRICT),
    ],
)
def test_a_doer_is_the_subject_of_the_deed(question: str, text: str, strength: float) -> None:
    assert doer_strength(read_question(question), text) == strength


@pytest.mark.parametrize(
    ("question", "header", "row", "strength"),
    [
        ("Who paints the boat?", "| job | who | day |", "| painting of the boat | Holm | 3 May |", STRICT),
        ("Who paints the boat?", "| job | hours |", "| painting of the boat | 14 |", NONE),
        ("Who sells the boat?", "| job | who | day |", "| painting of the boat | Holm | 3 May |", NONE),
        ("谁负责渔船？", "| 项目 | 负责人 |", "| 渔船 | 王建国 |", STRICT),
    ],
)
def test_a_row_names_the_doer_in_its_column(question: str, header: str, row: str, strength: float) -> None:
    assert doer_strength(read_question(question), row, header) == strength


BOAT = {
    "boat.md": "# Boat\n\nA first payment is due on signing.\n\nEva will sign the charter by 3 April 2026.\n\n"
    "The owner may raise the fee for the charter once a year.\n"
}


async def test_only_the_one_who_does_it_is_quoted() -> None:
    notes = library(BOAT, by_words_only=False)
    assert await said("Who signs the charter?", notes) == ["Eva will sign the charter by 3 April 2026."]
    assert await said("Who cancels the charter?", notes) == []
