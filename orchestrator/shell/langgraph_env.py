"""Import this before the first import of LangGraph: deserialisation is strict from the start (CVE-2026-28277)."""

import os

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
