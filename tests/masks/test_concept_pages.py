import doctest
import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "concepts"
ENGLISH, CHINESE = PAGES / "masks.md", PAGES / "masks.zh-CN.md"


@pytest.mark.parametrize("page", [ENGLISH, CHINESE], ids=lambda page: page.name)
def test_the_example_of_the_page_runs(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.attempted >= 10
    assert result.failed == 0


def test_both_pages_tell_one_story() -> None:
    texts = [page.read_text(encoding="utf-8") for page in (ENGLISH, CHINESE)]
    outlines = [
        (len(re.findall(r"^## ", text, re.M)), len(re.findall(r"^\| ", text, re.M)), text.count(">>> "))
        for text in texts
    ]
    assert outlines[0] == outlines[1]
    examples = [re.findall(r"```python\n(.*?)```", text, re.S) for text in texts]
    assert examples[0] == examples[1]


def test_each_page_leads_to_the_other_language_before_its_text() -> None:
    for page, link in ((ENGLISH, f"[简体中文]({CHINESE.name})"), (CHINESE, f"[English]({ENGLISH.name})")):
        assert page.read_text(encoding="utf-8").splitlines()[2] == link
