"""Make a plan of mended steps: ports, criteria, merges and the report are code's, whatever the model proposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from agents.operations import OPERATIONS, field_name
from agents.planning.domains import strongest
from agents.planning.drafting import PlanDraft
from agents.planning.model.demands import Demands
from agents.planning.model.mending import in_order
from agents.planning.model.required import RequiredDomains
from agents.planning.model.shaping import finds, sinks
from agents.planning.model.steps import Step
from agents.planning.patterns.extract import bare_kind
from agents.planning.templates import COMPUTING, merge
from agents.planning.wording import listing, say, shorten
from graphs.contract import CriterionKind
from graphs.plan import NodeId


@dataclass(slots=True, kw_only=True)
class Assembly:
    """Adds steps to a draft."""

    draft: PlanDraft
    domains: RequiredDomains
    demands: Demands
    nodes: dict[str, NodeId] = field(default_factory=dict)
    """Step of the last `add` to the sub-task that it became."""
    _criteria: dict[tuple[CriterionKind, str], str] = field(default_factory=dict)

    def add(
        self, steps: Sequence[Step], given: Mapping[str, Sequence[NodeId]] | None = None
    ) -> tuple[NodeId, ...]:
        """Add the steps of a DAG; return the sub-tasks whose outputs go on, to the report or to a later stage.

        `given` are the sub-tasks behind each name that `Step.given` holds. What steps found and none takes is merged,
        so that nothing is delivered as it was found.
        """
        self.add_steps(steps, given or {})
        last = sinks(steps)
        found = [self.nodes[step.id] for step in last if finds(step)]
        claims = [node for node in found if self.draft.gives_claims([node])]
        tables = [node for node in found if node not in claims]
        ready = [self.nodes[step.id] for step in last if not finds(step)]
        merged: list[NodeId] = []
        if claims:
            asked = tuple(dict.fromkeys(q for node in claims for q in self._questions(node)))
            merged.append(merge(say("title_merge", self.draft.lang), claims, asked, self.draft))
        merged.extend(
            merge(say("title_merge_rows", self.draft.lang), [node], (), self.draft) for node in tables
        )
        return (*ready, *tables, *merged)

    def add_steps(self, steps: Sequence[Step], given: Mapping[str, Sequence[NodeId]]) -> None:
        """Add the steps of a DAG and nothing else; `nodes` says what became of each."""
        self.nodes = {}
        for step in in_order(steps):
            self.nodes[step.id] = self._add(step, given)

    def _add(self, step: Step, given: Mapping[str, Sequence[NodeId]]) -> NodeId:
        after = [self.nodes[source] for source in step.after]
        handed = [node for name in step.given for node in given.get(name, ())]
        after += handed if step.operation == "synthesise" else self.draft.claims_behind(handed)
        after = list(dict.fromkeys(after))
        lang = self.draft.lang
        params = dict(step.params)
        if step.operation == "extract":
            params["each"] = bare_kind(step.text("each")) or None
        if step.operation == "synthesise":
            own = (*step.texts("questions"), *(q for node in after for q in self._questions(node)))
            params["questions"] = list(dict.fromkeys(own))
        if step.operation == "outline" and not step.texts("questions"):
            params["questions"] = list(dict.fromkeys(q for node in after for q in self._questions(node)))
        step = replace(step, params=params)
        searching = bool(OPERATIONS[step.operation].tools)
        about = self._about(step)
        return self.draft.add(
            step.operation,
            shorten(step.title, lang) or self._title(step),
            self._instruction(step, after),
            params,
            after=after,
            domains=self.domains.of(step, about) if searching else strongest(self.draft.domains_of(after)),
            acceptance=self._acceptance(step),
            estimate=self._estimate(step) if searching else COMPUTING,
        )

    def _about(self, step: Step) -> str:
        words = [
            *(step.text(name) for name in ("topic", "item", "each")),
            *(
                text
                for name in ("questions", "fields", "columns", "rows", "statements")
                for text in step.texts(name)
            ),
        ]
        return " ".join(filter(None, words)) or step.title

    def _title(self, step: Step) -> str:
        lang = self.draft.lang
        match step.operation:
            case "research" if step.text("item"):
                return say("title_item", lang, text=shorten(step.text("item"), lang))
            case "research":
                return shorten("; ".join(step.texts("questions")), lang)
            case "gather":
                return say("title_gather", lang, text=shorten(step.text("topic"), lang))
            case "summarise":
                shown = "each_note" if step.params.get("per_document") is True else "all_notes"
                return say(
                    "title_summarise", lang, text=shorten(step.text("topic") or say(shown, lang), lang)
                )
            case "extract":
                return say("title_extract", lang, text=shorten(listing(step.texts("columns"), lang), lang))
            case "check":
                return shorten("; ".join(step.texts("statements")), lang) or say("title_merge_checks", lang)
            case "compare":
                return say("title_compare", lang, text=shorten(listing(step.texts("items"), lang), lang))
            case "outline":
                return say("title_outline", lang, text=shorten(step.text("title"), lang))
            case _:
                return say("title_merge", lang)

    def _instruction(self, step: Step, after: Sequence[NodeId]) -> str:
        match step.operation:
            case "research":
                return "do_item" if step.text("item") else "do_research"
            case "check":
                return "do_check" if step.texts("statements") else "do_check_inputs"
            case "extract":
                lang = self.draft.lang
                each = listing(step.texts("rows"), lang) or step.text("each") or say("each_row", lang)
                return say("do_extract", lang, each=each)
            case "synthesise" if not self.draft.gives_claims(after):
                return say("do_synthesise", self.draft.lang).replace("{{claims}}", "{{table}}")
            case _:
                return f"do_{step.operation}"

    def _estimate(self, step: Step) -> float:
        """Return the duration in units, one for each question, as the embedded templates count it."""
        counted = max((len(step.texts(n)) for n in ("questions", "fields", "statements")), default=0)
        return float(counted) if counted else {"research": 1.0, "gather": 1.0}.get(step.operation, 2.0)

    def _acceptance(self, step: Step) -> list[str]:
        lang = self.draft.lang
        match step.operation:
            case "research" if step.text("item"):
                return [self._field(field_name(step.text("item"), name)) for name in step.texts("fields")]
            case "research":
                return [self._question("q", "accept_question", text) for text in step.texts("questions")]
            case "check" if step.texts("statements"):
                return [self._question("s", "accept_statement", text) for text in step.texts("statements")]
            case "check":
                return [self._once("conflicts_shown", "conflicts", "accept_conflicts")]
            case "summarise" if step.text("topic"):
                return [self._question("t", "accept_topic", step.text("topic"))]
            case "extract":
                rows, columns = step.texts("rows"), step.texts("columns")
                names = [field_name(row, column) for row in rows for column in columns] or columns
                table = self.draft.accept("table", say("accept_table", lang), "artefact_exists")
                return [table, *(self._field(name) for name in names)]
            case "compare":
                cells = [field_name(i, a) for i in step.texts("items") for a in step.texts("aspects")]
                table = self.draft.accept("table", say("accept_table", lang), "artefact_exists")
                return [*(self._field(cell) for cell in cells), table]
            case "synthesise" | "outline":
                asked = step.texts("questions")
                return [c.id for c in self.draft.criteria if c.question is not None and c.question in asked]
            case _:
                return []

    def _question(self, prefix: str, words: str, text: str) -> str:
        found = self._criteria.get(("question_answered", text))
        if found is None:
            lang, core = self.draft.lang, self.demands.core(text)
            found = self._criteria["question_answered", text] = self.draft.accept(
                prefix, say(words, lang, text=text), "question_answered", core=core, question=text
            )
        return found

    def _field(self, name: str) -> str:
        found = self._criteria.get(("field_filled", name))
        if found is None:
            found = self._criteria["field_filled", name] = self.draft.accept(
                "f",
                say("accept_field", self.draft.lang, text=name),
                "field_filled",
                core=self.demands.fields_core(name),
                field_name=name,
            )
        return found

    def _once(self, kind: CriterionKind, prefix: str, words: str) -> str:
        if (kind, "") not in self._criteria:
            self._criteria[kind, ""] = self.draft.accept(prefix, say(words, self.draft.lang), kind)
        return self._criteria[kind, ""]

    def _questions(self, node: NodeId) -> tuple[str, ...]:
        """Return what a sub-task asks or passes on: questions, statements, or its topic."""
        params: Mapping[str, JsonValue] = self.draft.subtask(node).params
        found: list[str] = []
        for name in ("questions", "statements"):
            listed = params.get(name)
            if isinstance(listed, list):
                found.extend(str(text) for text in listed if text)
        topic = params.get("topic")
        if isinstance(topic, str) and self.draft.subtask(node).operation == "summarise":
            found.append(topic)
        return tuple(found)
