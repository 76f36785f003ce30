"""Tracing quotes to files."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from agents.evidence import Evidence, Source, SourceId
from agents.retrieval.reading import line_starts
from graphs.contract import Lang
from orchestrator.core.claims import Falsified, Verified
from orchestrator.verification.levels import StandardVerifier
from orchestrator.verification.ports import CheckOrder, FactVerdict
from orchestrator.verification.sources import documents
from orchestrator.verification.sources import folder as folders
from orchestrator.verification.sources.documents import DocumentSource
from orchestrator.verification.sources.folder import DocumentMissing, FolderLoader
from tests.verification.cases import Notes, altered, evidence, order, output, quoted

EN = "# Storage\n\nThe plant stores 32 MWh.\nIt opened on 3 May 2024.\n"
ZH = "# 储能\n\n该站储能 32 兆瓦时。\n2024年5月3日投运。\n"


def ask(notes: Notes, source: Source, piece: Evidence, lang: Lang = "en") -> FactVerdict:
    answer = DocumentSource(notes.root).trace(piece, {source.id: source}, lang=lang)
    assert answer is not None
    return answer


def defect(answer: FactVerdict) -> tuple[str | None, str]:
    assert isinstance(answer.verdict, Falsified)
    assert answer.verdict.source is None, "a citation that leads nowhere is contradicted by no source"
    return answer.defect, answer.verdict.reason


def test_a_quote_that_stands_in_the_file_is_verified_at_its_line(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    answer = ask(notes, source, notes.quote(source, "The plant stores 32 MWh."))
    assert answer == FactVerdict(verdict=Verified(source="plant.md:3"))


def test_a_quote_over_two_lines_names_both(notes: Notes) -> None:
    source = notes.write("sub folder/plant.md", EN)
    answer = ask(notes, source, notes.quote(source, "32 MWh.\nIt opened"))
    assert answer.verdict == Verified(source="sub folder/plant.md:3-4")


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (ZH.encode("utf-8"), "utf-8"),
        (b"\xef\xbb\xbf" + ZH.encode("utf-8"), "utf-8-sig"),
        (ZH.encode("gb18030"), "gb18030"),
        (ZH.replace("\n", "\r\n").encode("utf-8"), "utf-8"),
        (ZH.replace("\n", "\r").encode("utf-8"), "utf-8"),
    ],
    ids=["utf-8", "bom", "gb18030", "crlf", "cr"],
)
def test_chinese_text_in_every_encoding_and_line_end(notes: Notes, data: bytes, encoding: str) -> None:
    source = notes.write("运营（终稿）.md", data)
    piece = notes.quote(source, "2024年5月3日投运。", encoding=encoding)
    assert piece.locator.start_line == 4
    assert ask(notes, source, piece).verdict == Verified(source="运营（终稿）.md:4")


def test_a_quote_over_a_crlf_line_end_keeps_it(notes: Notes) -> None:
    source = notes.write("plant.md", EN.replace("\n", "\r\n"))
    assert ask(notes, source, notes.quote(source, "32 MWh.\r\nIt")).verdict == Verified(source="plant.md:3-4")
    as_lf = replace(notes.quote(source, "32 MWh.\r\nIt"), text="32 MWh.\nIt")
    assert defect(ask(notes, source, as_lf))[0] == "excerpt_differs"


def test_a_fabricated_quote_is_falsified(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    invented = evidence(source.id, "The plant stores 99 MWh.", (3, 3), (11, 35))
    code, reason = defect(ask(notes, source, invented))
    assert code == "excerpt_differs"
    assert "nor anywhere else" in reason


def test_a_citation_shifted_to_a_neighbour_names_where_the_words_are(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    piece = altered(notes.quote(source, "The plant stores 32 MWh."), start_char=36, end_char=60)
    code, reason = defect(ask(notes, source, piece))
    assert code == "excerpt_differs"
    assert "line 3" in reason


@pytest.mark.parametrize(
    "shift",
    [
        {"start_line": 2},
        {"end_line": 4},
        {"start_line": 4, "end_line": 4},
        {"start_char": 10_000, "end_char": 10_024},
        {"start_char": -24, "end_char": 0},
        {"end_char": 11},
    ],
    ids=["first", "last", "both", "beyond", "negative", "empty"],
)
def test_a_shifted_span_is_falsified(notes: Notes, shift: dict[str, int]) -> None:
    source = notes.write("plant.md", EN)
    piece = notes.quote(source, "The plant stores 32 MWh.")
    assert piece.locator.start_char == 11
    assert defect(ask(notes, source, altered(piece, **shift)))[0] == "place_missing"


def test_an_edited_file_is_falsified_even_where_the_quote_still_stands(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    piece = notes.quote(source, "The plant stores 32 MWh.")
    (notes.root / "plant.md").write_text(EN + "One more line.\n", encoding="utf-8")
    assert defect(ask(notes, source, piece)) == (
        "source_changed",
        "source changed since it was read: 'plant.md'",
    )


def test_a_deleted_file_is_falsified(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    piece = notes.quote(source, "The plant stores 32 MWh.")
    (notes.root / "plant.md").unlink()
    assert defect(ask(notes, source, piece))[0] == "source_missing"


def test_an_unlisted_source_is_falsified(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    piece = notes.quote(source, "The plant stores 32 MWh.")
    answer = DocumentSource(notes.root).trace(piece, {}, lang="zh")
    assert answer is not None
    code, reason = defect(answer)
    assert code == "source_unknown"
    assert "来源列表" in reason


def test_a_locator_into_another_source_is_falsified(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    other = notes.write("copy.md", EN)
    piece = notes.quote(source, "The plant stores 32 MWh.")
    crossed = replace(piece, locator=replace(piece.locator, source=other.id))
    answer = DocumentSource(notes.root).trace(crossed, {source.id: source, other.id: other}, lang="en")
    assert answer is not None
    assert defect(answer)[0] == "place_missing"


def test_a_binary_file_has_no_lines(notes: Notes) -> None:
    source = notes.write("photo.md", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xfe\x00")
    piece = evidence(source.id, "PNG", (1, 1), (1, 4))
    assert defect(ask(notes, source, piece))[0] == "place_missing"


def test_evidence_of_another_origin_is_none_of_its_business(notes: Notes) -> None:
    source = replace(notes.write("plant.md", EN), origin="computed")
    piece = evidence(source.id, "32 + 1 = 33")
    assert DocumentSource(notes.root).trace(piece, {source.id: source}, lang="en") is None


class Locked:
    """A loader whose documents exist and can't be read."""

    def load(self, uri: str) -> bytes:
        """Refuse."""
        raise PermissionError(13, "permission denied", uri)


def test_a_file_without_permission_is_unreadable_and_not_false(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    piece = notes.quote(source, "The plant stores 32 MWh.")
    with pytest.raises(PermissionError):
        DocumentSource(Locked()).trace(piece, {source.id: source}, lang="en")


def test_a_missing_folder_is_unreadable_and_not_false(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    piece = notes.quote(source, "The plant stores 32 MWh.")
    with pytest.raises(OSError, match="gone"):
        DocumentSource(notes.root / "gone").trace(piece, {source.id: source}, lang="en")


class Archive:
    """A loader over a dictionary."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def load(self, uri: str) -> bytes:
        """Return the bytes, or say that there are none."""
        if uri not in self._files:
            raise DocumentMissing(uri, "not in the archive")
        return self._files[uri]


def test_any_loader_will_do(notes: Notes) -> None:
    source = notes.write("plant.md", EN)
    piece = notes.quote(source, "It opened on 3 May 2024.")
    kept = DocumentSource(Archive({"plant.md": EN.encode()}), name="archive")
    sources: dict[SourceId, Source] = {source.id: source}
    assert kept.name == "archive"
    assert kept.trace(piece, sources, lang="en") == FactVerdict(verdict=Verified(source="plant.md:4"))
    empty = DocumentSource(Archive({})).trace(piece, sources, lang="en")
    assert empty is not None
    assert defect(empty)[0] == "source_missing"


class Counted:
    """A folder of notes that says what was read of it."""

    def __init__(self, root: Path) -> None:
        self._folder = FolderLoader(root)
        self.read: list[str] = []

    def load(self, uri: str) -> bytes:
        """Return the bytes of a note."""
        self.read.append(uri)
        return self._folder.load(uri)


def three_quotes(notes: Notes) -> CheckOrder:
    """Return the order of a last sub-task: two quotes of one note and one of another."""
    plant, other = notes.write("plant.md", EN), notes.write("other.md", ZH)
    grounds = [
        notes.quote(plant, "The plant stores 32 MWh."),
        notes.quote(plant, "It opened on 3 May 2024."),
        notes.quote(other, "该站储能 32 兆瓦时。"),
    ]
    return order(output([quoted(ground) for ground in grounds], grounds, [plant, other]), terminal=True)


def test_a_check_reads_each_document_once(notes: Notes) -> None:
    asked = three_quotes(notes)
    folder = Counted(notes.root)
    checked = StandardVerifier((DocumentSource(folder),)).verify(asked)
    assert [each.verdict.kind for each in checked.verdicts] == ["verified"] * 3
    assert sorted(folder.read) == ["other.md", "plant.md"]


def test_the_next_check_reads_again_and_sees_a_change(notes: Notes) -> None:
    asked = three_quotes(notes)
    folder = Counted(notes.root)
    verifier = StandardVerifier((DocumentSource(folder),))
    assert verifier.verify(asked).outcome == "qualified"
    notes.write("other.md", ZH.replace("32", "33"))
    folder.read.clear()
    checked = verifier.verify(asked)
    assert checked.outcome == "falsified"
    false = [each.verdict for each in checked.verdicts if isinstance(each.verdict, Falsified)]
    assert [verdict.reason for verdict in false] == ["source changed since it was read: 'other.md'"]
    # Level 2 and, after its finding, all facts anew at level 3.
    assert sorted(folder.read) == ["other.md", "other.md", "plant.md", "plant.md"]


class TestFolderLoader:
    """The folder that nothing leads out of."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """Return a notes folder beside a secret."""
        (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
        folder = tmp_path / "notes"
        (folder / "sub").mkdir(parents=True)
        (folder / "a.md").write_text("a", encoding="utf-8")
        return folder

    @pytest.mark.parametrize(
        "uri",
        [
            "",
            "../secret.md",
            "sub/../../secret.md",
            "/etc/hostname",
            "a\0.md",
            "sub",
            "a.md/b.md",
            "b.md",
            "..\\secret.md",
            "x" * 5000,
        ],
    )
    def test_what_is_no_file_inside_is_missing(self, folder: Path, uri: str) -> None:
        with pytest.raises(DocumentMissing) as caught:
            FolderLoader(folder).load(uri)
        assert repr(uri) in str(caught.value)

    def test_an_absolute_address_of_a_file_inside_is_refused_too(self, folder: Path) -> None:
        with pytest.raises(DocumentMissing):
            FolderLoader(folder).load(str(folder / "a.md"))

    def test_a_link_that_leaves_the_folder_is_refused(self, folder: Path) -> None:
        (folder / "link.md").symlink_to(folder.parent / "secret.md")
        (folder / "inside.md").symlink_to(folder / "a.md")
        assert FolderLoader(folder).load("inside.md") == b"a"
        with pytest.raises(DocumentMissing, match="leaves"):
            FolderLoader(folder).load("link.md")

    def test_a_link_to_itself_is_missing(self, folder: Path) -> None:
        (folder / "loop.md").symlink_to(folder / "loop.md")
        with pytest.raises(DocumentMissing):
            FolderLoader(folder).load("loop.md")

    def test_a_folder_that_is_itself_a_link_is_fine(self, folder: Path) -> None:
        (folder.parent / "alias").symlink_to(folder)
        assert FolderLoader(folder.parent / "alias").load("a.md") == b"a"

    def test_a_huge_file_is_cut_so_that_its_digest_can_only_differ(self, folder: Path) -> None:
        with (folder / "big.md").open("wb") as file:
            file.truncate(6_000_000)
        assert len(FolderLoader(folder).load("big.md")) == 5_000_001

    @pytest.mark.parametrize(("size", "read"), [(0, 0), (9, 9), (10, 10), (11, 11), (12, 11), (40, 11)])
    def test_up_to_the_limit_every_byte_is_read_and_beyond_it_one(
        self, folder: Path, size: int, read: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(folders, "MAX_NOTE_BYTES", 10)
        data = bytes(range(65, 65 + size))
        (folder / "a.md").write_bytes(data)
        assert FolderLoader(folder).load("a.md") == data[:read]

    def test_what_no_link_leads_to_is_looked_at_once_per_step(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / "sub" / "deep").mkdir(parents=True, exist_ok=True)
        (folder / "sub" / "deep" / "c.md").write_bytes(b"c")
        looked: list[str] = []
        look = os.lstat

        def counted(path: str) -> os.stat_result:
            looked.append(path)
            return look(path)

        loader = FolderLoader(folder)
        monkeypatch.setattr(os, "lstat", counted)
        assert loader.load("sub/deep/c.md") == b"c"
        assert looked == [f"{folder}/{step}" for step in ("sub", "sub/deep", "sub/deep/c.md")]

    @pytest.mark.parametrize("root", ["notes", "alias", "notes/in"])
    def test_every_address_gives_what_the_resolved_path_gives(self, tmp_path: Path, root: str) -> None:
        notes = tmp_path / "all" / "notes"
        (notes / "in" / "er").mkdir(parents=True)
        for name in ("a.md", "in/a.md", "in/er/a.md", "in/er/b:c.md", "../a.md", "../outside.md"):
            (notes / name).write_text(f"at {name}", encoding="utf-8")
        for name, target in {
            "up.md": "../a.md",
            "same.md": "a.md",
            "down": "in/er",
            "out": "..",
            "gone.md": "nowhere.md",
            "loop.md": "loop.md",
            "in/back": "..",
            "../alias": "notes",
        }.items():
            (notes / name).symlink_to(target)
        steps = ("a.md", "in", "out", "down", "up.md", "same.md", "back", "gone.md", "loop.md", "", ".", "..")
        folder = tmp_path / "all" / root
        loader = FolderLoader(folder)
        found = 0
        addresses = ["/".join(parts) for depth in (1, 2, 3) for parts in product(steps, repeat=depth)]
        for uri in (*addresses, "in/er/a.md", "in/er/b:c.md", "out/outside.md", "../outside.md"):
            wanted = _by_resolving(folder, uri)
            found += wanted is not None
            try:
                assert loader.load(uri) == wanted, uri
            except DocumentMissing:
                assert wanted is None, uri
        assert found > 5


def _by_resolving(folder: Path, uri: str) -> bytes | None:
    """What stands at an address, found by resolving every link on the way; slow, and plain."""
    names = uri.split("/")
    if not uri or names[0] == "" or ".." in names:
        return None
    real, inside = os.path.realpath(os.path.join(folder, uri)), os.path.realpath(folder)
    if not real.startswith(f"{inside}{os.sep}") or not os.path.isfile(real):
        return None
    # A file is no folder, also where the steps behind it are empty or dots.
    with open(real, "rb") as file:
        return file.read()


class Divided:
    """Counts the texts that are divided into lines."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        monkeypatch.setattr(documents, "line_starts", self)

    def __call__(self, text: str) -> tuple[int, ...]:
        self.texts.append(text)
        return line_starts(text)


def test_the_same_bytes_are_divided_into_lines_once_and_others_anew(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    divided = Divided(monkeypatch)
    source = notes.write("plant.md", EN)
    piece = notes.quote(source, "The plant stores 32 MWh.")
    material = DocumentSource(notes.root)
    found = Verified(source="plant.md:3")

    def verdict() -> object:
        answer = material.trace(piece, {source.id: source}, lang="en")
        assert answer is not None
        return answer.verdict if answer.defect is None else answer.defect

    assert [verdict(), verdict()] == [found, found]
    assert divided.texts == [EN]
    changed = EN.replace("2024", "2023")
    notes.write("plant.md", changed)
    assert [verdict(), verdict()] == ["source_changed", "source_changed"]
    notes.write("plant.md", EN)
    assert verdict() == found
    assert divided.texts == [EN, changed]


def test_no_more_than_so_many_bytes_are_kept(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    divided = Divided(monkeypatch)
    monkeypatch.setattr(documents, "KEPT_BYTES", 2 * len(EN))
    material = DocumentSource(notes.root)
    texts = {name: EN.replace("plant", name) for name in ("plaid", "plank", "plate")}
    written_notes = {name: notes.write(f"{name}.md", text) for name, text in texts.items()}

    def asks(name: str) -> None:
        source = written_notes[name]
        piece = notes.quote(source, "It opened on 3 May 2024.")
        answer = material.trace(piece, {source.id: source}, lang="en")
        assert answer == FactVerdict(verdict=Verified(source=f"{name}.md:4"))

    for name in ("plaid", "plank", "plaid", "plate", "plaid", "plank"):
        asks(name)
    # Of two kept, the one goes that was asked for longer ago: `plank` made room for `plate`.
    assert divided.texts == [texts["plaid"], texts["plank"], texts["plate"], texts["plank"]]
