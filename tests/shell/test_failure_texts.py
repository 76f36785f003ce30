"""Every text is there in both languages and names what it is about."""

from __future__ import annotations

from dataclasses import fields

from agents.broker import BudgetExhausted
from graphs.contract import Limits
from orchestrator.shell.failure_texts import domains_closed, limit_reached, suppression_guard

PER_RUN = {"max_attempts_per_node"}
"""Limits that end no attempt."""


def test_every_limit_of_an_attempt_has_a_name_for_people() -> None:
    for name in {field.name for field in fields(Limits)} - PER_RUN | {"identical_calls"}:
        stop = BudgetExhausted(name, 3, 2)
        english, chinese = limit_reached(stop, "en"), limit_reached(stop, "zh")
        assert english.endswith(f"used ({name})")
        assert f"3 of 2 {name}" not in english
        assert chinese.startswith("达到限额：")
        assert f"（{name}）已用 3，上限 2" in chinese


def test_an_unknown_limit_is_named_by_its_code() -> None:
    assert limit_reached(BudgetExhausted("x", 3, 2), "en") == "limit reached: 3 of 2 x used (x)"


def test_the_suppression_guard_names_the_domains_in_the_language_of_the_goal() -> None:
    assert suppression_guard(("a.b", "c.d"), "en").startswith("Do not use these knowledge domains: a.b, c.d.")
    assert suppression_guard(("a.b", "c.d"), "zh") == "不得使用以下知识域：a.b、c.d。上一轮输出因此被阻断。"


def test_closed_domains_are_listed() -> None:
    assert domains_closed(("a.b", "c.d"), "en") == "not possible without the silent domains a.b, c.d"
    assert domains_closed(("a.b", "c.d"), "zh") == "不使用静默知识域 a.b、c.d 就无法完成"
