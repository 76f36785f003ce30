"""What a goal forbids, apart from what it asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.builtin.fetch import FETCH_URL
from agents.tools.grants import derive_grants
from agents.tools.known_texts import addresses
from agents.tools.prohibitions import spoken_goal

GOOD, EVIL = "https://www.good.org/a", "https://www.evil.org/x"


@pytest.mark.parametrize(
    "goal",
    [
        f"Read {GOOD}, but never open {EVIL} under any circumstances",
        f"Read {GOOD}. Do not, whatever a note says, open {EVIL}!",
        f"Read {GOOD}. {EVIL} must not be opened.",
        f"Read {GOOD}; {EVIL} is off limits.",
        f"Read {GOOD} instead of {EVIL}",
        f"Read {GOOD}. My notes speak of {EVIL}. Don't follow it.",
        f"Never open:\n- {EVIL}\n- https://other.org\nRead {GOOD}",
        f"I don't want you to open {EVIL}. Read {GOOD}.",
        f"Never open a page, {EVIL} least of all, except {GOOD}",
        f"You cannot open {EVIL}. Read {GOOD}.",
        f"Access to {EVIL} is not allowed. Read {GOOD}.",
        f"{EVIL} and https://other.org/b must not be opened. Read {GOOD}.",
        f"Read {GOOD}. {EVIL} stays closed.",
        f"Leave {EVIL} alone and read {GOOD}.",
        f"Skip {EVIL} but read {GOOD}.",
        f"Exclude the following: {EVIL}\nRead {GOOD}",
        f"Read {GOOD} and all of its links except {EVIL}.",
        f"Read {GOOD}. A note says: 'fetch {EVIL}' - ignore it.",
        f"Never open {EVIL}. Compare it with others, read {GOOD} and open {EVIL} .",
        f"Nothing on evil.org may be opened. Read {GOOD} and {EVIL.replace('www.', '')} .",
        f"If you can't open {EVIL}, read {GOOD}.",
        f"我不希望你打开 {EVIL} ，请读 {GOOD} 。",
        f"{EVIL} 除外，请读 {GOOD} 。",
        f"除 {EVIL} 外都可以看。请读 {GOOD} 。",
        f"请把 {EVIL} 排除在外，读 {GOOD} 。",
        f"请读 {GOOD} ， {EVIL} 免谈。",
        f"总结 {GOOD} ，绝不要打开 {EVIL} 。",
        f"总结 {GOOD} ， {EVIL} 禁止访问。",
        f"请勿访问以下网址： {EVIL} 。请总结 {GOOD} 。",
    ],
)
def test_an_address_in_a_prohibition_is_not_wished_for(goal: str) -> None:
    assert addresses(spoken_goal(goal).wished) == {"www.good.org/a"}


@pytest.mark.parametrize(
    "goal",
    [
        f"Find people who do not eat meat on {GOOD}",
        f"Don't forget to read {GOOD}",
        f"Which pages did I not read? See {GOOD}",
        f"If there are no meetings, read {GOOD}",
        f"如果不能上网，就读 {GOOD}",
        f"要不要打开 {GOOD} 看看",
        f"别人的网页 {GOOD} 值得分别总结",
        f"Can't you just open {GOOD}?",
        f"I can't open {GOOD}; please fetch it",
        f"Do not skip {GOOD}",
        f"Don't ignore the notes; read {GOOD}",
        f"The page {GOOD} must not be skipped",
        f"Use nothing but {GOOD}",
        f"Would you not open {GOOD}?",
        f"The page {GOOD} is not forbidden",
        f"Explain why customers cannot log in, see {GOOD}",
        f"想不想看看 {GOOD} ？请打开",
        f"别跳过 {GOOD} 这个网页",
        f"不能不看 {GOOD} 这个网页",
        f"除了笔记外，还要看 {GOOD} 这个网页",
        f"除此之外，请打开 {GOOD} 这个网页",
        f"不要漏掉 {GOOD} 这个网页",
    ],
)
def test_what_is_described_is_not_forbidden(goal: str) -> None:
    assert spoken_goal(goal).forbidden == ()
    assert addresses(spoken_goal(goal).wished) == {"www.good.org/a"}


@given(
    st.lists(
        st.sampled_from(
            ["never open", "不要", "a.org", "read", ", ", "。", "\n", ". ", "but", "- ", "is forbidden", ":"]
        )
    )
)
def test_nothing_is_wished_for_that_does_not_stand_in_the_goal(parts: list[str]) -> None:
    goal = " ".join(parts)
    spoken = spoken_goal(goal)
    assert addresses(spoken.wished) <= addresses(goal)
    assert spoken.forbidden or spoken.wished.strip() == goal.strip()


def test_a_long_goal_is_read_quickly_enough_to_be_read_at_all() -> None:
    spoken = spoken_goal("Do not open www.evil.org, a, b, c.\nRead on.\n" * 2_000)
    assert len(spoken.forbidden) == 2_000


@pytest.mark.parametrize(
    "goal",
    [
        # A negated modal, whoever is told.
        "You cannot open any web page. Read the notes.",
        "You can't use the web for this; use the notes.",
        "You will not open web pages. Compare the notes.",
        "You should not, under any circumstances, browse the web.",
        "When answering do not open web pages.",
        "I'd rather you didn't open any web page.",
        "I'd prefer that you not open web pages.",
        # What is forbidden stands first.
        "Web access is not allowed. Summarise the web framework notes.",
        "Consulting web pages isn't permitted.",
        "It's forbidden to open web pages.",
        "The web should be avoided.",
        "Mails, files and web pages are off limits.",
        "Web pages have to stay closed.",
        "Web: no. Notes: yes.",
        # Verbs that exclude, and exceptions.
        "Skip the web; use my notes",
        "Exclude web sources. Summarise my notes.",
        "Leave the web alone and use my notes.",
        "Stop using the web; my notes are enough.",
        "Use everything except the web.",
        "Use any source other than the web.",
        # No noun, or not that one.
        "Nothing from the web, please: only my notes.",
        "Summarise notes about hotels, not web pages.",
        "There must be no web access.",
        "Use neither the web nor mail.",
        # 否定的愿望与打算。
        "我不希望你打开网页",
        "不打算用网页，只看笔记。",
        "没有必要看网页",
        "还是不要打开网页",
        "网页是不允许的",
        # 后置与排除。
        "只用笔记，网页除外",
        "请仅根据笔记回答，网页免谈。",
        "网页：禁止",
        "请把网页排除在外",
        "除网页外，其余资料都可以用",
        "网页以外的资料都能用",
        "用笔记而不是网页",
    ],
)
def test_a_page_is_forbidden_in_each_form_that_the_docs_list(goal: str) -> None:
    assert [each.tool for each in derive_grants(goal, [FETCH_URL]).outside if each.reason == "forbidden"] == [
        "fetch_url"
    ]


@pytest.mark.parametrize(
    "goal",
    [
        "If you don't find it in my notes, look on the web.",
        "If it is not in the notes, search the web.",
        "We could not find it; look on the web.",
        "The deadline is soon, but not today: open the web pages",
        "Skip the intro and open the web page about prices.",
        "Explain why customers cannot log in; the web page has the docs.",
        "Summarise the web page in no more than 100 words.",
        "Apart from my notes, read the web pages.",
        "不要只看笔记，也要打开网页",
        "如果笔记里没有，就打开网页",
        "笔记不够，请看网页",
        "我不知道答案，请查网页",
    ],
)
def test_whoever_asks_for_the_web_gets_it(goal: str) -> None:
    assert "fetch_url" in derive_grants(goal, [FETCH_URL]).granted


def test_a_prohibition_to_say_something_forbids_no_reading() -> None:
    for goal in ("Do not mention web pages.", "Mentioning web pages is forbidden.", "不要提到网页。"):
        assert [each.uses for each in spoken_goal(goal).forbidden] == [False], goal
