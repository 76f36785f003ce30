"""The tools of a process beside the notes: what the user's `tools.yaml` allows. Read when something first needs it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agents.tools.configuration import TOOLS_FILE, ToolsFile, tools_file_in
from agents.tools.configured import configured_tools
from agents.tools.contract import ToolSpec
from agents.tools.mcp import McpServers, mcp_servers
from agents.tools.pins import PinsFile
from agents.tools.ports import Tool
from agents.tools.yaml_lines import InvalidToolsFile


class Toolbox:
    """What `tools.yaml` in a data directory allows; without the file, `calculate` alone."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        """`environ` holds the secrets that the file names."""
        self._home = home
        self._environ = environ
        self._file: ToolsFile | None = None

    @property
    def file(self) -> ToolsFile:
        """The user's configuration; raises `InvalidToolsFile`."""
        if self._file is None:
            self._file = tools_file_in(self._home)
        return self._file

    @property
    def path(self) -> Path:
        """Where the user's configuration is, or would be."""
        return self._home / TOOLS_FILE

    @property
    def configured(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    @property
    def pins(self) -> PinsFile:
        """The descriptions that the user trusts."""
        return PinsFile(self._home)

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """Hosts that may be read from whoever names them, exactly; those below a `*.suffix` are asked about."""
        return frozenset(each.host.casefold() for each in self.file.fetch if not each.host.startswith("*"))

    def built_in(self) -> dict[str, Tool]:
        """Return the built-in tools that the file allows, by name.

        Raises `InvalidToolsFile`, also when the folder of drafts can't be made, and for a folder or the file of a table
        that does not exist: an agent that finds nothing in it would look as if nothing were there.
        """
        for name, folder in self.file.folders.items():
            if not folder.is_dir():
                raise InvalidToolsFile(
                    self.path,
                    None,
                    en=f"the folder {str(folder)!r} ({name}) does not exist. Accepted: a folder that is there. "
                    "Make it, or correct `folders`.",
                    zh=f"文件夹 {str(folder)!r}（{name}）不存在。可接受：已存在的文件夹。请创建它，或改正 `folders`。",
                )
        for name, table in self.file.tables.items():
            if not table.is_file():
                raise InvalidToolsFile(
                    self.path,
                    None,
                    en=f"the file {str(table)!r} of the table {name!r} does not exist. Accepted: a SQLite database or "
                    "a CSV file that is there. Put it there, or correct `tables`.",
                    zh=f"表 {name!r} 的文件 {str(table)!r} 不存在。可接受：已存在的 SQLite 数据库或 CSV 文件。"
                    "请放入该文件，或改正 `tables`。",
                )
        try:
            return configured_tools(self.file)
        except OSError as error:
            drafts = str(self.file.drafts)
            raise InvalidToolsFile(
                self.path,
                None,
                en=f"the folder of drafts {drafts!r} can't be used: {error}. Accepted: a folder that may be made and "
                "written to. Correct `drafts`.",
                zh=f"草稿文件夹 {drafts!r} 无法使用：{error}。可接受：可以创建并写入的文件夹。请改正 `drafts`。",
            ) from error

    def servers(self) -> McpServers:
        """Return the MCP servers of the file for one event loop, none connected; raises `InvalidToolsFile`."""
        return mcp_servers(self.file.servers, self.pins, self._environ)

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the contracts of all tools that an agent could be granted, by name; no server is asked.

        Of a server's tools those that the user trusts. Raises as `built_in` does.
        """
        found = {**self.built_in(), **self.servers().tools()}
        return tuple(found[name].spec for name in sorted(found))


@dataclass(frozen=True, slots=True)
class RunTools:
    """The tools of one run, by name."""

    own: Mapping[str, Tool]
    """Those that are always there."""
    servers: McpServers = field(default_factory=lambda: McpServers({}))

    async def now(self, granted: Collection[str]) -> Mapping[str, Tool]:
        """Return the tools as they are now, for an agent that is granted some.

        The servers of these are asked what they describe, and one that was away may be back; others are not waited for.
        """
        if not self.servers.servers:
            return self.own
        await self.servers.refresh(granted)
        return {**self.servers.tools(), **self.own}
