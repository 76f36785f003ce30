"""What is selected: the gradient acts, the budget holds, nothing is said twice."""

from __future__ import annotations

from collections.abc import Sequence

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


def chosen_under(
    supports: list[Support], values: dict[str, int], path: int, budget: int, *, factual: bool
) -> tuple[Weighted, ...]:
    """Choose as the worker does: weighted by the mask, admitted, then chosen."""
    mask = new_mask("A1", {DomainId(name): value for name, value in values.items()})
    access = Access(mask=mask, thresholds=Thresholds(), path=2 if path == 2 else 1)
    opened = [weighted(one, access) for one in supports]
    if factual:
        return choose_factual(opened, budget, "en")
    return choose(admit(opened, 12), {"plant": 0.5, "cost": 0.5}, budget, "en")


def taken_by(domain: str, chosen: Sequence[Weighted]) -> int:
    """Return how many words of the answer are sentences of `domain`."""
    return sum(len(one.candidate.unit.text.split()) for one in chosen if one.domain == domain)


WORDS = ("the", "plant", "costs", "roof", "pump", "soil", "crew", "permit", "loan", "of", "12", "30", "May")
candidates = st.lists(
    st.tuples(
        st.sampled_from(DOMAINS),
        st.floats(0.01, 1.0),
        st.floats(0.3, 1.0),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join),
    ),
    min_size=1,
    max_size=20,
)


@given(
    candidates,
    st.sampled_from([(71, 100), (31, 70)]),
    st.data(),
    st.integers(71, 100),
    st.integers(31, 70),
    st.sampled_from([1, 2]),
    st.integers(1, 60),
    st.booleans(),
)
def test_raising_a_domain_inside_its_band_never_lowers_the_length_that_it_takes_of_the_answer(
    made: list[tuple[str | None, float, float, str]],
    band: tuple[int, int],
    data: st.DataObject,
    finance: int,
    care: int,
    path: int,
    budget: int,
    factual: bool,
) -> None:
    low = data.draw(st.integers(*band))
    high = data.draw(st.integers(low, band[1]))
    supports = [
        supported(i, domain, coverage=coverage, rank=rank, text=f"{text}.")
        for i, (domain, coverage, rank, text) in enumerate(made)
    ]
    others = {"econ.finance": finance, "med.care": care}
    before, after = (
        taken_by(
            "law.public",
            chosen_under(supports, {**others, "law.public": value}, path, budget, factual=factual),
        )
        for value in (low, high)
    )
    assert before <= after


@pytest.mark.parametrize("factual", [True, False])
@pytest.mark.parametrize(("path", "values"), [(1, (72, 85, 100)), (2, (31, 50, 70))])
def test_raising_a_domain_inside_its_band_gives_it_more_of_the_answer(
    path: int, values: tuple[int, ...], factual: bool
) -> None:
    finance = {1: 80, 2: 45}[path]
    supports = [supported(i, "law.public", coverage=0.75 - 0.07 * (i % 2)) for i in range(4)]
    supports += [supported(10 + i, "econ.finance", coverage=0.73 - 0.005 * i) for i in range(4)]
    counts = [
        taken_by(
            "law.public",
            chosen_under(supports, {"econ.finance": finance, "law.public": value}, path, 28, factual=factual),
        )
        for value in values
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_what_an_extension_opened_stands_before_unclassified_material_that_is_less_to_the_point() -> None:
    supports = [
        supported(1, "law.public", coverage=0.9, text="The operator is liable for damage for thirty years."),
        supported(2, None, coverage=0.4, text="The panels on the roof are washed by rain alone."),
    ]
    (first,) = chosen_under(supports, {"law.public": 40}, 2, 10, factual=False)
    assert first.domain == "law.public"
    assert first.leaks


def test_a_leak_never_stands_for_a_sentence_that_is_none() -> None:
    text = "The operator of the plant is liable for damage to soil and water for thirty years."
    supports = [
        supported(1, "law.public", coverage=0.9, text=text),
        supported(2, "econ.finance", coverage=0.8, text=text),
    ]
    values = {"law.public": 70, "econ.finance": 71}
    for factual in (True, False):
        chosen = chosen_under(supports, values, 2, 100, factual=factual)
        assert [one.domain for one in chosen] == ["econ.finance"]


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
