"""What the command line itself refuses.

    Problem              kind, code, message in both languages
    ├── UsageProblem     an argument, an option or a value is not accepted; nothing was changed
    ├── NotFound         a file, sub-task or other thing that was named does not exist
    ├── Changed          something is no longer what was shown
    ├── Unavailable      something outside that is needed can't be reached
    └── Interrupted      the user ended the command

Raised by command bodies, shown by `orchestrator.interfaces.cli.failures`. Light on purpose: the help imports it.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Lang = Literal["en", "zh"]

ErrorKind = Literal[
    "usage", "not_found", "invalid", "state", "busy", "store", "unavailable", "interrupted", "internal"
]
"""The closed list of kinds of `--json` errors.

- `usage`: an argument, option or value is not accepted.
- `not_found`: a run, request, agent, domain, file or folder that was named does not exist.
- `invalid`: a plan or proposal has errors.
- `state`: the run is not in a state in which this can be done, or it moved on in between.
- `busy`: another process holds the run or the store.
- `store`: the run store can't be read or written.
- `unavailable`: a model or tool can't be used.
- `interrupted`: the user ended the command; the run can be resumed.
- `internal`: a bug of ours.
"""


class Problem(Exception):
    """A refusal with a stable code and a message in both languages."""

    kind: ClassVar[ErrorKind] = "usage"

    def __init__(self, code: str, *, en: str, zh: str) -> None:
        self.code = code
        self._messages: dict[Lang, str] = {"en": en, "zh": zh}
        super().__init__(en)

    def message(self, lang: Lang) -> str:
        """Return the message in `lang`: the value got, what is accepted, the next step."""
        return self._messages[lang]


class UsageProblem(Problem):
    """An argument, an option or a value is not accepted."""

    kind = "usage"


class NotFound(Problem):
    """Something that was named does not exist."""

    kind = "not_found"


class Changed(Problem):
    """Something is no longer what was shown."""

    kind = "state"


class Unavailable(Problem):
    """Something outside that is needed can't be reached."""

    kind = "unavailable"


class Interrupted(Problem):
    """The user ended the command."""

    kind = "interrupted"


def pick(lang: Lang, en: str, zh: str) -> str:
    """Return the text of the reader's language.

    >>> pick("zh", "done", "完成")
    '完成'
    """
    return zh if lang == "zh" else en
