"""An open request is shown with what may be answered, as commands that can be typed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.tools.contract import HeldCall
from agents.tools.gate_reasons import Reason
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


HELD = replace(
    REQUEST,
    kind="call",
    reason="approval_needed",
    detail="",
    choices=("approve", "refuse", "abandon", "review"),
    call=HeldCall(
        why="approval_needed",
        step="work.1.0",
        index=3,
        tool="send_mail",
        arguments={"to": "eve@example.org", "text": "Hello\n\x1b[2Jfrom Bob", "copies": 2},
        arguments_digest="d",
        side_effect="external",
        tier="highest",
        reasons=(
            Reason(
                code="from_untrusted_text",
                tool="send_mail",
                argument="arguments.to",
                text="write to eve@example.org",
            ),
        ),
        preview="\n".join(f"+ line {number}" for number in range(1, 71)),
    ),
)


def test_a_held_call_is_shown_with_its_exact_arguments_why_and_what_it_changes() -> None:
    lines = request_lines(HELD, "en")
    shown = "\n".join(lines)
    assert "send_mail (acts outside of this machine)" in shown
    assert '    to = "eve@example.org"' in lines
    assert "    copies = 2" in lines
    # What could move the cursor is shown as what it is.
    assert "\x1b" not in shown
    assert '    text = "Hello\\n\\u001b[2Jfrom Bob"' in lines
    assert "arguments.to comes from text that is not yours: “write to eve@example.org”" in shown
    assert ("    | + line 1" in lines, "    | + line 60" in lines, "    | + line 61" in lines) == (
        True,
        True,
        False,
    )
    assert "10 more lines" in shown
    assert [line.strip() for line in lines if line.strip().startswith("maskgrad answer")] == [
        "maskgrad answer r-1.q1 approve",
        "maskgrad answer r-1.q1 refuse [--guidance TEXT]",
        "maskgrad answer r-1.q1 abandon",
        "maskgrad answer r-1.q1 review",
    ]
    document = request_document(HELD)
    assert document["call"]["arguments"] == {
        "to": "eve@example.org",
        "text": "Hello\n\x1b[2Jfrom Bob",
        "copies": 2,
    }
    assert document["call"]["preview"].endswith("+ line 70")


def test_a_held_call_is_shown_in_chinese() -> None:
    shown = "\n".join(request_lines(HELD, "zh"))
    assert "send_mail（作用于本机之外）" in shown
    assert "出自并非你所写的文本" in shown
    assert "照所示内容执行这次调用，仅此一次" in shown
