"""The switch of the last resort: one file in the data directory keeps every process from asking a chat model.

While it is off, agents that would think with a model are worked by the embedded default (seed 003, 4.3: an agent that
goes wrong is switched off at once, and what can be done without it goes on).
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

from orchestrator.shell.settings import Settings

SWITCH_FILE: Final = "models.off"
"""In the data directory; models are off while it is there, whatever it holds."""


class ModelSwitch:
    """The switch of one data directory, and what the process's own settings say."""

    def __init__(self, settings: Settings) -> None:
        self.path = settings.home / SWITCH_FILE
        self.forced_off = settings.models_off
        """Whether this process asks no model, whatever the file says."""

    def is_off(self) -> bool:
        """Tell whether no model is to be asked, as of now: the file is looked for each time.

        A directory that can't be looked into leaves it open, and then none is asked.
        """
        return self.forced_off or self.is_set()

    def is_set(self) -> bool:
        """Tell whether the file is there, or can't be looked for."""
        try:
            os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return True

    def since(self) -> str | None:
        """Return what the file says of when it was switched off; `None` without one that can be read."""
        try:
            return self.path.read_text(encoding="utf-8").strip() or None
        except (OSError, UnicodeDecodeError):
            return None

    def turn_off(self, now: str) -> None:
        """Switch models off for every process of this data directory; `now` is kept. Raises `OSError`."""
        if self.is_set():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Whole or not at all: a process that looks meanwhile must not read half of it.
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=self.path.parent, prefix=f".{SWITCH_FILE}-", delete=False
        ) as file:
            file.write(f"{now}\n")
        Path(file.name).replace(self.path)

    def turn_on(self) -> None:
        """Take the file away; raises `OSError` where that is not allowed."""
        self.path.unlink(missing_ok=True)
