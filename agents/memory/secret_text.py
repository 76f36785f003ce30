"""Find what must not be kept: keys, passwords, card numbers. Says the kind and never the value."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, Literal

SecretKind = Literal["private_key", "key", "password", "card_number", "unreadable"]
"""`key`: in the form of a known provider, or the value of something called a key; `unreadable`: a long string without
words, which may be one."""

_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY")
_KEY_FORMS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{30,}"
    r"|hf_[A-Za-z0-9]{20,}|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,})"
)
_IS: Final = r"""["']?\s*(?:[=:：]|\bis\b|是|为)\s*["']?"""
_PASSWORD: Final = re.compile(
    rf"\b(?:password|passwd|passphrase|pwd|pin)\b{_IS}[^\s\"']{{4,}}|(?:密码|口令){_IS}[^\s\"'，。；]{{4,}}"
    r"|://[^\s/:@]+:[^\s/@]+@",
    re.IGNORECASE,
)
_NAMED_KEY: Final = re.compile(
    rf"(?:\b(?:api|access|secret|private)?[ _-]?(?:key|token|secret|credential)s?\b|密钥|令牌|秘钥|凭证){_IS}"
    r"(?=[^\s\"']*[0-9])[^\s\"']{6,}",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.])")
_LONG: Final = re.compile(r"[A-Za-z0-9+/_=-]{24,}")


def secret_in(text: str) -> SecretKind | None:
    """Return the kind of the first secret in `text`; `None` when none was recognised, which proves nothing.

    >>> secret_in("The key is sk-abcdefghijklmnopqrst"), secret_in("Prefer short lists.")
    ('key', None)
    """
    if _PRIVATE_KEY.search(text):
        return "private_key"
    if _KEY_FORMS.search(text) or _NAMED_KEY.search(text):
        return "key"
    if _PASSWORD.search(text):
        return "password"
    if any(_is_card(match.group()) for match in _DIGITS.finditer(text)):
        return "card_number"
    if any(_has_no_words(match.group()) for match in _LONG.finditer(text)):
        return "unreadable"
    return None


def _is_card(digits: str) -> bool:
    """Whether the check digit of a payment card is right (Luhn, ISO/IEC 7812-1)."""
    numbers = [int(char) for char in digits if char.isdigit()]
    doubled = [2 * n - 9 * (n > 4) if place % 2 else n for place, n in enumerate(reversed(numbers))]
    return sum(doubled) % 10 == 0


def _has_no_words(piece: str) -> bool:
    """Whether a long string mixes letters and digits as names and paths don't: no stretch of it reads as a word."""
    letters_and_digits = any(char.isdigit() for char in piece) and any(char.isalpha() for char in piece)
    stretches = re.findall(r"[A-Za-z]+", piece)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(piece))
    return letters_and_digits and changes >= 4 and max(map(len, stretches), default=0) < 9
