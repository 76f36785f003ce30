"""What is selected: the gradient acts, the budget holds, nothing is said twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.evidence import Source, SourceId
from agents.workers.embedded.access import Access
from agents.workers.embedded.composing import weighted
from agents.workers.embedded.material import Candidate, Passage
from agents.workers.embedded.selection import (
    Weighted,
    admit,
    choose,
    choose_factual,
    length_of,
    relevance,
    selection_share,
)
from agents.workers.embedded.support import Support
from masks.bands import Thresholds
from masks.domains import DomainId
from masks.vector import new_mask

DOMAINS = ("law.public", "econ.finance", "med.care", None)


def passage(number: int, domain: str | None, text: str, rank: float = 1.0) -> Passage:
    source = Source(
        id=SourceId(f"s-{number}"),
        uri=f"{number}.md",
        title="",
        digest="0" * 64,
        retrieved_at="2026-01-01T00:00:00+00:00",
    )
    return Passage(
        source=source,
        heading="",
        section=(1, 1),
        start_line=1,
        start_char=0,
        text=text,
        whole=True,
        rank=rank,
        cosine=0.0,
        domain=domain,
    )


def supported(
    number: int, domain: str | None, *, coverage: float, rank: float = 1.0, text: str = ""
) -> Support:
    place = passage(number, domain, text or f"Sentence number {number} speaks of thing {number * 7}.", rank)
    return Support(
        candidate=Candidate(passage=place, index=0),
        coverage=coverage,
        own=coverage,
        constraints=1.0,
        form=1.0,
        score=coverage,
    )


def share(supports: list[Support], values: dict[str, int], domain: str, path: int, count: int) -> float:
    mask = new_mask("A1", {DomainId(name): value for name, value in values.items()})
    access = Access(mask=mask, thresholds=Thresholds(), path=2 if path == 2 else 1)
    return selection_share(admit([weighted(one, access) for one in supports], count), domain)


candidates = st.lists(
    st.tuples(st.sampled_from(DOMAINS), st.floats(0.01, 1.0), st.floats(0.05, 1.0)), min_size=1, max_size=24
)


@given(
    candidates,
    st.sampled_from([(71, 100), (31, 70)]),
    st.data(),
    st.integers(71, 100),
    st.integers(31, 70),
    st.sampled_from([1, 2]),
    st.integers(1, 12),
)
def test_raising_a_domain_inside_its_band_never_lowers_its_share(
    made: list[tuple[str | None, float, float]],
    band: tuple[int, int],
    data: st.DataObject,
    finance: int,
    care: int,
    path: int,
    count: int,
) -> None:
    low = data.draw(st.integers(*band))
    high = data.draw(st.integers(low, band[1]))
    supports = [
        supported(i, domain, coverage=coverage, rank=rank) for i, (domain, coverage, rank) in enumerate(made)
    ]
    others = {"econ.finance": finance, "med.care": care}
    before = share(supports, {**others, "law.public": low}, "law.public", path, count)
    after = share(supports, {**others, "law.public": high}, "law.public", path, count)
    assert after >= before - 1e-12


def test_raising_a_domain_inside_its_band_raises_its_share_and_admits_more_of_it() -> None:
    supports = [supported(i, "law.public", coverage=0.5) for i in range(4)]
    supports += [supported(10 + i, "econ.finance", coverage=0.55) for i in range(4)]
    others = {"econ.finance": 85}
    shares = [
        share(supports, {**others, "law.public": value}, "law.public", 1, 4) for value in (75, 85, 95, 100)
    ]
    assert shares == [0.0, 0.0, 1.0, 1.0]
    wide = [
        share(supports, {**others, "law.public": value}, "law.public", 1, 8) for value in (75, 85, 95, 100)
    ]
    assert wide == sorted(set(wide))


def test_the_gradient_reaches_the_answer() -> None:
    finance = supported(1, "econ.finance", coverage=0.6, text="The annuity of the loan is due each April.")
    law = supported(2, "law.public", coverage=0.6, text="The permit lapses ninety days after receipt.")

    def first(values: dict[str, int]) -> str:
        mask = new_mask("A1", {DomainId(name): value for name, value in values.items()})
        access = Access(mask=mask, thresholds=Thresholds(), path=1)
        admitted = admit([weighted(one, access) for one in (finance, law)])
        return choose(admitted, {"due": 0.5, "laps": 0.5}, 9, "en")[0].candidate.unit.text

    assert first({"econ.finance": 95, "law.public": 72}).startswith("The annuity")
    assert first({"econ.finance": 72, "law.public": 95}).startswith("The permit")


def closed(one: Support) -> Weighted:
    return Weighted(support=one, relevance=1.0, weight=0.0, domain="law.public")


def opened(one: Support) -> Weighted:
    return Weighted(support=one, relevance=relevance(one), weight=1.0)


def test_closed_material_is_never_admitted() -> None:
    assert admit([closed(supported(1, "law.public", coverage=1.0))]) == ()


@given(st.lists(st.integers(1, 30), min_size=1, max_size=12), st.integers(1, 60))
def test_the_budget_holds(lengths: list[int], budget: int) -> None:
    made = [
        opened(supported(i, None, coverage=0.9, text=" ".join(f"w{i}x{j}" for j in range(n)) + "."))
        for i, n in enumerate(lengths)
    ]
    for chosen in (choose(admit(made), {}, budget, "en"), choose_factual(admit(made), budget, "en")):
        assert sum(length_of(one.candidate.unit.text, "en") for one in chosen) <= budget


def test_repeated_sentences_are_said_once_unless_their_numbers_differ() -> None:
    text = "The new line starts its regular service for all passengers on day {} of the month."
    made = [
        opened(supported(1, None, coverage=0.9, text=text.format(3))),
        opened(supported(2, None, coverage=0.85, text=text.format(3))),
        opened(supported(3, None, coverage=0.8, text=text.format(9))),
    ]
    for chosen in (choose(admit(made), {"line": 1.0}, 100, "en"), choose_factual(admit(made), 100, "en")):
        assert [one.candidate.passage.source.id for one in chosen] == ["s-1", "s-3"]


def test_questions_and_fragments_are_no_answers() -> None:
    made = [
        opened(supported(1, None, coverage=1.0, text="What does the new pump cost the city?")),
        opened(supported(2, None, coverage=1.0, text="Delivery.")),
        opened(supported(3, None, coverage=0.8, text="The pump costs the city 40,000 euros.")),
    ]
    assert [one.candidate.passage.source.id for one in choose(admit(made), {"pump": 1.0}, 100, "en")] == [
        "s-3"
    ]
    assert choose_factual(admit(made), 100, "en")[0].candidate.passage.source.id != "s-1"


def test_a_factual_answer_stops_where_support_falls() -> None:
    made = [opened(supported(i, None, coverage=c)) for i, c in enumerate((0.9, 0.8, 0.4))]
    assert len(choose_factual(admit(made), 100, "en")) == 2


def test_the_mask_orders_an_open_answer_and_does_not_say_what_is_relevant() -> None:
    mask = new_mask("A1", {DomainId("law.public"): 100, DomainId("econ.finance"): 71})
    access = Access(mask=mask, thresholds=Thresholds(), path=1)
    made = [
        supported(1, "law.public", coverage=1.0, text="The permit of the plant lapses ninety days later."),
        # Relevance 0.6 of 1.2 is half of the best; times its weight (71 - 30) / 70 it would be 0.29.
        supported(2, "econ.finance", coverage=0.4, text="The loan for the turbine costs four percent."),
        supported(3, None, coverage=0.4, text="A crew of eleven people repairs broken fences."),
        supported(4, "law.public", coverage=0.2, text="Other offices archive letters about noise."),
    ]
    chosen = choose(admit([weighted(one, access) for one in made]), {"permit": 1.0}, 100, "en")
    assert [one.candidate.passage.source.id for one in chosen] == ["s-1", "s-2", "s-3"]


@pytest.mark.parametrize(("text", "lang", "length"), [("two words", "en", 2), ("水泵 A1", "zh", 5)])
def test_lengths(text: str, lang: str, length: int) -> None:
    assert length_of(text, "zh" if lang == "zh" else "en") == length
