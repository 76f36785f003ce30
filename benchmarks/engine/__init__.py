"""The benchmark of the engine."""

import orchestrator.shell.langgraph_env  # noqa: F401 - sets the environment before any part imports LangGraph
