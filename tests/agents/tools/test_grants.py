"""What a task may use, told from its prompt and the list of tools."""

from __future__ import annotations

import random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.grants import Grant, GrantReasonCode, Grants, derive_grants
from tests.agents.tools.tool_material import STRING, STRINGS, a_tool

TOOLS = [
    a_tool("search_mails", purpose="Search the mails for a text."),
    a_tool("read_mail", purpose="Read one mail."),
    a_tool(
        "send_mail", "external", purpose="Send a mail.", properties={"recipients": STRINGS, "body": STRING}
    ),
    a_tool("delete_mail", "external", purpose="Delete a mail."),
    a_tool("find_contacts", purpose="Find contacts by name."),
    a_tool("list_events", purpose="List the events of the calendar."),
    a_tool("move_event", "external", purpose="Move an event to another time."),
    a_tool("list_files", purpose="List the files of the drive."),
    a_tool("delete_file", "write", purpose="Delete a file."),
    a_tool("get_balance", purpose="Get the balance of the bank account."),
    a_tool("transfer_money", "external", purpose="Transfer money to somebody."),
    a_tool("get_webpage", purpose="Get a page of the web.", properties={"url": STRING}),
]


def names(grants: tuple[Grant, ...]) -> set[str]:
    return {grant.tool for grant in grants}


def of(goal: str) -> Grants:
    return derive_grants(goal, TOOLS)


@pytest.mark.parametrize(
    ("goal", "reads", "writes"),
    [
        ("What did Anna write in her last mail?", {"search_mails", "read_mail"}, set()),
        ("上一封邮件里说了什么？", {"search_mails", "read_mail"}, set()),
        ("Delete the mail from Anna.", {"search_mails", "read_mail"}, {"delete_mail"}),
        ("请删除安娜的邮件", {"search_mails", "read_mail"}, {"delete_mail"}),
        ("How many files were deleted?", {"list_files"}, set()),
        ("Please delete report.pdf", {"list_files"}, {"delete_file"}),
        ("Am I free tomorrow?", {"list_events"}, set()),
        ("Move the meeting to 2024-05-20.", {"list_events"}, {"move_event"}),
        ("Reply to Anna by mail.", {"search_mails", "read_mail", "find_contacts"}, {"send_mail"}),
        ("Summarise www.example.com", {"get_webpage"}, set()),
        ("Pay the bill.", {"get_balance"}, {"transfer_money"}),
        ("支付账单", {"get_balance"}, {"transfer_money"}),
        ("Thanks!", set(), set()),
        ("", set(), set()),
    ],
)
def test_a_task_gets_what_its_words_call_for(goal: str, reads: set[str], writes: set[str]) -> None:
    found = of(goal)
    assert names(found.reads) == reads
    assert names(found.writes) == writes


@pytest.mark.parametrize(
    ("goal", "forbidden"),
    [
        ("Do not fetch any web page; use my notes only", {"get_webpage"}),
        ("不要访问任何网页，只用笔记", {"get_webpage"}),
        ("Without using the web, list my files", {"get_webpage"}),
        ("Web pages must not be opened. List my files.", {"get_webpage"}),
        ("列出文件，别上网，也不要发邮件", {"get_webpage", "send_mail"}),
        ("Please don't send any mails, only list my files", {"send_mail"}),
        ("List my files, and avoid deleting any file", {"delete_file"}),
        ("Never use get_balance; summarise www.example.com", {"get_balance"}),
        ("Read the article on the web page, but do not open the website", {"get_webpage"}),
    ],
)
def test_what_the_goal_forbids_is_granted_by_nothing(goal: str, forbidden: set[str]) -> None:
    found = of(goal)
    assert {grant.tool for grant in found.outside if grant.reason == "forbidden"} == forbidden
    assert not found.granted & forbidden


@pytest.mark.parametrize(
    ("goal", "granted"),
    [
        ("Don't forget to send a mail to Anna", "send_mail"),
        ("别忘了给安娜发邮件", "send_mail"),
        ("Which mails did I not answer? Don't mention the mails from Eve.", "read_mail"),
        ("Do not delete any mail; what is in my inbox of mails?", "read_mail"),
        ("Summarise www.example.com, but never open www.evil.org", "get_webpage"),
        ("Read the web page www.example.com, and no other pages of the web", "get_webpage"),
        # Each letter is asked about: that one must not be sent does not keep the other from being proposed.
        ("Send a mail to Bob, but do not send a mail to Eve", "send_mail"),
        ("特别是要总结网页", "get_webpage"),
    ],
)
def test_what_only_sounds_like_it_forbids_nothing(goal: str, granted: str) -> None:
    assert granted in of(goal).granted


def test_a_tool_that_the_goal_names_is_granted() -> None:
    found = of("Use transfer_money when the time has come.")
    assert Grant(tool="transfer_money", reason="named", words=("transfer_money",)) in found.writes


def test_what_was_done_is_not_asked_for() -> None:
    for goal in (
        "Who was the mail sent to?",
        "List the mails that I deleted.",
        "Which events did they move?",
    ):
        assert not of(goal).writes


def test_a_deed_without_its_object_is_outside() -> None:
    assert "delete_file" in names(of("Delete the mail from Anna.").outside)


@given(st.text(max_size=120))
def test_every_tool_is_in_exactly_one_list(goal: str) -> None:
    found = of(goal)
    listed = [grant.tool for grant in (*found.reads, *found.writes, *found.outside)]
    assert sorted(listed) == sorted(tool.name for tool in TOOLS)
    effects = {tool.name: tool.side_effect for tool in TOOLS}
    assert all(effects[grant.tool] == "read" for grant in found.reads)
    assert all(effects[grant.tool] != "read" for grant in found.writes)
    assert found.granted == names(found.reads) | names(found.writes)
    assert of(goal) == found


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_tools_changes_nothing(shuffler: random.Random) -> None:
    tools = list(TOOLS)
    shuffler.shuffle(tools)
    assert (
        derive_grants("Reply to Anna by mail and move the meeting", tools).granted
        == of("Reply to Anna by mail and move the meeting").granted
    )


def test_each_grant_says_why_in_both_languages() -> None:
    for code in get_args(GrantReasonCode):
        grant = Grant(tool="t", reason=code, words=("mail", "send"))
        assert any("\u4e00" <= char <= "\u9fff" for char in grant.told("zh"))
        assert grant.told("en").isascii()
        assert "{" not in grant.told("en") + grant.told("zh")
    assert of("Reply to Anna by mail.").writes[0].told("en") == "the goal asks for it (send, mail)"
    assert of("Reply to Anna by mail.").writes[0].told("zh") == "目标要求这样做（send、mail）"


def test_words_of_most_tools_tell_none_apart() -> None:
    """A word in the name of nearly every tool (the name of a server) grants none of them by itself."""
    tools = [
        a_tool(f"acme_{thing}_list", purpose="Gives a list.")
        for thing in ("goats", "kites", "lamps", "moths", "nails")
    ]
    assert not derive_grants("Ask acme", tools).granted
    assert derive_grants("Ask acme for its kites", tools).granted == {"acme_kites_list"}
