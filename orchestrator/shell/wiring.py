"""Where concrete classes meet ports: the one place that builds a working product from settings.

What is costly to make (weights of the embedder, labels, the index over the notes) is made when it is first needed;
importing this module still costs LangGraph's start-up.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final

from agents.evidence import Evidence
from agents.memory.ports import LongTermMemory
from agents.models.embedders import CachedEmbedder, UseEmbedder
from agents.models.ports import ChatPort
from agents.models.rate_limits import RateLimits
from agents.retrieval.library import DomainSections, NotesLibrary, SectionLabel
from agents.retrieval.reading import read_folder
from agents.spec import AgentSpec
from agents.tools.contract import ToolSpec
from agents.tools.mcp import McpServers
from agents.tools.ports import Tool
from agents.tools.previews import READ_RESULT, ReadResult
from agents.workers.embedded.registry import EmbeddedWorker
from agents.workers.model import ModelWorker
from agents.workers.ports import Worker
from graphs.plan import NodeId
from graphs.schedule import priorities
from masks.domains import DomainRegistry, default_registry
from masks.leaks.calibration import shipped_calibration
from masks.leaks.detect import EmbeddingDetector
from masks.leaks.labels import DomainLabeller
from masks.ports import Embedder
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.shell.attempt_graph import RESULT_CHANNEL, build_attempt_graph
from orchestrator.shell.attempts import AttemptRunner
from orchestrator.shell.chat_models import ChatModels
from orchestrator.shell.check_threads import CheckThreads
from orchestrator.shell.clock import RandomIds, SystemClock
from orchestrator.shell.delivery import Delivery
from orchestrator.shell.domains_file import registry_in
from orchestrator.shell.engine import Engine, Engines
from orchestrator.shell.executor import RunExecutor
from orchestrator.shell.journal import Journal
from orchestrator.shell.kept_wholes import KeptWholes
from orchestrator.shell.leak_scan import LeakScanner
from orchestrator.shell.material import label_of, note_tools
from orchestrator.shell.memory_file import MemoryFile
from orchestrator.shell.model_calls import ModelSurroundings
from orchestrator.shell.model_switch import ModelSwitch
from orchestrator.shell.ports import Clock, Ids
from orchestrator.shell.scheduler import DEFAULT_MAX_IN_FLIGHT, SharedDispatcher
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.attempt_checkpoints import AttemptCheckpoints
from orchestrator.shell.store.checkpointer import StoreCheckpointer
from orchestrator.shell.store.holders import this_process
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.rows import Lease
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.writer import Writer
from orchestrator.shell.toolbox import RunTools, Toolbox
from orchestrator.verification.levels import StandardVerifier
from orchestrator.verification.ports import FactSource, Verifier
from orchestrator.verification.sources.documents import DocumentSource

_LOG: Final = logging.getLogger(__name__)

ProviderOf = Callable[[AgentSpec], ChatPort | None]
WorkerOf = Callable[[AgentSpec], Worker]


def _default_embedder() -> Embedder:
    """The embedder of the base install; index and labels encode the same sections, so each text is encoded once."""
    return CachedEmbedder(UseEmbedder())


def _no_chat(agent: AgentSpec) -> ChatPort | None:
    """No chat model is configured by default: nothing needs a key or a network."""
    del agent
    return None


def _documents(folder: Path) -> tuple[FactSource, ...]:
    return (DocumentSource(folder),)


def _held_nowhere(evidence: Evidence) -> SectionLabel | None:
    """Without a folder of notes there is nothing that evidence could have been fetched from."""
    del evidence
    return None


KEPT_LIBRARIES: Final = 8
"""Folders of notes that a workshop keeps indexed; the one that was indexed first goes first."""


@dataclass(slots=True, kw_only=True)
class Workshop:
    """Everything that a process needs to draft and execute runs, one or several at a time.

    Every field can be replaced: tests inject a clock, ids, an in-memory store, scripted workers or a fake embedder.
    """

    settings: Settings
    store: RunStore
    clock: Clock = field(default_factory=SystemClock)
    ids: Ids = field(default_factory=RandomIds)
    registry: DomainRegistry = field(default_factory=default_registry)
    embedder: Embedder = field(default_factory=_default_embedder)
    worker_for: WorkerOf | None = None
    """Overrides the workers; `None`: the embedded ones, or a chat model where the agent's policy names one."""
    chat_for: ProviderOf = field(default=_no_chat)
    chats: ChatModels | None = None
    """Opens chat models by name, for planners; `None`: none can be opened."""
    extra_tools: Mapping[str, Tool] = field(default_factory=dict)
    """Tools from Python by name, beside those of `toolbox`, granted and judged as those are."""
    fact_sources: Callable[[Path], tuple[FactSource, ...]] = field(default=_documents)
    verifier: Verifier | None = None
    """Overrides the check stage; `None`: the standard one over `fact_sources`."""
    toolbox: Toolbox | None = None
    """What the user's `tools.yaml` allows; `None`: nothing."""
    memory: LongTermMemory | None = None
    """Where runs that end here leave what they taught; `None`: nowhere."""
    left_leases: dict[RunId, Lease] = field(default_factory=dict)
    """Leases of runs that ended here and that the store could not give up: `orchestrator.run.execute` tries again."""
    _labeller: DomainLabeller | None = None
    _rate_limits: RateLimits | None = None
    _libraries: dict[Path, NotesLibrary] = field(default_factory=dict)
    _checks: CheckThreads = field(default_factory=CheckThreads)
    _engines: Engines = field(default_factory=Engines)
    _preparing: Lock = field(default_factory=Lock)
    _keeping: Lock = field(default_factory=Lock)

    @property
    def holder(self) -> str:
        """Names this process in leases, so that another one can tell whether it is dead."""
        return this_process()

    @property
    def labeller(self) -> DomainLabeller:
        """The domain labeller, made at the first use: it encodes the registry's exemplars."""
        if self._labeller is None:
            calibration = shipped_calibration(self.embedder.name)
            self._labeller = DomainLabeller(self.embedder, self.registry, calibration)
        return self._labeller

    def library(self, folder: Path) -> NotesLibrary:
        """Return the notes below `folder` as they are now; raises `FolderNotFound` and `FolderUnreadable`.

        They are read each time and searched by the same index as long as they say the same: what is costly is the
        embedder's work on them.
        """
        corpus = read_folder(folder, now=lambda: datetime.fromisoformat(self.clock.now()))
        labeller = DomainSections(self.labeller)
        with self._keeping:
            known = self._libraries.get(folder)
            if known is not None and (known.corpus.digest, known.corpus.skipped) == (
                corpus.digest,
                corpus.skipped,
            ):
                return known
            library = NotesLibrary(corpus, embedder=self.embedder, labeller=labeller)
            self._libraries.pop(folder, None)
            while len(self._libraries) >= KEPT_LIBRARIES:
                del self._libraries[next(iter(self._libraries))]
            self._libraries[folder] = library
            return library

    def models_are_off(self) -> bool:
        """Tell whether chat models are switched off, as of now: then agents are worked by the embedded default."""
        return ModelSwitch(self.settings).is_off()

    def close(self) -> None:
        """End the threads of the checks. The store is not closed: whoever opened it may need it longer."""
        self._checks.close()

    def prepare(self, folder: Path) -> None:
        """Read and index the notes below `folder`, unless that was done; raises as `library` does.

        May be called from any thread; one waits for the other, for they may be about the same notes.
        """
        with self._preparing:
            _ = self.library(folder).index

    def engine(self) -> AbstractAsyncContextManager[Engine]:
        """Lend what all executions on the running event loop share: the writer and the slots of `settings`.

        Raises `ValueError`, on entering, for a cap of `settings` below 1.
        """
        return self._engines.shared(self._new_engine)

    def executor(self, engine: Engine, journal: Journal, folder: Path | None) -> RunExecutor:
        """Return an executor for the run of `journal`, over the notes below `folder`."""
        library = self.library(folder) if folder is not None else None
        wholes = KeptWholes(self.store)
        tools = RunTools(
            {
                **(self.toolbox.built_in() if self.toolbox is not None else {}),
                **(note_tools(library) if library is not None else {}),
                READ_RESULT.name: ReadResult(wholes.load),
                **self.extra_tools,
            },
            engine.servers,
        )
        runner = AttemptRunner(
            graph=build_attempt_graph(),
            threads=AttemptCheckpoints(
                StoreCheckpointer(engine.writer), journal.ride, channel=RESULT_CHANNEL
            ),
            artefacts=self.store,
            wholes=wholes,
            worker_for=self.worker_for or self._worker,
            chat_for=self.chat_for,
            tools=tools,
            scanner=LeakScanner(
                EmbeddingDetector.sharing(self.labeller),
                self.registry,
                partial(label_of, library) if library is not None else _held_nowhere,
            ),
            verifier=self.verifier or self._verifier(folder),
            allowed_hosts=self.toolbox.allowed_hosts if self.toolbox is not None else frozenset(),
            checks=self._checks,
            clock=self.clock,
            models=ModelSurroundings(is_off=self.models_are_off, rates=self._rates()),
        )
        return RunExecutor(
            journal=journal,
            inbox=self.store,
            dispatcher=engine.dispatcher.for_run(journal.run),
            run_attempt=runner.run,
            deliver=Delivery(runner.output),
            priorities=_priorities,
            clock=self.clock,
            holder=self.holder,
        )

    def _rates(self) -> RateLimits:
        """What providers take in a minute, shared by all runs of the process."""
        if self._rate_limits is None:
            self._rate_limits = RateLimits(
                self.settings.rate_limits, now=self.clock.monotonic, sleep=self.clock.sleep
            )
        return self._rate_limits

    def _new_engine(self) -> Engine:
        slots, caps = self.settings.max_in_flight, self.settings.provider_caps
        dispatcher = SharedDispatcher(
            self.clock,
            max_in_flight=DEFAULT_MAX_IN_FLIGHT if slots is None else slots,
            provider_caps=caps,
        )
        servers = self.toolbox.servers() if self.toolbox is not None else McpServers({})
        return Engine(Writer(self.store), dispatcher, servers)

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """Return the contracts of the tools beside the notes that agents could be granted; asks no server."""
        configured = self.toolbox.specs() if self.toolbox is not None else ()
        found = {spec.name: spec for spec in configured}
        found.update({name: tool.spec for name, tool in self.extra_tools.items()})
        return tuple(found[name] for name in sorted(found))

    def _verifier(self, folder: Path | None) -> Verifier:
        return StandardVerifier(self.fact_sources(folder) if folder is not None else ())

    def _worker(self, agent: AgentSpec) -> Worker:
        if agent.model_policy.kind == "model" and self.models_are_off():
            _LOG.info("models are switched off: agent %s is worked by the embedded default", agent.id)
            return EmbeddedWorker()
        if agent.model_policy.kind == "model":
            return ModelWorker(self.registry, functions=EmbeddedWorker())
        return EmbeddedWorker()


def open_workshop(settings: Settings) -> Workshop:
    """Return a workshop on the SQLite store of `settings`, with the domains of its data directory.

    Raises `StoreUnavailable` when the store can't be opened and `InvalidDomainsFile` for a file of domains that does
    not fit.
    """
    registry = registry_in(settings.home)
    store = SqliteStore(settings.store_path, max_bytes=settings.store_bytes)
    clock = SystemClock()
    memory = MemoryFile(settings.memory_path, clock.now)
    chats = ChatModels(os.environ, settings.home, settings.model_timeout_s)
    return Workshop(
        settings=settings,
        store=store,
        registry=registry,
        clock=clock,
        memory=memory,
        chats=chats,
        chat_for=chats.of_agent,
        toolbox=Toolbox(settings.home, os.environ),
    )


def _priorities(state: RunState) -> Mapping[NodeId, float]:
    assert state.index is not None, "only an approved run is executed"
    return priorities(state.index)
