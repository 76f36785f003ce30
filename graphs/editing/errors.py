"""The one error of edits, in both languages."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from graphs.contract import Lang


class EditCode(StrEnum):
    """Why an edit is refused."""

    UNKNOWN_NODE = "unknown_node"
    ID_TAKEN = "id_taken"
    INVALID_ID = "invalid_id"
    DUPLICATE_IDS = "duplicate_ids"
    POSITION = "position"
    SELF_EDGE = "self_edge"
    EDGE_EXISTS = "edge_exists"
    UNKNOWN_EDGE = "unknown_edge"
    UNKNOWN_PORT = "unknown_port"
    CYCLE = "cycle"
    LOST_EDGE = "lost_edge"
    TOO_FEW = "too_few"
    UNKNOWN_PARAM = "unknown_param"
    STALE = "stale"


_WORDS: Final[Mapping[EditCode, tuple[str, str]]] = {
    EditCode.UNKNOWN_NODE: (
        "There is no node {node!r}; the plan has {known}. Use one of these ids, or add the node first.",
        "没有节点 {node!r}；计划中有 {known}。请改用其中之一，或先添加该节点。",
    ),
    EditCode.ID_TAKEN: (
        "Node id {node!r} is taken. Choose another id.",
        "节点 id {node!r} 已被占用。请另选一个。",
    ),
    EditCode.INVALID_ID: (
        "Node id {node!r} is not accepted: a letter, then up to 63 letters, digits, `_` or `-`. "
        "Choose another.",
        "节点 id {node!r} 不可用：须以英文字母开头，后接至多 63 个字母、数字、`_` 或 `-`。请另选一个。",
    ),
    EditCode.DUPLICATE_IDS: (
        "The plan uses node id {node!r} more than once, so an edit cannot tell which one is meant. "
        "Correct the plan document first.",
        "计划中节点 id {node!r} 出现不止一次，无法判断编辑的是哪一个。请先改正计划文件。",
    ),
    EditCode.POSITION: (
        "Position {position} does not exist; accepted is 0 to {last}, or nothing to append.",
        "位置 {position} 不存在；可接受 0 到 {last}，省略则加在末尾。",
    ),
    EditCode.SELF_EDGE: (
        "Node {node!r} cannot depend on itself. Repetition inside a node is kind `loop`.",
        "节点 {node!r} 不能依赖自身。节点内部的重复用类型 `loop`。",
    ),
    EditCode.EDGE_EXISTS: (
        "Edge {edge} is already there. Nothing to do.",
        "边 {edge} 已经存在，无须添加。",
    ),
    EditCode.UNKNOWN_EDGE: (
        "There is no edge {edge}; between these nodes there are: {known}. Name one of them.",
        "没有边 {edge}；这两个节点之间现有：{known}。请指明其中一条。",
    ),
    EditCode.UNKNOWN_PORT: (
        "Node {node!r} has no {side} port {port!r}; it has {known}. "
        "Use one of these, or declare the port first.",
        "节点 {node!r} 没有端口 {port!r}（{side}）；现有 {known}。请改用其中之一，或先声明该端口。",
    ),
    EditCode.CYCLE: (
        "This would make nodes wait for each other: {path}. Cut one of these edges first, or leave it.",
        "这样会使节点互相等待：{path}。请先剪断其中一条边，或放弃这次编辑。",
    ),
    EditCode.LOST_EDGE: (
        "Edge {edge} would be lost: no new node has a free {side} port {port!r}. "
        "Declare the port, or cut the edge first.",
        "边 {edge} 会丢失：新节点都没有可用的端口 {port!r}（{side}）。请声明该端口，或先剪断这条边。",
    ),
    EditCode.TOO_FEW: (
        "This needs at least 2 different nodes and got {count}. Name more, or use another edit.",
        "这至少需要 2 个不同的节点，收到 {count} 个。请补充，或改用别的编辑。",
    ),
    EditCode.UNKNOWN_PARAM: (
        "Node {node!r} has no parameter {param!r} to remove; it has {known}.",
        "节点 {node!r} 没有可删除的参数 {param!r}；现有 {known}。",
    ),
    EditCode.STALE: (
        "This patch was made for another state of the plan ({what} differs). Reload the plan and edit again.",
        "这个补丁针对的是计划的另一个状态（{what} 不一致）。请重新载入计划后再编辑。",
    ),
}

_SIDES: Final[Mapping[str, str]] = {"input": "输入", "output": "输出"}


class EditError(ValueError):
    """Raised by `apply_edit` for an edit that does not fit the plan; the plan is untouched.

    Interfaces catch it and show `render(lang)`.
    """

    def __init__(self, code: EditCode, **detail: str) -> None:
        self.code: Final = code
        self.detail: Final[Mapping[str, str]] = detail
        super().__init__(self.render("en"))

    def render(self, lang: Lang) -> str:
        """Write the reason as one line: the value got, what is accepted, the next step."""
        english, chinese = _WORDS[self.code]
        if lang == "en":
            return english.format_map(self.detail)
        side = self.detail.get("side")
        return chinese.format_map({**self.detail, **({"side": _SIDES[side]} if side else {})})
