"""Declare the commands: names, arguments, options. What each does is in `bodies`, what its help says in `help_texts`.

Every value is taken as text and read by the body, so that a wrong one is refused in the reader's language with what is
accepted. Bodies are imported when they are called (see `opening` for the reason).
"""

# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

import typer

from orchestrator.interfaces.cli.completion import (
    complete_domains,
    complete_memories,
    complete_requests,
    complete_runs,
    complete_servers,
)
from orchestrator.interfaces.cli.help_page import CommandPage, GroupPage
from orchestrator.interfaces.cli.session import perform, session_of

NEGATIVE_NUMBERS: Final = {"ignore_unknown_options": True}
"""Lets `-1` be a mask value instead of an option."""

Run = Annotated[str, typer.Argument(metavar="RUN", autocompletion=complete_runs)]
Sources = Annotated[list[str] | None, typer.Option("--sources", "-s", metavar="DIR")]
Unresolved = Annotated[bool, typer.Option("--allow-unresolved")]
Forbid = Annotated[
    list[str] | None, typer.Option("--forbid", metavar="DOMAIN", autocompletion=complete_domains)
]
File = Annotated[str | None, typer.Option("--from", metavar="FILE")]
Entry = Annotated[str, typer.Argument(metavar="ID", autocompletion=complete_memories)]
Model = Annotated[str, typer.Option("--model", "-m", metavar="PROVIDER:MODEL")]
PlannerModel = Annotated[str, typer.Option("--planner-model", metavar="PROVIDER:MODEL")]
BaseUrl = Annotated[str, typer.Option("--base-url", metavar="URL")]
Profile = Annotated[str, typer.Option("--profile", metavar="NAME")]
DryRun = Annotated[bool, typer.Option("--dry-run")]


def make_app() -> typer.Typer:
    """Return the application with every command."""
    names = {"help_option_names": ["-h", "--help"]}
    app = typer.Typer(
        name="maskgrad",
        cls=GroupPage,
        no_args_is_help=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=names,
    )
    app.callback(invoke_without_command=True)(_root)
    for name, function in _COMMANDS.items():
        app.command(name, cls=CommandPage)(function)
    masks = typer.Typer(cls=GroupPage, rich_markup_mode=None)
    masks.command("show", cls=CommandPage)(masks_show)
    masks.command("set", cls=CommandPage, context_settings=NEGATIVE_NUMBERS)(masks_set)
    app.add_typer(masks, name="masks")
    domains = typer.Typer(cls=GroupPage, rich_markup_mode=None)
    domains.callback(invoke_without_command=True)(_domains)
    domains.command("list", cls=CommandPage)(domains_list)
    domains.command("show", cls=CommandPage)(domains_show)
    app.add_typer(domains, name="domains")
    memory = typer.Typer(cls=GroupPage, rich_markup_mode=None)
    memory.callback(invoke_without_command=True)(_memory)
    for name, function in _MEMORY.items():
        memory.command(name, cls=CommandPage)(function)
    app.add_typer(memory, name="memory")
    tools = typer.Typer(cls=GroupPage, rich_markup_mode=None)
    tools.callback(invoke_without_command=True)(_tools)
    for name, function in _TOOLS.items():
        tools.command(name, cls=CommandPage)(function)
    app.add_typer(tools, name="tools")
    for name, function in _LAST.items():
        app.command(name, cls=CommandPage)(function)
    return app


def _root(context: typer.Context, version: Annotated[bool, typer.Option("--version")] = False) -> int:
    from orchestrator.interfaces.cli.bodies.front import front

    if context.invoked_subcommand is not None:
        return 0
    return perform(context, lambda session: front(session, context.get_help(), version=version))


def _begin(context: typer.Context, what: str = "") -> None:
    """Say a first line before the import of a body that takes long to load: seconds on a busy machine."""
    # A goal may be long or hold anything: only what looks like a run is named.
    if what.startswith("r-") and what.isascii() and what.isprintable() and " " not in what:
        session_of(context).say_at_once(f"opening {what} …", f"正在打开 {what}……")
    else:
        session_of(context).say_at_once("loading …", "正在加载……")


def plan(
    context: typer.Context,
    goal: Annotated[str, typer.Argument(metavar="GOAL")] = "",
    sources: Sources = None,
    allow_unresolved: Unresolved = False,
    forbid: Forbid = None,
    file: File = None,
    profile: Profile = "",
    model: Model = "",
    planner_model: PlannerModel = "",
    base_url: BaseUrl = "",
    template: Annotated[str, typer.Option("--template", metavar="RUN", autocompletion=complete_runs)] = "",
) -> int:
    _begin(context)
    from orchestrator.interfaces.cli.bodies.running import plan
    from orchestrator.interfaces.cli.bodies.starting import Draft

    draft = Draft(
        goal=goal,
        sources=tuple(sources or ()),
        allow_unresolved=allow_unresolved,
        forbid=tuple(forbid or ()),
        file=file,
        profile=profile,
        model=model,
        planner_model=planner_model,
        base_url=base_url,
        template=template,
    )
    return perform(context, lambda session: plan(session, draft))


def review(context: typer.Context, run: Run) -> int:
    from orchestrator.interfaces.cli.bodies.reviewing import review

    return perform(context, lambda session: review(session, run))


def edit(context: typer.Context, run: Run, file: File = None, dry_run: DryRun = False) -> int:
    from orchestrator.interfaces.cli.bodies.editing import edit

    return perform(context, lambda session: edit(session, run, file=file, dry_run=dry_run))


def clarify(
    context: typer.Context,
    run: Run,
    point: Annotated[str, typer.Argument(metavar="POINT")],
    choice: Annotated[str | None, typer.Argument(metavar="NUMBER")] = None,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT")] = None,
    planner_model: PlannerModel = "",
    dry_run: DryRun = False,
) -> int:
    from orchestrator.interfaces.cli.bodies.clarifying import clarify

    return perform(
        context,
        lambda session: clarify(
            session,
            run,
            point,
            choice=choice,
            text=text,
            planner_model=planner_model,
            dry_run=dry_run,
        ),
    )


def approve(context: typer.Context, token: Annotated[str, typer.Argument(metavar="ID@REV-HASH8")]) -> int:
    from orchestrator.interfaces.cli.bodies.deciding import approve

    return perform(context, lambda session: approve(session, token))


def reject(
    context: typer.Context, run: Run, note: Annotated[str, typer.Option("--note", metavar="TEXT")] = ""
) -> int:
    from orchestrator.interfaces.cli.bodies.deciding import reject

    return perform(context, lambda session: reject(session, run, note))


def request_changes(
    context: typer.Context, run: Run, note: Annotated[str, typer.Argument(metavar="NOTE")]
) -> int:
    from orchestrator.interfaces.cli.bodies.deciding import request_changes

    return perform(context, lambda session: request_changes(session, run, note))


def run(
    context: typer.Context,
    what: Annotated[str, typer.Argument(metavar="GOAL|RUN|FILE", autocompletion=complete_runs)],
    sources: Sources = None,
    allow_unresolved: Unresolved = False,
    forbid: Forbid = None,
    profile: Profile = "",
    model: Model = "",
    planner_model: PlannerModel = "",
    base_url: BaseUrl = "",
    approve: Annotated[bool, typer.Option("--approve")] = False,
    again: Annotated[bool, typer.Option("--again")] = False,
    shadow: Annotated[bool, typer.Option("--shadow")] = False,
) -> int:
    _begin(context, what)
    from orchestrator.interfaces.cli.bodies.running import run
    from orchestrator.interfaces.cli.bodies.starting import Draft

    draft = Draft(
        goal=what,
        sources=tuple(sources or ()),
        allow_unresolved=allow_unresolved,
        forbid=tuple(forbid or ()),
        file=None,
        profile=profile,
        model=model,
        planner_model=planner_model,
        base_url=base_url,
    )
    return perform(context, lambda session: run(session, draft, approve=approve, again=again, shadow=shadow))


def watch(
    context: typer.Context,
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", autocompletion=complete_runs)],
    after: Annotated[str, typer.Option("--after", metavar="SEQ")] = "0",
) -> int:
    from orchestrator.interfaces.cli.bodies.watching import watch

    return perform(context, lambda session: watch(session, runs, after))


def resume(context: typer.Context, run: Run) -> int:
    _begin(context, run)
    from orchestrator.interfaces.cli.bodies.running import resume

    return perform(context, lambda session: resume(session, run))


def answer(
    context: typer.Context,
    request: Annotated[str, typer.Argument(metavar="REQUEST", autocompletion=complete_requests)],
    choice: Annotated[str, typer.Argument(metavar="CHOICE")],
    guidance: Annotated[str, typer.Option("--guidance", metavar="TEXT")] = "",
    agent: Annotated[str, typer.Option("--agent", metavar="AGENT")] = "",
    domain: Annotated[str, typer.Option("--domain", metavar="DOMAIN", autocompletion=complete_domains)] = "",
    value: Annotated[str, typer.Option("--value", metavar="VALUE")] = "",
) -> int:
    from orchestrator.interfaces.cli.bodies.answering import Reply, answer

    reply = Reply(choice=choice, guidance=guidance, agent=agent, domain=domain, value=value)
    return perform(context, lambda session: answer(session, request, reply))


def pause(context: typer.Context, run: Run) -> int:
    from orchestrator.interfaces.cli.bodies.controlling import pause

    return perform(context, lambda session: pause(session, run))


def cancel(context: typer.Context, run: Run) -> int:
    from orchestrator.interfaces.cli.bodies.controlling import cancel

    return perform(context, lambda session: cancel(session, run))


def replay(
    context: typer.Context, run: Run, at: Annotated[str, typer.Option("--at", metavar="SEQ")] = ""
) -> int:
    from orchestrator.interfaces.cli.bodies.replaying import replay

    return perform(context, lambda session: replay(session, run, at))


def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="RUN_A", autocompletion=complete_runs)],
    second: Annotated[str, typer.Argument(metavar="RUN_B", autocompletion=complete_runs)],
) -> int:
    from orchestrator.interfaces.cli.bodies.comparing import compare

    return perform(context, lambda session: compare(session, first, second))


def leaks(context: typer.Context, run: Run) -> int:
    from orchestrator.interfaces.cli.bodies.leaking import leaks

    return perform(context, lambda session: leaks(session, run))


def evidence(
    context: typer.Context, run: Run, node: Annotated[str, typer.Argument(metavar="NODE")] = ""
) -> int:
    from orchestrator.interfaces.cli.bodies.evidencing import evidence

    return perform(context, lambda session: evidence(session, run, node))


def runs(
    context: typer.Context, limit: Annotated[str, typer.Option("--limit", "-n", metavar="N")] = "20"
) -> int:
    from orchestrator.interfaces.cli.bodies.listing import runs

    return perform(context, lambda session: runs(session, limit))


def show(context: typer.Context, run: Run, whole: Annotated[bool, typer.Option("--all")] = False) -> int:
    from orchestrator.interfaces.cli.bodies.showing import show

    return perform(context, lambda session: show(session, run, whole=whole))


def masks_show(context: typer.Context, run: Run) -> int:
    from orchestrator.interfaces.cli.bodies.masking import masks_show

    return perform(context, lambda session: masks_show(session, run))


def masks_set(
    context: typer.Context,
    run: Run,
    agent: Annotated[str, typer.Argument(metavar="AGENT")],
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", autocompletion=complete_domains)],
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    dry_run: DryRun = False,
) -> int:
    from orchestrator.interfaces.cli.bodies.masking import masks_set

    return perform(context, lambda session: masks_set(session, run, agent, domain, value, dry_run=dry_run))


def _domains(context: typer.Context) -> int:
    return domains_list(context) if context.invoked_subcommand is None else 0


def domains_list(context: typer.Context) -> int:
    from orchestrator.interfaces.cli.bodies.domains import domains_list

    return perform(context, domains_list)


def domains_show(
    context: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", autocompletion=complete_domains)],
) -> int:
    from orchestrator.interfaces.cli.bodies.domains import domains_show

    return perform(context, lambda session: domains_show(session, domain))


def _memory(context: typer.Context) -> int:
    return memory_list(context) if context.invoked_subcommand is None else 0


def memory_list(context: typer.Context) -> int:
    from orchestrator.interfaces.cli.bodies.remembering import memory_list

    return perform(context, memory_list)


def memory_show(context: typer.Context, entry: Entry) -> int:
    from orchestrator.interfaces.cli.bodies.remembering import memory_show

    return perform(context, lambda session: memory_show(session, entry))


def memory_add(context: typer.Context, text: Annotated[str, typer.Argument(metavar="TEXT")]) -> int:
    from orchestrator.interfaces.cli.bodies.remembering import memory_add

    return perform(context, lambda session: memory_add(session, text))


def memory_forget(context: typer.Context, entry: Entry) -> int:
    from orchestrator.interfaces.cli.bodies.remembering import memory_forget

    return perform(context, lambda session: memory_forget(session, entry))


def memory_clear(context: typer.Context, yes: Annotated[bool, typer.Option("--yes")] = False) -> int:
    from orchestrator.interfaces.cli.bodies.remembering import memory_clear

    return perform(context, lambda session: memory_clear(session, yes=yes))


def _tools(context: typer.Context) -> int:
    return tools_list(context) if context.invoked_subcommand is None else 0


def tools_list(context: typer.Context) -> int:
    from orchestrator.interfaces.cli.bodies.tool_contracts import tools_list

    return perform(context, tools_list)


def tools_show(context: typer.Context, tool: Annotated[str, typer.Argument(metavar="NAME")]) -> int:
    from orchestrator.interfaces.cli.bodies.tool_contracts import tools_show

    return perform(context, lambda session: tools_show(session, tool))


def tools_trust(
    context: typer.Context,
    server: Annotated[str, typer.Argument(metavar="SERVER", autocompletion=complete_servers)],
    yes: Annotated[bool, typer.Option("--yes")] = False,
    seen: Annotated[str, typer.Option("--seen", metavar="HASH8")] = "",
) -> int:
    from orchestrator.interfaces.cli.bodies.trusting import tools_trust

    return perform(context, lambda session: tools_trust(session, server, yes=yes, seen=seen))


def models(
    context: typer.Context, action: Annotated[str, typer.Argument(metavar="[status|off|on]")] = "status"
) -> int:
    from orchestrator.interfaces.cli.bodies.model_switching import models

    return perform(context, lambda session: models(session, action))


def export(
    context: typer.Context,
    run: Run,
    format_: Annotated[str, typer.Option("--format", "-f", metavar="FORMAT")] = "md",
    output: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE")] = None,
) -> int:
    from orchestrator.interfaces.cli.bodies.exporting import export

    return perform(context, lambda session: export(session, run, format_, output))


def doctor(context: typer.Context) -> int:
    from orchestrator.interfaces.cli.bodies.doctor import doctor

    return perform(context, doctor)


_COMMANDS: Final[dict[str, Callable[..., int]]] = {
    "plan": plan,
    "review": review,
    "clarify": clarify,
    "edit": edit,
    "approve": approve,
    "reject": reject,
    "request-changes": request_changes,
    "run": run,
    "watch": watch,
    "resume": resume,
    "answer": answer,
    "pause": pause,
    "cancel": cancel,
    "show": show,
    "runs": runs,
    "evidence": evidence,
    "leaks": leaks,
    "replay": replay,
    "compare": compare,
}
"""In the order of the help: from a goal to what came of it."""
_LAST: Final[dict[str, Callable[..., int]]] = {"export": export, "models": models, "doctor": doctor}
_MEMORY: Final[dict[str, Callable[..., int]]] = {
    "list": memory_list,
    "show": memory_show,
    "add": memory_add,
    "forget": memory_forget,
    "clear": memory_clear,
}
"""The commands below `memory`."""
_TOOLS: Final[dict[str, Callable[..., int]]] = {
    "list": tools_list,
    "show": tools_show,
    "trust": tools_trust,
}
"""The commands below `tools`."""
