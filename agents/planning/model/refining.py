"""From the steps of an answer to steps that a plan can be made of. The order of the mendings is stated here, once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agents.planning.model.asking import Usable
from agents.planning.model.demands import Demands, ask_in_the_goals_words
from agents.planning.model.mending import Mended, in_order, mend_edges, mend_graph
from agents.planning.model.params import give_inputs, hold_to_vocabulary
from agents.planning.model.shaping import MAX_STEPS, shape
from agents.planning.model.steps import Step, read_steps
from agents.planning.readings import Reading
from agents.planning.repairs import TOLD, render_problem
from graphs.contract import Lang


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinery:
    """Reads the steps of answers for one goal."""

    reading: Reading
    demands: Demands
    lang: Lang

    def read(
        self, data: object, outside: Collection[str] = (), most: int = MAX_STEPS
    ) -> Usable[Mended] | str:
        """Return usable steps, at most `most`, with everything that was put right; a text says why there are none.

        The steps are a DAG over distinct ids, in an order of their edges, each of a known operation with what that
        needs. They may come after `outside` (`Step.given`).
        """
        answer = read_steps(data)
        if answer is None:
            return "an object with the list `steps` was asked for"
        if not answer.steps:
            return "`steps` is empty, and the goal asks for something"
        repairs = list(answer.repairs)
        mended = mend_graph(answer.steps, outside)
        repairs.extend(mended.repairs)
        for mend in (self._hold, self._word, mend_edges, self._feed, shape):
            mended = mend(mended.steps)
            repairs.extend(mended.repairs)
        told = tuple(render_problem(fault, self.lang) for fault in repairs if fault.kind in TOLD)
        if not mended.steps:
            return "; ".join(told) or "no step is left that an operation can carry out"
        if len(mended.steps) > most:
            return f"{len(mended.steps)} steps are too many; plan at most {most}"
        return Usable(value=mended, repairs=tuple(repairs), told=told)

    def _hold(self, steps: Sequence[Step]) -> Mended:
        return hold_to_vocabulary(steps, self.reading, self.lang)

    def _word(self, steps: Sequence[Step]) -> Mended:
        return ask_in_the_goals_words(steps, self.demands)

    def _feed(self, steps: Sequence[Step]) -> Mended:
        return give_inputs(in_order(steps), self.lang)
