"""Secrets that must not get into logs, prompts and errors: those of a server's configuration, and in foreign texts.

What nothing shows to be a secret is not found: a token that stands alone in an exception's text, a password that is a
plain word among the arguments of a command.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

SHORTEST_SECRET: Final = 6
"""Characters of a value that is hidden in what a server says: shorter ones, such as `1` or `en`, stand in any text."""
LONGEST_WORD: Final = 12
"""Letters of a value of `env` that is taken for a word, such as `production`, where its name says nothing else."""
SHORTEST_TOKEN: Final = 16
"""Characters of a piece of letters and digits that is taken for a token."""
_COMPOUND: Final = r"(?:api|access|private|secret|auth)[ _-]?(?:key|token)"
_PLAIN: Final = r"secret|passw(?:or)?d|passphrase|pwd|authorization|credentials?"
_SAYS_SECRET: Final = re.compile(rf"key|token|auth|(?<![a-z])pat(?![a-z])|{_PLAIN}", re.IGNORECASE)
_TOKEN: Final = re.compile(rf"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_\-.~+=]{{{SHORTEST_TOKEN},}}")
_PATH: Final = re.compile(r"(?:[~.]{0,2}/|[A-Za-z]:\\).*")
_USER_OF_URL: Final = re.compile(r"(?<=://)[^\s/@'\"<>]*@")
_QUERY_OF_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]{0,20}://[^\s?#'\"<>]*[?#])[^\s'\"<>]+")
# A key or token alone is one of many things ("no such key: name"): there only what is set counts.
_NAMED_VALUE: Final = re.compile(
    rf"(\b(?:(?:{_COMPOUND}|{_PLAIN})[\"']?\s*[=:]|(?:key|token)=)\s*[\"']?)(?:(?:bearer|basic|token)\s+)?[^\s\"',;&]+",
    re.IGNORECASE,
)


def without_secrets(text: str) -> str:
    """Return a foreign error's text with users and queries of URLs, and values that are called a secret, as stars.

    >>> without_secrets("401 for https://me:pw@x.org/a?token=abc, api_key=sk-1")
    '401 for https://***@x.org/a?*** api_key=***'
    """
    text = _QUERY_OF_URL.sub(r"\1***", _USER_OF_URL.sub("***@", text))
    return _NAMED_VALUE.sub(r"\1***", text)


def secrets_of(
    *, url: str | None, args: Sequence[str], env: Mapping[str, str], taken: Sequence[str]
) -> tuple[str, ...]:
    """Return what is hidden of a server's configuration, longest first.

    That is each value of `taken` (out of the environment) and what follows a scheme such as `Bearer` in it; user, query
    and tokens in the path of `url`; values of `env`, but for paths and plain words under a name that says nothing; and
    of `args` what a name such as `--api-key` announces, tokens, and users and queries of URLs.
    """
    found = [part for value in taken for part in (value, *value.split()[-1:])]
    found += [*(_of_url(url) if url is not None else ()), *_of_env(env), *_of_args(args)]
    # Longest first: where one is within another, nothing of the longer one may stay.
    return tuple(
        sorted({each for each in found if len(each) >= SHORTEST_SECRET}, key=lambda each: (-len(each), each))
    )


def _of_env(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        if "://" in value:
            yield from _of_url(value)
        word = _PATH.fullmatch(value) or (value.isalpha() and len(value) <= LONGEST_WORD)
        if _SAYS_SECRET.search(name) or not (word or "://" in value):
            yield value


def _of_args(args: Sequence[str]) -> Iterator[str]:
    for before, given in zip(("", *args), args, strict=False):
        name, is_set, value = given.partition("=")
        if not is_set or "://" in name:
            name, value = before if before.startswith("-") and "=" not in before else "", given
        if _SAYS_SECRET.search(name) or _TOKEN.fullmatch(value):
            yield value
        if "://" in value:
            yield from _of_url(value)


def _of_url(url: str) -> Iterator[str]:
    """Yield the secrets of a URL as they stand, decoded, and encoded as clients write them."""
    try:
        parts = urlsplit(url)
    except ValueError:
        yield url
        return
    user = parts.netloc.rpartition("@")[0]
    pieces = [user, *user.split(":"), parts.query, parts.fragment]
    pieces += [value for _, value in parse_qsl(parts.query, keep_blank_values=True)]
    pieces += [value for each in parts.query.split("&") for value in [each.partition("=")[2]]]
    pieces += [each for each in parts.path.split("/") if _TOKEN.fullmatch(unquote(each))]
    for each in pieces:
        yield from {each, unquote(each), quote(each, safe=""), quote_plus(each), quote(each)}
    if user:
        # What a client makes of it: a header of its own.
        yield base64.b64encode(unquote(user).encode()).decode()
