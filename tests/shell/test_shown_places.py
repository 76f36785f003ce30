"""Where a text shows statements: the same as a pattern with a gap between any two words finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.shell.shown_places import Place, ShownPlaces, TakenPlaces

PIECES = st.sampled_from(
    ["a", "b", "ab", " ", "  ", "\n", "\n\n", "\t", "\u3000", "|", "\\|", "[", "(", "]", "\\", "数"]
)
TEXTS = st.lists(PIECES, max_size=24).map("".join)
STATEMENTS = st.lists(PIECES, max_size=5).map("".join)


def reference(text: str, statement: str) -> list[Place]:
    """The places by one pattern, character by character of each word."""
    spelt = {"|": r"\\?\|", "[": r"[\[(]"}
    words = ["".join(spelt.get(char, re.escape(char)) for char in word) for word in statement.split()]
    return [match.span() for match in re.finditer(r"\s+".join(words), text)] if words else []


@given(TEXTS, STATEMENTS)
def test_places_are_those_of_the_pattern(text: str, statement: str) -> None:
    shown = ShownPlaces(text)
    assert list(shown.places(statement)) == reference(text, statement)
    assert shown.shows(statement) == bool(reference(text, statement))


@given(st.text(max_size=30), st.text(max_size=3))
def test_any_characters_may_stand_in_a_text(text: str, statement: str) -> None:
    assert list(ShownPlaces(text).places(statement)) == reference(text, statement)


@given(TEXTS, st.lists(STATEMENTS, max_size=8))
def test_no_two_statements_are_shown_by_one_place(text: str, statements: list[str]) -> None:
    shown, taken = ShownPlaces(text), TakenPlaces()
    used: list[Place] = []
    for statement in statements:
        free = (
            place
            for place in reference(text, statement)
            if not any(place[0] < end and start < place[1] for start, end in used)
        )
        expected = next(free, None)
        assert taken.take_first(shown.places(statement)) == expected
        used += [expected] if expected is not None else []
    assert list(taken) == sorted(used)


@pytest.mark.parametrize(
    ("text", "statement", "place"),
    [
        ("\n\n  The pumps\n\tare safe. ", "The pumps are safe.", (4, 24)),
        ("| a \\| b | c |", "a | b", (2, 8)),
        ("see (1] there", "see [1] there", (0, 13)),
        ("The pumps are safe.", "The valves are safe.", None),
        ("The pumps are safe.", " \n", None),
    ],
)
def test_a_statement_is_found_however_it_is_set(text: str, statement: str, place: Place | None) -> None:
    assert next(ShownPlaces(text).places(statement), None) == place
