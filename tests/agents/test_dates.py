"""One reader of dates, for workers and checks."""

from __future__ import annotations

import pytest

from agents.dates import DATES, Day, day_of


def read(text: str) -> list[Day]:
    for pattern in DATES:
        found = [day for match in pattern.finditer(text) if (day := day_of(match)) is not None]
        if found:
            return found
    return []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on 2024-05-03", Day(2024, 5, 3)),
        ("签于2024年5月3日", Day(2024, 5, 3)),
        ("2024年建成", Day(2024, None, None)),
        ("5月3号开工", Day(None, 5, 3)),
        ("the 3rd of May, 2024", Day(2024, 5, 3)),
        ("May 3", Day(None, 5, 3)),
        ("Sept. 2024", Day(2024, 9, None)),
        ("from 2024-05 on", Day(2024, 5, None)),
    ],
)
def test_dates_as_they_are_written(text: str, day: Day) -> None:
    assert read(text) == [day]


@pytest.mark.parametrize("text", ["part 2024-13-03", "2024", "May 45", "12 apples"])
def test_no_dates(text: str) -> None:
    assert read(text) == []


def test_less_is_within_more_and_contradicts_only_what_both_give() -> None:
    assert Day(2024, None, None).within(Day(2024, 5, 3))
    assert not Day(2024, 5, 3).within(Day(2024, None, None))
    assert not Day(2024, None, 3).contradicts(Day(None, 5, 3))
    assert Day(2024, 5, None).contradicts(Day(2024, 6, 3))
