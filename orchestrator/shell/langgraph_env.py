"""Import this before the first import of LangGraph: deserialisation is strict from the start (CVE-2026-28277)."""

import os

# Whatever the surroundings say: nothing here needs the lenient way.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
