"""Words for the codes of events: what a log line names by its code is said to people in their language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from agents.models.contract import ModelErrorType
from agents.retrieval.reading import SkipReason as FileReason
from orchestrator.core.backtrack import BacktrackLevel
from orchestrator.core.blockage import FailureKind
from orchestrator.core.events import SkipReason
from orchestrator.interfaces.cli.problems import Lang, pick

FAILURES: Final[Mapping[FailureKind, tuple[str, str]]] = {
    "timeout": ("it took too long", "超时"),
    "rate_limited": ("the provider limits calls", "服务方限制调用频率"),
    "unavailable": ("something outside can't be used", "外部资源不可用"),
    "not_verified": ("it could not be checked", "未能核验"),
    "bad_request": ("the request was not accepted", "请求未被接受"),
    "invalid_output": ("the output can't be read", "输出无法读取"),
    "structure": ("the structure does not fit", "结构不符"),
    "refused": ("the agent refused", "agent 拒绝执行"),
    "misconfigured": ("its model can't be asked as it is set up", "按目前的配置无法使用其模型"),
    "domain_closed": ("a domain that it needs is closed", "所需知识域已关闭"),
    "spontaneous_leak": ("a closed domain was used without need", "无需而动用了已关闭的知识域"),
    "tool_missing": ("a tool is missing", "缺少工具"),
    "falsified": ("it was falsified", "被证伪"),
    "limit": ("a limit is reached", "达到上限"),
    "internal": ("an error of the program", "程序错误"),
}
"""What ended an attempt."""

GIVEN_UP: Final[Mapping[SkipReason, tuple[str, str]]] = {
    "abandoned": ("a person decided so", "由人决定"),
    "optional": ("the plan can do without it", "计划中可有可无"),
    "limit": ("a limit is reached", "达到上限"),
    "internal": ("an error of the program", "程序错误"),
}
"""Why sub-tasks were given up."""

NOT_READ: Final[Mapping[FileReason, tuple[str, str]]] = {
    "unsupported_type": ("not a type of note", "文件类型不支持"),
    "binary": ("no text", "二进制文件"),
    "too_large": ("too large", "文件过大"),
    "empty": ("empty", "文件为空"),
    "unreadable": ("the system refused", "无法读取"),
    "outside_folder": ("a link that leaves the folder", "链接指向文件夹之外"),
    "unknown_encoding": ("unknown encoding", "编码无法识别"),
}
"""Why a file was not read."""

LEVELS: Final[Mapping[BacktrackLevel, tuple[str, str]]] = {
    BacktrackLevel.NODE: ("to its beginning", "退回该子任务起点"),
    BacktrackLevel.PARENT: ("to what feeds it", "退回其上游"),
    BacktrackLevel.PATH: ("along its path", "沿路径退回"),
    BacktrackLevel.GLOBAL: ("to the whole plan", "退回整个计划"),
}
"""How far a backtrack reaches."""

DECIDED_BY: Final[Mapping[Literal["controller", "person"], tuple[str, str]]] = {
    "controller": ("the rules", "规则"),
    "person": ("a person's answer", "人的回答"),
}
"""Who decided on a backtrack."""


MODEL_OUTCOMES: Final[Mapping[str, tuple[str, str]]] = {
    "final_answer": ("it answered", "已回答"),
    "tool_calls": ("it proposes calls", "提出工具调用"),
    "invalid_output": ("its answer can't be used", "回答无法使用"),
    "model_error": ("no answer", "没有回答"),
}
"""What a model call came to."""

MODEL_ERRORS: Final[Mapping[ModelErrorType, tuple[str, str]]] = {
    "timeout": ("it took too long", "超时"),
    "rate_limited": ("the provider limits calls", "服务方限制调用频率"),
    "unavailable": ("it can't be reached", "无法连接"),
    "bad_request": ("the request was not accepted", "请求不被接受"),
    "refused": ("it refused", "模型拒绝"),
    "overflow": ("the request is too long", "请求过长"),
    "misconfigured": ("it can't be asked as it is set up", "按目前的配置无法使用"),
    "unknown": ("an unknown error", "未知错误"),
}
"""Why a model gave no answer."""


def error_of_model(kind: str, lang: Lang) -> str:
    """Return why a model gave no answer in words; what another version wrote stays as it is."""
    for known, words in MODEL_ERRORS.items():
        if known == kind:
            return pick(lang, *words)
    return kind


def outcome_of_model(kind: str, lang: Lang) -> str:
    """Return what a model call came to in words; what another version wrote stays as it is."""
    words = MODEL_OUTCOMES.get(kind)
    return pick(lang, *words) if words is not None else kind


def failure_words(kind: FailureKind, lang: Lang) -> str:
    """Return what ended an attempt in words."""
    return pick(lang, *FAILURES[kind])


def not_read_words(reason: str, lang: Lang) -> str:
    """Return why a file was not read in words; the log of another version may name what this one does not know."""
    for known, words in NOT_READ.items():
        if known == reason:
            return pick(lang, *words)
    return reason


REPAIRS: Final[Mapping[str, tuple[str, str]]] = {
    "correct_parameters": ("parameters corrected", "修正参数"),
    "extend_mask": ("mask extended", "扩展蒙版"),
    "set_mask": ("mask set", "设置蒙版"),
    "change_agent": ("another agent", "改派 agent"),
    "inject_guard": ("told in addition", "附加约束"),
}
"""Repairs by their kind."""

ENDS: Final[Mapping[str, tuple[str, str]]] = {
    "verified": ("accepted", "已接受"),
    "superseded": ("no longer needed", "已不再需要"),
    "given_up": ("given up", "已放弃"),
    "cancelled": ("stopped", "已停止"),
}
"""Ends of attempts other than failures."""


def outcome_words(outcome: str, lang: Lang) -> str:
    """Return how an attempt ended in words; what another version wrote stays as it is."""
    for kind, words in (*FAILURES.items(), *ENDS.items()):
        if kind == outcome:
            return pick(lang, *words)
    return outcome


def repair_kind_words(kind: str, lang: Lang) -> str:
    """Return a kind of repair in words; what another version wrote stays as it is."""
    words = REPAIRS.get(kind)
    return pick(lang, *words) if words is not None else kind
