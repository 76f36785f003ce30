"""Topics with a frame (`the requirements of`, `…条款`), and lists of dates."""

from __future__ import annotations

import pytest

from agents.workers.embedded.registry import EmbeddedWorker
from graphs.contract import Lang
from tests.agents.workers.material import LibraryBroker, agent, library, order

NOTES = {
    "ferry.md": (
        "# Ferry\n\nThe ferry has 40 seats. The ferry is washed by hand.\n\n"
        "Bids for the ferry are due by 9 May 2026.\n\n"
        "| Work | Begins |\n| --- | --- |\n| Hull | 3 June 2026 |\n| Deck | later |\n"
    ),
    "inn.md": "# Inn\n\nThe inn has two rooms.\n\nThe licence of the inn ends on 30 June 2027.\n",
}
NOTES_ZH = {
    "轮渡.md": "# 码头\n\n轮渡合同为期9年。\n\n码头每天开放。\n\n客栈有两间房。\n",
    "客栈.md": "# 客栈\n\n客栈执照于2027年6月30日到期。\n",
}


async def told(topic: str, notes: dict[str, str], lang: Lang) -> list[str]:
    who = agent(operations=("summarise",))
    asked = order("summarise", params={"topic": topic}, lang=lang, who=who)
    found = await EmbeddedWorker().work(asked, LibraryBroker(library(notes, by_words_only=False)))
    return [claim.statement for claim in found.output.claims]


@pytest.mark.parametrize("topic", ["轮渡条款", "轮渡情况", "有关轮渡的要求"])
async def test_a_frame_need_not_be_said(topic: str) -> None:
    assert "轮渡合同为期9年。" in await told(topic, NOTES_ZH, "zh")


async def test_what_nobody_speaks_of_stays_open_with_its_frame() -> None:
    assert await told("the requirements of the cinema", NOTES, "en") == []
    assert await told("影院的要求", NOTES_ZH, "zh") == []


async def test_a_list_of_dates_is_what_holds_a_date() -> None:
    assert await told("all deadlines", NOTES, "en") == [
        "Bids for the ferry are due by 9 May 2026.",
        "| Hull | 3 June 2026 |",
        "The licence of the inn ends on 30 June 2027.",
    ]
    assert await told("所有日期", NOTES_ZH, "zh") == ["客栈执照于2027年6月30日到期。"]


async def test_dates_of_one_thing_are_its_own() -> None:
    found = await told("deadlines of the inn", NOTES, "en")
    assert found == ["The licence of the inn ends on 30 June 2027."]
