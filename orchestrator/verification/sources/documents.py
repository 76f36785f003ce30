"""Trace quotes to the documents that they were taken from: file, digest, place, exact text."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from agents.evidence import Evidence, LineSpan, Source, SourceId
from agents.retrieval.reading import decode_note, line_starts
from graphs.contract import Lang
from orchestrator.core.claims import Falsified, Verified
from orchestrator.verification.ports import Defect, FactVerdict
from orchestrator.verification.sources.folder import DocumentLoader, DocumentMissing, FolderLoader
from orchestrator.verification.wording import said

KEPT_BYTES = 4 * 1024 * 1024
"""Bytes of documents whose text and lines are kept between passes: those of a usual folder of notes."""


class DocumentSource:
    """The user's documents as a fact source: an excerpt is verified when the file holds it at the cited place.

    Every question reads the file again, and so does every pass of a check, so that a change during the run is seen;
    bytes that were read before are not decoded and divided into lines again.
    """

    def __init__(self, material: DocumentLoader | Path | str, *, name: str = "documents") -> None:
        """Trace to the files below a folder, or to whatever a loader gives."""
        self._loader = FolderLoader(material) if isinstance(material, (str, Path)) else material
        self._name = name
        self._known = _Known()

    @property
    def name(self) -> str:
        """Return the name that people read when this source breaks."""
        return self._name

    def for_pass(self) -> DocumentPass:
        """Return the documents for one pass over an output, which reads each of them once."""
        return DocumentPass(self._loader, self._name, self._known)

    def trace(
        self, evidence: Evidence, sources: Mapping[SourceId, Source], *, lang: Lang
    ) -> FactVerdict | None:
        """Return what the documents say of `evidence` now; see `DocumentPass.trace`."""
        return self.for_pass().trace(evidence, sources, lang=lang)


@dataclass(frozen=True, slots=True)
class _Read:
    """A document as it was read."""

    digest: str
    text: str | None
    """`None`: it is no text."""
    starts: Sequence[int]
    """Where its lines begin."""


class _Known:
    """Documents by the digest of their bytes, those that were asked for last; several threads may ask."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[_Read, int]] = {}
        self._bytes = 0
        self._lock = Lock()

    def read(self, data: bytes) -> _Read:
        """Return the document of these bytes."""
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            known = self._documents.pop(digest, None)
            if known is not None:
                self._documents[digest] = known
                return known[0]
        decoded = decode_note(data)
        text = None if decoded is None else decoded.text
        document = _Read(digest=digest, text=text, starts=() if text is None else line_starts(text))
        with self._lock:
            self._keep(document, len(data))
        return document

    def _keep(self, document: _Read, size: int) -> None:
        if size > KEPT_BYTES or document.digest in self._documents:
            return
        self._documents[document.digest] = (document, size)
        self._bytes += size
        while self._bytes > KEPT_BYTES:
            _, oldest = self._documents.pop(next(iter(self._documents)))
            self._bytes -= oldest


class DocumentPass:
    """The documents during one pass: what was read of a document for one piece of evidence is used for all."""

    def __init__(self, loader: DocumentLoader, name: str, known: _Known) -> None:
        self._loader = loader
        self._name = name
        self._known = known
        self._documents: dict[str, _Read] = {}

    @property
    def name(self) -> str:
        """Return the name that people read when this source breaks."""
        return self._name

    def trace(
        self, evidence: Evidence, sources: Mapping[SourceId, Source], *, lang: Lang
    ) -> FactVerdict | None:
        """Return what the documents say of `evidence`; `None` for evidence that is no excerpt of a document.

        Falsified when the source is not listed, the file is gone or has other bytes than were read, is no text, or
        does not hold exactly the excerpt at the characters and lines of the locator. Raises `OSError` if the file
        can't be read.
        """
        source = sources.get(evidence.source)
        if source is None:
            reason = said(
                lang,
                en=f"the cited source {evidence.source!r} is not among the output's sources",
                zh=f"引用的来源 {evidence.source!r} 不在该输出的来源列表中",
            )
            return _falsified("source_unknown", reason)
        if source.origin not in {"source", "user"}:
            return None
        try:
            document = self._read(source.uri)
        except DocumentMissing as missing:
            reason = said(
                lang,
                en=f"the cited source does not exist: {missing}",
                zh=f"引用的来源不存在：{source.uri!r}（{missing}）",
            )
            return _falsified("source_missing", reason)
        if document.digest != source.digest:
            reason = said(
                lang,
                en=f"source changed since it was read: {source.uri!r}",
                zh=f"来源在读取之后被改动：{source.uri!r}",
            )
            return _falsified("source_changed", reason)
        return _at_place(evidence, source, document, lang)

    def _read(self, uri: str) -> _Read:
        if uri not in self._documents:
            self._documents[uri] = self._known.read(self._loader.load(uri))
        return self._documents[uri]


def place(source: Source, locator: LineSpan) -> str:
    """Return where a span stands, as people write it: `path:line`, or `path:first-last`."""
    lines = str(locator.start_line)
    if locator.end_line != locator.start_line:
        lines += f"-{locator.end_line}"
    return f"{source.uri}:{lines}"


def _at_place(evidence: Evidence, source: Source, document: _Read, lang: Lang) -> FactVerdict:
    text, span = document.text, evidence.locator
    if text is None:
        reason = said(
            lang,
            en=f"{source.uri!r} is not a text, so no lines of it can be cited",
            zh=f"{source.uri!r} 不是文本文件，无法引用其中的行",
        )
        return _falsified("place_missing", reason)
    where = place(source, span)
    if span.source != evidence.source or not 0 <= span.start_char < span.end_char <= len(text):
        reason = said(
            lang,
            en=f"the cited place does not exist: {where}, characters {span.start_char}-{span.end_char}",
            zh=f"引用的位置不存在：{where}，字符 {span.start_char}-{span.end_char}",
        )
        return _falsified("place_missing", reason)
    if text[span.start_char : span.end_char] != evidence.text:
        return _falsified("excerpt_differs", _differs(evidence, where, text, document, lang))
    lines = _line(document, span.start_char), _line(document, span.end_char - 1)
    if lines != (span.start_line, span.end_line):
        reason = said(
            lang,
            en=f"the cited lines are wrong: {where}, but the excerpt stands on lines {lines[0]}-{lines[1]}",
            zh=f"引用的行号有误：{where}，而该摘录位于第 {lines[0]}-{lines[1]} 行",
        )
        return _falsified("place_missing", reason)
    return FactVerdict(verdict=Verified(source=where))


def _line(document: _Read, position: int) -> int:
    return bisect_right(document.starts, position)


def _differs(evidence: Evidence, where: str, text: str, document: _Read, lang: Lang) -> str:
    elsewhere = text.find(evidence.text) if evidence.text else -1
    if elsewhere < 0:
        return said(
            lang,
            en=f"the excerpt does not stand at {where}, nor anywhere else in that source",
            zh=f"{where} 处没有该摘录，该来源的其他位置也没有",
        )
    line = _line(document, elsewhere)
    return said(
        lang,
        en=f"the excerpt does not stand at {where}; the same words stand on line {line}",
        zh=f"{where} 处没有该摘录；相同的文字位于第 {line} 行",
    )


def _falsified(defect: Defect, reason: str) -> FactVerdict:
    return FactVerdict(verdict=Falsified(reason=reason), defect=defect)
