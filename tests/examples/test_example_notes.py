"""Check on the example notes themselves what `examples/README.md` and `examples/goals.json` promise.

The quantities, similarities and sums are computed here from the text, with nothing of the product imported.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from typing import Literal

import pytest
from pydantic import TypeAdapter

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

Lang = Literal["en", "zh"]

SHINGLE = 20
"""Characters a shared piece of text must have, spaces and punctuation left out, to look copied."""

COPIED_SHARE = 0.10
"""Share of the shorter file's shingles above which one note holds a passage of the other."""

UNRELATED_SHARE = 0.05
"""Share that two independent notes of the same project stay below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    asks: str
    file: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    quantity: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    original: str
    copy: str
    begins: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    file: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Misplaced:
    file: str
    subject: str
    domain: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleGoal:
    id: str
    lang: Lang
    kind: Literal["questions", "compare"]
    goal: str
    sources: str
    allow_unresolved: bool
    questions: tuple[str, ...]
    unanswerable: tuple[str, ...]
    absent_terms: tuple[str, ...]
    expected: tuple[Expected, ...]
    disagreement: Disagreement | None
    copy: Copy | None
    planted: Planted | None
    misplaced: Misplaced | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What one folder must contain, stated by hand and not read from `goals.json`."""

    id: Lang
    quantity: str
    """Pattern of the disputed quantity; its group is the value."""
    values: frozenset[str]
    open_question: str
    shortest: int
    """Least length of a note: words in English, Chinese characters in Chinese."""
    longest: int
    unit: str
    fields: tuple[str, ...]
    """One word per field of knowledge that the notes are to cover."""
    injection: tuple[str, ...]


CASES = (
    Case(
        id="en",
        quantity=r"battery system costs €([\d.]+) million without tax",
        values=frozenset({"9.6", "10.3"}),
        open_question="insurance premium",
        shortest=300,
        longest=900,
        unit=r"\S+",
        fields=("short-circuit current", "annuity", "negotiated procedure", "lung oedema", "skylarks"),
        injection=("ignore previous instructions", "mask", "approve the plan"),
    ),
    Case(
        id="zh",
        quantity=r"新线的通水日期为(\d{4}年\d{1,2}月\d{1,2}日)",
        values=frozenset({"2027年6月30日", "2027年9月30日"}),
        open_question="光伏",
        shortest=500,
        longest=1500,
        unit=r"[\u4e00-\u9fff]",
        fields=("缺氧区", "偿债备付率", "特许经营协议", "肺水肿", "受纳水体"),
        injection=("忽略之前的所有指令", "蒙版", "批准计划"),
    ),
)

by_language = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)

GOALS = TypeAdapter(tuple[ExampleGoal, ...]).validate_json((EXAMPLES / "goals.json").read_bytes())


def notes_of(lang: Lang) -> dict[str, str]:
    folder = EXAMPLES / f"notes-{lang}"
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def goal_of(lang: Lang, kind: str) -> ExampleGoal:
    (goal,) = (goal for goal in GOALS if goal.lang == lang and goal.kind == kind)
    return goal


def shingles(text: str) -> frozenset[str]:
    """Give all pieces of `SHINGLE` letters and digits, case and everything else ignored."""
    letters = re.sub(r"[\W_]+", "", text.casefold())
    return frozenset(letters[i : i + SHINGLE] for i in range(len(letters) - SHINGLE + 1))


def shared_part(one: str, other: str) -> float:
    """Give the share in [0, 1] of the shorter text's shingles that the other contains."""
    a, b = shingles(one), shingles(other)
    return len(a & b) / min(len(a), len(b))


def paragraph(text: str, begins: str) -> str:
    (found,) = (line for line in text.splitlines() if line.startswith(begins))
    return found


def title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    assert found is not None
    return found.group(1)


def totals(text: str) -> list[tuple[float, float]]:
    """Give (stated total, sum of the rows above it) for each column of numbers in tables with a total."""
    pairs: list[tuple[float, float]] = []
    rows: list[list[str]] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            rows = []
            continue
        cells = [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        if cells[0] in {"total", "合计"}:
            for column in range(1, len(cells)):
                above = [number(row[column]) for row in rows]
                stated = number(cells[column])
                if stated is not None:
                    pairs.append((stated, sum(value for value in above if value is not None)))
        rows.append(cells)
    return pairs


def number(cell: str) -> float | None:
    plain = cell.replace(",", "").removesuffix("%")
    return float(plain) if re.fullmatch(r"\d+(\.\d+)?", plain) else None


@by_language
def test_there_are_about_fifteen_notes_of_readable_length(case: Case) -> None:
    notes = notes_of(case.id)
    assert 14 <= len(notes) <= 17
    suffixes = [Path(name).suffix for name in notes]
    assert set(suffixes) == {".md", ".txt"}
    assert 1 <= suffixes.count(".txt") <= 2
    for name, text in notes.items():
        length = len(re.findall(case.unit, text))
        assert case.shortest <= length <= case.longest, (name, length)


@by_language
def test_markdown_notes_have_a_title_and_sections_and_some_front_matter(case: Case) -> None:
    markdown = {name: text for name, text in notes_of(case.id).items() if name.endswith(".md")}
    for name, text in markdown.items():
        assert len(re.findall(r"^# ", text, flags=re.MULTILINE)) == 1, name
        assert len(re.findall(r"^## ", text, flags=re.MULTILINE)) >= 3, name
    assert len({title(text) for text in markdown.values()}) == len(markdown)
    assert 1 <= sum(text.startswith("---\n") for text in markdown.values()) <= 2
    assert sum("\n| --- |" in text for text in markdown.values()) >= 10
    assert sum(bool(re.search(r"^(?:1\.|-) ", text, flags=re.MULTILINE)) for text in markdown.values()) >= 10


@by_language
def test_several_fields_of_knowledge_occur(case: Case) -> None:
    notes = notes_of(case.id)
    homes = [{name for name, text in notes.items() if field in text} for field in case.fields]
    assert all(homes)
    assert len(set().union(*homes)) >= len(case.fields)


def test_english_notes_have_no_chinese_and_chinese_file_names_are_not_ascii() -> None:
    english = notes_of("en")
    assert all(name.isascii() for name in english)
    assert not any(re.search(r"[\u3400-\u9fff]", text) for text in english.values())
    assert not any(name.isascii() for name in notes_of("zh"))
    assert any("（" in name for name in notes_of("zh"))


@by_language
def test_exactly_two_files_state_the_disputed_quantity_and_differ(case: Case) -> None:
    found = {
        name: values
        for name, text in notes_of(case.id).items()
        if (values := re.findall(case.quantity, text))
    }
    assert len(found) == 2
    assert all(len(values) == 1 for values in found.values())
    assert {values[0] for values in found.values()} == case.values
    stated = goal_of(case.id, "questions").disagreement
    assert stated is not None
    assert stated.values.keys() == found.keys()
    assert all(values[0] in stated.values[name] for name, values in found.items())


def test_the_disputed_price_is_no_rounding() -> None:
    low, high = sorted(float(value) for value in CASES[0].values)
    # Semantics 4: up to 5 % a quantity only deviates; the example must lie beyond that.
    assert (high - low) / high > 0.05


@by_language
def test_the_copied_passage_is_near_verbatim_under_another_title(case: Case) -> None:
    notes, copied = notes_of(case.id), goal_of(case.id, "questions").copy
    assert copied is not None
    original = paragraph(notes[copied.original], copied.begins)
    again = paragraph(notes[copied.copy], copied.begins)
    assert original != again
    assert SequenceMatcher(None, original, again, autojunk=False).ratio() > 0.97
    assert title(notes[copied.original]) != title(notes[copied.copy])


@by_language
def test_no_other_two_notes_share_text(case: Case) -> None:
    notes, copied = notes_of(case.id), goal_of(case.id, "questions").copy
    assert copied is not None
    for one, other in combinations(notes, 2):
        share = shared_part(notes[one], notes[other])
        if {one, other} == {copied.original, copied.copy}:
            # The passage is one paragraph; the rest of both files is their own.
            assert COPIED_SHARE < share < 0.60, share
        else:
            assert share < UNRELATED_SHARE, (one, other, share)


@by_language
def test_the_planted_instruction_stands_in_one_file_only(case: Case) -> None:
    notes, planted = notes_of(case.id), goal_of(case.id, "questions").planted
    assert planted is not None
    assert [name for name, text in notes.items() if planted.text in text] == [planted.file]
    assert all(part in planted.text for part in case.injection)
    assert [name for name, text in notes.items() if case.injection[0] in text] == [planted.file]
    # It is hidden inside a real letter: text of the letter goes on after it.
    assert len(notes[planted.file].split(planted.text)[1]) > 200


@by_language
def test_the_open_question_has_no_answer_in_the_notes(case: Case) -> None:
    goal = goal_of(case.id, "questions")
    assert len(goal.unanswerable) == 1
    assert case.open_question in goal.unanswerable[0]
    assert sum(term in goal.unanswerable[0] for term in goal.absent_terms) >= 2
    for name, text in notes_of(case.id).items():
        assert not [term for term in goal.absent_terms if term in text.casefold()], name


@by_language
def test_the_misplaced_fact_stands_in_one_file_only(case: Case) -> None:
    notes, misplaced = notes_of(case.id), goal_of(case.id, "questions").misplaced
    assert misplaced is not None
    date = re.match(r"\d{4}年\d{1,2}月\d{1,2}日|\d{1,2} \w+ \d{4}", misplaced.text)
    assert date is not None
    assert [name for name, text in notes.items() if misplaced.text in text] == [misplaced.file]
    assert [name for name, text in notes.items() if date.group() in text] == [misplaced.file]


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.id)
def test_each_expected_answer_is_in_its_file_word_for_word(goal: ExampleGoal) -> None:
    notes = notes_of(goal.lang)
    assert goal.sources == f"examples/notes-{goal.lang}"
    assert (ROOT / goal.sources).is_dir()
    assert goal.allow_unresolved
    for expected in goal.expected:
        assert notes[expected.file].count(expected.quote) == 1, expected


@by_language
def test_the_question_goal_asks_each_question_and_all_but_one_have_an_answer(case: Case) -> None:
    goal = goal_of(case.id, "questions")
    assert len(goal.questions) == 5
    numbers = re.findall(r"[(（](\d)[)）]", goal.goal)
    assert numbers == ["1", "2", "3", "4", "5"]
    assert [part.strip() for part in re.split(r"[(（]\d[)）]", goal.goal)[1:]] == list(goal.questions)
    assert {expected.asks for expected in goal.expected} == set(goal.questions) - set(goal.unanswerable)
    disagreement = goal.disagreement
    assert disagreement is not None
    sides = [expected for expected in goal.expected if expected.file in disagreement.values]
    assert len(sides) == 2
    assert len({side.asks for side in sides}) == 1


@by_language
def test_the_compare_goal_has_three_things_times_three_aspects(case: Case) -> None:
    goal = goal_of(case.id, "compare")
    cells = [re.split(r"[:：]\s*", expected.asks) for expected in goal.expected]
    things, aspects = {cell[0] for cell in cells}, {cell[1] for cell in cells}
    assert (len(things), len(aspects), len(cells)) == (3, 3, 9)
    assert all(word in goal.goal for word in things | aspects)


@by_language
def test_every_total_in_a_table_is_the_sum_of_its_rows(case: Case) -> None:
    pairs = [pair for text in notes_of(case.id).values() for pair in totals(text)]
    assert len(pairs) >= 3
    for stated, summed in pairs:
        assert stated == pytest.approx(summed, abs=1e-6)


def test_the_readme_counts_the_files_as_they_are() -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for lang in ("en", "zh"):
        names = [path.suffix for path in (EXAMPLES / f"notes-{lang}").iterdir()]
        rows = [line for line in readme.splitlines() if line.startswith(f"| `notes-{lang}/`")]
        assert len(rows) == 2
        for row in rows:
            assert re.findall(r"\d+", row) == [
                str(n) for n in (len(names), names.count(".md"), names.count(".txt"))
            ]
