from pydantic import JsonValue

from graphs.plan import NodeId
from graphs.references import Reference, references, rename_references, without_references


def test_references_are_found_in_any_value() -> None:
    value: JsonValue = ["a {{ n1.claims }} b {{x}}", {"k": "{{价格}}"}, 3, None, "{{}} {n} {{a b}}"]
    assert references(value) == (
        Reference(text="{{ n1.claims }}", name="n1", port="claims"),
        Reference(text="{{x}}", name="x", port=None),
        Reference(text="{{价格}}", name="价格", port=None),
    )
    assert without_references("a {{n1}} b") == "a   b"


def test_renaming_touches_only_that_node() -> None:
    value: JsonValue = {"n1": ["{{n1}} {{n1.a}} {{n10.a}} {{a.n1}} n1", True]}
    renamed = rename_references(value, NodeId("n1"), NodeId("m"), own=frozenset())
    assert renamed == {"n1": ["{{m}} {{m.a}} {{n10.a}} {{a.n1}} n1", True]}
