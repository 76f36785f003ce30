"""docs/events.md is what the code says."""

from typing import get_args

from orchestrator.core.events import Body
from tests.docs.event_catalogue import PAGE, render, tag_of


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: python -m tests.docs.event_catalogue"


def test_every_event_has_a_section_and_a_sentence() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for body in get_args(Body):
        head = f"\n## {tag_of(body)}\n\n`{body.__name__}`: "
        assert head in page
        assert page.partition(head)[2].partition("\n")[0].endswith(".")


def test_tags_name_one_event_each() -> None:
    tags = [tag_of(body) for body in get_args(Body)]
    assert len(set(tags)) == len(tags)
