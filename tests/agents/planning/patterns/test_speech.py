import pytest

from agents.planning.patterns.speech import bare, is_announcement, is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "Thank you so much!",
        "你好",
        "您好！",
        "谢谢 🙏",
        "🙏🙏",
        "  \n ",
        "42",
        "Hi there, thanks",
        "ok",
        "好的，谢谢",
        "How are you?",
        "...",
        "辛苦了",
    ],
)
def test_small_talk_asks_for_nothing(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks for the report: what does it cost?",
        "你好，成本是多少？",
        "battery",
        "储能",
        "Help me compare A and B",
    ],
)
def test_words_about_something_are_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi, could you please compare A and B?", "compare A and B?"),
        ("Please then summarise the folder.", "summarise the folder."),
        ("I would like you to check this", "check this"),
        ("Based on the notes, what is A?", "what is A?"),
        ("你好，请帮我比较甲和乙", "比较甲和乙"),
        ("请根据资料回答问题", "回答问题"),
        ("然后再总结一下", "总结一下"),
        ("请问 When does the season start?", "When does the season start?"),
        ("你好，请问一下，成本是多少？", "成本是多少？"),
        ("我想请问谁负责巡检？", "谁负责巡检？"),
        ("请问卷调查谁负责？", "问卷调查谁负责？"),
        ("compare A and B", "compare A and B"),
    ],
)
def test_politeness_is_stripped(text: str, expected: str) -> None:
    assert bare(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Answer the following questions from the notes",
        "Questions",
        "Read the notes carefully.",
        "I have three questions",
        "回答下列问题",
        "根据资料回答",
        "问题如下",
        "My questions are",
    ],
)
def test_announcements_are_recognised(text: str) -> None:
    assert is_announcement(text)


@pytest.mark.parametrize("text", ["What is A", "Compare A and B", "比较甲和乙", "成本", ""])
def test_tasks_are_no_announcement(text: str) -> None:
    assert not is_announcement(text)
