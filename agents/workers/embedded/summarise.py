"""Give the key sentences on a topic, of all notes, or of each note. Quoted, never rephrased."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agents.broker import Broker
from agents.results import SearchRound, WorkResult
from agents.retrieval.tokens import terms
from agents.tools.texts.calls import ORDERS
from agents.tools.texts.contract import say
from agents.workers.embedded.access import Access, access_of
from agents.workers.embedded.answer_forms import names_date
from agents.workers.embedded.answering import folded, texts_of
from agents.workers.embedded.composing import Answer, compose, needs_of, weighted
from agents.workers.embedded.digest import digest
from agents.workers.embedded.inquiry import BARREN_ROUNDS, Inquiry, NotesReader, ResearchLimits, inquire
from agents.workers.embedded.matching import credit, prepared
from agents.workers.embedded.material import Candidate, Material, Passage
from agents.workers.embedded.question import Question, read_question
from agents.workers.embedded.selection import Weighted
from agents.workers.embedded.wording import PHRASES
from agents.workers.embedded.writing import page
from agents.workers.ports import WorkFailed, WorkOrder
from graphs.contract import Lang

TOPIC_BUDGET: Final[Mapping[Lang, int]] = {"en": 240, "zh": 480}
"""Length of the key sentences on one topic, in words and Chinese characters: twice an answer's."""
ALL_NOTES_BUDGET: Final[Mapping[Lang, int]] = {"en": 360, "zh": 720}
"""Length of the main points of all notes."""
ONE_NOTE_BUDGET: Final[Mapping[Lang, int]] = {"en": 60, "zh": 120}
"""Length of the main points of one note, where each note has its own."""
SHORTEST_TITLE: Final = 4
"""Letters from which a note's title is recognised in a topic."""
_NOTE_WORD = re.compile(
    r"\b(?:notes?|files?|documents?|papers?|texts?|contents?)\b|笔记|文件|文档|资料|材料|全文|内容",
    re.IGNORECASE,
)
_STEPS = re.compile(
    r"\b(?:steps?|stages?|phases?|procedures?|instructions?)\b|步骤|流程|程序|工序|做法|阶段", re.IGNORECASE
)
"""Words of a topic that ask for a sequence of actions."""
_DATES = re.compile(
    r"^(?:(?:all|any|each|every|of|the|important|key|relevant|upcoming)\s+)*"
    r"(?:deadlines|due dates|dates|milestones|appointments)\b(?:\s+(?:of|for|in|about|on|from)\b)?"
    r"(?:\s+(?:the|these|my|all)\s+(?:notes|documents|files|folder)$)?"
    r"|(?:的)?(?:所有|全部|各个?|重要|主要)*(?:的)?(?:截止日期|截止时间|最后期限|期限|日期|时间节点|里程碑)$",
    re.IGNORECASE,
)
"""What a topic that asks for dates begins or ends with; the rest of it says whose."""
_FRAME: Final = frozenset(
    terms(
        "notes note files documents texts information details facts points matters situation subject topic terms "
        "requirements provisions conditions rules"
    )
) | frozenset(
    "笔记 资料 文件 内容 条款 要求 情况 规定 事项 信息 问题 方面 细节 条件 规则 状况 有关 相关".split()  # noqa: SIM905  (a word list is read as words)
)
"""Words that frame a topic and needn't stand in what is said on it: `租赁条款` is what is said of `租赁`."""
OVERVIEW: Final[Mapping[Lang, str]] = {
    "en": "overview purpose summary main results decisions figures",
    "zh": "概述 目的 总结 主要结果 决定 数据",
}
"""The query by which the notes are leafed through when no topic is given."""


@dataclass(frozen=True, slots=True)
class SummariseWorker:
    """Performs orders of the operations `summarise` and `gather`."""

    limits: ResearchLimits = field(default_factory=ResearchLimits)

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return the key sentences on `params["topic"]`; without a topic, the main points of all notes.

        `per_document` gives each note that was met its own. Where the limit on calls lets the worker see a part of the
        notes only, the text says so. A topic that the notes say nothing on stays open. Raises
        `WorkFailed` (`bad_request`) for a `gather` without a topic, and for tools that can't be used.
        """
        topic = next(iter(texts_of(order.params, "topic")), None)
        if topic is None and order.subtask.operation == "gather":
            raise WorkFailed("bad_request", say(ORDERS, "topic", value=repr(order.params.get("topic"))))
        per_document = order.params.get("per_document") is True
        access = access_of(order)
        reader = NotesReader(broker)
        whole = await self._read(order, topic, access, reader)
        answers = _per_note(whole, order, topic) if per_document else [_on_all(whole, order, topic)]
        output = compose(order, answers)
        if topic is None and output.claims and not _all_seen(whole):
            seen, there = len(whole.material.passages), whole.material.sections
            part = PHRASES[order.lang].part_of_the_notes.format(seen=seen, there=there)
            output = replace(output, text=page([output.text, part]))
        return WorkResult(
            output=output,
            candidate_complete=any(one.chosen for one in answers),
            mode="extractive",
            path=order.path,
            rounds=tuple(whole.rounds),
            needs=needs_of([whole]) if topic is not None else (),
            acted_through=("selection", "filter"),
        )

    async def _read(
        self, order: WorkOrder, topic: str | None, access: Access, reader: NotesReader
    ) -> Inquiry:
        if topic is not None:
            whose = _DATES.sub("", topic).strip(" 的")
            question = read_question(whose if terms(whose) else topic)
            if terms(whose) or whose == topic:
                inquiry = Inquiry(question=question, asked=topic, access=access)
                await inquire(inquiry, reader, self.limits, self.limits.tool_calls)
                return _without_frame(inquiry)
            inquiry = Inquiry(question=_nothing_asked(question.lang), asked=topic, access=access)
            await _leaf_through(inquiry, reader, topic, self.limits)
            return inquiry
        inquiry = Inquiry(question=_nothing_asked(order.lang), asked=order.subtask.title, access=access)
        await _leaf_through(inquiry, reader, OVERVIEW[order.lang], self.limits)
        return inquiry


def _without_frame(inquiry: Inquiry) -> Inquiry:
    """Return the inquiry about what its topic frames, where nothing is said on the topic with its frame."""
    core = tuple(term for term in inquiry.question.terms if term not in _FRAME)
    if inquiry.answered or not core or core == inquiry.question.terms:
        return inquiry
    subject = tuple(term for term in inquiry.question.subject if term in core)
    narrowed = replace(inquiry, question=replace(inquiry.question, terms=core, subject=subject))
    narrowed.judge()
    return narrowed if narrowed.answered else inquiry


async def _leaf_through(inquiry: Inquiry, reader: NotesReader, query: str, limits: ResearchLimits) -> None:
    """Fetch page after page of `query`, then of the titles met, until every section was seen or nothing new comes."""
    waiting, barren = [query], 0
    while waiting and barren < BARREN_ROUNDS and not _all_seen(inquiry):
        inquiry.queries.append(waiting.pop(0))
        barren = 0 if await _pages(inquiry, reader, limits) else barren + 1
        if inquiry.limited:
            return
        titles = dict.fromkeys(passage.source.title for passage in inquiry.material.passages.values())
        waiting = [title for title in titles if title.strip() and title not in inquiry.queries]


async def _pages(inquiry: Inquiry, reader: NotesReader, limits: ResearchLimits) -> int:
    """Fetch all pages of the last query, each one round; return how many sections were new."""
    query, met = inquiry.queries[-1], 0
    offset: int | None = 0
    while offset is not None:
        if reader.calls >= limits.tool_calls:
            inquiry.limited = True
            return met
        data = await reader.search(query, offset)
        if data is None:
            if offset == 0:
                inquiry.queries.pop()
            inquiry.limited = inquiry.stopped = True
            return met
        new = inquiry.material.add_hits(data)
        met += new
        inquiry.judge()
        why = f"from_hit: {offset + 1}"
        inquiry.rounds.append(
            SearchRound(query=query, why=why, hits=len(data["hits"]), new_evidence=new, open_after=())
        )
        offset = data["next_offset"]
    return met


def _all_seen(inquiry: Inquiry) -> bool:
    material = inquiry.material
    return bool(material.passages) and len(material.passages) >= material.sections


def _on_all(whole: Inquiry, order: WorkOrder, topic: str | None) -> Answer:
    if topic is not None:
        budget = TOPIC_BUDGET[whole.question.lang]
        if _DATES.search(topic):
            asked = bool(whole.question.terms)
            dated = _main_points(whole, budget, asked, dated=True) if whole.answered or not asked else ()
            if dated:
                return Answer(inquiry=whole, chosen=dated)
        named = _named_note(topic, whole)
        if named is not None:
            return Answer(inquiry=whole, chosen=_main_points(named, budget))
        return Answer(inquiry=whole, chosen=_main_points(whole, budget, True) if whole.answered else ())
    return Answer(inquiry=whole, chosen=_main_points(whole, ALL_NOTES_BUDGET[order.lang]))


def _per_note(whole: Inquiry, order: WorkOrder, topic: str | None) -> list[Answer]:
    """Give one answer per note, in the order of paths; a note without an open sentence gives none."""
    notes: dict[str, list[Passage]] = {}
    for passage in whole.material.passages.values():
        notes.setdefault(passage.source.uri, []).append(passage)
    titles = [passages[0].source.title for passages in notes.values()]
    found = []
    for path in sorted(notes):
        title = notes[path][0].source.title
        name = title if titles.count(title) == 1 else path
        inquiry = replace(
            whole,
            asked=topic or name,
            about=name if topic is not None else "",
            material=_only(whole.material, notes[path]),
        )
        inquiry.judge()
        chosen = _main_points(inquiry, ONE_NOTE_BUDGET[order.lang])
        if chosen and (topic is None or inquiry.answered):
            found.append(Answer(inquiry=inquiry, chosen=chosen))
    return found or [Answer(inquiry=whole, chosen=())]


def _only(material: Material, passages: Sequence[Passage]) -> Material:
    return Material(
        passages={passage.key: passage for passage in passages},
        sections=material.sections,
        frequency=material.frequency,
    )


def _named_note(topic: str, whole: Inquiry) -> Inquiry | None:
    """Return the inquiry narrowed to the note that the topic names, if there is one.

    The note's title or file name must stand in the topic, and hold all of its words but numbers and words for notes:
    `the budget of 2025` names the note `Budget`, `the budget of the ferry` does not.
    """
    wanted = _letters(topic)
    named: dict[str, list[Passage]] = {}
    for passage in whole.material.passages.values():
        names = (passage.source.title, passage.source.uri.rsplit(".", 1)[0])
        if any(
            len(_letters(name)) >= SHORTEST_TITLE and _letters(name) in wanted and _names_all(name, topic)
            for name in names
        ):
            named.setdefault(passage.source.uri, []).append(passage)
    if len(named) != 1:
        return None
    narrowed = replace(whole, material=_only(whole.material, *named.values()))
    narrowed.judge()
    return narrowed


def _names_all(name: str, topic: str) -> bool:
    held = prepared(name)
    asked = terms(_NOTE_WORD.sub(" ", topic))
    return all(credit(term, held) for term in asked if not any(char.isdigit() for char in term))


def _letters(name: str) -> str:
    """Return a name without its digits: people leave dates and numbers of files away."""
    return "".join(char for char in folded(name) if not char.isdigit())


def _main_points(
    inquiry: Inquiry, budget: int, topic: bool = False, *, dated: bool = False
) -> tuple[Weighted, ...]:
    """Choose prose under the mask, each note and section in proportion to what it has; in the order of the notes.

    With `dated`, what holds a date, rows of tables too.
    """
    kinds = {"sentence", "list_item", "table_row"} if dated else {"sentence", "list_item"}
    prose = [
        one
        for one in inquiry.ranked
        if one.candidate.unit.kind in kinds
        and not one.candidate.unit.text.endswith((":", "："))
        and (not dated or names_date(one.candidate.unit.text))
    ]
    opened = [weighted(one, inquiry.access) for one in prose]
    steps = topic and _STEPS.search(inquiry.asked) is not None
    chosen = digest(opened, inquiry.matcher, budget, inquiry.question.lang, on_topic=topic, steps=steps)
    return tuple(sorted(chosen, key=lambda one: _place(one.candidate)))


def _place(candidate: Candidate) -> tuple[str, int]:
    return candidate.passage.source.uri, candidate.unit.start_char


def _nothing_asked(lang: Lang) -> Question:
    return replace(read_question(""), lang=lang)
