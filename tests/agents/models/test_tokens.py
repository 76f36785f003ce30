"""Tokens are counted without a network: by a real tokeniser where there is one, else by an estimate that is not low."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models import tokens
from agents.models.contract import Message, ToolOffer
from agents.models.tokens import (
    CALL_TOKENS,
    MESSAGE_TOKENS,
    SAMPLED_CHARS,
    UNDERCOUNT_SHARE,
    CountedTokens,
    EstimatedTokens,
    counter_for,
    message_tokens,
    offer_tokens,
    vocabulary_at_hand,
)
from agents.tools.contract import ToolCall


@dataclass(frozen=True)
class Case:
    id: str
    text: str
    counts: tuple[int, int, int]
    """By o200k_base, cl100k_base and Qwen 2.5's vocabulary, counted with those tokenisers."""


CASES = (
    Case(
        "english",
        "The battery system costs 12.4 million crowns. Nobody has verified the supplier's figures, which were "
        "published before the council's decision on February 12th, 2026.",
        (37, 38, 42),
    ),
    Case(
        "chinese",
        "新线计划于二〇二六年九月通水，总投资约三亿二千万元。供应商的数据尚未核实，环境影响评价也没有完成。",
        (37, 53, 33),
    ),
    Case(
        "mixed",
        "报告（终稿）.md 中的 SLA 指标为 99.95%，但 Grafana dashboard 显示只有 98.7%。",
        (31, 37, 37),
    ),
    Case(
        "json",
        '{"ok": true, "summary": "3 sections for \'battery cost\'", "data": {"hits": [{"source": "s-1a2b3c", '
        '"score": 0.8123, "text": "The price is 12.4 million."}], "next_offset": null}}',
        (64, 64, 67),
    ),
    Case(
        "code",
        "def assemble(parts: Sequence[Part], budget: int) -> Assembled:\n    for part in parts:\n"
        '        if part.kind == "rules":\n            yield part\n',
        (35, 34, 34),
    ),
    Case(
        "table",
        "| file | what it holds |\n| --- | --- |\n| `runs.db` | the run store, one SQLite database |\n",
        (26, 26, 26),
    ),
    Case("rare characters", "龘靐齉爩鱻麤龗灪吁龖厵滟", (25, 27, 21)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_estimate_is_not_far_below_and_not_wastefully_above(case: Case) -> None:
    estimate = EstimatedTokens().count(case.text)
    assert all((1 - UNDERCOUNT_SHARE) * count <= estimate <= 1.75 * count for count in case.counts)


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_estimate_of_more_text_is_not_lower(first: str, second: str) -> None:
    counter = EstimatedTokens()
    assert counter.count("") == 0
    # One blank between two texts may be taken into the gap before or after it: 1.1 x 0.8 and the rounding up.
    assert counter.count(first + second) >= counter.count(first) - 2
    assert counter.count(first + second) <= counter.count(first) + counter.count(second) + 2


def test_a_long_text_is_estimated_by_its_beginning() -> None:
    text = "battery cost " * (SAMPLED_CHARS // 4)
    words = len(text.split())
    assert 0.99 * 1.1 * words <= EstimatedTokens().count(text) <= 1.01 * 1.1 * words
    seen: list[int] = []

    def encode(part: str) -> Sequence[int]:
        seen.append(len(part))
        return range(len(part))

    assert CountedTokens(name="letters", encode=encode).count(text) == len(text)
    assert seen == [SAMPLED_CHARS]


def test_without_its_vocabulary_on_this_machine_openai_is_estimated_and_nothing_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (str(tmp_path), ""):
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", folder)
        for model in ("openai:gpt-4o-mini", "gpt-4", "openai:of-nobody"):
            assert counter_for(model) == EstimatedTokens()
    assert list(tmp_path.iterdir()) == []


def test_a_vocabulary_counts_as_at_hand_only_with_the_bytes_that_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    kept = tmp_path / hashlib.sha1(url.encode()).hexdigest()
    kept.write_bytes(b"IQ== 0\n")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert not vocabulary_at_hand("o200k_base")
    assert not vocabulary_at_hand("of-nobody")
    monkeypatch.setattr(tokens, "_VOCABULARIES", {"o200k_base": hashlib.sha256(b"IQ== 0\n").hexdigest()})
    assert vocabulary_at_hand("o200k_base")


@dataclass
class ChatModel:
    """As much of a LangChain chat model as counting looks at."""

    custom_get_token_ids: Callable[[str], list[int]] | None = None


def test_a_models_own_tokeniser_comes_first() -> None:
    counted = counter_for("openai:gpt-4o", ChatModel(lambda text: [1] * len(text.split())))
    assert (counted.count("three short words"), counted.exact) == (3, True)
    assert counter_for("anthropic:claude", ChatModel()) == EstimatedTokens()
    assert not counter_for("ollama:qwen").exact


def test_calls_and_offers_are_counted_with_what_is_around_them() -> None:
    letters = CountedTokens(name="letters", encode=lambda text: range(len(text)))
    call = ToolCall(tool="search", arguments={"query": "价格"})
    message = Message(role="assistant", content="Yes.", calls=(call, call))
    arguments = len(json.dumps({"query": "价格"}, ensure_ascii=False))
    assert message_tokens(message, letters) == MESSAGE_TOKENS + 4 + 2 * (CALL_TOKENS + 6 + arguments)
    offer = ToolOffer(name="search", description="Find", input_schema={"type": "object"})
    assert offer_tokens([offer, offer], letters) == 2 * (CALL_TOKENS + 6 + 4 + len('{"type": "object"}'))
