"""Set what LangGraph reads from the environment when it is first imported.

A module that imports langgraph imports this one before it. Checkpoints are then never deserialised into classes other
than LangGraph's own safe list (CVE-2026-28277).
"""

import os

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
