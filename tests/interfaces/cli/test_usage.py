"""A command line that can't be read is refused in the reader's language, in words of that language only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.interfaces.cli.harness import call


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("show", "r-1", "n1"), "多余的参数：n1"),
        (("show", "r-1", "n1", "n2"), "多余的参数：n1 n2"),
        (("bogus",), "没有命令 'bogus'"),
        (("shwo",), "没有命令 'shwo'；相近的有：'show'"),
        (("masks",), "缺少命令"),
        (("runs", "--limit"), "选项 '--limit' 缺少取值"),
        (("show",), "缺少参数 'RUN'"),
        (("runs", "--bogus"), "没有选项 '--bogus'"),
    ],
)
def test_a_chinese_reader_is_told_in_chinese(tmp_path: Path, argv: tuple[str, ...], said: str) -> None:
    called = call(*argv, "--lang", "zh", home=tmp_path)
    assert called.code == 2
    assert f"错误：{said}\n" in called.err
    english = call(*argv, "--lang", "en", home=tmp_path)
    assert english.code == 2
    assert not re.search("[\u4e00-\u9fff]", english.err)
