"""Whole jobs with a model: what the benchmark counts, with models that fail in known ways."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from agents.evidence import EvidenceId, SourceId
from agents.models.contract import InvalidOutput, Message, ModelError, ModelReply, ModelRequest
from agents.models.ports import ChatPort, Told
from agents.spec import ModelPolicy
from benchmarks.contract import Report
from benchmarks.model_goals import Done, Watched, add_figures, main, model_workshop, one_goal, stands_there
from graphs.contract import Lang
from orchestrator.core.report import CitedPlace
from orchestrator.shell.wiring import Workshop
from tests.benchmarks.shop import Flat

GOAL = "How far apart must the battery containers stand?"
DOWN = ModelReply(
    outcome=ModelError(
        error_type="misconfigured", message="no such model", retryable=False, cause="not_found"
    )
)


class Down:
    """A model that is not there."""

    name = "test:down"

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        assert request.messages
        assert told is None or callable(told)
        return DOWN


class Broken(Down):
    """An adapter with a fault."""

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        await super().complete(request, told)
        raise ZeroDivisionError("a fault of the adapter")


def flat(home: Path, lang: Lang, chat: ChatPort, policy: ModelPolicy) -> Workshop:
    return replace(model_workshop(home, lang, chat, policy), embedder=Flat())


def test_without_the_model_the_embedded_plan_and_worker_deliver_traced_claims(tmp_path: Path) -> None:
    chat = Watched(Down())
    done = one_goal(GOAL, chat, ModelPolicy(), tmp_path / "home", flat)
    assert (done.status, done.valid, done.by_model) == ("completed", True, False)
    assert "fallback" in done.repairs
    assert done.claims == done.traced > 0
    assert {request.purpose for request, _ in chat.replies} == {"plan"}


def test_a_worker_without_its_model_delivers_nothing_and_does_not_crash(tmp_path: Path) -> None:
    policy = ModelPolicy(kind="model", model="test:down")
    done = one_goal(GOAL, Watched(Down()), policy, tmp_path / "home", flat)
    assert (done.status, done.claims, done.produced) == ("suspended", 0, ())


def test_an_exception_is_a_crash_with_its_words(tmp_path: Path) -> None:
    done = one_goal(GOAL, Watched(Broken()), ModelPolicy(), tmp_path / "home", flat)
    assert (done.status, done.reasons) == ("crashed", ("ZeroDivisionError: a fault of the adapter",))


def test_the_figures_are_shares_of_what_was_counted() -> None:
    asked = ModelRequest(purpose="work", messages=(Message(role="user", content="go"),))
    bad = ModelReply(outcome=InvalidOutput(raw="{", reason="cut off"))
    report = Report(benchmark="model_goals", seed=7)
    add_figures(
        report,
        [
            Done(status="completed", valid=True, by_model=True, claims=3, traced=2),
            Done(status="partial", valid=True, repairs=("cycle", "fallback"), claims=1, traced=1),
            Done(status="crashed"),
            Done(status="suspended", valid=True, by_model=True, repairs=("cycle",)),
        ],
        [(asked, bad), (asked, DOWN), (replace(asked, purpose="plan"), DOWN)],
    )
    assert {name: figure.value for name, figure in report.figures.items()} == {
        "goals.delivered": 0.5,
        "goals.completed": 0.25,
        "goals.crashed": 0.25,
        "plans.valid": 0.75,
        "plans.by_model": 0.5,
        "plans.repaired": 0.5,
        "goals.minutes": 0.0,
        "claims.traced": 0.75,
        "answers.work.unusable": 1.0,
        "answers.plan.unusable": 1.0,
    }
    assert report.conditions["repairs of plans"] == "cycle 2, fallback 1"


def test_a_place_stands_only_in_the_file_that_was_read(tmp_path: Path) -> None:
    text = "The pump is red.\nThe valve is 蓝色.\n"
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    place = CitedPlace(
        evidence=EvidenceId("e-1"),
        source=SourceId("s-1"),
        uri="a.md",
        title="a",
        source_digest=sha256(text.encode()).hexdigest(),
        start_line=2,
        end_line=2,
        start_char=17,
        end_char=33,
        excerpt="The valve is 蓝色.",
    )
    assert stands_there(place, tmp_path)
    assert not stands_there(replace(place, excerpt="The valve is 红色."), tmp_path)
    assert not stands_there(replace(place, start_char=0, end_char=0, excerpt=""), tmp_path)
    assert not stands_there(replace(place, uri="b.md"), tmp_path)
    (tmp_path / "a.md").write_text(text + "More.", encoding="utf-8")
    assert not stands_there(place, tmp_path)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--model", "nobody:x"], "nobody"),
        (["--model", "openai:x", "--base-url", "nowhere"], "nowhere"),
        (["--model", "openai:x", "--goals", "9"], "--goals is 9"),
        (["--model", "openai:x", "--goals", "3", "--after", "3"], "--after is 3"),
    ],
)
def test_bad_options_are_named(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err
