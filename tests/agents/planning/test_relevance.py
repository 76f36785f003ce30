"""Questions about something else require no domain of the notes, with the real embedder on the example notes."""

import json
from pathlib import Path

import pytest

from agents.models.embedders import CachedEmbedder, UseEmbedder
from agents.planning.catalogue import NotesRanker, note_outlines
from agents.planning.domains import DomainFinder
from agents.retrieval.library import DomainSections, NotesLibrary
from masks.domains import default_registry
from masks.leaks.calibration import shipped_calibration
from masks.leaks.labels import DomainLabeller

ROOT = Path(__file__).parents[3]
CASES = json.loads(
    (ROOT / "tests/agents/workers/embedded/answerability_cases.json").read_text(encoding="utf-8")
)
ELSEWHERE = {
    "en": (
        "What is the capital of France?",
        "Who won the world cup in 1998?",
        "What is the boiling point of ethanol?",
        "How do I bake a sourdough bread?",
        "Who wrote Hamlet?",
        "What is the offside rule in football?",
        "How many moons does Jupiter have?",
        "What is the plot of Don Quixote?",
        "How do vaccines work?",
        "When did the Roman Empire fall?",
        "Which key is Beethoven's ninth symphony in?",
        "How is a binary tree balanced?",
        "What is the GDP of Brazil?",
        "What is the grammar of the German dative?",
        "Who painted the Mona Lisa?",
    ),
    "zh": (
        "法国的首都是哪里？",
        "1998年世界杯谁夺冠？",
        "怎样烤面包？",
        "《红楼梦》的作者是谁？",
        "木星有几颗卫星？",
        "罗马帝国何时灭亡？",
        "二叉树如何平衡？",
        "巴西的国内生产总值是多少？",
        "越位规则是什么？",
        "贝多芬第九交响曲是什么调？",
    ),
}
OTHER_LANGUAGE = {
    "en": ("电池系统的造价是多少？", "消防安全方案由谁编写？", "夜间噪声限值是多少？"),
    "zh": ("What is the capacity of the wastewater plant?", "Who approves the confined space rules?"),
}


@pytest.fixture(scope="module")
def labeller() -> DomainLabeller:
    embedder = CachedEmbedder(UseEmbedder())
    return DomainLabeller(embedder, default_registry(), shipped_calibration(embedder.name))


@pytest.fixture(scope="module", params=["en", "zh"])
def notes(request: pytest.FixtureRequest, labeller: DomainLabeller) -> tuple[str, DomainFinder]:
    lang: str = request.param
    library = NotesLibrary.open(
        ROOT / CASES[lang]["notes"], embedder=labeller.embedder, labeller=DomainSections(labeller)
    )
    rank = NotesRanker(labeller, library)
    return lang, DomainFinder(rank=rank, registry=labeller.registry, outlines=note_outlines(library))


def test_a_question_about_something_else_requires_no_domain(notes: tuple[str, DomainFinder]) -> None:
    lang, finder = notes
    assert [question for question in ELSEWHERE[lang] if finder.of(question)] == []


def test_every_question_that_the_notes_answer_requires_one(notes: tuple[str, DomainFinder]) -> None:
    lang, finder = notes
    asked = [case["question"] for case in CASES[lang]["answerable"]]
    assert len(asked) > 30
    assert [question for question in asked if not finder.of(question)] == []


def test_so_does_a_question_in_the_other_language(notes: tuple[str, DomainFinder]) -> None:
    lang, finder = notes
    assert all(finder.of(question) for question in OTHER_LANGUAGE[lang])
