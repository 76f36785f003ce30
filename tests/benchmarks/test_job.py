"""The benchmark of the main job: its own measures, and a run over made-up sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import job
from benchmarks.contract import Options
from benchmarks.job import content_words, has_gold, term_recall
from tests.benchmarks.shop import flat_workshop

NOTES = {
    "plant.md": "# Plant\r\n\r\nThe plant at Arby opened in May 2024. It stores 32 MWh.\r\n\r\nThe crew is small.\r\n",
    "other.md": "# Sheep\n\nSixty sheep graze near the fence of the yard.\n",
}
QUESTION = "When did the plant at Arby open?"


def test_content_words_and_recall() -> None:
    assert content_words("The pumps are running, 支持水泵的操作") == {"pump", "run", "支持", "水泵", "操作"}
    reference = content_words("pump valve seal")
    assert term_recall(reference, "valves and pumps", "en") == pytest.approx(2 / 3)
    assert term_recall(reference, " ".join(["word"] * 120) + " pump valve seal", "en") == 0
    assert term_recall(content_words("水泵"), "字" * 240 + "水泵", "zh") == 0
    assert term_recall(reference, "", "en") == 0


@pytest.mark.parametrize(
    ("answer", "gold", "found"),
    [
        ("票房为 1.2 亿元", [["1.20亿", "1.2亿"]], True),
        ("张丹和张昊", ["张丹", "张昊"], True),
        ("张丹", ["张丹", "张昊"], False),
        ("", ["x"], False),
    ],
)
def test_gold_strings(answer: str, gold: Sequence[str | Sequence[str]], found: bool) -> None:
    assert has_gold(answer, gold) is found


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def test_a_whole_run(tmp_path: Path) -> None:
    write(tmp_path, "notes_en.docs", [{"path": path, "text": text} for path, text in NOTES.items()])
    write(
        tmp_path,
        "faq_questions.dev",
        [
            {"question": QUESTION, "reference_answer": "The plant at Arby opened in May 2024.", "lang": "en"},
            {"question": "Who owns the zeppelin?", "reference_answer": "Nobody.", "lang": "en"},
            {"question": "水泵在哪里？", "reference_answer": "北京", "lang": "zh"},
        ],
    )
    write(
        tmp_path,
        "rgb_zh_refine.dev",
        [
            {
                "question": "水泵的价格是多少？",
                "answer": ["900元"],
                "positive": ["水泵的价格是900元。", "水泵很好。"],
                "negative": ["水泵在北京。", "阀门的价格是3元。"],
            }
        ],
    )
    options = Options(data=tmp_path, sets=(), limit=None, seed=7, as_json=True)
    report = job.run(options, flat_workshop)
    values = {key: figure.value for key, figure in report.figures.items()}
    assert values["notes_en.sentences_cited"] == values["notes_en.citations_resolve"] == 1.0
    assert values["notes_en.open_questions"] == 0.5
    assert values["notes_en.answer_term_recall"] == pytest.approx(0.5)
    assert values["rgb_zh.unanswerable_said_so"] == values["rgb_zh.answered"] == 1.0
    assert report.figures["notes_en.seconds_per_question"].n == 2
    beside = {key: figure.value for key, figure in report.beside.items()}
    recall = "notes_en.answer_term_recall"
    assert beside[f"{recall}.one_look_up"] == pytest.approx(0.5)
    assert beside[f"{recall}.minus_one_look_up"] == 0.0
    assert beside[f"{recall}.minus_bm25_top5"] == pytest.approx(0.5 - beside[f"{recall}.bm25_top5"])
    assert beside["notes_en.delivered"] == beside["notes_en.completed"] == 1.0
    assert beside["notes_en.jobs_with_leaks"] == beside["notes_en.goals_read_as_several_questions"] == 0.0
    assert report.figures["notes_en.sentences_cited"].n == 1
    assert "notes_zh" in report.missing


def test_an_unknown_set_is_named(tmp_path: Path) -> None:
    report = job.run(Options(data=tmp_path, sets=("nope",), limit=None, seed=7, as_json=True))
    assert report.missing == {"nope": "unknown set 'nope'; accepted: notes_en, notes_zh, rgb_zh_refine"}
