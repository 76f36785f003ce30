"""The command line with workers that never finish the sub-task `b`: to be interrupted from outside.

python -m tests.interfaces.cli.slow_program waiting|stuck HOME ARGUMENT...
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from orchestrator.interfaces.cli.app import as_interrupt, run_command
from orchestrator.interfaces.cli.streams import Streams
from tests.interfaces.cli.shops import never, scripted_shop, stuck

if __name__ == "__main__":
    how, home = sys.argv[1], Path(sys.argv[2])
    signal.signal(signal.SIGTERM, as_interrupt)
    environment = {**os.environ, "MASKGRAD_HOME": str(home)}
    shop = scripted_shop(home, {"b": never if how == "waiting" else stuck})
    sys.exit(run_command(sys.argv[3:], environment, Streams(), shop=shop))
