"""What a model said once can be said again without it, and nothing else can."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from agents.models.advice import explained
from agents.models.contract import (
    Dropped,
    FinalAnswer,
    InvalidCall,
    InvalidOutput,
    Message,
    ModelError,
    ModelOutcome,
    ModelReply,
    ModelRequest,
    ToolCalls,
    ToolOffer,
    Usage,
)
from agents.models.errors import InvalidRecording, RecordingUnavailable
from agents.models.ports import ChatPort, Told
from agents.models.recorded import RecordedChat, RecordingChat
from agents.tools.contract import ToolCall

OUTCOMES: tuple[ModelOutcome, ...] = (
    FinalAnswer(text="泵坏了", data={"n": [1, None, 0.1]}),
    ToolCalls(
        calls=(ToolCall(tool="search", arguments={"q": "x"}, taint="untrusted", id="c1"),),
        invalid=(InvalidCall(tool="read", raw="[", reason="cut", id="c2"),),
        text="and",
    ),
    InvalidOutput(raw="{", reason="cut off"),
    ModelError(error_type="rate_limited", message="slow down", retryable=True, retry_after_s=7.0),
)


class Once:
    """A model that gives these outcomes in turn."""

    name = "x:m"

    def __init__(self, *outcomes: ModelOutcome) -> None:
        self.left = list(outcomes)

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        del request
        outcome = self.left.pop(0)
        if told is not None:
            told("piece")
        return ModelReply(
            outcome=outcome,
            usage=Usage(model="m-1", input_tokens=len(self.left)),
            elapsed_ms=1.5,
            means="prompt",
        )


def ask(text: str) -> ModelRequest:
    return ModelRequest(
        purpose="work", messages=(Message(role="user", content=text),), prompt_version="work/1"
    )


def replayed(reply: ModelReply) -> ModelReply:
    """The reply as a recording gives it: the same, and nothing is spent for it."""
    return replace(reply, usage=replace(reply.usage, cost_usd=0.0, recorded=True))


async def test_every_kind_of_reply_is_given_again_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    recording: ChatPort = RecordingChat(Once(*OUTCOMES), path)
    said = [await recording.complete(ask(str(n))) for n in range(len(OUTCOMES))]
    recorded: ChatPort = RecordedChat(path, "x:m")
    again = [await recorded.complete(ask(str(n))) for n in reversed(range(len(OUTCOMES)))]
    assert again == [replayed(reply) for reply in said[::-1]]
    assert recording.name == recorded.name == "x:m"


async def test_a_recording_is_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    before = os.umask(0)
    try:
        await RecordingChat(Once(OUTCOMES[0]), path).complete(ask("x"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_request_that_was_made_twice_gets_its_replies_in_order(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    recording = RecordingChat(Once(OUTCOMES[3], OUTCOMES[0]), path)
    said = [await recording.complete(ask("same")) for _ in range(2)]
    recorded = RecordedChat(path, "x:m")
    assert [await recorded.complete(ask("same")) for _ in range(3)] == [replayed(said[n]) for n in (0, 1, 1)]


async def test_what_was_not_sent_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    said = await RecordingChat(Once(OUTCOMES[0]), path).complete(ask("a"))
    left_out = replace(ask("a"), dropped=(Dropped(part="excerpt E7", how="left_out", tokens=9),))
    assert await RecordedChat(path, "x:m").complete(left_out) == replayed(said)


@pytest.mark.parametrize(
    "other",
    [
        ask("b"),
        replace(ask("a"), purpose="plan"),
        replace(ask("a"), output_schema={"type": "object"}),
        replace(ask("a"), max_output_tokens=5),
        replace(ask("a"), tools=(ToolOffer(name="t", description="", input_schema={}),)),
        replace(ask("a"), messages=(Message(role="system", content="a"),)),
    ],
    ids=lambda request: repr(request)[:40],
)
async def test_another_request_is_a_miss_that_says_how_to_record(other: ModelRequest, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    await RecordingChat(Once(OUTCOMES[0]), path).complete(ask("a"))
    outcome = (await RecordedChat(path, "x:m").complete(other)).outcome
    assert isinstance(outcome, ModelError)
    assert (outcome.error_type, outcome.retryable) == ("misconfigured", False)
    assert outcome.cause == "not_recorded"
    assert repr(other.purpose) in outcome.message
    assert "'answers.jsonl'" in outcome.message
    assert "MASKGRAD_RECORD=FILE" in explained(outcome, model="x:m", lang="en")
    assert "MASKGRAD_RECORD=文件" in explained(outcome, model="x:m", lang="zh")


async def test_another_model_did_not_say_it(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    await RecordingChat(Once(OUTCOMES[0]), path).complete(ask("a"))
    assert isinstance((await RecordedChat(path, "x:other").complete(ask("a"))).outcome, ModelError)


async def test_pieces_are_told_while_recording_and_the_whole_when_replaying(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    pieces: list[str] = []
    await RecordingChat(Once(OUTCOMES[0], OUTCOMES[2]), path).complete(ask("a"), pieces.append)
    recorded = RecordedChat(path, "x:m")
    await recorded.complete(ask("a"), pieces.append)
    assert pieces == ["piece", "泵坏了"]


async def test_a_line_that_a_kill_cut_off_is_named_and_swallows_no_other(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    await RecordingChat(Once(OUTCOMES[0]), path).complete(ask("a"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    said = await RecordingChat(Once(OUTCOMES[1]), path).complete(ask("b"))
    with pytest.raises(InvalidRecording, match="line 2 of") as refused:
        RecordedChat(path, "x:m")
    assert "第 2 行" in refused.value.message("zh")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join((lines[0], lines[2])), encoding="utf-8")
    assert await RecordedChat(path, "x:m").complete(ask("b")) == replayed(said)


@pytest.mark.parametrize(
    "line", ["[]", "{}", '{"request": "x", "reply": {"outcome": {"kind": "new"}}}', "\ufeff"]
)
def test_a_line_that_is_no_reply_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(InvalidRecording):
        RecordedChat(path, "x:m")


def test_a_recording_that_is_not_there_is_said_in_both_languages(tmp_path: Path) -> None:
    with pytest.raises(RecordingUnavailable) as missing:
        RecordedChat(tmp_path / "none.jsonl", "x:m")
    assert "MASKGRAD_REPLAY" in str(missing.value)
    assert "文件不存在" in missing.value.message("zh")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(RecordingUnavailable, match="no UTF-8"):
        RecordedChat(tmp_path / "bytes", "x:m")


def test_a_folder_for_a_recording_is_not_made_behind_the_users_back(tmp_path: Path) -> None:
    with pytest.raises(RecordingUnavailable, match="MASKGRAD_RECORD"):
        RecordingChat(Once(), tmp_path / "typo" / "answers.jsonl")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RecordingUnavailable):
        RecordingChat(Once(), tmp_path)
