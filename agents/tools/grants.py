"""Which tools a task needs, told from the user's prompt and the list of tools alone.

Least privilege (seed 000, 5.1): a tool that reads is granted where the prompt speaks of what it reads, one that
changes something is expected where the prompt also asks for the deed. The calls of a run are never looked at: that
something was done is no reason for it to be allowed. Deterministic, without a model; each grant says why.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from agents.retrieval.tokens import terms, words
from agents.tools.contract import ToolSpec
from agents.tools.effects import READING_VERBS, effect_verbs, name_words
from agents.tools.gate_vocabulary import (
    ALSO_NOUNS,
    BEFORE_A_DEED,
    DEEDS,
    GENERIC,
    PERSON_PARAMETERS,
    PERSONS,
    TOPICS,
)
from agents.tools.known_texts import addresses, clocks, days, file_names, is_address
from agents.tools.prohibitions import Prohibition, spoken_goal
from graphs.contract import Lang

GrantReasonCode = Literal["named", "topic", "deed", "serves", "receivers", "nothing", "forbidden"]
"""- `named`: the prompt has the tool's name.
- `topic`: the prompt speaks of what the tool reads.
- `deed`: the prompt asks for what the tool does, with what it does it to.
- `serves`: it reads what an expected tool works on.
- `receivers`: it looks up whom an expected tool reaches.
- `nothing`: outside the task.
- `forbidden`: the prompt says not to use it, or not to do what it does.
"""

_TEXTS: Final[Mapping[GrantReasonCode, Mapping[Lang, str]]] = {
    "named": {"en": "the goal names it", "zh": "目标中点名提到了它"},
    "topic": {"en": "the goal speaks of {words}", "zh": "目标谈到了{words}"},
    "deed": {"en": "the goal asks for it ({words})", "zh": "目标要求这样做（{words}）"},
    "serves": {"en": "{words} works on what it reads", "zh": "{words} 要处理它所读取的内容"},
    "receivers": {"en": "{words} reaches people that it looks up", "zh": "{words} 涉及的人由它查找"},
    "nothing": {"en": "nothing in the goal calls for it", "zh": "目标中没有任何内容需要用到它"},
    "forbidden": {"en": "the goal forbids it ({words})", "zh": "目标不允许（{words}）"},
}

COMMON_SHARE: Final = 0.5
"""A word of the purposes of more than half of the tools tells none of them apart."""
FEW_TOOLS: Final = 4
"""Up to so many tools nothing counts as common."""
WORDS_TO_THE_VERB: Final = 6
"""Behind `did` the verb of the question comes within so many words."""
PURPOSE_WORDS: Final = 2
"""So many words of a purpose have to be in the prompt; one that is also in the name is enough by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What holds for one tool, and why."""

    tool: str
    reason: GrantReasonCode
    words: tuple[str, ...] = ()
    """What the reason rests on, at most three: words of the prompt in their stems, topics, or tools."""

    def told(self, lang: Lang) -> str:
        """Return the reason as a clause for people.

        >>> Grant(tool="send_email", reason="nothing").told("en")
        'nothing in the goal calls for it'
        """
        joined = ("、" if lang == "zh" else ", ").join(self.words)
        return _TEXTS[self.reason][lang].format(words=joined)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What a task may use."""

    reads: tuple[Grant, ...]
    """Tools that read and need no question."""
    writes: tuple[Grant, ...]
    """Tools that change something and are expected: each call is asked about."""
    outside: tuple[Grant, ...]
    """All others: refused, or asked about as outside the task."""

    @property
    def granted(self) -> frozenset[str]:
        """The tools for `GateRules.granted`."""
        return frozenset(grant.tool for grant in (*self.reads, *self.writes))


def derive_grants(goal_text: str, specs: Sequence[ToolSpec]) -> Grants:
    """Return which of `specs` the task in `goal_text` may use; in the order of `specs` each.

    What the goal forbids calls for nothing, and a tool that it forbids is outside: also where another sentence speaks
    of it, unless each call of the tool is asked about anyway. Only the user's own words may be given: text of a
    document would grant itself tools.
    """
    goal = spoken_goal(goal_text)
    prompt = _Prompt(goal.asked)
    common = _common_words(specs)
    found = {spec.name: _by_words(spec, prompt, common) for spec in specs}
    forbidden: dict[str, Grant] = {}
    for spec in specs:
        against = _forbidden(spec, goal.forbidden, common)
        if against is not None and (found[spec.name] is None or spec.side_effect in ("read", "draft")):
            forbidden[spec.name] = against
            found[spec.name] = None
    expected = [spec for spec in specs if spec.side_effect != "read" and found[spec.name] is not None]
    for spec in specs:
        if spec.side_effect == "read" and found[spec.name] is None and spec.name not in forbidden:
            found[spec.name] = _supporting(spec, expected)
    kept = [grant for grant in found.values() if grant is not None]
    changing = {spec.name for spec in specs if spec.side_effect != "read"}
    return Grants(
        reads=tuple(grant for grant in kept if grant.tool not in changing),
        writes=tuple(grant for grant in kept if grant.tool in changing),
        outside=tuple(
            forbidden.get(name, Grant(tool=name, reason="nothing"))
            for name, grant in found.items()
            if grant is None
        ),
    )


def _forbidden(spec: ToolSpec, prohibitions: Sequence[Prohibition], common: frozenset[str]) -> Grant | None:
    """The prohibition that a tool falls under: one that would grant it, were it a request.

    One about an address or `other` pages forbids none altogether, and that something is not to be said or sent does not
    forbid to read it.
    """
    for each in prohibitions:
        # As behind `do not`, where what is also a noun is a verb; `without sending` is to send.
        prompt = _Prompt(f"not {_ING.sub(_base_of_ing, each.text)}")
        named = len(name_words(spec.name)) > 1 and spec.name.casefold() in prompt.text
        if not named and not (each.general and (each.uses or spec.side_effect != "read")):
            continue
        shared = _shared(spec, prompt, common)
        own = set(effect_verbs(spec.name)[:1]) & set(_WORD.findall(prompt.text))
        against = _by_words(spec, prompt, common)
        if against is not None or (own and shared):
            words = against.words if against is not None else (*sorted(own), *shared)[:3]
            return Grant(tool=spec.name, reason="forbidden", words=words)
    return None


def _base_of_ing(match: re.Match[str]) -> str:
    stem = match[1]
    for base in (stem, f"{stem}e", stem[:-1]):
        if base in _VERBS:
            return base
    return match[0]


_ING: Final = re.compile(r"\b([a-z]{2,})ing\b", re.IGNORECASE)


class _Prompt:
    """A prompt as the rules see it."""

    def __init__(self, text: str) -> None:
        self.text = unicodedata.normalize("NFKC", text).casefold()
        self.words = frozenset(terms(text))
        spoken = frozenset(words(text))
        self.topics = frozenset(_named(TOPICS, spoken, self.text)) | self._seen_topics(text)
        self.verbs = _asked_for(self.text)
        self.deeds = frozenset(_named(DEEDS, self.verbs, self.text))

    def _seen_topics(self, text: str) -> frozenset[str]:
        """Topics that no word names: an address, a date, a time."""
        seen = set()
        found = addresses(text)
        if any("@" in one for one in found):
            seen.add("mail")
        if any(is_address(one) for one in found):
            seen.add("web")
        if file_names(text):
            seen.add("files")
        if days(text) or clocks(text):
            seen.add("time")
        return frozenset(seen)


def _by_words(spec: ToolSpec, prompt: _Prompt, common: frozenset[str]) -> Grant | None:
    if len(name_words(spec.name)) > 1 and spec.name.casefold() in prompt.text:
        return Grant(tool=spec.name, reason="named", words=(spec.name,))
    shared = _shared(spec, prompt, common)
    if spec.side_effect == "read":
        if not shared and not _topics_of(spec):
            told = frozenset(terms(spec.purpose)) - GENERIC - common - _stems(READING_VERBS)
            shared = sorted(told & prompt.words) if len(told & prompt.words) >= PURPOSE_WORDS else []
        return Grant(tool=spec.name, reason="topic", words=tuple(shared[:3])) if shared else None
    deeds = _deeds_of(spec) & prompt.deeds
    if not deeds or not shared:
        return None
    return Grant(tool=spec.name, reason="deed", words=(*sorted(deeds), *shared)[:3])


def _shared(spec: ToolSpec, prompt: _Prompt, common: frozenset[str]) -> list[str]:
    """What the prompt speaks of that the tool is about: its topics, where it has any, else the words of its name.

    A hotel's price is no matter of a prompt about the prices of restaurants.
    """
    topics = _topics_of(spec)
    if not topics:
        return sorted((_objects(spec) & prompt.words) - common)
    spoken = prompt.topics
    # A date alone is a matter of calendars for whoever looks one up, and where the very deed is asked for.
    looks = spec.side_effect == "read" or bool(prompt.verbs & set(effect_verbs(spec.name)[:1]))
    if looks and "time" in spoken:
        spoken |= {"calendar"}
    return sorted(topics & spoken)


def _supporting(spec: ToolSpec, expected: Sequence[ToolSpec]) -> Grant | None:
    """A tool that reads what an expected one works on (its event before it is moved), or whom it reaches."""
    objects, topics = _objects(spec), _topics_of(spec)
    serving = [one.name for one in expected if objects & _objects(one) or topics & _topics_of(one)]
    if serving:
        return Grant(tool=spec.name, reason="serves", words=tuple(serving[:3]))
    if topics & PERSONS:
        reaching = [one.name for one in expected if PERSON_PARAMETERS & _parameter_words(one)]
        if reaching:
            return Grant(tool=spec.name, reason="receivers", words=tuple(reaching[:3]))
    return None


def _objects(spec: ToolSpec) -> frozenset[str]:
    """What a tool works on, by its name: stems without verbs and words that say nothing."""
    left_out = READING_VERBS | set(effect_verbs(spec.name))
    spoken = " ".join(word for word in name_words(spec.name) if word not in left_out)
    return (frozenset(terms(spoken)) | frozenset(_chinese_terms(spec.name))) - GENERIC


def _topics_of(spec: ToolSpec) -> frozenset[str]:
    spoken = _stems(name_words(spec.name))
    text = unicodedata.normalize("NFKC", spec.name).casefold()
    found = frozenset(_named(TOPICS, spoken, text))
    if found:
        return found
    # A name that says nothing of what it is about: the first sentence of the purpose has to.
    first = spec.purpose.split(".")[0].split("。")[0]
    return frozenset(_named(TOPICS, frozenset(words(first)), first.casefold()))


def _deeds_of(spec: ToolSpec) -> frozenset[str]:
    # Of `delete_email` the first: the other names what it is done to.
    verbs = effect_verbs(spec.name)[:1]
    found = frozenset(_named(DEEDS, verbs, spec.name.casefold()))
    return found or frozenset(_named(DEEDS, _base_forms(spec.purpose)[:3], spec.purpose[:12]))


def _base_forms(text: str) -> tuple[str, ...]:
    """Words as they stand and without the `s` of the third person."""
    return tuple(form for word in _WORD.findall(text.casefold()) for form in (word, word.removesuffix("s")))


def _asked_for(text: str) -> frozenset[str]:
    """The words of a prompt that may be verbs of a request: in their base form, or as participle after `be`.

    What was done already (`the emails that I sent`, `what did Anna write`) is not asked for.
    """
    found = set()
    before = ""
    past = 0
    for match in _WORD_OR_END.finditer(text):
        word = match[0]
        past = WORDS_TO_THE_VERB if word in ("did", "does") else past - 1 if word[0].isalpha() else 0
        if past > 0 and word in _VERBS:
            past = 0
        elif before == "be" and word in _PARTICIPLE_OF:
            found.add(_PARTICIPLE_OF[word])
        elif word in _VERBS and (
            word not in ALSO_NOUNS or not before[-1:].isalpha() or before in BEFORE_A_DEED
        ):
            found.add(word)
        before = word
    return frozenset(found)


_WORD: Final = re.compile(r"[a-z]+")
_WORD_OR_END: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|[^\sa-z]")
_VERBS: Final = frozenset(verb for english, _ in DEEDS.values() for verb in english)
_PARTICIPLE_OF: Final = {
    "sent": "send", "written": "write", "paid": "pay", "put": "put", "bought": "buy", "told": "tell", "made": "make",
} | {verb + ending: verb for verb in _VERBS for ending in ("ed", "d")} | {"cancelled": "cancel"}  # fmt: skip


def _parameter_words(spec: ToolSpec) -> frozenset[str]:
    properties = spec.input_schema.get("properties")
    named = properties.keys() if isinstance(properties, Mapping) else ()
    return frozenset(word for name in named for word in name_words(str(name)))


def _common_words(specs: Sequence[ToolSpec]) -> frozenset[str]:
    if len(specs) <= FEW_TOOLS:
        return frozenset()
    counted = Counter(word for spec in specs for word in _objects(spec) | frozenset(terms(spec.purpose)))
    return frozenset(word for word, count in counted.items() if count > COMMON_SHARE * len(specs))


def _named(
    vocabulary: Mapping[str, tuple[frozenset[str], tuple[str, ...]]], spoken: Iterable[str], text: str
) -> list[str]:
    """The entries of a vocabulary that English words, in the form it has them, or a Chinese text name."""
    spoken = frozenset(spoken)
    return [
        name
        for name, (stems, chinese) in vocabulary.items()
        if stems & spoken or any(word in text for word in chinese)
    ]


def _stems(spelled: Iterable[str]) -> frozenset[str]:
    return frozenset(words(" ".join(spelled)))


def _chinese_terms(name: str) -> tuple[str, ...]:
    return tuple(term for term in terms(name) if not term.isascii())
