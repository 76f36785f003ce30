"""What the program's own tools say is there in both languages, and what anybody else says stays as it was said."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import agents.tools
from agents.tools.builtin.calculator import CALCULATE
from agents.tools.builtin.drafts import OVERWRITE_DRAFT, UNDO_DRAFT, WRITE_DRAFT
from agents.tools.builtin.fetch import FETCH_URL
from agents.tools.builtin.files import LIST_FILES, READ_FILE, SEARCH_FILES
from agents.tools.builtin.notes import READ_NOTE, SEARCH_NOTES
from agents.tools.builtin.tables import QUERY_TABLE
from agents.tools.contract import ToolError, ToolOk, ToolSpec
from agents.tools.previews import READ_RESULT
from agents.tools.texts.calls import OFFERS, PROBLEMS
from agents.tools.texts.contract import NUMBER, QUOTED, WORD, Texts
from agents.tools.told import (
    TABLES_OF_TEXTS,
    offer_of,
    told,
    told_problems,
    told_result,
    told_spec,
    told_summary,
)
from tests.agents.tools.chinese import english

SPECS = (
    CALCULATE,
    FETCH_URL,
    LIST_FILES,
    OVERWRITE_DRAFT,
    QUERY_TABLE,
    READ_FILE,
    READ_NOTE,
    READ_RESULT,
    SEARCH_FILES,
    SEARCH_NOTES,
    UNDO_DRAFT,
    WRITE_DRAFT,
)
NAME = re.compile(r"\{(\w+)\}")


def sample(name: str) -> str:
    """A value that a text may hold under a name."""
    if name in QUOTED:
        return "'甲'"
    return "7" if name in NUMBER else "甲" if name in WORD else "甲 乙"


def filled(words: str) -> str:
    return NAME.sub(lambda found: sample(found[1]), words)


ALL = [
    pytest.param(table, code, id=f"{number}.{code}")
    for number, table in enumerate((*TABLES_OF_TEXTS, PROBLEMS))
    for code in table
]


@pytest.mark.parametrize(("table", "code"), ALL)
def test_every_text_is_there_in_both_languages_with_the_same_names(table: Texts, code: str) -> None:
    words = table[code]
    assert set(words) == {"en", "zh"}
    assert set(NAME.findall(words["en"])) == set(NAME.findall(words["zh"]))
    assert "}{" not in words["en"]
    assert not english(filled(words["zh"])), words["zh"]


@pytest.mark.parametrize(("table", "code"), ALL)
def test_every_text_is_recognised_as_it_is_recorded(table: Texts, code: str) -> None:
    said, wanted = filled(table[code]["en"]), filled(table[code]["zh"])
    if table is PROBLEMS:
        assert told_problems(said, "zh") == wanted
    else:
        assert told(said, "zh") == wanted
    assert told(said, "en") == said


@pytest.mark.parametrize(
    "said",
    [
        "Error: no such customer",
        "The letter was written",
        "The server answered",
        "The sky is blue; accepted: whatever",
        "Nothing is at home. List its folder and give a name as it stands there",
        "get_user gave no result",
        "bob says hello",
        "",
        "{tool} is forbidden by the contract ({entry}); go on without it",
    ],
)
def test_what_others_say_stays_as_it_was_said(said: str) -> None:
    assert told(said, "zh") == said


def test_a_text_within_a_text_is_told_too() -> None:
    said = "nothing is at '甲'. List its folder and give a name as it stands there."
    hint = f"{said} (the same call was made before, with this result; try another one)"
    assert told(hint, "zh") == (
        "'甲' 处没有任何内容。请列出其文件夹，并按那里的写法给出名称。（此前已做过相同的调用，结果即此；请换一种）"
    )
    assert told("'x': arguments.a is 0; accepted: at least 1; arguments.b: 'c' is missing", "zh") == (
        "'x'：`arguments.a` 为 0；可接受：至少 1；`arguments.b`：缺少 'c'"
    )
    assert told_problems("someone; arguments.a is 0", "zh") == "someone；`arguments.a` 为 0"


def test_a_long_text_of_somebody_else_is_told_apart_in_no_time() -> None:
    # Regular expressions of this kind would try every way to split it.
    said = "'" + " is at the host '" * 20_000
    assert told(said, "zh") == said


def test_results_and_summaries_keep_their_data() -> None:
    made = ToolOk(summary="3 rows of 't'", data={"rows": ["made before"]}, source="t")
    assert told_result(made, "zh") == ToolOk(summary="'t' 的 3 行", data=made.data, source="t")
    failed = ToolError(error_type="NOT_FOUND", message="it divides by zero", retryable=False)
    assert told_result(failed, "zh").ok is False
    assert told_summary("NOT_FOUND: it divides by zero", "zh", ok=False) == "NOT_FOUND：除数为零"
    assert told_summary("NOT_FOUND: it divides by zero", "en", ok=False) == "NOT_FOUND: it divides by zero"
    assert told_summary("a person says that it happened", "zh", ok=True) == "有人确认它已经发生"


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_built_in_tool_is_offered_in_chinese(spec: ToolSpec) -> None:
    offer = offer_of(spec, "zh")
    assert not english(offer.description), offer.description
    for name, described in offer.input_schema["properties"].items():
        said = described.get("description", "")
        assert not english(said), (name, said)
    assert not english(told_spec(spec, "zh").scope)
    assert (OFFERS["changes"]["zh"] in offer.description) is (spec.side_effect != "read")
    # Nothing but words changes: what is accepted is the same.
    assert offer.input_schema.keys() == spec.input_schema.keys()
    assert offer_of(spec, "en").input_schema == spec.input_schema


MODULES = (
    "names.py",
    "paths.py",
    "previews.py",
    "drafts_folder.py",
    "callables.py",
    "langchain.py",
    "mcp_answers.py",
    "mcp_standing.py",
    "mcp.py",
    "mcp_connection.py",
    "builtin/arithmetic.py",
    "builtin/calculator.py",
    "builtin/drafts.py",
    "builtin/fetch.py",
    "builtin/files.py",
    "builtin/notes.py",
    "builtin/tables.py",
)
SAYING = {
    "ToolError",
    "ToolOk",
    "Refused",
    "_Refused",
    "error_of",
    "_error",
    "_failed",
    "_invalid",
    "NotCalculable",
    "InvalidArgument",
    "_lost",
    "_not_sent",
    "Unreachable",
}
"""What takes a text as an argument that models and people are shown."""


def sentences() -> Iterator[tuple[str, str]]:
    """Every text in the code of the tools that is given to a result, with its place."""
    folder = Path(agents.tools.__file__).parent
    for module in MODULES:
        for node in ast.walk(ast.parse((folder / module).read_text(encoding="utf-8"))):
            found: list[ast.expr] = []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if name in SAYING:
                    found = [*node.args, *(each.value for each in node.keywords if each.arg != "source")]
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found = [node.value] if node.targets[0].id == "message" else []
            for each in found:
                if isinstance(each, ast.JoinedStr | ast.Constant):
                    yield f"{module}:{each.lineno}", _skeleton(each)


def _skeleton(node: ast.JoinedStr | ast.Constant) -> str:
    """The text with `{}` for each value."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def recognised(skeleton: str) -> bool:
    holes = skeleton.count("{}")
    for values in product(("7", "'甲'", "甲"), repeat=min(holes, 5)):
        said = skeleton
        for value in values:
            said = said.replace("{}", value, 1)
        if not english(told(said, "zh")):
            return True
    return False


@pytest.mark.parametrize(
    ("place", "said"), [pytest.param(*one, id=one[0]) for one in sentences() if " " in one[1]]
)
def test_whatever_a_tool_of_ours_says_is_in_the_tables(place: str, said: str) -> None:
    assert recognised(said), f"{place}: {said}"


def test_the_texts_of_the_tools_are_found() -> None:
    assert len([said for _, said in sentences() if " " in said]) > 60
