"""A Chinese goal from the first prompt to the log: whatever the program itself says of it is in Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage

from agents.models.langchain import LangChainChat
from agents.models.scripted import CallTools, Say, ScriptedChatModel
from agents.spec import ModelPolicy
from agents.tools.builtin.calculator import Calculate
from agents.tools.ports import Tool
from graphs.contract import Criterion, Goal, Lang, PortSpec, TaskContract
from orchestrator.core.events import AttemptProduced, CallReturned
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.reducer import apply, initial
from orchestrator.core.requests import Answer
from orchestrator.desk import answer
from orchestrator.interfaces.cli.progress.changes import Narrator
from tests.agents.tools.chinese import english
from tests.core.builders import A1, DATABASES, EMBEDDED, ROSTER, agent, plan, proposal, subtask
from tests.flows.outbox import SEND, Outbox, SendTool
from tests.flows.stage import NOTES, Stage, set_stage, written
from tests.interfaces.cli.harness import call

QUESTION = "数据库保留多少行？"
FACT = "数据库（database）保留 48210 行。"
NAMES = re.compile(
    r"^> .*$"  # data, line by line
    r"|\{\"expression"  # what the model wrote
    r"|^    \| .*$|^    \w+ = "  # what a tool of the test would do, and names of its arguments
    r"|maskgrad [^\n，；。）]*"  # what is typed
    r"|\bbob\b|\bcs\.databases\b|\bfin\.trading\b|\b(?:search_notes|read_note|read_result|calculate|send|fly|finish|scripted)\b"
    r"|\S*/\S*|[\w-]+\.md\b|\br-[\w-]+\b|\b\d+-[0-9a-f]{8}\b|\b(?:agent|UTC|[AVLEc]\d+|DATABASE)\b|\bdatabase\b",
    re.MULTILINE | re.ASCII,
)
"""What may be in another language: data, names, and what a person types."""


def left(text: str) -> list[tuple[str, str]]:
    """The words of English in `text`, each with its line."""
    return [(word, line) for line in NAMES.sub(" ", text).splitlines() for word in sorted(english(line))]


def draft() -> Proposal:
    """A model looks for the answer, code writes the report; everything that a person wrote is Chinese."""
    thinks = replace(
        agent("A1", {DATABASES: 90}, operations=("research", "report")),
        model_policy=ModelPolicy(kind="model", model="scripted:one"),
        responsibility="查找答案。",
    )
    search = replace(
        subtask("a", domains={DATABASES: 1.0}),
        kind="loop",
        title="查找行数",
        params={"questions": [QUESTION]},
    )
    report = replace(
        subtask("b", operation="report", domains={}),
        title="撰写报告",
        params={"title": "报告", "questions": [QUESTION]},
        outputs=(PortSpec(name="report", type="report"),),
    )
    contract = TaskContract(
        kind="research",
        acceptance=(Criterion(id="c1", text="已回答。", kind="question_answered", question=QUESTION),),
    )
    made = proposal(
        plan("a>b", a=search, b=report),
        roster=replace(ROSTER, agents=(thinks, *EMBEDDED.agents[1:])),
        contract=contract,
        lang="zh",
    )
    made = replace(made, goal=Goal(text=QUESTION, lang="zh"))
    return replace(made, grants={A1: ("search_notes", "read_note", "calculate", "send")})


LETTER = ("send", {"to": "bob", "text": "你好"})
SCRIPT = (
    # Two failures in a row: told to think again.
    CallTools(calls=(("read_note", {"source": "没有.md"}), ("calculate", {"expression": "1/0"}))),
    # Refused by the gate, malformed, cut off.
    CallTools(
        calls=(("fly", {"to": "月球"}), ("calculate", {"expression": 5}), ("calculate", '{"expression'))
    ),
    CallTools(calls=(("calculate", {"expression": "2 ** 99999"}),)),
    Say(text="没有工具"),
    CallTools(calls=(("finish", {"claims": [], "open_questions": [{"question": 9}]}),)),
    # A repeated action, and what may happen only after a person's word.
    CallTools(calls=(("calculate", {"expression": "1/0"}), LETTER)),
    CallTools(
        calls=(
            (
                "finish",
                {
                    "claims": [{"statement": FACT, "excerpts": ["E1"], "question": 1}],
                    "complete": True,
                    "open_questions": [],
                },
            ),
        )
    ),
)


@dataclass
class Told:
    """What a run showed to its model and shows to people."""

    stage: Stage
    run: RunId
    model: ScriptedChatModel
    views: dict[str, str]

    @property
    def messages(self) -> list[BaseMessage]:
        return [message for request in self.model.requests for message in request if message.type != "ai"]


@pytest.fixture
async def told(tmp_path: Path) -> Told:
    """The run: it rests for a person's word on the letter, who refuses it, and goes on to its end."""
    notes = written(tmp_path, {**NOTES, "storage.md": f"# 存储\n\n{FACT}\n"})
    letters = replace(
        SEND, purpose="寄信。", when_to_use="在测试中。", when_not_to_use="其他情形。", scope="测试"
    )
    tools: dict[str, Tool] = {"calculate": Calculate(), "send": SendTool(Outbox(), spec=letters)}
    model = ScriptedChatModel.in_order(*SCRIPT)
    stage = set_stage(notes, tools=tools)
    stage.shop.worker_for = None
    stage.shop.chat_for = lambda _: LangChainChat(model, "scripted")
    run = stage.approved(draft())
    held = await stage.execute(run)
    assert held.requests, [str(one.content) for one in model.requests[-1]]
    (request,) = held.requests.keys()
    views = {"held": _view(stage, "show", run)}
    answer(stage.shop, request, Answer(choice="refuse", guidance="不要寄信"), by="test")
    await stage.execute(run)
    views |= {name: _view(stage, name, run) for name in ("show", "replay")}
    return Told(stage, run, model, views)


def _view(stage: Stage, name: str, run: RunId) -> str:
    called = call(name, run, "--lang", "zh", home=stage.notes.folder, shop=stage.shop)
    assert called.code in (0, 3, 4), called.err
    return called.out + called.err


async def test_a_chinese_run_is_told_in_chinese_to_its_model_and_to_people(told: Told) -> None:
    said = "\n".join(str(message.content) for message in told.messages)
    # Everything that the script provokes was said at all.
    for words in (
        "没有 '没有.md'",
        "除数为零",
        "没有工具 'fly'",
        "`arguments.expression` 为 5",
        "连续两次调用失败",
        "纯文本不能结束任务",
        "`finish`：缺少 'complete'",
        "有人拒绝了对 'send' 的这次调用：“不要寄信”",
    ):
        assert words in said, words
    shown = [str(line).removeprefix("> ") for line in said.splitlines() if "DECISION" not in line]
    ours = [line for line in shown if not line.startswith("{") and FACT not in line]
    assert not left("\n".join(ours))
    for view, text in told.views.items():
        assert re.search("[\u4e00-\u9fff]", text), view
        assert not left(VALUE.sub(_words_of, text)), view
    assert sum("没有工具 'fly'" in sentence for sentence in sentences(told)) == 1
    assert any(sentence.endswith("scripted：提出工具调用") for sentence in sentences(told))
    for sentence in sentences(told):
        assert not left(sentence)


VALUE = re.compile(r"\b([a-z_]+)=(\"(?:[^\"\\]|\\.)*\"|\S*)", re.ASCII)
"""A key of a log line with its value: codes for programs, but for what is said to people."""


def _words_of(found: re.Match[str]) -> str:
    return str(found[2]).strip('"') if found[1] in ("said", "summary", "message") else " "


def sentences(told: Told, lang: Lang = "zh") -> list[str]:
    """What is said of each event, while the run goes on, to a reader in `lang`."""
    narrator, state = Narrator(lang), initial(told.run)
    found = []
    for event in told.stage.log(told.run):
        state = apply(state, event)
        found += [change.sentence for change in narrator.tell(event, state)]
    return found


async def test_the_tools_of_a_chinese_run_are_offered_in_chinese(told: Told) -> None:
    offers = [offer["function"] for options in told.model.options for offer in options.get("tools", ())]
    assert {"calculate", "finish", "read_note", "search_notes", "send"} <= {each["name"] for each in offers}
    for offer in offers:
        assert not left(offer["description"])
        for name, described in offer["parameters"].get("properties", {}).items():
            assert not left(described.get("description", "")), (offer["name"], name)


async def test_the_log_of_a_chinese_run_holds_codes_where_the_program_noted_something(told: Told) -> None:
    produced = told.stage.bodies(told.run, AttemptProduced)
    rounds = [one for body in produced for one in body.rounds]
    assert {one.why.partition(":")[0] for one in rounds} <= {"question", "model"}
    assert [note.kind for body in produced for note in body.notes if note.kind == "failures_in_a_row"]
    refused = [body for body in told.stage.bodies(told.run, CallReturned) if body.name == "fly"]
    # As recorded it is the same for every reader; the view says it in the reader's language.
    assert refused[0].summary.startswith("DECISION_INVALID: no tool 'fly'")
    assert any("no tool 'fly'" in sentence for sentence in sentences(told, "en"))
    assert "有人" not in "".join(sentences(told, "en"))
