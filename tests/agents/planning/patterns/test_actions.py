import pytest

from agents.planning.patterns.actions import requested_actions


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("Summarise the minutes and send them to the client", ("send",)),
        ("book a flight to Paris", ("book",)),
        ("Check the balance, then transfer 5 euros and email me", ("transfer", "email")),
        ("update my address", ("update",)),
        ("总结会议纪要，并发送给客户", ("发送",)),
        ("取消明天的闹钟", ("取消",)),
        ("How do I install and update it?", ()),
        ("哪些设备已经取消？", ()),
        ("Summarise the order book and the post office rules", ()),
        ("What was sent and who paid?", ()),
        ("Compare cost, safety and noise", ()),
    ],
)
def test_orders_to_act_are_noticed(text: str, verbs: tuple[str, ...]) -> None:
    assert requested_actions(text) == verbs
