"""Name the two languages that everything people read is written in."""

from typing import Literal, TypeAlias

Lang: TypeAlias = Literal["en", "zh"]
"""`en` is English, `zh` is Simplified Chinese."""

LANGS: tuple[Lang, ...] = ("en", "zh")
