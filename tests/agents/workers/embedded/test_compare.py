"""The comparison table: quoted cells, empty cells, conflicts, and which input is about which item."""

from __future__ import annotations

from dataclasses import replace

from agents.citations import anchor
from agents.evidence import ClaimId
from agents.results import OpenQuestion
from agents.workers.embedded.compare import compare
from tests.agents.workers.material import Quoted, mark, note, order, output, quoted, uncited

NOTE = note(
    "options.md", "LFP costs €300 per kWh.\nNMC costs €335 per kWh.\nNMC lasts 10 years.\nA | B is a bar.\n"
)
OTHER = note("talk.md", "NMC costs €350 per kWh.\n")
PARAMS = {"items": ["LFP", "NMC"], "aspects": ["cost", "lifetime"]}


def told(node: str, sentence: str, aspect: str, where: object = None) -> Quoted:
    return quoted(node, OTHER if where is OTHER else NOTE, sentence, question=aspect)


LFP_COST = told("n1", "LFP costs €300 per kWh.", "cost")
NMC_COST = told("n2", "NMC costs €335 per kWh.", "cost")
NMC_LIFE = quoted("n2", NOTE, "NMC lasts 10 years.", question="lifetime", leak=mark())
NO_LIFE = OpenQuestion(question="lifetime", reason="not_found", searched=("LFP lifetime", "LFP years"))


def test_cells_are_quoted_and_an_empty_one_says_so_and_is_open_with_what_was_searched() -> None:
    inputs = {"n1": output([LFP_COST], open_questions=(NO_LIFE,)), "n2": output([NMC_COST, NMC_LIFE])}
    result = compare(order("compare", inputs, PARAMS))

    lfp, nmc, life = (anchor(part.claim.id) for part in (LFP_COST, NMC_COST, NMC_LIFE))
    assert result.output.text == (
        "| Item | cost | lifetime |\n| --- | --- | --- |\n"
        f"| LFP | LFP costs €300 per kWh. {lfp} | not in the notes |\n"
        f"| NMC | NMC costs €335 per kWh. {nmc} | NMC lasts 10 years. {life} |\n\n"
        "## Open questions\n\n- LFP / lifetime — no material found · searched: LFP lifetime; LFP years"
    )
    assert result.output.fields == {
        "LFP / cost": f"LFP costs €300 per kWh. {lfp}",
        "NMC / cost": f"NMC costs €335 per kWh. {nmc}",
        "NMC / lifetime": f"NMC lasts 10 years. {life}",
    }
    assert result.output.claims[2].leaks == (mark(),)


def test_an_empty_cell_is_chinese_in_a_chinese_table() -> None:
    text = compare(order("compare", {"n1": output([LFP_COST])}, PARAMS, lang="zh")).output.text

    assert "| 项目 | cost | lifetime |" in text
    assert "| NMC | 笔记中没有 | 笔记中没有 |" in text


def test_inputs_in_another_order_than_the_items_are_told_apart_by_what_they_name() -> None:
    inputs = {"n1": output([replace(NMC_COST)]), "n2": output([LFP_COST])}
    fields = compare(order("compare", inputs, PARAMS)).output.fields

    assert fields["LFP / cost"].startswith("LFP costs")
    assert fields["NMC / cost"].startswith("NMC costs")


def test_inputs_that_name_no_item_are_taken_by_their_place() -> None:
    where = note("x.md", "It costs €300.\nIt costs €335.\n")
    first, second = (quoted("n1", where, s, question="cost") for s in ("It costs €300.", "It costs €335."))
    fields = compare(order("compare", {"n10": output([second]), "n9": output([first])}, PARAMS)).output.fields

    assert fields["LFP / cost"].startswith("It costs €300.")
    assert fields["NMC / cost"].startswith("It costs €335.")


def test_an_item_named_by_the_question_of_a_claim_wins() -> None:
    both = [replace(LFP_COST, claim=replace(LFP_COST.claim, question="LFP / cost")),
            replace(NMC_COST, claim=replace(NMC_COST.claim, question="What is the cost of NMC?"))]  # fmt: skip
    fields = compare(order("compare", {"n1": output(both)}, PARAMS)).output.fields

    assert set(fields) == {"LFP / cost", "NMC / cost"}


def test_sources_that_disagree_stand_in_the_cell_and_below_the_table() -> None:
    dear = told("n2", "NMC costs €350 per kWh.", "cost", OTHER)
    result = compare(order("compare", {"n1": output([LFP_COST]), "n2": output([NMC_COST, dear])}, PARAMS))

    assert "### NMC / cost\n\nThe notes disagree:\n- NMC costs €3" in result.output.text
    assert [set(c.claims) for c in result.output.conflicts] == [{NMC_COST.claim.id, dear.claim.id}]


def test_a_claim_on_another_aspect_is_told_below_and_a_bar_does_not_break_the_row() -> None:
    stray = quoted("n1", NOTE, "A | B is a bar.", question="colour")
    cell = quoted("n2", NOTE, "A | B is a bar.", question="lifetime")
    result = compare(
        order("compare", {"n1": output([LFP_COST, stray]), "n2": output([NMC_COST, cell])}, PARAMS)
    )

    assert f"## colour\n\n- A | B is a bar. {anchor(stray.claim.id)}" in result.output.text
    assert "| A \\| B is a bar. [" in result.output.text
    assert uncited(result.output) == []


def test_a_cell_holds_the_sentence_that_speaks_most_of_it_and_the_rest_is_left_to_the_input() -> None:
    where = note(
        "o.md", "Delivery.\nNMC and LFP are sold.\n| LFP | €300 | 15 years |\nThe cost of LFP is €300.\n"
    )
    parts = [quoted("n1", where, line, question="cost") for line in where.text.splitlines()]
    result = compare(order("compare", {"n1": output(parts), "n2": output([NMC_COST])}, PARAMS))

    assert [claim.statement for claim in result.output.claims] == [
        "The cost of LFP is €300.",
        NMC_COST.claim.statement,
    ]


def test_a_cell_with_nothing_but_a_leading_sentence_keeps_it_and_its_confirmation() -> None:
    again = told("n1", "NMC costs €335 per kWh.", "cost")
    copy = note("b.md", "NMC costs €335 per kWh.")
    confirmed = quoted("n2", copy, "NMC costs €335 per kWh.", question="cost")
    result = compare(order("compare", {"n2": output([NMC_COST, confirmed])}, PARAMS))

    cell = result.output.fields["NMC / cost"]
    assert anchor(NMC_COST.claim.id) in cell
    assert anchor(confirmed.claim.id) in cell
    assert again.claim.statement in cell


def test_a_sentence_about_another_item_fills_no_cell() -> None:
    wrong = told("n1", "NMC lasts 10 years.", "lifetime")
    result = compare(order("compare", {"n1": output([LFP_COST, wrong]), "n2": output([NMC_COST])}, PARAMS))

    assert "LFP / lifetime" not in result.output.fields
    assert [q.question for q in result.output.open_questions] == ["LFP / lifetime", "NMC / lifetime"]


def test_the_title_of_a_note_tells_which_item_a_sentence_is_about() -> None:
    where = note("LFP.md", "It lasts long, its lifetime is 15 years.\nLFP is sold in Arby.\n")
    parts = [quoted("n1", where, line, question="lifetime") for line in where.text.splitlines()]
    result = compare(order("compare", {"n1": output(parts), "n2": output([NMC_COST])}, PARAMS))

    assert result.output.fields["LFP / lifetime"].startswith("It lasts long")


def test_one_sentence_in_the_rows_of_two_items_fills_only_the_one_that_it_names() -> None:
    where = note("o.md", "Boxes cost €300.\nThe cost of LFP is €300.\n")
    vague = [quoted(node, where, "Boxes cost €300.", question="cost") for node in ("n1", "n2")]
    named = [quoted(node, where, "The cost of LFP is €300.", question="cost") for node in ("n1", "n2")]
    nothing = compare(
        order("compare", {n: output([c]) for n, c in zip(("n1", "n2"), vague, strict=True)}, PARAMS)
    ).output
    something = compare(
        order("compare", {n: output([c]) for n, c in zip(("n1", "n2"), named, strict=True)}, PARAMS)
    ).output

    assert nothing.fields == {}
    assert {question.question for question in nothing.open_questions} == {
        "LFP / cost",
        "LFP / lifetime",
        "NMC / cost",
        "NMC / lifetime",
    }
    assert set(something.fields) == {"LFP / cost"}


def test_one_sentence_in_all_cells_of_one_item_does_not_fill_them_unless_it_names_the_item() -> None:
    where = note("o.md", "价格为300元，寿命为10年。\n甲法价格为300元，寿命为10年。\n")
    params = {"items": ["甲法", "乙法"], "aspects": ["价格", "寿命"]}
    vague, named = (
        {
            node: output([quoted(node, where, line, question=f"甲法的{aspect}")])
            for node, aspect in (("n1", "价格"), ("n2", "寿命"))
        }
        for line in where.text.splitlines()
    )

    assert compare(order("compare", vague, params, lang="zh")).output.fields == {}
    assert set(compare(order("compare", named, params, lang="zh")).output.fields) == {
        "甲法 / 价格",
        "甲法 / 寿命",
    }


def test_a_quote_fills_one_column_of_a_row_unless_it_names_the_others() -> None:
    where = note("x.md", "NMC has a lifetime and a cost.\nNMC is made in the south.\n")
    params = {"items": ["LFP", "NMC"], "aspects": ["cost", "lifetime", "purpose"]}

    def filled(sentence: str) -> set[str]:
        parts = [
            replace(part, claim=replace(part.claim, id=ClaimId(f"c-{n:012d}")))
            for n, aspect in enumerate(params["aspects"])
            for part in [quoted("n2", where, sentence, question=aspect)]
        ]
        return set(
            compare(order("compare", {"n1": output([LFP_COST]), "n2": output(parts)}, params)).output.fields
        )

    assert filled("NMC has a lifetime and a cost.") == {"LFP / cost", "NMC / cost", "NMC / lifetime"}
    assert filled("NMC is made in the south.") == {"LFP / cost", "NMC / cost"}
