"""What in a Chinese text is English, and is no name, no code and no quotation."""

from __future__ import annotations

import re

TYPES = {
    "JSON",
    "HTML",
    "XML",
    "MCP",
    "object",
    "array",
    "string",
    "integer",
    "boolean",
    "number",
    "null",
    "or",
}
"""Names that stand in a text without backquotes: of types, as JSON calls them, and of forms."""
_NAMED = re.compile(r"`[^`]*`|“[^”]*”|'[^']*'|\"[^\"]*\"|\b[A-Z]+(?:_[A-Z]+)+\b|\boffset \d+")


def english(text: str) -> set[str]:
    """Return the words of English in `text` that are neither typed names nor codes nor quoted."""
    return set(re.findall(r"[A-Za-z]{2,}", _NAMED.sub(" ", text))) - TYPES
