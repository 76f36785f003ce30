"""Which words forbid, in English and Chinese, and when they only describe: the forms that docs/concepts/tools.md lists.

Each form is a construction of the grammar (a negated modal before a verb, a subject before a passive, a verb that
excludes, a word behind what it excludes), not a list of sentences.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

Form: TypeAlias = Literal["verb", "noun", "drop", "leave", "except", "closing"]
"""What a prohibition is built like: a verb follows, a noun or `-ing` follows, a verb that excludes its object, a verb
around its object (`leave … alone`), an exception from what is allowed, or the subject stands before it."""

_SKIPS: Final = (
    r"(?:skip|exclud|ignor|omit|disregard|overlook|bypass|neglect|forgo|forgett?|miss|fail|hesitat|worr|mind|avoid|refus"
    r"|leave\s+out|leav|rule\s+out|stop|delay|wait)(?:p?ed|p?ing|ing|ed|e|s|y|ied|ying)?\b"
)
"""Behind a negation: two negations that wish for something (`do not skip`, `never forget`)."""
_WISHED_TWICE: Final = rf"(?!\s+(?:ever\s+|to\s+|be\s+)*(?:{_SKIPS}|only\b|just\b|merely\b))"
_MODAL: Final = r"(?:must|should|shall|may|need|ought|might)"
_ABLE: Final = r"(?:can\s?not|can't|could\s+not|couldn't)"
_INVERTED: Final = (
    r"(?!\s+(?:you|i|we|they|he|she|it|the|my|our|their|your|this|that|these|those|people|users?)\s)"
)
"""Behind a contracted negation: a question (`why can't I`, `can't you`)."""
_LY: Final = r"(?:\w+ly\s+)*"
_BANNED: Final = (
    r"(?:forbidden|prohibited|banned|barred|disallowed|denied|excluded|unwanted|unwelcome|taboo|ruled\s+out|left\s+out"
    r"|left\s+alone|off[- ]limits|out\s+of\s+bounds|out\s+of\s+the\s+question|a\s+no-go|no-go)"
)
_PASSIVE_DROP: Final = (
    r"(?:avoided|skipped|ignored|omitted|disregarded|bypassed|excluded|left\s+(?:out|alone|aside|un\w+ed)|ruled\s+out|banned"
    r"|forbidden|prohibited)"
)
_LET: Final = (
    r"(?:allowed|permitted|authori[sz]ed|supposed|wanted|welcome|desired|acceptable|ok|okay|fine|an\s+option|needed"
    r"|required|necessary|to\s+be|to\b|available\s+to\s+you|part\s+of\s+(?:this|it|the\s+(?:task|job)))"
)
_ENGLISH: Final[dict[Form, str]] = {
    "closing": (
        rf"(?:\b(?:is|are)|'s|'re)\s+{_LY}not\s+{_LY}{_LET}|\b(?:isn't|aren't)\s+{_LY}{_LET}"
        rf"|(?:(?:\b(?:is|are|be|stays?|remains?)|'s|'re)\s+{_LY}|[:,(]\s*){_BANNED}\b|\boff[- ]limits\b"
        rf"|\b(?:{_MODAL}|can|will|is|are|has|have)\s+(?:to\s+)?be\s+{_LY}{_PASSIVE_DROP}\b"
        rf"|\b(?:{_MODAL}|can|is\s+to|are\s+to|has\s+to|have\s+to)\s+(?:stay|remain|be\s+(?:left|kept))\s+"
        r"(?:un\w+ed|unread|closed|shut|out|aside|alone)\b|\b(?:stays?|remains?)\s+(?:un\w+ed|unread|closed|shut)\b"
        r"|[:?]\s*(?:no|none|never|off|not\s+(?:allowed|permitted|wanted))(?=\s*(?:[.,;!)\n]|$))"
    ),
    "leave": (
        r"\b(?:leave|keep|set)\s+(?P<left>(?:(?![.;!?](?:\s|$))[^\n]){1,160}?)\s+"
        r"(?:alone|aside|untouched|unopened|unread|unused|closed|shut|out(?:\s+of\s+(?:it|this|that))?"
        r"(?=\s*(?:[.,;:!?)\n]|and\b|but\b|$)))"
    ),
    "verb": (
        rf"\bdo\s+not\b{_WISHED_TWICE}|\bdon'?t\b{_WISHED_TWICE}(?!\s+(?:i|we|they)\s)|\bnever\b{_WISHED_TWICE}"
        rf"|\b{_MODAL}\s+not\b{_WISHED_TWICE}|\b(?:must|should|need|shall|ought|might)n't\b{_INVERTED}{_WISHED_TWICE}"
        rf"|\b{_ABLE}\b{_INVERTED}{_WISHED_TWICE}"
        rf"|\b(?:will|would|did)\s+not\b{_WISHED_TWICE}|\b(?:won't|wouldn't|didn't)\b{_INVERTED}{_WISHED_TWICE}"
        rf"|\bnot\s+to\b{_WISHED_TWICE}|\brather\s+not\b{_WISHED_TWICE}|(?<=\byou\s)not\b{_WISHED_TWICE}"
        r"|\b(?:refrain|abstain|desist)\s+from\b|\b(?:refuse|decline)\s+to\b"
        r"|\b(?:forbid|prohibit|ban|bar)\b(?:\s+(?:you|it|them|agents?|anyone|everyone|the\s+agents?)\b)?(?:\s+(?:to|from)\b)?"
        r"|\b(?:stop|quit|cease)\b(?=\s+[a-z]+ing\b)"
    ),
    "noun": (
        r"\bwithout\b|\bavoid(?:ing)?\b|\b(?:stay|keep|steer|hold)\s+(?:well\s+)?(?:away\s+from|clear\s+of|off|out\s+of)\b"
        r"|\bhands\s+off\b|\binstead\s+of\b|\brather\s+than\b|\bneither\b|\bnone\s+of\b"
        r"|\bno\b(?!\s+(?:later|more|less|longer|one|matter|doubt|problem)\b)|\b(?:nobody|no\s+one)\b"
        r"|\bnothing\b(?!\s+(?:but|except|other|else)\b)"
        r"|(?:[,;(\u2013\u2014]\s*|\b(?:and|but|or)\s+)not\b(?!\s+(?:only|just|merely|necessarily|least|too|until|sure|yet|all|every"
        r"|later|before|so|very|much|many|more|less|a\s+(?:single|word)|to|be|been|doing|being|have|has)\b)"
        r"|(?<=[.!?]\s)not(?=\s+(?:from|via|through|with|in|on|at)\b)|\bnot(?=\s+(?:from|via|through|with|by|using)\b)"
    ),
    "drop": (
        r"\b(?:skip(?:ping)?(?!\s+(?:to|ahead|forward)\b)|exclud(?:e|ing)|ignor(?:e|ing)|omit(?:ting)?|disregard(?:ing)?"
        r"|bypass(?:ing)?|shun(?:ning)?|forgo(?:ing)?|forego(?:ing)?|(?:leave|leaving|rule|ruling|cut|cutting)\s+out)\b"
    ),
    "except": (
        r"\bexcept(?:ing)?(?:\s+for)?\b|\bsave\s+for\b|\bwith\s+the\s+exception\s+of\b|\b(?:all|everything|anything|everywhere)\s+but\b(?!\s+(?:not|never|please|only|also|do|don't|i|you|we)\b)"
        r"|\b(?:other\s+than|apart\s+from|aside\s+from)\b"
    ),
}
_NOT_ZH: Final = (
    r"(?!忘|紧|不|漏|遗漏|错过|忽略|忽视|跳过|略过|省略|排除|落下|拒绝|停|犹豫|担心|客气|只|仅|光)"
)
_DO_ZH: Final = (
    r"(?:打开|访问|上网|联网|使用|采用|采纳|借助|依赖|通过|点击|进入|看|读|查|搜|发|写|改|删|浏览|下载|抓取|爬|调用|参考|引用"
    r"|登录|买|付|转|碰|触|动用|联系|回复|提交|预订|安装|运行|执行|检索|获取|信任|用)"
)
_CHINESE: Final[dict[Form, str]] = {
    "closing": (
        r"(?:除外(?!的?是)|免谈|免了|免提|不行(?!的话)|(?:就)?算了|不在(?:考虑|使用|允许|许可|此)?(?:之列|范围(?:之)?内|其内)|不在内"
        r"|不予(?:考虑|采用|使用)|不作(?:考虑|参考)|不(?:被)?(?:考虑|采用|采纳|允许|准许|许可)(?=\s*[，。；！？,.;!?\n]|$)"
        r"|(?:是|属于?|为)?禁(?:区|忌|用|入|访)|(?<!不)排除在外|[:：]\s*(?:禁止|不行|不用|不要|不|否|无)(?=\s*[，。；！？\n]|$))"
    ),
    "leave": r"(?:除了|除去|除开|除)(?!外)(?P<left_zh>[^，。；！？\n]{1,160}?)(?:之外|以外|外)"
    r"|(?:^|(?<=[，。；！？,;!?\n]))(?P<all_zh>[^，。；！？,;!?\n不勿别禁没莫除]{1,60}?)(?:之外|以外)(?=[^，。；！？,;!?\n]*[都均全皆])",
    "verb": (
        r"(?:不要|不得|不能(?!不)|不可以|不可(?!避免)|不许|不准(?!备)|不应该?|不应当|不该|不必|不用|不需要?|不必要|不宜|不至于要|不允许|不准许"
        r"|不(?:太|大|怎么|很|再)?(?:希望|想要?|打算|愿意?|赞成|同意|主张|建议|推荐|接受|支持|考虑|喜欢)|不准备|不计划|不让"
        r"|没(?:有)?(?:打算|必要|允许|让|授权|兴趣|同意|想)|无(?:意|权|须|需)|用不着|犯不着|甭|毋|勿|切勿|切莫|切忌|休得|休要|莫(?=要|再|去|想)"
        r"|禁止|严禁|反对|谢绝|拒绝|杜绝|停止|停用|弃用|避免"
        r"|(?<![特分区个类级识鉴性辨告派差])别(?![人的名处称致])"
        rf"|不(?={_DO_ZH}))"
        rf"{_NOT_ZH}"
    ),
    "drop": (
        r"(?:排除|剔除|跳过|略过|略去|忽略|忽视|无视|绕开|绕过|避开|远离|撇开|抛开|放弃|屏蔽|省略|省去|免去|不含|不包括|不包含|不涉及"
        r"|而非(?!常)|而不是)"
    ),
}

FORBIDS: Final = re.compile(
    "|".join(
        f"(?P<{form}{suffix}>{pattern})"
        for suffix, forms in (("_en", _ENGLISH), ("_zh", _CHINESE))
        for form, pattern in forms.items()
    ),
    re.IGNORECASE,
)


def form_of(match: re.Match[str]) -> Form:
    """Return how the prohibition is built that `FORBIDS` found."""
    for form in _ENGLISH:
        if match[f"{form}_en"] or match.groupdict().get(f"{form}_zh"):
            return form
    raise AssertionError(f"no form in {match[0]!r}")


def is_chinese(match: re.Match[str]) -> bool:
    """Return whether it is a Chinese form."""
    return any(match.groupdict().get(f"{form}_zh") for form in _CHINESE)


def object_within(match: re.Match[str]) -> str | None:
    """Return what is forbidden where the form stands around it (`leave … alone`, `除…外`)."""
    return match["left"] or match["left_zh"] or match["all_zh"]


Verdict: TypeAlias = Literal["forbids", "described", "nothing"]
"""It forbids; it is a condition or a description, whose addresses are nobody's wish either; or it is none of both."""

_PRONOUN: Final = r"(?:i|you|we|they|it|he|she|this|that|these|those|there)"
_NOUN: Final = r"(?:(?:the|my|our|your|their|its|a|an|any|no|some)\s+)?[\w'-]+"
_DESCRIBES: Final = re.compile(
    r"\b(?:i|we|they|who|that|which|why|if|when|what|where|people)\s*$", re.IGNORECASE
)
"""Before `do not` and `should not`: something is described (`people who do not eat meat`)."""
_WANTS: Final = re.compile(
    r"\s+(?:really\s+|also\s+)?(?:want|wish|like|allow|permit|agree|accept|approve|authori[sz]e|need|expect|intend|plan|consent"
    r"|tolerate|have\s+you|let\s+you|recommend|advise|suggest)\b",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    rf"\b(?:if|when|whether|because|why|where|in\s+case|how|what|which)\s+{_PRONOUN}\s*$"
    r"|\b(?:if|whether|because|why|where|in\s+case)\s+(?:the|my|our|your)\s+[\w'-]+\s*$",
    re.IGNORECASE,
)
_CONDITION_OF_ABLE: Final = re.compile(
    rf"\b(?:if|when|whether|because|since|as|why|where|in\s+case|how|what|which|whose|who|that)\s+"
    rf"(?:{_PRONOUN}|(?!you\b){_NOUN}(?:\s+(?!you\b)[\w'-]+)?)?\s*$",
    re.IGNORECASE,
)
"""Before `cannot`: here nobody is told anything, so a longer subject may stand between."""
_TOLD: Final = re.compile(r"\b(?:you|agents?|nobody|everyone)\s*$", re.IGNORECASE)
_ASKS_YOU: Final = re.compile(
    r"\b(?:can|could|do|did|will|would|should|are|were|have|had|if)\s+you\s*$", re.IGNORECASE
)
_RATHER: Final = re.compile(r"\b(?:rather|prefer)\b[^.;!?\n]*$", re.IGNORECASE)
_NO_COUNT: Final = re.compile(
    r"(?:\b(?:is|are|was|were|have|has|had|there|if|or|says?|found?|finds?|gives?|shows?|contains?|see|got|with)"
    r"|(?<!must )(?<!should )(?<!shall )(?<!may )(?<!can )(?<!will )(?<!to )\bbe)\s*$",
    re.IGNORECASE,
)
"""Before `no` and `nothing`: something is counted (`there are no meetings`) or answered (`yes or no`)."""
_COUNTED: Final = frozenset({"no", "nothing", "none of", "nobody", "no one", "neither"})
_NO_WISH: Final = re.compile(
    r"\s+(?:wish|desire|intention|interest|need|use|permission|right|reason|web|internet|online)\b",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(
    r"(?:\b(?:not|never|nor|without|cannot)|n't|不要|不能|不可以?|不得|不应该?|不该|别|勿|莫|没有?|不)\s*"
    r"(?:ever\s+|to\s+|be\s+|\w+ly\s+)*$",
    re.IGNORECASE,
)
_ASKS_WHETHER: Final = re.compile(
    r"\b(?:how|what|which|whether|when|where|who|why)\b[^.,;!?\n]{0,40}\bto\s*$", re.IGNORECASE
)
_ALL: Final = re.compile(r"\b(?:all|any\w*|every\w*|each|whatever|whichever)\b[^.,;!?\n]*$", re.IGNORECASE)
_DENIES: Final = re.compile(
    r"\b(?:no|not|never|nothing|none|nobody|neither|without|cannot|only)\b|n't\b|\bforbid|\bprohibit",
    re.IGNORECASE,
)
_CONDITION_ZH: Final = re.compile(r"(?:如果|若|假如|倘若|要是|万一|是否|为何|为什么)[^，。；！？\n]{0,8}$")
_TWICE_ZH: Final = re.compile(r"(?:不能|不可|不得|不要|不会|无不|莫不|非|决不|从不|不|别|勿|莫|没有?)$")
_ADDS_ZH: Final = re.compile(r"还|也|另|再|又|同时|更|并")
_DENIES_ZH: Final = re.compile(r"不(?!限|拘|论|管|受)|勿|别(?!的)|禁|没|莫|无(?!限|论)")
_THIS_ZH: Final = re.compile(r"\s*(?:了)?(?:此|这|那)\s*")
_UNIVERSAL: Final = re.compile(r"任何|所有|一切|其他|其它|别的|全部|都")


def verdict(match: re.Match[str], text: str, before: str, previous: str | None) -> Verdict:
    """Return whether a match of `FORBIDS` forbids.

    `before`: its clause up to it; `previous`: what the prohibition forbids that ends right before it.
    """
    near = text[max(0, match.start() - 60) : match.start()]
    form = form_of(match)
    if is_chinese(match):
        return _verdict_zh(match, text, near, form, previous)
    if form == "except":
        permits = previous is not None or _DENIES.search(before)
        of_all = match[0].casefold().split()[0] not in ("other", "apart", "aside") or _ALL.search(before)
        return "nothing" if permits or not of_all else "forbids"
    if form in ("drop", "leave") or match[0].casefold().startswith(("avoid", "stop", "quit", "cease")):
        if _NEGATED.search(near):
            return "nothing"
        return (
            "described"
            if _ASKS_WHETHER.search(near) or _described(near) or re.search(r"\b(?:can|could)\s+i\s*$", near)
            else "forbids"
        )
    if form == "closing":
        return "nothing" if _NEGATED.search(near) else "forbids"
    if form == "noun":
        counts = match[0].casefold() in _COUNTED and _NO_COUNT.search(near)
        return "nothing" if counts and not _NO_WISH.match(text, match.end()) else "forbids"
    return _verdict_of_verb(match, text, near)


def _verdict_of_verb(match: re.Match[str], text: str, near: str) -> Verdict:
    said = " ".join(match[0].casefold().replace("'", "").split())
    if said in ("not to", "rather not") or said.startswith(
        ("refrain", "abstain", "desist", "refuse", "decline")
    ):
        return "forbids"
    if said == "not":
        return "nothing" if _ASKS_YOU.search(near) else "forbids"
    wants = bool(_WANTS.match(text, match.end()))
    if said in ("will not", "wont", "would not", "wouldnt", "did not", "didnt"):
        told = bool(_TOLD.search(near)) and (not said.startswith("did") or bool(_RATHER.search(near)))
        return (
            "forbids" if told or (wants and re.search(r"\b(?:i|we)\s*$", near, re.IGNORECASE)) else "nothing"
        )
    if wants:
        return "forbids"
    if said in ("cannot", "can not", "cant", "could not", "couldnt") and _CONDITION_OF_ABLE.search(near):
        return "described"
    if _DESCRIBES.search(near) and not said.startswith(("forbid", "prohibit", "ban", "bar")):
        return "nothing"
    return "described" if _CONDITION.search(near) else "forbids"


def _described(near: str) -> bool:
    return bool(_DESCRIBES.search(near) or _CONDITION.search(near))


def _verdict_zh(match: re.Match[str], text: str, near: str, form: Form, previous: str | None) -> Verdict:
    if _CONDITION_ZH.search(near):
        return "nothing"
    start = match.start()
    if match[0][:1] in "不没" and text[start - 1 : start] == text[start + 1 : start + 2] != "":
        # `要不要`, `能不能`, `想不想`: a question.
        return "nothing"
    if (
        form in ("drop", "leave")
        or re.match(rf"不(?={_DO_ZH})|避免|停止|拒绝", match[0] + text[match.end() :][:2])
    ) and (_TWICE_ZH.search(near)):
        return "nothing"
    if form == "leave":
        rest = re.split(r"[。；！？\n]", text[match.end() :], maxsplit=1)[0]
        left = object_within(match) or ""
        if (
            previous is not None
            or _THIS_ZH.fullmatch(left)
            or _ADDS_ZH.search(rest)
            or _DENIES_ZH.search(rest)
        ):
            return "nothing"
    if match[0] == "除外" and previous is not None and _UNIVERSAL.search(previous):
        return "nothing"
    return "forbids"
