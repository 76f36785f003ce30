from hypothesis import given
from hypothesis import strategies as st

from agents.models.call_ids import with_unique_ids
from agents.models.contract import InvalidCall, Message, ToolCalls
from agents.tools.contract import ToolCall

IDS = st.lists(st.sampled_from(["", "a", "a-2", "b", "call-1", "call-2"]), max_size=6)


def proposed(ids: list[str], invalid: list[str]) -> ToolCalls:
    return ToolCalls(
        calls=tuple(ToolCall(tool="t", arguments={"n": n}, id=given) for n, given in enumerate(ids)),
        invalid=tuple(
            InvalidCall(tool="t", raw=str(n), reason="", id=given) for n, given in enumerate(invalid)
        ),
    )


@given(IDS, IDS, IDS)
def test_each_id_is_one_of_its_own_and_nothing_else_changes(
    before: list[str], ids: list[str], invalid: list[str]
) -> None:
    earlier = tuple(
        ToolCall(tool="t", arguments={}, id=f"{given}{n}") for n, given in enumerate(before)
    ) + tuple(ToolCall(tool="t", arguments={}, id=given) for given in set(before) - {""})
    conversation = (Message(role="assistant", content="", calls=earlier),)
    one = proposed(ids, invalid)
    found = with_unique_ids(one, conversation)
    given = [call.id for call in found.calls] + [bad.id for bad in found.invalid]
    taken = {call.id for call in earlier}
    assert all(given)
    assert len(set(given)) == len(given)
    assert not set(given) & taken
    assert [call.arguments["n"] for call in found.calls] == list(range(len(ids)))
    assert [bad.raw for bad in found.invalid] == [str(n) for n in range(len(invalid))]
    for wanted, got in zip(ids, given, strict=False):
        if wanted and wanted not in taken and ids.count(wanted) == 1 and got != wanted:
            # Only an id that was made for an earlier call can have taken it.
            assert wanted in given
    assert with_unique_ids(one, conversation) == found


def test_by_example() -> None:
    found = with_unique_ids(proposed(["x", "", "x", ""], ["x"]), ())
    assert [call.id for call in found.calls] == ["x", "call-1", "x-2", "call-2"]
    assert [bad.id for bad in found.invalid] == ["x-3"]
