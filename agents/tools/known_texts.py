"""An index of texts that values may have come from: fed once, asked for each argument of each call.

Two readings of "occurs in": `says_exactly` for the user's own words, where a value has to stand as a whole, and
`contains` for untrusted text, where half a disguise is enough. Whoever is unsure calls the first less often and the
second more often: then a call is asked about, not waved through.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from agents.dates import DATES, Day, day_of

WORDS_IN_A_ROW: Final = 4
"""So many words of a text in the same order count as copied. Three in a row ("I would like to") are common property."""
CHARACTERS_IN_A_ROW: Final = 6
"""The same for Chinese, where a word has one or two characters."""
LONGEST_NUMBER: Final = 24
"""Characters; what is longer counts nothing and is compared as it is written."""
SHORT: Final = 6
"""Characters; a shorter value counts as contained only where it stands between word borders."""
EXCERPT_CHARS: Final = 60
"""On each side of a place that is shown."""

_HAN: Final = r"\u3400-\u9fff\uf900-\ufaff"
_URL: Final = r"(?:[a-z][a-z0-9+.\-]{1,20}://|www\.)[^\s<>\"'`，。；：！？、（）《》【】“”‘’]+"
# Everything that repeats is bounded or starts at a border only: a hostile text must not cost more than its length.
_EMAIL: Final = r"(?<![a-z0-9._%+'\-])[a-z0-9._%+'\-]{1,64}@(?:[a-z0-9\-]{1,63}\.){1,8}[a-z]{2,24}"
_HOST: Final = (
    r"(?<![@\w.\-/])(?:[a-z0-9](?:[a-z0-9\-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}(?::\d{1,5})?"
    r"(?:/[^\s<>\"'`，。；：！？、（）《》【】]*)?"
)
_IBAN: Final = r"(?<![a-z0-9])[a-z]{2}\d{2}(?:[ \-]?[a-z0-9]){11,30}(?![a-z0-9])"
_ADDRESSES: Final = re.compile(
    rf"(?P<url>{_URL})|(?P<email>{_EMAIL})|(?P<host>{_HOST})", re.IGNORECASE | re.ASCII
)
_ACCOUNTS: Final = re.compile(_IBAN, re.IGNORECASE | re.ASCII)
_NUMBERS: Final = re.compile(
    # No part of a date, a time, a word or a longer number.
    r"(?<![\w.])(?<!\d[\-/:,])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\d_a-z])(?![\-/:,]\d)(?!\s*[年月日号点时])"
    r"(?:\s?(?P<times>[万亿千百]|million\b|bn\b))?|(?<![\w.])(?P<k>\d+(?:\.\d+)?)(?=k\b)",
    re.IGNORECASE,
)
_TIMES: Final = {
    "百": 100,
    "千": 1_000,
    "万": 10_000,
    "亿": 100_000_000,
    "million": 1_000_000,
    "bn": 1_000_000_000,
}
_CLOCK: Final = re.compile(
    r"(?<![\d:.])(?P<h>[01]?\d|2[0-3])[:：](?P<min>[0-5]\d)(?::[0-5]\d)?\s*(?P<half>[ap]\.?m\b)?"
    r"|(?<![\d:.])(?P<h2>1[0-2]|[1-9])\s*(?P<half2>[ap]\.?m\b)"
    r"|(?P<early>上午|早上|下午|晚上|中午)?\s*(?<!\d)(?P<h3>[01]?\d|2[0-3])\s*[点时](?P<half3>半)?(?!间)",
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"\s+")
_RUNS: Final = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+")
_CODES: Final = re.compile(r"(?<![^\W_])(?=(?:[a-z]*\d){3})[a-z0-9]{6,128}(?![^\W_])", re.ASCII)
_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})
_TAIL: Final = ".,;:!?)]}>'\"…"
_JOINERS: Final = frozenset("./\\@-_+~%&=?#")


class Found(NamedTuple):
    """Where something was found."""

    text: int
    """Number of the text, from 0."""
    words: str
    """What of it stands there, in the form in which it is compared."""
    part: bool = False
    """Whether it stands there only as a part of longer words."""


class Clock(NamedTuple):
    """A time of day."""

    hour: int
    minute: int


def plain(text: str) -> str:
    """Return `text` in the form in which it is compared: NFKC, case-folded, white space single, quotes straight.

    >>> plain("Ｈello\\n  “World”")
    'hello "world"'
    """
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).translate(_QUOTES)).strip().casefold()


def undisguised(text: str) -> str:
    """Return `plain(text)` without characters that nobody sees (zero-width, direction marks, soft hyphens).

    Only for looking a value up in untrusted text: in the user's words a value with such a character does not stand.
    """
    return plain(_seen(text))


def _seen(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char) != "Cf")


def _written(text: str) -> str:
    """Return what `undisguised` makes of `text`, with its capitals, and with the ends of lines in white space."""
    told = unicodedata.normalize("NFKC", _seen(text)).translate(_QUOTES)
    return _SPACE.sub(lambda space: "\n" if "\n" in space[0] else " ", told).strip()


def addresses(text: str) -> frozenset[str]:
    """Return the URLs, hosts and e-mail addresses of `text`, each whole and in its canonical form; no file names.

    >>> sorted(addresses("See https://Example.com/A/, or write to Bob@Example.com."))
    ['bob@example.com', 'example.com/A']
    """
    found = set()
    for match in _ADDRESSES.finditer(unicodedata.normalize("NFKC", text)):
        whole = match[0].rstrip(_TAIL)
        if not (match["host"] and _is_file_name(whole)):
            found.add(whole.casefold() if match["email"] else canonical_url(whole))
    return frozenset(found)


def file_names(text: str) -> frozenset[str]:
    """Return the names of files in `text` that read as hosts and are none, in small letters.

    >>> sorted(file_names("Save Summary.md, then see docs.example.com, evil.zip/a and report.v2.txt."))
    ['report.v2.txt', 'summary.md']
    """
    return frozenset(
        whole.casefold()
        for match in _ADDRESSES.finditer(unicodedata.normalize("NFKC", text))
        if match["host"] and _is_file_name(whole := match[0].rstrip(_TAIL))
    )


def _is_file_name(host: str) -> bool:
    """Whether a name with a dot ends in a format and not in letters of a country or a kind of organisation.

    A few endings are both: there only a name with one dot, no path and no port is a file's.
    """
    ending = host.casefold().rpartition(".")[2]
    return ending in _FORMATS or (ending in _FORMATS_AND_DOMAINS and host.count(".") == 1)


_FORMATS: Final = frozenset(
    """txt doc docx odt rtf tex rst adoc bib xls xlsx ods csv tsv ppt pptx odp pdf epub json jsonl ndjson xml yaml yml
    toml ini cfg conf env html htm css scss log bak tmp sql sqlite db parquet ipynb js jsx ts tsx java cpp hpp png jpg
    jpeg gif svg webp bmp tiff mp3 wav mp4 avi mkv tar gz bz2 rar ics eml vcf diff patch lock""".split()  # noqa: SIM905
)
_FORMATS_AND_DOMAINS: Final = frozenset({"md", "zip", "py", "sh", "rs"})


def canonical_url(url: str) -> str:
    """Return a URL or host without `http(s)`: host in small letters, path and query as they stand, no last `/`.

    One with another scheme, and one that no two programs read alike (a user before the host, a backslash, no host), is
    returned as it is.

    >>> canonical_url("HTTPS://WWW.Example.com:443/Docs/?q=A#top")
    'www.example.com/Docs/?q=A#top'
    """
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return url
    if (
        not host
        or parts.scheme not in ("", "http", "https")
        or "@" in parts.netloc
        or re.search(r"[\s\\]", url)
    ):
        return url
    host = host if port in (None, 80, 443) else f"{host}:{port}"
    rest = (
        parts.path
        + (f"?{parts.query}" if parts.query else "")
        + (f"#{parts.fragment}" if parts.fragment else "")
    )
    return (host + rest).rstrip("/")


def host_of(url: str) -> str | None:
    """Return the host that `url` leads to, in small letters; `None` where that can't be told for certain."""
    whole = unicodedata.normalize("NFKC", url).strip()
    try:
        parts = urlsplit(whole if "://" in whole else f"//{whole}")
        host = parts.hostname
    except ValueError:
        return None
    unclear = not host or "@" in parts.netloc or "\\" in whole or any(char.isspace() for char in whole)
    return None if unclear else host


def is_address(value: str) -> bool:
    """Return whether `value` is one URL or host as a whole, and no e-mail address.

    >>> is_address("www.example.com"), is_address("look at www.example.com"), is_address("a@example.com")
    (True, False, False)
    """
    found = _ADDRESSES.fullmatch(unicodedata.normalize("NFKC", value).strip())
    return bool(found and not found["email"])


def accounts(text: str) -> frozenset[str]:
    """Return the account numbers (IBAN and their like) of `text`, without spaces, in small letters.

    >>> sorted(accounts("to DE89 3704 0044 0532 0130 00 please"))
    ['de89370400440532013000']
    """
    found = set()
    for match in _ACCOUNTS.finditer(unicodedata.normalize("NFKC", text)):
        # Words that follow are taken along by the pattern: a number ends with its last digit.
        whole = re.sub(r"[ \-]", "", match[0]).casefold()
        digits = sum(char.isdigit() for char in whole)
        if digits >= len(whole) // 2:
            found.add(re.sub(r"\D+$", "", whole) or whole)
    return frozenset(found)


def codes(text: str) -> frozenset[str]:
    """Return what identifies or opens something in a `plain` text.

    That is six or more letters and digits in a row, at least three of them digits.

    >>> sorted(codes("passport hgk137803, code 463820, in 2024"))
    ['463820', 'hgk137803']
    """
    return frozenset(match[0] for match in _CODES.finditer(text))


def numbers(text: str) -> frozenset[Decimal]:
    """Return the numbers of `text`, however they are written.

    >>> numbers("1,200.50 and 3万") == {Decimal("1200.5"), Decimal(30_000)}
    True
    """
    found = set()
    for match in _NUMBERS.finditer(unicodedata.normalize("NFKC", text)):
        times = match["times"] or ""
        digits = match[0].removesuffix(times).replace(",", "").strip()
        if len(digits) > LONGEST_NUMBER:
            continue
        value = Decimal(digits) * (1_000 if match["k"] else _TIMES.get(times.casefold(), 1))
        found.add(_bare(value))
    return frozenset(found)


def number_of(value: float) -> Decimal:
    """Return a JSON number as `numbers` would find it written.

    >>> number_of(1200.0) == number_of(1200)
    True
    """
    return _bare(Decimal(str(value)))


def days(text: str) -> frozenset[Day]:
    """Return the calendar dates of `text`, as far as they are given."""
    return frozenset(day for pattern in DATES for match in pattern.finditer(text) if (day := day_of(match)))


def clocks(text: str) -> frozenset[Clock]:
    """Return the times of day of `text`.

    >>> sorted(clocks("at 4 pm, 16:00 or 下午4点半"))
    [Clock(hour=16, minute=0), Clock(hour=16, minute=30)]
    """
    return frozenset(_clock(match) for match in _CLOCK.finditer(text))


def shingles(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each stretch of words (Chinese: characters) in a row of a `plain` text, and the number of its first."""
    at = 0
    for run in _word_runs(text):
        size = CHARACTERS_IN_A_ROW if _is_han(run[0]) else WORDS_IN_A_ROW
        for start in range(len(run) - size + 1):
            yield at + start, tuple(run[start : start + size])
        at += len(run)


def word_count(text: str) -> int:
    """Return how many words (Chinese: characters) a `plain` text has."""
    return sum(map(len, _word_runs(text)))


class KnownTexts:
    """Texts that are looked values up in. Each is read once, when it is added; 1 MB takes about a second.

    Holds about 30 bytes per byte of English text: add what a model was shown, not what a tool kept.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Start with `texts`, in order."""
        self._plain: list[str] = []
        self._written: list[str] = []
        self._undated: list[str] = []
        self._addresses: dict[str, int] = {}
        self._accounts: dict[str, int] = {}
        self._codes: dict[str, int] = {}
        self._numbers: dict[Decimal, int] = {}
        self._days: dict[Day, int] = {}
        self._clocks: dict[Clock, int] = {}
        self._shingles: set[int] = set()
        for text in texts:
            self.add(text)

    def __len__(self) -> int:
        """Return how many texts there are."""
        return len(self._plain)

    def add(self, text: str) -> int:
        """Add one text; returns its number, counted from 0."""
        number = len(self._plain)
        shown = undisguised(text)
        self._plain.append(shown)
        self._written.append(_written(text))
        self._undated.append(shown)
        found_in = (
            (self._addresses, addresses(text)),
            (self._accounts, accounts(text)),
            (self._codes, codes(shown)),
        )
        for kept, found in found_in:
            for one in found:
                kept.setdefault(one, number)
        for value in numbers(text):
            self._numbers.setdefault(value, number)
        self._shingles.update(hash(stretch) for _, stretch in shingles(shown))
        return number

    def says_exactly(self, value: str) -> bool:
        """Return whether `value` stands in a text as a whole: no part of a longer word, address, path or number.

        Addresses and account numbers have to be equal as wholes; of a date or time each part has to be given, where a
        year may be missing in the text. In Chinese, which has no borders of words, a part of a longer word is found.

        >>> KnownTexts(["mail bob@example.com today"]).says_exactly("ob@example.com")
        False
        """
        wanted = plain(value)
        if not wanted:
            return False
        if found := addresses(value):
            if not found <= self._addresses.keys():
                return False
            if len(found) == 1 and _ADDRESSES.fullmatch(unicodedata.normalize("NFKC", value).strip()):
                return True
        if (found := accounts(value)) and not found <= self._accounts.keys():
            return False
        if found and accounts(wanted) and re.sub(r"[ \-]", "", wanted) in found:
            return True
        return any(_stands(wanted, text) for text in self._plain) or self._says_when(value)

    def says_number(self, value: float) -> bool:
        """Return whether a text gives the number `value`, however written."""
        return number_of(value) in self._numbers

    def number_in(self, value: float) -> int | None:
        """Return the first text that gives the number `value`; `None`: none."""
        return self._numbers.get(number_of(value))

    def contains(self, value: str) -> Found | None:
        """Return where a text has `value`, disguised or as part of something longer; `None`: nowhere.

        One of its addresses, account numbers or codes is enough, or its date and time.
        """
        wanted = undisguised(value)
        if not wanted:
            return None
        for kept, found in (
            (self._addresses, addresses(value)),
            (self._accounts, accounts(value)),
            (self._codes, codes(wanted)),
        ):
            for one in sorted(found):
                if one in kept:
                    return Found(kept[one], one)
        for number, text in enumerate(self._plain):
            if _stands(wanted, text):
                return Found(number, wanted)
        if len(wanted) >= SHORT or _is_han(wanted[0]):
            for number, text in enumerate(self._plain):
                if wanted in text:
                    return Found(number, wanted, part=True)
        when = self._when_in(value)
        return None if when is None else Found(when, wanted)

    def has_written(self, value: str) -> bool:
        """Return whether a text has `value` letter by letter, as a whole or not."""
        wanted = undisguised(value)
        return any(wanted in text for text in self._plain)

    def has_copied(self, stretch: tuple[str, ...]) -> bool:
        """Return whether a text has the words of one of the `shingles` in a row."""
        return hash(stretch) in self._shingles

    def first_with(self, stretch: tuple[str, ...]) -> Found | None:
        """Return where `stretch` stands first; `None`: nowhere."""
        if not self.has_copied(stretch):
            return None
        pattern = re.compile(r"[\W_]*".join(map(re.escape, stretch)))
        for number, text in enumerate(self._plain):
            if found := pattern.search(text):
                return Found(number, found[0])
        return None

    def excerpt(self, found: Found) -> str:
        """Return the line around what was found; the text's beginning, where it reads otherwise.

        What stands there only as a part of longer words is marked: `the ‹member›ship fee`.
        """
        text, wanted = self._plain[found.text], undisguised(found.words)
        at = _standing_at(wanted, text)
        at = max(text.find(wanted) if at is None else at, 0)
        written = self._written[found.text]
        if len(written) != len(text):
            # A letter that is longer in small: places differ, so it is shown as compared.
            written = text
        last = at + min(len(wanted), EXCERPT_CHARS)
        start = max(0, at - EXCERPT_CHARS, written.rfind("\n", 0, at) + 1)
        line = written.find("\n", at + len(wanted))
        end = min(last + EXCERPT_CHARS, len(text), line if line >= 0 else len(text))
        middle = f"‹{written[at:last]}›" if found.part else written[at:last]
        shown = f"{written[start:at]}{middle}{written[last:end]}"
        before, after = start > 0 and written[start - 1] != "\n", end < len(text) and end != line
        return ("…" if before else "") + shown.replace("\n", " ") + ("…" if after else "")

    def _read_times(self) -> None:
        # Reading dates takes longer than everything else: not before somebody asks for one.
        first = len(self._plain) - len(self._undated)
        for number, text in enumerate(self._undated, first):
            for day in days(text):
                self._days.setdefault(day, number)
            for clock in clocks(text):
                self._clocks.setdefault(clock, number)
        self._undated.clear()

    def _says_when(self, value: str) -> bool:
        when = _when(value)
        if when is None:
            return False
        self._read_times()
        dated = all(any(known.within(day) and known.day for known in self._days) for day in when.days)
        return dated and when.clocks <= self._clocks.keys()

    def _when_in(self, value: str) -> int | None:
        when = _when(value)
        if when is None:
            return None
        self._read_times()
        found = [number for day, number in self._days.items() for one in when.days if day.within(one)]
        found += [number for clock, number in self._clocks.items() if clock in when.clocks and not when.days]
        return min(found, default=None)


class _When(NamedTuple):
    days: frozenset[Day]
    clocks: frozenset[Clock]


_ISO: Final = re.compile(r"(\d{4}-\d{2}-\d{2})[tT](?=\d{2}:)")


def _when(value: str) -> _When | None:
    """A value that is a date, a time or both, and nothing else."""
    text = _ISO.sub(r"\1 ", value).removesuffix("Z")
    found_days, found_clocks = days(text), clocks(text)
    if not found_days and not found_clocks:
        return None
    for pattern in (*DATES, _CLOCK):
        text = pattern.sub(" ", text)
    return None if re.search(r"[^\W_]", text) else _When(found_days, found_clocks)


def _clock(match: re.Match[str]) -> Clock:
    hour = int(match["h"] or match["h2"] or match["h3"])
    half = (match["half"] or match["half2"] or "").casefold()
    later = half.startswith("p") or match["early"] in ("下午", "晚上")
    if later and hour < 12:
        hour += 12
    elif half.startswith("a") and hour == 12:
        hour = 0
    return Clock(hour, int(match["min"] or (30 if match["half3"] else 0)))


def _stands(wanted: str, text: str) -> bool:
    return _standing_at(wanted, text) is not None


def _standing_at(wanted: str, text: str) -> int | None:
    """Return where `wanted` stands in `text` as a whole, no part of anything longer; `None`: nowhere."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        before, after = text[max(0, at - 2) : at][::-1], text[end : end + 2]
        # A single character is a word in Chinese only where it stands alone.
        alone = len(wanted) > 1 or not (before[:1].isalnum() or after[:1].isalnum())
        if alone and _border(wanted[0], before) and _border(wanted[-1], after):
            return at
        at = text.find(wanted, at + 1)
    return None


def _border(edge: str, beyond: str) -> bool:
    """Whether a value with the character `edge` at its end may end where `beyond` follows (two characters, outward)."""
    if not beyond or not edge.isalnum():
        return True
    first, second = beyond[0], beyond[1:2]
    if edge.isdigit() and (first in "年月日号点时" or (first in ":," and second.isdigit())):
        return False
    if _is_han(edge) or _is_han(first):
        return True
    if first.isalnum() or first == "_" or unicodedata.category(first) == "Cf":
        return False
    return not (first in _JOINERS and second.isalnum() and not _is_han(second))


def _word_runs(text: str) -> Iterator[list[str]]:
    words: list[str] = []
    for match in _RUNS.finditer(text):
        if _is_han(match[0][0]):
            if words:
                yield words
                words = []
            yield list(match[0])
        else:
            words.append(match[0])
    if words:
        yield words


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"


def _bare(value: Decimal) -> Decimal:
    """Without zeros at the end; zero has one form only."""
    return value.normalize() if value else Decimal(0)
