"""The main job over notes: answers from real corpora, cited, within a length budget, and gaps admitted.

`python -m benchmarks.job --data DIR` runs the embedded research worker over the questions of `faq_questions` with the
corpora `notes_en` and `notes_zh`, and over `rgb_zh_refine` for answerability. Beside it, on the same rows and at the
same length budget: the top five BM25 sections, and the same worker with a single look-up.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import bm25s
import rjieba
import snowballstemmer

from agents.evidence import Evidence
from agents.models.embedders import CachedEmbedder, UseEmbedder
from agents.results import WorkOutput, WorkResult
from agents.retrieval.index import section_terms_of
from agents.retrieval.library import NotesLibrary
from agents.retrieval.reading import Corpus, document_from_text
from agents.retrieval.tokens import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, terms
from agents.spec import AgentId, AgentSpec
from agents.tools.builtin.notes import NotesTools
from agents.tools.contract import ModelError, ModelReply, ModelRequest, ToolCall, ToolResult
from agents.workers.embedded.inquiry import ResearchLimits
from agents.workers.embedded.research import DEFAULT_BUDGET, ResearchWorker
from agents.workers.ports import WorkOrder
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
from graphs.contract import Lang
from graphs.plan import NodeId, SubTask
from masks.bands import Thresholds
from masks.vector import new_mask

CORPORA: Mapping[str, Lang] = {"notes_en": "en", "notes_zh": "zh"}
QUESTIONS = "faq_questions"
ANSWERABILITY = "rgb_zh_refine"
PASSAGES = 5
"""Passages given with each question of the answerability set."""
BM25_SECTIONS = 5
ONE_LOOK_UP = ResearchLimits(rounds=1)

_ANCHOR = re.compile(r"\[\^(c-[0-9a-f]+)\]")
_MARKER = re.compile(r"\[mask leak[^\]]*\]|\[蒙版泄漏[^\]]*\]")
_WORDS = re.compile(r"[\u3400-\u9fff]+|[A-Za-z0-9]+")
_stemmer = snowballstemmer.stemmer("english")


@dataclass(frozen=True, slots=True)
class LibraryBroker:
    """The smallest broker: calls the note tools, records nothing, has no model."""

    tools: NotesTools

    async def call_tool(self, call: ToolCall) -> ToolResult:
        """Return the tool's result."""
        return self.tools.call(call.tool, call.arguments)

    async def call_model(self, request: ModelRequest) -> ModelReply:
        """Return a refusal: the embedded worker never asks."""
        message = f"no model here for {request.purpose!r}"
        return ModelReply(outcome=ModelError(error_type="unavailable", message=message, retryable=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Citations:
    """What an independent look at the citations of one answer found."""

    sentences: int
    cited: int
    citations: int
    resolving: int


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    options = read_options("job", (__doc__ or "").splitlines()[0], argv)
    finish(run(options), options)


def run(options: Options) -> Report:
    """Return the figures of the sets asked for; a set that is not there is named in `missing`."""
    report = Report(benchmark="job", seed=options.seed)
    wanted = options.sets or (*CORPORA, ANSWERABILITY)
    for name in wanted:
        try:
            if name in CORPORA:
                measure_corpus(name, options, report)
            elif name == ANSWERABILITY:
                measure_answerability(options, report)
            else:
                known = ", ".join((*CORPORA, ANSWERABILITY))
                report.missing[name] = f"unknown set {name!r}; accepted: {known}"
        except DataMissing as error:
            report.missing[name] = str(error)
    return report


def answer_question(
    question: str, library: NotesLibrary, lang: Lang, limits: ResearchLimits | None = None
) -> WorkResult:
    """Return the worker's result on one question: the one place through which the benchmark reaches the product."""
    subtask = SubTask(
        id=NodeId("n1"),
        title=question[:80],
        kind="loop",
        operation="research",
        params={"questions": [question]},
    )
    agent = AgentSpec(
        id=AgentId("A1"),
        responsibility="research",
        role="generate",
        operations=("research",),
        mask=new_mask("A1"),
        tools=("search_notes", "read_note"),
    )
    order = WorkOrder(
        subtask=subtask, agent=agent, thresholds=Thresholds(), path=1, lang=lang, params=subtask.params
    )
    worker = ResearchWorker(limits or ResearchLimits())
    return asyncio.run(worker.work(order, LibraryBroker(NotesTools(library))))


def measure_corpus(name: str, options: Options, report: Report) -> None:
    """Add the figures of one corpus to `report`."""
    lang = CORPORA[name]
    texts = {row["path"]: row["text"] for row in rows_of(options.data, f"{name}.docs")}
    asked = [row for row in rows_of(options.data, QUESTIONS) if row["lang"] == lang][: options.limit]
    library = library_of(texts)
    started = time.perf_counter()
    library.search("warm up", 1)
    progress(f"{name}: {len(texts)} documents indexed in {time.perf_counter() - started:.1f} s")
    floor = Bm25Floor(library)
    recall: dict[str, list[float]] = {"ours": [], "one": [], "bm25": []}
    seconds: list[float] = []
    looked: list[Citations] = []
    still_open = 0
    for row in asked:
        reference = content_words(row["reference_answer"])
        started = time.perf_counter()
        result = answer_question(row["question"], library, lang)
        seconds.append(time.perf_counter() - started)
        looked.append(check_citations(result.output, texts))
        still_open += bool(result.output.open_questions)
        once = answer_question(row["question"], library, lang, ONE_LOOK_UP)
        recall["ours"].append(term_recall(reference, answer_text(result.output), lang))
        recall["one"].append(term_recall(reference, answer_text(once.output), lang))
        recall["bm25"].append(term_recall(reference, floor.answer(row["question"], lang), lang))
    _add_corpus(name, report, recall, seconds, looked, still_open)


def _add_corpus(
    name: str,
    report: Report,
    recall: Mapping[str, Sequence[float]],
    seconds: Sequence[float],
    looked: Sequence[Citations],
    still_open: int,
) -> None:
    seed, key = report.seed, f"{name}.answer_term_recall"
    sentences, citations = sum(one.sentences for one in looked), sum(one.citations for one in looked)
    if sentences:
        report.figures[f"{name}.sentences_cited"] = rate(
            sum(one.cited for one in looked), sentences, "share of sentences"
        )
        report.figures[f"{name}.citations_resolve"] = rate(
            sum(one.resolving for one in looked), citations, "share of citations"
        )
    else:
        report.missing[f"{name}.sentences_cited"] = "no question was answered"
    report.figures[key] = mean(recall["ours"], "share of content words", seed)
    report.figures[f"{name}.open_questions"] = rate(still_open, len(looked), "share of questions")
    report.figures[f"{name}.seconds_per_question"] = mean(seconds, "s", seed)
    report.beside[f"{key}.bm25_top5"] = mean(recall["bm25"], "share of content words", seed)
    report.beside[f"{key}.one_look_up"] = mean(recall["one"], "share of content words", seed)
    unit = "paired difference"
    report.beside[f"{key}.minus_bm25_top5"] = difference(recall["ours"], recall["bm25"], unit, seed)
    report.beside[f"{key}.minus_one_look_up"] = difference(recall["ours"], recall["one"], unit, seed)


def measure_answerability(options: Options, report: Report) -> None:
    """Add how often an unanswerable question is left open, and an answerable one answered with the gold string."""
    rows = rows_of(options.data, ANSWERABILITY, options.limit)
    embedder = CachedEmbedder(UseEmbedder())
    refused = answered = tried = 0
    for row in rows:
        negative = answer_question(row["question"], _passages(row["negative"], embedder), "zh")
        positive = answer_question(row["question"], _passages(row["positive"], embedder), "zh")
        refused += bool(negative.output.open_questions)
        tried += not positive.output.open_questions
        answered += has_gold(answer_text(positive.output), row["answer"])
    report.figures["rgb_zh.unanswerable_said_so"] = rate(refused, len(rows), "share of questions")
    report.figures["rgb_zh.answered"] = rate(answered, len(rows), "share of questions")
    report.beside["rgb_zh.answered.tried"] = rate(tried, len(rows), "share of questions")


def library_of(texts: Mapping[str, str]) -> NotesLibrary:
    """Return a library over texts by path."""
    documents = tuple(document_from_text(path, text) for path, text in texts.items())
    return NotesLibrary(Corpus(documents=documents), embedder=UseEmbedder())


def _passages(texts: Sequence[str], embedder: CachedEmbedder) -> NotesLibrary:
    named = {f"{position}.txt": text for position, text in enumerate(texts[:PASSAGES])}
    documents = tuple(document_from_text(path, text) for path, text in named.items())
    return NotesLibrary(Corpus(documents=documents), embedder=embedder)


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


def answer_text(output: WorkOutput) -> str:
    """Return the sentences of the answers, without anchors and markers, cut at nothing."""
    return "\n".join(_bare(line) for line in answer_lines(output))


def answer_lines(output: WorkOutput) -> list[str]:
    """Return the lines that answer: those in the sections titled with a question that a claim names."""
    titles = {_squeezed(claim.question or "") for claim in output.claims}
    lines: list[str] = []
    inside = False
    for line in output.text.splitlines():
        if line.startswith("#"):
            inside = _squeezed(line.lstrip("# ")) in titles
        elif inside and line.strip():
            lines.append(line)
    return lines


def check_citations(output: WorkOutput, texts: Mapping[str, str]) -> Citations:
    """Look at every sentence and citation again, with nothing but the output and the notes' own text."""
    lines = answer_lines(output)
    claims = {claim.id: claim for claim in output.claims}
    evidence = {piece.id: piece for piece in output.evidence}
    uris = {source.id: source.uri for source in output.sources}
    cited = citations = resolving = 0
    for line in lines:
        named = [claims.get(anchor) for anchor in _ANCHOR.findall(line)]
        words = _squeezed(_bare(line))
        cited += any(claim is not None and _squeezed(claim.statement) == words for claim in named)
    for claim in claims.values():
        citations += not claim.evidence
        for key in claim.evidence:
            citations += 1
            piece = evidence.get(key)
            resolving += piece is not None and _resolves(
                piece, claim.statement, texts.get(uris.get(piece.source) or "")
            )
    return Citations(sentences=len(lines), cited=cited, citations=citations, resolving=resolving)


def _resolves(piece: Evidence, statement: str, text: str | None) -> bool:
    if text is None:
        return False
    span = piece.locator
    lines = re.split(r"\r\n|\n|\r", text)
    stretch = "\n".join(lines[span.start_line - 1 : span.end_line])
    return (
        text[span.start_char : span.end_char] == piece.text == statement
        and sha256(piece.text.encode("utf-8")).hexdigest() == piece.excerpt_sha256
        and re.sub(r"\r\n|\r", "\n", piece.text) in stretch
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
    text = _squeezed(answer)
    parts = [[part] if isinstance(part, str) else part for part in gold]
    return bool(text) and all(any(_squeezed(spelling) in text for spelling in part) for part in parts)


def _bare(line: str) -> str:
    return _MARKER.sub("", _ANCHOR.sub("", line)).removeprefix("- ").strip()


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).casefold()


if __name__ == "__main__":
    main()
