"""No forged citation is ever passed, whatever is forged about it."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.evidence import Evidence, Source, SourceId
from agents.results import WorkOutput
from orchestrator.core.claims import Verification
from orchestrator.verification.levels import StandardVerifier
from orchestrator.verification.sources.documents import DocumentSource
from orchestrator.verification.sources.folder import DocumentMissing
from tests.verification.cases import altered, evidence, line, order, output, quoted

SENTENCES = st.sampled_from(
    [
        "The plant stores 32 MWh.",
        "It opened on 3 May 2024.",
        "该站储能32兆瓦时。",
        "设备不安全，须在2027年9月30日前整改。",
        "No pump failed in 12 years.",
        "| LFP | €300 per kWh | 15 years |",
        "- **Cost:** 9.6 million",
    ]
)


class Memory:
    """One document in memory."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()

    def load(self, uri: str) -> bytes:
        """Return the document."""
        if uri != "a.md":
            raise DocumentMissing(uri, "not here")
        return self.data


@st.composite
def cited_documents(draw: st.DrawFn) -> tuple[str, Source, Evidence]:
    """Return a text, its source, and a quote of one of its sentences."""
    sentences = draw(st.lists(SENTENCES, min_size=1, max_size=8))
    ends = draw(st.lists(st.sampled_from(["\n", "\r\n", "\n\n", " "]), min_size=8, max_size=8))
    chosen = draw(st.integers(0, len(sentences) - 1))
    text, start = "# Notes\n", 0
    for number, sentence in enumerate(sentences):
        start = len(text) if number == chosen else start
        text += sentence + ends[number]
    source = Source(
        id=SourceId("s-a"),
        uri="a.md",
        title="a",
        digest=hashlib.sha256(text.encode()).hexdigest(),
        retrieved_at="2026-01-01T00:00:00+00:00",
    )
    end = start + len(sentences[chosen])
    lines = line(text, start), line(text, end - 1)
    return text, source, evidence(source.id, sentences[chosen], lines, (start, end))


def checked(text: str, source: Source, piece: Evidence) -> Verification:
    produced: WorkOutput = output([quoted(piece)], [piece], [source])
    return StandardVerifier([DocumentSource(Memory(text))]).verify(order(produced, terminal=True))


@settings(deadline=None, max_examples=50)
@given(cited_documents())
def test_an_honest_quote_is_verified(document: tuple[str, Source, Evidence]) -> None:
    found = checked(*document)
    assert (found.outcome, str(found.confidence)) == ("qualified", "L2 1.00, 1 of 1 traced")


@settings(deadline=None, max_examples=50)
@given(cited_documents(), st.integers(-40, 40), st.integers(-40, 40))
def test_no_shifted_span_is_passed(document: tuple[str, Source, Evidence], start: int, end: int) -> None:
    text, source, piece = document
    assume(start or end)
    span = piece.locator
    shifted = altered(piece, start_char=span.start_char + start, end_char=span.end_char + end)
    low, high = max(0, shifted.locator.start_char), max(0, shifted.locator.end_char)
    assume(text[low:high] != piece.text)
    assert checked(text, source, shifted).outcome == "falsified"


@settings(deadline=None, max_examples=50)
@given(cited_documents(), st.integers(-5, 5), st.integers(-5, 5))
def test_no_wrong_line_is_passed(document: tuple[str, Source, Evidence], start: int, end: int) -> None:
    text, source, piece = document
    assume(start or end)
    span = piece.locator
    shifted = altered(piece, start_line=span.start_line + start, end_line=span.end_line + end)
    assert checked(text, source, shifted).outcome == "falsified"


@settings(deadline=None, max_examples=50)
@given(cited_documents(), st.data())
def test_no_altered_quote_is_passed(document: tuple[str, Source, Evidence], data: st.DataObject) -> None:
    text, source, piece = document
    at = data.draw(st.integers(0, len(piece.text) - 1))
    other = data.draw(st.sampled_from("x7不 .%"))
    assume(other != piece.text[at])
    words = piece.text[:at] + other + piece.text[at + 1 :]
    forged = replace(piece, text=words, excerpt_sha256=hashlib.sha256(words.encode()).hexdigest())
    assert checked(text, source, forged).outcome == "falsified"
    unsigned = replace(piece, text=words)
    assert checked(text, source, unsigned).outcome == "falsified"


@settings(deadline=None, max_examples=50)
@given(cited_documents(), st.sampled_from(["../a.md", "b.md", "", "/a.md"]))
def test_no_other_file_is_passed(document: tuple[str, Source, Evidence], uri: str) -> None:
    text, source, piece = document
    assert checked(text, replace(source, uri=uri), piece).outcome == "falsified"


@settings(deadline=None, max_examples=50)
@given(cited_documents(), st.text(min_size=1, max_size=5))
def test_no_quote_from_a_changed_file_is_passed(document: tuple[str, Source, Evidence], added: str) -> None:
    text, source, piece = document
    assume(added.isprintable())
    assert checked(text + added, source, piece).outcome == "falsified"
