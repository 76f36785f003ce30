"""The shell: effects behind ports, and the one place where they are wired together."""

import orchestrator.shell.langgraph_env  # noqa: F401 - strict deserialisation has to be set before LangGraph is imported
