"""What a comparison leaves unsaid is taken from the notes, as far as they say it."""

from agents.planning.compared import with_notes
from agents.planning.domains import NoteOutline, TableOutline
from agents.planning.patterns.compare import ASSUMED_ASPECTS
from agents.planning.reading import read_goal
from agents.planning.readings import CompareTask, ExtractTask, Task, UnclearTask

KILNS = NoteOutline(
    title="Offers",
    tables=(
        TableOutline(
            about="Offers for the kiln Builder", rows=("Arne", "Bo", "Cora"), columns=("Rent €", "Weight kg")
        ),
    ),
)
MILLS = NoteOutline(
    title="Mills",
    trails=(
        ("Tide mill",),
        ("Tide mill", "1. Yield"),
        ("Tide mill", "2. Upkeep"),
        ("Wind mill",),
        ("Wind mill", "1. Upkeep"),
        ("Wind mill", "2. Yield"),
        ("Wind mill", "3. Noise"),
    ),
)


def read(text: str, *outlines: NoteOutline) -> Task:
    (task,) = with_notes(read_goal(text), outlines).tasks
    return task


def test_rows_of_a_table_are_compared_by_its_columns() -> None:
    task = read("Compare the Arne kiln and Bo", MILLS, KILNS)
    assert task == CompareTask(
        items=("Arne kiln", "Bo"), aspects=("Rent €", "Weight kg"), assumed_aspects=True
    )


def test_things_with_headings_in_common_are_compared_by_them() -> None:
    task = read("Compare the tide mill and the wind mill", KILNS, MILLS)
    assert isinstance(task, CompareTask)
    assert task.aspects == ("Yield", "Upkeep")


def test_other_things_keep_the_assumed_criteria_and_named_ones_stay() -> None:
    task = read("Compare the Arne and the Dora", KILNS, MILLS)
    assert isinstance(task, CompareTask)
    assert task.aspects == ASSUMED_ASPECTS["en"]
    task = read("Compare Arne and Bo on colour", KILNS)
    assert isinstance(task, CompareTask)
    assert (task.aspects, task.assumed_aspects) == (("colour",), False)


def test_a_kind_of_thing_is_the_rows_of_the_table_that_has_so_many() -> None:
    task = read("Compare the three kilns by rent and colour", MILLS, KILNS)
    assert task == CompareTask(items=("Arne", "Bo", "Cora"), aspects=("rent", "colour"))
    task = read("Compare the two kilns by rent and colour", MILLS, KILNS)
    assert task == ExtractTask(columns=("rent", "colour"), each="all kilns")
    assert isinstance(read("Compare the two kilns", KILNS), UnclearTask)
    assert isinstance(read("Compare the three boats"), UnclearTask)
