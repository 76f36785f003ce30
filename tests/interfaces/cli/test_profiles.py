"""`--profile` and MASKGRAD_PROFILE: in the proposal, in the review of both languages, refused where they can't be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.cli.harness import Called, call, store_log
from tests.interfaces.cli.logs import reviewing_log
from tests.interfaces.cli.shops import real_shop, write_notes

GOAL = "How much does the battery system cost?"


def planned(tmp_path: Path, *argv: str, environment: dict[str, str] | None = None) -> Called:
    notes = tmp_path / "notes"
    if not notes.exists():
        write_notes(notes)
    shop = real_shop(tmp_path / "home")
    try:
        return call(
            "plan",
            GOAL,
            "--sources",
            str(notes),
            *argv,
            home=tmp_path / "home",
            shop=shop,
            environment=environment,
        )
    finally:
        shop.store.close()


def test_the_option_beats_the_variable_and_the_review_says_it(tmp_path: Path) -> None:
    variable = {"MASKGRAD_PROFILE": "evaluate"}
    plain = planned(tmp_path, "--json").data["proposal"]
    pretended = planned(tmp_path, "--json", environment=variable).data["proposal"]
    debug = planned(tmp_path, "--json", "--profile", "debug", environment=variable).data["proposal"]
    assert [made["profile"] for made in (plain, pretended, debug)] == ["production", "evaluate", "debug"]
    steps = [made["contract"]["limits"]["max_steps_per_node"] for made in (plain, pretended, debug)]
    assert steps == [12, 12, 5]
    shown = planned(tmp_path, "--profile", "debug").out
    assert "profile debug: tools that change something are refused; every event is logged whole" in shown
    chinese = planned(tmp_path, "--profile", "evaluate", "--lang", "zh").out
    assert "运行配置，评测：改动只作模拟；简要记录每个事件" in chinese


@pytest.mark.parametrize(
    ("argv", "environment", "said"),
    [
        (
            ("--profile", "prod"),
            {},
            "profile 'prod' is not supported; accepted: 'debug', 'evaluate' or 'production'",
        ),
        ((), {"MASKGRAD_PROFILE": "prod"}, "'production' (MASKGRAD_PROFILE)"),
    ],
)
def test_another_name_is_refused(
    tmp_path: Path, argv: tuple[str, ...], environment: dict[str, str], said: str
) -> None:
    called = call("plan", GOAL, *argv, home=tmp_path, environment=environment)
    assert called.code == 2
    assert said in called.err


def test_a_run_keeps_the_profile_that_it_was_drafted_with(tmp_path: Path) -> None:
    store_log(tmp_path, "r-test22", reviewing_log())
    called = call("run", "r-test22", "--profile", "debug", home=tmp_path)
    assert called.code == 2
    assert "--profile belong to a new goal" in called.err
