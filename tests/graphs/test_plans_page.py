"""The example of docs/concepts/plans.md runs and prints what the page says."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from graphs.contract import Criterion, PortSpec, TaskContract
from graphs.lint import lint, render_finding
from graphs.plan import Plan

CONCEPTS = Path(__file__).parents[2] / "docs" / "concepts"


def test_the_example_prints_what_the_page_says() -> None:
    page = (CONCEPTS / "plans.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (expected,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "plans.md", "exec"), {})
    assert printed.getvalue() == expected


def test_the_chinese_page_quotes_the_real_words() -> None:
    page = (CONCEPTS / "plans.zh-CN.md").read_text(encoding="utf-8")
    contract = TaskContract(
        kind="x",
        outputs=(PortSpec(name="claims", type="claims"),),
        acceptance=(Criterion(id="c", text="", kind="custom"),),
    )
    (found,) = lint(Plan(), contract)
    assert f"\n{render_finding(found, 'zh')}\n" in page


def test_both_pages_have_the_same_parts() -> None:
    shapes = [
        [re.match(r"#+|\||- |```\w*", line) for line in (CONCEPTS / name).read_text("utf-8").splitlines()]
        for name in ("plans.md", "plans.zh-CN.md")
    ]
    headings = [[m.group(0) for m in shape if m and m.group(0).startswith(("#", "|"))] for shape in shapes]
    assert headings[0] == headings[1]
