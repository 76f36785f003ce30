"""Lines of notes that are statements of their own, and wrapped prose that is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.retrieval.reading import document_from_text
from agents.retrieval.sections import sections_of
from agents.retrieval.sentences import units_of
from agents.retrieval.statement_lines import statement_starts


def texts(text: str) -> list[str]:
    document = document_from_text("minutes.txt", text)
    return [unit.text for section in sections_of(document) for unit in units_of(document, section)]


@pytest.mark.parametrize(
    "lines",
    [
        ("Present: Ines Varga, Tom Ode", "The honey extractor costs €3,900", "Next meeting: 4 May 2026"),
        ("Ines chairs the board", "Tom keeps the books"),
        (
            "The members agreed after a long debate to buy the larger one of the two extractors on offer",
            "Next meeting: 4 May 2026",
        ),
        ("Present: Ines Varga, Tom Ode", "The honey extractor costs €3,900 and is bought."),
        ("Budget (spring)", "Frames cost 40 %", "Wax is free"),
        ("出席：林薇、周航", "蜂蜜分离机价格为3900元", "下次会议：2026年5月4日"),
        ("会议由林薇主持", "蜂蜜分离机价格为3900元"),
    ],
)
def test_each_line_of_notes_is_a_statement(lines: tuple[str, ...]) -> None:
    assert texts("\n".join(lines) + "\n") == list(lines)
    assert texts("\r\n".join(lines)) == list(lines)


@pytest.mark.parametrize(
    "text",
    [
        "The plant stores energy for the whole of the town, and the operator is\nEstmark Netz of the northern region.",
        "The plant was built for the town of Arby by\nEstmark Netz.",
        "The offer came from Ines Varga, who met Tom\nOde at the fair and asked him.",
        "The extractor costs\n€3,900 without tax.",
        "The extractor that the\nBoard wants is the large one.",
        "Present: Ines Varga,\nTom Ode.",
        "The talk was given by Dr.\nAmes of Arby.",
        "It is the one that\nI bought.",
        "储能电站由青岚市水务集团\n负责建设运行并且每年向市\n政府报告运行情况。",
        "改造后的出水水质由水务集团负责监测并且每年向市政府报告运行情况和\n费用。",
        "参加会议的有林薇、\n周航。",
        "项目由水务集团\n和环保局负责。",
    ],
)
def test_wrapped_prose_stays_one_sentence(text: str) -> None:
    assert texts(text) == [text]


def test_a_list_item_that_goes_on_is_one() -> None:
    assert texts("- Frames\n  Wax and honey\n") == ["Frames\n  Wax and honey"]


@given(st.text(alphabet="aA中：: ,，.。\n\r", max_size=80))
def test_starts_are_line_beginnings_in_order(text: str) -> None:
    starts = statement_starts(text)
    assert list(starts) == sorted(set(starts))
    assert all(text[start - 1] in "\r\n" and text[start] not in "\r\n" for start in starts)
