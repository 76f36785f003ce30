"""What the tools of files and drafts say."""

from __future__ import annotations

from typing import Final

from agents.tools.texts.contract import Texts

PATHS: Final[Texts] = {
    "outside_folder": {
        "en": "path {path} leads out of the allowed folders; accepted: a path inside the folder, without a leading "
        "'/'. List them with '.'.",
        "zh": "路径 {path} 超出允许的文件夹；可接受：文件夹内的路径，不以 '/' 开头。可用 '.' 列出。",
    },
    "outside_folders": {
        "en": "path {path} leads out of the allowed folders; accepted: a path that begins with one of the folders: "
        "{known}. List them with '.'.",
        "zh": "路径 {path} 超出允许的文件夹；可接受：以其中一个文件夹开头的路径：{known}。可用 '.' 列出。",
    },
    "unsafe_system": {
        "en": "path {path} can't be opened safely: this system can't open a file from its folder. Use the tools on "
        "Linux or macOS.",
        "zh": "无法安全打开路径 {path}：本系统不能从文件夹打开文件。请在 `Linux` 或 `macOS` 上使用这些工具。",
    },
    "ambiguous": {
        "en": "path {path}: two names there look like {name}. Have one of them renamed.",
        "zh": "路径 {path}：那里有两个名称看起来都像 {name}。请让人为其中一个改名。",
    },
    "encoding": {
        "en": "path {path} can't be a name here: names are in {encoding}. Set PYTHONUTF8=1.",
        "zh": "路径 {path} 在此处不能作为名称：名称使用 `{encoding}` 编码。请设置 `PYTHONUTF8=1`。",
    },
    "too_long": {
        "en": "path {path} is too long for this system. Give a shorter one.",
        "zh": "路径 {path} 对本系统而言过长。请给出更短的路径。",
    },
    "unreadable": {
        "en": "path {path} can't be opened: {error}. Ask the user to make it readable.",
        "zh": "无法打开路径 {path}：“{error}”。请用户使其可读。",
    },
    "not_found": {
        "en": "nothing is at {path}. List its folder and give a name as it stands there.",
        "zh": "{path} 处没有任何内容。请列出其文件夹，并按那里的写法给出名称。",
    },
    "not_a_file": {
        "en": "{path} is no ordinary file, or goes through one. Give the path of a file; list a folder.",
        "zh": "{path} 不是普通文件，或经过了一个文件。请给出文件的路径；文件夹请列出。",
    },
    "link": {
        "en": "path {path} goes through a link that leads out of the allowed folders, or through too many. Give a path "
        "without it, or ask the user to allow the folder.",
        "zh": "路径 {path} 经过的链接超出允许的文件夹，或链接过多。请给出不经过它的路径，或请用户允许该文件夹。",
    },
    "not_accepted": {
        "en": "path {path} is not accepted: {why}. Give a path such as 'folder/file.md', as it was listed.",
        "zh": "路径 {path} 不被接受：{why}。请按列出的写法给出路径，例如 'folder/file.md'。",
    },
    "surrogate": {
        "en": "it holds half a character (a lone surrogate)",
        "zh": "含有半个字符（孤立的代理码位）",
    },
    "size": {"en": "it has {size} bytes; accepted: 1 to {most}", "zh": "有 {size} 字节；可接受：1 至 {most}"},
    "hidden": {"en": "it holds U+{code}, which can't be seen", "zh": "含有不可见的 U+{code}"},
    "alike": {
        "en": "it holds {char} (U+{code}), which looks like a separator",
        "zh": "含有 {char}（U+{code}），它看起来像分隔符",
    },
    "backslash": {
        "en": "backslashes and drives are not accepted; separate folders with '/'",
        "zh": "不接受反斜杠和盘符；请用 '/' 分隔文件夹",
    },
    "deep": {
        "en": "it goes through {size} folders; accepted: at most {most}",
        "zh": "经过 {size} 层文件夹；可接受：至多 {most}",
    },
    "upwards": {
        "en": "the component {name} leads upwards or looks as if it did",
        "zh": "其中的 {name} 指向上级，或看起来如此",
    },
    "separator": {
        "en": "the component {name} looks as if it held a separator",
        "zh": "其中的 {name} 看起来含有分隔符",
    },
    "component": {
        "en": "a component has {size} bytes; accepted: at most {most}",
        "zh": "其中一段有 {size} 字节；可接受：至多 {most}",
    },
}
"""Why a path is not opened (`agents.tools.paths`, `agents.tools.names`)."""

FILES: Final[Texts] = {
    "listed": {"en": "{number} files in {folder}", "zh": "{folder} 中有 {number} 个文件"},
    "found": {"en": "{number} lines with {text}", "zh": "{number} 行含有 {text}"},
    "read": {
        "en": "{path}: characters {start} to {end} of {size}",
        "zh": "{path}：共 {size} 个字符，此处为第 {start} 至 {end} 个",
    },
    "more": {
        "en": "{result} (truncated: go on with offset={offset})",
        "zh": "{result}（已截断：请以 `offset={offset}` 继续）",
    },
    "too_large": {
        "en": "{path} has more than {most} bytes. Ask for an excerpt.",
        "zh": "{path} 超过 {most} 字节。请索取其中一段。",
    },
    "no_text": {
        "en": "{path} is no text. Give a text file; tables have `query_table`.",
        "zh": "{path} 不是文本。请给出文本文件；表格请用 `query_table`。",
    },
    "offset": {
        "en": "arguments.offset is {offset}; accepted: from 0 to {most}",
        "zh": "`arguments.offset` 为 {offset}；可接受：0 至 {most}",
    },
}
"""Of `list_files`, `search_files` and `read_file`."""

DRAFTS: Final[Texts] = {
    "written": {"en": "{path} written", "zh": "已写入 {path}"},
    "undone": {"en": "{path} undone", "zh": "已撤销 {path}"},
    "exists": {
        "en": "{path} exists. Give another path, or read it and replace it with `overwrite_draft`.",
        "zh": "{path} 已存在。请给出其他路径，或读取它并用 `overwrite_draft` 替换。",
    },
    "nothing": {
        "en": "nothing is at {path} to be replaced. Make it with `write_draft`.",
        "zh": "{path} 处没有可替换的内容。请用 `write_draft` 创建。",
    },
    "other_version": {
        "en": "{path} has the digest {now}, not {replaces}: it was changed. Read it again.",
        "zh": "{path} 的摘要值为 '{now}'，而非 {replaces}：它已被改动。请重新读取。",
    },
    "changed_meanwhile": {
        "en": "{path} was changed while it was written. Read it again.",
        "zh": "{path} 在写入期间被改动。请重新读取。",
    },
    "changed_since": {
        "en": "{path} was changed since: it is not restored. Read it and write anew.",
        "zh": "{path} 此后已被改动：不予恢复。请读取后重新写入。",
    },
    "the_folder": {
        "en": "{path} is the drafts folder. Give a file in it.",
        "zh": "{path} 就是草稿文件夹。请给出其中的文件。",
    },
    "half_character": {
        "en": "arguments.content holds half a character: {error}. Write it as text.",
        "zh": "`arguments.content` 含有半个字符：“{error}”。请以文本书写。",
    },
    "no_write": {
        "en": "no write {write} is recorded. Give `undo` as the write said it.",
        "zh": "没有写入 {write} 的记录。请按写入时所给的 `undo` 填写。",
    },
    "no_key": {
        "en": "{called} changes files: it is performed under a key, never called",
        "zh": "`{called}` 会改动文件：须凭键执行，不能直接调用",
    },
}
"""Of `write_draft`, `overwrite_draft` and `undo_draft`."""
