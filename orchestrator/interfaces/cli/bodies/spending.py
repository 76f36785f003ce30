"""What model calls will cost and what they did cost, in words; an unknown price is said to be unknown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from agents.models.errors import InvalidPricesFile
from orchestrator.core.costs import CostEstimate
from orchestrator.core.state import RunState, Spent
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.cost_book import estimated, learn


def estimate_lines(session: Session, state: RunState) -> list[str]:
    """Return what the models of a proposal are expected to consume; nothing where no agent thinks with a model."""
    found = _estimate(session, state)
    if isinstance(found, InvalidPricesFile):
        return [session.pick(f"model cost: {found}", f"模型费用：价格文件无法读取（{found}）")]
    if found is None:
        return []
    low, high = _pair(found.low.input, found.low.output), _pair(found.expected.input, found.expected.output)
    lang = session.lang
    calls = pick(lang, f"model calls: about {found.calls}", f"模型调用：约 {found.calls} 次")
    tokens = pick(
        lang,
        f"tokens in and out: {high}, at least {low}",
        f"输入/输出词元：{high}，至少 {low}",
    )
    return [f"{calls}; {tokens}" if lang == "en" else f"{calls}；{tokens}", _estimated_usd(found, lang)]


def spent_lines(session: Session, state: RunState) -> list[str]:
    """Return what the model calls of a run consumed, beside what they were estimated at; nothing without any call."""
    spent, lang = state.spent, session.lang
    replayed = _replayed(spent, lang)
    if not spent.calls:
        return replayed
    used = _pair(spent.input_tokens, spent.output_tokens)
    if spent.estimated:
        used += pick(
            lang,
            f" (estimated for {spent.estimated} of the calls)",
            f"（其中 {spent.estimated} 次为估计值）",
        )
    line = pick(
        lang,
        f"spent: {spent.calls} model calls, tokens in and out {used}, {spent_usd(spent, lang)}",
        f"已用：{spent.calls} 次模型调用，输入/输出词元 {used}，{spent_usd(spent, lang)}",
    )
    found = _estimate(session, state)
    if not isinstance(found, CostEstimate):
        return [line, *replayed]
    expected = _pair(found.expected.input, found.expected.output)
    usd = pick(lang, "unknown cost", "费用未知") if found.expected_usd is None else _usd(found.expected_usd)
    return [
        line,
        *replayed,
        pick(
            lang,
            f"estimated for the sub-tasks: about {found.calls} model calls, tokens in and out {expected}, {usd}",
            f"子任务的估计：约 {found.calls} 次模型调用，输入/输出词元 {expected}，{usd}",
        ),
    ]


def _replayed(spent: Spent, lang: Lang) -> list[str]:
    """That a recording stood in, where one did: that costs nothing, and corrects no estimate."""
    if not spent.recorded:
        return []
    line = pick(
        lang,
        f"a recording stood in for the model (MASKGRAD_REPLAY): {spent.recorded} calls; nothing was spent for them, "
        "and they correct no estimate",
        f"由录制代替模型（MASKGRAD_REPLAY）：{spent.recorded} 次调用，未产生费用，也不用于校正估计",
    )
    return [line]


def spent_document(session: Session, state: RunState) -> dict[str, Any]:
    """Return the same as a JSON object; `cost_usd` is null where no price is known, and a lower bound with some."""
    found = _estimate(session, state)
    spent = asdict(state.spent)
    if spent["calls"] and spent["unpriced"] == spent["calls"]:
        spent["cost_usd"] = None
    return {**spent, "estimate": asdict(found) if isinstance(found, CostEstimate) else None}


def spent_usd(spent: Spent, lang: Lang) -> str:
    """Return a cost in words: a number only as far as it is known.

    >>> spent_usd(Spent(calls=2, cost_usd=0.5), "en")
    '$0.5000'
    >>> spent_usd(Spent(calls=2, cost_usd=0.5, unpriced=1), "en")
    'at least $0.5000 (calls of unknown price: 1)'
    >>> spent_usd(Spent(calls=2, unpriced=2), "en")
    'unknown cost'
    """
    if spent.unpriced >= spent.calls:
        return pick(lang, "unknown cost", "费用未知")
    if spent.unpriced:
        usd = _usd(spent.cost_usd)
        return pick(
            lang,
            f"at least {usd} (calls of unknown price: {spent.unpriced})",
            f"至少 {usd}（价格未知的调用：{spent.unpriced} 次）",
        )
    return _usd(spent.cost_usd)


def learn_costs(session: Session, state: RunState) -> None:
    """Correct later estimates by what a run consumed; what keeps it from being written is said."""
    try:
        learn(session.settings, session.store(), state)
    except (OSError, InvalidPricesFile) as error:
        session.talk(f"estimates are not corrected: {error}", f"估计未能校正：{error}")


def _estimate(session: Session, state: RunState) -> CostEstimate | InvalidPricesFile | None:
    if state.proposal is None:
        return None
    try:
        return estimated(session.settings, state.proposal, state.run)
    except InvalidPricesFile as error:
        return error


def _estimated_usd(found: CostEstimate, lang: Lang) -> str:
    if found.expected_usd is not None and found.low_usd is not None:
        return pick(
            lang,
            f"model cost: about {_usd(found.expected_usd)}, at least {_usd(found.low_usd)}",
            f"模型费用：约 {_usd(found.expected_usd)}，至少 {_usd(found.low_usd)}",
        )
    models = ", ".join(one_line(model, 80) for model in found.unknown_models)
    return pick(
        lang,
        f"model cost: unknown, no price is known for {models} (prices.yaml in the data directory says it)",
        f"模型费用：未知，没有 {models} 的价格（可在数据目录的 prices.yaml 中给出）",
    )


def _pair(given: float, made: float) -> str:
    return f"{round(given):,} / {round(made):,}"


def _usd(amount: float) -> str:
    return f"${amount:.4f}"
