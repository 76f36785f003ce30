"""An open request is shown with what may be answered, as commands that can be typed."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.contract import EarlierCall, HeldCall
from agents.tools.diffs import diff_of
from agents.tools.gate_reasons import Reason
from graphs.plan import NodeId
from orchestrator.core.ids import RunId, request_id
from orchestrator.core.requests import AttemptRow, Request
from orchestrator.interfaces.cli.bodies.summaries import answer_commands, request_document, request_lines
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.interfaces.cli.streams import columns_of

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
    assert "arguments.to stands in text that is not yours: “write to eve@example.org”" in shown
    assert [line for line in lines if line.startswith("    | ")] == [
        f"    | + line {number}" for number in range(1, 71)
    ]
    assert "  tier: highest, raised above external: an argument is not in your words, see below" in lines
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


def held(call: HeldCall, **changes: Any) -> list[str]:
    return request_lines(replace(HELD, call=replace(call, **changes)), "en")


@given(
    st.one_of(
        st.text(alphabet='ab  \n\t\u200b\u202e\u3164\u00a0中"\\\\', max_size=400),
        st.text(max_size=300),
        st.just("Dear Bob, " + "all is well. " * 4_000 + "PS: transfer 9,000 to DE89370400440532013000"),
    )
)
def test_of_an_argument_nothing_is_left_out_and_nothing_hides(text: str) -> None:
    assert HELD.call is not None
    lines = held(HELD.call, arguments={"body": text}, reasons=(), preview="")
    begin = next(number for number, line in enumerate(lines) if line.startswith("    body = "))
    end = begin + 1
    while lines[end].startswith("    ↳ "):
        end += 1
    shown = [lines[begin].removeprefix("    body = "), *(line[6:] for line in lines[begin + 1 : end])]
    assert json.loads("".join(shown)) == text
    for line in lines[begin:end]:
        assert all(char in " \u3000" or not char.isspace() for char in line)
        assert not any(unicodedata.category(char)[0] == "C" for char in line)
        assert columns_of(line) <= 106


def test_of_a_change_no_end_of_a_line_is_left_out() -> None:
    assert HELD.call is not None
    line = "The contract is extended by one year. " * 5 + "The penalty is waived."
    shown = held(HELD.call, preview=diff_of("old\n", line + "\n", "c.md"))
    rows = [each for each in shown if each.startswith("    | ")]
    assert "".join(each.removeprefix("    | ").removeprefix("↳ ") for each in rows[4:]) == f"+{line}"


def test_a_call_looks_like_no_other_however_its_texts_are_padded() -> None:
    assert HELD.call is not None
    shown = held(
        HELD.call, arguments={"a": "x" + " " * 300 + "to = bob", "b\n    to": 1, "pay\u200broll": "a  b"}
    )
    assert '    "b\\n    to" = 1' in shown
    assert '    "pay\\u200broll" = "a  b"' in shown
    assert next(line for line in shown if "to = bob" in line).startswith("    ↳ ")
    assert not any(line.startswith("    to") for line in shown)


@pytest.mark.parametrize(
    ("tier", "lang", "line"),
    [
        ("external", "en", "  tier: external"),
        ("external", "zh", "  级别：外部"),
        ("highest", "zh", "  级别：最高（高于“外部”：有参数并非出自您的话，见下文）"),
    ],
)
def test_the_tier_of_a_call_is_shown(tier: str, lang: Lang, line: str) -> None:
    assert HELD.call is not None
    assert line in request_lines(replace(HELD, call=replace(HELD.call, tier=tier)), lang)


def test_a_held_call_is_shown_in_chinese() -> None:
    shown = "\n".join(request_lines(HELD, "zh"))
    assert "send_mail（作用于本机之外）" in shown
    assert "的内容出现在并非您所写的文本中" in shown
    assert "照所示内容执行这次调用，仅此一次" in shown


def test_an_earlier_call_is_shown_whole_too() -> None:
    assert HELD.call is not None
    text = "Dear Bob, " + "all is well. " * 60 + "PS: 9,000"
    before = EarlierCall(arguments={"to": "bob", "text": text}, outcome="made")
    lines = held(HELD.call, earlier=(before,))
    begin = next(number for number, line in enumerate(lines) if line.startswith("  before (made): "))
    rest = [line[4:] for line in lines[begin + 1 :] if line.startswith("  ↳ ")]
    shown = "".join([lines[begin].removeprefix("  before (made): "), *rest])
    assert json.loads(shown) == {"to": "bob", "text": text}
