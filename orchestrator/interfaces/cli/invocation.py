"""The options that hold for every command, read before the command line is parsed: they may stand anywhere on it.

The language has to be known before the help is written, and the form before an error is shown; that is why they are
not options of the single commands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from orchestrator.interfaces.cli.problems import UsageProblem

Form = Literal["text", "json", "jsonl"]
"""How results are written to stdout: for people, as one JSON object, or as a stream of JSON lines."""

Display = Literal["auto", "live", "plain", "log", "none"]
"""How progress is shown on stderr.

- `auto`: `live` on a terminal, `log` in a CI job, else `plain`.
- `live`: a panel of fixed height; what is finished scrolls up.
- `plain`: one line of `key=value` for each change of state, never wrapped.
- `log`: as `plain`, each line with its time and run.
- `none`: nothing.
"""

DISPLAY_VARIABLE: Final = "MASKGRAD_DISPLAY"
"""Environment variable: the display where `--display` is not given."""

_DISPLAYS: Final = get_args(Display)
_FLAGS: Final[Mapping[str, Form]] = {"--json": "json", "--jsonl": "jsonl"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call of the program: what is left of the command line, and the options that hold for every command."""

    args: tuple[str, ...]
    """The command line without the options below."""
    lang: str | None = None
    """As given with `--lang`; not checked."""
    form: Form = "text"
    display: Display = "auto"
    environment: Mapping[str, str] = field(default_factory=dict)


def read_invocation(argv: Sequence[str], environment: Mapping[str, str]) -> Invocation:
    """Return the invocation of a command line; what follows a bare `--` is left alone.

    Raises `UsageProblem` for a display that does not exist, an option without its value, and `--json` together with
    `--jsonl`.

    >>> read_invocation(["runs", "--json", "--lang=zh"], {}).args
    ('runs',)
    """
    rest: list[str] = []
    lang: str | None = None
    display = environment.get(DISPLAY_VARIABLE) or "auto"
    forms: list[Form] = []
    words = list(argv)
    while words:
        word = words.pop(0)
        if word == "--":
            rest += [word, *words]
            break
        name, _, value = word.partition("=")
        if word in _FLAGS:
            forms.append(_FLAGS[word])
        elif name == "--lang":
            lang = value if "=" in word else _value_of(name, words)
        elif name == "--display":
            display = value if "=" in word else _value_of(name, words)
        else:
            rest.append(word)
    if len(set(forms)) > 1:
        raise UsageProblem(
            "two_forms",
            en="'--json' and '--jsonl' were both given; "
            "give one: '--json' for one object, '--jsonl' for a stream of events",
            zh="同时给出了 '--json' 和 '--jsonl'；请只给一个：'--json' 输出一个对象，'--jsonl' 输出事件流",
        )
    return Invocation(
        args=tuple(rest),
        lang=lang,
        form=forms[0] if forms else "text",
        display=_display(display),
        environment=environment,
    )


def form_wanted(argv: Sequence[str]) -> Form:
    """Return the form that a command line asks for, even if the rest of it is wrong: errors are shown in it too."""
    return next((_FLAGS[word] for word in argv if word in _FLAGS), "text")


def _value_of(name: str, words: list[str]) -> str:
    if not words:
        accepted = "en, zh" if name == "--lang" else ", ".join(_DISPLAYS)
        raise UsageProblem(
            "option_without_value",
            en=f"{name!r} needs a value; accepted: {accepted}",
            zh=f"{name!r} 需要一个值；可接受：{accepted}",
        )
    return words.pop(0)


def _display(name: str) -> Display:
    for known in _DISPLAYS:
        if name == known:
            display: Display = known
            return display
    raise UsageProblem(
        "unknown_display",
        en=f"display {name!r} does not exist; accepted: {', '.join(_DISPLAYS)} (--display or {DISPLAY_VARIABLE})",
        zh=f"没有显示方式 {name!r}；可接受：{'、'.join(_DISPLAYS)}（--display 或 {DISPLAY_VARIABLE}）",
    )
