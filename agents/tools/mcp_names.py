"""The names by which models call the tools of MCP servers, and when two of them would be one.

A name that two tools have would send the call of one, with its grant and its contract, to the other.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Final

LONGEST_TOOL_NAME: Final = 64
"""What the providers of chat models accept."""
_DIGEST: Final = 8
"""Characters of a digest."""
_WHOLE: Final = LONGEST_TOOL_NAME - _DIGEST - 1
"""Characters of a name before its digest: more than the longest name of a server has, with `__`."""


@lru_cache(maxsize=4_096)
def offered_name(server: str, tool: str) -> str:
    """Return the name by which models call a tool of a server.

    >>> offered_name("files", "read.page")
    'files__read_page'
    """
    name = _part(f"{server}__{tool}")
    if len(name) <= LONGEST_TOOL_NAME and server.isascii() and tool.isascii():
        return name
    # Cut, or of characters that all became `_`: the digest keeps names apart.
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:_DIGEST]
    return f"{name[:_WHOLE]}_{digest}"


def may_name(server: str, name: str) -> bool:
    """Say whether a tool that models call `name` can be one of this server's; none of its own is missed."""
    # What comes after the server's name may be cut, or stand for another one.
    return name.startswith(_beginning(server)[:_WHOLE])


def may_collide(one: str, other: str) -> bool:
    """Say whether two servers may have tools of one name, by their names alone.

    Those with a digest in every name are kept apart by it, unless somebody looks for two that are equal.

    >>> may_collide("mail.x", "mail_x"), may_collide("a", "a__b"), may_collide("a", "a_b"), may_collide("数据", "资料")
    (True, True, False, False)
    """
    if not (one.isascii() and other.isascii()):
        return False
    first, second = sorted((_beginning(one), _beginning(other)), key=len)
    return second.startswith(first)


def _beginning(server: str) -> str:
    return _part(f"{server}__")


def _part(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)
