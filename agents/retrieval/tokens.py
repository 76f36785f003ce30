"""Turn text into search terms: stemmed English, segmented Chinese, identifiers whole and in parts.

Text may mix languages. Stop words are left out by `terms`, kept by `words`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock

import rjieba
import snowballstemmer

ENGLISH_STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could did do does doing down during each either else ever few for from
    further get had has have having he her here hers him his how i if in into is isn it its itself just kind
    know let like many may me might more most much must my no nor not of off on once one only or other our ours
    out over own please same shall she should so some such than that the their theirs them then there these they
    this those through to too under until up upon us use used using very was we were what when where whether
    which while who whom whose why will with within without would yes yet you your yours""".split()  # noqa: SIM905  (a word list is read as words)
)
CHINESE_STOP_WORDS = frozenset(
    """的 了 和 是 在 有 与 及 或 等 也 都 就 而 为 对 把 被 从 到 由 于 其 之 这 那 此 该 各 某 每 个 种 些 我 你
    您 他 她 它 们 我们 你们 他们 它们 自己 什么 怎么 怎样 如何 为何 为什么 哪 哪些 哪个 哪里 哪儿 谁 多少 几 吗
    呢 吧 啊 呀 么 是否 可以 能 能否 能够 会 会不会 要 需要 应该 应当 可 请 请问 请参考 参见 详见 以及 并 并且
    而且 但 但是 不过 如果 若 则 因为 所以 由于 因此 虽然 即使 还 还是 还有 又 再 很 非常 更 最 比较 一个 一些
    一种 一下 有没有 是不是 没有 不 不是 无 非 上 下 中 里 内 外 前 后 时 时候 进行 通过 使用 关于 对于 根据 按照
    以 以下 如下 例如 比如 其中 其他 其它 所 所有 这个 这些 那些 那个 这里 这样 一般 目前 已 已经 将 只 仅 来 去
    向 给 让 使 用 做 作 地 得 着 过 即 既 与否 何 何时 何种 说 叫 称 多 大 小""".split()  # noqa: SIM905
)

_HAN = r"\u3400-\u9fff\uf900-\ufaff"
_ALNUM = rf"[^\W_{_HAN}]"
_PIECE = re.compile(rf"[{_HAN}]+|\d+(?:[.,]\d+)*|_*{_ALNUM}+(?:[_.\-]{_ALNUM}+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PARTS = re.compile(r"[_.\-]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CJK = re.compile(rf"[{_HAN}]")
_SHORTEST_CAMEL_PART = 3
"""`MilvusClient` has parts worth finding; `TiDB` and `MySQL` are one word each."""

_stemmer = snowballstemmer.stemmer("english")
_stemmer_lock = Lock()
"""A stemmer keeps the word that it is at; checks and workers stem on threads of their own."""


def words(text: str) -> tuple[str, ...]:
    """Return the words of `text` in order: case-folded, English stemmed, Chinese segmented, stop words kept.

    An identifier gives itself and then its parts; digits lose their thousands separators.

    >>> words("Set `tidb_gc_life_time` to 1,024 seconds")
    ('set', 'tidb_gc_life_time', 'tidb', 'gc', 'life', 'time', 'to', '1024', 'second')
    """
    return tuple([word for word, _ in _scan(text)])


def terms(text: str) -> tuple[str, ...]:
    """Return the words of `text` that carry content, in order, repetitions kept.

    >>> terms("What is the largest table?")
    ('largest', 'tabl')
    >>> terms("北京大兴国际机场的吞吐量是多少")
    ('北京', '大兴', '国际', '机场', '吞吐量')
    """
    return tuple([word for word, stop in _scan(text) if not stop])


def spellings(text: str) -> dict[str, str]:
    """Return the terms of `text` as they are spelled where they stand first, in order.

    >>> spellings("Insured plants, insured twice")
    {'insur': 'Insured', 'plant': 'plants', 'twice': 'twice'}
    """
    found: dict[str, str] = {}
    for match in _PIECE.finditer(text):
        piece = match.group()
        forms = _scan(piece)
        if _is_han(piece[0]) or piece[0].isdigit():
            pairs = [(word, word) for word, stop in forms if not stop]
        else:
            parts = _latin_parts(piece)
            shown = [piece] if len(parts) <= 1 else [piece, *parts]
            pairs = [(word, form) for (word, stop), form in zip(forms, shown, strict=True) if not stop]
        for word, form in pairs:
            found.setdefault(word, form)
    return found


def is_cjk(text: str) -> bool:
    """Return whether `text` holds a Chinese character."""
    return bool(_CJK.search(text))


def _scan(text: str) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for piece in _PIECE.findall(text):
        if _is_han(piece[0]):
            found.extend((word, word in CHINESE_STOP_WORDS) for word in rjieba.cut(piece))
        elif piece[0].isdigit():
            found.append((_number(piece), False))
        else:
            found.extend(_latin(piece))
    return found


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"


def _number(piece: str) -> str:
    return piece.replace(",", "") if "," in piece and _THOUSANDS.fullmatch(piece) else piece


@lru_cache(maxsize=200_000)
def _latin(piece: str) -> tuple[tuple[str, bool], ...]:
    parts = _latin_parts(piece)
    if len(parts) <= 1:
        return (_english(piece),)
    split = tuple(_english(part) for part in parts)
    return ((piece.casefold(), False), *split)


def _latin_parts(piece: str) -> list[str]:
    return [part for chunk in _PARTS.split(piece.strip("_.-")) if chunk for part in _camel_parts(chunk)]


def _camel_parts(chunk: str) -> list[str]:
    parts = [part for part in _CAMEL.split(chunk) if part]
    return parts if min(map(len, parts)) >= _SHORTEST_CAMEL_PART else [chunk]


@lru_cache(maxsize=200_000)
def _english(word: str) -> tuple[str, bool]:
    folded = word.casefold().strip("_")
    if folded in ENGLISH_STOP_WORDS:
        return folded, True
    with _stemmer_lock:
        stem = str(_stemmer.stemWord(folded))
    return stem, len(folded) == 1 and folded.isalpha() and folded != "c"
