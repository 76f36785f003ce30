"""A claim keeps a citation of an evicted excerpt only when the excerpt was read again and still says the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.context.evidence_view import (
    CheckedCitations,
    EvidenceView,
    LostCitation,
    checked_citations,
    needs_rereading,
)
from agents.evidence import Evidence, EvidenceId, LineSpan, SourceId, excerpt_digest, quote

SOURCE = SourceId("s-1")


def evidence(number: int, text: str) -> Evidence:
    span = LineSpan(source=SOURCE, start_line=1, end_line=1, start_char=number, end_char=number + 1)
    return quote(SOURCE, span, text)


PRICE, DATE, PLACE = evidence(1, "12 million"), evidence(2, "May 2026"), evidence(3, "Wendelsby")
NOBODYS = EvidenceId("e-nobodys")


def test_what_the_newest_prompt_lacks_is_evicted() -> None:
    view = EvidenceView().after([PRICE, DATE]).after([DATE, PLACE])
    assert view.evicted == {PRICE.id}
    assert set(view.shown) == {DATE.id, PLACE.id}
    assert needs_rereading([PLACE.id, PRICE.id, NOBODYS, PRICE.id], view) == (PRICE.id,)
    back = view.after([PRICE])
    assert back.evicted == {DATE.id, PLACE.id}
    assert needs_rereading([PRICE.id], back) == ()


def test_a_citation_is_kept_by_what_is_in_view_or_was_read_again_unchanged() -> None:
    view = EvidenceView().after([PRICE, DATE]).after([PLACE])
    cited = [PLACE.id, PRICE.id, PLACE.id]
    assert checked_citations(cited, view, {PRICE.id: "12 million"}) == CheckedCitations(
        kept=(PLACE.id, PRICE.id)
    )


def test_a_changed_a_gone_an_unread_and_an_invented_one_are_lost_each_with_its_reason() -> None:
    view = EvidenceView().after([PRICE, DATE]).after([])
    checked = checked_citations([PRICE.id, DATE.id, NOBODYS], view, {PRICE.id: "13 million", DATE.id: None})
    assert checked.kept == ()
    assert checked.lost == (
        LostCitation(
            evidence=PRICE.id,
            reason="changed",
            expected=excerpt_digest("12 million"),
            found=excerpt_digest("13 million"),
        ),
        LostCitation(evidence=DATE.id, reason="gone", expected=excerpt_digest("May 2026")),
        LostCitation(evidence=NOBODYS, reason="never_shown"),
    )
    assert [lost.reason for lost in checked_citations([PRICE.id], view, {}).lost] == ["gone"]


@given(st.lists(st.lists(st.integers(0, 6), max_size=4), max_size=6), st.lists(st.integers(0, 8), max_size=6))
def test_nothing_is_kept_that_was_not_in_view_unless_it_was_read(
    shows: list[list[int]], cites: list[int]
) -> None:
    pieces = [evidence(number, f"text {number}") for number in range(9)]
    view = EvidenceView()
    for shown in shows:
        view = view.after(pieces[number] for number in shown)
    cited = [pieces[number].id for number in cites]
    checked = checked_citations(cited, view, {})
    assert set(checked.kept) == {pieces[n].id for n in cites} & {pieces[n].id for n in (shows or [[]])[-1]}
    assert {*checked.kept, *(lost.evidence for lost in checked.lost)} == set(cited)
    assert set(needs_rereading(cited, view)) == {x.evidence for x in checked.lost if x.reason == "gone"}
