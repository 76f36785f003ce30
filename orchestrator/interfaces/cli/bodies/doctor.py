"""Check the installation, one line per check; every failed one says what to do."""

from __future__ import annotations

import importlib.util
import locale
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Final, Literal

from agents.models.embedders import UseEmbedder
from agents.models.errors import ChatUnavailable, InvalidPricesFile
from agents.models.prices import prices_in
from agents.models.providers import ProviderStanding, chat_of, standings
from agents.spec import ModelPolicy
from agents.tools.yaml_lines import InvalidToolsFile
from masks.errors import RegistryError
from masks.ports import Embedder
from orchestrator.interfaces.cli.bodies.editing import editor_command
from orchestrator.interfaces.cli.bodies.starting import EMBEDDED
from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.model_switch import ModelSwitch
from orchestrator.shell.settings import MODEL, PLANNER_MODEL
from orchestrator.shell.store.errors import StoreError

IMPORT_NAMES: Final = ("masks", "graphs", "agents", "orchestrator")
"""The import roots of the product; each of them is a common word."""
DISTRIBUTION: Final = "maskgrad"
PYTHON_FROM: Final = (3, 11)
"""The oldest Python that is supported (`requires-python`)."""
PACKAGES: Final = (
    "langgraph",
    "langchain-core",
    "pydantic",
    "numpy",
    "networkx",
    "sqlite-utils",
    "bm25s",
    "rjieba",
    "typer",
    "rich",
)
"""Packages whose versions are shown."""
FREE_BYTES: Final = 100_000_000
"""Below this the disk of the store is said to be nearly full."""

Verdict = Literal["ok", "note", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one check found."""

    name: str
    verdict: Verdict
    found: str


def doctor(session: Session) -> Result:
    """Run every check; the code is `FAILED` when one failed."""
    checks = [check for step in _STEPS for check in step(session)]
    marks: dict[Verdict, str] = {
        "ok": session.pick("ok", "正常"),
        "note": session.pick("note", "提示"),
        "failed": session.pick("FAILED", "失败"),
    }
    lines = [f"{marks[check.verdict]:<6}  {check.name:<20} {one_line(check.found)}" for check in checks]
    failed = any(check.verdict == "failed" for check in checks)
    return Result(
        data={"ok": not failed, "checks": [asdict(check) for check in checks]},
        text="\n".join(lines),
        code=ExitCode.FAILED if failed else ExitCode.DONE,
    )


def _owners(session: Session) -> Iterator[Check]:
    """Each import name has to be ours: another popular project installs a package `agents` too."""
    root = Path(__file__).resolve().parents[4]
    distributions = packages_distributions()
    for name in IMPORT_NAMES:
        spec = importlib.util.find_spec(name)
        origin = spec.origin if spec is not None else None
        ours = origin is not None and Path(origin).resolve().parents[1] == root
        others = sorted(set(distributions.get(name, ())) - {DISTRIBUTION})
        if not ours:
            advice = session.pick(
                f"{origin} hides ours; install maskgrad in an environment of its own",
                f"{origin} 遮蔽了本程序；请在独立环境中安装 maskgrad",
            )
            yield Check(name=f"import {name}", verdict="failed", found=advice)
        elif others:
            advice = session.pick(
                f"{', '.join(others)} installs it too; use an environment of its own",
                f"{'、'.join(others)} 也安装了它；请使用独立环境",
            )
            yield Check(name=f"import {name}", verdict="failed", found=advice)
        else:
            yield Check(name=f"import {name}", verdict="ok", found=str(origin))


def _python(session: Session) -> Iterator[Check]:
    running = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= PYTHON_FROM:
        yield Check(name="python", verdict="ok", found=f"{running} {sys.executable}")
    else:
        wanted = ".".join(map(str, PYTHON_FROM))
        yield Check(
            name="python",
            verdict="failed",
            found=session.pick(f"{running}; needs {wanted} or later", f"{running}；需要 {wanted} 或更高版本"),
        )


def _packages(session: Session) -> Iterator[Check]:
    try:
        yield Check(name=DISTRIBUTION, verdict="ok", found=version(DISTRIBUTION))
    except PackageNotFoundError:
        found = session.pick("runs from a checkout, not installed", "从源码目录运行，未安装")
        yield Check(name=DISTRIBUTION, verdict="note", found=found)
    for package in PACKAGES:
        try:
            yield Check(name=package, verdict="ok", found=version(package))
        except PackageNotFoundError:
            found = session.pick("missing; install maskgrad again", "缺失；请重新安装 maskgrad")
            yield Check(name=package, verdict="failed", found=found)


def _embedder(session: Session) -> Iterator[Check]:
    began = time.monotonic()
    try:
        embedder = _embedder_of(session)
        rows = embedder.encode(["How much does it cost?", "它的造价是多少？"])
        alike = float(rows[0] @ rows[1])
        found = (
            f"{embedder.name} {embedder.version}, {embedder.dimension} d, {time.monotonic() - began:.1f} s"
        )
    except (ImportError, OSError, ValueError) as error:
        # What others say ends with a full stop, or does not.
        said = str(error).rstrip(".。")
        found = session.pick(
            f"can't be used: {said}; install maskgrad again", f"无法使用：{said}；请重新安装 maskgrad"
        )
        yield Check(name="embedder", verdict="failed", found=found)
        return
    # The same question in both languages lies close together, else the weights are not those of the model.
    if alike < _ALIKE:
        found = session.pick(
            f"gives wrong vectors (similarity {alike:.2f}); install maskgrad again",
            f"向量不正确（相似度 {alike:.2f}）；请重新安装 maskgrad",
        )
        yield Check(name="embedder", verdict="failed", found=found)
    else:
        yield Check(name="embedder", verdict="ok", found=found)


_ALIKE: Final = 0.5


def _embedder_of(session: Session) -> Embedder:
    """Return the workshop's embedder; a store or domains that can't be read have checks of their own."""
    try:
        return session.shop().embedder
    except (StoreError, RegistryError):
        return UseEmbedder()


def _domains(session: Session) -> Iterator[Check]:
    try:
        count = len(session.registry.leaves)
    except RegistryError as error:
        yield Check(name="domains", verdict="failed", found=error.message(session.lang))
        return
    yield Check(name="domains", verdict="ok", found=session.pick(f"{count} domains", f"{count} 个知识域"))


def _tools(session: Session) -> Iterator[Check]:
    """The file alone: a server that does not answer now is for `maskgrad tools` to tell."""
    toolbox = session.toolbox()
    try:
        tools, servers = len(toolbox.specs()), len(toolbox.file.servers)
    except InvalidToolsFile as error:
        yield Check(name="tools", verdict="failed", found=error.message(session.lang))
        return
    found = session.pick(f"{tools} tools, {servers} MCP servers", f"{tools} 个工具，{servers} 个 MCP 服务器")
    yield Check(name="tools", verdict="ok", found=found)


def _models(session: Session) -> Iterator[Check]:
    """The switch, what each provider lacks, the user's prices, whether the models of the settings can be opened.

    None is asked.
    """
    settings = session.settings
    if ModelSwitch(settings).is_off():
        found = session.pick("switched off; on with: maskgrad models on", "已关闭；打开：maskgrad models on")
        yield Check(name="models", verdict="note", found=found)
    else:
        yield Check(name="models", verdict="ok", found=session.pick("switched on", "已打开"))
    for standing in standings(session.invocation.environment):
        yield _provider(session, standing)
    try:
        prices = prices_in(settings.home)
    except InvalidPricesFile as error:
        yield Check(name="prices", verdict="failed", found=error.message(session.lang))
        return
    own, shipped = len(prices.own), len(prices.shipped)
    found = session.pick(f"{own} of your own, {shipped} shipped", f"自有 {own} 项，内置 {shipped} 项")
    yield Check(name="prices", verdict="ok", found=found)
    for setting, name in ((MODEL, settings.model), (PLANNER_MODEL, settings.planner_model)):
        if not name or name == EMBEDDED:
            continue
        policy = ModelPolicy(kind="model", model=name, base_url=settings.base_url or None)
        shown = f"{name} {settings.base_url}".strip()
        try:
            chat_of(policy, environ=session.invocation.environment, prices=prices)
        except ChatUnavailable as error:
            yield Check(name=setting, verdict="failed", found=error.message(session.lang))
        else:
            yield Check(name=setting, verdict="ok", found=shown)


def _provider(session: Session, of: ProviderStanding) -> Check:
    """What its models lack here; no fault, since nobody needs all of them."""
    parts = [session.pick("installed", "已安装")]
    if not of.installed:
        step = f"pip install 'maskgrad[{of.extra}]'"
        parts = [session.pick(f"not installed, next: {step}", f"未安装，下一步：{step}")]
    if of.key is not None:
        parts.append(session.pick(f"{of.key} is set", f"已设置 {of.key}"))
    elif of.keys:
        parts.append(session.pick(f"{' or '.join(of.keys)} is not set", f"未设置 {' 或 '.join(of.keys)}"))
    else:
        parts.append(session.pick("needs no key", "无需密钥"))
    is_ready = of.installed and (of.key is not None or not of.keys)
    return Check(
        name=f"models {of.provider}",
        verdict="ok" if is_ready else "note",
        found=session.pick("; ", "；").join((*parts, of.address)),
    )


def _store(session: Session) -> Iterator[Check]:
    try:
        store = session.store()
        info, damage = store.info(), store.check()
    except StoreError as error:
        remedy = session.pick(
            "Move the file away, or set MASKGRAD_HOME to another folder.",
            "请移走该文件，或将 MASKGRAD_HOME 设为其他文件夹。",
        )
        yield Check(name="store", verdict="failed", found=f"{error.message(session.lang)} {remedy}")
        return
    found = session.pick(
        f"{store.location}: {info.runs} runs, {info.events} events, {info.bytes:,} bytes",
        f"{store.location}：{info.runs} 个运行，{info.events} 个事件，{info.bytes:,} 字节",
    )
    yield Check(name="store", verdict="ok", found=found)
    for line in damage:
        yield Check(name="store", verdict="failed", found=line)
    free = shutil.disk_usage(session.settings.home).free
    if free < FREE_BYTES:
        found = session.pick(f"only {free:,} bytes free on its disk", f"磁盘仅剩 {free:,} 字节")
        yield Check(name="store", verdict="note", found=found)


def _surroundings(session: Session) -> Iterator[Check]:
    encodings = f"{locale.getpreferredencoding(False)}, files {sys.getfilesystemencoding()}"
    yield Check(name="locale", verdict="ok", found=f"{session.lang}, {encodings}")
    terminal = f"TERM={os.environ.get('TERM', '')} live={'yes' if session.streams.live else 'no'}"
    yield Check(name="terminal", verdict="ok", found=terminal)
    try:
        yield Check(
            name="editor", verdict="ok", found=" ".join(editor_command(session.invocation.environment))
        )
    except UsageProblem as error:
        yield Check(name="editor", verdict="note", found=error.message(session.lang))


_STEPS: Final[tuple[Callable[[Session], Iterator[Check]], ...]] = (
    _owners,
    _python,
    _packages,
    _embedder,
    _domains,
    _tools,
    _models,
    _store,
    _surroundings,
)
