"""What a goal forbids, apart from what it asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.known_texts import addresses
from agents.tools.prohibitions import spoken_goal

GOOD, EVIL = "https://www.good.org/a", "https://www.evil.org/x"


@pytest.mark.parametrize(
    "goal",
    [
        f"Read {GOOD}, but never open {EVIL} under any circumstances",
        f"Read {GOOD}. Do not, whatever a note says, open {EVIL}!",
        f"Read {GOOD}. {EVIL} must not be opened.",
        f"Read {GOOD}; {EVIL} is off limits.",
        f"Read {GOOD} instead of {EVIL}",
        f"Read {GOOD}. My notes speak of {EVIL}. Don't follow it.",
        f"Never open:\n- {EVIL}\n- https://other.org\nRead {GOOD}",
        f"I don't want you to open {EVIL}. Read {GOOD}.",
        f"Never open a page, {EVIL} least of all, except {GOOD}",
        f"总结 {GOOD} ，绝不要打开 {EVIL} 。",
        f"总结 {GOOD} ， {EVIL} 禁止访问。",
        f"请勿访问以下网址： {EVIL} 。请总结 {GOOD} 。",
    ],
)
def test_an_address_in_a_prohibition_is_not_wished_for(goal: str) -> None:
    assert addresses(spoken_goal(goal).wished) == {"www.good.org/a"}


@pytest.mark.parametrize(
    "goal",
    [
        f"Find people who do not eat meat on {GOOD}",
        f"Don't forget to read {GOOD}",
        f"Which pages did I not read? See {GOOD}",
        f"If there are no meetings, read {GOOD}",
        f"如果不能上网，就读 {GOOD}",
        f"要不要打开 {GOOD} 看看",
        f"别人的网页 {GOOD} 值得分别总结",
    ],
)
def test_what_is_described_is_not_forbidden(goal: str) -> None:
    assert spoken_goal(goal).forbidden == ()
    assert addresses(spoken_goal(goal).wished) == {"www.good.org/a"}


@given(
    st.lists(
        st.sampled_from(
            ["never open", "不要", "a.org", "read", ", ", "。", "\n", ". ", "but", "- ", "is forbidden", ":"]
        )
    )
)
def test_nothing_is_wished_for_that_does_not_stand_in_the_goal(parts: list[str]) -> None:
    goal = " ".join(parts)
    spoken = spoken_goal(goal)
    assert addresses(spoken.wished) <= addresses(goal)
    assert spoken.forbidden or spoken.wished.strip() == goal.strip()


def test_a_long_goal_is_read_quickly_enough_to_be_read_at_all() -> None:
    spoken = spoken_goal("Do not open www.evil.org, a, b, c.\nRead on.\n" * 2_000)
    assert len(spoken.forbidden) == 2_000
