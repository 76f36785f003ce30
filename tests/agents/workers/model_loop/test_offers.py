"""The tools of the notes are told in the words of any other tool, and no more tools than a model can choose from."""

from __future__ import annotations

from agents.models.contract import ToolOffer
from agents.tools.builtin.notes import READ_NOTE, SEARCH_NOTES
from agents.workers.model_loop.calls import offered_by
from tests.agents.workers.model_loop.stage import order


def test_an_order_without_offers_is_offered_the_notes_with_when_not_to_use_them() -> None:
    offered = {offer.name: offer.description for offer in offered_by(order()).tools}
    assert set(offered) == {"search_notes", "read_note"}
    for spec in (SEARCH_NOTES, READ_NOTE):
        assert offered[spec.name].split("\n") == [
            spec.purpose,
            f"Use it: {spec.when_to_use}",
            f"Do not use it: {spec.when_not_to_use}",
        ]


def test_of_more_than_twelve_the_first_twelve_are_told() -> None:
    many = tuple(ToolOffer(name=f"t{n:02}", description="", input_schema={}) for n in range(14))
    assert [offer.name for offer in offered_by(order(offers=many)).tools] == [f"t{n:02}" for n in range(12)]
