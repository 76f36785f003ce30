"""Texts that repeat each other count once."""

from __future__ import annotations

from agents.retrieval.copies import carries_same_numbers, containment, copies_among, repeats, shingles
from agents.retrieval.reading import document_from_text

ORIGINAL = (
    "Battery containers must stand at least 3 m apart on all sides, measured from wall to wall. The distance to the "
    "site fence is at least 10 m and walls and doors resist fire for 90 minutes. Nothing that burns is stored near."
)
OWN = (
    "The council met on Thursday evening in the town hall, heard two reports about the swimming pool and postponed "
    "the decision on the new roof until the engineers have finished their survey of the old beams."
)


def test_a_whole_copy_is_found_and_the_first_is_the_original() -> None:
    texts = {
        "a.md": OWN,
        "b.md": ORIGINAL,
        "c.md": f"# Bulletin\n\n{ORIGINAL}\n\nSo much for today.",
        "d.md": ORIGINAL,
    }
    documents = [document_from_text(path, text) for path, text in texts.items()]
    found = copies_among(documents)
    assert found == {
        documents[2].source.id: documents[1].source.id,
        documents[3].source.id: documents[1].source.id,
    }


def test_a_note_that_quotes_a_passage_among_its_own_text_is_no_copy() -> None:
    documents = [
        document_from_text("a.md", ORIGINAL * 3 + OWN),
        document_from_text("b.md", f"{OWN} {OWN} {ORIGINAL[:90]}"),
    ]
    assert documents[1].source.id not in copies_among(documents[:1])
    long_own = " ".join(
        f"Point {i} of the minutes speaks of matter {i * 7} and nothing else at all." for i in range(40)
    )
    mixed = [
        document_from_text("a.md", ORIGINAL + long_own),
        document_from_text("b.md", ORIGINAL + OWN * 1 + long_own[::-1]),
    ]
    assert copies_among(mixed) == {}


def test_passages_repeat_though_a_word_changed() -> None:
    assert repeats(ORIGINAL, ORIGINAL.replace("Nothing that burns", "No fuel"))
    assert not repeats(ORIGINAL, OWN)
    assert repeats("Open daily", "open  daily")
    assert not repeats("Open daily", "Open Sundays")


def test_chinese_passages() -> None:
    first = "有限空间作业必须遵守先通风、再检测、后作业的原则，作业前强制通风不少于30分钟。"
    assert repeats(first, first.replace("必须", "应当"))
    assert not repeats(first, "污泥脱水间加盖并负压收集，除臭风量每小时3.2万立方米，采用生物滤池。")


def test_short_texts_on_one_thing_are_no_copies() -> None:
    first, second = (
        "The plant at Arby opened in May 2024.",
        "A speaker said that the plant at Arby opened in June 2023.",
    )
    assert not repeats(first, second)
    assert copies_among([document_from_text("a.md", first), document_from_text("b.md", second)]) == {}
    assert (
        copies_among([document_from_text("a.md", first), document_from_text("b.md", f"{first} Well.")]) != {}
    )


def test_numbers_tell_copies_with_other_values_apart() -> None:
    assert carries_same_numbers("3 m of 10", "10 and 3")
    assert not carries_same_numbers("at 6 o'clock", "at 9 o'clock")


def test_containment_is_of_the_smaller_set() -> None:
    short, long = shingles("a b c d e f"), shingles("a b c d e f g h i j")
    assert containment(short, long) == 1.0
    assert containment(frozenset(), long) == 0.0
