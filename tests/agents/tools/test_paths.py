"""The path gate: what is inside opens, and no path reaches a secret outside (shown by what was read)."""

from __future__ import annotations

import os
import socket
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from agents.tools.names import Refused
from agents.tools.paths import PathGate

SECRET = b"SECRET-OUTSIDE"
REPORT = "报告（终稿）.md"


def build(base: Path) -> Path:
    """Make an allowed folder `in` beside secrets, with links of every kind; return it."""
    inside, outside = base / "in", base / "out"
    (inside / "sub" / "deep").mkdir(parents=True)
    outside.mkdir()
    for folder in (base, outside):
        (folder / "secret.txt").write_bytes(SECRET)
    (outside / "a.md").write_bytes(SECRET)
    for name in ("a.md", REPORT, "re\u0301sume\u0301.md", "sub/b.txt", "sub/deep/c.txt"):
        (inside / name).write_bytes(b"inside " + name.encode())
    links = {
        "leave": "../out",
        "leave_file": "../out/secret.txt",
        "absolute": str(outside / "secret.txt"),
        "dangling": "../out/nothing",
        "up": "..",
        "loop": "loop",
        "root": "/",
        "stay": "sub/deep",
        "stay_file": "sub/b.txt",
        "chain": "leave",
        "sub/back": "..",
        "sub/over": "../../out/secret.txt",
        "sub/twice": "../leave/secret.txt",
        "proc": "/proc/self/cwd",
    }
    for name, target in links.items():
        (inside / name).symlink_to(target)
    os.mkfifo(inside / "pipe")
    return inside


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("gate"))


@pytest.fixture(scope="module")
def gate(inside: Path) -> PathGate:
    return PathGate(folders={"in": inside})


def read(gate: PathGate, path: str) -> bytes | str:
    """Return the bytes at `path`, or the reason of the refusal."""
    found = gate.open_file(path)
    if isinstance(found, Refused):
        assert found.message.isprintable(), "a message shows no character that can't be seen"
        return found.reason
    with found:
        return found.read()


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("a.md", b"inside a.md"),
        ("./sub//b.txt", b"inside sub/b.txt"),
        (REPORT, b"inside " + REPORT.encode()),
        ("r\u00e9sum\u00e9.md", "inside re\u0301sume\u0301.md".encode()),
        ("stay/c.txt", b"inside sub/deep/c.txt"),
        ("stay_file", b"inside sub/b.txt"),
        ("sub/back/a.md", b"inside a.md"),
        ("..", "INVALID_PATH"),
        ("sub/../a.md", "INVALID_PATH"),
        ("sub\\b.txt", "INVALID_PATH"),
        ("C:/a.md", "INVALID_PATH"),
        ("\\\\server\\share", "INVALID_PATH"),
        ("．．/out/secret.txt", "INVALID_PATH"),
        ("‥/out/secret.txt", "INVALID_PATH"),
        ("sub／b.txt", "INVALID_PATH"),
        ("sub∕b.txt", "INVALID_PATH"),
        ("a\u202e.md", "INVALID_PATH"),
        ("a\u200b.md", "INVALID_PATH"),
        ("a\0.md", "INVALID_PATH"),
        ("a\n.md", "INVALID_PATH"),
        ("a\udc80", "INVALID_PATH"),
        ("", "INVALID_PATH"),
        ("x" * 256, "INVALID_PATH"),
        ("x/" * 65, "INVALID_PATH"),
        ("x/" * 3000, "INVALID_PATH"),
        ("/etc/passwd", "ACCESS_DENIED"),
        ("leave/secret.txt", "ACCESS_DENIED"),
        ("leave/a.md", "ACCESS_DENIED"),
        ("leave_file", "ACCESS_DENIED"),
        ("absolute", "ACCESS_DENIED"),
        ("dangling", "ACCESS_DENIED"),
        ("up/secret.txt", "ACCESS_DENIED"),
        ("root/etc/passwd", "ACCESS_DENIED"),
        ("chain/secret.txt", "ACCESS_DENIED"),
        ("loop", "ACCESS_DENIED"),
        ("proc/a.md", "ACCESS_DENIED"),
        ("sub/over", "ACCESS_DENIED"),
        ("sub/twice", "ACCESS_DENIED"),
        ("missing.md", "NOT_FOUND"),
        ("~/a.md", "NOT_FOUND"),
        ("sub", "NOT_A_FILE"),
        (".", "NOT_A_FILE"),
        ("a.md/b", "NOT_A_FILE"),
        ("pipe", "NOT_A_FILE"),
    ],
)
def test_each_kind_of_path_opens_or_says_why_not(gate: PathGate, path: str, wanted: bytes | str) -> None:
    assert read(gate, path) == wanted


def test_an_absolute_path_inside_opens(gate: PathGate, inside: Path) -> None:
    assert read(gate, str(inside / "a.md")) == b"inside a.md"
    assert read(gate, str(inside.parent / "in-other" / "a.md")) == "ACCESS_DENIED"
    assert read(gate, str(inside.parent)) == "ACCESS_DENIED"


def test_two_names_that_look_the_same_open_neither(tmp_path: Path) -> None:
    for form in ("NFC", "NFD"):
        (tmp_path / unicodedata.normalize(form, "é.md")).write_text(form, encoding="utf-8")
    (tmp_path / "b.md").write_text("b", encoding="utf-8")
    (tmp_path / "b\ufe0f.md").write_text("looks like b", encoding="utf-8")
    gate = PathGate(folders={"in": tmp_path})
    assert read(gate, "\u00e9.md") == "AMBIGUOUS"
    assert read(gate, "e\u0301.md") == "AMBIGUOUS"
    assert read(gate, "b.md") == "AMBIGUOUS"


def test_with_several_folders_paths_begin_with_one_of_their_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text(name, encoding="utf-8")
    gate = PathGate(folders={"notes": tmp_path / "one", "资料": tmp_path / "two"})
    assert read(gate, "notes/x.md") == b"one"
    assert read(gate, "资料/x.md") == b"two"
    assert read(gate, "x.md") == "ACCESS_DENIED"
    listed = gate.entries(".")
    assert not isinstance(listed, Refused)
    assert [entry.name for entry in listed] == ["notes", "资料"]


def test_a_socket_and_hidden_names_are_not_there_to_be_read(tmp_path: Path) -> None:
    (tmp_path / ".undo").mkdir()
    (tmp_path / ".undo" / "x").write_text("x", encoding="utf-8")
    gate = PathGate(folders={"in": tmp_path}, hidden=frozenset({".undo"}))
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(".", os.O_RDONLY)
        os.chdir(tmp_path)  # the name of a Unix socket is short
        try:
            listening.bind("s")
        finally:
            os.fchdir(here)
            os.close(here)
        assert read(gate, "s") == "NOT_A_FILE"
    assert read(gate, ".undo/x") == "NOT_FOUND"
    assert read(gate, ".UNDO/x") == "NOT_FOUND"
    assert gate.entries(".") == ()


def test_a_listing_leaves_links_out(gate: PathGate) -> None:
    listed = gate.entries("sub")
    assert not isinstance(listed, Refused)
    assert [(entry.name, entry.kind, entry.size) for entry in listed] == [
        ("b.txt", "file", len(b"inside sub/b.txt")),
        ("deep", "folder", 0),
    ]
    refused = gate.entries("leave")
    assert isinstance(refused, Refused)
    assert refused.reason == "ACCESS_DENIED"


def test_a_folder_exchanged_for_a_link_while_it_is_opened_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = build(tmp_path)
    (inside / "sub" / "secret.txt").write_bytes(b"harmless")
    gate = PathGate(folders={"in": inside})
    real_readlink = os.readlink

    def exchange(path: str, *, dir_fd: int | None = None) -> str:
        try:
            return real_readlink(path, dir_fd=dir_fd)
        finally:
            if path == "sub" and not (inside / "moved").exists():
                (inside / "sub").rename(inside / "moved")
                (inside / "sub").symlink_to("../out")

    monkeypatch.setattr(os, "readlink", exchange)
    # Between the look at `sub` and its opening it becomes a link to a folder with a secret of that name.
    assert read(gate, "sub/secret.txt") in ("ACCESS_DENIED", "NOT_A_FILE")


NAMES = st.sampled_from(
    [
        *("a.md", "sub", "deep", "b.txt", "c.txt", REPORT, "secret.txt", "out", "in", "missing"),
        *(
            "leave",
            "leave_file",
            "absolute",
            "dangling",
            "up",
            "loop",
            "root",
            "stay",
            "chain",
            "back",
            "over",
        ),
        *(
            "twice",
            "proc",
            "etc",
            "passwd",
            "pipe",
            "dev",
            "zero",
            "",
            ".",
            "..",
            "...",
            "~",
            "$HOME",
            "%2e%2e",
        ),
        *(
            "．．",
            "‥",
            "․․",
            "..\u200b",
            "\u202e..",
            "．",
            "é.md",
            "e\u0301.md",
            "CON",
            "a.md:x",
            "C:",
            "\\\\?\\C:",
        ),
    ]
)
SEPARATORS = st.sampled_from(["/", "/", "/", "//", "\\", "／", "∕", "⁄", "\0", "/./", "/../", "%2f"])
TEXTS = st.text(st.characters(exclude_categories=()), max_size=5)


@st.composite
def mixed(draw: st.DrawFn) -> str:
    """Components from the tree, traps and any text, joined by separators and what looks like one."""
    parts = draw(st.lists(st.one_of(NAMES, TEXTS), min_size=1, max_size=6))
    path = draw(st.sampled_from(["", "", "", "/", "./", "../", "//"]))
    for part in parts:
        path += part + draw(SEPARATORS)
    return path if draw(st.booleans()) else path[:-1]


LINKED = st.lists(NAMES, min_size=1, max_size=8).map("/".join)
LONG = st.builds(
    lambda part, times, end: part * times + end, st.one_of(NAMES, TEXTS), st.integers(20, 900), NAMES
)
FUZZ = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


def escapes(gate: PathGate, path: str, *bases: Path) -> bool:
    """Say whether `path`, as it is or behind a real folder, gives bytes that do not stand inside."""
    for each in (path, *(f"{base}/{path}" for base in bases)):
        found = read(gate, each)
        if isinstance(found, bytes) and not found.startswith(b"inside "):
            return True
        listed = gate.entries(each)
        if not isinstance(listed, Refused) and {"secret.txt", "passwd"} & {entry.name for entry in listed}:
            return True
    return False


@given(path=mixed())
@settings(max_examples=2_500, **FUZZ)  # type: ignore[arg-type]  # one dict for both kinds of settings
def test_no_mixed_path_escapes(gate: PathGate, inside: Path, path: str) -> None:
    assert not escapes(gate, path, inside)


@given(path=LINKED)
@settings(max_examples=6_500, **FUZZ)  # type: ignore[arg-type]
def test_no_path_through_links_escapes(gate: PathGate, path: str) -> None:
    assert not escapes(gate, path)


@given(path=LONG)
@settings(max_examples=1_000, **FUZZ)  # type: ignore[arg-type]
def test_no_long_path_escapes(gate: PathGate, inside: Path, path: str) -> None:
    assert not escapes(gate, path, inside)


def test_the_same_paths_escape_a_gate_that_only_joins_them(inside: Path) -> None:
    def escapes_joined(path: str) -> bool:
        try:
            named = os.path.join(inside, path)
            return os.path.isfile(named) and Path(named).read_bytes() == SECRET
        except (OSError, ValueError):
            return False

    for paths in (mixed(), LINKED):
        assert find(paths, escapes_joined, settings=settings(max_examples=6_000))
