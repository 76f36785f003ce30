from dataclasses import replace

import pytest

from agents.broker import Broker
from agents.models.contract import ModelReply, ModelRequest
from agents.results import WorkOutput, WorkResult
from agents.spec import AgentId, AgentSpec
from agents.tools.contract import ToolCall, ToolResult
from agents.workers.ports import Worker, WorkOrder
from agents.workers.scripted import ANY, ScriptedWorker, UnscriptedOrder
from graphs.plan import NodeId, SubTask
from masks.bands import DEFAULT_THRESHOLDS
from masks.vector import new_mask

N1, N2 = NodeId("n1"), NodeId("n2")


class NoBroker:
    """Nothing may be called."""

    async def call_tool(self, call: ToolCall) -> ToolResult:
        raise AssertionError(call)

    async def call_model(self, request: ModelRequest) -> ModelReply:
        raise AssertionError(request)


def order(node: NodeId) -> WorkOrder:
    agent = AgentSpec(id=AgentId("A"), responsibility="", role="generate", operations=(), mask=new_mask("A"))
    subtask = SubTask(id=node, title="", kind="loop", operation="research")
    return WorkOrder(subtask=subtask, agent=agent, thresholds=DEFAULT_THRESHOLDS, path=1, lang="en")


def result(text: str) -> WorkResult:
    return WorkResult(output=WorkOutput(text=text), candidate_complete=True, mode="scripted", path=1)


async def test_orders_are_answered_by_node_and_number() -> None:
    worker = ScriptedWorker(
        {(N1, 1): ValueError("first"), (N1, ANY): result("later"), (N2, 2): result("two")}
    )
    port: Worker = worker
    broker: Broker = NoBroker()
    with pytest.raises(ValueError, match="first"):
        await port.work(order(N1), broker)
    assert (await port.work(order(N1), broker)).output.text == "later"
    assert (await port.work(order(N1), broker)).output.text == "later"
    with pytest.raises(UnscriptedOrder, match=r"order 1 for node 'n2' is not scripted"):
        await port.work(order(N2), broker)
    assert (await port.work(order(N2), broker)).output.text == "two"
    assert [one.subtask.id for one in worker.orders] == [N1, N1, N1, N2, N2]


async def test_a_script_may_look_at_the_order() -> None:
    async def later(received: WorkOrder, _: Broker) -> WorkResult:
        return replace(result("async"), path=received.path)

    worker = ScriptedWorker(
        {(N1, ANY): lambda received, _: replace(result("plain"), path=received.path), (N2, ANY): later}
    )
    assert (await worker.work(replace(order(N1), path=2), NoBroker())).path == 2
    assert (await worker.work(order(N2), NoBroker())).output.text == "async"
