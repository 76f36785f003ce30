"""A claim's words against the text that it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.claims import Falsified, Uncertain, Verified
from orchestrator.verification import statement as reading
from orchestrator.verification.quantities import fold_width
from orchestrator.verification.statement import Passage, plain, stands_in, statement_verdict, unsupported


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("The plant stores 32 MWh.", "The plant stores 32 MWh."),
        ("The plant stores 32 MWh.", "See above. The plant\n  stores **32 MWh**. It is new."),
        ("Cost: 12 million", "| **Cost:** | 12 million |"),
        ("| Cost | 12 |", r"\| Cost \| 12 \|"),
        ("see [the plan](plan.md)", "see the plan"),
        ("该站储能32兆瓦时。", "- 该站储能 32 兆瓦时。"),
        ("共１２座", "全线共12座车站。"),
        ("no pump failed", "In May no pump failed."),
        ("It cost 12.", "| A | not in the notes |\n| B | It cost 12. |"),
        ("成本为12元", "笔记说法不一：\n- 成本为12元"),
        ("It cost 12.", "The notes do not agree:\n\nIt cost 12."),
        ("It is safe and sound", "It is safe\nand sound."),
    ],
)
def test_the_same_words_stand_there(statement: str, passage: str) -> None:
    assert stands_in(statement, passage)


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("The pumps are safe", "It is not true that the pumps are safe."),
        ("the pumps are safe", "It is not true that the pumps are safe."),
        ("设备安全", "设备不安全"),
        ("安全", "并不安全。"),
        ("2 pumps failed", "In May 12 pumps failed."),
        ("5 million", "It cost 2.5 million."),
        ("costs 12", "It costs 12.5 million."),
        ("costs 12", "It costs 12% more."),
        ("5 degrees", "It was -5 degrees."),
        ("二十座站", "共三百二十座站。"),
        ("It is safe", "It is not true that\nit is so: It is safe"),
        ("art", "a party"),
        ("53 pumps", "5*3 pumps"),
        ("", "anything"),
        ("***", "***"),
        ("The plant stores 32 MWh.", "The plant stores 30 MWh."),
    ],
)
def test_torn_out_or_other_words_do_not(statement: str, passage: str) -> None:
    assert not stands_in(statement, passage)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A statement, its evidence, and the verdict."""

    id: str
    says: str
    evidence: str
    verdict: Literal["verified", "uncertain", "falsified"]
    names: str = ""
    """What the reason has to name."""


CASES = (
    Case(id="quote", says="It opened in 2024.", evidence="It opened in 2024.", verdict="verified"),
    Case(id="paraphrase", says="Opening was in 2024", evidence="It opened in 2024.", verdict="uncertain"),
    Case(id="number", says="It grew by 12%", evidence="It grew by 21%.", verdict="falsified", names="12%"),
    Case(
        id="rate or points",
        says="up 3%",
        evidence="up 3 percentage points",
        verdict="falsified",
        names="3%",
    ),
    Case(
        id="scale",
        says="The budget is 1.2 million euros",
        evidence="Budget: 1,200,000 euros",
        verdict="uncertain",
    ),
    Case(id="zh scale", says="预算为120万元", evidence="预算1200000元", verdict="uncertain"),
    Case(id="across languages", says="预算为120万", evidence="Budget: 1.2 million", verdict="uncertain"),
    Case(id="wrong scale", says="预算为120亿元", evidence="预算120万元", verdict="falsified", names="120"),
    Case(
        id="scale in the header",
        says="It cost 12 million",
        evidence="(5 million in all) | Cost | 12",
        verdict="uncertain",
    ),
    Case(
        id="date",
        says="on 4 May 2024",
        evidence="It opened on 3 May 2024.",
        verdict="falsified",
        names="2024-05-04",
    ),
    Case(
        id="coarser date", says="opening: May 2024", evidence="It opened on 3 May 2024.", verdict="uncertain"
    ),
    Case(id="finer date", says="opening: 3 May 2024", evidence="It opened in May 2024.", verdict="falsified"),
    Case(
        id="date across languages",
        says="2024年5月3日开放",
        evidence="It opened on 3 May 2024.",
        verdict="uncertain",
    ),
    Case(id="year in a table", says="opened in 2024", evidence="| 2024 | yes |", verdict="uncertain"),
    Case(id="negation", says="It is not safe", evidence="It is safe.", verdict="falsified", names="negation"),
    Case(id="zh negation", says="设备不安全", evidence="设备安全", verdict="falsified"),
    Case(
        id="name",
        says="see CVE-2020-1234",
        evidence="see CVE-2020-1235",
        verdict="falsified",
        names="cve-2020-1234",
    ),
    Case(id="numeral for digits", says="共三十二座", evidence="车站共 32 座", verdict="uncertain"),
    Case(
        id="digits for words",
        says="21 pumps run",
        evidence="Twenty-one pumps are running.",
        verdict="uncertain",
    ),
    Case(id="near a measure", says="stores 102 MWh", evidence="It holds 100 MWh.", verdict="uncertain"),
    Case(id="far from a measure", says="stores 106 MWh", evidence="It holds 100 MWh.", verdict="falsified"),
    Case(id="near another unit", says="stores 102 MWh", evidence="It holds 100 MW.", verdict="falsified"),
    Case(id="a count is exact", says="102 pumps", evidence="100 pumps", verdict="falsified"),
    Case(id="money is exact", says="€102", evidence="€100", verdict="falsified"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_verdict_of_a_statement(case: Case) -> None:
    passages = [Passage(text=case.evidence, where="a.md:1")]
    verdict = statement_verdict(case.says, passages, delta_max=0.05, derived=False, lang="en")
    assert verdict.kind == case.verdict
    if isinstance(verdict, Falsified):
        assert verdict.source == "a.md:1"
        assert case.names in verdict.reason


def test_each_sentence_may_stand_in_its_own_passage() -> None:
    passages = [Passage(text="It is new.", where="a.md:1"), Passage(text="It is big. Very.", where="b.md:7")]
    said = statement_verdict("It is new. It is big.", passages, delta_max=0.05, derived=False, lang="en")
    assert said == Verified(source="a.md:1; b.md:7")
    half = statement_verdict("It is new. It is small.", passages, delta_max=0.05, derived=False, lang="en")
    assert isinstance(half, Uncertain)


def test_a_derived_number_is_uncertain_and_not_false() -> None:
    passages = [Passage(text="Line 1 has 12 stations.", where="a.md:1")]
    verdict = statement_verdict("Both have 30 stations.", passages, delta_max=0.05, derived=True, lang="zh")
    assert isinstance(verdict, Uncertain)
    assert "推导" in verdict.reason


def test_a_number_may_stand_in_evidence_that_no_source_confirms() -> None:
    passages = [Passage(text="It opened in May.", where="a.md:1")]
    said = "It opened in May with 12 pumps"
    held = statement_verdict(
        said, passages, delta_max=0.05, derived=False, lang="en", unconfirmed=["12 pumps, I guess"]
    )
    assert isinstance(held, Uncertain)
    assert isinstance(
        statement_verdict(said, passages, delta_max=0.05, derived=False, lang="en", unconfirmed=["13 pumps"]),
        Falsified,
    )


def test_without_passages_nothing_is_said() -> None:
    assert isinstance(statement_verdict("x", [], delta_max=0.05, derived=False, lang="en"), Uncertain)


def test_zero_in_the_evidence_has_no_relative_deviation() -> None:
    assert unsupported("1 MW", ["0 MW"], delta_max=1.0, lang="en") == ("1 mw",)


PIECES = st.sampled_from(
    [
        "pump",
        "plant",
        "泵",
        "32",
        "MWh",
        "**x**",
        "_y_",
        "`z`",
        "5*3",
        "|",
        "\n",
        "- ",
        "1. ",
        "# ",
        "。",
        ". ",
        "\\*",
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_markdown_and_space_do_not_matter(pieces: list[str]) -> None:
    loose, tight = "  ".join(pieces), " ".join(pieces)
    assert plain(loose) == plain(tight)
    if plain(tight):
        assert stands_in(loose, tight)


MARKS = st.sampled_from(
    [
        "a",
        "B2",
        "７",
        "数",
        "。",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\u3000",
        "- ",
        "> ",
        "1. ",
        "# ",
        "|",
        "---",
        ":--",
    ]
) | st.sampled_from(["*", "`", "_", "~~", "[x](y)", "![", "](", ")", "\\", "\\_"])


def _by_every_pattern(text: str) -> str:
    """Return what `plain` should give, by asking every pattern of every text."""
    bare = reading._LINK.sub(r"\1", reading._ESCAPE.sub(r"\1", fold_width(text)))
    line = ""
    for block in reading._BLOCK_BORDER.split(reading._TABLE_RULE.sub("", bare)):
        for cell in reading._EMPHASIS.sub("", reading._BLOCK_MARK.sub("", block)).split("|"):
            piece = reading._SPACE_AT_CJK.sub("", " ".join(cell.split())).strip()
            joined = (
                not line or reading._CJK_CHAR.match(line[-1]) or (piece and reading._CJK_CHAR.match(piece))
            )
            line += piece if joined or not piece else f" {piece}"
    return line


@settings(deadline=None)
@given(st.lists(MARKS, max_size=16).map("".join) | st.text(max_size=40))
def test_a_pattern_is_left_out_only_where_it_would_change_nothing(text: str) -> None:
    assert plain(text) == _by_every_pattern(text)


def test_a_long_text_is_read_as_a_short_one() -> None:
    statement = "The **pumps** are safe."
    long = f"- {statement}\n" + "- They are new.\n" * reading.LONGEST_REMEMBERED
    assert stands_in(statement, long)
    assert plain(long) == _by_every_pattern(long)


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_what_stands_in_a_text_has_no_unsupported_part(statement: str, rest: str) -> None:
    passage = f"{statement}\n\n{rest}"
    if stands_in(statement, passage):
        verdict = statement_verdict(
            statement, [Passage(text=passage, where="a.md:1")], delta_max=0.0, derived=False, lang="en"
        )
        assert verdict == Verified(source="a.md:1")


@given(st.text(alphabet="ab1 \t>#-*+•.)|`_[](x\\\r中，", max_size=24))
def test_a_line_reads_the_same_alone_and_below_empty_ones(line: str) -> None:
    assert plain(line) == plain(f"\n\n{line}")
