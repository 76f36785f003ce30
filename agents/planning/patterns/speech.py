"""What is said around a task: greetings, politeness, connectives, announcements."""

from __future__ import annotations

import re
from typing import Final

_GREETING_EN: Final = (
    r"thanks?(?: you)?(?: (?:so|very) much| a lot| again)?|many thanks|thx|cheers|hi(?: there)?|hello(?:"
    r" there)?|hey|good (?:morning|afternoon"
    r"|evening|night|day|job|work)|ok(?:ay)?|great|perfect|nice|cool|awesome|wonderful|well done|yes|yep"
    r"|no|nope|sure|right|fine|please"
    r"|bye|goodbye|see you|welcome|you['’]?re welcome|sorry|got it|i see|lol|haha+|hm+|help(?: me)?|test"
    r"(?:ing)?|how are you(?: today)?"
    r"|how do you do|what['’]?s up|who are you|what can you do|nothing|never ?mind|all good|no problem"
    r"|dear (?:assistant|all|team)"
)
_GREETING_ZH: Final = (
    r"谢谢(?:你|您|大家)?(?:了)?|多谢(?:了)?|感谢(?:你|您)?|非常感谢|十分感谢|辛苦(?:你|您)?了|你好(?:吗"
    r"|啊|呀)?|您好|大家好|嗨|哈喽|早上好|上午好|中午好"
    r"|下午好|晚上好|晚安|早安|早|再见|拜拜|好的?(?:吧|呀|啊|嘞)?|可以|行|嗯+|哦+|噢+|收到|知道了|明白"
    r"(?:了)?|没事(?:了)?|没问题|不客气|对不起|抱歉"
    r"|哈哈+|呵呵+|嘻嘻+|请|帮帮?我|帮忙|测试|太好了|很好|不错|真棒|棒|赞|你是谁|你能做什么|在吗|算了|没什么"
)
_SMALL_TALK = re.compile(rf"(?:(?:{_GREETING_EN}|{_GREETING_ZH})[\W_]*)+", re.IGNORECASE)
_OPENING = re.compile(
    rf"^(?:(?:{_GREETING_EN}|{_GREETING_ZH})(?:\s*[,，!！~～。.]+\s*))+(?=\S)", re.IGNORECASE
)

_SOURCES_EN: Final = (
    r"(?:the|these|my|our|this|all(?: the)?|attached|following|given)?\s*(?:notes?|sources?|documents?|files?"
    r"|folder|material|papers?)"
)
_SOURCES_ZH: Final = (
    r"(?:这些|上述|所给|给定|提供的|附件中?的?|我的|文件夹(?:里|中)?的?)?(?:笔记|资料|材料|文档|文件|来源)"
    r"(?:里|中)?"
)

_POLITE = re.compile(
    r"^(?:(?:please|kindly|now|then|next|also|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly"
    r"|afterwards?|after that|in addition"
    r"|additionally|and|so|well|just)\b,?\s*"
    r"|(?:could|can|would|will) you(?: please| kindly)?\s+|(?:i (?:want|need|would like|['’]d like)|we "
    r"(?:want|need)|i['’]d like) you to\s+"
    r"|(?:i (?:want|need|would like)|i['’]d like|we (?:want|need)|we would like) to(?! know| find out| understand)\s+"
    r"|help (?:me|us)(?: to)?\s+|let['’]?s\s+|your (?:task|job) is to\s+|the (?:task|goal|aim) is to\s+"
    rf"|(?:using|based on|from|according to|on the basis of|with|reading|given)\s+{_SOURCES_EN}\s*(?:,\s*|"
    rf"(?=(?:answer|compare|summari|extract|check"
    r"|list|find|explain|what|which|how|when|who|why|where)\b)))+",
    re.IGNORECASE,
)
_POLITE_ZH = re.compile(
    r"^(?:(?:我(?:们)?)?想?请问(?:一下|下)?(?![卷题])[，,：:]?|请(?:你|您)?|麻烦(?:你|您)?|劳驾|帮(?:我|忙|我们)?(?:一下)?|能否|能不能|可否|可不可以|可以|我"
    r"(?:们)?(?:想|要|希望|需要)(?:请|让)?(?:你|您)?(?!知道|了解)"
    r"|先|然后|再|接着|随后|最后|并且?|同时|另外|此外|首先|其次|还要|还请|务必|现在|任务是|目标是"
    rf"|(?:根据|依据|基于|依照|按照|利用|结合|从|阅读|参考|查阅){_SOURCES_ZH}(?:的内容)?[，,]?\s*(?:里|中)?|[，,]\s*)+"
)

_ANNOUNCEMENT = re.compile(
    r"(?:please\s+)?(?:(?:answer|address|consider|work through|respond to|tackle)(?:\s+(?:all|each|every)"
    r"(?: of)?)?(?:\s+(?:the|these|my|our|those))?"
    r"(?:\s+(?:following|below|next|\w+))?(?:\s+questions?)?(?:\s+(?:below|for me|one by one))?"
    r"|(?:i|we) have (?:the following |some |a few |\w+ )?questions?|(?:here (?:is|are)|these are) (?:my"
    r"|the|our|some)(?: \w+){1,3}"
    r"|(?:my |the |our |research )?(?:questions?|goals?|tasks?|topic|request|background|context"
    r"|objectives?)(?: (?:is|are))?"
    rf"|(?:read|use|go through|search|study|look (?:at|through|into)|consult|review) {_SOURCES_EN}(?: in"
    rf" \S+)?(?: carefully)?)"
    rf"(?:\s+(?:from|using|with|based on|according to|in)\s+{_SOURCES_EN})?",
    re.IGNORECASE,
)
_ANNOUNCEMENT_ZH = re.compile(
    rf"(?:请)?(?:(?:根据|依据|基于|依照|按照|阅读|查阅|使用|用|从|看|看看|读|通读){_SOURCES_ZH}"
    rf"(?:的内容)?)?[，,]?(?:请)?"
    r"(?:(?:逐一|依次|分别|一一)?(?:回答|解答|解决|答复)(?:一下)?(?:下列|以下|下面|如下|这些|上述|我的"
    r"|几个|\w{1,2}个)?(?:的)?(?:几个|各个|所有)?(?:问题|提问)?"
    r"|(?:完成|处理|执行|做好?|办理)(?:下列|以下|下面|如下|这些|上述)(?:的)?(?:几[项个件]|各[项个件]|\w[项个件])?(?:任务|工作|事项|事情|要求)?"
    r"|(?:我的|研究)?(?:问题|目标|任务|主题|背景|需求|要求)(?:如下|是|为)?|我(?:有|想问)(?:以下|下面"
    r"|如下)?(?:几|一些|\w)?个?问题)?"
)


def is_small_talk(text: str) -> bool:
    """Tell whether a text asks for nothing: greetings, thanks, emoji, digits or punctuation only.

    >>> is_small_talk("Thanks! 谢谢 🙏"), is_small_talk("Thanks for the notes on Monday")
    (True, False)
    """
    words = "".join(character if character.isalpha() else " " for character in text).split()
    return not words or _SMALL_TALK.fullmatch(text.strip(" \t\n\"'“”‘’.。,，!！?？~～-*#")) is not None


def bare(sentence: str) -> str:
    """Strip greetings, politeness and connectives from the start of a sentence.

    >>> bare("Hi, could you please compare A and B?"), bare("请帮我比较甲和乙")
    ('compare A and B?', '比较甲和乙')
    """
    text = _OPENING.sub("", sentence.strip())
    for pattern in (_POLITE, _POLITE_ZH):
        stripped = pattern.sub("", text).strip()
        text = stripped or text
    return text.strip(" ,，;；、")


def is_announcement(text: str) -> bool:
    """Tell whether a text only announces what follows ("Answer these questions", “回答下列问题”)."""
    body = text.strip(" \t\n。.:：!！,，")
    return bool(body) and (
        _ANNOUNCEMENT.fullmatch(body) is not None or _ANNOUNCEMENT_ZH.fullmatch(body) is not None
    )
