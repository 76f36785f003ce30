"""What is said of the web and of foreign tools: MCP servers, LangChain tools, functions of the user."""

from __future__ import annotations

from typing import Final

from agents.tools.texts.contract import Texts

FETCHES: Final[Texts] = {
    "fetched": {"en": "{url}: {size} characters", "zh": "{url}：{size} 个字符"},
    "fetched_part": {
        "en": "{url}: {size} characters (the page is longer)",
        "zh": "{url}：{size} 个字符（网页更长）",
    },
    "late": {
        "en": "{url} gave no whole answer within {seconds} s",
        "zh": "{url} 在 {seconds} 秒内没有给出完整回答",
    },
    "failed": {"en": "{url} can't be fetched: {error}", "zh": "无法获取 {url}：“{error}”"},
    "redirects": {
        "en": "more than {most} redirects, the last to {url}",
        "zh": "重定向超过 {most} 次，最后一次指向 {url}",
    },
    "not_listed": {
        "en": "{url} is at the host {host}, port {port}, which is not listed; listed: {known}. Use a listed one, or "
        "ask the user to list it.",
        "zh": "{url} 位于主机 {host}、端口 {port}，不在清单中；清单：{known}。请使用清单中的主机，或请用户将其列入。",
    },
    "leads_on": {
        "en": "{first} leads on to {url}, at a host that is listed by {rule} only and asked about. Accepted in a "
        "redirect: the same host, or one that is listed exactly. Fetch that address itself, so that the user is asked",
        "zh": "{first} 转向 {url}，该主机仅由 {rule} 列入，须询问用户。重定向可接受：同一主机，或明确列入的主机。"
        "请直接获取该地址，以便询问用户",
    },
    "private": {
        "en": "{host} is at {address}, no public address; ask the user to list it as private",
        "zh": "{host} 位于 {address}，不是公网地址；请用户将其列为私有",
    },
    "bad_url": {
        "en": "arguments.url is {url}; accepted: http:// or https://, a host, no user name, no spaces",
        "zh": "`arguments.url` 为 {url}；可接受：`http://` 或 `https://`、主机名、不含用户名和空格",
    },
    "missing": {
        "en": "{url} does not exist ({status}). Try another address.",
        "zh": "{url} 不存在（{status}）。请换一个地址。",
    },
    "answered": {"en": "{url} answered {status}", "zh": "{url} 回应 {status}"},
    "answered_no": {
        "en": "{url} answered {status}. Try another address.",
        "zh": "{url} 回应 {status}。请换一个地址。",
    },
    "no_text": {
        "en": "{url} is {kind}; accepted: text, HTML, JSON, XML",
        "zh": "{url} 为 `{kind}`；可接受：文本、HTML、JSON、XML",
    },
}
"""Of `fetch_url`."""

FOREIGN: Final[Texts] = {
    "answered": {"en": "{called} answered", "zh": "`{called}` 已回答"},
    "answered_in_part": {
        "en": "{called} answered, {number} parts that are no text left out",
        "zh": "`{called}` 已回答，略去 {number} 个非文本部分",
    },
    "no_key": {
        "en": "{called} changes something: it is performed under a key, never called",
        "zh": "`{called}` 会产生改动：须凭键执行，不能直接调用",
    },
    "no_key_perhaps": {
        "en": "{called} may change something: it is performed under a key, never called",
        "zh": "`{called}` 可能产生改动：须凭键执行，不能直接调用",
    },
    "not_known": {
        "en": "{result}; whether the call happened is not known",
        "zh": "{result}；调用是否发生尚不可知",
    },
    "says": {"en": "MCP server {server}: {why}", "zh": "MCP 服务器 {server}：{why}"},
    "tool_says": {"en": "{called} says: {why}", "zh": "`{called}` 说：{why}"},
    "server_says": {"en": "says: {why}", "zh": "说：{why}"},
    "no_reason": {"en": "no reason given", "zh": "未说明原因"},
    "late": {"en": "gave no result within {seconds} s", "zh": "在 {seconds} 秒内没有给出结果"},
    "went_away": {"en": "went away during the call", "zh": "在调用期间断开"},
    "broke_off": {"en": "broke off: {error}", "zh": "中断：“{error}”"},
    "unreached": {
        "en": "MCP server {server} can't be reached: {why}",
        "zh": "无法连接 MCP 服务器 {server}：{why}",
    },
    "not_sent": {
        "en": "{result}; nothing was sent, nothing happened",
        "zh": "{result}；没有发送任何内容，也没有发生任何事",
    },
    "no_answer": {"en": "it did not answer within {seconds} s", "zh": "它在 {seconds} 秒内没有回答"},
    "not_listed": {"en": "its tools can't be listed: {error}", "zh": "无法列出其工具：“{error}”"},
    "endless": {
        "en": "its list of tools does not end after {most} pages",
        "zh": "其工具列表在 {most} 页之后仍未结束",
    },
    "not_installed": {
        "en": "MCP is not installed; install `maskgrad[mcp]`",
        "zh": "未安装 MCP；请安装 `maskgrad[mcp]`",
    },
    "not_set": {
        "en": "the environment variable {names} is not set; set it and start again",
        "zh": "未设置环境变量 `{names}`；请设置后重新开始",
    },
    "new": {
        "en": "tool {tool} of MCP server {server} is new; {why}",
        "zh": "MCP 服务器 {server} 的工具 {tool} 是新的；{why}",
    },
    "moved": {
        "en": "MCP server {server} is started or reached otherwise than when you trusted it; {why}",
        "zh": "MCP 服务器 {server} 的启动方式或地址与信任时不同；{why}",
    },
    "gone": {
        "en": "MCP server {server} does not have tool {tool} any more",
        "zh": "MCP 服务器 {server} 已不再提供工具 {tool}",
    },
    "changed": {
        "en": "the description of tool {tool} of MCP server {server} has changed; {why}",
        "zh": "MCP 服务器 {server} 的工具 {tool} 的描述有改动；{why}",
    },
    "trust": {
        "en": "held until you trust it: maskgrad tools trust {called}",
        "zh": "在你信任之前一直搁置：`maskgrad tools trust {called}`",
    },
    "same_name": {
        "en": "tool {tool} of MCP server {server} and tool {other} of MCP server {others} are both called {name}. "
        "Accepted: one tool of a name. {why}, and trust it again",
        "zh": "MCP 服务器 {server} 的工具 {tool} 与 MCP 服务器 {others} 的工具 {other} 同名 {name}。"
        "可接受：每个名称一个工具。{why}，然后重新信任",
    },
    "rename_tool": {
        "en": "Have one of them renamed by whoever makes the server",
        "zh": "请让服务器的制作者为其中一个改名",
    },
    "rename_server": {
        "en": "Rename one of the servers in tools.yaml",
        "zh": "请在 `tools.yaml` 中为其中一个服务器改名",
    },
}
"""Of tools that are not the program's own, in the program's words."""
