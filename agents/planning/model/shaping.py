"""Give proposed steps the size that work here has: items of a comparison apart, no step too large, not too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from agents.operations import OPERATIONS
from agents.planning.layout import MAX_WIDTH, QUESTIONS_PER_NODE, deal
from agents.planning.model.mending import Mended, followers, fresh_id, in_order, replaced, without
from agents.planning.model.steps import Step
from agents.planning.repairs import PlanRepair, repair
from graphs.linting.granularity import MAX_STEPS_PER_LEVEL

MAX_STEPS: Final = MAX_WIDTH * MAX_STEPS_PER_LEVEL
"""Steps of a plan that a model proposed, before merges and the report: five wide and five long (003 2.1)."""

_LISTED: Final = {"research": "questions", "check": "statements"}
"""What makes such a step large."""


def shape(steps: Sequence[Step]) -> Mended:
    """Return the steps in an order of their edges, with comparisons, sizes and merges as workers want them."""
    found: list[PlanRepair] = []
    shaped = in_order(steps)
    for step in [step for step in shaped if step.operation == "compare"]:
        shaped = _with_items(shaped, step, found)
    shaped = _without_chains(shaped, found)
    shaped = _split(shaped, found)
    shaped = _joined(in_order(shaped), found)
    return Mended(steps=in_order(shaped), repairs=tuple(found))


def _with_items(steps: tuple[Step, ...], compare: Step, found: list[PlanRepair]) -> tuple[Step, ...]:
    """Give a comparison one step for each item, that fills its aspects: what the compare worker reads."""
    aspects, items = compare.texts("aspects"), compare.texts("items")
    by_id = {step.id: step for step in steps}
    sources: dict[str, Step] = {}
    for source in compare.after:
        step = by_id[source]
        item = _item_of(step, items) if step.operation == "research" else None
        if item is None or item in sources:
            continue
        fields = tuple(dict.fromkeys((*aspects, *step.texts("fields"))))
        if not step.text("item"):
            found.append(repair("item_step", id=step.id, item=item, compare=compare.id))
        sources[item] = replace(step, params={"item": item, "fields": list(fields)})
    # What comes from outside is not looked into: as many inputs as items are taken to be about one each.
    served = len(sources) + len(compare.given) >= len(items)
    missing = [] if served else [item for item in items if item not in sources]
    added: list[Step] = []
    for item in missing:
        new = fresh_id(f"{compare.id}_{len(added) + 1}", by_id)
        step = Step(id=new, operation="research", title="", params={"item": item, "fields": list(aspects)})
        by_id[new] = step
        added.append(step)
    if missing:
        found.append(repair("items_added", id=compare.id, items=", ".join(missing)))
    changed = {step.id: step for step in sources.values()}
    linked = replace(compare, after=(*compare.after, *(step.id for step in added)))
    return tuple(
        one
        for step in steps
        for one in ((*added, linked) if step.id == compare.id else (changed.get(step.id, step),))
    )


def _item_of(step: Step, items: Sequence[str]) -> str | None:
    """Return the one item that a step is about; `None` where it names none or several."""
    if step.text("item"):
        named = step.text("item").casefold()
        return next((item for item in items if item.casefold() == named), None)
    for text in (step.title, " ".join(step.texts("questions"))):
        named_here = [item for item in items if item.casefold() in text.casefold()]
        if len(named_here) == 1:
            return named_here[0]
    return None


def _without_chains(steps: tuple[Step, ...], found: list[PlanRepair]) -> tuple[Step, ...]:
    """Leave out a merge whose only use is to be merged again."""
    for step in steps:
        after = followers(steps).get(step.id, ())
        next_one = next((other for other in steps if other.id in after), None)
        if (
            step.operation == "synthesise"
            and next_one is not None
            and len(after) == 1
            and next_one.operation == "synthesise"
            and next_one.after == (step.id,)
        ):
            found.append(repair("chained", ids=f"{step.id}, {next_one.id}"))
            steps = without(steps, step.id)
    return steps


def _split(steps: tuple[Step, ...], found: list[PlanRepair]) -> tuple[Step, ...]:
    """Deal a step with more questions or statements than one loop can work on into several side by side."""
    for step in steps:
        name = _LISTED.get(step.operation, "")
        listed = step.texts(name) if name else ()
        if len(listed) <= QUESTIONS_PER_NODE:
            continue
        taken = {other.id for other in steps}
        parts = []
        for number, run in enumerate(deal(0, len(listed), -(-len(listed) // QUESTIONS_PER_NODE)), 1):
            part = fresh_id(f"{step.id}_{number}", taken)
            taken.add(part)
            own = [listed[index] for index in run]
            parts.append(replace(step, id=part, title="", params={**step.params, name: list(own)}))
        found.append(repair("split", id=step.id, n=str(len(listed)), parts=", ".join(p.id for p in parts)))
        steps = replaced(steps, step.id, parts)
    return steps


def _joined(steps: tuple[Step, ...], found: list[PlanRepair]) -> tuple[Step, ...]:
    """Join steps that ask questions side by side for the same followers, where there are too many steps."""
    count = len(steps)
    while len(steps) > MAX_STEPS and (pair := next(_pairs(steps), None)) is not None:
        first, second = pair
        name = _LISTED[first.operation]
        both = [*first.texts(name), *second.texts(name)]
        joined = replace(
            first,
            title="",
            params={name: list(dict.fromkeys(both))},
            domains=tuple(dict.fromkeys((*first.domains, *second.domains))),
        )
        found.append(repair("joined", n=str(count), ids=f"{first.id}, {second.id}"))
        kept = tuple(joined if step.id == first.id else step for step in steps if step.id != second.id)
        steps = tuple(replace(s, after=tuple(a for a in s.after if a != second.id)) for s in kept)
    return steps


def _pairs(steps: Sequence[Step]) -> Iterator[tuple[Step, Step]]:
    after = followers(steps)
    for place, first in enumerate(steps):
        name = _LISTED.get(first.operation, "")
        if not first.texts(name):
            continue
        for second in steps[place + 1 :]:
            if (
                second.operation == first.operation
                and second.texts(name)
                and set(second.after) == set(first.after)
                and set(second.given) == set(first.given)
                and after[second.id] == after[first.id]
                and len(first.texts(name)) + len(second.texts(name)) <= QUESTIONS_PER_NODE
            ):
                yield first, second


def sinks(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps that nothing follows."""
    followed = {source for step in steps for source in step.after}
    return tuple(step for step in steps if step.id not in followed)


def finds(step: Step) -> bool:
    """Tell whether what a step gives comes from the sources as it was found; a check of claims found before doesn't."""
    checks_claims = step.operation == "check" and not step.texts("statements")
    return bool(OPERATIONS[step.operation].tools) and not checks_claims
