"""Options that hold for every command are found wherever they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.interfaces.cli.invocation import Display, form_wanted, read_invocation
from orchestrator.interfaces.cli.problems import UsageProblem

OPTIONS = (["--json"], ["--lang", "zh"], ["--lang=zh"], ["--display", "plain"], ["--display=plain"])


@given(st.permutations(["show", "r-1", "--at", "3"]), st.sampled_from(OPTIONS), st.integers(0, 4))
def test_an_option_may_stand_anywhere_and_the_rest_stays_in_order(
    words: list[str], option: list[str], place: int
) -> None:
    invocation = read_invocation([*words[:place], *option, *words[place:]], {})
    assert invocation.args == tuple(words)


def test_what_follows_two_dashes_is_left_alone() -> None:
    invocation = read_invocation(["plan", "--json", "--", "--lang", "--jsonl"], {})
    assert invocation.args == ("plan", "--", "--lang", "--jsonl")
    assert (invocation.form, invocation.lang) == ("json", None)


@pytest.mark.parametrize("display", ["auto", "live", "plain", "log", "none"])
def test_the_display_comes_from_the_option_then_from_the_environment(display: Display) -> None:
    assert read_invocation([], {"MASKGRAD_DISPLAY": display}).display == display
    assert read_invocation(["--display", display], {"MASKGRAD_DISPLAY": "none"}).display == display


@pytest.mark.parametrize(
    ("argv", "named"),
    [
        (["--display", "fancy"], "'fancy'"),
        (["--display"], "'--display'"),
        (["runs", "--lang"], "'--lang'"),
        (["--json", "--jsonl"], "'--jsonl'"),
    ],
)
def test_what_is_not_accepted_is_named_in_both_languages(argv: list[str], named: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        read_invocation(argv, {})
    assert named in caught.value.message("en")
    assert named in caught.value.message("zh")


def test_the_form_of_an_error_is_known_even_if_the_rest_is_wrong() -> None:
    assert form_wanted(["--display", "fancy", "--json"]) == "json"
    assert form_wanted(["runs"]) == "text"
