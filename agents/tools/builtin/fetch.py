"""The tool `fetch_url`: GET from the hosts that the user listed, as text.

Every hop is checked by itself: scheme, host and port against the list, and the address that the host resolves to. The
connection goes to the very address that was checked, so that a name that resolves to another one a moment later leads
nowhere else. No proxy, no cookies, no credentials.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from agents.tools.builtin.hosts import Resolve, bare, fits, is_ip, is_public, resolved
from agents.tools.builtin.pages import text_of_html
from agents.tools.configuration import AllowedHost
from agents.tools.contract import ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.names import shown
from agents.tools.previews import TOOL_TIMEOUT_S
from agents.tools.texts.calls import REFUSALS
from agents.tools.texts.contract import say
from agents.tools.texts.outside import FETCHES

LARGEST_PAGE: Final = 2_000_000
"""Bytes that are read of an answer; the rest is left."""
MOST_HOPS: Final = 5
FETCH_TIME_S: Final = 12.0
"""From the first look-up of a name to the last byte, over all hops."""
_SHORTEST_S: Final = 0.001
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
    addresses: tuple[str, ...]
    """Each of them was checked."""
    target: str


@dataclass(slots=True)
class _Time:
    """The time of one fetch: when it is over, every connection of it is shut.

    A server that sends a byte now and then would never meet a time-out of single reads.
    """

    total_s: float
    over: bool = False
    _began: float = field(default_factory=time.monotonic)
    _sockets: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def left_s(self) -> float:
        """Seconds until it is over, never 0: a time-out of 0 has another meaning."""
        return max(self.total_s - (time.monotonic() - self._began), _SHORTEST_S)

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

    def wait_for(self, resolve: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """Return what `resolve` gives within the time; raises `TimeoutError`, and what it raises.

        The system's own can't be broken off: it goes on in a thread that nobody waits for.
        """
        found: SimpleQueue[tuple[str, ...] | Exception] = SimpleQueue()

        def put() -> None:
            try:
                found.put(resolve())
            except Exception as error:  # noqa: BLE001 - told to who waits
                found.put(error)

        threading.Thread(target=put, daemon=True, name="fetch resolver").start()
        try:
            result = found.get(timeout=self.left_s)
        except Empty:
            raise TimeoutError from None
        if isinstance(result, Exception):
            raise result
        return result


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
    """From the first look-up of a name to the last byte, over all hops."""
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the text of the page."""
        return await asyncio.to_thread(self._fetched, str(arguments["url"]))

    def _fetched(self, url: str) -> ToolResult:
        clock = _Time(self.time_s)
        timer = threading.Timer(self.time_s, clock.end)
        timer.daemon = True
        timer.start()
        try:
            return self._followed(url, clock)
        except _Refused as refused:
            return refused.error
        except (OSError, http.client.HTTPException) as error:
            if clock.over or isinstance(error, TimeoutError):
                message = f"{shown(url)} gave no whole answer within {self.time_s:g} s"
                return ToolError(error_type="TIMEOUT", message=message, retryable=True)
            said = str(error) or type(error).__name__
            lasting = isinstance(error, ssl.SSLCertVerificationError)
            message = f"{shown(url)} can't be fetched: {said[:200]}"
            return ToolError(error_type="UNAVAILABLE", message=message, retryable=not lasting)
        finally:
            timer.cancel()

    def _followed(self, url: str, clock: _Time) -> ToolResult:
        first: _Hop | None = None
        for _ in range(MOST_HOPS + 1):
            clock.check()
            hop = self._checked(url, clock, first)
            first = first or hop
            answer = _asked(hop, self, clock)
            place = answer.headers.get("Location")
            if answer.status not in (301, 302, 303, 307, 308) or place is None:
                return _result(hop, answer)
            url = urljoin(hop.url, place)
        raise _Refused("FAILED", f"more than {MOST_HOPS} redirects, the last to {shown(url)}")

    def _checked(self, url: str, clock: _Time, first: _Hop | None) -> _Hop:
        """Return the request for `url`, to which `first` leads; `None`: it is the first itself, which the gate judged.

        Raises `_Refused` for one that is not allowed, `OSError` unresolved.
        """
        parts, host, port = _parts_of(url)
        matching = [each for each in self.allowed if fits(each.host, host, port, parts.scheme)]
        # What is said of the very host holds before what is said of all below a suffix.
        rule = min(matching, key=lambda each: each.host.startswith("*."), default=None)
        if rule is None:
            listed = ", ".join(each.host for each in self.allowed) or say(REFUSALS, "none")
            values = {"url": shown(url), "host": shown(host), "port": port, "known": listed}
            raise _Refused("ACCESS_DENIED", say(FETCHES, "not_listed", **values))
        if first is not None and rule.host.startswith("*.") and host != first.host:
            # The gate lets only hosts pass unasked that are listed exactly: a redirect is no way around the question.
            message = (
                f"{shown(first.url)} leads on to {url!r}, at a host that is listed by {rule.host!r} only and asked "
                "about. Accepted in a redirect: the same host, or one that is listed exactly. Fetch that address "
                "itself, so that the user is asked"
            )
            raise _Refused("ACCESS_DENIED", message)
        addresses = clock.wait_for(partial(self.resolve, host, port))
        # The user who lists an address, or says that a host is private, means it.
        private = rule.private or (bare(rule.host) == host and (is_ip(host) or host == "localhost"))
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
            addresses=addresses,
            target=target,
        )


def _parts_of(url: str) -> tuple[SplitResult, str, int]:
    """Return the parts, the host in its ASCII form and the port of `url`."""
    wrong = _Refused("INVALID_ARGUMENT", say(FETCHES, "bad_url", url=shown(url)))
    if any(char.isspace() or not char.isprintable() or char == "\\" for char in url):
        raise wrong
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        host = host if host.isascii() else host.encode("idna").decode("ascii")
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except (ValueError, UnicodeError):
        raise wrong from None
    if (
        not host
        or not port
        or parts.scheme not in ("http", "https")
        or parts.username is not None
        or "%" in host
    ):
        raise wrong
    return parts, host.lower(), port


class _Pinned(http.client.HTTPConnection):
    """A connection to one of the addresses that were checked, speaking to the host by its name."""

    def __init__(self, hop: _Hop, tool: FetchUrl, clock: _Time) -> None:
        super().__init__(hop.host, hop.port, timeout=clock.left_s)
        self._hop, self._tool, self._clock = hop, tool, clock

    def connect(self) -> None:
        """Connect to the first address that takes it; with https the certificate has to be the host's."""
        self.sock = self._connected()
        self.sock.settimeout(self._clock.left_s)
        if self._hop.secure:
            # The handshake comes after it is watched: it reads, so a slow server can draw it out too.
            secured = self._tool.tls().wrap_socket(
                self.sock, server_hostname=self._hop.host, do_handshake_on_connect=False
            )
            self.sock = secured
            self._clock.watch(secured)
            secured.do_handshake()
        else:
            self._clock.watch(self.sock)

    def _connected(self) -> socket.socket:
        """Try each address in turn, each for an equal share of the time that is left; raises the last `OSError`."""
        failed: OSError | None = None
        for number, address in enumerate(self._hop.addresses):
            self._clock.check()
            share_s = self._clock.left_s / (len(self._hop.addresses) - number)
            try:
                return socket.create_connection((address, self._hop.port), share_s)
            except OSError as error:
                failed = error
        raise failed or OSError(f"{self._hop.host} has no address")


def _asked(hop: _Hop, tool: FetchUrl, clock: _Time) -> _Answer:
    with closing(_Pinned(hop, tool, clock)) as connection:
        headers = {"User-Agent": _USER_AGENT, "Accept": "text/*, application/json, */*;q=0.1"}
        connection.putrequest("GET", hop.target, skip_accept_encoding=True)
        for name, value in (*headers.items(), ("Accept-Encoding", "identity"), ("Connection", "close")):
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as response:
            body = response.read(LARGEST_PAGE + 1)
            # A connection that ends early, be it shut here, looks like the end of the body to a read of so many bytes.
            clock.check()
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
