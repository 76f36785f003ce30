"""Chinese for what inner parts say in English only.

Errors of the core, the log and the settings that carry one English message are told apart by its form. A message of
another form is shown as it is behind a Chinese head: wrong words are worse than foreign ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orchestrator.interfaces.cli.bodies.summaries import INTERRUPTED, STATUS_WORDS

_FORMS: Final[Mapping[str, str]] = {
    r"(.+) is no choice of request (.+); choose one of: (.+)": r"\1 不是请求 \2 的选项；可接受：\3",
    r"'set_mask' needs an agent, a domain and a value, e\.g\. (.+)": r"'set_mask' 需要 agent、知识域和取值，例如 \1",
    r"mask value (.+) \(hundredths\) is outside (.+)\.\.(.+); give .+": (
        r"蒙版值 \1（百分之一）超出 \2 到 \3；请给出 -1.00 到 1.00 的值"
    ),
    r"'reassign' needs the id of an agent of the roster": r"'reassign' 需要名单中某个 agent 的标识",
    r"(.+) is no agent that can take (.+); choose one of: (.*)": r"\1 不是能承担 \2 的 agent；可接受：\3",
    r"(.+) is forbidden by the contract or at -1\.00 for (.+), and no answer opens it; .+": (
        r"\1 被契约禁止，或对 \2 为 -1.00，任何回答都不能开启它；请选择 'review' 修改方案，或换一个知识域"
    ),
    r"event schema (.+) is not readable by this program \(it reads 1 to (.+)\); .+": (
        r"事件格式版本 \1 超出本程序可读的范围（1 到 \2）；请升级 maskgrad 后再读取该运行"
    ),
    r"event (.+) is not of its type's shape: (.+)": r"事件 \1 的内容与其类型不符：\2",
    r"language (.+) is not supported; accepted: (.+) or (.+) \((.+) or (.+)\)": (
        r"不支持语言 \1；可接受：\2 或 \3（\4 或 \5）"
    ),
    r"store size (.+) is not supported; accepted: a whole number of megabytes from 1 \((.+)\)": (
        r"不支持存储大小 \1；可接受：从 1 开始的整数，单位为兆字节（\2）"
    ),
    r"number of attempts (.+) is not supported; accepted: a whole number from 1 \((.+)\)": (
        r"不支持尝试数量 \1；可接受：从 1 开始的整数（\2）"
    ),
    r"rate limit of a provider (.+) is not supported; accepted: NAME=REQUESTSrpm.+, such as (.+) \((.+)\)": (
        r"不支持提供方速率限制 \1；可接受：名称=每分钟请求数rpm、名称=每分钟词元数tpm，或两者以斜杠相连，"
        r"均为从 1 开始的整数，每个提供方只写一次，例如 \2（\3）"
    ),
    r"cap of a provider (.+) is not supported; accepted: NAME=NUMBER .+, such as (.+) \((.+)\)": (
        r"不支持提供方上限 \1；可接受：名称=数量，数量为从 1 开始的整数，每个提供方只写一次，例如 \2（\3）"
    ),
}
"""Forms of English messages, each with its Chinese."""

_WANTED: Final[Mapping[str, str]] = {
    "approved": "已批准",
    "not ended": "未结束",
    "ended": "已结束",
    "executed by a process now": "正由某个进程执行",
}
"""What an action wants of a run, in the words of `WrongState`."""


def in_chinese(message: str) -> str | None:
    """Return the Chinese of an English message of a known form; `None` for any other.

    >>> in_chinese("'reassign' needs the id of an agent of the roster")
    "'reassign' 需要名单中某个 agent 的标识"
    """
    for form, chinese in _FORMS.items():
        found = re.fullmatch(form, message, re.DOTALL)
        if found is not None:
            return found.expand(chinese)
    return None


def with_chinese_states(message: str) -> str:
    """Return a Chinese message with the states of runs in Chinese too.

    >>> with_chinese_states("运行 'r-1' 处于 'reviewing' 状态；此操作要求状态为 approved。")
    "运行 'r-1' 处于“审核中”状态；此操作要求状态为“已批准”。"
    """
    for status, (_, chinese) in (*STATUS_WORDS.items(), (INTERRUPTED[0], INTERRUPTED)):
        message = re.sub(f" ?'{status}' ?", f"“{chinese}”", message)
    for wanted, chinese in _WANTED.items():
        message = message.replace(f"要求状态为 {wanted}", f"要求状态为“{chinese}”")
    return message
