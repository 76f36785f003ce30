import pytest

from agents.planning.language import detect_language


@pytest.mark.parametrize(
    ("text", "lang", "mixed"),
    [
        ("What does the battery cost?", "en", False),
        ("电池系统的造价是多少？", "zh", False),
        ("What does 蓝河电站 cost?", "en", True),
        ("比较 PostgreSQL 和 MySQL 的 latency", "zh", True),
        ("TiDB 的 GC 时间如何设置？", "zh", True),
        ("Summarise 《储能电站消防安全规范》 and 《施工组织设计》", "en", True),
        ("２０２６年投运", "zh", False),
    ],
)
def test_the_frame_of_the_sentence_decides(text: str, lang: str, mixed: bool) -> None:
    found = detect_language(text)
    assert (found.lang, found.mixed) == (lang, mixed)


def test_a_text_without_letters_takes_the_default() -> None:
    assert detect_language("🙏 42 !", "zh").lang == "zh"
    assert detect_language("", "en").lang == "en"
