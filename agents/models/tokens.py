"""Count the tokens of a request before it is sent.

A real tokeniser where one is at hand without a network: a count function that the chat model was given, and OpenAI's
vocabularies where they are on this machine already. Everywhere else an estimate, calibrated for English and Chinese.
Providers that count over HTTP (Anthropic, Google) are not asked: a count per reduction step would be a call each.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any, Final, Protocol

from agents.models.contract import Message, ToolOffer

UNDERCOUNT_SHARE: Final = 0.15
"""By no more than this the estimate is below the real count, on English and Chinese prose, Markdown, JSON and code.

Fitted 2026-11 to 27 English and 28 Chinese texts, 26 Python modules and 4 JSON documents against the vocabularies
o200k_base, cl100k_base and Qwen 2.5: estimate / count was 0.97 to 1.70, for Chinese under cl100k_base 0.90 to 1.12; on
68 other texts (public data sets, English and Chinese, plain and as JSON) 0.88 to 1.45. It does not hold for text
without words (random letters 0.35, base64 0.87). The margin of a context budget (`agents.context.budget`) is as wide.
"""
MESSAGE_TOKENS: Final = 5
"""Around each message: ChatML's start, role, line break, end, line break."""
CALL_TOKENS: Final = 8
"""Around a tool call or an offered tool: its id and the provider's framing."""
SAMPLED_CHARS: Final = 200_000
"""Of a longer text so much is counted, and the rest is taken to be like it."""


REMEMBERED_CHARS: Final = 8_000
"""Longest text whose estimate is remembered: a loop counts the same messages with every step."""


class TokenCounter(Protocol):
    """Counts tokens as one model does."""

    @property
    def name(self) -> str:
        """Say what counts, for the record: a vocabulary, or `estimate`."""
        ...

    @property
    def exact(self) -> bool:
        """Whether it is the model's own tokeniser."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, 0 for none."""
        ...


_GB2312_LEVEL_1: Final = range(0xB0, 0xD8)
"""Lead bytes of the 3,755 characters that Chinese uses most: one token each, often less; rarer ones are split."""
_COMMON_HAN: Final = frozenset(
    char
    for lead in _GB2312_LEVEL_1
    for trail in range(0xA1, 0xFF)
    if (char := bytes((lead, trail)).decode("gb2312", "ignore"))
)
_PIECE: Final = re.compile(
    r"(?P<word>[A-Z]?[a-z]+)|(?P<capitals>[A-Z]+)|(?P<digit>[0-9])|(?P<han>[\u3400-\u9fff\uf900-\ufaff])|(?P<space> )"
    r"|(?P<gap>\s+)|(?P<mark>[!-~])|(?P<wide>[\u2000-\uffff])|(?P<letter>[^\W_])|(?P<other>.)",
    re.DOTALL,
)
_WORD_LETTERS: Final = 7
"""Longest word that counts as one piece."""


@dataclass(frozen=True, slots=True)
class EstimatedTokens:
    """Estimates by kinds of characters, see `UNDERCOUNT_SHARE`.

    >>> EstimatedTokens().count("The battery costs 12 million."), EstimatedTokens().count("电池价格是多少？")
    (8, 10)
    """

    name: str = "estimate"
    exact: bool = False

    def count(self, text: str) -> int:
        """Return the estimate, rounded up; a text above `SAMPLED_CHARS` is estimated by its beginning."""
        return _remembered(text) if len(text) <= REMEMBERED_CHARS else _scaled(text, _estimate)


def _scaled(text: str, count: Callable[[str], int]) -> int:
    if len(text) <= SAMPLED_CHARS:
        return count(text)
    return ceil(count(text[:SAMPLED_CHARS]) * len(text) / SAMPLED_CHARS)


@lru_cache(maxsize=1_024)  # 8 million characters at the most
def _remembered(text: str) -> int:
    return _estimate(text)


def _estimate(text: str) -> int:
    return ceil(1.1 * sum(_weight(str(match.lastgroup), match.group()) for match in _PIECE.finditer(text)))


def _weight(kind: str, piece: str) -> float:
    """Return how many tokens a piece is, fitted to the texts of `UNDERCOUNT_SHARE`; the factor 1.1 is on the sum."""
    match kind:
        case "word":
            return 1.0 if len(piece) <= _WORD_LETTERS else 1.0 + (len(piece) - _WORD_LETTERS) / 5
        case "capitals":
            return 0.25 + 0.45 * len(piece)
        case "han":
            return 1.05 if piece in _COMMON_HAN else 2.2
        case "space":
            return 0.0
        case "gap":
            return 0.8 + 0.5 * max(0, piece.count("\n") - 1)
        case "mark":
            return 0.6
        case "letter":
            return 0.8
        case "other":
            return 0.6 * len(piece.encode("utf-8", "surrogatepass"))
        case _:  # a digit, a wide character
            return 1.0


@dataclass(frozen=True, slots=True)
class CountedTokens:
    """Counts with a model's own tokeniser."""

    name: str
    encode: Callable[[str], Sequence[int]]
    exact: bool = True

    def count(self, text: str) -> int:
        """Return the count; a text above `SAMPLED_CHARS` is counted by its beginning."""
        return _scaled(text, lambda part: len(self.encode(part)))


def counter_for(model: str, chat: Any = None) -> TokenCounter:
    """Return the counter for `model` (`provider:model`, or a bare name), which never reaches for a network.

    `chat` is a LangChain chat model, if there is one: its `custom_get_token_ids` counts, where its user gave one. Its
    inherited `get_num_tokens` is not used: it counts with GPT-2's vocabulary, whatever the model.
    """
    own = getattr(chat, "custom_get_token_ids", None)
    if own is not None:
        return CountedTokens(name="custom_get_token_ids", encode=own)
    provider, _, name = model.rpartition(":")
    if provider in ("", "openai", "azure_openai"):
        found = _openai_vocabulary(name)
        if found is not None:
            return found
    return EstimatedTokens()


_VOCABULARIES: Final = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""SHA-256 of the files that `tiktoken` keeps, as its own source states them."""
_VOCABULARY_URL: Final = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"


def _openai_vocabulary(model: str) -> TokenCounter | None:
    """Return OpenAI's tokeniser for `model`; `None` where it is not installed, not known or would be downloaded."""
    try:
        import tiktoken  # noqa: PLC0415  (an extra, and slow to load)
    except ImportError:
        return None
    try:
        vocabulary = tiktoken.encoding_name_for_model(model)
    except KeyError:
        return None
    if not vocabulary_at_hand(vocabulary):
        return None
    encoding = tiktoken.get_encoding(vocabulary)
    return CountedTokens(name=vocabulary, encode=encoding.encode_ordinary)


def vocabulary_at_hand(name: str) -> bool:
    """Return whether `tiktoken` has the vocabulary `name` on this machine, so that loading it needs no network.

    It looks for the file where `tiktoken` looks (`TIKTOKEN_CACHE_DIR`, `DATA_GYM_CACHE_DIR`, the system's folder for
    temporary files) and for the bytes that it wants: it would fetch a file that differs anew.
    """
    wanted = _VOCABULARIES.get(name)
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":
        return False  # its cache is switched off
    place = Path(folder) if folder is not None else Path(tempfile.gettempdir()) / "data-gym-cache"
    url = _VOCABULARY_URL.format(name=name)
    try:
        kept = (place / hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(kept).hexdigest() == wanted


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Return the tokens of a message with its calls and what stands around it."""
    calls = sum(
        CALL_TOKENS + counter.count(call.tool) + counter.count(_json(dict(call.arguments)))
        for call in message.calls
    )
    return MESSAGE_TOKENS + counter.count(message.content) + calls


def offer_tokens(offers: Sequence[ToolOffer], counter: TokenCounter) -> int:
    """Return the tokens that the offered tools take in each request."""
    return sum(
        CALL_TOKENS
        + counter.count(offer.name)
        + counter.count(offer.description)
        + counter.count(_json(dict(offer.input_schema)))
        for offer in offers
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
