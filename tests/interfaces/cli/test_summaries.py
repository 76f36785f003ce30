"""An open request is shown with what may be answered, as commands that can be typed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphs.plan import NodeId
from orchestrator.core.ids import RunId, request_id
from orchestrator.core.requests import AttemptRow, Request
from orchestrator.interfaces.cli.bodies.summaries import answer_commands, request_document, request_lines
from orchestrator.interfaces.cli.problems import Lang

REQUEST = Request(
    id=request_id(RunId("r-1"), 1),
    kind="suspension",
    node=NodeId("n1"),
    reason="depth_limit",
    detail="Nothing found.",
    attempts=(AttemptRow(generation=1, attempt=1, agent="A1", outcome="insufficient", repair=None),),
    choices=("retry", "set_mask", "reassign", "abandon"),
    agents=("A2", "A3"),
    domains=("law.civil", "econ.finance"),
    closed={"A1": ("law",)},
)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_possible_answer_is_a_command(lang: Lang) -> None:
    commands = [line.strip() for line in request_lines(REQUEST, lang) if line.strip().startswith("maskgrad")]
    assert commands == [
        "maskgrad answer r-1.q1 retry [--guidance TEXT]",
        "maskgrad answer r-1.q1 set_mask --agent A1 --domain econ.finance --value VALUE",
        "maskgrad answer r-1.q1 reassign --agent A2",
        "maskgrad answer r-1.q1 reassign --agent A3",
        "maskgrad answer r-1.q1 abandon",
    ]


def test_without_candidates_the_words_to_fill_in_are_shown() -> None:
    bare = replace(REQUEST, agents=(), domains=(), attempts=())
    assert answer_commands(bare, "reassign") == ("maskgrad answer r-1.q1 reassign --agent AGENT",)
    assert answer_commands(bare, "set_mask") == (
        "maskgrad answer r-1.q1 set_mask --agent AGENT --domain DOMAIN --value VALUE",
    )


def test_a_sly_name_stays_one_word_of_the_command() -> None:
    sly = replace(REQUEST, agents=("A2; rm x\n",))
    assert answer_commands(sly, "reassign") == ("maskgrad answer r-1.q1 reassign --agent 'A2; rm x'",)


def test_scripts_get_the_candidates_too() -> None:
    document = request_document(REQUEST)
    assert (document["agents"], document["domains"]) == (["A2", "A3"], ["law.civil", "econ.finance"])
    assert document["closed"] == {"A1": ["law"]}
