"""What the user trusts of each MCP server: where it is, and the description of every tool as it was shown.

A description is text that goes to models, so a server that changes it later could have agents do something else than
what was approved. What models see is the description that is kept here; a server whose own differs is held. So is one
that is started or reached otherwise than when it was trusted: it is another server of the same name.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents.tools.configuration import McpServer
from agents.tools.yaml_lines import InvalidToolsFile

PINS_FILE: Final = "tools-trusted.json"
_VERSION: Final = 2
_NOTHING: Final[Mapping[str, Any]] = {"tools": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A tool as its server describes it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None

    @property
    def digest(self) -> str:
        """SHA-256 over name, description and schemas, hex; equal only for equal JSON."""
        told = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
            "output_schema": self.output_schema,
        }
        text = json.dumps(told, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()


def place_of(server: McpServer) -> str:
    """Return the SHA-256, hex, over all that says which program or address a server is and what it is given.

    Of secrets the names count, never the values: a new key makes no new server.
    """
    told = {
        "command": server.command,
        "args": server.args,
        "env": dict(server.env),
        "env_from": dict(server.env_from),
        "url": server.url,
        "headers_from": dict(server.headers_from),
    }
    text = json.dumps(told, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class PinsFile:
    """The file of trusted descriptions in a data directory."""

    home: Path

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.home / PINS_FILE

    def trusted(self, server: str) -> Mapping[str, Described]:
        """Return what is trusted of `server`, by the tool's name.

        Raises `InvalidToolsFile` for a file that can't be read or whose digests do not fit what they stand beside.
        """
        found: dict[str, Described] = {}
        for name, held in self._read().get(server, _NOTHING)["tools"].items():
            try:
                described = Described(
                    name=name,
                    description=held["description"],
                    input_schema=held["input_schema"],
                    output_schema=held["output_schema"],
                )
                fits = described.digest == held["digest"]
            except (TypeError, KeyError, ValueError):
                fits = False
            if not fits:
                raise self._broken(f"the entry of {server}/{name}", f"{server}/{name} 的条目")
            found[name] = described
        return found

    def place(self, server: str) -> str | None:
        """Return where `server` was when it was trusted, as `place_of`; `None`: nothing of it is trusted."""
        held = self._read().get(server)
        return None if held is None else str(held["place"])

    def trust(self, server: McpServer, tools: Iterable[Described]) -> None:
        """Record `tools` as all that is trusted of `server`, where it is now, from now on."""
        servers = dict(self._read())
        held = {
            tool.name: {
                "digest": tool.digest,
                "description": tool.description,
                "input_schema": tool.input_schema,
                "output_schema": tool.output_schema,
            }
            for tool in tools
        }
        servers[server.name] = {"place": place_of(server), "tools": held}
        text = json.dumps({"version": _VERSION, "servers": servers}, ensure_ascii=False, indent=1)
        self.home.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(text + "\n", encoding="utf-8")
        os.replace(temporary, self.path)

    def _read(self) -> Mapping[str, Any]:
        try:
            held = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise self._broken("it", "该文件") from error
        servers = held.get("servers") if isinstance(held, dict) else None
        right = isinstance(servers, dict) and all(
            isinstance(each, dict)
            and isinstance(each.get("tools"), dict)
            and isinstance(each.get("place"), str)
            for each in servers.values()
        )
        if not right or held.get("version") != _VERSION:
            raise self._broken("it", "该文件")
        return servers or {}

    def _broken(self, en: str, zh: str) -> InvalidToolsFile:
        return InvalidToolsFile(
            self.path,
            None,
            en=f"{en} is not as it was written. Accepted: what `maskgrad tools trust` writes. Move the file away and "
            "trust the servers again.",
            zh=f"{zh}与写入时不同。可接受：`maskgrad tools trust` 写入的内容。请移走该文件并重新信任各服务器。",
        )
