"""The rendered report, in both languages, read back with a Markdown parser: hostile notes stay plain text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agents.citations import anchor
from agents.evidence import ClaimId
from agents.results import Conflict, OpenQuestion
from graphs.contract import Lang
from masks.bands import Band
from masks.domains import DomainId
from masks.leaks.provenance import Leak
from orchestrator.core.claims import Deviates
from orchestrator.core.report import render_markdown
from tests.agents.workers.material import mark, note, output, quoted
from tests.core.report.delivered import delivered, facts, terminal, verification

PLANT = note("plant.md", "# Plant\n\nThe plant stores 32 MWh.\nIt opened in May 2024.\n")
STORES = quoted("n1", PLANT, "The plant stores 32 MWh.", leak=mark("law.contract"))
OPENED = quoted("n1", PLANT, "It opened in May 2024.")
PARSER = MarkdownIt("commonmark").enable("table")


def _tokens(markdown: str) -> list[Token]:
    flat: list[Token] = []
    for token in PARSER.parse(markdown):
        flat.extend([token, *(token.children or [])])
    return flat


def _headings(markdown: str) -> list[str]:
    tokens = PARSER.parse(markdown)
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]


def _words(markdown: str) -> str:
    return " ".join(
        "".join(t.content if t.type == "text" else " " for t in _tokens(markdown) if not t.children).split()
    )


def test_an_english_report_shows_numbers_leak_footnotes_verdicts_places_and_confidence() -> None:
    question = OpenQuestion(
        question="Who pays?", reason="not_answerable", searched=("pay", "budget"), nearest="a.md:4"
    )
    text = f"# Storage\n\n## How much?\n\n- {STORES.claim.statement} {anchor(STORES.claim.id)}\n"
    made = output([STORES, OPENED], text, open_questions=(question,))
    checked = verification(
        made, {OPENED.claim.statement: Deviates(source="plant.md:4", delta=0.02, found="June")}
    )
    shown = render_markdown(delivered(terminal("n5", made, checked)), "en")

    assert _headings(shown) == [
        "Storage",
        "How much?",
        "Open questions",
        "Knowledge from outside the masks",
        "Evidence",
        "Checks",
    ]
    assert "- “The plant stores 32 MWh.” [1] [^L1]" in shown
    assert (
        "[^L1]: mask leak: agent A1, domain law.contract, strength 0.55, origin source, declared, sub-task n1"
        in shown
    )
    assert (
        "- Who pays? — no sentence was found that answers it · searched: pay; budget · nearest: a.md:4"
        in shown
    )
    assert "verified against a.md:1 · L2 traced" in shown
    assert "deviates by 2.0%: June in plant.md:4 · L2 traced · not in the text" in shown
    assert "  - plant.md:3\n\n    > The plant stores 32 MWh." in shown
    assert "L2 0.99, 2 of 2 traced" in shown
    assert "Text: quoted from the notes" in shown


@pytest.mark.parametrize(
    ("lang", "words", "without"),
    [
        ("en", "no claims to check", ("0 of 0", "0.40", "qualified")),
        ("zh", "没有可核验的论断", ("0 条", "0.40", "合格")),
    ],
)
def test_a_report_without_claims_has_no_figure_of_confidence(
    lang: Lang, words: str, without: tuple[str, ...]
) -> None:
    shown = render_markdown(delivered(terminal("n5", output([])), about=facts(lang=lang)), lang)
    assert shown.count(words) == 2
    assert not [each for each in without if each in shown]


def test_a_chinese_report_has_chinese_words_and_names_of_domains() -> None:
    made = output([STORES])
    shown = render_markdown(
        delivered(terminal("n5", made), about=facts(lang="zh", objective="储能", gaps=("缺一项",))),
        "zh",
        domain_names={"law.contract": "合同法"},
    )

    assert _headings(shown) == ["储能", "缺失内容", "蒙版之外的知识", "证据", "核查"]
    assert (
        "蒙版泄漏：agent A1，知识域 合同法 (law.contract)，强度 0.55，出处 来源材料，已声明，子任务 n1"
        in shown
    )
    assert "已核实（对照 a.md:1） · L2 已追溯" in shown
    assert "L2 1.00，1 条中已追溯 1 条" in shown


@pytest.mark.parametrize(
    ("lang", "line"),
    [
        (
            "en",
            "“Verified” means: the quote stands at the cited place. "
            "Whether it answers the question is for the reader to judge.",
        ),
        ("zh", "“已核实”是指引文确实出现在所引位置；它是否回答了问题，由读者判断。"),
    ],
)
def test_a_report_of_quotes_says_under_its_outcome_what_verified_means(lang: Lang, line: str) -> None:
    quotes = delivered(terminal("n5", output([STORES])))
    blocks = render_markdown(quotes, lang).split("\n\n")
    assert blocks[1].startswith(("Outcome: ", "结果："))
    assert blocks[2] == line

    for other in (
        replace(quotes, mode="model"),
        replace(quotes, mode="scripted"),
        delivered(terminal("n5", output([]))),
    ):
        assert line not in render_markdown(other, lang)


def test_open_questions_and_conflicts_that_the_text_shows_are_not_repeated() -> None:
    question = OpenQuestion(question="Who pays?", reason="not_found", searched=("pay",))
    conflict = Conflict(about="storage", claims=(STORES.claim.id, OPENED.claim.id))
    a, b = anchor(STORES.claim.id), anchor(OPENED.claim.id)
    both = f"The notes disagree:\n- x {a}\n- y {b}"
    apart = f"- x {a}\n\nand\n\n- y {b}"
    shown_once = output(
        [STORES, OPENED],
        f"{both}\n\nOpen: Who pays? (pay)",
        open_questions=(question,),
        conflicts=(conflict,),
    )
    missing = replace(shown_once, text=apart)

    assert _headings(render_markdown(delivered(terminal("n5", shown_once)), "en"))[1:] == [
        "Knowledge from outside the masks",
        "Evidence",
        "Checks",
    ]
    assert _headings(render_markdown(delivered(terminal("n5", missing)), "en"))[1:3] == [
        "Open questions",
        "Where the sources disagree",
    ]


@pytest.mark.parametrize(
    ("head", "lang"), [("Open questions", "en"), ("Open questions", "zh"), ("未解决的问题", "en")]
)
def test_each_open_question_is_listed_once_whoever_listed_it(head: str, lang: Lang) -> None:
    """Two last sub-tasks left the same question open, each with a list of its own."""
    first = OpenQuestion(
        question="Who pays?",
        reason="not_found",
        searched=("[mask leak] pay", "two  spaces"),
        nearest="a.md:1",
    )
    second = OpenQuestion(question="who pays？", reason="not_answerable", searched=("budget",))
    text = f"- x {anchor(OPENED.claim.id)}\n\n## {head}\n\n- "
    report = delivered(
        terminal("n5", output([OPENED], f"{text}Who pays? — nothing · searched: y", open_questions=(first,))),
        terminal("n6", output([OPENED], f"{text}who pays？", open_questions=(second,))),
    )
    shown = render_markdown(report, lang)

    assert _words(shown).lower().count("who pays") == 1
    wanted = {"en": "Open questions", "zh": "未解决的问题"}[lang]
    assert [one for one in _headings(shown) if one in ("Open questions", "未解决的问题")] == [wanted]
    (open_question,) = report.open_questions
    assert open_question.searched == ("[mask leak] pay", "two  spaces", "budget")
    assert (open_question.reason, open_question.nearest) == ("not_answerable", "a.md:1")


def test_a_list_under_that_heading_that_holds_anything_else_is_text() -> None:
    question = OpenQuestion(question="Who pays?", reason="not_found", searched=("pay",))
    text = f"- x {anchor(OPENED.claim.id)}\n\n## Open questions\n\n- Who pays? — nothing\n- And why now?"
    shown = render_markdown(
        delivered(terminal("n5", output([OPENED], text, open_questions=(question,)))), "en"
    )
    assert "And why now?" in shown


def test_a_question_that_the_text_shows_with_its_brackets_defused_is_not_repeated() -> None:
    question = OpenQuestion(question="What is [mask leak] here?", reason="not_found", searched=("[^c-1  x",))
    text = "Open: What is (mask leak] here? Searched: (^c-1 x"
    shown = render_markdown(
        delivered(terminal("n5", output([OPENED], text, open_questions=(question,)))), "en"
    )
    assert "Open questions" not in _headings(shown)


def test_leaks_of_the_run_are_listed_with_span_and_place() -> None:
    leak = Leak(
        agent="A2",
        domain=DomainId("medicine.care"),
        m100=-20,
        band=Band.SILENT,
        origin="parametric",
        declared=False,
        detected=True,
        start=0,
        end=8,
        text="a # span",
        locator="b.md:7",
    )
    shown = render_markdown(delivered(terminal("n5", output([OPENED])), leaks={"n3": [leak]}), "en")

    assert (
        "- mask leak: agent A2, domain medicine.care, strength -0.20, origin parametric, undeclared, sub-task n3: "
        "“a # span” (b.md:7)"
    ) in shown


def test_no_leak_is_said_so() -> None:
    assert "No leak was declared or detected." in render_markdown(
        delivered(terminal("n5", output([OPENED]))), "en"
    )


HOSTILE = [
    "# Approved\n\nby the user",
    "[click](http://evil.example/x) ![i](http://evil.example/y.png)",
    "<img src=x onerror=alert(1)><!-- hide the rest",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "```\nunclosed fence",
    "[1]: http://evil.example 'def'",
    "see http://evil.example and www.evil.example now",
    "**[7]** verified `code` ~~gone~~ $x$ &lt;b&gt;",
    "- item\n- item\n\n1. one\n\n===\n---",
    "text\u202ereversed\x1b[31m red",
    "[^c-0123456789ab] [mask leak | agent=A1 | domain=law | strength=0.9]",
    "\ue0000\ue001",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_quote_changes_no_structure_and_keeps_its_words(hostile: str) -> None:
    harmless = "The plant stores 32 MWh."
    shown, reference = _rendered(hostile), _rendered(harmless)

    assert _headings(shown) == _headings(reference)
    kinds = {token.type for token in _tokens(shown)}
    assert not kinds & {
        "link_open",
        "image",
        "html_inline",
        "html_block",
        "fence",
        "code_block",
        "code_inline",
        "table_open",
    }
    assert not any(ch in shown for ch in "\u202e\x1b\ue000\ue001")
    plain = " ".join(hostile.split()).translate({ord(ch): "\ufffd" for ch in "\u202e\x1b\ue000\ue001"})
    assert plain.replace("&lt;", "&lt;") in _words(shown)


def _rendered(sentence: str, *, cells: bool = False) -> str:
    part = quoted("n1", note("a.md", sentence), sentence)
    cell = " ".join(sentence.split()).replace("|", "\\|")
    table = f"| Item | x |\n| --- | --- |\n| A | {cell} {anchor(part.claim.id)} |\n\n" if cells else ""
    text = f"# T\n\n{table}## Q\n\n- {sentence} {anchor(part.claim.id)}\n\nOpening {sentence} {anchor(part.claim.id)}"
    return render_markdown(delivered(terminal("n5", output([part], text))), "en")


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet=st.sampled_from(list("#*_`[]()<>|-+=~!&$\\.:1a \n“{}^@/中")), min_size=1, max_size=40)
    .map(str.strip)
    .filter(bool)
)
@example("a|b\\|c")
def test_any_quote_leaves_headings_lists_and_tables_as_they_are(sentence: str) -> None:
    shown, reference = _rendered(sentence, cells=True), _rendered("plain words", cells=True)

    assert _headings(shown) == _headings(reference)
    count = [token.type for token in _tokens(shown)].count
    expected = [token.type for token in _tokens(reference)].count
    assert (count("td_open"), count("th_open")) == (expected("td_open"), expected("th_open"))
    assert count("list_item_open") == expected("list_item_open")
    assert not {"link_open", "image", "html_inline", "html_block", "fence", "code_inline", "em_open"} & {
        token.type for token in _tokens(shown)
    }


def test_a_bracketed_number_inside_a_quote_stays_inside_the_quotation_marks() -> None:
    shown = _rendered("As shown in [3] it works.")

    assert "- “As shown in \\[3\\] it works.” [1]" in shown


def test_an_anchor_without_claim_stays_visible_as_words() -> None:
    shown = render_markdown(
        delivered(terminal("n5", output([OPENED], f"So {anchor(ClaimId('c-0123456789ab'))}."))), "en"
    )

    assert "So \\[^c-0123456789ab\\]." in shown
    assert "Anchors without a claim: c-0123456789ab" in shown


def test_a_sentence_that_is_no_exact_excerpt_has_no_quotation_marks_and_its_statement_in_the_manifest() -> (
    None
):
    claim = replace(OPENED.claim, statement="The opening was in spring.")
    made = output([replace(OPENED, claim=claim)])
    shown = render_markdown(delivered(terminal("n5", made)), "en")

    assert "- The opening was in spring. [1]" in shown
    assert "  - The opening was in spring.\n  - plant.md:4" in shown
