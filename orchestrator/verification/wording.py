"""The two languages of what the verification tells people."""

from __future__ import annotations

from graphs.contract import Lang


def said(lang: Lang, *, en: str, zh: str) -> str:
    """Return the wording in `lang`.

    >>> said("zh", en="missing", zh="缺失")
    '缺失'
    """
    return zh if lang == "zh" else en
