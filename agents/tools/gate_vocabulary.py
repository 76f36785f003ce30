"""Words for what tools are about and what they do, in English and Chinese.

Topics and deeds of tools in common use: mail, calendars, files, chat, the web, money, travel, code, data. They were
written down with the tool lists and prompts of the development rows of `benchmarks.gate` at hand, as kinds and not as
rows; the held-out rows say whether they carry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agents.retrieval.tokens import words

Vocabulary = Mapping[str, tuple[frozenset[str], tuple[str, ...]]]
"""Name of a kind → its English words in their stems, and its Chinese words as they stand in a text."""


def _read(entries: Mapping[str, tuple[str, str]]) -> Vocabulary:
    return {
        name: (frozenset(words(english)), tuple(chinese.split()))
        for name, (english, chinese) in entries.items()
    }


TOPICS: Final = _read(
    {
        "mail": ("email emails mail mails inbox mailbox newsletter attachment", "邮件 邮箱 收件箱 来信 电子信"),
        "chat": (
            "chat channel channels message messages dm slack teams discord thread conversation inbox",
            "聊天 频道 消息 私信 群聊 群里 会话 微信 钉钉 飞书",
        ),
        "calendar": (
            "calendar event events appointment appointments meeting meetings schedule reminder invitation agenda",
            "日历 日程 会议 约会 预约 活动 提醒 行程",
        ),
        "time": (
            "today tomorrow yesterday tonight now week weekend month monday tuesday wednesday thursday friday saturday"
            " sunday day date clock",
            "今天 明天 昨天 今晚 现在 本周 下周 上周 周末 本月 下月 星期 周一 周二 周三 周四 周五 周六 周日 日期 几号",
        ),
        "files": (
            "file files folder document documents drive disk directory spreadsheet pdf docx attachment",
            "文件 文档 文件夹 目录 网盘 云盘 表格 附件 纪要",
        ),
        "notes": ("note notes notebook memo wiki", "笔记 便签 备忘"),
        "contacts": ("contact contacts phonebook", "联系人 通讯录 联系方式"),
        "profile": (
            "profile account user username personal passport address phone myself",
            "个人 账户 账号 用户 资料 护照 地址",
        ),
        "secrets": ("password passwords credential credentials login pin", "密码 口令 凭证"),
        "money": (
            "money bank transaction transactions payment payments pay paid spend spent spending bill bills invoice rent"
            " salary transfer balance refund purchase expense expenses iban subscription debit amount",
            "钱 银行 交易 付款 支付 花费 花了 花钱 账单 发票 房租 工资 转账 汇款 余额 退款 费用 支出 扣款",
        ),
        "web": (
            "web website websites webpage page site url link blog article internet online",
            "网页 网站 网址 链接 博客 上网 网上 联网 互联网",
        ),
        "hotel": ("hotel hotels accommodation hostel", "酒店 宾馆 旅馆 住宿"),
        "restaurant": ("restaurant restaurants cuisine eat dining food", "餐厅 餐馆 饭店 菜系 吃饭"),
        "car": ("car cars rental vehicle", "租车 汽车 车辆"),
        "flight": ("flight flights fly airline airport", "航班 机票 飞机 机场"),
        "weather": ("weather forecast temperature rain", "天气 气温 预报"),
        "code": ("code repository repo branch commit issue bug pull test tests", "代码 仓库 分支 提交 缺陷 测试"),
        "data": ("database table tables sql query rows record records", "数据库 数据表 记录"),
        "people": (
            "people user users member members colleague employee employees team customer customers",
            "用户 成员 同事 员工 客户",
        ),
        "ticket": ("ticket tickets case order orders shipment delivery", "工单 订单 快递 物流 发货"),
        "product": ("product products cart shop store", "商品 产品 价格 购物车"),
        "task": ("task tasks todo todos project milestone", "任务 待办 项目"),
        "system": ("server service process cpu memory logs monitor network", "服务器 服务 进程 日志 监控 网络"),
    }
)  # fmt: skip
"""What tools are about. A word may stand for several."""

DEEDS: Final[Mapping[str, tuple[frozenset[str], tuple[str, ...]]]] = {
    name: (frozenset(english.split()), tuple(chinese.split()))
    for name, (english, chinese) in {
        "send": (
            "send write reply respond forward post tell notify inform message email mail dm",
            "发送 发给 发一 发封 寄 写信 写邮件 回复 转发 通知 告诉 告知 群发 发邮件 发消息 发到",
        ),
        "publish": ("post publish upload share announce", "发布 上传 公布 贴到 发表"),
        "create": (
            "create add make write generate save set register put",
            "创建 新建 添加 增加 生成 写 保存 建立 加入 设置",
        ),
        "add": ("add append insert include put invite", "添加 追加 加入 插入 加到 邀请"),
        "schedule": ("schedule book plan arrange set create add", "安排 预约 预定 定期 计划"),
        "change": (
            "update change modify edit adjust correct fix reschedule move rename replace set switch increase"
            " decrease postpone",
            "更新 修改 更改 调整 改为 改成 编辑 更正 推迟 改期 移动 重命名 替换 提高 降低",
        ),
        "delete": (
            "delete remove cancel erase drop clear unsubscribe",
            "删除 删掉 移除 取消 清空 清除 退订",
        ),
        "share": ("share invite grant", "分享 共享 邀请 授权"),
        "pay": (
            "pay send transfer wire refund buy purchase order settle donate",
            "支付 付款 转账 汇款 退款 购买 还款 打款",
        ),
        "reserve": ("reserve book order", "预订 预定 预约 订"),
        "run": (
            "run execute deploy install start stop restart build launch",
            "运行 执行 部署 安装 启动 停止 重启",
        ),
    }.items()
}
"""What tools do, by verbs in their base form. A word may stand for several: to post is to send and to publish."""

ALSO_NOUNS: Final = frozenset(
    """post message email mail dm share book schedule plan order transfer wire run start stop build launch purchase
    refund set change update fix edit move switch increase decrease drop forward""".split()  # noqa: SIM905
)
"""Deeds that are also nouns: in a prompt they count where a verb stands."""

BEFORE_A_DEED: Final = frozenset(
    """please to and then also or not you just now first next kindly let must should will can could would don't me us
    need be""".split()  # noqa: SIM905
)
"""Words after which a verb stands in a request."""

GENERIC: Final = frozenset(
    words(
        "given all by of the for in to with from name names id ids info information detail details data item items"
        " list result results current recent most number new content contents value type types return returns tool"
        " type available date day time user query function use used"
    )
)
"""Stems that tell no tool apart."""

PERSONS: Final = frozenset({"contacts", "people"})
"""Topics of tools that look persons up."""

PERSON_PARAMETERS: Final = frozenset(
    """recipient recipients participant participants to cc attendee attendees email user member assignee invitee
    receiver""".split()  # noqa: SIM905
)
"""Words in the names of parameters that say whom something reaches."""
