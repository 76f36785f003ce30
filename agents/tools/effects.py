"""What a foreign tool may do, where nobody has said so: told from its name, its description and its parameters.

For tools that declare nothing (MCP servers, LangChain tools, data sets). Conservative: a tool reads only where its name
begins with a reading verb and neither name nor description speaks of an effect; everything else acts outside, or, where
it plainly handles files, writes. What a user configured is never replaced.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from agents.tools.contract import SideEffectClass

READING_VERBS: Final = frozenset(
    """get read list search find fetch query lookup look show view count describe retrieve browse inspect select
    check compute calculate calc compare translate summarize summarise explain analyze analyse parse extract convert
    estimate predict classify detect recommend rank filter sort grep glob head tail stat status help info
    peek""".split()  # noqa: SIM905
)
"""Verbs after which a tool gives something back. `load`, `open`, `run`, `call`, `validate` are missing on purpose: they
do as often act."""

EFFECT_VERBS: Final = frozenset(
    """send post put patch delete remove create update write edit modify change set add append insert upload publish
    submit invite share grant revoke cancel reschedule schedule book reserve order buy purchase sell pay transfer wire
    withdraw deposit refund donate execute exec run deploy install uninstall start stop restart kill shutdown reboot
    enable disable rename move copy replace reset rotate merge commit push approve reject confirm reply forward email
    message notify alert call dial tweet comment like follow unfollow subscribe unsubscribe register enroll sign login
    logout mark archive restore close lock unlock block unblock ban export import sync save store record trigger drop
    truncate purge wipe erase clear overwrite encrypt decrypt release assign unassign open turn adjust
    modify inject disable escalate exfiltrate wipe charge bill redeem vote apply accept decline""".split()  # noqa: SIM905
)
"""Verbs of tools that change something. They come from what tools in common use are called, and were written down with
the tool lists of the development data sets at hand."""

_ALSO_NOUNS: Final = frozenset(
    """like follow order record sign comment message call open bill store block close head email alert lock vote mark
    set change start stop save apply charge share""".split()  # noqa: SIM905
)
"""As often nouns or adjectives, in names and descriptions: they count only where they are plainly verbs."""

_READING_ZH: Final = re.compile(
    r"^(?:获取|读取|查询|搜索|检索|列出|查看|查找|统计|计算|浏览|返回|比较|翻译|解析|提取|显示|获得|查)"
)
_EFFECT_ZH: Final = re.compile(
    # What is `已发送` or `发送的` describes a thing, and does nothing.
    r"(?<![已被])(?:发送|发布|删除|创建|新建|更新|修改|写入|编辑|添加|追加|插入|上传|提交|邀请|共享|分享|授权|撤销|取消|预订|预约|下单|"
    r"购买|支付|付款|转账|汇款|退款|执行|运行|部署|安装|卸载|启动|停止|重启|关闭|启用|禁用|重命名|移动|替换|重置|批准|拒绝|"
    r"回复|转发|通知|拨打|订阅|注册|登录|标记|归档|恢复|锁定|解锁|导入|保存|清空|覆盖|加密|设置|变更|推送|"
    r"发给|发到|寄)(?!的|记录|时间|状态|历史|日志)"
)
_FILES: Final = frozenset(
    "file files folder folders directory dir disk document documents note notes path".split()  # noqa: SIM905
)
_OUTWARD: Final = frozenset(
    """email mail cloud drive share http https url web webpage website slack channel remote server upload publish post
    send invite api account bank""".split()  # noqa: SIM905
)
_FILES_ZH: Final = re.compile(r"本地|文件|目录|文件夹|磁盘|笔记")
_OUTWARD_ZH: Final = re.compile(r"邮件|网页|网站|云|共享|分享|发送|上传|发布|远程|服务器|频道")

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT: Final = re.compile(r"[^A-Za-z]+")
_STATES: Final = frozenset({"in", "out", "off"})
"""`check_out`, `check_in`, `sign_off`: with these a reading verb is none."""
_THIRD_PERSON: Final = {
    verb + ending: verb
    for verb in EFFECT_VERBS
    for ending in ("s", "es")
} | {verb[:-1] + "ies": verb for verb in EFFECT_VERBS if verb.endswith("y")}  # fmt: skip
_PARTICIPLES: Final = (
    {verb + "ed": verb for verb in EFFECT_VERBS}
    | {verb + "d": verb for verb in EFFECT_VERBS if verb.endswith("e")}
    | {verb + verb[-1] + "ed": verb for verb in EFFECT_VERBS}
    | {verb[:-1] + "ied": verb for verb in EFFECT_VERBS if verb.endswith("y")}
    | {
        "sent": "send",
        "written": "write",
        "paid": "pay",
        "sold": "sell",
        "bought": "buy",
        "withdrawn": "withdraw",
    }
)
_WORD: Final = re.compile(r"[a-z]+|[.;:!?\n,]", re.IGNORECASE)
_BEFORE_A_VERB: Final = frozenset(
    "and also then will to or it this which that may can automatically tool function optionally".split()  # noqa: SIM905
)
_IS: Final = frozenset("is are be gets get was were being".split())  # noqa: SIM905
_ENDS: Final = frozenset(".;:!?\n")


def side_effect_of(
    name: str,
    description: str,
    schema: Mapping[str, Any],
    *,
    configured: SideEffectClass | None = None,
) -> SideEffectClass:
    """Return the side-effect class of a tool that declares none; `configured` by the user is returned as it is.

    `read` only where that is certain; never `draft`, which is a promise about where something is written. What the
    maker of a tool says of it (a hint `readOnly`) is no configuration: pass it as nothing.

    >>> side_effect_of("search_files", "Search for files by content.", {})
    'read'
    >>> side_effect_of("get_unread_emails", "Returns all unread emails. They are marked as read.", {})
    'external'
    >>> side_effect_of("write_file", "Write text to a file.", {}), side_effect_of("sys_monitor", "Monitoring.", {})
    ('write', 'external')
    """
    if configured is not None:
        return configured
    names = name_words(name)
    if _reads(name, names, description, schema):
        return "read"
    told = {word.casefold() for word in _WORD.findall(f"{' '.join(names)} {description}")}
    filed = bool(told & _FILES) or bool(_FILES_ZH.search(description))
    outward = bool(told & _OUTWARD) or bool(_OUTWARD_ZH.search(name + description))
    return "write" if filed and not outward and names and names[0] in EFFECT_VERBS else "external"


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a tool's name in small letters.

    >>> name_words("getUserInfo"), name_words("mcp.search-files2")
    (('get', 'user', 'info'), ('mcp', 'search', 'files'))
    """
    spaced = _CAMEL.sub(" ", unicodedata.normalize("NFKC", name))
    return tuple(word.casefold() for word in _SPLIT.split(spaced) if word)


def effect_verbs(name: str) -> tuple[str, ...]:
    """Return the verbs in a tool's name that change something, in order."""
    return tuple(word for word in name_words(name) if word in EFFECT_VERBS)


def _reads(name: str, names: tuple[str, ...], description: str, schema: Mapping[str, Any]) -> bool:
    english = bool(names) and names[0] in READING_VERBS and not _STATES & set(names[1:2])
    chinese = bool(_READING_ZH.match(name) or (not names and _READING_ZH.match(description)))
    if not (english or chinese):
        return False
    if any(map(_acts, pairwise(names))) or _EFFECT_ZH.search(name):
        return False
    return not speaks_of_effects(description) and not _takes_effects(schema)


def _acts(pair: tuple[str, str]) -> bool:
    """Whether the second of two words of a name is a deed: `get_and_close`, `find_create`, and not `get_open_order`."""
    before, word = pair
    return word in EFFECT_VERBS and (word not in _ALSO_NOUNS or before in ("and", "or", "then"))


def speaks_of_effects(description: str) -> bool:
    """Return whether a description says that something is sent, changed, removed and the like.

    >>> speaks_of_effects("Returns the sent emails."), speaks_of_effects("Returns it and deletes it afterwards.")
    (False, True)
    """
    if _EFFECT_ZH.search(description):
        return True
    before, earlier = ".", "."
    for match in _WORD.finditer(description):
        word = match[0].casefold()
        if before in _IS and earlier not in ("that", "which") and word in _PARTICIPLES:
            return True
        verb = _THIRD_PERSON.get(word) or (word if word in EFFECT_VERBS else None)
        if verb is not None and verb not in _ALSO_NOUNS and (before == "," or before in _BEFORE_A_VERB):
            return True
        if verb is not None and (before in _ENDS or before in ("will", "also", "it")):
            return True
        before, earlier = word, before
    return False


def _takes_effects(schema: Mapping[str, Any]) -> bool:
    """Whether a tool is told as a parameter what to do: a method, a command, code, a statement to execute."""
    properties = schema.get("properties")
    names = {str(name).casefold() for name in properties} if isinstance(properties, Mapping) else set()
    return bool(
        names & {"method", "command", "cmd", "code", "script", "sql", "statement", "action", "operation"}
    )
