"""What the help says, in both languages, per command: what it does, its arguments and options, an example.

The commands in `commands.py` carry no words: their help is looked up here by command path and parameter name.
`docs/cli.md` and `docs/cli.zh-CN.md` are written from the same texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

Both = tuple[str, str]
"""English and Chinese."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandHelp:
    """The texts of one command."""

    does: Both
    """One sentence."""
    more: Both = ("", "")
    """What else to know."""
    examples: tuple[str, ...] = ()
    parameters: Mapping[str, Both] = field(default_factory=dict)
    """By parameter name."""


_RUN: Final[Both] = ("the run, as `maskgrad runs` lists it", "运行标识，见 `maskgrad runs`")
_MEMORY: Final[Both] = ("the entry, as `maskgrad memory` lists it", "记忆标识，见 `maskgrad memory`")
_SOURCES: Final[Both] = (
    "folder of notes (Markdown and text) to work from",
    "资料文件夹（Markdown 与文本文件）",
)
_UNRESOLVED: Final[Both] = (
    "questions may stay open, with what was searched; else they make the result partial",
    "允许问题在说明检索过程后保持未解决；否则结果为部分完成",
)
_FORBID: Final[Both] = (
    "knowledge domain that no agent may use (id, name or alias); may be repeated",
    "任何 agent 都不得使用的知识域（标识、名称或别名）；可重复给出",
)
_PROFILE: Final[Both] = (
    "debug, evaluate or production: whether changes are refused, pretended or made after your approval; else "
    "MASKGRAD_PROFILE, else production",
    "debug、evaluate 或 production：改动被拒绝、只作模拟，或经您批准后执行；缺省为 MASKGRAD_PROFILE，"
    "再缺省为 production",
)
_MODEL: Final[Both] = (
    "chat model that agents think with, such as ollama:qwen3 or openai:gpt-5 (else MASKGRAD_MODEL); `embedded`: none",
    "agent 使用的聊天模型，如 ollama:qwen3 或 openai:gpt-5（缺省为 MASKGRAD_MODEL）；`embedded` 表示不用模型",
)
_PLANNER_MODEL: Final[Both] = (
    "chat model that plans (else MASKGRAD_PLANNER_MODEL, else that of the agents); `embedded`: planned by rules",
    "负责规划的聊天模型（缺省为 MASKGRAD_PLANNER_MODEL，再缺省为 agent 所用）；`embedded` 表示按规则规划",
)
_BASE_URL: Final[Both] = (
    "address of the models' server, if it is not the provider's own (else MASKGRAD_BASE_URL)",
    "模型服务器的地址，非提供商自有时给出（缺省为 MASKGRAD_BASE_URL）",
)
_DRY_RUN: Final[Both] = (
    "show changes and consequences, save nothing",
    "只显示改动与影响，不保存",
)

HELP: Final[Mapping[str, CommandHelp]] = {
    "": CommandHelp(
        does=(
            "From a goal to a checked report: plan, review, masked execution, verification, report.",
            "从目标到经核验的报告：计划、审核、带蒙版的执行、核验、报告。",
        ),
        more=(
            "A draft is a run in review. Nothing is executed before its revision is approved.",
            "草案是处于审核中的运行。修订版获批之前不会执行任何内容。",
        ),
        examples=(
            'maskgrad run "How much does the battery system cost?" --sources examples/notes-en --approve',
            'maskgrad plan "新线的通水日期是哪一天？" --sources examples/notes-zh',
            "maskgrad runs --json",
        ),
        parameters={"version": ("show the version and exit", "显示版本后退出")},
    ),
    "plan": CommandHelp(
        does=(
            "Draft a plan for a goal, with agents and masks, and put it up for review.",
            "为目标起草计划（含 agent 与蒙版），并提交审核。",
        ),
        more=(
            "With --from, the proposal of a YAML file (`maskgrad export RUN --format yaml`) becomes the revision "
            "under review, with its goal and its sources.",
            "使用 --from 时，YAML 文件中的方案（`maskgrad export RUN --format yaml`）连同其目标与资料成为待审修订版。",
        ),
        examples=(
            'maskgrad plan "How far apart must the battery containers stand?" --sources examples/notes-en',
            "maskgrad plan --from proposal.yaml",
        ),
        parameters={
            "goal": ("a question or a task, in English or Chinese", "问题或任务，中文或英文"),
            "sources": _SOURCES,
            "allow_unresolved": _UNRESOLVED,
            "forbid": _FORBID,
            "profile": _PROFILE,
            "model": _MODEL,
            "planner_model": _PLANNER_MODEL,
            "base_url": _BASE_URL,
            "template": (
                "delivered run whose changes in the review are taken over where they fit; what does not is listed",
                "已交付的运行；采用其审核时的改动中适用的部分，不适用的逐条列出",
            ),
            "file": ("YAML file with a proposal to take over", "要采用的方案 YAML 文件"),
        },
    ),
    "review": CommandHelp(
        does=(
            "Show the proposal of a run: what was understood, plan, agents, masks, coverage, envelope.",
            "显示运行的方案：对目标的理解、计划、agent、蒙版、覆盖情况、修复范围。",
        ),
        examples=("maskgrad review r-7k2m9d",),
        parameters={"run": _RUN},
    ),
    "clarify": CommandHelp(
        does=(
            "Decide a point that the goal leaves open; the goal is planned with it, as the next revision.",
            "就目标的一个待定点作出决定；按此重新规划，成为下一修订版。",
        ),
        more=(
            "`maskgrad review RUN` lists the points with their readings. Changes and consequences are shown. Edits "
            "that were made to the plan, the agents or the masks are not carried over: they show among the changes.",
            "`maskgrad review RUN` 列出各待定点及其选项。命令会显示改动与影响。此前对计划、agent 或蒙版所作的编辑不会"
            "沿用，会列在改动之中。",
        ),
        examples=(
            "maskgrad clarify r-7k2m9d a1 1",
            'maskgrad clarify r-7k2m9d a2 --text "cost, lifetime and safety"',
        ),
        parameters={
            "run": _RUN,
            "point": ("the open point, as the review names it", "待定点，见审核页"),
            "choice": ("number of the reading", "选项编号"),
            "text": ("your own words instead of a number", "不选编号，而用自己的话写明"),
            "planner_model": _PLANNER_MODEL,
            "dry_run": _DRY_RUN,
        },
    ),
    "edit": CommandHelp(
        does=(
            "Edit the proposal under review as YAML; the result is its next revision.",
            "以 YAML 编辑审核中的方案；结果成为下一修订版。",
        ),
        more=(
            "Opens $VISUAL or $EDITOR. The text is checked; changes and consequences are shown. A text with errors is "
            "kept in a file that is named, and --from goes on with it.",
            "打开 $VISUAL 或 $EDITOR。文本会被检查，并显示改动与影响。有误的文本会保存在所示文件中，可用 --from 继续。",
        ),
        examples=("maskgrad edit r-7k2m9d", "maskgrad edit r-7k2m9d --from proposal.yaml --dry-run"),
        parameters={
            "run": _RUN,
            "file": ("take the text from this file instead of an editor", "从此文件读取文本，而不打开编辑器"),
            "dry_run": _DRY_RUN,
        },
    ),
    "approve": CommandHelp(
        does=(
            "Approve exactly one revision of a proposal, named by run, revision and hash.",
            "批准方案的某一修订版，由运行、修订号与哈希共同指明。",
        ),
        examples=("maskgrad approve r-7k2m9d@1-bea967f5",),
        parameters={
            "token": (
                "ID@REV-HASH8, as `maskgrad review ID` ends",
                "ID@REV-HASH8，见 `maskgrad review ID` 末尾",
            )
        },
    ),
    "reject": CommandHelp(
        does=("Reject the proposal under review: the run ends.", "拒绝审核中的方案：运行结束。"),
        examples=('maskgrad reject r-7k2m9d --note "wrong folder"',),
        parameters={"run": _RUN, "note": ("why", "原因")},
    ),
    "request-changes": CommandHelp(
        does=(
            "Write down what should be different; the proposal stays in review.",
            "写下希望的改动；方案仍处于审核中。",
        ),
        more=("Text is never an approval.", "文字从不视为批准。"),
        examples=('maskgrad request-changes r-7k2m9d "leave out the insurance question"',),
        parameters={"run": _RUN, "note": ("what should be different", "希望的改动")},
    ),
    "run": CommandHelp(
        does=(
            "Draft, have approved and execute; or execute a run; or take over a proposal from a file.",
            "起草、送审并执行；或执行已有运行；或采用文件中的方案。",
        ),
        more=(
            "In a terminal the review is shown and a numbered choice is asked for. Without a terminal nothing is "
            "approved: the approve command is printed and the exit code is 3. A run that ended is shown again; with "
            "--again it becomes a new run with a copy of its approved proposal. Ctrl-C stops it so that it can be "
            "resumed. With --shadow the run is worked as without --model, and the model works on the same goal beside "
            "it: its changes are only pretended, its result is never delivered, its faults do not concern the run.",
            "在终端中会显示审核内容并请求按编号选择。没有终端时不会批准任何内容：打印批准命令，退出码为 3。"
            "已结束的运行只会再次显示其结果；加上 --again 才会以其已批准方案的副本新建运行并执行。"
            "Ctrl-C 会停止运行，之后可继续。使用 --shadow 时，运行本身不用 --model 的模型；该模型另行处理同一目标："
            "其改动只作模拟，结果从不交付，出错也不影响本运行。",
        ),
        examples=(
            'maskgrad run "How much does the battery system cost?" --sources examples/notes-en --approve',
            "maskgrad run r-7k2m9d",
            "maskgrad run r-7k2m9d --shadow --model openai:gpt-5-mini",
            "maskgrad run proposal.yaml",
        ),
        parameters={
            "what": ("a goal, the id of a run, or a YAML file", "目标、运行标识或 YAML 文件"),
            "sources": _SOURCES,
            "allow_unresolved": _UNRESOLVED,
            "forbid": _FORBID,
            "profile": _PROFILE,
            "model": _MODEL,
            "planner_model": _PLANNER_MODEL,
            "base_url": _BASE_URL,
            "approve": (
                "approve the proposal as it is drafted, without showing it first",
                "直接批准起草出的方案，不先展示",
            ),
            "again": (
                "execute a run that ended as a new run, with a copy of its approved proposal",
                "以其已批准方案的副本，将已结束的运行作为新运行再次执行",
            ),
            "shadow": (
                "let the model of --model work on the same goal beside the run, for comparison only",
                "让 --model 指定的模型在本运行之外处理同一目标，仅供对比",
            ),
        },
    ),
    "watch": CommandHelp(
        does=(
            "Follow a run that another process executes, until it rests.",
            "跟踪由其他进程执行的运行，直到它停下。",
        ),
        more=(
            "With --jsonl every event is printed as it is stored. Several runs are followed at once, until all rest; "
            "the exit code is that of the first one that is not completed.",
            "使用 --jsonl 时按存储的形式打印每个事件。可同时跟踪多个运行，直到全部停下；"
            "退出码为第一个未完成的运行的退出码。",
        ),
        examples=(
            "maskgrad watch r-7k2m9d",
            "maskgrad watch r-7k2m9d --jsonl --after 120",
            "maskgrad watch r-7k2m9d r-4p8x2c",
        ),
        parameters={
            "runs": (
                "one run or several, as `maskgrad runs` lists them",
                "一个或多个运行，见 `maskgrad runs`",
            ),
            "after": ("begin behind this event", "从此事件之后开始"),
        },
    ),
    "resume": CommandHelp(
        does=(
            "Go on with a run that was interrupted, paused or answered; nothing accepted runs again.",
            "继续被中断、暂停或已回答的运行；已接受的内容不会重跑。",
        ),
        examples=("maskgrad resume r-7k2m9d",),
        parameters={"run": _RUN},
    ),
    "answer": CommandHelp(
        does=(
            "Answer a request of a run with one of its choices; works from any process. `maskgrad show RUN` lists the "
            "commands, with the agents and domains that are possible.",
            "以给定选项之一回答运行的请求；可在任何进程中执行。`maskgrad show RUN` 列出命令及可选的 agent 与知识域。",
        ),
        examples=(
            "maskgrad answer r-7k2m9d.q1 retry --guidance 'use the table of costs'",
            "maskgrad answer r-7k2m9d.q1 set_mask --agent A1 --domain law.civil --value 0.40",
            "maskgrad answer r-7k2m9d.q2 refuse --guidance 'no letters before Friday'",
        ),
        parameters={
            "request": ("the request, as `maskgrad show RUN` lists it", "请求标识，见 `maskgrad show RUN`"),
            "choice": (
                "one of the choices of the request: retry, set_mask, reassign, accept, abandon or review; of a call "
                "that changes something: approve, refuse, happened, repeat or nothing",
                "该请求的选项之一：retry、set_mask、reassign、accept、abandon 或 review；"
                "会产生改动的调用则为 approve、refuse、happened、repeat 或 nothing",
            ),
            "guidance": (
                "what the agent is told in addition (retry), or why (refuse, abandon)",
                "附加说明（retry），或原因（refuse、abandon）",
            ),
            "agent": ("agent of the roster (reassign, set_mask)", "名册中的 agent（reassign、set_mask）"),
            "domain": ("knowledge domain (set_mask)", "知识域（set_mask）"),
            "value": ("mask value, -1.00 to 1.00 (set_mask)", "蒙版值，-1.00 到 1.00（set_mask）"),
        },
    ),
    "pause": CommandHelp(
        does=(
            "Ask the process that executes a run to start no further attempt; it then waits for `maskgrad resume`.",
            "请执行该运行的进程不再开始新的尝试；之后它会等待 `maskgrad resume`。",
        ),
        examples=("maskgrad pause r-7k2m9d",),
        parameters={"run": _RUN},
    ),
    "cancel": CommandHelp(
        does=(
            "Cancel a run for good; what was recorded stays readable.",
            "彻底取消运行；已记录的内容仍可查看。",
        ),
        examples=("maskgrad cancel r-7k2m9d",),
        parameters={"run": _RUN},
    ),
    "replay": CommandHelp(
        does=(
            "Fold the log of a run again, to its end or to one event; nothing is executed.",
            "重新折叠运行的事件记录，直到末尾或某一事件；不执行任何内容。",
        ),
        examples=("maskgrad replay r-7k2m9d --at 40",),
        parameters={"run": _RUN, "at": ("number of the last event to fold", "要折叠的最后一个事件的序号")},
    ),
    "compare": CommandHelp(
        does=(
            "Compare two runs: what they started from, where they first decided differently, what came of it.",
            "对照两个运行：起点是否相同、首个不同的决策、各自的结果。",
        ),
        more=(
            "Decisions are compared sub-task by sub-task: in what order sub-tasks take turns is chance. "
            "Nothing is executed. Runs that differ are no error: the exit code is 0, and --json says `equal`.",
            "决策按子任务逐一对照：子任务之间的先后顺序是偶然的。不执行任何内容。运行之间有差异不是错误："
            "退出码为 0，--json 中以 `equal` 表示。",
        ),
        examples=(
            "maskgrad compare r-7k2m9d r-4hq8wz",
            "maskgrad compare r-7k2m9d r-4hq8wz --json",
        ),
        parameters={"first": _RUN, "second": ("id of the other run", "另一个运行的标识")},
    ),
    "leaks": CommandHelp(
        does=(
            "List where agents used knowledge outside their masks, undeclared first.",
            "列出 agent 使用蒙版之外知识的位置，未声明的在前。",
        ),
        examples=("maskgrad leaks r-7k2m9d",),
        parameters={"run": _RUN},
    ),
    "evidence": CommandHelp(
        does=(
            "Show what each claim rests on: file, lines, exact quote, verdict, level.",
            "显示每条论断的依据：文件、行、原文、核验结论、级别。",
        ),
        examples=("maskgrad evidence r-7k2m9d", "maskgrad evidence r-7k2m9d n3"),
        parameters={"run": _RUN, "node": ("one sub-task; else all", "某个子任务；缺省为全部")},
    ),
    "runs": CommandHelp(
        does=("List runs, newest first.", "列出运行，最新的在前。"),
        examples=("maskgrad runs --limit 5",),
        parameters={"limit": ("at most so many", "最多列出的条数")},
    ),
    "show": CommandHelp(
        does=(
            "Show a run: state, sub-tasks, open requests, and its report if there is one.",
            "显示运行：状态、子任务、待答请求，以及报告（如有）。",
        ),
        more=(
            "Of more than 40 sub-tasks the states are counted and those that need a look are listed.",
            "子任务多于 40 个时，只统计各状态的数量，并列出需要留意的子任务。",
        ),
        examples=("maskgrad show r-7k2m9d", "maskgrad show r-7k2m9d --all"),
        parameters={"run": _RUN, "whole": ("list every sub-task and request", "列出全部子任务与请求")},
    ),
    "masks": CommandHelp(
        does=("Look at the masks of a run, or change one value.", "查看运行的蒙版，或修改一个值。"),
        examples=("maskgrad masks show r-7k2m9d", "maskgrad masks set r-7k2m9d A1 law.civil 0.50"),
    ),
    "masks show": CommandHelp(
        does=(
            "Show agents by knowledge domains, with bands and origins.",
            "按知识域显示各 agent 的蒙版、区间与来源。",
        ),
        examples=("maskgrad masks show r-7k2m9d",),
        parameters={"run": _RUN},
    ),
    "masks set": CommandHelp(
        does=(
            "Set one mask value of a proposal under review; the result is its next revision.",
            "设置审核中方案的一个蒙版值；结果成为下一修订版。",
        ),
        examples=("maskgrad masks set r-7k2m9d A1 law.civil 0.50", "maskgrad masks set r-7k2m9d A1 法律 -1"),
        parameters={
            "run": _RUN,
            "agent": ("agent of the roster", "名册中的 agent"),
            "domain": ("knowledge domain; a parent stands for its leaves", "知识域；上级域代表其所有下级"),
            "value": ("mask value, -1.00 to 1.00 in steps of 0.01", "蒙版值，-1.00 到 1.00，步长 0.01"),
            "dry_run": _DRY_RUN,
        },
    ),
    "domains": CommandHelp(
        does=(
            "Look up knowledge domains; without a command, list them.",
            "查询知识域；不带子命令时列出全部。",
        ),
        examples=("maskgrad domains", "maskgrad domains show 法律"),
    ),
    "domains list": CommandHelp(
        does=("List the knowledge domains as a tree.", "以树形列出知识域。"),
        examples=("maskgrad domains list --json",),
    ),
    "domains show": CommandHelp(
        does=(
            "Show one domain: names, aliases, description, key terms.",
            "显示一个知识域：名称、别名、说明、关键词。",
        ),
        examples=("maskgrad domains show cs.databases",),
        parameters={"domain": ("id, name or alias, in either language", "标识、名称或别名，中英文均可")},
    ),
    "memory": CommandHelp(
        does=(
            "Look at what is remembered over runs, add a preference, erase; without a command, list it.",
            "查看跨运行的记忆、添加偏好、擦除；不带子命令时列出全部。",
        ),
        more=(
            "Three kinds are kept: preferences that you add, solutions of completed runs, lessons of failures that a "
            "later success or a person confirmed. Nothing that a document or a model says becomes a preference.",
            "只保留三类：您添加的偏好、已完成运行的解决方案、经后续成功或用户确认的失败教训。"
            "文件或模型所说的内容不会成为偏好。",
        ),
        examples=("maskgrad memory", 'maskgrad memory add "Prefer tables to prose."'),
    ),
    "memory list": CommandHelp(
        does=("List what is remembered, newest first.", "列出记忆，最新的在前。"),
        examples=("maskgrad memory list --json",),
    ),
    "memory show": CommandHelp(
        does=(
            "Show one entry: its text, where it comes from, how often it was confirmed, until when it is kept.",
            "显示一条记忆：文字、来源、确认次数、保留期限。",
        ),
        examples=("maskgrad memory show m-4f2a91c0",),
        parameters={"entry": _MEMORY},
    ),
    "memory add": CommandHelp(
        does=("Remember a preference of yours, until you erase it.", "记住您的一项偏好，直至您将其擦除。"),
        more=(
            "Text that seems to hold a password, a key or a card number is refused.",
            "似乎含有密码、密钥或卡号的文字会被拒绝。",
        ),
        examples=('maskgrad memory add "Amounts in euros."', 'maskgrad memory add "请用中文书写报告。"'),
        parameters={"text": ("one or two sentences, at most 500 characters", "一两句话，至多 500 个字符")},
    ),
    "memory forget": CommandHelp(
        does=(
            "Erase one entry; its text is overwritten on the disk.",
            "擦除一条记忆；磁盘上的文字会被覆盖。",
        ),
        examples=("maskgrad memory forget m-4f2a91c0",),
        parameters={"entry": _MEMORY},
    ),
    "memory clear": CommandHelp(
        does=("Erase everything that is remembered.", "擦除全部记忆。"),
        examples=("maskgrad memory clear --yes",),
        parameters={"yes": ("really; without it, nothing is erased", "确认执行；缺省则不擦除任何内容")},
    ),
    "tools": CommandHelp(
        does=(
            "Look at the tools that tools.yaml allows, and trust MCP servers; without a command, list them.",
            "查看 tools.yaml 允许的工具，并信任 MCP 服务器；不带子命令时列出工具。",
        ),
        more=(
            "Agents with a model are granted the tools that the goal calls for, shown in the review. Without the file "
            "there is only `calculate`.",
            "使用模型的 agent 按目标获得所需工具的授权，审核时会显示。没有该文件时只有 `calculate`。",
        ),
        examples=("maskgrad tools", "maskgrad tools show read_file", "maskgrad tools trust pages"),
    ),
    "tools list": CommandHelp(
        does=(
            "List every configured tool: what it may do, and whether it can be used now.",
            "列出所有已配置的工具：可做什么、现在能否使用。",
        ),
        more=(
            "The MCP servers of the file are started or reached to see whether they answer.",
            "会启动或连接文件中的 MCP 服务器以检查其是否应答。",
        ),
        examples=("maskgrad tools list --json",),
    ),
    "tools show": CommandHelp(
        does=(
            "Show the contract of one tool: purpose, when to use it and when not, schemas, side effect, repetition, "
            "compensation.",
            "显示一个工具的合约：用途、何时使用与不使用、参数模式、副作用、可否重复、如何补救。",
        ),
        examples=("maskgrad tools show calculate",),
        parameters={"tool": ("the tool, as `maskgrad tools` lists it", "工具名称，见 `maskgrad tools`")},
    ),
    "tools trust": CommandHelp(
        does=(
            "Show what an MCP server says of its tools and how that differs from what you trust, and trust it.",
            "显示 MCP 服务器对其工具的说明及与已信任内容的差别，并予以信任。",
        ),
        more=(
            "Models see these texts, so a new or changed one is held until you trust it. At a terminal you are asked; "
            "elsewhere the command that trusts exactly what was shown is printed.",
            "模型会看到这些文字，因此新增或改动的内容在您信任之前会被搁置。在终端上会询问您；"
            "否则打印出恰好信任所示内容的命令。",
        ),
        examples=("maskgrad tools trust pages", "maskgrad tools trust pages --yes --seen 3f2a91c0"),
        parameters={
            "server": ("the server, as it is named in tools.yaml", "服务器，按 tools.yaml 中的名称"),
            "yes": ("trust what is shown without asking", "不再询问，信任所示内容"),
            "seen": (
                "trust only if it is still what was shown under this hash",
                "仅当内容与该哈希所示相同时才信任",
            ),
        },
    ),
    "export": CommandHelp(
        does=("Write a run to a file or to stdout.", "将运行写入文件或标准输出。"),
        more=(
            "md: the report; json: the report with every citation; jsonl: the events; mermaid: the plan as a chart; "
            "yaml: the proposal, to be edited and taken over with `plan --from`.",
            "md：报告；json：含全部引用的报告；jsonl：事件；mermaid：计划图；"
            "yaml：方案，可编辑后用 `plan --from` 采用。",
        ),
        examples=(
            "maskgrad export r-7k2m9d --format md -o report.md",
            "maskgrad export r-7k2m9d --format mermaid",
        ),
        parameters={
            "run": _RUN,
            "format_": ("md, json, jsonl, mermaid or yaml", "md、json、jsonl、mermaid 或 yaml"),
            "output": ("file to write; else stdout", "要写入的文件；缺省为标准输出"),
        },
    ),
    "models": CommandHelp(
        does=(
            "Show whether chat models may be asked, or switch them off and on for every process.",
            "显示是否可使用聊天模型，或为所有进程关闭与打开。",
        ),
        more=(
            "While they are off, whatever would think with a model is done by the embedded default, also in runs under "
            "way, from their next call. MASKGRAD_MODELS=off does the same for one process.",
            "关闭期间，本应使用模型的工作由内置方式完成；正在执行的运行从下一次调用起生效。"
            "MASKGRAD_MODELS=off 只对一个进程生效。",
        ),
        examples=("maskgrad models", "maskgrad models off", "maskgrad models on"),
        parameters={
            "action": ("status, off or on; else status", "status、off 或 on；缺省为 status"),
        },
    ),
    "doctor": CommandHelp(
        does=(
            "Check the installation: import names, Python, packages, embedder, domains, tools, store, locale.",
            "检查安装：导入名、Python、软件包、嵌入模型、知识域、工具、存储、区域设置。",
        ),
        examples=("maskgrad doctor", "maskgrad doctor --json"),
    ),
}

COMMON: Final[Mapping[str, Both]] = {
    "help": ("show this help and exit", "显示此帮助后退出"),
    "install_completion": ("install completion for the current shell", "为当前 shell 安装补全"),
    "show_completion": ("show the completion script for the current shell", "显示当前 shell 的补全脚本"),
}
"""Options that Typer adds."""

EVERYWHERE: Final[tuple[tuple[str, Both], ...]] = (
    (
        "--lang en|zh",
        ("language; else MASKGRAD_LANG, else the locale", "语言；缺省取 MASKGRAD_LANG，再取区域设置"),
    ),
    ("--json", ("the result as one JSON object, errors too", "以一个 JSON 对象输出结果，错误也是")),
    ("--jsonl", ("events as JSON lines, the result last", "以 JSON 行输出事件，最后一行为结果")),
    (
        "--display auto|live|plain|log|none",
        (
            "how progress is shown on stderr; else MASKGRAD_DISPLAY",
            "标准错误上的进度显示方式；缺省取 MASKGRAD_DISPLAY",
        ),
    ),
)
"""Options that may stand anywhere on every command line."""
