"""Search terms of English, Chinese and mixed text."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from agents.retrieval.tokens import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, is_cjk, spellings, terms, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The containers were installed", ("contain", "instal")),
        ("`tidb_gc_life_time`", ("tidb_gc_life_time", "tidb", "gc", "life", "time")),
        ("MilvusClient and TiDB", ("milvusclient", "milvus", "client", "tidb")),
        ("1,024 MB or 2.5%", ("1024", "mb", "2.5")),
        ("苹果M1芯片", ("苹果", "m1", "芯片")),
        ("鼓风机的噪声是多少", ("鼓风机", "噪声")),
        ("什么时候", ()),
        ("", ()),
    ],
)
def test_terms(text: str, found: tuple[str, ...]) -> None:
    assert terms(text) == found


def test_words_keep_what_terms_leave_out() -> None:
    assert words("the pump is on") == ("the", "pump", "is", "on")
    assert set(terms("the pump is on")) == {"pump"}


def test_the_same_word_in_another_form_gives_the_same_term() -> None:
    assert terms("Installing PUMPS") == terms("installs a pump")


@given(st.text(max_size=80))
def test_terms_are_words_and_no_stop_words(text: str) -> None:
    found = terms(text)
    assert set(found) <= set(words(text))
    assert not set(found) & (CHINESE_STOP_WORDS | ENGLISH_STOP_WORDS)
    assert all(found)


@given(st.text(alphabet="abAB_.-1, 水泵的", max_size=40))
def test_spellings_stand_in_the_text_and_lead_to_their_terms(text: str) -> None:
    found = spellings(text)
    assert list(found) == list(dict.fromkeys(terms(text)))
    assert all(spelling in text for spelling in found.values())


def test_is_cjk() -> None:
    assert is_cjk("abc 中")
    assert not is_cjk("abc é ü")


def test_several_threads_get_the_words_that_one_gets() -> None:
    """The stemmer keeps the word that it is at, so that two threads would read each other's."""
    stems = ("general", "relation", "hope", "nation", "oper", "condition", "form", "connect")
    endings = ("ization", "ationally", "fulness", "ibility", "ements", "ously", "ingly", "ities")
    english = [
        f"{chr(97 + n // 26)}{chr(97 + n % 26)}{s}{e}" for n in range(60) for s in stems for e in endings
    ]
    chinese = [f"北京大兴国际机场{n}号航站楼的吞吐量" for n in range(200)]
    wanted = [(snowballstemmer.stemmer("english").stemWord(word),) for word in english]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            rounds = [pool.submit(lambda: [words(text) for text in english]) for _ in range(4)]
            cut = [pool.submit(lambda: [words(text) for text in chinese]) for _ in range(4)]
            assert all(each.result() == wanted for each in rounds)
            assert all(each.result() == cut[0].result() for each in cut)
    finally:
        sys.setswitchinterval(interval)
    assert cut[0].result() == [words(text) for text in chinese]
