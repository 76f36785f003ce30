"""Open the tracing that the settings ask for: `MASKGRAD_OTEL=1`, and where to by OpenTelemetry's own variables.

A program that has set a tracer provider of OpenTelemetry's SDK keeps it. Otherwise exporters are those that
`OTEL_TRACES_EXPORTER` names (`otlp`, `console`, `none`; not set: `otlp`), found as OpenTelemetry finds them, by the
entry points of installed packages; `OTEL_EXPORTER_OTLP_ENDPOINT` and other variables are read by its packages.
"""

# ruff: noqa: PLC0415 - OpenTelemetry is an extra, and nothing of it is loaded while it is off.

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Final

from orchestrator.shell.journal import Listener
from orchestrator.shell.settings import Settings
from orchestrator.shell.tracing import RunSpans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import TracerProvider

EXPORTERS: Final = "OTEL_TRACES_EXPORTER"
"""OpenTelemetry's variable: exporters of spans, separated by commas."""
PROTOCOL: Final = "OTEL_EXPORTER_OTLP_PROTOCOL"
"""OpenTelemetry's variable: how `otlp` sends; not set: `http/protobuf`."""
FLUSH_S: Final = 5.0
"""How long the end of a command waits for spans to be sent, in seconds; what is not sent by then is lost."""

_GROUP: Final = "opentelemetry_traces_exporter"
_OTLP: Final[Mapping[str, str]] = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
_PACKAGES: Final[Mapping[str, str]] = {
    "otlp_proto_http": "opentelemetry-exporter-otlp-proto-http",
    "otlp_proto_grpc": "opentelemetry-exporter-otlp-proto-grpc",
}
_LOG: Final = logging.getLogger(__name__)


class TracingUnavailable(RuntimeError):
    """Spans were asked for and can't be made; says in both languages what is missing and how to get it."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.zh = zh


@contextmanager
def run_spans(
    settings: Settings, *, warn: Callable[[str, str], None], environment: Mapping[str, str] | None = None
) -> Iterator[tuple[Listener, ...]]:
    """Lend the listeners that trace one execution: one, or none while tracing is off.

    What keeps spans from being made is told to `warn`, in English and in Chinese, and the run goes on without.
    """
    if not settings.otel:
        yield ()
        return
    try:
        provider, end = _provider(os.environ if environment is None else environment)
    except TracingUnavailable as error:
        warn(str(error), error.zh)
        yield ()
        return
    except Exception as error:  # noqa: BLE001 - exporters are foreign code, and no run may fail by them
        warn(f"no spans are sent, the exporter broke: {error!r}", f"未发送追踪数据，导出器出错：{error!r}")
        yield ()
        return
    spans = RunSpans(provider.get_tracer("maskgrad"), content=settings.otel_content)
    try:
        yield (spans,)
    finally:
        spans.close()
        end()


def _provider(environment: Mapping[str, str]) -> tuple[TracerProvider, Callable[[], None]]:
    """Return the tracer provider and what ends it."""
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider as SdkProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise TracingUnavailable(
            f"MASKGRAD_OTEL is on and {error.name!r} is not installed, so no spans are sent; "
            "install it: pip install 'maskgrad[otel]'",
            f"MASKGRAD_OTEL 已打开，但未安装 {error.name!r}，因此不发送追踪数据；请安装：pip install 'maskgrad[otel]'",
        ) from error
    own = trace.get_tracer_provider()
    if isinstance(own, SdkProvider):
        return own, _nothing
    exporters = [_exporter(name, environment) for name in exporter_names(environment)]
    named = {} if environment.get("OTEL_SERVICE_NAME") else {"service.name": "maskgrad"}
    provider = SdkProvider(resource=Resource.create(named), shutdown_on_exit=False)
    for exporter in exporters:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider, lambda: _ended(provider.shutdown)


def exporter_names(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the exporters that an environment asks for, in order and without `none`.

    >>> exporter_names({})
    ('otlp',)
    >>> exporter_names({"OTEL_TRACES_EXPORTER": "console, otlp"})
    ('console', 'otlp')
    """
    listed = environment.get(EXPORTERS, "").strip() or "otlp"
    names = [name.strip() for name in listed.split(",")]
    return tuple(dict.fromkeys(name for name in names if name and name != "none"))


def _exporter(name: str, environment: Mapping[str, str]) -> SpanExporter:
    if name == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        # Results of commands are on stdout.
        return ConsoleSpanExporter(out=sys.stderr)
    wanted = name
    if name == "otlp":
        protocol = environment.get(PROTOCOL, "").strip() or "http/protobuf"
        wanted = _OTLP.get(protocol, protocol)
    found = list(entry_points(group=_GROUP, name=wanted))
    if not found:
        package = _PACKAGES.get(wanted)
        en = f"install it: pip install {package}" if package else f"set {EXPORTERS} to 'otlp' or 'console'"
        zh = f"请安装：pip install {package}" if package else f"请将 {EXPORTERS} 设为 'otlp' 或 'console'"
        raise TracingUnavailable(
            f"the exporter {wanted!r} is not installed, so no spans are sent; {en}",
            f"未安装导出器 {wanted!r}，因此不发送追踪数据；{zh}",
        )
    made: SpanExporter = found[0].load()()
    return made


def _ended(shutdown: Callable[[], None]) -> None:
    """Send what is left, for `FLUSH_S` at most: an endpoint that hangs must not hold a command up."""

    def end() -> None:
        try:
            shutdown()
        except Exception as error:  # noqa: BLE001 - exporters are foreign code
            _LOG.warning("spans may be lost, their exporter broke: %r", error)

    thread = threading.Thread(target=end, name="maskgrad-spans", daemon=True)
    thread.start()
    thread.join(FLUSH_S)


def _nothing() -> None:
    """Leave a provider of the program's own as it is."""
