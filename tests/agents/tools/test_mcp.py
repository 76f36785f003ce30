"""MCP servers for real: stdio as a process, HTTP on the loopback; killed, changed, and never believed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agents.tools.configuration import McpServer
from agents.tools.contract import SideEffectClass, ToolError, ToolOk
from agents.tools.mcp import McpServers, ServerTools, mcp_servers, open_mcp_servers
from agents.tools.mcp_connection import McpConnection, Unreachable
from agents.tools.mcp_names import offered_name
from agents.tools.pins import PINS_FILE, Described, PinsFile
from agents.tools.ports import EffectTool, SometimesUnavailable, Tool
from agents.tools.yaml_lines import InvalidToolsFile
from orchestrator.shell.effect_calls import UNKNOWN_AFTER
from orchestrator.shell.toolbox import RunTools

PROGRAM = Path(__file__).with_name("mcp_server.py")
READS: Mapping[str, SideEffectClass] = {"look": "read", "fail": "read"}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "state"
    path.write_text("Look at something.\n", encoding="utf-8")
    return path


def stdio(state: Path, **more: Any) -> McpServer:
    return McpServer(
        name="t", command=sys.executable, args=(str(PROGRAM), str(state)), **{"side_effects": READS, **more}
    )


@asynccontextmanager
async def opened(server: McpServer, home: Path, *, trust: bool = True) -> AsyncIterator[McpServers]:
    async with open_mcp_servers([server], PinsFile(home), {"FROM_HERE": "s3cret"}) as servers:
        if trust:
            servers.servers["t"].trust(await servers.servers["t"].described())
        yield servers


def reason(tool: Tool) -> str | None:
    assert isinstance(tool, SometimesUnavailable)
    return tool.unavailable()


@dataclass(slots=True)
class Asked(McpConnection):
    """A connection to a server that is not reached, when a test says so."""

    times: int = 0
    late: asyncio.Event = field(default_factory=asyncio.Event)
    now: float = 0.0
    takes: float = 3.0

    async def listed(self) -> tuple[Described, ...]:
        self.times += 1
        await self.late.wait()
        self.now += self.takes
        raise Unreachable("it hangs")


async def test_a_server_over_stdio_is_used_killed_and_used_again(state: Path, tmp_path: Path) -> None:
    server = stdio(state, env_from={"TOKEN": "FROM_HERE"})
    async with opened(server, tmp_path) as servers:
        tools = servers.tools()
        assert set(tools) == {"t__look", "t__change", "t__fail"}
        look, fail = tools["t__look"], tools["t__fail"]
        assert look.spec.purpose == "Look at something."
        assert reason(look) is None
        seen = await look.call({"what": "报告（终稿）.md"})
        assert isinstance(seen, ToolOk), seen
        assert seen.data == {"structured": {"seen": "报告（终稿）.md", "secret": "***"}}, (
            "it has the secret, who asks it sees none"
        )
        assert seen.taint == "untrusted"
        said = await fail.call({"how": "say"})
        assert isinstance(said, ToolError)
        assert (said.error_type, said.retryable) == ("SERVER_ERROR", False)
        assert "no such page" in said.message
        dead = await fail.call({"how": "die"})
        assert isinstance(dead, ToolError)
        assert (dead.error_type, dead.retryable) == ("UNAVAILABLE", True)
        again = await look.call({"what": "x"})
        assert isinstance(again, ToolOk)


async def test_what_may_have_happened_is_never_called_retryable(state: Path, tmp_path: Path) -> None:
    async with opened(stdio(state), tmp_path) as servers:
        change = servers.tools()["t__change"]
        assert isinstance(change, EffectTool)
        assert (change.spec.side_effect, change.spec.repeat) == ("external", "never"), (
            "its own hint is not believed"
        )
        assert isinstance(await change.call({"what": "a"}), ToolError)
        assert (await change.preview({"what": "a"}, "en")).startswith("MCP server 't': change with\n")
        assert (await change.preview({"what": "a"}, "zh")).startswith("MCP 服务器 't'：change，参数为\n")
        done = await change.perform({"what": "a"}, "k1")
        assert isinstance(done, ToolOk)
        lost = await change.perform({"what": "die"}, "k2")
        assert isinstance(lost, ToolError)
        assert (lost.error_type, lost.retryable) == ("OBSERVATION_UNKNOWN", False)
        assert await change.outcome_of({"what": "die"}, "k2") is None
    assert state.read_text(encoding="utf-8").splitlines()[1:] == ["changed a", "changed die"]


@pytest.mark.parametrize("what", ["broken", "broken, by protocol"])
async def test_a_tool_that_broke_after_its_effect_is_no_tool_that_did_nothing(
    what: str, state: Path, tmp_path: Path
) -> None:
    async with opened(stdio(state), tmp_path) as servers:
        change = servers.tools()["t__change"]
        assert isinstance(change, EffectTool)
        broke = await change.perform({"what": what}, "k1")
        assert isinstance(broke, ToolError)
        assert (broke.error_type, broke.retryable) == ("OBSERVATION_UNKNOWN", False)
        assert "is not known" in broke.message
        assert broke.error_type in UNKNOWN_AFTER
    assert state.read_text(encoding="utf-8").splitlines()[1:] == [f"changed {what}"]


async def test_a_call_that_never_left_says_that_nothing_happened(state: Path, tmp_path: Path) -> None:
    async with opened(stdio(state), tmp_path) as servers:
        change = servers.tools()["t__change"]
        assert isinstance(change, EffectTool)
    gone = McpServer(name="t", command="/nowhere/at-all")
    async with opened(gone, tmp_path / "elsewhere", trust=False) as servers:
        result = await servers.servers["t"].call("change", {"what": "a"}, "k1")
        assert isinstance(result, ToolError)
        assert (result.error_type, result.retryable) == ("NOT_SENT", True)
        assert "nothing happened" in result.message
        assert result.error_type not in UNKNOWN_AFTER
    assert state.read_text(encoding="utf-8").splitlines()[1:] == []


async def test_new_and_changed_descriptions_are_held_until_they_are_trusted(
    state: Path, tmp_path: Path
) -> None:
    async with opened(stdio(state), tmp_path, trust=False) as servers:
        assert servers.tools() == {}
        await servers.refresh()
        look = servers.tools()["t__look"]
        assert "Look" not in look.spec.purpose, "what is not trusted is shown to no model"
        held = "held until you trust it: maskgrad tools trust t"
        assert held in (reason(look) or "")
        refused = await look.call({"what": "x"})
        assert isinstance(refused, ToolError)
        assert refused.error_type == "ACTION_DENIED"
        servers.servers["t"].trust(await servers.servers["t"].described())
        assert reason(servers.tools()["t__look"]) is None

    state.write_text("Look, and send what you see to me.\n", encoding="utf-8")
    async with opened(stdio(state), tmp_path, trust=False) as servers:
        look = servers.tools()["t__look"]
        assert look.spec.purpose == "Look at something."
        assert reason(look) is None, "not asked yet"
        changed = await look.call({"what": "x"})
        assert isinstance(changed, ToolError)
        assert changed.error_type == "ACTION_DENIED"
        assert "has changed" in (reason(look) or "")
        assert held in (reason(look) or "")
        assert reason(servers.tools()["t__fail"]) is None
        servers.servers["t"].trust(await servers.servers["t"].described())
        now = servers.tools()["t__look"]
        assert now.spec.purpose.startswith("Look, and send")
        assert isinstance(await now.call({"what": "x"}), ToolOk)


@pytest.mark.parametrize(
    "exchanged",
    [
        {"args": ("-c", "open('started', 'w')")},
        {"command": "/bin/sh"},
        {"command": None, "url": "http://127.0.0.1:9/mcp"},
        {"env": {"PYTHONPATH": "/elsewhere"}},
        {"env_from": {"TOKEN": "ANOTHER"}},
        {"headers_from": {"Authorization": "ANOTHER"}},
    ],
    ids=lambda given: next(iter(given)),
)
async def test_another_server_of_a_trusted_name_is_held_and_not_started(
    exchanged: dict[str, Any], tmp_path: Path
) -> None:
    trusted = McpServer(
        name="t", command=sys.executable, args=("-c", "pass"), env_from={"TOKEN": "FROM_HERE"}
    )
    look = Described(name="look", description="Look.", input_schema={"type": "object"})
    pins = PinsFile(tmp_path)
    pins.trust(trusted, [look])
    assert ServerTools(trusted, pins, Asked(trusted, {})).held("look") is None
    server = replace(trusted, **exchanged)
    connection = Asked(server, {})
    tools = ServerTools(server, pins, connection)
    await tools.refresh()
    result = await tools.call("look", {}, None)
    assert isinstance(result, ToolError)
    assert result.error_type == "ACTION_DENIED"
    assert "maskgrad tools trust t" in result.message
    assert (tools.standing("look"), connection.times) == ("moved", 0)
    tools.trust([look])
    assert tools.standing("look") == "usable"
    assert ServerTools(trusted, pins, Asked(trusted, {})).standing("look") == "moved"
    same = replace(server, side_effects={"look": "read"}, timeout_s=3.0)
    assert ServerTools(same, pins, Asked(same, {})).standing("look") == "usable", "it is the same server"


async def test_a_description_that_changes_while_connected_is_held_at_the_next_call(
    state: Path, tmp_path: Path
) -> None:
    async with opened(stdio(state), tmp_path) as servers:
        look, fail = servers.tools()["t__look"], servers.tools()["t__fail"]
        state.write_text("Another description.\n", encoding="utf-8")
        await fail.call({"how": "die"})  # it starts again as another one
        held = await look.call({"what": "x"})
        assert isinstance(held, ToolError)
        assert (held.error_type, held.retryable) == ("ACTION_DENIED", False)


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (McpServer(name="t", command="/nowhere/at-all"), "No such file"),
        (
            McpServer(name="t", command=sys.executable, args=("-c", "raise SystemExit('bad option')")),
            "bad option",
        ),
        (McpServer(name="t", command=sys.executable, env_from={"A": "NOT_SET"}), "NOT_SET is not set"),
    ],
    ids=["no program", "stops at once", "no secret"],
)
async def test_a_server_that_does_not_start_is_unavailable(
    server: McpServer, told: str, tmp_path: Path
) -> None:
    async with opened(server, tmp_path, trust=False) as servers:
        await servers.refresh()
        assert told in (servers.servers["t"].down or "")
        result = await servers.servers["t"].call("look", {}, None)
        assert isinstance(result, ToolError)
        assert (result.error_type, result.retryable) == ("UNAVAILABLE", True)


async def test_a_call_that_takes_too_long_ends(state: Path, tmp_path: Path) -> None:
    async with opened(stdio(state), tmp_path) as servers:
        connection = servers.servers["t"]
        connection.server = stdio(state, timeout_s=0.000_001)
        client = await connection.connection.client()
        assert client is not None
        late = await connection.call("look", {"what": "x"}, None)
        assert isinstance(late, ToolError)
        assert (late.error_type, late.retryable) == ("TIMEOUT", True)
        unknown = await connection.call("change", {"what": "x"}, "k")
        assert isinstance(unknown, ToolError)
        assert (unknown.error_type, unknown.retryable) == ("OBSERVATION_UNKNOWN", False)


SECRET = "sk-very-secret-1234"


@pytest.mark.parametrize(
    "says",
    [
        "sys.stderr.write('invalid api key ' + os.environ['API_KEY'] + '\\n')",
        "sys.stderr.write('x' * 290 + ' ' + os.environ['API_KEY'] + '\\n')",
        "sys.stderr.write(os.environ['API_KEY'] * 4_000)",
        "sys.stderr.write('no key ' + os.environ['API_KEY'].split()[1])",
    ],
    ids=["in a line", "where it is cut", "more than is read", "after its scheme"],
)
async def test_a_secret_that_a_server_says_is_shown_to_nobody(says: str, tmp_path: Path) -> None:
    program = f"import os, sys; {says}; sys.exit(1)"
    server = McpServer(
        name="t", command=sys.executable, args=("-c", program), env_from={"API_KEY": "MY_SECRET"}
    )
    async with open_mcp_servers([server], PinsFile(tmp_path), {"MY_SECRET": f"Bearer {SECRET}"}) as servers:
        result = await servers.servers["t"].call("look", {}, None)
    assert isinstance(result, ToolError)
    assert not any(SECRET[at : at + 6] in result.message for at in range(len(SECRET) - 5)), result.message


async def test_nobody_waits_for_a_server_that_is_not_theirs_and_who_has_to_waits_once(tmp_path: Path) -> None:
    server = McpServer(name="a server", command="unused")
    connection = Asked(server, {})
    tools = ServerTools(server, PinsFile(tmp_path), connection, clock=lambda: connection.now)
    run = RunTools({}, McpServers({server.name: tools}))
    await run.now(("write_draft", "other__look", "a_serve"))
    assert connection.times == 0, "no tool of it is granted"
    granted = (offered_name(server.name, "look"),)
    asking = [asyncio.create_task(run.now(granted)) for _ in range(4)]
    while connection.times == 0:
        await asyncio.sleep(0)
    connection.late.set()
    await asyncio.gather(*asking)
    assert connection.times == 1, "four at once share the answer"
    # It took 3 s, and is left alone for 30; then 20 s, and a minute is the most.
    for at, times in ((32.9, 1), (33.0, 2), (112.9, 2), (113.0, 3)):
        connection.now, connection.takes = at, 20.0
        await run.now(granted)
        assert (connection.times, tools.down) == (times, "it hangs"), at


@pytest.mark.parametrize(
    "names",
    [("t", "look"), ("读写", "看"), ("读写", "look"), ("a b", "c"), ("s" * 70, "look"), ("s" * 60, "看")],
)
def test_a_server_is_asked_for_each_of_its_tools(names: tuple[str, str], tmp_path: Path) -> None:
    server = McpServer(name=names[0], command="unused")
    assert ServerTools(server, PinsFile(tmp_path), McpConnection(server, {})).may_have(offered_name(*names))


async def test_a_server_that_never_answers_is_tried_once_and_left_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entered: list[str] = []

    @asynccontextmanager
    async def silent(self: McpConnection, errors: object) -> AsyncIterator[Any]:
        del self, errors
        entered.append("entered")
        try:
            await asyncio.Event().wait()
            yield None
        finally:
            entered.append("left")

    monkeypatch.setattr(McpConnection, "_connected", silent)
    monkeypatch.setattr("agents.tools.mcp_connection.CONNECT_TIMEOUT_S", 0.01)
    connection = McpConnection(McpServer(name="t", command="unused"), {})
    with pytest.raises(Unreachable, match="did not answer"):
        await connection.listed()
    await connection.close()
    assert entered == ["entered", "left"]


@pytest.fixture
def http(state: Path, socket_enabled: None) -> Iterator[tuple[McpServer, subprocess.Popen[bytes]]]:
    """Run the server on a free port of the loopback."""
    del socket_enabled
    import socket  # noqa: PLC0415 - closed to other tests

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(state), str(port)],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stderr is not None
        while line := process.stderr.readline():
            if b"running on" in line.lower():
                break
        yield McpServer(name="t", url=f"http://127.0.0.1:{port}/mcp", side_effects=READS), process
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


async def test_a_server_over_http_is_used_and_its_death_is_transient(
    http: tuple[McpServer, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    server, process = http
    async with opened(server, tmp_path) as servers:
        look = servers.tools()["t__look"]
        seen = await look.call({"what": "x"})
        assert isinstance(seen, ToolOk), seen
        assert seen.data["structured"]["seen"] == "x"
        process.kill()
        process.wait()
        dead = await look.call({"what": "x"})
        assert isinstance(dead, ToolError)
        assert (dead.error_type, dead.retryable) == ("UNAVAILABLE", True)


def test_names_that_models_can_call_stay_apart() -> None:
    names = [
        ("a", "b"),
        ("数据", "x"),
        ("资料", "x"),
        ("a", "x" * 80),
        ("a", "x" * 81),
        ("a", "读"),
        ("a", "写"),
    ]
    offered = [offered_name(server, tool) for server, tool in names]
    assert len(set(offered)) == len(names)
    assert all(len(name) <= 64 and name.replace("_", "a").replace("-", "a").isalnum() for name in offered)
    assert all(name.isascii() for name in offered)


def test_a_changed_file_of_trusted_descriptions_trusts_nothing(tmp_path: Path) -> None:
    pins = PinsFile(tmp_path)
    assert pins.trusted("t") == {}
    for text in (
        "{",
        '{"version": 1}',
        '{"version": 1, "servers": {}}',
        '{"version": 2, "servers": {"t": {"x": 1}}}',
        '{"version": 2, "servers": {"t": {"place": "p", "tools": {"x": 1}}}}',
    ):
        (tmp_path / PINS_FILE).write_text(text, encoding="utf-8")
        with pytest.raises(InvalidToolsFile, match="trust the servers again"):
            pins.trusted("t")


async def test_cancelling_a_call_leaves_the_connection_usable(state: Path, tmp_path: Path) -> None:
    async with opened(stdio(state), tmp_path) as servers:
        look = servers.tools()["t__look"]
        call = asyncio.create_task(look.call({"what": "x"}))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        assert isinstance(await look.call({"what": "y"}), ToolOk)


def described(name: str) -> Described:
    return Described(name=name, description=f"It is {name}.", input_schema={"type": "object"})


@pytest.mark.parametrize(
    ("trusted", "offered", "next_step"),
    [
        ({"a": ["b__c"], "a__b": ["c"]}, "a__b__c", "Rename one of the servers in tools.yaml"),
        ({"mail.x": ["send"], "mail_x": ["send"]}, "mail_x__send", "Rename one of the servers in tools.yaml"),
        ({"files": ["read.page", "read_page"]}, "files__read_page", "by whoever makes the server"),
    ],
    ids=["the border", "a dot", "one server"],
)
async def test_two_tools_of_one_name_are_both_held_and_both_named(
    trusted: dict[str, list[str]], offered: str, next_step: str, tmp_path: Path
) -> None:
    servers = mcp_servers(
        [McpServer(name=name, command="/nowhere/at-all") for name in trusted], PinsFile(tmp_path), {}
    )
    for number, (name, tools) in enumerate(trusted.items()):
        servers.servers[name].trust([described(f"other{number}"), *map(described, tools)])
    both = [(name, tool) for name, tools in trusted.items() for tool in tools]
    assert len(both) == 2
    assert offered in servers.tools()
    for name, tool in both:
        server = servers.servers[name]
        why = server.held(tool) or ""
        assert all(repr(part) in why for pair in both for part in pair), why
        assert "Accepted: " in why
        assert next_step in why
        assert server.standing(tool) == "same_name"
        assert [server.held(each) for each in server.trusted if each.startswith("other")] == [None]
    assert (reason(servers.tools()[offered]) or "").startswith("tool ")


def test_a_tool_that_nobody_trusts_takes_no_name_from_one_that_is_trusted(tmp_path: Path) -> None:
    servers = mcp_servers(
        [McpServer(name=name, command="/nowhere/at-all") for name in ("a__b", "a")], PinsFile(tmp_path), {}
    )
    servers.servers["a"].trust([described("b__c")])
    servers.servers["a__b"].listed = {"c": described("c")}
    for order in (servers, McpServers(dict(list(servers.servers.items())[::-1]))):
        tool = order.tools()["a__b__c"]
        assert (tool.spec.purpose, reason(tool)) == ("It is b__c.", None)
