"""Say what a leak is and where its text came from."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from masks.bands import Band
from masks.domains import DomainId

LeakOrigin: TypeAlias = Literal["source", "parametric"]
"""source: the agent fetched it, so it can be traced; parametric: found in no input and no source, so it
came out of the model's weights and the claim is at best uncertain (semantics 2)."""

GenerationPath: TypeAlias = Literal[1, 2]
"""1: MAIN only; 2: MAIN and BACKGROUND, every leak marked (semantics 3)."""


LeakRule: TypeAlias = Literal["1", "2a", "2b"]
"""A rule of specification 3.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """Hold one span of an agent's output that uses a domain outside the agent's MAIN band."""

    agent: str
    domain: DomainId
    m100: int
    """The agent's mask value for the domain when the span was written, in hundredths."""
    band: Band
    origin: LeakOrigin
    declared: bool
    """The agent marked it."""
    detected: bool
    """The detector found it, whatever the agent declared."""
    start: int
    """First character in the delivered text, markers removed."""
    end: int
    """One past the last character."""
    text: str
    """The span itself, equal to `output[start:end]`."""
    locator: str | None = None
    """Where the span stands in its source; None for a parametric leak."""
    path: GenerationPath = 1
    noted: LeakRule | None = None
    """The rule by which it is noted against the agent; None for one that is allowed, or that the plan asks for."""
    blocked: bool = False
    """The output that held it was discarded and written again (rule 2b); its place is in the discarded text."""

    @property
    def strength(self) -> int:
        """Return the strength a marker states: the mask value in hundredths (specification 3.3)."""
        return self.m100


SuppliedKind: TypeAlias = Literal["input", "source"]
"""input: handed to the agent as parameter or accepted upstream output; source: the agent fetched it."""

SpanKind: TypeAlias = Literal["input", "source", "parametric"]
"""Where a span came from; `input` is provenance and no leak of this agent (semantics 2)."""

SHORTEST_TRACE: Final = 12
"""Fewest letters and digits, a Chinese character counted as three, that a span must have to be traced by its
text. Shorter ones, such as a year or `it is`, stand in nearly every text and would prove nothing."""

CJK_LETTERS: Final = 3
"""How many letters one Chinese character counts for; about the length of the syllable that it writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppliedText:
    """Hold one text that the agent was given or fetched."""

    text: str
    kind: SuppliedKind
    locator: str
    """How a reader finds it again, for example `notes/a.md:12-14`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanProvenance:
    """Hold where a span came from."""

    kind: SpanKind
    locator: str | None = None
    """The locator of the supplied text; None for a parametric span."""


class SpanTracer:
    """Find spans in supplied texts, exactly or up to width, case, quotes, dashes and spaces."""

    __slots__ = ("_prepared", "_supplied")

    def __init__(self, supplied: Iterable[SuppliedText]) -> None:
        """Take the texts; they are looked at when the first span is traced, which most outputs give no reason for."""
        self._supplied = supplied
        self._prepared: tuple[tuple[SuppliedText, str], ...] | None = None

    def trace(self, span: str) -> SpanProvenance:
        """Return the first supplied text that holds `span`, inputs before sources, else parametric.

        A span shorter than `SHORTEST_TRACE` is parametric unless it is the whole of a supplied text.
        """
        wanted = normalise(span).rstrip(_END_MARKS)
        short = _letters(wanted) < SHORTEST_TRACE
        for supplied, text in self._texts():
            if wanted and (text.rstrip(_END_MARKS) == wanted if short else _holds(text, wanted)):
                return SpanProvenance(kind=supplied.kind, locator=supplied.locator)
        return SpanProvenance(kind="parametric")

    def trace_all(self, spans: Sequence[str]) -> SpanProvenance:
        """Return one provenance for spans that form one leak: that of the least traceable of them."""
        traced = [self.trace(span) for span in spans]
        if not traced:
            return SpanProvenance(kind="parametric")
        return max(traced, key=lambda provenance: _SEVERITY.index(provenance.kind))

    def _texts(self) -> tuple[tuple[SuppliedText, str], ...]:
        if self._prepared is None:
            # Inputs first: what was handed over is no leak of this agent, even if it also stands in a source.
            ordered = sorted(self._supplied, key=lambda text: text.kind != "input")
            self._prepared = tuple((text, normalise(text.text)) for text in ordered)
        return self._prepared


def normalise(text: str) -> str:
    """Return `text` with width, case, quotes, dashes and spaces evened out; digits and points stay.

    >>> normalise("Ｔｈｅ  “Index”\\n数据 库")
    'the "index"数据库'
    """
    even = unicodedata.normalize("NFKC", text).casefold().translate(_EVEN)
    spaced = " ".join(even.split())
    return _CJK_GAP.sub("", spaced)


_SEVERITY: Final[tuple[SpanKind, ...]] = ("input", "source", "parametric")
_END_MARKS: Final = " .。!?;:,、"
_EVEN: Final = str.maketrans(
    {**dict.fromkeys("“”„«»「」『』", '"'), **dict.fromkeys("‘’‚", "'"), **dict.fromkeys("‐‑‒–—−", "-")}
)
_CJK: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK_GAP: Final = re.compile(rf"(?<=[{_CJK}，。！？；：、]) (?=\S)|(?<=\S) (?=[{_CJK}，。！？；：、])")
_CJK_CHARACTER: Final = re.compile(f"[{_CJK}]")


def _letters(text: str) -> int:
    return sum(CJK_LETTERS if _CJK_CHARACTER.match(char) else char.isalnum() for char in text)


def _holds(text: str, wanted: str) -> bool:
    """Find `wanted` where it does not cut a word or a number in two: `5 km` is not in `15 km`."""
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not _cuts(text, start, wanted[0]) and not _cuts_end(text, end, wanted[-1]):
            return True
        start = text.find(wanted, start + 1)
    return False


def _cuts(text: str, start: int, first: str) -> bool:
    return start > 0 and _joined(text[start - 1], first)


def _cuts_end(text: str, end: int, last: str) -> bool:
    if end < len(text) and _joined(last, text[end]):
        return True
    # A number must not end at its decimal point.
    return last.isdigit() and text[end : end + 1] in {".", ","} and text[end + 1 : end + 2].isdigit()


def _joined(left: str, right: str) -> bool:
    if _CJK_CHARACTER.match(left) or _CJK_CHARACTER.match(right):
        return False
    return left.isalnum() and right.isalnum()
