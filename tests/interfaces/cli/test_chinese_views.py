"""What a Chinese reader sees of a run holds no English words but names that are typed or quoted."""

from __future__ import annotations

import re

import pytest

from agents.operations import OPERATIONS as KNOWN
from orchestrator.shell.editing.wording import KINDS, OPERATIONS
from tests.interfaces.cli.harness import call
from tests.interfaces.cli.logs import reviewing_log
from tests.interfaces.cli.shops import real_shop, write_notes

GOAL = "泵房的造价是多少？"
VIEWS = (
    ("review", "RUN"),
    ("masks", "show", "RUN"),
    ("show", "RUN"),
    ("evidence", "RUN"),
    ("leaks", "RUN"),
    ("compare", "RUN", "RUN"),
    ("runs",),
    ("domains",),
)
NAMES = (
    r"maskgrad [^\n，；。）]*",  # what is typed
    r"“[^”]*”",  # what is quoted
    r"r-[0-9a-z]{6}(@\d+-[0-9a-f]{8})?",
    r"[0-9a-f]{8}\b",
    r"\S*/\S*",  # paths
    r"[\w-]+\.(md|txt|png)",
    r"\b[a-z]+\.[a-z_]+( -> [a-z_]+)?\b",  # domains
    r"^ *[a-z]{2,4} {2,}",  # groups of domains
    r"\bn\d+\.[a-z_]+ -> [a-z_]+",  # ports
    r"可调用：.*",  # tools
    r"^ *\[[a-z0-9]+\]|负责验收：.*",  # criteria
    r"\b([AVLncq]\d+|agent|UTC|AI|DNA|IT|GIS)\b",
)
"""What may be in another language: what a person types, names and quotes."""


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every view of one run, in Chinese."""
    home = tmp_path_factory.mktemp("views")
    notes = write_notes(home / "notes")
    shop = real_shop(home)
    done = call("run", GOAL, "--sources", str(notes), "--approve", "--json", home=home, shop=shop)
    draft = call("plan", GOAL, "--sources", str(notes), "--json", home=home, shop=shop).data["run"]
    found: dict[str, str] = {}
    for argv in VIEWS:
        words = [done.data["run"] if word == "RUN" else word for word in argv]
        called = call(*words, "--lang", "zh", home=home, shop=shop)
        assert called.code == 0, called.err
        found[" ".join(argv)] = called.out + called.err
    changed = ("masks", "set", draft, "A1", "econ.finance", "0.50", "--lang", "zh")
    found["masks set"] = call(*changed, home=home, shop=shop).out
    shop.store.close()
    return found


@pytest.mark.parametrize("view", [*(" ".join(argv) for argv in VIEWS), "masks set"])
def test_a_view_holds_no_english_words(views: dict[str, str], view: str) -> None:
    assert re.search("[\u4e00-\u9fff]", views[view])
    left = []
    for line in views[view].splitlines():
        rest = line
        for name in NAMES:
            rest = re.sub(name, " ", rest)
        left += [(word, line) for word in re.findall(r"[A-Za-z_]{2,}", rest)]
    assert not left, "\n".join(f"{word}: {line}" for word, line in left)


def test_every_operation_and_kind_has_a_chinese_word() -> None:
    assert {name for name in KNOWN} <= OPERATIONS.keys()
    assert {operation.kind for operation in KNOWN.values()} <= KINDS.keys()
    assert reviewing_log("zh")
