"""The tool `fetch_url`: GET from the hosts that the user listed, as text.

Every hop is checked by itself: scheme, host and port against the list, and the address that the host resolves to. The
connection goes to the very address that was checked, so that a name that resolves to another one a moment later leads
nowhere else. No proxy, no cookies, no credentials.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from agents.tools.builtin.pages import text_of_html
from agents.tools.configuration import AllowedHost
from agents.tools.contract import ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.names import shown
from agents.tools.previews import TOOL_TIMEOUT_S

LARGEST_PAGE: Final = 2_000_000
"""Bytes that are read of an answer; the rest is left."""
MOST_HOPS: Final = 5
FETCH_TIME_S: Final = 12.0
"""From the first connection to the last byte, over all hops."""
_USER_AGENT: Final = "maskgrad-fetch/1"
_TEXT_TYPES: Final = re.compile(
    r"text/[\w.+-]+|application/(?:json|xml|yaml|x-yaml|javascript|[\w.-]+\+(?:json|xml))"
)
_SAFE: Final = "/?&=:;,@+$!*'()~%-._[]"

FETCH_URL: Final = ToolSpec(
    name="fetch_url",
    purpose="Fetch a page or a text file from the web, from the hosts that the user listed.",
    when_to_use="To read a page whose address is known and whose host is listed.",
    when_not_to_use="To search the web, to send anything, or for hosts that are not listed: they are refused.",
    input_schema={
        "type": "object",
        "properties": {
            "url": {"type": "string", "minLength": 8, "maxLength": 2_000, "description": "http or https."}
        },
        "required": ["url"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "Where it came from in the end."},
            "content_type": {"type": "string"},
            "title": {"type": "string"},
            "text": {"type": "string"},
            "complete": {"type": "boolean", "description": "False: the page was longer than is read."},
        },
        "required": ["url", "content_type", "text", "complete"],
    },
    scope="the hosts that the user listed",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="read",
    permission="web.fetch",
    error_codes=(
        "INVALID_ARGUMENT",
        "ACCESS_DENIED",
        "NOT_FOUND",
        "NOT_TEXT",
        "UNAVAILABLE",
        "TIMEOUT",
        "FAILED",
    ),
)

Resolve = Callable[[str, int], tuple[str, ...]]
"""Returns the addresses of a host, as text; raises `OSError`."""


def resolved(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses of `host` as the system resolves it."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


class _Refused(Exception):
    def __init__(self, code: str, message: str, *, retryable: bool = False) -> None:
        self.error = ToolError(error_type=code, message=message, retryable=retryable)
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hop:
    """One request, checked: nothing in it is looked up again."""

    url: str
    secure: bool
    host: str
    port: int
    address: str
    target: str


@dataclass(slots=True)
class _Time:
    """The time of one fetch: when it is over, every connection of it is shut.

    A server that sends a byte now and then would never meet a time-out of single reads.
    """

    over: bool = False
    _sockets: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def end(self) -> None:
        """End it."""
        with self._lock:
            self.over = True
            sockets = tuple(self._sockets)
        for each in sockets:
            with suppress(OSError):
                # The plain socket's: that of TLS takes the connection from under the read that is to end.
                socket.socket.shutdown(each, socket.SHUT_RDWR)

    def watch(self, opened: socket.socket) -> None:
        """Have `opened` shut at the end too; raises `TimeoutError` when that has been."""
        with self._lock:
            self._sockets.append(opened)
        self.check()

    def check(self) -> None:
        """Raise `TimeoutError` when it is over."""
        if self.over:
            raise TimeoutError


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes
    complete: bool


@dataclass(frozen=True, slots=True)
class FetchUrl:
    """The tool over a list of hosts."""

    allowed: tuple[AllowedHost, ...]
    resolve: Resolve = resolved
    spec: ToolSpec = FETCH_URL
    time_s: float = FETCH_TIME_S
    """From the first connection to the last byte, over all hops."""
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the text of the page."""
        return await asyncio.to_thread(self._fetched, str(arguments["url"]))

    def _fetched(self, url: str) -> ToolResult:
        time = _Time()
        timer = threading.Timer(self.time_s, time.end)
        timer.daemon = True
        timer.start()
        try:
            return self._followed(url, time)
        except _Refused as refused:
            return refused.error
        except (OSError, http.client.HTTPException) as error:
            if time.over or isinstance(error, TimeoutError):
                message = f"{shown(url)} gave no whole answer within {self.time_s:g} s"
                return ToolError(error_type="TIMEOUT", message=message, retryable=True)
            said = str(error) or type(error).__name__
            lasting = isinstance(error, ssl.SSLCertVerificationError)
            message = f"{shown(url)} can't be fetched: {said[:200]}"
            return ToolError(error_type="UNAVAILABLE", message=message, retryable=not lasting)
        finally:
            timer.cancel()

    def _followed(self, url: str, time: _Time) -> ToolResult:
        for _ in range(MOST_HOPS + 1):
            time.check()
            hop = self._checked(url)
            answer = _asked(hop, self, time)
            place = answer.headers.get("Location")
            if answer.status not in (301, 302, 303, 307, 308) or place is None:
                return _result(hop, answer)
            url = urljoin(hop.url, place)
        raise _Refused("FAILED", f"more than {MOST_HOPS} redirects, the last to {shown(url)}")

    def _checked(self, url: str) -> _Hop:
        """Return the request for `url`; raises `_Refused` for one that is not allowed, `OSError` unresolved."""
        parts, host, port = _parts_of(url)
        rule = next((each for each in self.allowed if _fits(each.host, host, port, parts.scheme)), None)
        if rule is None:
            listed = ", ".join(each.host for each in self.allowed) or "none"
            message = f"{shown(url)} is at the host {shown(host)}, port {port}, which is not listed; listed: {listed}"
            raise _Refused("ACCESS_DENIED", f"{message}. Use a listed one, or ask the user to list it.")
        addresses = self.resolve(host, port)
        # The user who lists an address, or says that a host is private, means it.
        private = rule.private or (_bare(rule.host) == host and (_is_address(host) or host == "localhost"))
        for address in addresses:
            if not private and not is_public(address):
                message = (
                    f"{shown(host)} is at {address}, no public address; ask the user to list it as private"
                )
                raise _Refused("ACCESS_DENIED", message)
        if not addresses:
            raise OSError(f"{host} has no address")
        target = quote(parts.path or "/", safe=_SAFE) + (
            f"?{quote(parts.query, safe=_SAFE)}" if parts.query else ""
        )
        plain = parts._replace(fragment="").geturl()
        return _Hop(
            url=plain,
            secure=parts.scheme == "https",
            host=host,
            port=port,
            address=addresses[0],
            target=target,
        )


def is_public(address: str) -> bool:
    """Say whether `address` is one of the open internet, also when it holds an IPv4 address inside.

    >>> [is_public(each) for each in ("93.184.215.14", "127.0.0.1", "10.1.2.3", "::1", "::ffff:10.0.0.1", "fe80::1%1")]
    [True, False, False, False, False, False]
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found in _NAT64 or found in _COMPATIBLE:
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast and not found.is_reserved


_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")


def _parts_of(url: str) -> tuple[SplitResult, str, int]:
    """Return the parts, the host in its ASCII form and the port of `url`."""
    accepted = "accepted: http:// or https://, a host, no user name, no spaces"
    if any(char.isspace() or not char.isprintable() or char == "\\" for char in url):
        raise _Refused("INVALID_ARGUMENT", f"arguments.url is {shown(url)}; {accepted}")
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        host = host if host.isascii() else host.encode("idna").decode("ascii")
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except (ValueError, UnicodeError):
        raise _Refused("INVALID_ARGUMENT", f"arguments.url is {shown(url)}; {accepted}") from None
    if (
        not host
        or not port
        or parts.scheme not in ("http", "https")
        or parts.username is not None
        or "%" in host
    ):
        raise _Refused("INVALID_ARGUMENT", f"arguments.url is {shown(url)}; {accepted}")
    return parts, host.lower(), port


def _fits(rule: str, host: str, port: int, scheme: str) -> bool:
    """Say whether a rule of the list names this host and port; without a port it names the scheme's own."""
    bare = _bare(rule)
    named = rule[len(bare) + (2 if rule.startswith("[") else 0) :].removeprefix(":")
    if port != (int(named) if named else {"http": 80, "https": 443}[scheme]):
        return False
    bare = bare if bare.isascii() else bare.encode("idna").decode("ascii")
    return host.endswith(bare[1:]) and len(host) > len(bare) - 1 if bare.startswith("*.") else host == bare


def _bare(rule: str) -> str:
    """Return a rule's host without its port."""
    return rule[1 : rule.index("]")] if rule.startswith("[") else rule.partition(":")[0]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class _Pinned(http.client.HTTPConnection):
    """A connection to the address that was checked, speaking to the host by its name."""

    def __init__(self, hop: _Hop, tool: FetchUrl, time: _Time) -> None:
        super().__init__(hop.host, hop.port, timeout=tool.time_s)
        self._hop, self._tool, self._time = hop, tool, time

    def connect(self) -> None:
        """Connect to the address; with https the certificate has to be the host's."""
        self.sock = socket.create_connection((self._hop.address, self._hop.port), self._tool.time_s)
        if self._hop.secure:
            # The handshake comes after it is watched: it reads, so a slow server can draw it out too.
            secured = self._tool.tls().wrap_socket(
                self.sock, server_hostname=self._hop.host, do_handshake_on_connect=False
            )
            self.sock = secured
            self._time.watch(secured)
            secured.do_handshake()
        else:
            self._time.watch(self.sock)


def _asked(hop: _Hop, tool: FetchUrl, time: _Time) -> _Answer:
    with closing(_Pinned(hop, tool, time)) as connection:
        headers = {"User-Agent": _USER_AGENT, "Accept": "text/*, application/json, */*;q=0.1"}
        connection.putrequest("GET", hop.target, skip_accept_encoding=True)
        for name, value in (*headers.items(), ("Accept-Encoding", "identity"), ("Connection", "close")):
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as response:
            body = response.read(LARGEST_PAGE + 1)
            # A connection that ends early, be it shut here, looks like the end of the body to a read of so many bytes.
            time.check()
            if response.length and len(body) <= LARGEST_PAGE:
                raise http.client.IncompleteRead(body, response.length)
            return _Answer(response.status, response.headers, body[:LARGEST_PAGE], len(body) <= LARGEST_PAGE)


def _result(hop: _Hop, answer: _Answer) -> ToolResult:
    if answer.status in (404, 410):
        return _error("NOT_FOUND", f"{shown(hop.url)} does not exist ({answer.status}). Try another address.")
    if answer.status == 429 or answer.status >= 500:
        return _error("UNAVAILABLE", f"{shown(hop.url)} answered {answer.status}", retryable=True)
    if answer.status != 200:
        return _error("FAILED", f"{shown(hop.url)} answered {answer.status}. Try another address.")
    kind = answer.headers.get_content_type()
    if not _TEXT_TYPES.fullmatch(kind) or answer.headers.get("Content-Encoding", "identity") != "identity":
        return _error("NOT_TEXT", f"{shown(hop.url)} is {kind}; accepted: text, HTML, JSON, XML")
    title, text = "", _decoded(answer)
    if kind in ("text/html", "application/xhtml+xml"):
        title, text = text_of_html(text)
    headers = answer.headers
    version = headers.get("ETag") or headers.get("Last-Modified") or hashlib.sha256(answer.body).hexdigest()
    data = {"url": hop.url, "content_type": kind, "title": title, "text": text, "complete": answer.complete}
    return ToolOk(
        summary=f"{shown(hop.url)}: {len(text)} characters"
        + ("" if answer.complete else " (the page is longer)"),
        data=data,
        source=hop.url,
        source_version=version,
        truncated=not answer.complete,
    )


def _decoded(answer: _Answer) -> str:
    named = answer.headers.get_content_charset()
    declared = re.search(
        rb"""<meta[^>]{0,200}charset=["']?([\w-]{2,20})""", answer.body[:2_000], re.IGNORECASE
    )
    for encoding in (named, declared[1].decode("ascii") if declared else None, "utf-8"):
        if encoding is not None:
            with suppress(LookupError, UnicodeDecodeError):
                return answer.body.decode(encoding)
    return answer.body.decode("utf-8", "replace")


def _error(code: str, message: str, *, retryable: bool = False) -> ToolError:
    return ToolError(error_type=code, message=message, retryable=retryable)
