"""What the built-in tools say of themselves, for models and for people."""

from __future__ import annotations

from typing import Final

from agents.tools.texts.contract import Texts

DESCRIPTIONS: Final[Texts] = {
    "search_notes": {
        "en": "Find the sections of the notes that match a query, by words and by meaning.",
        "zh": "按词语和含义查找笔记中与查询相符的小节。",
    },
    "search_notes.use": {
        "en": "To find where the notes speak about something; ask again with other words for what is still open.",
        "zh": "查找笔记何处谈到某事；尚未解决的，换用其他词语再查。",
    },
    "search_notes.not": {
        "en": "To read a place that is already known: `read_note` gives it whole.",
        "zh": "读取已知的位置：`read_note` 会完整给出。",
    },
    "read_note": {"en": "Read lines of one note, exactly.", "zh": "逐字读取一篇笔记的若干行。"},
    "read_note.use": {
        "en": "To read a section that a search found, or what stands around it.",
        "zh": "读取搜索找到的小节，或其前后内容。",
    },
    "read_note.not": {
        "en": "To look for something: `search_notes` finds it.",
        "zh": "查找某事：请用 `search_notes`。",
    },
    "read_note.source": {"en": "Source id or path.", "zh": "来源的标识或路径。"},
    "read_note.end_line": {
        "en": "Inclusive; default: the last line.",
        "zh": "含该行；默认：最后一行。",
    },
    "offset.characters": {"en": "Characters to skip.", "zh": "要跳过的字符数。"},
    "calculate": {
        "en": "Calculate an expression exactly, percentages too.",
        "zh": "精确计算一个算式，包括百分数。",
    },
    "calculate.use": {
        "en": "For every sum, difference, product, quotient or percentage that an answer rests on.",
        "zh": "回答所依据的每个和、差、积、商或百分数。",
    },
    "calculate.not": {
        "en": "For roots, logarithms, dates or units; to count rows of a table: `query_table` does.",
        "zh": "开方、对数、日期或单位；统计表格的行：请用 `query_table`。",
    },
    "calculate.expression": {
        "en": "Numbers without separators of thousands, + - * / // % **, parentheses, '15% of 200', abs, min, max, "
        "sum, round(x, places). 7 % 5 is the remainder.",
        "zh": "不带千位分隔符的数、+ - * / // % **、括号、'15% of 200'、`abs`、`min`、`max`、`sum`、"
        "`round(x, places)`。7 % 5 为余数。",
    },
    "query_table": {
        "en": "Ask a table (a SQLite database or a CSV file) with one SELECT; without `sql`, say what is in it.",
        "zh": "用一条 `SELECT` 查询表（`SQLite` 数据库或 `CSV` 文件）；不带 `sql` 时说明其中有什么。",
    },
    "query_table.use": {
        "en": "To find, count, sum or group rows; the exact figures of an answer come from here.",
        "zh": "查找、计数、求和或分组；回答中的确切数字由此而来。",
    },
    "query_table.not": {
        "en": "For text files and notes; to change a table: nothing can be written.",
        "zh": "文本文件和笔记；改动表格：不能写入任何内容。",
    },
    "query_table.table": {"en": "Name of the table's source.", "zh": "表的来源名称。"},
    "query_table.sql": {
        "en": "One SELECT in SQLite's dialect. A CSV file is the table `data`; select its column `_row`, or of a "
        "database's table `rowid AS _row`, to cite rows by it.",
        "zh": "一条 `SQLite` 方言的 `SELECT`。`CSV` 文件即表 `data`；请选出其列 `_row`"
        "（数据库的表则为 `rowid AS _row`），以便引用各行。",
    },
    "list_files": {
        "en": "List the files of a folder and of the folders in it.",
        "zh": "列出文件夹及其子文件夹中的文件。",
    },
    "list_files.use": {
        "en": "To find out which files there are, or the exact path of one.",
        "zh": "了解有哪些文件，或某个文件的确切路径。",
    },
    "list_files.not": {
        "en": "To look for words in files: `search_files` does. The notes of the run have `search_notes`.",
        "zh": "在文件中查找词语：请用 `search_files`。本次运行的笔记请用 `search_notes`。",
    },
    "list_files.name": {
        "en": "Pattern of the file name with * and ?, as in '*.md'.",
        "zh": "文件名的模式，可含 * 和 ?，例如 '*.md'。",
    },
    "list_files.offset": {"en": "Files to skip.", "zh": "要跳过的文件数。"},
    "files.path": {
        "en": "As a listing gives it, with '/'; '.' is the allowed folder.",
        "zh": "按列出的写法，用 '/' 分隔；'.' 为允许的文件夹。",
    },
    "search_files": {
        "en": "Find the lines of text files that hold given words, exactly as written, in any case.",
        "zh": "查找文本文件中含有给定词语的行，逐字匹配，不分大小写。",
    },
    "search_files.use": {
        "en": "To find where a name, a number or a phrase stands in the allowed folders.",
        "zh": "查找名称、数字或短语在允许的文件夹中的位置。",
    },
    "search_files.not": {
        "en": "To search by meaning, or in the notes of the run: `search_notes` does.",
        "zh": "按含义查找，或在本次运行的笔记中查找：请用 `search_notes`。",
    },
    "search_files.offset": {"en": "Lines found to skip.", "zh": "要跳过的结果行数。"},
    "read_file": {"en": "Read the text of a file, exactly.", "zh": "逐字读取一个文件的文本。"},
    "read_file.use": {
        "en": "To read a file that a listing or a search named, or to go on in it with `offset`.",
        "zh": "读取列表或搜索给出的文件，或用 `offset` 继续读取。",
    },
    "read_file.not": {
        "en": "To look for something in many files, or for a note of the run: `read_note` cites lines.",
        "zh": "在许多文件中查找，或读取本次运行的笔记：`read_note` 可按行引用。",
    },
    "drafts.path": {
        "en": "Below the drafts folder, with '/'; folders are made.",
        "zh": "在草稿文件夹之下，用 '/' 分隔；文件夹会自动创建。",
    },
    "drafts.content": {"en": "The whole text of the file.", "zh": "文件的全部文本。"},
    "write_draft": {
        "en": "Write a new file into the drafts folder.",
        "zh": "在草稿文件夹中写一个新文件。",
    },
    "write_draft.use": {
        "en": "To hand over a text, such as a report or a letter, as a file that does not exist yet.",
        "zh": "以尚不存在的文件交付文本，例如报告或信件。",
    },
    "write_draft.not": {
        "en": "To change a file that exists: `overwrite_draft` does, and is approved by itself.",
        "zh": "改动已有文件：请用 `overwrite_draft`，它单独审批。",
    },
    "overwrite_draft": {
        "en": "Replace the whole text of a file in the drafts folder.",
        "zh": "替换草稿文件夹中一个文件的全部文本。",
    },
    "overwrite_draft.use": {
        "en": "To change a file that was read before, with `replaces` as `read_file` gave its digest.",
        "zh": "改动此前读取过的文件，`replaces` 取 `read_file` 给出的摘要值。",
    },
    "overwrite_draft.not": {
        "en": "To make a new file: `write_draft` does.",
        "zh": "新建文件：请用 `write_draft`。",
    },
    "overwrite_draft.replaces": {
        "en": "SHA-256 of the file as it was read: another version is not overwritten.",
        "zh": "读取时文件的 `SHA-256`：其他版本不会被覆盖。",
    },
    "undo_draft": {
        "en": "Take back what `write_draft` or `overwrite_draft` did: the old text is restored, a new file removed.",
        "zh": "撤回 `write_draft` 或 `overwrite_draft` 所做的：恢复旧文本，删除新文件。",
    },
    "undo_draft.use": {
        "en": "When a file that was written is not wanted after all.",
        "zh": "写入的文件最终不需要时。",
    },
    "undo_draft.not": {
        "en": "To write something else: that is a write of its own.",
        "zh": "写入其他内容：那是另一次写入。",
    },
    "undo_draft.undo": {"en": "As the write said.", "zh": "按写入时所给填写。"},
    "read_result": {
        "en": "Read on in a result that was too long to be shown whole.",
        "zh": "继续读取因过长而未完整给出的结果。",
    },
    "read_result.use": {
        "en": "When a result says `truncated` and names `whole`, and what is needed may stand further on.",
        "zh": "结果标明已截断（`truncated`）并给出 `whole`，而所需内容可能在后面时。",
    },
    "read_result.not": {
        "en": "To repeat a call, or to read a file: those tools have an offset of their own.",
        "zh": "重复调用，或读取文件：那些工具有各自的 `offset`。",
    },
    "read_result.whole": {"en": "As the result names it.", "zh": "按结果所示填写。"},
    "read_result.offset": {"en": "As `next_offset` said.", "zh": "按 `next_offset` 所示填写。"},
    "fetch_url": {
        "en": "Fetch a page or a text file from the web, from the hosts that the user listed.",
        "zh": "从用户列出的主机获取网页或文本文件。",
    },
    "fetch_url.use": {
        "en": "To read a page whose address is known and whose host is listed.",
        "zh": "读取地址已知且主机已列出的网页。",
    },
    "fetch_url.not": {
        "en": "To search the web, to send anything, or for hosts that are not listed: they are refused.",
        "zh": "搜索网络、发送任何内容，或未列出的主机：会被拒绝。",
    },
    "fetch_url.url": {"en": "http or https.", "zh": "`http` 或 `https`。"},
    "mcp.untrusted": {
        "en": "Not trusted yet: its description is not shown.",
        "zh": "尚未信任：不显示其描述。",
    },
    "mcp.use": {
        "en": "When what it does is needed of the server {server}.",
        "zh": "需要服务器 {server} 的这项功能时。",
    },
    "mcp.not": {"en": "For what a built-in tool does.", "zh": "内置工具能做到的事。"},
    "scope.sources": {"en": "the sources folder of the run", "zh": "本次运行的来源文件夹"},
    "scope.expression": {"en": "nothing outside the expression", "zh": "仅限该算式"},
    "scope.tables": {"en": "the tables that the user named", "zh": "用户指定的表"},
    "scope.folders": {"en": "the folders that the user allowed", "zh": "用户允许的文件夹"},
    "scope.drafts": {"en": "the drafts folder", "zh": "草稿文件夹"},
    "scope.hosts": {"en": "the hosts that the user listed", "zh": "用户列出的主机"},
    "scope.results": {"en": "results of this run", "zh": "本次运行的结果"},
    "scope.server": {"en": "MCP server {server}", "zh": "MCP 服务器 {server}"},
}
"""Purposes, when to use a tool and when not, its parameters and its scope."""
