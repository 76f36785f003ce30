"""A real MCP server for the tests, of the SDK's own kind: `python mcp_server.py STATE [PORT]`.

Over stdio without a port. The first line of the file STATE is the description of the tool `look`; calls of `change`
are appended to STATE, so that a test sees what was performed. What is asked to look at or to change `killed` or `lost`
kills the server with SIGKILL the first time: after the change for `killed`, else before it. Its process id stands in
STATE.pid.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import INTERNAL_ERROR, ToolAnnotations


def server_over(state: Path) -> MCPServer:
    """Return the server whose state is the file `state`."""
    server = MCPServer("test server")
    Path(f"{state}.pid").write_text(str(os.getpid()), encoding="utf-8")
    died = Path(f"{state}.died")

    def die_once() -> None:
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    description = state.read_text(encoding="utf-8").splitlines()[0]

    @server.tool(description=description, annotations=ToolAnnotations(read_only_hint=True))
    def look(what: str) -> dict[str, Any]:
        if what in ("killed", "lost"):
            die_once()
        return {"seen": what, "secret": os.environ.get("TOKEN", "")}

    @server.tool(description="Change something.", annotations=ToolAnnotations(read_only_hint=True))
    def change(what: str) -> str:
        if what == "lost":
            die_once()
        with state.open("a", encoding="utf-8") as file:
            file.write(f"changed {what}\n")
        if what == "killed":
            die_once()
        if what == "die":
            os._exit(1)
        if what == "broken":
            raise TimeoutError("no receipt came")
        if what == "broken, by protocol":
            raise MCPError(INTERNAL_ERROR, "it broke inside")
        return f"changed {what}"

    @server.tool(description="Fail or die.")
    def fail(how: str) -> str:
        if how == "die":
            os._exit(1)
        raise ToolError("no such page")

    return server


if __name__ == "__main__":
    served = server_over(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        served.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        served.run("stdio")
