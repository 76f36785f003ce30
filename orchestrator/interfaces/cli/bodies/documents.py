"""Read a document that a person wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from orchestrator.interfaces.cli.problems import NotFound, UsageProblem

MAX_BYTES: Final = 4_000_000
"""A proposal of 500 sub-tasks has about a tenth of this; a larger file is some other file."""


def read_text(file: str) -> str:
    """Return the text of a UTF-8 file; raises `NotFound` and `UsageProblem`."""
    path = Path(file)
    try:
        content = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except (OSError, ValueError) as error:
        raise NotFound(
            "file_not_readable",
            en=f"{file!r} can't be read ({_reason(error)}); give a file that exists, as UTF-8 text",
            zh=f"无法读取 {file!r}（{_reason(error)}）；请给出存在的 UTF-8 文本文件",
        ) from error
    if content is None:
        raise UsageProblem(
            "file_too_large",
            en=f"{file!r} has more than {MAX_BYTES:,} bytes; accepted: the YAML of a proposal",
            zh=f"{file!r} 超过 {MAX_BYTES:,} 字节；可接受：方案的 YAML",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageProblem(
            "file_not_utf8",
            en=f"{file!r} is not UTF-8 text (byte {error.start}); save it as UTF-8",
            zh=f"{file!r} 不是 UTF-8 文本（第 {error.start} 字节）；请另存为 UTF-8",
        ) from error


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
