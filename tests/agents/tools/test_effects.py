"""What a tool may do that declares nothing: a read only where that is certain."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.contract import SideEffectClass
from agents.tools.effects import EFFECT_VERBS, READING_VERBS, effect_verbs, side_effect_of

READS = [
    ("get_weather", "Get the weather of a city."),
    ("searchFlights", "Searches flights by date."),
    ("list_orders", "List the orders of a customer."),
    ("fetch-url", "Returns the content of a page."),
    ("get_sent_emails", "Returns all sent emails."),
    ("get_scheduled_jobs", "Get the jobs that are scheduled for today."),
    ("count_rows", "Counts the rows of a table"),
    ("查询天气", "查询某个城市的天气"),
    ("list_mails", "列出已发送的邮件"),
    ("check_balance", "Check the balance of an account."),
]
NO_READS: list[tuple[str, str] | tuple[str, str, dict[str, Any]]] = [
    ("send_email", "Sends an email."),
    ("weather", "Gives the weather."),
    ("get_and_delete_mail", ""),
    ("find_or_create_user", ""),
    ("list_and_close", ""),
    ("search_replace", "Search and replace in all files."),
    ("get_unread", "Returns unread mails. The mails are marked as read after this."),
    ("read_inbox", "Reads the inbox and deletes what is older than a day."),
    ("get_report", "Gets the report. It also emails it to the owner."),
    ("query", "Run a statement."),
    ("query_db", "Query the database.", {"properties": {"sql": {"type": "string"}}}),
    ("fetch", "Make a request.", {"properties": {"url": {}, "method": {}}}),
    ("check_out", "Completes the order."),
    ("run_query", "Runs a query."),
    ("get_weather", "查询天气并发送通知"),
    ("发送邮件", "发送邮件给收件人"),
    ("查询并删除", "查询"),
    ("", ""),
    ("🔧", "a tool"),
    ("getaway_booker", "Gets you away."),
]


@pytest.mark.parametrize(("name", "description"), READS)
def test_a_tool_that_only_gives_back_is_a_read(name: str, description: str) -> None:
    assert side_effect_of(name, description, {}) == "read"


@pytest.mark.parametrize("tool", NO_READS, ids=lambda tool: str(tool[0]))
def test_whatever_is_not_certainly_a_read_is_none(
    tool: tuple[str, str] | tuple[str, str, dict[str, Any]],
) -> None:
    name, description, *schema = tool
    assert side_effect_of(name, description, schema[0] if schema else {}) in ("write", "external")


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("write_file", "Write text to a file.", "write"),
        ("delete_note", "删除本地笔记文件", "write"),
        ("share_file", "Share a file with a user.", "external"),
        ("upload_document", "Upload a document to the server.", "external"),
        ("pay", "Pay a bill.", "external"),
    ],
)
def test_what_plainly_handles_files_here_writes_and_all_else_acts_outside(
    name: str, description: str, expected: str
) -> None:
    assert side_effect_of(name, description, {}) == expected


@given(st.text(max_size=20), st.text(max_size=60), st.sampled_from(get_args(SideEffectClass)))
def test_what_the_user_configured_is_never_replaced(
    name: str, description: str, configured: SideEffectClass
) -> None:
    assert side_effect_of(name, description, {}, configured=configured) == configured


@given(st.sampled_from(sorted(READING_VERBS)), st.sampled_from(["page", "user", "row"]), st.text(max_size=60))
def test_a_description_can_take_the_read_away_and_never_give_it(
    verb: str, thing: str, description: str
) -> None:
    assert side_effect_of(f"{verb}_{thing}", description, {}) in get_args(SideEffectClass)
    assert side_effect_of(thing, description, {}) != "read"
    assert side_effect_of(f"{verb}_{thing}", f"Deletes it. {description}", {}) != "read"


def test_no_verb_both_reads_and_acts() -> None:
    assert not READING_VERBS & EFFECT_VERBS


def test_verbs_are_found_in_any_spelling_of_a_name() -> None:
    assert effect_verbs("sendMail") == ("send",)
    assert effect_verbs("server.add-user_to_group") == ("add",)
