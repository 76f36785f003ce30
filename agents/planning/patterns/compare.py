"""Goals that put things beside each other."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from agents.planning.clauses import enumeration
from agents.planning.language import CJK, detect_language
from agents.planning.readings import CompareTask

ASSUMED_ASPECTS: Final = {
    "en": ("purpose", "cost", "advantages", "disadvantages"),
    "zh": ("用途", "成本", "优点", "缺点"),
}
"""What is compared where the goal names no aspect; the review shows that it is assumed."""

_DIFFERENCE_EN: Final = (
    r"(?:differences?|similarit(?:y|ies)(?: and differences?)?|differences? and similarit(?:y|ies)"
    r"|trade-?offs?|comparison)"
)
_DIFFERENCE_ZH: Final = (
    r"(?:区别|差异|差别|不同(?:点|之处)?|异同(?:点)?|优劣|高低|好坏|特点|情况|对比|比较|关系)"
)

_MARKER_EN = re.compile(
    r"\s*,?\s+(?:in terms of|with (?:respect|regard) to|with regards to|in regard to|as regards|regarding"
    r"|concerning|according to|based on"
    r"|on the basis of|in light of|considering|across|along|under the (?:aspects?|headings?) of|by looking"
    r" at|focus(?:ing|sed)? on)\s+",
    re.IGNORECASE,
)
_ON = re.compile(r"\s+on\s+", re.IGNORECASE)
_RELATION = re.compile(
    r"\b(?:effects?|impacts?|influences?|dependen(?:ce|cy)|reliance|focus|spending|demands?|strain|load|pressure"
    r"|limits?|restrictions?|rules?|data|information|emphasis|burden|uses?|used|deployment|installation|operation|work)$",
    re.IGNORECASE,
)
"""Nouns that take `on` themselves: the `on` after one belongs to an aspect and begins no list of aspects."""
_LISTED_BY = re.compile(r"\s+(?:by|as to)\s+", re.IGNORECASE)
_SEPARATOR_EN = re.compile(r",|\b(?:and|or)\b", re.IGNORECASE)
_SEPARATOR_ZH = re.compile(r"[、，,和与及]")
_BY = re.compile(r"\s+(?:by|for|over|as to)\s+", re.IGNORECASE)
_SCOPE_EN = re.compile(
    r"\s+(?P<scope>(?P<by>for|during|under|in|at|when)\s+(?!(?:terms of|regards? to|light of|respect to)\b)[^,]+?)"
    r"(?=\s*,?\s+(?:by|as to|in terms of|with (?:respect|regard) to|regarding|concerning|according to|based on)\s"
    r"|(?<!\buse)(?<!\bused)(?<!\bwork)\s*,?\s+on\s)",
    re.IGNORECASE,
)
"""`A and B for use on farms by cost`: under what circumstances, between the things and the list of aspects."""
_SCOPE_ZH = re.compile(r"(?:用)?(?P<scope>[在于][^，,、的]{1,16}?(?:时|中|下|期间|里|内|上))的")
_COUNTED_EN = re.compile(
    r"^(?:the\s+)?(?:two|three|four|five|both|all)\s+(?:the\s+)?(?P<kind>[\w-]+s)\s+(?P<by>from|by)\s+(?P<owners>.+)$",
    re.IGNORECASE,
)
_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        ("two both 2 两 二", "three 3 三", "four 4 四", "five 5 五", "six 6 六", "seven 7 七", "eight 8 八"),
        2,
    )
    for word in words.split()
}
_KIND_EN = re.compile(
    r"^(?:compare|contrast|weigh(?: up)?|juxtapose)\s+(?:and\s+contrast\s+)?"
    r"(?:(?:the|these|all|our|my)\s+)*(?:(?P<count>two|both|three|four|five|six|seven|eight|[2-8])\s+)?"
    r"(?:of\s+)?(?:(?:the|these|our|my|different|available|offered|various)\s+)*"
    r"(?P<kind>(?:(?!and\b|or\b)[\w-]+\s+){0,2}?[\w-]+s)"
    r"(?:\s+(?P<by>by|on|in terms of|with (?:respect|regard) to|regarding|concerning|according to|based on)"
    r"\s+(?P<aspects>.+))?$",
    re.IGNORECASE,
)
_KIND_ZH = re.compile(
    r"^(?:这|那|以下|上述)*(?:(?P<count>[两二三四五六七八2-8])(?:个|家|台|种|款|份|项|座|条|位|名|类|艘|辆)"
    r"|各(?:个|家|台|种|款|份)?|(?:所有|全部)的?|每(?:个|家|台|种|款|份|项|座))"
    r"(?P<kind>[^的，,、和与及在]{1,10}?)(?:之间)?(?:的(?P<aspects>.+))?$"
)
_OWNED_EN = re.compile(r"^(?P<item>.+?)['’]s?\s+(?P<aspect>[\w -]+)$")
_OWNED_ZH = re.compile(r"^(?P<item>.+)的(?P<aspect>[^的]+)$")
_TAIL_EN = re.compile(
    r"\s*,?\s*\b(?:as (?:follows|criteria)|as aspects|criteria|in a table|as a table|side by side|with each other)\s*$",
    re.IGNORECASE,
)

_EN_FORMS: Final = (
    re.compile(
        r"^(?:compare|contrast|weigh(?: up)?|juxtapose)(?:\s+and\s+contrast)?\s+(?P<rest>.+)$", re.IGNORECASE
    ),
    re.compile(
        rf"^(?:(?:make|give|write|do|prepare|draw up|create|show|list|explain|describe|find|what (?:is"
        rf"|are))\s+)?(?:me\s+)?(?:the\s+|a\s+|an\s+)?"
        rf"(?:main |key |short |brief |detailed )*{_DIFFERENCE_EN}\s+(?:between|of)\s+(?P<rest>.+)$",
        re.IGNORECASE,
    ),
    re.compile(r"^how (?:do|does|did)\s+(?P<rest>.+?)\s+(?:compare|differ)(?P<after>\s+.*)?$", re.IGNORECASE),
    re.compile(
        r"^(?:pros and cons|advantages and disadvantages|strengths and weaknesses) of (?P<rest>.+)$",
        re.IGNORECASE,
    ),
)
_EN_QUESTIONS: Final = _EN_FORMS[1:3]
"""Forms that ask after the difference."""
_VERSUS = re.compile(r"\s+(?:vs\.?|versus)\s+", re.IGNORECASE)

_ZH_IN = re.compile(
    rf"^(?:对|将|把)?(?P<items>.+?)(?:进行|做|作|加以)?(?:一?个?)(?:比较|对比)?(?:之间)?在(?P<aspects>.+?)"
    rf"(?:等)?(?:[两二三四五六几]?个?)"
    rf"(?:方面|上|维度|角度|层面|指标)(?:的?(?:主要)?{_DIFFERENCE_ZH}|(?:进行|做)?(?:比较|对比)|有(?:什么"
    rf"|何|哪些){_DIFFERENCE_ZH})?$"
)
_ZH_FROM = re.compile(
    r"^(?:从|就|按照?|围绕|针对)(?P<aspects>.+?)(?:等)?(?:[两二三四五六几]?个?)(?:方面|角度|维度|层面|指标"
    r"|来|出发)*[，,]?(?:来)?"
    r"(?:比较|对比)(?:一下)?(?P<items>.+)$"
)
_ZH_VERB = re.compile(r"^(?:比较|对比|比一比|权衡|比对)(?:一下|分析)?(?P<rest>.+)$")
_ZH_TAKE = re.compile(r"^(?:对|将|把)(?P<rest>.+?)(?:进行|做|作|加以)(?:一?个?)(?:比较|对比)(?P<after>.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    items: tuple[str, ...]
    aspects: tuple[str, ...]
    scope: str = ""
    ordered: bool = True
    """An order to compare; a question after the difference is one only if it names aspects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedKind:
    """Things to compare that the goal names by their kind alone: `the three ovens`."""

    kind: str
    count: int | None
    """How many there are, where the goal says so."""
    aspects: tuple[str, ...]
    """Empty: the goal names none."""


def compared_kind(text: str) -> ComparedKind | None:
    """Read an order to compare all things of a kind; `None` for one that names the things, or for something else.

    >>> compared_kind("Compare the three ovens by price and power")
    ComparedKind(kind='ovens', count=3, aspects=('price', 'power'))
    """
    body = text.strip(" 。.?？!！;；")
    english = _KIND_EN.match(body)
    if english:
        aspects = enumeration(english["aspects"] or "")
        # `the two offers by Arne and Bo` names whose they are.
        owners = english["by"] and english["by"].casefold() == "by" and all(a[:1].isupper() for a in aspects)
        number = _NUMBERS.get((english["count"] or "").casefold())
        return None if owners else ComparedKind(kind=english["kind"], count=number, aspects=aspects)
    source = _ZH_FROM.match(body)
    verb = None if source else _ZH_VERB.match(body) or _ZH_TAKE.match(body)
    whole = source["items"] if source else verb["rest"] if verb else ""
    inside = _ZH_IN.match(whole)
    named = _KIND_ZH.match(inside["items"] if inside else whole)
    if named is None:
        return None
    listed = source["aspects"] if source else inside["aspects"] if inside else named["aspects"]
    aspects = _zh_aspects(listed) if listed else ()
    return ComparedKind(kind=named["kind"], count=_NUMBERS.get(named["count"] or ""), aspects=aspects)


def read_comparison(text: str, listed: tuple[str, ...]) -> CompareTask | str | None:
    """Read a comparison; a string is a comparison whose things are not named, `None` is something else.

    `listed` is the list that the sentence introduces: its things, or its aspects where the sentence names the
    things. "What is the difference between A and B?" without an aspect stays a question: no list of ours would be
    what it asks for.

    >>> read_comparison("Compare A and B on cost and safety", ())
    CompareTask(items=('A', 'B'), aspects=('cost', 'safety'), assumed_aspects=False, scope='', kind='compare')
    """
    body = text.strip(" 。.?？!！;；")
    if not listed and compared_kind(body) is not None:
        return body
    parts = _english(body) or _chinese(body)
    if parts is None:
        return None
    members = tuple(member for entry in listed for member in enumeration(entry))
    items, aspects = parts.items, parts.aspects
    if members and len(items) < 2:
        items, aspects = members, aspects or _aspects_beside_list(body)
    elif members:
        aspects = aspects or members
    if len(items) < 2:
        return body if parts.ordered else None
    lang = detect_language(text).lang
    aspects = tuple(aspect for aspect in aspects if aspect not in items)
    if not aspects and not parts.ordered:
        return None
    return CompareTask(
        items=items, aspects=aspects or ASSUMED_ASPECTS[lang], assumed_aspects=not aspects, scope=parts.scope
    )


def _aspects_beside_list(body: str) -> tuple[str, ...]:
    """Read the aspects of `compare the cost of the following plans`, `比较以下方案的成本`."""
    for pattern in (
        r"\b(?:on|by|in terms of|regarding|with respect to)\s+(.+)$",
        r"^(?:compare|contrast)\s+(?:the\s+)?(.+?)\s+(?:of|between)\b",
        r"(?:在)?([^的在]+?)(?:等)?(?:方面|角度|维度)",
        r"的([^的]+)$",
    ):
        match = re.search(pattern, body, re.IGNORECASE)
        if match:
            return _zh_aspects(match[1])
    return ()


def _english(body: str) -> _Parts | None:
    for form in _EN_FORMS:
        match = form.match(body)
        if match:
            rest = match["rest"] + (match.groupdict().get("after") or "")
            fixed = ("advantages", "disadvantages") if form is _EN_FORMS[-1] else ()
            parts = _items_and_aspects(rest)
            if fixed and len(parts.items) < 2:
                return None
            return _Parts(
                items=parts.items,
                aspects=fixed or parts.aspects,
                scope=parts.scope,
                ordered=form not in _EN_QUESTIONS,
            )
    if _VERSUS.search(body) and not re.match(r"(?:what|why|how|when|where|who)\b", body, re.IGNORECASE):
        return _items_and_aspects(body)
    return None


def _items_and_aspects(rest: str) -> _Parts:
    rest = _TAIL_EN.sub("", rest.strip())
    scope = _scope_en(rest)
    if scope is not None:
        parts = _items_and_aspects(rest[: scope.start()] + rest[scope.end() :])
        return replace(parts, scope=scope["scope"])
    marked = _MARKER_EN.search(rest) or _listed_by(rest) or _on(rest)
    if marked is None:
        found = [m for m in _BY.finditer(rest) if _plausible(rest, m)]
        marked = found[-1] if found else None
    if marked is not None and len(enumeration(_with_to(rest[: marked.start()]))) > 1:
        left = _shared_aspect(rest[: marked.start()])
        return _Parts(items=left.items, aspects=(*left.aspects, *enumeration(rest[marked.end() :])))
    if marked is not None and _ON.fullmatch(marked.group(0)) is None:
        left_items = enumeration(_with_to(rest[: marked.start()]))
        return _Parts(items=left_items, aspects=enumeration(rest[marked.end() :]))
    return _shared_aspect(rest)


def _scope_en(rest: str) -> re.Match[str] | None:
    """Find the circumstances between two things and their aspects.

    A preposition that stands in a thing already belongs to the things: `pumps in Arby and pumps in Bex on cost`.
    """
    for match in _SCOPE_EN.finditer(rest):
        before = rest[: match.start()]
        again = re.search(rf"\b{match['by']}\b", before, re.IGNORECASE)
        if _plausible(rest, match) and not again and not _MARKER_EN.search(before) and not _on(before):
            return None if re.search(r"\b(?:of|between)\b", before) else match
    return None


def _owned(members: tuple[str, ...], pattern: re.Pattern[str]) -> _Parts | None:
    """Read `A's cost and B's cost`: each member is a thing with its aspect."""
    pairs = [pattern.match(member) for member in members]
    items = dict.fromkeys(pair["item"].strip() for pair in pairs if pair)
    aspects = dict.fromkeys(pair["aspect"].strip() for pair in pairs if pair)
    if None in pairs or len(items) < 2 or len(items) * len(aspects) != len(pairs):
        return None
    return _Parts(items=tuple(items), aspects=tuple(aspects))


def _listed_by(rest: str) -> re.Match[str] | None:
    """Find the `by` between two things and a list of aspects, whatever words the aspects hold."""
    first = _LISTED_BY.search(rest)
    if first is None or not _plausible(rest, first) or len(enumeration(rest[first.end() :])) < 2:
        return None
    # `A and B on cost by region and year`: the list of aspects has begun before.
    begun = _on(rest)
    return None if begun and begun.end() <= first.start() and _plausible(rest, begun) else first


def _on(rest: str) -> re.Match[str] | None:
    """Find the `on` that begins the aspects: the last one, or the first one if a list stands between the two."""
    found = [m for m in _ON.finditer(rest) if not _RELATION.search(rest[: m.start()])]
    if not found:
        return None
    first, last = found[0], found[-1]
    listed = _plausible(rest, first) and _SEPARATOR_EN.search(rest[first.end() : last.start()])
    return first if listed else last


def _plausible(rest: str, match: re.Match[str]) -> bool:
    """`by`, `for`, `over` name aspects only after two things."""
    return len(enumeration(_with_to(rest[: match.start()]))) > 1


def _shared_aspect(rest: str) -> _Parts:
    """Read `the cost and safety of A and B`, `the cost of A and that of B` and `the two offers from A and B`."""
    counted = _COUNTED_EN.match(rest)
    owners = enumeration(counted["owners"]) if counted else ()
    if counted and len(owners) > 1:
        kind = f"{counted['kind'].removesuffix('s')} {counted['by']}"
        return _Parts(items=tuple(f"{kind} {owner}" for owner in owners), aspects=())
    members = enumeration(_with_to(rest))
    if (owned := _owned(members, _OWNED_EN)) is not None:
        return owned
    pairs = [
        re.match(r"(?:the\s+)?(?P<aspect>[^,]+?) of (?P<item>.+)$", member, re.IGNORECASE)
        for member in members
    ]
    first = pairs[0] if pairs else None
    if first is not None and len(members) > 1:
        aspect = first["aspect"].casefold()
        same = [p for p in pairs if p is not None and p["aspect"].casefold() in (aspect, "that", "those")]
        if len(same) == len(members):
            return _Parts(items=tuple(p["item"].strip() for p in same), aspects=(first["aspect"].strip(),))
    split = re.match(
        r"(?:the\s+)?(?P<aspects>.+?)\s+(?P<by>of|between|for|in)\s+(?P<items>.+)$", rest, re.IGNORECASE
    )
    own = split and split["by"].casefold() in ("for", "in") and all(f" {split['by']} " in m for m in members)
    if (
        split
        and not own
        and len(enumeration(_with_to(split["items"]))) > 1
        and not _VERSUS.search(split["aspects"])
    ):
        aspects = enumeration(split["aspects"])
        if all(len(aspect.split()) <= 4 for aspect in aspects):
            return _Parts(items=enumeration(_with_to(split["items"])), aspects=aspects)
    return _Parts(items=members, aspects=())


def _with_to(text: str) -> str:
    """Write `A with B`, `A to B`, `A against B` as an enumeration."""
    if re.search(r",|\band\b|\bor\b|、|和|与", text, re.IGNORECASE):
        return re.sub(r"^between\s+", "", text, flags=re.IGNORECASE)
    return re.sub(r"\s+(?:with|to|against|from)\s+", " and ", text, count=1, flags=re.IGNORECASE)


def _chinese(body: str) -> _Parts | None:
    if not re.search(f"[{CJK}]", body):
        return None
    source = _ZH_FROM.match(body)
    if source:
        return _Parts(items=_zh_items(source["items"]), aspects=_zh_aspects(source["aspects"]))
    verb = _ZH_VERB.match(body)
    taken = None if verb else _ZH_TAKE.match(body)
    if verb or taken:
        rest = verb["rest"] if verb else taken["rest"] + taken["after"] if taken else ""
        inside = _ZH_IN.match(rest)
        if inside:
            return _Parts(items=_zh_items(inside["items"]), aspects=_zh_aspects(inside["aspects"]))
        return _zh_of(rest)
    inside = _ZH_IN.match(body)
    if inside and re.search(rf"{_DIFFERENCE_ZH}$", body) and len(_zh_items(inside["items"])) > 1:
        return _Parts(items=_zh_items(inside["items"]), aspects=_zh_aspects(inside["aspects"]))
    return None


def _zh_of(rest: str) -> _Parts:
    """Read `甲、乙、丙的成本与寿命`: a 的 with at least two things before it divides.

    The last one, or the first one if a list stands between the two (`甲和乙的成本和对产量的影响`).
    """
    text = re.sub(r"(?:之间)?(?:的)?(?:主要)?(?:区别|差异|差别|不同|异同|优劣|高低|好坏)$", "", rest)
    scope = _SCOPE_ZH.search(text)
    if scope and len(_zh_items(text[: scope.start()])) > 1:
        return replace(_zh_of(f"{text[: scope.start()]}的{text[scope.end() :]}"), scope=scope["scope"])
    if (owned := _owned(enumeration(text), _OWNED_ZH)) is not None:
        return owned
    found = list(re.finditer("的", text))
    if found and _SEPARATOR_ZH.search(text[found[0].end() : found[-1].start()]):
        found = [*found[1:], found[0]]
    for match in reversed(found):
        items = _zh_items(text[: match.start()])
        aspects = _zh_aspects(text[match.end() :])
        if len(items) > 1 and aspects:
            return _Parts(items=items, aspects=aspects)
    return _Parts(items=_zh_items(text), aspects=())


def _zh_items(text: str) -> tuple[str, ...]:
    trimmed = re.sub(r"(?:之间|两者|二者|三者|各自|分别)+$", "", text.strip(" ，,：:"))
    return tuple(
        stripped
        for member in enumeration(
            re.sub(r"\s*(?:跟|同|相比于?|相较于?)\s*", "和", trimmed, count=1)
            if "、" not in trimmed
            else trimmed
        )
        if (stripped := re.sub(r"(?:之间|两者|二者|相比)$", "", member))
    )


def _zh_aspects(text: str) -> tuple[str, ...]:
    trimmed = re.sub(rf"(?:等)?(?:方面|指标|维度|问题)?(?:的?{_DIFFERENCE_ZH})?$", "", text.strip(" ，,：:"))
    found: list[str] = []
    for aspect in enumeration(trimmed) if trimmed else ():
        found.extend(("优点", "缺点") if aspect in ("优缺点", "优势和劣势", "利弊") else (aspect,))
    return tuple(dict.fromkeys(found))
