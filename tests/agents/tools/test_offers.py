"""Offers: only what is granted and there, at most twelve, and what was left out is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.tools.builtin.calculator import CALCULATE
from agents.tools.contract import ToolOk, ToolResult, ToolSpec
from agents.tools.offers import MOST_OFFERED, NotOffered, offered_tools
from agents.tools.told import offer_of


@dataclass(frozen=True)
class Fake:
    """A tool that may be away."""

    spec: ToolSpec = field(default=CALCULATE)
    away: str | None = None

    def unavailable(self) -> str | None:
        return self.away

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        return ToolOk(summary="", data=dict(arguments), source="")


def fake(name: str, purpose: str = "Do it.", away: str | None = None) -> Fake:
    return Fake(replace(CALCULATE, name=name, purpose=purpose), away)


def test_only_what_is_granted_and_there_is_offered() -> None:
    tools = {each.spec.name: each for each in (fake("a"), fake("b"), fake("c", away="the server is down"))}
    offered = offered_tools(tools, ["c", "a", "x", "a"], "en", about="anything")
    assert [offer.name for offer in offered.tools] == ["a"]
    assert offered.left_out == (
        NotOffered(name="c", why="unavailable", detail="the server is down"),
        NotOffered(name="x", why="unknown"),
    )


def test_of_too_many_those_that_speak_of_the_sub_task_stay() -> None:
    tools = {f"t{n:02}": fake(f"t{n:02}", "Order pizza.") for n in range(14)}
    tools["t12"] = fake("t12", "Look up the pump's flow rate.")
    tools["t13"] = fake("t13", "查询水泵的额定流量。")
    english = offered_tools(tools, tools, "en", about="What is the flow rate of the pump?")
    assert len(english.tools) == MOST_OFFERED == 12
    assert [offer.name for offer in english.tools] == [*(f"t{n:02}" for n in range(11)), "t12"]
    assert [each.name for each in english.left_out] == ["t11", "t13"]
    chinese = offered_tools(tools, tools, "en", about="水泵的额定流量是多少？", most=1)
    assert [offer.name for offer in chinese.tools] == ["t13"]


@given(granted=st.lists(st.sampled_from([f"t{n}" for n in range(30)])), about=st.text(max_size=30))
def test_every_grant_is_offered_or_left_out_once(granted: list[str], about: str) -> None:
    tools = {f"t{n}": fake(f"t{n}", away="away" if n % 7 == 0 else None) for n in range(25)}
    offered = offered_tools(tools, granted, "en", about=about)
    names = [each.name for each in offered.tools] + [each.name for each in offered.left_out]
    assert sorted(names) == sorted(set(granted))
    assert len(offered.tools) <= MOST_OFFERED
    assert not {each.name for each in offered.tools} & {name for name, each in tools.items() if each.away}


def test_an_offer_says_what_for_when_and_when_not() -> None:
    offer = offer_of(replace(CALCULATE, side_effect="external"), "en")
    for part in (CALCULATE.purpose, CALCULATE.when_to_use, CALCULATE.when_not_to_use, "approved"):
        assert part in offer.description
    assert "approved" not in offer_of(CALCULATE, "en").description
    assert offer.input_schema == CALCULATE.input_schema
