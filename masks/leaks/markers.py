"""Write and read the marker by which an agent declares a leak.

    [蒙版泄漏 | agent=分析员 | 域=cs.databases | 强度=0.55]
    [mask leak | agent=analyst | domain=cs.databases | strength=0.55]

Both forms say the same (specification 3.3, semantics 2). Reading is tolerant, since models write markers:
full-width brackets, bars and equals signs, missing or surplus spaces, any case, field names of the other
language. A domain may be given as id, name or alias in either language. Characters of an agent's name that
the grammar uses are percent-encoded when written and decoded when read, so every name survives.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import quote, unquote

from masks.bands import (
    DEFAULT_THRESHOLDS,
    Band,
    Thresholds,
    check_m100,
    format_mask_value,
    parse_mask_value,
)
from masks.domains import DomainId, DomainRegistry, Lang
from masks.errors import MaskValueError, UnknownDomain
from masks.vector import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakMarker:
    """Hold what a marker declares. Raises `MaskValueError` for a strength outside -100..100."""

    agent: str
    domain: str
    """As written: an id, a name or an alias; `DomainRegistry.resolve` decides."""
    strength: int
    """Hundredths."""

    def __post_init__(self) -> None:
        check_m100(self.strength)


class MarkerDefect(StrEnum):
    """Say why a marker cannot be read."""

    UNCLOSED = "unclosed"
    """The closing bracket is missing."""
    MISSING_FIELD = "missing_field"
    """Agent, domain or strength is not given."""
    REPEATED_FIELD = "repeated_field"
    """A field is given twice."""
    UNKNOWN_FIELD = "unknown_field"
    """Something stands between the bars that is no field."""
    BAD_STRENGTH = "bad_strength"
    """The strength is no mask value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMarker:
    """Hold one marker of a text and its place, `raw == text[start:end]`.

    Exactly one of `marker` and `defect` is set.
    """

    marker: LeakMarker | None
    start: int
    end: int
    lang: Lang
    raw: str
    defect: MarkerDefect | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedMarker:
    """Hold a marker that was taken out and where it stood."""

    found: FoundMarker
    """With its place in the text it was found in."""
    position: int
    """Index into the stripped text at which it stood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrippedText:
    """Hold a text without markers, and the markers in order of their position."""

    text: str
    markers: tuple[PlacedMarker, ...]


class MarkerFindingKind(StrEnum):
    """Say what is wrong with a declaration; findings, never crashes (semantics 2)."""

    MALFORMED = "malformed"
    """It cannot be read."""
    UNKNOWN_DOMAIN = "unknown_domain"
    """It names no leaf of the registry."""
    WRONG_AGENT = "wrong_agent"
    """It names another agent."""
    WRONG_STRENGTH = "wrong_strength"
    """It states another strength than the agent's mask value."""
    NO_LEAK = "no_leak"
    """The domain is in the agent's MAIN band; nothing had to be declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerFinding:
    """Hold one thing that is wrong with one marker."""

    kind: MarkerFindingKind
    got: str
    expected: str
    """What would have been right; empty if many things would."""
    start: int
    end: int


def render_marker(marker: LeakMarker, lang: Lang) -> str:
    """Return the marker in the form of `lang`.

    >>> render_marker(LeakMarker(agent="a|b", domain="cs.databases", strength=55), "en")
    '[mask leak | agent=a%7Cb | domain=cs.databases | strength=0.55]'
    """
    words = _WORDS[lang]
    fields = (
        ("agent", marker.agent),
        (words.domain, marker.domain),
        (words.strength, format_mask_value(marker.strength)),
    )
    body = " | ".join(f"{name}={_escape(value)}" for name, value in fields)
    return f"[{words.head} | {body}]"


def find_markers(text: str) -> tuple[FoundMarker, ...]:
    """Return every marker of `text` in order, unreadable ones with their defect."""
    return tuple(_read(match) for match in _MARKER.finditer(text))


def strip_markers(text: str) -> StrippedText:
    """Return `text` without markers, readable or not, and where each of them stood.

    The spaces before a marker go with it (at the start of a line those behind it), so that no gap stays. A marker
    belongs to the sentence that it stands in or directly behind. Text that would become a marker only by the
    removal of another is removed too.
    """
    placed: tuple[PlacedMarker, ...] = ()
    while found := find_markers(text):
        text, placed = _strip_once(text, found, placed)
    return StrippedText(text=text, markers=tuple(sorted(placed, key=lambda marker: marker.position)))


def check_marker(
    found: FoundMarker,
    agent: str,
    mask: Mask,
    registry: DomainRegistry,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
) -> tuple[MarkerFinding, ...]:
    """Return everything that is wrong with a declaration by `agent` under `mask`; empty if it is right."""
    marker = found.marker
    if marker is None:
        return (_finding(found, MarkerFindingKind.MALFORMED, found.raw, ""),)
    findings = []
    if unicodedata.normalize("NFKC", marker.agent) != unicodedata.normalize("NFKC", agent):
        findings.append(_finding(found, MarkerFindingKind.WRONG_AGENT, marker.agent, agent))
    leaf = declared_leaf(marker, registry)
    if leaf is None:
        findings.append(_finding(found, MarkerFindingKind.UNKNOWN_DOMAIN, marker.domain, ""))
        return tuple(findings)
    value = mask.value(leaf)
    if marker.strength != value:
        got, expected = format_mask_value(marker.strength), format_mask_value(value)
        findings.append(_finding(found, MarkerFindingKind.WRONG_STRENGTH, got, expected))
    if mask.band(leaf, thresholds) is Band.MAIN:
        findings.append(_finding(found, MarkerFindingKind.NO_LEAK, leaf, ""))
    return tuple(findings)


def declared_leaf(marker: LeakMarker, registry: DomainRegistry) -> DomainId | None:
    """Return the leaf that a marker declares, None if it names no leaf of the registry."""
    try:
        domain = registry.resolve(marker.domain)
    except UnknownDomain:
        return None
    return domain if registry.is_leaf(domain) else None


def render_finding(finding: MarkerFinding, lang: Lang) -> str:
    """Return one line for people: what was declared, and what would have been right."""
    text = _FINDING_TEXT[finding.kind][lang].format(got=repr(finding.got))
    if not finding.expected:
        return text
    return f"{text}; expected {finding.expected!r}" if lang == "en" else f"{text}；应为 {finding.expected!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    head: str
    domain: str
    strength: str


_WORDS: Final[Mapping[Lang, _Words]] = {
    "en": _Words(head="mask leak", domain="domain", strength="strength"),
    "zh": _Words(head="蒙版泄漏", domain="域", strength="强度"),
}

_FIELDS: Final[Mapping[str, str]] = {
    "agent": "agent",
    "智能体": "agent",
    "domain": "domain",
    "域": "domain",
    "知识域": "domain",
    "strength": "strength",
    "强度": "strength",
}

_FINDING_TEXT: Final[Mapping[MarkerFindingKind, Mapping[Lang, str]]] = {
    MarkerFindingKind.MALFORMED: {
        "en": "The leak marker {got} cannot be read",
        "zh": "泄漏标记 {got} 无法解析",
    },
    MarkerFindingKind.UNKNOWN_DOMAIN: {
        "en": "The leak marker names {got}, which is no domain of the registry that carries a mask value",
        "zh": "泄漏标记中的 {got} 不是注册表中带蒙版值的知识域",
    },
    MarkerFindingKind.WRONG_AGENT: {
        "en": "The leak marker names the agent {got}",
        "zh": "泄漏标记中的 agent 为 {got}",
    },
    MarkerFindingKind.WRONG_STRENGTH: {
        "en": "The leak marker states the strength {got}",
        "zh": "泄漏标记中的强度为 {got}",
    },
    MarkerFindingKind.NO_LEAK: {
        "en": "The leak marker declares {got}, which is in the agent's main band",
        "zh": "泄漏标记声明了 {got}，而它属于该 agent 的主激活域",
    },
}

_OPEN, _CLOSE, _BAR, _EQUALS = "[［【", "]］】", "|｜", "=＝"
_GRAMMAR: Final = frozenset(_OPEN + _CLOSE + _BAR + _EQUALS + "%")
_NAMES: Final = "|".join(sorted(_FIELDS, key=len, reverse=True))
_SPACE: Final = r"[^\S\r\n]*"
_VALUE: Final = rf"[^{re.escape(_OPEN + _CLOSE + _BAR)}\r\n]*"

_MARKER: Final = re.compile(
    rf"[{re.escape(_OPEN)}]{_SPACE}(?:(?P<en>mask[\s_-]*leak)|(?P<zh>蒙版{_SPACE}泄[漏露]))"
    rf"(?:{_SPACE}(?P<body>(?:[{_BAR}]{_VALUE})+)[{re.escape(_CLOSE)}]"
    # Without a closing bracket only what looks like fields is taken, so that no sentence is swallowed.
    rf"|(?P<rest>(?:{_SPACE}[{_BAR}]{_SPACE}(?:{_NAMES}){_SPACE}[{_EQUALS}]{_SPACE}"
    rf"[^\s{re.escape(_OPEN + _CLOSE + _BAR)}，。；,;]*)+))",
    re.IGNORECASE,
)


def _read(match: re.Match[str]) -> FoundMarker:
    marker: LeakMarker | None = None
    defect: MarkerDefect | None = MarkerDefect.UNCLOSED
    if match["body"] is not None:
        marker, defect = _parse(match["body"])
    return FoundMarker(
        marker=marker,
        start=match.start(),
        end=match.end(),
        lang="en" if match["en"] else "zh",
        raw=match[0],
        defect=defect,
    )


def _parse(body: str) -> tuple[LeakMarker | None, MarkerDefect | None]:
    fields: dict[str, str] = {}
    for part in re.split(f"[{_BAR}]", body)[1:]:
        name, _, value = re.sub(f"[{_EQUALS}]", "=", part, count=1).partition("=")
        field = _FIELDS.get(unicodedata.normalize("NFKC", name).strip().casefold())
        if field is None:
            return None, MarkerDefect.UNKNOWN_FIELD
        if field in fields:
            return None, MarkerDefect.REPEATED_FIELD
        fields[field] = unquote(value.strip(), errors="surrogatepass")
    if len(fields) < len(set(_FIELDS.values())):
        return None, MarkerDefect.MISSING_FIELD
    try:
        strength = parse_mask_value(fields["strength"])
    except MaskValueError:
        return None, MarkerDefect.BAD_STRENGTH
    return LeakMarker(agent=fields["agent"], domain=fields["domain"], strength=strength), None


def _escape(value: str) -> str:
    last = len(value) - 1
    return "".join(
        quote(char, safe="") if _needs_escape(char, at_end=place in (0, last)) else char
        for place, char in enumerate(value)
    )


def _needs_escape(char: str, *, at_end: bool) -> bool:
    return char in _GRAMMAR or (char.isspace() and (at_end or char != " "))


def _strip_once(
    text: str, found: tuple[FoundMarker, ...], placed: tuple[PlacedMarker, ...]
) -> tuple[str, tuple[PlacedMarker, ...]]:
    pieces: list[str] = []
    positions: list[int] = []
    cuts: list[tuple[int, int]] = []
    kept = at = 0
    for marker in found:
        start, end = _with_spaces(text, marker.start, marker.end, floor=at)
        pieces.append(text[at:start])
        kept += start - at
        positions.append(kept)
        cuts.append((start, end))
        at = end
    pieces.append(text[at:])
    new = [PlacedMarker(found=m, position=p) for m, p in zip(found, positions, strict=True)]
    moved = [PlacedMarker(found=m.found, position=_moved(m.position, cuts)) for m in placed]
    return "".join(pieces), (*moved, *new)


def _with_spaces(text: str, start: int, end: int, *, floor: int) -> tuple[int, int]:
    while start > floor and text[start - 1] in " \t\u3000":
        start -= 1
    if start == 0 or text[start - 1] in "\r\n":
        while end < len(text) and text[end] in " \t\u3000":
            end += 1
    return start, end


def _moved(position: int, cuts: list[tuple[int, int]]) -> int:
    return position - sum(min(position, end) - start for start, end in cuts if start < position)


def _finding(found: FoundMarker, kind: MarkerFindingKind, got: str, expected: str) -> MarkerFinding:
    return MarkerFinding(kind=kind, got=got, expected=expected, start=found.start, end=found.end)
