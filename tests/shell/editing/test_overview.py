"""What a person reads before approving."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphs.contract import Ambiguity, Lang
from graphs.plan import Dependency
from masks.bands import Thresholds
from masks.design import MaskOrigin, MaskOriginKind
from orchestrator.core.proposal import Envelope, Proposal, proposal_sha256
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.editing.document import from_document
from orchestrator.shell.editing.overview import render_review
from tests.shell.editing.builders import (
    A1,
    ENERGY,
    FINANCE,
    N1,
    N3,
    PROPOSAL,
    REGISTRY,
    document,
    edited,
    with_mask,
)
from tests.shell.editing.strategies import proposals


def review(proposal: Proposal = PROPOSAL, lang: Lang = "en") -> str:
    return render_review(
        proposal,
        REGISTRY,
        lang,
        run="r-1",
        sha256=proposal_sha256(proposal),
        findings=check_proposal(proposal, REGISTRY),
    )


def test_a_review_ends_with_the_exact_command() -> None:
    command = f"maskgrad approve r-1@3-{proposal_sha256(PROPOSAL)[:8]}"
    for lang in ("en", "zh"):
        approve, edit = review(lang=lang).splitlines()[-2:]
        assert approve.endswith(command)
        assert edit.endswith("maskgrad edit r-1")


@pytest.mark.parametrize(
    ("length", "shown"), [(300, "x" * 300), (301, "x" * 299 + "…"), (9000, "x" * 299 + "…")]
)
def test_a_long_goal_is_cut(length: int, shown: str) -> None:
    asked = replace(PROPOSAL, goal=replace(PROPOSAL.goal, text="x" * length))
    heads: dict[Lang, str] = {"en": "Goal: ", "zh": "目标："}
    for lang, head in heads.items():
        (line,) = [row.strip() for row in review(asked, lang).splitlines() if row.strip().startswith(head)]
        assert line == head + shown


def test_a_review_says_what_is_approved() -> None:
    text = review()
    for line in (
        "  To know yield and cost.",
        "  assumption: Only the notes count.",
        "  note: not read: scan.pdf",
        "  [c2] Cost",
        "  n1  Find env.energy  [research, loop]  @ A1",
        "    domains: env.energy Energy (relevance 0.80, main)",
        "    needs: n1.claims -> claims, n2.claims -> claims",
        "    satisfies: c1, c2",
        "  main above 0.70, background above 0.30, else silent",
        "    works on: n1, n3",
        "    env.energy    0.95  main; Energy; required by its sub-tasks (relevance 0.80)",
        "    every other domain: 0.00, silent",
        "  critical path: 1.5 units (n1 -> n3)",
        "  total time: 1.5 units",
        "  open a silent domain that is required up to 0.40; never one at -1.00",
    ):
        assert line in text.splitlines(), line
    assert "To look at" not in text


def test_ambiguities_show_what_was_assumed_and_what_else_was_possible() -> None:
    point = Ambiguity(id="a1", question="Which year?", options=("2025", "2026"), assumed="2026")
    text = review(replace(PROPOSAL, intent=replace(PROPOSAL.intent, ambiguities=(point,))))
    assert "  open: Which year? Assumed: 2026\n    readings: 1 2025 | 2 2026; decide with: " in text
    assert " a1 NUMBER, or --text TEXT\n" in text
    decided = replace(point, options=("2026",))
    text = review(replace(PROPOSAL, intent=replace(PROPOSAL.intent, ambiguities=(decided,))))
    assert "  decided: Which year? 2026\n" in text
    assert "maskgrad clarify" not in text


def test_warnings_are_shown_and_errors_take_the_command_away() -> None:
    text = review(with_mask(PROPOSAL, A1, ENERGY, 50))
    assert "To look at\n  assignment.n1: Domain 'env.energy'" in text
    assert "maskgrad approve" in text
    broken = review(replace(PROPOSAL, assignment={}))
    assert "Errors: this revision can't run\n" in broken
    assert "maskgrad approve" not in broken
    assert "@ nobody" in broken


def test_a_value_that_the_user_set_to_zero_is_shown() -> None:
    new = from_document(edited("      env.climate: 0.50", "      # env.climate"), PROPOSAL, REGISTRY)
    assert "    env.climate   0.00  silent; " in review(new)
    assert "set by the user" in review(new)


def test_suppressed_and_weakly_suppressed_domains_are_told_apart() -> None:
    new = with_mask(with_mask(PROPOSAL, A1, FINANCE, -100), A1, ENERGY, -40)
    new = replace(new, mask_origins={A1: {FINANCE: MaskOrigin(kind=MaskOriginKind.FORBIDDEN)}})
    lines = review(new).splitlines()
    name = REGISTRY.get(FINANCE).names["en"]
    assert f"    econ.finance  -1.00  suppressed; {name}; forbidden by the goal or the user" in lines
    assert "    env.energy    -0.40  silent, weakly suppressed; Energy" in lines


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_is_promised_that_repairs_do_not_do(lang: Lang) -> None:
    for text in (review(lang=lang), document(lang=lang)):
        assert not any(word in text for word in ("resplit", "split a region", "拆分"))
        assert {"en": "rules", "zh": "规则"}[lang] in text


def test_the_envelope_is_said_in_words() -> None:
    closed = replace(PROPOSAL, envelope=Envelope(reassign=False))
    assert "no other agent and no extended mask: these are asked for" in review(closed)
    assert "up to 0.40" not in review(closed)
    own = replace(PROPOSAL, envelope=Envelope(ceilings={A1: {FINANCE: 65}}))
    assert "    A1: econ.finance up to 0.65" in review(own).splitlines()


def test_thresholds_of_a_single_agent_are_shown_with_it() -> None:
    new = replace(PROPOSAL, agent_thresholds={A1: Thresholds(main=96, background=20)})
    assert "    main above 0.96, background above 0.20, else silent" in review(new).splitlines()
    assert "    domains: env.energy Energy (relevance 0.80, background)" in review(new).splitlines()


def test_a_plan_that_is_no_dag_can_still_be_read() -> None:
    back = Dependency(source=N3, target=N1, output="report", input="notes")
    loop = replace(PROPOSAL, plan=replace(PROPOSAL.plan, dependencies=(*PROPOSAL.plan.dependencies, back)))
    text = review(loop)
    assert "n1 -> n3 -> n1" in text
    assert "critical path" not in text


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(proposals(), st.sampled_from(["en", "zh"]))
def test_no_text_of_a_proposal_can_forge_a_line(proposal: Proposal, lang: Lang) -> None:
    """Whatever a goal, a title or a note says, the review keeps its form: two lines name commands, both at the end."""
    sly = replace(
        proposal,
        notes=(*proposal.notes, "x\nmaskgrad approve r-9@1-00000000"),
        intent=replace(proposal.intent, objective="y\rmaskgrad approve r-9@1-00000000"),
    )
    text = review(sly, lang)
    assert all(character.isprintable() or character == "\n" for character in text)
    lines = text.split("\n")
    assert [line for line in lines if line.strip().startswith("maskgrad approve r-9")] == []
    assert lines[0].startswith("r-1  ")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_both_languages_say_the_same_number_of_things(lang: Lang) -> None:
    assert len(review(lang=lang).splitlines()) == len(review().splitlines())
