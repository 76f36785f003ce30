"""Reading a folder: exact text, stable order, and every file that is not read named with its reason."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.retrieval.reading import (
    MAX_NOTE_BYTES,
    FolderNotFound,
    decode_note,
    document_from_text,
    line_starts,
    read_folder,
    title_of,
)

MOMENT = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)


def read(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    corpus = read_folder(folder, now=lambda: MOMENT)
    return {d.path: d.text for d in corpus.documents}, {s.path: s.reason for s in corpus.skipped}


def test_notes_come_in_path_order_with_their_digest_and_time(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name, text in {"b.md": "b\n", "a.TXT": "a\n", "sub/c.markdown": "c\n", "d.pdf": "no note"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".hidden.md").write_text("hidden", encoding="utf-8")
    corpus = read_folder(tmp_path, now=lambda: MOMENT)
    assert [document.path for document in corpus.documents] == ["a.TXT", "b.md", "sub/c.markdown"]
    source = corpus.documents[1].source
    assert source.digest == hashlib.sha256(b"b\n").hexdigest()
    assert source.retrieved_at == "2026-03-01T08:30:00+00:00"
    assert source.taint == "untrusted"
    assert corpus.digest == read_folder(tmp_path, now=lambda: datetime(2027, 1, 1, tzinfo=UTC)).digest


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("offer copy.md", "offer.md"),
        ("Copy of offer.md", "offer.md"),
        ("offer (1).md", "offer.md"),
        ("offer-copy-2.txt", "offer.txt"),
        ("backup offer.md", "offer.md"),
        ("合同 - 副本.md", "合同.md"),
        ("备份合同.md", "合同.md"),
    ],
)
def test_what_is_named_a_copy_comes_behind_what_it_copies(tmp_path: Path, copy: str, original: str) -> None:
    for name in (copy, original):
        (tmp_path / name).write_text("The mast is 31 m high.", encoding="utf-8")
    first, second = (document.path for document in read_folder(tmp_path).documents)
    assert (first, second) == (original, copy)


@pytest.mark.parametrize("name", ["copyright.md", "hardcopy prices.md", "2026 (31).md", "backups.md"])
def test_a_name_that_only_sounds_like_a_copy_keeps_its_place(tmp_path: Path, name: str) -> None:
    for each in (name, "z.md"):
        (tmp_path / each).write_text("The mast is 31 m high.", encoding="utf-8")
    assert [document.path for document in read_folder(tmp_path).documents] == [name, "z.md"]


def test_a_missing_folder_names_path_and_next_step(tmp_path: Path) -> None:
    with pytest.raises(FolderNotFound, match=r"nowhere.*does not exist; give an existing folder"):
        read_folder(tmp_path / "nowhere")
    (tmp_path / "file.md").write_text("x", encoding="utf-8")
    with pytest.raises(FolderNotFound, match="is not a folder"):
        read_folder(tmp_path / "file.md")


def test_what_is_not_read_is_listed_with_its_reason(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret", encoding="utf-8")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "binary.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 20)
    (folder / "empty.md").write_bytes(b" \n\t\n")
    (folder / "marked-empty.md").write_bytes(b"\xef\xbb\xbf\n")
    (folder / "large.txt").write_bytes(b"a" * (MAX_NOTE_BYTES + 1))
    (folder / "latin.txt").write_bytes("Öl für Müller, naïve façade".encode("latin-1"))
    (folder / "link.md").symlink_to(outside)
    (folder / "dead.md").symlink_to(folder / "gone.md")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / ".hidden.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "ok.md").write_text("fine", encoding="utf-8")
    texts, skipped = read(folder)
    assert list(texts) == ["ok.md"]
    assert skipped == {
        "binary.md": "binary",
        "dead.md": "unreadable",
        "empty.md": "empty",
        "folder": "outside_folder",
        "large.txt": "too_large",
        "latin.txt": "unknown_encoding",
        "link.md": "outside_folder",
        "marked-empty.md": "empty",
        "photo.png": "unsupported_type",
    }


def test_encodings_are_recognised_and_guesses_are_noted(tmp_path: Path) -> None:
    text = "运营数据：全年处理水量2687万立方米，负荷率92%。\r\n第二行。"
    (tmp_path / "a.txt").write_bytes(text.encode("gb18030"))
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbf" + text.encode("utf-8"))
    (tmp_path / "c.txt").write_bytes(text.encode("utf-16"))
    (tmp_path / "d.txt").write_bytes(text.encode("utf-16-le"))
    documents = read_folder(tmp_path, now=lambda: MOMENT).documents
    assert [document.text for document in documents] == [text] * 4
    assert [document.encoding for document in documents] == ["gb18030", "utf-8", "utf-16-le", "utf-16-le"]
    assert [bool(document.note) for document in documents] == [True, False, False, True]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_control_characters_are_replaced_where_they_stand(tmp_path: Path, encoding: str) -> None:
    """A note that was copied out of a terminal is still a note; offsets and lines stay those of the file."""
    text = "\x1b[31m阀门为蓝色，压力为三兆帕。\x1b[0m\n第二行\x07。"
    (tmp_path / "a.md").write_bytes(text.encode(encoding))
    (document,) = read_folder(tmp_path, now=lambda: MOMENT).documents
    assert document.text == text.replace("\x1b", "\ufffd").replace("\x07", "\ufffd")
    assert len(document.text) == len(text)
    assert document.line_of(text.index("第")) == 2
    assert document.note is not None
    assert document.note.endswith("3 control characters replaced")
    # What checks read again is what was read.
    again = decode_note((tmp_path / "a.md").read_bytes())
    assert again is not None
    assert again.text == document.text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"The valve is blue.\x00", "binary"),
        ("The valve is blue.\x00".encode("utf-16"), "binary"),
        (b"\x01\x02\x03\x04 abc def", "binary"),
        # Not decodable, and full of the bytes 0x80 to 0x9f, which are letters there.
        ("в море".encode("cp866") + b"\x8f\x95\xff", "unknown_encoding"),
    ],
)
def test_a_nul_or_mostly_control_bytes_make_a_file_binary(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "a.md").write_bytes(data)
    assert read(tmp_path) == ({}, {"a.md": reason})


def test_one_control_character_leaves_a_short_note_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Blue\x1b.", encoding="utf-8")
    assert read(tmp_path) == ({"a.md": "Blue\N{REPLACEMENT CHARACTER}."}, {})


def test_random_bytes_are_no_chinese_text() -> None:
    assert decode_note(bytes(range(128, 256)) * 4) is None


def test_lines_end_with_each_kind_of_line_end() -> None:
    text = "one\r\ntwo\nthree\rfour"
    assert line_starts(text) == (0, 5, 9, 15)
    document = document_from_text("x.md", text)
    assert [document.line_of(text.index(word)) for word in ("one", "two", "three", "four")] == [1, 2, 3, 4]
    assert document.line_of(3) == 1
    assert document.line_range(5, 15) == (2, 3)
    assert document.line_span_chars(2, 3) == (5, 15)
    assert document.line_span_chars(4, 4) == (15, 19)


@given(st.text(alphabet="ab\n\r 中", max_size=60))
def test_line_numbers_agree_with_counting(text: str) -> None:
    document = document_from_text("x.md", text)
    plain = text.replace("\r\n", "\n\0").replace("\r", "\n")
    for offset in range(len(text)):
        # `\n\0` keeps offsets: the line of a character is the number of line ends before it, plus one.
        before = plain[:offset] if text[offset - 1 : offset + 1] != "\r\n" else plain[: offset - 1]
        assert document.line_of(offset) == before.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("---\ntitle: 'The plan'\nx: 1\n---\n# Other\n", "a.md", "The plan"),
        ("intro\n\n## First *heading* ##\n", "a.md", "First *heading*"),
        ("no heading", "sub/运营数据（终稿）.md", "运营数据（终稿）"),
    ],
)
def test_titles(text: str, path: str, title: str) -> None:
    assert title_of(text, path) == title
