"""What breaks in a tool is told without the secrets in its words."""

from __future__ import annotations

import pytest

from agents.tools.callables import ToolFailed, tool
from agents.tools.contract import ToolError
from orchestrator.core.ids import ArtefactId
from orchestrator.shell.call_time import CallTime
from orchestrator.shell.spending import Spending
from tests.flows.stage import FakeClock

SAID = "401 for https://me:pw1@x.org/a?q=private1 with api_key=private2"


@pytest.mark.parametrize("error", [ValueError(SAID), ConnectionError(SAID), ToolFailed(SAID)])
async def test_an_exception_is_told_without_what_it_says_of_secrets(error: Exception) -> None:
    @tool(purpose="Look.", when_to_use="Always.", when_not_to_use="Never.")
    def look() -> str:
        raise error

    time = CallTime(
        tool="look",
        timeout_s=5.0,
        spending=Spending(FakeClock()),
        deadline_s=5.0,
        keep_bytes=lambda _: ArtefactId("a"),
    )
    found = await time.perform(lambda: look.call({}))
    assert isinstance(found, ToolError)
    assert "401 for https://***@x.org/a?*** with api_key=***" in found.message
