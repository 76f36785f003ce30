"""How a tool of an MCP server stands now, and what is said where it is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from agents.tools.mcp_names import offered_name

Standing = Literal["usable", "new", "same_name", "moved", "unreachable", "gone", "changed"]
"""How a tool of a server stands now.

- `usable`: it is described as it is trusted, or its server was not asked yet.
- `new`: nobody trusts it.
- `same_name`: another trusted tool has the name that models call it by; both are held.
- `moved`: its server is started or reached otherwise than when it was trusted; it is not even started.
- `unreachable`: its server was not reached when it was last asked.
- `gone`: its server does not have it any more.
- `changed`: its server describes it otherwise than it is trusted.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """What is to be said of a tool."""

    server: str
    tool: str
    down: str | None
    """Why the server was not reached."""
    namesake: tuple[str, str] | None
    """Server and name of another tool that models would call alike."""

    def held(self, standing: Standing) -> str | None:
        """Say why the tool is not used, and what to do where that is for the user; `None`: it may be used."""
        name, tool = self.server, self.tool
        trust = f"held until you trust it: maskgrad tools trust {name}"
        match standing:
            case "usable":
                return None
            case "new":
                return f"tool {tool!r} of MCP server {name!r} is new; {trust}"
            case "same_name":
                return self._same_name()
            case "moved":
                return (
                    f"MCP server {name!r} is started or reached otherwise than when you trusted it; {trust}"
                )
            case "unreachable":
                return f"MCP server {name!r} can't be reached: {self.down}"
            case "gone":
                return f"MCP server {name!r} does not have tool {tool!r} any more"
            case "changed":
                return f"the description of tool {tool!r} of MCP server {name!r} has changed; {trust}"
            case other:
                assert_never(other)

    def _same_name(self) -> str:
        server, tool = self.namesake or ("", "")
        # Names of servers are the user's, names of tools are not.
        rename = (
            "Have one of them renamed by whoever makes the server"
            if server == self.server
            else "Rename one of the servers in tools.yaml"
        )
        return (
            f"tool {self.tool!r} of MCP server {self.server!r} and tool {tool!r} of MCP server {server!r} are both "
            f"called {offered_name(self.server, self.tool)!r}. Accepted: one tool of a name. {rename}, and trust it "
            "again"
        )
