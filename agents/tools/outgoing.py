"""What an address tells the host that it leads to: whether the host is listed, and whether text goes along.

A host that the user listed is read from whoever names it. That is meant for links: an address that somebody put
together out of a document tells the host what stands there, be the host a listed one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import unquote_plus, urlsplit

from agents.tools.known_texts import (
    KnownTexts,
    canonical_url,
    codes,
    host_of,
    shingles,
    undisguised,
    word_count,
)

FEWEST_WORDS: Final = 2
"""Words of a value in a query that count as text of a document where it stands there; one word is a search."""
FEWEST_CHARACTERS: Final = 4
"""The same in Chinese: two words of two characters."""
_ENCODED_TIMES: Final = 3
"""How often a value may be encoded within itself and is still read."""
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def is_listed(url: str, hosts: Collection[str]) -> bool:
    """Return whether `url` leads to one of `hosts`, in small letters: exact, with `:port` where it is another one.

    >>> hosts = {"a.org", "b.org:8080"}
    >>> [is_listed(url, hosts) for url in ("https://A.org/x", "http://b.org:8080", "a.org:81", "b.org")]
    [True, True, False, False]
    """
    host = host_of(url)
    try:
        parts = urlsplit(url.strip() if "://" in url else f"//{url.strip()}")
        port = parts.port
    except ValueError:
        return False
    if host is None or parts.scheme not in ("", "http", "https"):
        return False
    own = {"http": 80, "https": 443}.get(parts.scheme)
    name = f"[{host}]" if ":" in host else host
    return (port in (None, own) and name in hosts) or f"{name}:{port or own}" in hosts


def takes_along(url: str, *, trusted: KnownTexts, untrusted: KnownTexts) -> bool:
    """Return whether `url` holds text of `untrusted` beyond the addresses that stand there, and not in `trusted`.

    Text are words in a row, a code, or a value of several words; also when it is encoded as addresses are.
    """
    rest = _beyond(canonical_url(url), untrusted)
    for _ in range(_ENCODED_TIMES):
        rest = unquote_plus(rest)
    text = undisguised(rest)
    if any(untrusted.has_copied(each) and not trusted.has_copied(each) for _, each in shingles(text)):
        return True
    values = [*codes(text), *filter(_is_text, re.split(r"[/?&=#;]", text))]
    return any(untrusted.contains(each) is not None and not trusted.says_exactly(each) for each in values)


def _is_text(value: str) -> bool:
    return word_count(value) >= (FEWEST_CHARACTERS if _HAN.search(value) else FEWEST_WORDS)


def _beyond(address: str, untrusted: KnownTexts) -> str:
    """Return what `address` adds to the longest beginning of it, up to a border, that an untrusted text has."""
    borders = [len(address), *(match.start() for match in re.finditer(r"[/?&=#]", address))]
    known = next((at for at in sorted(borders, reverse=True) if untrusted.has_written(address[:at])), 0)
    # The host is told nothing by its own name.
    return address[max(known, min(borders[1:], default=len(address))) :]
