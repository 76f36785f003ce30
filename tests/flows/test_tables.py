"""Whole runs that compare or extract: a cell that the notes do not fill is listed as open, never a blockage."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.operations import field_name
from graphs.contract import Lang
from orchestrator.core.events import RequestOpened
from orchestrator.core.report import DeliveredReport, render_markdown
from orchestrator.core.state import RunState
from orchestrator.run import execute, report_of
from orchestrator.shell.runs import events_of
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.wiring import Workshop
from tests.flows.driver import FixedIds, approved_run

FOLDERS: dict[Lang, dict[str, str]] = {
    "en": {
        "ferry.md": "# Ferry\n\nThe price of the ferry is 40,000 euro. The ferry was built in 1998.\n",
        "barge.md": "# Barge\n\nThe price of the barge is 12,000 euro.\n",
        "harbour.md": "# Harbour\n\nThe harbour closes at nine. The keeper lives beside the gate.\n",
    },
    "zh": {
        "渡船.md": "# 渡船\n\n渡船的价格为四万元。渡船建于1998年。\n",
        "驳船.md": "# 驳船\n\n驳船的价格为一万二千元。\n",
        "港口.md": "# 港口\n\n港口晚上九点关闭。看守人住在大门旁。\n",
    },
}
COMPARING: dict[Lang, tuple[str, tuple[str, ...]]] = {
    "en": (
        "Compare the ferry and the barge by price and colour",
        (field_name("ferry", "colour"), field_name("barge", "colour")),
    ),
    "zh": ("按价格和颜色比较渡船和驳船", (field_name("渡船", "颜色"), field_name("驳船", "颜色"))),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    settings = Settings(home=tmp_path_factory.mktemp("home"), lang="en")
    return Workshop(settings=settings, store=MemoryStore(), ids=FixedIds())


def finished(
    shop: Workshop, goal: str, folder: Path, notes: dict[str, str], *, allow_unresolved: bool
) -> tuple[RunState, DeliveredReport]:
    """Write the notes, carry the goal out and return how it ended; nobody was asked anything."""
    folder.mkdir()
    for name, text in notes.items():
        (folder / name).write_text(text, encoding="utf-8")
    run = approved_run(shop, goal, folder, allow_unresolved=allow_unresolved).run
    done = asyncio.run(asyncio.wait_for(execute(shop, run), 60))
    asked = [e.body for e in events_of(shop.store, run) if isinstance(e.body, RequestOpened)]
    assert asked == []
    return done, report_of(shop, run)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("allow_unresolved", [True, False])
def test_a_comparison_leaves_an_aspect_open_that_the_notes_lack(
    shop: Workshop, tmp_path: Path, lang: Lang, allow_unresolved: bool
) -> None:
    goal, absent = COMPARING[lang]
    done, report = finished(shop, goal, tmp_path / "n", FOLDERS[lang], allow_unresolved=allow_unresolved)
    assert {question.question for question in report.open_questions} == set(absent)
    assert all(question.searched for question in report.open_questions)
    assert done.status == ("completed" if allow_unresolved else "partial"), done.gaps
    assert len(done.gaps) == (0 if allow_unresolved else len(absent))


EXTRACTING: dict[Lang, tuple[str, str]] = {
    "en": ("Extract a table with the insurance premiums for 2031", "insurance premiums for 2031"),
    "zh": ("提取2031年的保险费，做成表格", "2031年保险费"),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("allow_unresolved", [True, False])
def test_a_table_without_a_single_cell_is_no_completed_run(
    shop: Workshop, tmp_path: Path, lang: Lang, allow_unresolved: bool
) -> None:
    goal, column = EXTRACTING[lang]
    done, report = finished(shop, goal, tmp_path / "n", FOLDERS[lang], allow_unresolved=allow_unresolved)
    assert [question.question for question in report.open_questions] == [column]
    assert report.open_questions[0].reason in {"not_found", "not_answerable"}
    assert done.status == ("completed" if allow_unresolved else "partial"), done.gaps
    assert len(done.gaps) == (0 if allow_unresolved else 1)


@pytest.mark.parametrize(
    ("goal", "table", "header"),
    [
        (
            "Extract a table of all kilns with builder and rent",
            "| Builder | Rent € |\n|---|---|\n| Arne | 410 |\n| Bo | 380 |\n",
            "| builder | rent |",
        ),
        (
            "提取所有项目的项目、租金，列成表格",
            "| 项目 | 租金（元） |\n|---|---|\n| 甲窑 | 410 |\n| 乙窑 | 380 |\n",
            "| 项目 | 租金 |",
        ),
    ],
)
def test_the_column_that_names_the_rows_stands_once(
    shop: Workshop, tmp_path: Path, goal: str, table: str, header: str
) -> None:
    _, report = finished(shop, goal, tmp_path / "n", {"a.md": f"# Kilns\n\n{table}"}, allow_unresolved=False)
    assert header in render_markdown(report, "en")


KILNS = (
    "# Offers for the kiln\n\n| Builder | Rent € | Weight kg | Delivery weeks |\n|---|---|---|---|\n"
    "| Arne | 410 | 900 | 5 |\n| Bo | 380 | 700 | 11 |\n| Cora | 380 | 650 | 8 |\n\n"
    "The Arne kiln has a guarantee of 4 years.\n"
)
WINDOWS = (
    "# 修缮\n\n| 项目 | 负责人 | 造价（万元） | 工期（天） |\n|---|---|---|---|\n"
    "| 门窗更换 | 陈立 | 56 | 40 |\n| 围墙修补 | 何静 | 33 | 40 |\n"
)


@pytest.mark.parametrize(
    ("goal", "note", "filled"),
    [
        (
            "Compare the Arne and the Bo",
            KILNS,
            {
                "Arne / Rent €": "410",
                "Arne / Weight kg": "900",
                "Arne / Delivery weeks": "5",
                "Bo / Rent €": "380",
                "Bo / Weight kg": "700",
                "Bo / Delivery weeks": "11",
            },
        ),
        (
            "Compare the three kilns by rent and delivery time",
            KILNS,
            {
                "Arne / rent": "410",
                "Arne / delivery time": "5",
                "Bo / rent": "380",
                "Bo / delivery time": "11",
                "Cora / rent": "380",
                "Cora / delivery time": "8",
            },
        ),
        (
            "比较门窗更换和围墙修补",
            WINDOWS,
            {
                "门窗更换 / 负责人": "陈立",
                "门窗更换 / 造价（万元）": "56",
                "门窗更换 / 工期（天）": "40",
                "围墙修补 / 负责人": "何静",
                "围墙修补 / 造价（万元）": "33",
                "围墙修补 / 工期（天）": "40",
            },
        ),
        (
            "比较各项目的成本和工期",
            WINDOWS,
            {
                "门窗更换 / 成本": "56",
                "门窗更换 / 工期": "40",
                "围墙修补 / 成本": "33",
                "围墙修补 / 工期": "40",
            },
        ),
    ],
)
def test_things_that_are_rows_of_a_table_are_compared_by_its_cells(
    shop: Workshop, tmp_path: Path, goal: str, note: str, filled: dict[str, str]
) -> None:
    done, report = finished(shop, goal, tmp_path / "n", {"a.md": note}, allow_unresolved=False)
    assert done.status == "completed"
    assert not report.open_questions
    text = render_markdown(report, "en")
    for name, value in filled.items():
        item, field = name.split(" / ")
        (header,) = [line for line in text.splitlines() if f"| {field} |" in line]
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {item} |")]
        place = header.split(" | ").index(field) if not header.endswith(f" {field} |") else -1
        assert f"“{value}” [" in row.split(" | ")[place]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_things_without_criteria_in_the_notes_leave_open_what_was_searched(
    shop: Workshop, tmp_path: Path, lang: Lang
) -> None:
    goal = "Compare the ferry and the barge" if lang == "en" else "比较渡船和驳船"
    done, report = finished(shop, goal, tmp_path / "n", FOLDERS[lang], allow_unresolved=False)
    assert done.status == "completed"
    assert report.open_questions
    assert all(question.searched for question in report.open_questions)


def test_a_row_above_a_sentence_does_not_make_it_tell_of_the_row(shop: Workshop, tmp_path: Path) -> None:
    goal = "Compare the three kilns by rent and guarantee"
    done, report = finished(shop, goal, tmp_path / "n", {"a.md": KILNS}, allow_unresolved=False)
    assert done.status == "partial"
    assert [q.question for q in report.open_questions] == ["Bo / guarantee", "Cora / guarantee"]
    assert all(question.searched for question in report.open_questions)
