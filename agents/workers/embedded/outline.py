"""Draft the outline of a document: headings, and under each the material that the notes give for it."""

from __future__ import annotations

from agents.results import WorkResult
from agents.workers.embedded.answering import Answer, answers_to, texts_of
from agents.workers.embedded.carried import Carried, carry, output_of
from agents.workers.embedded.merging import Statement
from agents.workers.embedded.wording import PHRASES, Phrases
from agents.workers.embedded.writing import heading, items, open_list, page
from agents.workers.ports import WorkOrder


def outline(order: WorkOrder) -> WorkResult:
    """Return a numbered outline under `params["title"]`, with the inputs' claims as cited material.

    Main headings are the questions or topics of the claims, in the order of `params["questions"]` where given;
    sub-headings are the notes that the material stands in, so that who writes the document sees what is there.
    """
    phrases = PHRASES[order.lang]
    carried = carry(order.inputs)
    answers = answers_to(texts_of(order.params, "questions"), carried)
    title = next(iter(texts_of(order.params, "title")), phrases.outline)
    parts = [
        _part(number, answer, carried, phrases) for number, answer in enumerate(answers.answers, start=1)
    ]
    output = output_of(
        carried,
        page([heading(1, title), *parts, open_list(answers.open_questions, phrases)]),
        answers.claims,
        open_questions=answers.open_questions,
        conflicts=answers.conflicts,
    )
    return WorkResult(
        output=output, candidate_complete=bool(output.claims), mode="extractive", path=order.path
    )


def _part(number: int, answer: Answer, carried: Carried, phrases: Phrases) -> str:
    by_note: dict[str, list[Statement]] = {}
    for statement in answer.statements:
        by_note.setdefault(_note(statement, carried), []).append(statement)
    sections = [
        page([heading(3, f"{number}.{place} {note}" if note else f"{number}.{place}"), items(statements)])
        for place, (note, statements) in enumerate(by_note.items(), start=1)
    ]
    name = answer.question or phrases.from_the_notes
    empty = "" if answer.statements else phrases.not_in_the_notes
    return page([heading(2, f"{number}. {name}"), empty, *sections])


def _note(statement: Statement, carried: Carried) -> str:
    pieces = [carried.evidence.get(piece) for piece in statement.shown.evidence]
    sources = [carried.sources.get(piece.source) for piece in pieces if piece]
    return next((source.title for source in sources if source), "")
