import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.planning.clauses import (
    enumeration,
    numbered,
    quoted,
    sentences,
    shielded,
    split_at_colon,
    unquote,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cost, lifetime and safety", ("cost", "lifetime", "safety")),
        ("cost, lifetime, and safety", ("cost", "lifetime", "safety")),
        ("A & B", ("A", "B")),
        ("the cost and the risk", ("cost", "risk")),
        ("PostgreSQL vs. MySQL", ("PostgreSQL", "MySQL")),
        ("甲、乙、丙", ("甲", "乙", "丙")),
        ("甲、乙和丙", ("甲", "乙", "丙")),
        ("成本与寿命", ("成本", "寿命")),
        ("磷酸铁锂、三元锂和钠离子三种电池", ("磷酸铁锂", "三元锂", "钠离子")),
        ("PostgreSQL 和 MySQL", ("PostgreSQL", "MySQL")),
        ("总和", ("总和",)),
        ("和平路站", ("和平路站",)),
        ("10,000 units and 3 tons", ("10,000 units", "3 tons")),
        ("“salt and pepper”, sugar", ("salt and pepper", "sugar")),
        ("plan A (cheap, fast), plan B", ("plan A (cheap, fast)", "plan B")),
        ("cost, cost and risk", ("cost", "risk")),
        ("单价、总价等", ("单价", "总价")),
        ("one thing", ("one thing",)),
    ],
)
def test_enumerations_are_split_into_their_members(text: str, expected: tuple[str, ...]) -> None:
    assert enumeration(text) == expected


@given(
    st.lists(
        st.from_regex(r"[a-z]{3,8}(?: [a-z]{3,8})?", fullmatch=True), min_size=2, max_size=6, unique=True
    )
)
def test_a_written_out_list_is_read_back(members: list[str]) -> None:
    banned = {"the", "and", "all", "any", "both", "its", "etc", "so on", "their", "either"}
    if any(word in banned for member in members for word in member.split()):
        return
    written = ", ".join(members[:-1]) + " and " + members[-1]
    assert enumeration(written) == tuple(members)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is A? What is B?", ("What is A?", "What is B?")),
        ("It costs 1.5 million. Why?", ("It costs 1.5 million.", "Why?")),
        ("See e.g. the map. Then go.", ("See e.g. the map.", "Then go.")),
        ("甲是多少？乙呢？", ("甲是多少？", "乙呢？")),
        ("真的吗？！再查。", ("真的吗？！", "再查。")),
        ("查 “甲？乙？” 的意思。好", ("查 “甲？乙？” 的意思。", "好")),
        ("a; b", ("a;", "b")),
        ("It is Yahoo! of course. Why?", ("It is Yahoo! of course.", "Why?")),
        ("Joe Smith Jr. won. Who lost?", ("Joe Smith Jr. won.", "Who lost?")),
        ("...", ()),
    ],
)
def test_sentences_end_where_people_end_them(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet="ab“”()。？. \n", max_size=40))
def test_sentences_lose_no_letter(text: str) -> None:
    kept = "".join(sentences(text))
    assert kept.count("a") == text.count("a")
    assert kept.count("b") == text.count("b")


@pytest.mark.parametrize(
    ("text", "lead", "items"),
    [
        ("Answer: (1) What is A? (2) What is B?", "Answer:", ("What is A?", "What is B?")),
        ("回答：（1）甲多少？（2）乙何时？", "回答：", ("甲多少？", "乙何时？")),
        ("1. one 2. two 3. three", "", ("one", "two", "three")),
        ("①甲②乙", "", ("甲", "乙")),
        ("一、甲；二、乙", "", ("甲", "乙")),
        ("Do (a) this, (b) that", "Do", ("this", "that")),
        ("Q1: why Q2: how", "", ("why", "how")),
        (
            "一、1 二、2 三、3 四、4 五、5 六、6 七、7 八、8 九、9 十、10 十一、11",
            "",
            tuple(map(str, range(1, 12))),
        ),
    ],
)
def test_numbered_lists_inside_text_are_found(text: str, lead: str, items: tuple[str, ...]) -> None:
    found = numbered(text)
    assert found is not None
    assert (found.lead, found.items) == (lead, items)


@pytest.mark.parametrize(
    "text",
    [
        "It costs 1. and 2 only",
        "(2) only",
        "pages 1) and 3) of it",
        "no list",
        "in 2024 and 2025",
        "(1) alone",
    ],
)
def test_stray_numbers_are_no_list(text: str) -> None:
    assert numbered(text) is None


def test_colons_of_times_and_links_introduce_nothing() -> None:
    assert split_at_colon("meet at 10:30 today") is None
    assert split_at_colon("see https://example.org now") is None
    assert split_at_colon("“a: b” is quoted") is None
    assert split_at_colon("Compare: A and B") == ("Compare", "A and B")
    assert split_at_colon("问题：甲是什么？") == ("问题", "甲是什么？")


def test_quotes_are_stripped_only_around_the_whole() -> None:
    assert unquote(" “What is X?” ") == "What is X?"
    assert unquote("“a” and “b”") == "“a” and “b”"
    assert quoted('say "one" and 「二」 not 《三》') == ("one", "二")


def test_an_unclosed_bracket_shields_nothing() -> None:
    assert not any(shielded("a (b, c"))
    assert shielded("a(b)c") == [False, True, True, True, False]
