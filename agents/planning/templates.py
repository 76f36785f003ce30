"""The plan of each kind of task: sub-tasks, what feeds them, and what has to hold in the end.

In every plan at least one sub-task stands between the one that finds a claim and the report, so that claims are
merged, compared or checked before they are delivered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from pydantic import JsonValue

from agents.operations import field_name
from agents.planning.domains import MAX_DOMAINS_PER_NODE, strongest
from agents.planning.drafting import PlanDraft
from agents.planning.layout import MAX_WIDTH, layout
from agents.planning.patterns.extract import bare_kind
from agents.planning.readings import (
    CheckTask,
    CompareTask,
    ExtractTask,
    OutlineTask,
    ResearchTask,
    SummariseTask,
    Task,
    UnclearTask,
)
from agents.planning.wording import listing, say, shorten
from agents.retrieval.tokens import terms
from graphs.contract import Lang
from graphs.plan import NodeId

COMPUTING: Final = 0.5
"""Duration of a deterministic sub-task, in units: half that of one question."""

MAX_DOMAIN_GROUPS: Final = 3
"""Sub-tasks into which a summary of many fields is cut; the smallest fields beyond them are left out."""

OUTLINE_QUESTIONS: Final = {
    "en": (
        "What is the purpose of {subject}?",
        "Which costs, people and means does {subject} need?",
        "Which dates and deadlines hold for {subject}?",
        "Which risks and rules concern {subject}?",
    ),
    "zh": (
        "{subject}的目的是什么？",
        "{subject}需要哪些费用、人员和条件？",
        "{subject}有哪些日期和期限？",
        "{subject}涉及哪些风险和规定？",
    ),
}
"""What a drafted plan has to say something on."""

OUTLINE_STEPS: Final = {"en": "Steps of {subject}", "zh": "{subject}的步骤"}
"""The topic beside those questions: steps are a list to be kept together, not an answer."""

SECTION_QUESTION: Final = {
    "en": "What is known of the {section} for {subject}?",
    "zh": "{subject}的{section}有哪些？",
}
"""Asked for each section that the goal wants beside those."""

QUESTIONS_A_GROUP: Final = 4
MAX_OUTLINE_GROUPS: Final = 3
"""Groups of questions beside material and steps: an outline has no more inputs than `MAX_WIDTH` allows."""


def draft_task(task: Task, draft: PlanDraft, before: Sequence[NodeId] = ()) -> tuple[NodeId, ...]:
    """Add the sub-tasks of `task`; return those whose outputs go into the report.

    `before` are those that the tasks before it deliver.
    """
    match task:
        case ResearchTask():
            return _research(task.questions, draft)
        case CompareTask():
            return _compare(task, draft)
        case SummariseTask():
            return _summarise(task, draft)
        case ExtractTask():
            return _extract(task, draft)
        case CheckTask():
            return _check(task, draft, before)
        case OutlineTask():
            return _outline(task, draft)
        case UnclearTask():
            return _unclear(task, draft)
        case _:
            assert_never(task)


def _research(questions: Sequence[str], draft: PlanDraft) -> tuple[NodeId, ...]:
    lang = draft.lang
    parts = layout(len(questions))
    if sum(map(len, parts)) < len(questions):
        groups = sum(map(len, parts))
        draft.notes.append(say("note_grouped", lang, n=len(questions), groups=groups, width=MAX_WIDTH))
    if len(parts) > 1:
        draft.notes.append(say("note_parts", lang, parts=len(parts)))
    criteria = [
        draft.accept("q", say("accept_question", lang, text=question), "question_answered", question=question)
        for question in questions
    ]
    merged: list[NodeId] = []
    for number, part in enumerate(parts, 1):
        nodes = [_research_node(group, questions, criteria, draft) for group in part]
        title = say("title_merge", lang) if len(parts) == 1 else say("title_merge_part", lang, n=number)
        merged.append(merge(title, nodes, [questions[index] for group in part for index in group], draft))
    if len(merged) == 1:
        return tuple(merged)
    return (merge(say("title_merge", lang), merged, questions, draft),)


def _research_node(
    group: range, questions: Sequence[str], criteria: Sequence[str], draft: PlanDraft
) -> NodeId:
    own = [questions[index] for index in group]
    return draft.add(
        "research",
        _numbered_title("title_question", own, group, draft),
        "do_research",
        {"questions": _json(own)},
        domains=strongest([draft.finder.of(question) for question in own]),
        acceptance=[criteria[index] for index in group],
        estimate=float(len(own)),
    )


def _compare(task: CompareTask, draft: PlanDraft) -> tuple[NodeId, ...]:
    lang = draft.lang
    if len(task.items) > MAX_WIDTH:
        draft.notes.append(say("note_many_items", lang, n=len(task.items), width=MAX_WIDTH))
    nodes: list[NodeId] = []
    all_fields: list[str] = []
    for item in task.items:
        fields = [
            draft.accept(
                "f",
                say("accept_field", lang, text=field_name(item, aspect)),
                "field_filled",
                core=not task.assumed_aspects,
                field_name=field_name(item, aspect),
            )
            for aspect in task.aspects
        ]
        all_fields.extend(fields)
        nodes.append(
            draft.add(
                "research",
                say("title_item", lang, text=shorten(item, lang)),
                "do_item",
                {"item": item, "fields": _json(task.aspects)},
                domains=draft.finder.of(f"{item} {listing(task.aspects, lang)}"),
                acceptance=fields,
                estimate=float(max(1, len(task.aspects))),
            )
        )
    table = draft.accept("table", say("accept_table", lang), "artefact_exists")
    compared = draft.add(
        "compare",
        say("title_compare", lang, text=shorten(listing(task.items, lang), lang)),
        "do_compare",
        {"items": _json(task.items), "aspects": _json(task.aspects)},
        after=nodes,
        domains=strongest(draft.domains_of(nodes)),
        acceptance=[*all_fields, table],
        estimate=COMPUTING,
    )
    return (compared,)


def _summarise(task: SummariseTask, draft: PlanDraft) -> tuple[NodeId, ...]:
    lang = draft.lang
    nodes: list[NodeId] = []
    for topic in task.topics or (None,):
        criteria = []
        if topic is not None:
            text = say("accept_topic", lang, text=topic)
            criteria = [draft.accept("t", text, "question_answered", question=topic)]
        shown = topic or say("each_note" if task.per_document else "all_notes", lang)
        for domains in _domain_groups(topic, draft):
            nodes.append(
                draft.add(
                    "summarise",
                    say("title_summarise", lang, text=shorten(shown, lang)),
                    "do_summarise",
                    {"topic": topic, "per_document": task.per_document},
                    domains=domains,
                    acceptance=criteria,
                    estimate=2.0,
                )
            )
    return (merge(say("title_merge_points", lang), nodes, task.topics, draft),)


def _domain_groups(topic: str | None, draft: PlanDraft) -> list[dict[str, float]]:
    """Return one set of domains per summarising sub-task: each reads the fields that its mask opens."""
    if topic is not None:
        return [draft.finder.of(topic)]
    ranked = list(draft.finder.everywhere().items())
    groups = [
        dict(ranked[start : start + MAX_DOMAINS_PER_NODE])
        for start in range(0, len(ranked), MAX_DOMAINS_PER_NODE)
    ]
    return groups[:MAX_DOMAIN_GROUPS] or [{}]


def _extract(task: ExtractTask, draft: PlanDraft) -> tuple[NodeId, ...]:
    lang = draft.lang
    columns = listing(task.columns, lang)
    table = draft.accept("table", say("accept_table", lang), "artefact_exists")
    # Where the notes have to say what the rows are, a column without a single cell is what can be missing.
    wanted = [field_name(row, column) for row in task.rows for column in task.columns] or task.columns
    fields = [
        draft.accept("f", say("accept_field", lang, text=name), "field_filled", field_name=name)
        for name in wanted
    ]
    each = listing(task.rows, lang) or task.each or say("each_row", lang)
    found = draft.add(
        "extract",
        say("title_extract", lang, text=shorten(columns, lang)),
        say("do_extract", lang, each=each),
        {
            "columns": _json(task.columns),
            "rows": _json(task.rows) if task.rows else None,
            "each": bare_kind(task.each) or None,
        },
        domains=strongest([draft.finder.of(f"{each} {columns}"), draft.finder.everywhere()]),
        acceptance=[table, *fields],
        estimate=2.0,
    )
    merged = merge(say("title_merge_rows", lang), [found], (), draft)
    return (found, merged)


def _check(task: CheckTask, draft: PlanDraft, before: Sequence[NodeId]) -> tuple[NodeId, ...]:
    lang = draft.lang
    if task.previous and (claims := draft.claims_behind(before)):
        titles = listing(tuple(draft.title_of(node) for node in before), lang)
        return (_check_inputs(claims, titles, strongest(draft.domains_of(claims)), draft),)
    if not task.statements:
        return _check_document(task, draft)
    statements = task.statements
    criteria = [
        draft.accept("s", say("accept_statement", lang, text=text), "question_answered", question=text)
        for text in statements
    ]
    nodes = []
    for part in layout(len(statements)):
        for group in part:
            own = [statements[index] for index in group]
            nodes.append(
                draft.add(
                    "check",
                    _numbered_title("title_check", own, group, draft),
                    "do_check",
                    {"statements": _json(own)},
                    domains=strongest([draft.finder.of(statement) for statement in own]),
                    acceptance=[criteria[index] for index in group],
                    estimate=float(len(own)),
                )
            )
    return (merge(say("title_merge_checks", lang), nodes, statements, draft),)


def _check_document(task: CheckTask, draft: PlanDraft) -> tuple[NodeId, ...]:
    lang = draft.lang
    domains = draft.finder.of(task.document)
    gathered = draft.add(
        "gather",
        say("title_gather", lang, text=shorten(task.document, lang)),
        "do_gather",
        {"topic": task.document},
        domains=domains,
    )
    return (_check_inputs([gathered], task.document, domains, draft),)


def _check_inputs(
    after: Sequence[NodeId], name: str, domains: Mapping[str, float], draft: PlanDraft
) -> NodeId:
    lang = draft.lang
    return draft.add(
        "check",
        say("title_check_inputs", lang, text=shorten(name, lang)),
        "do_check_inputs",
        {},
        after=after,
        domains=domains,
        acceptance=[draft.accept("conflicts", say("accept_conflicts", lang), "conflicts_shown")],
        estimate=2.0,
    )


def _outline_questions(task: OutlineTask, lang: Lang) -> list[str]:
    """Return the questions of every plan, and one for each wanted section that none of them asks after."""
    known = (*OUTLINE_QUESTIONS[lang], OUTLINE_STEPS[lang])
    asked = {term for question in known for term in terms(question)}
    further = [section for section in task.sections if not asked & set(terms(section))]
    return [
        *(question.format(subject=task.subject) for question in OUTLINE_QUESTIONS[lang]),
        *(SECTION_QUESTION[lang].format(section=section, subject=task.subject) for section in further),
    ]


def _outline(task: OutlineTask, draft: PlanDraft) -> tuple[NodeId, ...]:
    lang = draft.lang
    steps = OUTLINE_STEPS[lang].format(subject=task.subject)
    questions = _outline_questions(task, lang)
    headings = [questions[0], steps, *questions[1:]]
    by_heading = {
        heading: draft.accept(
            "q", say("accept_question", lang, text=heading), "question_answered", core=False, question=heading
        )
        for heading in headings
    }
    criteria = [by_heading[question] for question in questions]
    gathered = draft.add(
        "gather",
        say("title_gather", lang, text=shorten(task.subject, lang)),
        "do_gather",
        {"topic": task.subject},
        domains=draft.finder.of(task.subject),
    )
    listed = draft.add(
        "summarise",
        say("title_summarise", lang, text=shorten(steps, lang)),
        "do_summarise",
        {"topic": steps, "per_document": False},
        domains=draft.finder.of(steps),
        acceptance=[by_heading[steps]],
    )
    count = len(questions)
    parts = min(MAX_OUTLINE_GROUPS, max(2, -(-count // QUESTIONS_A_GROUP)))
    groups = [range(part * count // parts, (part + 1) * count // parts) for part in range(parts)]
    found = [_research_node(group, questions, criteria, draft) for group in groups]
    outlined = draft.add(
        "outline",
        say("title_outline", lang, text=shorten(task.title, lang)),
        "do_outline",
        {"title": task.title, "questions": _json(headings)},
        after=[gathered, listed, *found],
        domains=strongest(draft.domains_of([gathered, listed, *found])),
        acceptance=list(by_heading.values()),
        estimate=COMPUTING,
    )
    return (outlined,)


def _unclear(task: UnclearTask, draft: PlanDraft) -> tuple[NodeId, ...]:
    """Gather material and look for an answer side by side: neither needs the other."""
    lang = draft.lang
    draft.notes.append(say("note_unclear", lang))
    domains = draft.finder.of(task.topic)
    criterion = draft.accept(
        "q", say("accept_question", lang, text=task.topic), "question_answered", question=task.topic
    )
    gathered = draft.add(
        "gather",
        say("title_gather", lang, text=shorten(task.topic, lang)),
        "do_gather",
        {"topic": task.topic},
        domains=domains,
    )
    answered = draft.add(
        "research",
        say("title_question", lang, n=1, text=shorten(task.topic, lang)),
        "do_research",
        {"questions": [task.topic]},
        domains=domains,
        acceptance=[criterion],
    )
    return (merge(say("title_merge", lang), [gathered, answered], [task.topic], draft),)


def merge(title: str, nodes: Sequence[NodeId], questions: Sequence[str], draft: PlanDraft) -> NodeId:
    """Add a sub-task that merges what `nodes` hand out, under `questions`; return its id."""
    return draft.add(
        "synthesise",
        title,
        "do_synthesise" if draft.gives_claims(nodes) else _merging_rows(draft),
        {"questions": _json(questions)},
        after=nodes,
        domains=strongest(draft.domains_of(nodes)),
        acceptance=[c.id for c in draft.criteria if c.question is not None and c.question in questions],
        estimate=COMPUTING,
    )


def _merging_rows(draft: PlanDraft) -> str:
    return say("do_synthesise", draft.lang).replace("{{claims}}", "{{table}}")


def _numbered_title(key: str, own: Sequence[str], group: range, draft: PlanDraft) -> str:
    text = shorten(own[0] if len(own) == 1 else "; ".join(own), draft.lang)
    if len(own) == 1:
        return say(key, draft.lang, n=group.start + 1, text=text)
    return say(f"{key}s", draft.lang, n=group.start + 1, m=group.stop, text=text)


def _json(texts: Sequence[str]) -> list[JsonValue]:
    return list(texts)
