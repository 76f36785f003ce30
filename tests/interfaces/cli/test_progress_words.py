"""Every code that an event names is said in words to people, in both languages; a log line keeps the code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from agents.models.contract import ModelErrorType, ModelOutcome
from agents.retrieval.reading import SkipReason as FileReason
from graphs.plan import NodeId
from orchestrator.core.backtrack import BacktrackLevel, Repair
from orchestrator.core.blockage import FailureKind
from orchestrator.core.events import (
    AttemptFailed,
    Backtracked,
    BlockageClassified,
    Body,
    Event,
    ExecutorTookOver,
    NodesSkipped,
    RequestAnswered,
    RunEnded,
    SkippedFile,
    SkipReason,
    SourcesRead,
)
from orchestrator.core.ids import RequestId
from orchestrator.core.requests import Answer
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.interfaces.cli.progress.change import Change
from orchestrator.interfaces.cli.progress.changes import Narrator
from orchestrator.interfaces.cli.progress.wording import (
    DECIDED_BY,
    FAILURES,
    GIVEN_UP,
    LEVELS,
    MODEL_ERRORS,
    MODEL_OUTCOMES,
    NOT_READ,
    outcome_words,
    repair_kind_words,
)
from tests.core import builders
from tests.core.simulation import RUN
from tests.interfaces.cli.harness import call, store_log
from tests.interfaces.cli.logs import backtracked_log

CHINESE = re.compile("[\u4e00-\u9fff]")
NAMES = re.compile(r"[\w.-]+\.md|\b([abAV]\d?|[ABCD]|q\d|r-[\w.]+|agent|n\d)\b")


def told(body: Body, lang: Lang) -> tuple[Change, ...]:
    return Narrator(lang).tell(Event(seq=1, ts="2026-01-01T00:00:00.000Z", body=body), RunState(run=RUN))


@pytest.mark.parametrize(
    ("table", "codes"),
    [
        (FAILURES, get_args(FailureKind)),
        (GIVEN_UP, get_args(SkipReason)),
        (NOT_READ, get_args(FileReason)),
        (LEVELS, tuple(BacktrackLevel)),
        (DECIDED_BY, ("controller", "person")),
        (MODEL_ERRORS, get_args(ModelErrorType)),
        (MODEL_OUTCOMES, [get_args(get_type_hints(each)["kind"])[0] for each in get_args(ModelOutcome)]),
    ],
    ids=["failures", "given up", "not read", "levels", "decided by", "model errors", "model outcomes"],
)
def test_no_code_is_without_words(table: Mapping[str, tuple[str, str]], codes: Iterable[str]) -> None:
    assert set(table) == set(codes)
    for english, chinese in table.values():
        assert not CHINESE.search(english)
        assert "_" not in english
        assert CHINESE.search(chinese)


BODIES: tuple[Body, ...] = (
    NodesSkipped(nodes=(NodeId("a"), NodeId("b")), reason="limit", detail=""),
    SourcesRead(digest="0" * 64, documents=2, skipped=(SkippedFile(uri="x.md", reason="unknown_encoding"),)),
    AttemptFailed(
        node=NodeId("a"),
        generation=1,
        attempt=1,
        failure=replace(builders.failure("rate_limited"), message=""),
    ),
    RequestAnswered(request=RequestId("q1"), node=NodeId("a"), answer=Answer(choice="abandon"), by="x"),
    RunEnded(outcome="partial"),
    ExecutorTookOver(epoch=1, holder="vm:12362@place/88"),
    ExecutorTookOver(epoch=2, holder="vm:12362@place/88"),
)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{body.type}")
def test_people_read_words_and_no_codes(body: Body) -> None:
    for change in told(body, "zh"):
        assert CHINESE.search(change.sentence)
        assert not re.findall("[A-Za-z_]{2,}", NAMES.sub(" ", change.sentence)), change.sentence
    for change in told(body, "en"):
        assert not CHINESE.search(change.sentence)
        assert "_" not in change.sentence


def test_a_log_line_keeps_the_code_and_no_line_names_the_process() -> None:
    (first, second) = told(BODIES[1], "zh")
    assert dict(first.fields)["skipped"] == 1
    assert dict(second.fields)["reason"] == "unknown_encoding"
    (started,) = told(BODIES[-1], "en")
    assert dict(started.fields) == {"run": "running", "epoch": 2}
    assert "vm" not in started.sentence


def test_the_files_read_and_those_not_read_add_up() -> None:
    assert [told(BODIES[1], lang)[0].sentence for lang in ("en", "zh")] == [
        "2 documents read, 1 not read",
        "已读取 2 份文档，1 份未读取",
    ]


def test_classes_and_backtracks_are_told_in_the_readers_language() -> None:
    narrator = Narrator("zh")
    state = RunState(run=RUN)
    shown = []
    for event in backtracked_log():
        if isinstance(event.body, BlockageClassified | Backtracked):
            shown += [change.sentence for change in narrator.tell(event, state)]
    assert len(shown) == 2
    for sentence in shown:
        assert CHINESE.search(sentence)
        assert not re.findall("[A-Za-z_]{2,}", NAMES.sub(" ", sentence)), sentence


def test_every_end_and_repair_of_the_table_of_attempts_has_words_in_both_languages() -> None:
    ends = [*get_args(FailureKind), "verified", "cancelled", "given_up", "superseded"]
    kinds = [each.__dataclass_fields__["kind"].default for each in get_args(Repair)]
    for word, codes in ((outcome_words, ends), (repair_kind_words, kinds)):
        for code in codes:
            assert word(code, "en") not in (code, "") or code == "accepted"
            assert not word(code, "zh").isascii()
    # The log of another version may name what this one does not know.
    assert (outcome_words("odd", "zh"), repair_kind_words("odd", "zh")) == ("odd", "odd")


def test_lines_for_a_chinese_reader_say_the_sentence_too(tmp_path: Path) -> None:
    run = store_log(tmp_path, "r-test", backtracked_log())
    english = call("watch", run, "--display", "plain", home=tmp_path).err
    chinese = call("watch", run, "--display", "plain", "--lang", "zh", home=tmp_path).err
    assert "said=" not in english
    lines = [line for line in chinese.splitlines() if line.startswith(("node=", "run="))]
    assert lines
    assert all(" said=" in line for line in lines)
