"""The main job over notes: answers from real corpora, cited, within a length budget, and gaps admitted.

`python -m benchmarks.job --data DIR` carries out whole jobs, from the goal to the delivered report: one for each
question of `faq_questions` over the corpora `notes_en` and `notes_zh`, and two for each question of `rgb_zh_refine`
for answerability. Beside it, on the same rows and at the same length budget: the top five BM25 sections, and the same
jobs with a single look-up per question.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bm25s
import rjieba
import snowballstemmer

from agents.retrieval.index import section_terms_of
from agents.retrieval.library import NotesLibrary
from agents.retrieval.tokens import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, terms
from agents.workers.embedded.inquiry import ResearchLimits
from agents.workers.embedded.research import DEFAULT_BUDGET
from benchmarks.contract import (
    DataMissing,
    Options,
    Report,
    difference,
    finish,
    mean,
    progress,
    rate,
    read_options,
    rows_of,
)
from benchmarks.delivered import Citations, answer_text, check_citations, squeezed
from benchmarks.product import Job, WorkshopOf, benchmark_workshop, do_job, write_notes
from graphs.contract import Lang
from orchestrator.shell.wiring import Workshop

CORPORA: Mapping[str, Lang] = {"notes_en": "en", "notes_zh": "zh"}
QUESTIONS = "faq_questions"
ANSWERABILITY = "rgb_zh_refine"
PASSAGES = 5
"""Passages given with each question of the answerability set."""
BM25_SECTIONS = 5
ONE_LOOK_UP = ResearchLimits(rounds=1)

_WORDS = re.compile(r"[\u3400-\u9fff]+|[A-Za-z0-9]+")
_stemmer = snowballstemmer.stemmer("english")


@dataclass(slots=True)
class CorpusRows:
    """What was measured on the questions of one corpus, row by row."""

    ours: list[float] = field(default_factory=list)
    """Recall of the reference's terms by the delivered report."""
    one: list[float] = field(default_factory=list)
    """The same with a single look-up."""
    bm25: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Of a whole job, index and labels being there."""
    cpu: list[float] = field(default_factory=list)
    """The same in processor time: a busy machine stretches the other."""
    citations: list[Citations] = field(default_factory=list)
    answered: int = 0
    delivered: int = 0
    completed: int = 0
    leaking: int = 0
    """Jobs with at least one leak."""
    split: int = 0
    """Goals in which the planner read several questions."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    options = read_options("job", (__doc__ or "").splitlines()[0], argv)
    finish(run(options), options)


def run(options: Options, workshop_of: WorkshopOf = benchmark_workshop) -> Report:
    """Return the figures of the sets asked for; a set that is not there is named in `missing`."""
    report = Report(benchmark="job", seed=options.seed)
    wanted = options.sets or (*CORPORA, ANSWERABILITY)
    for name in wanted:
        try:
            if name in CORPORA:
                measure_corpus(name, options, report, workshop_of)
            elif name == ANSWERABILITY:
                measure_answerability(options, report, workshop_of)
            else:
                known = ", ".join((*CORPORA, ANSWERABILITY))
                report.missing[name] = f"unknown set {name!r}; accepted: {known}"
        except DataMissing as error:
            report.missing[name] = str(error)
    return report


def measure_corpus(name: str, options: Options, report: Report, workshop_of: WorkshopOf) -> None:
    """Add the figures of one corpus to `report`."""
    lang = CORPORA[name]
    texts = {str(row["path"]): str(row["text"]) for row in rows_of(options.data, f"{name}.docs")}
    asked = [row for row in rows_of(options.data, QUESTIONS) if row["lang"] == lang][: options.limit]
    with tempfile.TemporaryDirectory(prefix="maskgrad-job-") as home:
        folder = Path(home) / name
        write_notes(folder, texts)
        shop = workshop_of(Path(home), lang, options.seed)
        started = time.perf_counter()
        do_job(shop, asked[0]["question"], folder, lang)
        first = time.perf_counter() - started
        progress(f"{name}: first job, with index and labels of the notes, in {first:.1f} s")
        rows = _ask_all(name, asked, folder, lang, shop)
    report.beside[f"{name}.seconds_of_first_job"] = mean([first], "s", options.seed)
    _add_corpus(name, report, rows)


def _ask_all(
    name: str, asked: Sequence[Mapping[str, Any]], folder: Path, lang: Lang, shop: Workshop
) -> CorpusRows:
    floor = Bm25Floor(shop.library(folder))
    rows = CorpusRows()
    for number, row in enumerate(asked, start=1):
        reference = content_words(row["reference_answer"])
        started, cpu = time.perf_counter(), time.process_time()
        job = do_job(shop, row["question"], folder, lang)
        rows.seconds.append(time.perf_counter() - started)
        rows.cpu.append(time.process_time() - cpu)
        once = do_job(shop, row["question"], folder, lang, ONE_LOOK_UP)
        rows.ours.append(term_recall(reference, text_of(job), lang))
        rows.one.append(term_recall(reference, text_of(once), lang))
        rows.bm25.append(term_recall(reference, floor.answer(row["question"], lang), lang))
        _count(job, folder, rows)
        if number % 25 == 0:
            progress(f"{name}: {number} of {len(asked)} questions")
    return rows


def _count(job: Job, folder: Path, rows: CorpusRows) -> None:
    rows.answered += job.answered
    rows.split += len(job.questions) > 1
    rows.completed += job.state.status == "completed"
    if job.report is not None:
        rows.delivered += 1
        rows.leaking += bool(job.report.leaks)
        rows.citations.append(check_citations(job.report, folder))


def _add_corpus(name: str, report: Report, rows: CorpusRows) -> None:
    seed, key, asked = report.seed, f"{name}.answer_term_recall", len(rows.ours)
    sentences = sum(one.sentences for one in rows.citations)
    citations = sum(one.citations for one in rows.citations)
    if sentences:
        report.figures[f"{name}.sentences_cited"] = rate(
            sum(one.cited for one in rows.citations), sentences, "share of sentences"
        )
        report.figures[f"{name}.citations_resolve"] = rate(
            sum(one.resolving for one in rows.citations), citations, "share of citations"
        )
    else:
        report.missing[f"{name}.sentences_cited"] = "no question was answered"
        report.missing[f"{name}.citations_resolve"] = "no question was answered"
    report.figures[key] = mean(rows.ours, "share of content words", seed)
    report.figures[f"{name}.open_questions"] = rate(asked - rows.answered, asked, "share of questions")
    report.figures[f"{name}.seconds_per_question"] = mean(rows.seconds, "s", seed)
    report.beside[f"{name}.cpu_seconds_per_question"] = mean(rows.cpu, "s", seed)
    for what, count in (
        ("delivered", rows.delivered),
        ("completed", rows.completed),
        ("jobs_with_leaks", rows.leaking),
        ("goals_read_as_several_questions", rows.split),
    ):
        report.beside[f"{name}.{what}"] = rate(count, asked, "share of jobs")
    report.beside[f"{key}.bm25_top5"] = mean(rows.bm25, "share of content words", seed)
    report.beside[f"{key}.one_look_up"] = mean(rows.one, "share of content words", seed)
    unit = "paired difference"
    report.beside[f"{key}.minus_bm25_top5"] = difference(rows.ours, rows.bm25, unit, seed)
    report.beside[f"{key}.minus_one_look_up"] = difference(rows.ours, rows.one, unit, seed)


def measure_answerability(options: Options, report: Report, workshop_of: WorkshopOf) -> None:
    """Add how often an unanswerable question is left open, and an answerable one answered with the gold string."""
    rows = rows_of(options.data, ANSWERABILITY, options.limit)
    refused = answered = tried = 0
    seconds: list[float] = []
    with tempfile.TemporaryDirectory(prefix="maskgrad-job-") as home:
        shop = workshop_of(Path(home), "zh", options.seed)
        folder = Path(home) / "passages"
        for number, row in enumerate(rows, start=1):
            started = time.perf_counter()
            write_notes(folder, _passages(row["negative"]))
            refused += do_job(shop, row["question"], folder, "zh").left_open
            write_notes(folder, _passages(row["positive"]))
            positive = do_job(shop, row["question"], folder, "zh")
            seconds.append((time.perf_counter() - started) / 2)
            tried += positive.answered
            answered += has_gold(text_of(positive), row["answer"])
            if number % 25 == 0:
                progress(f"{ANSWERABILITY}: {number} of {len(rows)} questions")
    report.figures["rgb_zh.unanswerable_said_so"] = rate(refused, len(rows), "share of questions")
    report.figures["rgb_zh.answered"] = rate(answered, len(rows), "share of questions")
    report.beside["rgb_zh.answered.tried"] = rate(tried, len(rows), "share of questions")
    report.beside["rgb_zh.seconds_per_job"] = mean(seconds, "s", report.seed)


def _passages(texts: Sequence[str]) -> Mapping[str, str]:
    return {f"{position}.txt": text for position, text in enumerate(texts[:PASSAGES])}


def text_of(job: Job) -> str:
    """Return what the delivered report says, without anchors; empty if there is none."""
    return answer_text(job.report) if job.report is not None else ""


class Bm25Floor:
    """The top BM25 sections, concatenated and cut at the length budget: what a plain look-up would show."""

    def __init__(self, library: NotesLibrary) -> None:
        self._entries = library.index.entries
        self._model = bm25s.BM25(method="lucene")
        self._model.index([list(section_terms_of(entry)) for entry in self._entries], show_progress=False)

    def answer(self, question: str, lang: Lang) -> str:
        """Return at most the budget's words or characters."""
        known = [term for term in terms(question) if term in self._model.vocab_dict]
        if not known:
            return ""
        scores = self._model.get_scores(known)
        best = sorted(range(len(scores)), key=lambda i: -scores[i])[:BM25_SECTIONS]
        found = [self._entries[i] for i in best if scores[i] > 0]
        text = "\n".join(e.document.text[e.section.start_char : e.section.end_char] for e in found)
        return (
            " ".join(text.split()[: DEFAULT_BUDGET["en"]]) if lang == "en" else text[: DEFAULT_BUDGET["zh"]]
        )


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text: English stemmed, Chinese as jieba cuts it, stop words left out."""
    found: set[str] = set()
    for run in _WORDS.findall(text):
        if "\u3400" <= run[0] <= "\u9fff":
            found.update(word for word in rjieba.cut(run) if word not in CHINESE_STOP_WORDS)
        elif run.lower() not in ENGLISH_STOP_WORDS:
            found.add(_stemmer.stemWord(run.lower()))
    return frozenset(found)


def term_recall(reference: frozenset[str], answer: str, lang: Lang) -> float:
    """Return the share of the reference's content words in the answer, cut at the length budget."""
    cut = " ".join(answer.split()[: DEFAULT_BUDGET["en"]]) if lang == "en" else answer[: DEFAULT_BUDGET["zh"]]
    return len(reference & content_words(cut)) / len(reference) if reference else 0.0


def has_gold(answer: str, gold: Sequence[str | Sequence[str]]) -> bool:
    """Return whether every part of the gold answer, in one of its spellings, stands in the answer."""
    text = squeezed(answer)
    parts = [[part] if isinstance(part, str) else part for part in gold]
    return bool(text) and all(any(squeezed(spelling) in text for spelling in part) for part in parts)


if __name__ == "__main__":
    main()
