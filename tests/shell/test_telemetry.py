"""Tracing is off unless it is asked for, and what is missing for it is said while the run goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.core.events import Event, RunSuspended
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import initial
from orchestrator.shell.settings import Settings, settings_from
from orchestrator.shell.telemetry import run_spans

ON = Settings(home=Path("nowhere"), lang="en", otel=True)


def said_nothing(en: str, zh: str) -> None:
    raise AssertionError(f"{en} / {zh}")


def test_it_is_off_unless_asked_for() -> None:
    settings = settings_from({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"})
    assert (settings.otel, settings.otel_content) == (False, False)
    with run_spans(settings, warn=said_nothing) as listeners:
        assert listeners == ()


def test_nothing_of_opentelemetry_is_loaded_while_it_is_off() -> None:
    code = "import sys, orchestrator.shell.telemetry; print([m for m in sys.modules if 'opentelemetry' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_exporter_that_is_not_there_is_named_and_the_run_goes_on() -> None:
    said: list[tuple[str, str]] = []
    asked = {"OTEL_TRACES_EXPORTER": "pigeon"}
    with run_spans(ON, warn=lambda en, zh: said.append((en, zh)), environment=asked) as listeners:
        assert listeners == ()
    ((english, chinese),) = said
    assert english == (
        "the exporter 'pigeon' is not installed, so no spans are sent; "
        "set OTEL_TRACES_EXPORTER to 'otlp' or 'console'"
    )
    assert "'pigeon'" in chinese


def test_the_console_is_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"OTEL_TRACES_EXPORTER": "console"}
    with run_spans(ON, warn=said_nothing, environment=asked) as (spans,):
        event = Event(seq=1, ts="1970-01-01T00:00:01Z", body=RunSuspended(requests=()))
        spans(event, initial(RunId("r-abc")))
    written = capsys.readouterr()
    assert '"name": "invoke_workflow maskgrad"' in written.err
    assert '"service.name": "maskgrad"' in written.err
    assert written.out == ""
