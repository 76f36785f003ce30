"""Sections of Markdown: headings, blocks, and ranges that tile the document."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.retrieval.reading import document_from_text
from agents.retrieval.sections import SECTION_CHARS, blocks_of, sections_of

NOTE = """---
title: Plant
---

Intro line.

# Plant

## Data {#data}

| a | b |
| --- | --- |
| 1 | 2 |

- first
  goes on
- second

```bash
# no heading
run
```

Under
-----

> quoted
>
> again

# Other
tail
"""


def test_headings_build_trails_and_anchors_are_left_out() -> None:
    sections = sections_of(document_from_text("n.md", NOTE))
    assert [section.trail for section in sections] == [
        (),
        (),
        ("Plant",),
        ("Plant", "Data"),
        ("Plant", "Under"),
        ("Other",),
    ]
    assert sections[3].heading == "Plant > Data"


def test_blocks_have_their_kinds() -> None:
    blocks = blocks_of(document_from_text("n.md", NOTE))
    assert [block.kind for block in blocks] == [
        "front_matter",
        "paragraph",
        "heading",
        "heading",
        "table",
        "list",
        "list",
        "code",
        "heading",
        "paragraph",
        "paragraph",
        "heading",
        "paragraph",
    ]
    first_item = next(block for block in blocks if block.kind == "list")
    assert NOTE[first_item.start_char : first_item.end_char] == "- first\n  goes on"


def test_lines_of_sections_are_those_of_the_text() -> None:
    for section in sections_of(document_from_text("n.md", NOTE)):
        lines = NOTE.split("\n")[section.start_line - 1 : section.end_line]
        assert "\n".join(lines) == NOTE[section.start_char : section.end_char]


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    blocks = blocks_of(document_from_text("n.md", "# A\n\n```\ncode\n# not a heading\n"))
    assert [block.kind for block in blocks] == ["heading", "code"]


def test_long_sections_are_cut_at_block_borders() -> None:
    paragraph = "word " * 60
    text = "# Long\n\n" + "\n\n".join([paragraph] * 20)
    sections = sections_of(document_from_text("n.md", text))
    assert len(sections) > 4
    assert all(section.trail == ("Long",) for section in sections)
    assert all(section.end_char - section.start_char <= SECTION_CHARS + 10 for section in sections)


def test_chinese_numbered_headings_of_plain_text() -> None:
    sections = sections_of(
        document_from_text("n.txt", "总述。\n\n一、范围\n\n适用于全厂。\n\n二、要求\n\n持证上岗。\n")
    )
    assert [section.trail for section in sections] == [(), ("一、范围",), ("二、要求",)]


@given(
    st.lists(
        st.sampled_from(["# h", "text", "", "- i", "| a |", "```", "<p>x</p>", "> q", "---", "===", "\r"]),
        max_size=20,
    )
)
def test_blocks_hold_every_visible_character_once(lines: list[str]) -> None:
    text = "\n".join(lines)
    blocks = blocks_of(document_from_text("n.md", text))
    covered: list[int] = []
    for block in blocks:
        covered.extend(range(block.start_char, block.end_char))
    assert covered == sorted(set(covered))
    outside = [text[i] for i in range(len(text)) if i not in set(covered)]
    assert not [char for char in outside if not char.isspace() and char != ">"]
