"""`fetch_url`: listed hosts only, over every redirect, at the address that was checked; a real server on loopback."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.builtin.fetch import LARGEST_PAGE, FetchUrl
from agents.tools.builtin.hosts import is_public
from agents.tools.builtin.pages import text_of_html
from agents.tools.configuration import AllowedHost
from agents.tools.contract import ToolError, ToolOk

PAGE = (
    "<html><head><title>泵站 &amp; 水</title><script>var x='secret'</script></head><body><h1>Flow</h1>"
    "<p>400 m³/h\nin <b>dry</b> weather</p><ul><li>a<li>b</ul><style>p{}</style></body></html>"
)


@dataclass
class Site:
    """A server on the loopback, what it was asked, and whom it resolves names for."""

    port: int
    asked: list[tuple[str, str]] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    addresses: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        del port
        self.resolved.append(host)
        return self.addresses.get(host, ("127.0.0.1",))

    def tool(self, *hosts: AllowedHost) -> FetchUrl:
        return FetchUrl(hosts or (AllowedHost(host=f"site.test:{self.port}", private=True),), self.resolve)

    def get(self, path: str, *hosts: AllowedHost, host: str = "site.test") -> ToolOk | ToolError:
        return asyncio.run(self.tool(*hosts).call({"url": f"http://{host}:{self.port}{path}"}))


@pytest.fixture
def site(socket_enabled: None) -> Iterator[Site]:
    del socket_enabled

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append((self.headers["Host"], self.path))
            status, headers, body = answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    def answer(path: str) -> tuple[int, dict[str, str], bytes]:
        match path.split("/")[1]:
            case "page":
                return (
                    200,
                    {"Content-Type": "text/html; charset=gb18030", "ETag": '"v1"'},
                    PAGE.encode("gb18030"),
                )
            case "json":
                return 200, {"Content-Type": "application/json"}, b'{"a": 1}'
            case "image":
                return 200, {"Content-Type": "image/png"}, b"\x89PNG"
            case "packed":
                return 200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, b"\x1f\x8b"
            case "large":
                return 200, {"Content-Type": "text/plain"}, b"x" * (LARGEST_PAGE + 10)
            case "cut":
                return 200, {"Content-Type": "text/plain", "Content-Length": "100"}, b"half a page"
            case "to":
                return 302, {"Location": path[4:]}, b""
            case "round":
                return 302, {"Location": "/round/"}, b""
            case status if status.isdigit():
                return int(status), {"Content-Type": "text/plain"}, b"?"
        return (
            200,
            {"Content-Type": "text/plain", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"},
            path.encode(),
        )

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ok(result: ToolOk | ToolError) -> ToolOk:
    assert isinstance(result, ToolOk), result
    return result


def code(result: ToolOk | ToolError) -> tuple[str, bool]:
    assert isinstance(result, ToolError), result
    assert result.error_type in FetchUrl(()).spec.error_codes
    return result.error_type, result.retryable


def test_a_listed_page_is_read_as_text(site: Site) -> None:
    page = ok(site.get("/page/报告?q=水#part"))
    assert page.data["title"] == "泵站 & 水"
    assert page.data["text"] == "Flow\n400 m³/h in dry weather\na\nb"
    assert page.source_version == '"v1"'
    assert page.taint == "untrusted"
    assert site.asked == [(f"site.test:{site.port}", "/page/%E6%8A%A5%E5%91%8A?q=%E6%B0%B4")]
    assert ok(site.get("/json")).data["text"] == '{"a": 1}'
    assert ok(site.get("/plain")).source_version == "Mon, 01 Jan 2024 00:00:00 GMT"


def test_what_can_not_be_read_is_typed(site: Site) -> None:
    assert code(site.get("/image")) == ("NOT_TEXT", False)
    assert code(site.get("/packed")) == ("NOT_TEXT", False)
    assert code(site.get("/404")) == ("NOT_FOUND", False)
    assert code(site.get("/403")) == ("FAILED", False)
    assert code(site.get("/429")) == ("UNAVAILABLE", True)
    assert code(site.get("/503")) == ("UNAVAILABLE", True)
    assert code(site.get("/round/")) == ("FAILED", False)
    assert code(site.get("/cut")) == ("UNAVAILABLE", True), "half a page is no page"
    large = ok(site.get("/large"))
    assert (large.truncated, large.data["complete"], len(large.data["text"])) == (True, False, LARGEST_PAGE)


def unnamed_tls(purpose: int) -> ssl.SSLContext:
    """Return TLS without certificates, so that no key has to stand in a test."""
    context = ssl.SSLContext(purpose)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("AECDH:@SECLEVEL=0")
    return context


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_sends_byte_after_byte_is_left_when_the_time_is_over(
    scheme: str, socket_enabled: None
) -> None:
    del socket_enabled
    listening = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listening.accept()
        if scheme == "https":
            connection = unnamed_tls(ssl.PROTOCOL_TLS_SERVER).wrap_socket(connection, server_side=True)
        with suppress(OSError), connection:
            connection.recv(10_000)
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 90000000\r\n\r\n"
            )
            # By far more than is read in the time: only its end ends this.
            for _ in range(90_000_000):
                connection.sendall(b"x")

    server = threading.Thread(target=drip)
    server.start()
    port = listening.getsockname()[1]
    tool = FetchUrl(
        (AllowedHost(host=f"site.test:{port}", private=True),),
        lambda *_: ("127.0.0.1",),
        time_s=0.2,
        tls=lambda: unnamed_tls(ssl.PROTOCOL_TLS_CLIENT),
    )
    try:
        assert code(asyncio.run(tool.call({"url": f"{scheme}://site.test:{port}/"}))) == ("TIMEOUT", True)
    finally:
        listening.close()
        server.join()


def test_a_redirect_is_followed_within_the_list_only(site: Site) -> None:
    assert ok(site.get("/to//x")).data["text"] == "/x"
    elsewhere = f"http://other.test:{site.port}/x"
    assert code(site.get(f"/to/{elsewhere}")) == ("ACCESS_DENIED", False)
    assert code(site.get("/to/file:///etc/passwd")) == ("INVALID_ARGUMENT", False)
    assert code(site.get("/to/http://169.254.169.254/latest")) == ("ACCESS_DENIED", False)
    assert {host for host, _ in site.asked} == {f"site.test:{site.port}"}
    assert "other.test" not in site.resolved


def test_a_redirect_leads_to_no_host_that_would_be_asked_about(site: Site) -> None:
    exact = AllowedHost(host=f"site.test:{site.port}", private=True)
    below = AllowedHost(host=f"*.wide.test:{site.port}", private=True)
    asked_about = f"http://b.wide.test:{site.port}/x"
    for begun in ("site.test", "a.wide.test"):
        refused = site.get(f"/to/{asked_about}", exact, below, host=begun)
        assert code(refused) == ("ACCESS_DENIED", False)
        assert isinstance(refused, ToolError)
        assert asked_about in refused.message
        assert "Accepted" in refused.message
    assert "b.wide.test" not in site.resolved
    # The very host that was let, and one that is listed by its own name, are not asked about.
    assert ok(site.get("/to//x", exact, below, host="a.wide.test")).data["text"] == "/x"
    listed = site.get(f"/to/http://site.test:{site.port}/x", below, exact, host="a.wide.test")
    assert ok(listed).data["text"] == "/x"
    own = AllowedHost(host=f"b.wide.test:{site.port}", private=True)
    assert ok(site.get(f"/to/{asked_about}", exact, below, own)).data["text"] == "/x"
    assert ok(site.get("/x", below, host="b.wide.test")).data["text"] == "/x", (
        "asked for by itself it is read"
    )


def test_each_address_of_a_host_is_tried_in_turn(site: Site) -> None:
    # On the first one nothing listens: the server listens on 127.0.0.1 alone.
    site.addresses["site.test"] = ("127.0.0.2", "127.0.0.1")
    assert ok(site.get("/x")).data["text"] == "/x"
    site.addresses["site.test"] = ("127.0.0.2", "127.0.0.3")
    assert code(site.get("/x")) == ("UNAVAILABLE", True)


def test_a_resolver_that_hangs_is_left_when_the_time_is_over() -> None:
    released = threading.Event()

    def hang(host: str, port: int) -> tuple[str, ...]:
        del host, port
        released.wait()
        return ("127.0.0.1",)

    tool = FetchUrl((AllowedHost(host="site.test", private=True),), hang, time_s=0.05)
    try:
        assert code(asyncio.run(tool.call({"url": "http://site.test/"}))) == ("TIMEOUT", True)
    finally:
        released.set()


def test_a_listed_name_that_resolves_to_a_private_address_is_refused(site: Site) -> None:
    listed = AllowedHost(host=f"site.test:{site.port}")
    for address in (
        "127.0.0.1",
        "10.0.0.7",
        "169.254.169.254",
        "::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "0.0.0.0",
    ):
        site.addresses["site.test"] = (address,)
        assert code(site.get("/x", listed)) == ("ACCESS_DENIED", False)
        site.addresses["site.test"] = ("93.184.215.14", address)
        assert code(site.get("/x", listed)) == ("ACCESS_DENIED", False)
    assert site.asked == []


def test_a_name_is_resolved_once_and_the_connection_goes_there(site: Site) -> None:
    ok(site.get("/x"))
    assert site.resolved == ["site.test"]
    assert site.asked == [(f"site.test:{site.port}", "/x")]


def test_an_address_that_the_user_listed_may_be_private(site: Site) -> None:
    assert (
        ok(site.get("/x", AllowedHost(host=f"127.0.0.1:{site.port}"), host="127.0.0.1")).data["text"] == "/x"
    )
    assert code(site.get("/x", AllowedHost(host="127.0.0.1"), host="127.0.0.1")) == ("ACCESS_DENIED", False)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://example.org/", True),
        ("https://EXAMPLE.org./x", True),
        ("https://a.b.gov.cn/", True),
        ("https://政府.gov.cn/", True),
        ("https://gov.cn/", False),
        ("https://evilgov.cn/", False),
        ("https://example.org.evil.test/", False),
        ("https://evil.test/?example.org", False),
        ("https://evil.test#@example.org/", False),
        ("https://example.org@evil.test/", False),
        ("https://evil.test\\@example.org/", False),
        ("https://example.org:8443/", False),
        ("http://example.org:443/", False),
        ("ftp://example.org/", False),
        ("file:///etc/passwd", False),
        ("//example.org/", False),
        ("https://exam\u200bple.org/", False),
        ("https://example.org%2eevil.test/", False),
        ("https://[::1/", False),
        ("https://example.org:99999/", False),
        ("https://example.org /", False),
        ("https://例\uff0eorg/", False),
    ],
)
def test_only_listed_hosts_are_resolved(url: str, wanted: bool) -> None:
    resolved = list[str]()

    def resolve(host: str, port: int) -> tuple[str, ...]:
        resolved.append(host)
        raise OSError(port)

    tool = FetchUrl((AllowedHost(host="example.org"), AllowedHost(host="*.gov.cn")), resolve)
    result = asyncio.run(tool.call({"url": url}))
    assert isinstance(result, ToolError)
    assert (result.error_type == "UNAVAILABLE") is bool(resolved) is wanted
    assert all(host == "example.org" or host.endswith(".gov.cn") for host in resolved)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "0.0.0.0",
            "127.8.8.8",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "224.0.0.1",
        ),
        *(
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:192.168.0.1",
            "64:ff9b::10.0.0.1",
        ),
        *("2002:0a00:0001::1", "::127.0.0.1", "no address", ""),
    ],
)
def test_addresses_inside_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_addresses_of_the_internet_are_public() -> None:
    assert all(
        is_public(each) for each in ("8.8.8.8", "93.184.215.14", "2606:4700::1111", "64:ff9b::8.8.8.8")
    )


@given(page=st.text(max_size=200) | st.text("<>/abp!-&;=\"' \n", max_size=200))
def test_no_page_breaks_the_reader(page: str) -> None:
    title, text = text_of_html(page)
    assert "\n" not in title
    assert all(line == line.strip() != "" for line in text.split("\n")) or text == ""
