"""Notice when a goal wants something done in the world, which no plan over notes can do."""

from __future__ import annotations

import re

from agents.planning.patterns.research import is_question

_VERBS_EN = (
    r"book|reserve|cancel|send|e-?mail|forward|post|tweet|pay|transfer|refund|deposit|withdraw|buy|purchase|order|sell"
    r"|delete|remove|upload|download|publish|submit|invite|call|phone|text|message|remind|notify|register|unsubscribe"
    r"|subscribe|sign up|log in|install|deploy|turn (?:on|off)|switch (?:on|off)|rename|move|copy|save"
    r"|(?:create|add|set(?: up)?|update|change|modify|schedule) (?=(?:a|an|the|my|our|it|this|that|your)\b)"
)
_ACTION_EN = re.compile(
    rf"(?:^|(?:,|;|\band\b|\bthen\b|\bor\b)\s+(?:(?:then|also|please|finally|and)\s+)*)(?P<verb>{_VERBS_EN})\b",
    re.IGNORECASE,
)
_ACTION_ZH = re.compile(
    r"(?:^|[，,；;]|并|然后|再|帮我)(?:请|再|并|帮我)*"
    r"(?P<verb>预订|预定|订购|下单|购买|付款|支付|转账|退款|取消|删除|发送|发给|发邮件|寄给|通知|提醒|上传|下载|发布|提交|邀请|打电话"
    r"|注册|登录|安装|部署|打开|关闭|重命名|移动|保存|设置|修改|更新|发(?=.{1,10}给))"
)


def requested_actions(sentence: str) -> tuple[str, ...]:
    """Return the verbs of actions that a sentence orders, as typed; none for a question.

    >>> requested_actions("Summarise the minutes and send them to the client")
    ('send',)
    >>> requested_actions("How do I install and update it?")
    ()
    """
    if is_question(sentence):
        return ()
    found = [
        match["verb"].strip() for pattern in (_ACTION_EN, _ACTION_ZH) for match in pattern.finditer(sentence)
    ]
    return tuple(dict.fromkeys(found))
