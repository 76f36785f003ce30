"""What the tools of notes, tables, calculations and kept results say."""

from __future__ import annotations

from typing import Final

from agents.tools.texts.contract import Texts

NOTES: Final[Texts] = {
    "found": {"en": "{number} sections for {query}", "zh": "{query} 匹配 {number} 个小节"},
    "read": {
        "en": "{file} from line {line}, {size} characters",
        "zh": "`{file}` 自第 {line} 行起，{size} 个字符",
    },
    "no_words": {
        "en": "arguments.query is {query}; give words to look for",
        "zh": "`arguments.query` 为 {query}；请给出要查找的词",
    },
    "unknown": {
        "en": "no note {note} among {number} notes; take `source` or `path` from a search result",
        "zh": "{number} 篇笔记中没有 {note}；请从搜索结果中取 `source` 或 `path`",
    },
    "at_least": {
        "en": "arguments.{argument} is {value}; accepted: at least {least}",
        "zh": "`arguments.{argument}` 为 {value}；可接受：至少 {least}",
    },
    "from_to": {
        "en": "arguments.{argument} is {value}; accepted: from {least} to {most}",
        "zh": "`arguments.{argument}` 为 {value}；可接受：{least} 至 {most}",
    },
}
"""Of `search_notes` and `read_note`."""

TABLES: Final[Texts] = {
    "rows": {"en": "{number} rows of {table}", "zh": "{table} 的 {number} 行"},
    "unknown": {"en": "no table {table}; accepted: {known}", "zh": "没有表 {table}；可接受：{known}"},
    "unreadable": {"en": "table {table} can't be read: {error}", "zh": "无法读取表 {table}：“{error}”"},
    "no_file": {
        "en": "no file is at the table's path ({file}). Ask the user to correct it.",
        "zh": "表的路径（`{file}`）处没有文件。请用户改正。",
    },
    "too_large": {
        "en": "{file} has more than {most} bytes. Ask for it as a database.",
        "zh": "`{file}` 超过 {most} 字节。请索取其数据库形式。",
    },
    "no_text": {
        "en": "{file} is no text. Ask the user to save it as CSV in UTF-8.",
        "zh": "`{file}` 不是文本。请用户将其另存为 `UTF-8` 编码的 `CSV`。",
    },
    "bad_csv": {
        "en": "the CSV can't be read at line {line}: {error}",
        "zh": "无法读取 `CSV` 的第 {line} 行：“{error}”",
    },
    "select_only": {
        "en": "only a SELECT is accepted; nothing can be written",
        "zh": "只接受 `SELECT`；不能写入任何内容",
    },
    "too_slow": {
        "en": "the query took more than {seconds} s. Narrow it with WHERE, or ask for fewer columns",
        "zh": "查询用时超过 {seconds} 秒。请用 `WHERE` 缩小范围，或减少列",
    },
    "denied": {
        "en": "{error}: only a SELECT over the named tables is accepted",
        "zh": "“{error}”：只接受对所列表的 `SELECT`",
    },
    "busy": {"en": "the database is being written: {error}", "zh": "数据库正在写入：“{error}”"},
    "not_accepted": {
        "en": "the query is not accepted: {error}. Call without `sql` to see tables and columns",
        "zh": "查询不被接受：“{error}”。不带 `sql` 调用可查看表和列",
    },
}
"""Of `query_table`."""

CALCULATIONS: Final[Texts] = {
    "wrong": {"en": "arguments.expression: {why}", "zh": "`arguments.expression`：{why}"},
    "many_digits": {
        "en": "the value has more than {most} digits. Round it, or ask for a smaller one",
        "zh": "结果超过 {most} 位。请取整，或求更小的值",
    },
    "size": {
        "en": "it has {size} characters; accepted: 1 to {most}",
        "zh": "有 {size} 个字符；可接受：1 至 {most}",
    },
    "no_arithmetic": {
        "en": "{expression} does not read as arithmetic. Accepted: numbers without separators of thousands, + - * / // "
        "% **, parentheses, percentages, abs, min, max, sum, round",
        "zh": "{expression} 不是算式。可接受：不带千位分隔符的数、+ - * / // % **、括号、百分数、`abs`、`min`、`max`、"
        "`sum`、`round`",
    },
    "no_number": {"en": "{text} is no number", "zh": "{text} 不是数"},
    "not_accepted": {
        "en": "{text} is not accepted; accepted: numbers, + - * / // % **, parentheses, percentages, {functions}",
        "zh": "{text} 不被接受；可接受：数、+ - * / // % **、括号、百分数、`{functions}`",
    },
    "no_such_number": {
        "en": "{text} is no number that is accepted, such as 12, 0.5 or 1e6",
        "zh": "{text} 不是可接受的数，例如 12、0.5 或 1e6",
    },
    "large": {
        "en": "the value has more than {most} bits; accepted: numbers of some 3,000 digits",
        "zh": "结果超过 {most} 比特；可接受：约 3000 位以内的数",
    },
    "by_zero": {"en": "it divides by zero", "zh": "除数为零"},
    "exponent": {
        "en": "the exponent is {exponent}; accepted: whole numbers from -{most} to {limit}",
        "zh": "指数为 {exponent}；可接受：-{most} 至 {limit} 的整数",
    },
    "large_power": {
        "en": "the power has more than {most} bits; accepted: numbers of some 3,000 digits",
        "zh": "幂超过 {most} 比特；可接受：约 3000 位以内的数",
    },
    "round": {
        "en": "round takes a number, or a number and the places",
        "zh": "`round` 接受一个数，或一个数与小数位数",
    },
    "places": {
        "en": "the places are {places}; accepted: whole numbers from -100 to 100",
        "zh": "小数位数为 {places}；可接受：-100 至 100 的整数",
    },
    "one": {
        "en": "{function} got {number} numbers; accepted: one",
        "zh": "`{function}` 得到 {number} 个数；可接受：一个",
    },
    "some": {
        "en": "{function} got {number} numbers; accepted: some",
        "zh": "`{function}` 得到 {number} 个数；可接受：至少一个",
    },
}
"""Of `calculate`."""

RESULTS: Final[Texts] = {
    "cut": {
        "en": "{result} (truncated: {size} bytes, go on with read_result(whole={whole}, offset={offset}))",
        "zh": "{result}（已截断：共 {size} 字节，请以 `read_result(whole={whole}, offset={offset})` 继续）",
    },
    "unknown": {
        "en": "no result {whole} is kept in this run. Give `whole` as the truncated result named it.",
        "zh": "本次运行没有保存结果 {whole}。请按被截断的结果所示填写 `whole`。",
    },
    "page": {
        "en": "bytes {start} to {end} of {size}",
        "zh": "共 {size} 字节，此处为第 {start} 至 {end} 字节",
    },
}
"""Of `read_result` and of results that are cut."""
