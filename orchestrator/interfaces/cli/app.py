"""The program: read what holds for every command, parse, perform, and end with one exit code.

Only light modules are imported here (see `opening`). Whatever a command raises is shown in the reader's language, on
stderr or as a JSON error, and never as a traceback.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from orchestrator.interfaces.cli.commands import make_app
from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.invocation import Invocation, form_wanted, read_invocation
from orchestrator.interfaces.cli.problems import Problem
from orchestrator.interfaces.cli.results import write_failure
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import Streams, prepare_streams
from orchestrator.interfaces.cli.usage import COMMAND_LINE_ERROR, usage_failure
from orchestrator.shell.settings import InvalidSetting, lang_from, settings_from

if TYPE_CHECKING:
    from orchestrator.interfaces.cli.results import Failure
    from orchestrator.shell.wiring import Workshop


def main() -> NoReturn:
    """Run the command line of this process and exit."""
    prepare_streams()
    # SIGTERM ends a command like Ctrl-C does: with what it was doing said, and the codes of `exit_codes`.
    signal.signal(signal.SIGTERM, as_interrupt)
    code = run_command(sys.argv[1:], os.environ, Streams())
    sys.stdout.flush()
    sys.exit(code)


def run_command(
    argv: Sequence[str],
    environment: Mapping[str, str],
    streams: Streams,
    *,
    shop: Workshop | None = None,
) -> int:
    """Run one command line and return its exit code; nothing is raised and the process is not ended.

    `shop` replaces the workshop and its store, for tests and for programs that embed the commands.
    """
    try:
        invocation = read_invocation(argv, environment)
        settings = settings_from(environment, lang=invocation.lang)
    except (Problem, InvalidSetting) as error:
        return _refuse(error, argv, environment, streams)
    session = Session(invocation, settings, streams, shop=shop)
    try:
        # The parser writes help and completion to the process's own stdout.
        with redirect_stdout(streams.out):
            return _parse(invocation, session)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except SystemExit as ended:  # the completion of a shell ends itself
        return ended.code if isinstance(ended.code, int) else 0
    except Exception as error:  # noqa: BLE001 - every error becomes one message; an unknown one keeps its trace in a file
        failure = _failure(error, session)
        write_failure(streams, invocation.form, failure, session.lang)
        return int(failure.exit)
    finally:
        session.close()


def _parse(invocation: Invocation, session: Session) -> int:
    code = _command().main(
        args=list(invocation.args), prog_name="maskgrad", standalone_mode=False, obj=session
    )
    return code if isinstance(code, int) else 0


@cache
def _command() -> Any:
    """Return the parser, built once: a program that embeds the commands calls it often."""
    return typer.main.get_command(make_app())


def _failure(error: Exception, session: Session) -> Failure:
    if isinstance(error, COMMAND_LINE_ERROR):
        return usage_failure(error, session.lang)
    from orchestrator.interfaces.cli.failures import failure_of

    return failure_of(error, session.lang, home=session.settings.home, args=session.invocation.args)


def _refuse(
    error: Problem | InvalidSetting, argv: Sequence[str], environment: Mapping[str, str], streams: Streams
) -> int:
    """Show an error of the options that hold for every command; they decide the language, so it may not be known."""
    from orchestrator.interfaces.cli.failures import failure_of

    try:
        lang = lang_from(environment)
    except InvalidSetting:
        lang = "en"
    failure = failure_of(error, lang, home=None)
    write_failure(streams, form_wanted(argv), failure, lang)
    return int(failure.exit)


def as_interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    """Handle a signal as Ctrl-C is handled."""
    del signum, frame
    raise KeyboardInterrupt
