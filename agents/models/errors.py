"""Say why a chat model can't be used here, in both languages.

ChatUnavailable             everything below; catch it to catch all of them
├── UnknownProvider         (ValueError)   a name that is no `provider:model`, or of a provider that is not known
├── ProviderNotInstalled    (ImportError)  the provider's package is missing
├── MissingKey              (LookupError)  the environment holds no key for it
├── InvalidBaseUrl          (ValueError)   an address that is none, or of a provider that takes none
├── InvalidPricesFile       (ValueError)   the user's price table can't be read
├── RecordAndReplay         (ValueError)   both are asked for at once
├── InvalidRecording        (ValueError)   a line of a file of recorded answers is none
└── RecordingUnavailable    (OSError)      a file of recorded answers can't be read or written

`str(error)` is English; `error.message(lang)` gives either language. `error.code` is stable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal

from graphs.contract import Lang

_SECRET: Final = re.compile(r"//[^/]*@")


class ChatUnavailable(Exception):
    """Carry one message in two languages and a stable code."""

    code: ClassVar[str] = "chat_unavailable"

    def __init__(self, *, en: str, zh: str) -> None:
        super().__init__(en)
        self._messages: Mapping[Lang, str] = {"en": en, "zh": zh}

    def message(self, lang: Lang) -> str:
        """Return what was got, what is accepted and the next step, in `lang`."""
        return self._messages[lang]


class UnknownProvider(ChatUnavailable, ValueError):
    """`name` is no `provider:model` of a provider that is known."""

    code = "unknown_provider"

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        forms = ", ".join(f"{provider}:MODEL" for provider in known)
        zh_forms = "、".join(f"{provider}:模型" for provider in known)
        super().__init__(
            en=f"the model {name!r} is not known; accepted: {forms}. For a server with OpenAI's interface use "
            "openai:MODEL with --base-url URL",
            zh=f"无法识别模型 {name!r}；可接受：{zh_forms}。若服务器提供 OpenAI 接口，请用 openai:模型 并加上 "
            "--base-url 地址",
        )


class ProviderNotInstalled(ChatUnavailable, ImportError):
    """The package that talks to a provider is not installed; `extra` brings it."""

    code = "provider_not_installed"

    def __init__(self, provider: str, extra: str) -> None:
        self.provider = provider
        self.extra = extra
        command = f"pip install 'maskgrad[{extra}]'"
        super().__init__(
            en=f"models of {provider!r} need a package that is not installed. Next: {command}",
            zh=f"使用 {provider!r} 的模型需要尚未安装的软件包。下一步：{command}",
        )


class MissingKey(ChatUnavailable, LookupError):
    """No key for a provider; `variables` of the environment may hold it."""

    code = "missing_key"

    def __init__(self, provider: str, variables: Sequence[str]) -> None:
        self.variables = tuple(variables)
        super().__init__(
            en=f"models of {provider!r} need a key, and {' or '.join(variables)} is not set. Next: set it in the "
            "environment; it is neither stored nor logged",
            zh=f"使用 {provider!r} 的模型需要密钥，但未设置 {' 或 '.join(variables)}。下一步：在环境变量中设置它；"
            "密钥不会被保存或写入日志",
        )


class InvalidBaseUrl(ChatUnavailable, ValueError):
    """`url` is no address of a model server."""

    code = "invalid_base_url"

    def __init__(self, url: str) -> None:
        # What stands before an @ may be a password.
        self.url = url = _SECRET.sub("//…@", url)
        super().__init__(
            en=f"the address {url!r} is not supported; accepted: http:// or https://, a host, and no user or "
            "password, such as http://127.0.0.1:8080/v1. Keys go into the environment",
            zh=f"不支持地址 {url!r}；可接受：http:// 或 https:// 加主机名，不含用户名或密码，例如 "
            "http://127.0.0.1:8080/v1。密钥请放在环境变量中",
        )


class InvalidPricesFile(ChatUnavailable, ValueError):
    """A file of prices that can't be used."""

    code = "prices_file_invalid"

    def __init__(self, path: Path, found: str) -> None:
        self.path = path
        example = "`openai:my-model: {input: 0.5, output: 1.5, cached_input: 0.1}`"
        super().__init__(
            en=f"{path} holds {found}; accepted: for each provider:model the prices input and output in USD per "
            f"million tokens from 0, if need be cached_input and up_to_input_tokens, source and as_of, such as "
            f"{example}. Correct the file",
            zh=f"{path} 中有 {found}；可接受：每个 provider:model 的 input 与 output 价格（美元／百万 token，"
            f"不小于 0），可另有 cached_input、up_to_input_tokens、source 与 as_of，例如 {example}。请修正该文件",
        )


class RecordAndReplay(ChatUnavailable, ValueError):
    """Replies are to be recorded and to come from a recording at once."""

    code = "record_and_replay"

    def __init__(self) -> None:
        super().__init__(
            en="MASKGRAD_RECORD and MASKGRAD_REPLAY are both set, and what comes from a recording is recorded in none; "
            "accepted: one of them. Next: unset MASKGRAD_REPLAY to ask the model and record, or "
            "MASKGRAD_RECORD to replay",
            zh="MASKGRAD_RECORD 与 MASKGRAD_REPLAY 同时设置，而来自录制的回复不会再次录制；可接受：二者之一。下一步："
            "取消 MASKGRAD_REPLAY 以询问模型并录制，或取消 MASKGRAD_RECORD 以回放",
        )


class InvalidRecording(ChatUnavailable, ValueError):
    """A file of recorded answers with a line that is none."""

    code = "recording_invalid"

    def __init__(self, path: Path, line: int) -> None:
        self.path = path
        self.line = line
        super().__init__(
            en=f"line {line} of {str(path)!r} is no recorded reply; accepted: a file that MASKGRAD_RECORD wrote. Next: "
            "name that file, or record anew: run once with MASKGRAD_RECORD=FILE instead of MASKGRAD_REPLAY",
            zh=f"{str(path)!r} 第 {line} 行不是录制的回复；可接受：由 MASKGRAD_RECORD 写入的文件。下一步：指明该文件，"
            "或重新录制：用 MASKGRAD_RECORD=文件 代替 MASKGRAD_REPLAY 运行一次",
        )


NO_FOLDER: Final[Mapping[Lang, str]] = {"en": "its folder does not exist", "zh": "其文件夹不存在"}
NO_TEXT: Final[Mapping[Lang, str]] = {"en": "it is no UTF-8 text", "zh": "不是 UTF-8 文本"}


def why_unusable(error: OSError) -> Mapping[Lang, str]:
    """Return why the system gives no access to a file, in both languages; what is rare stays in the system's words."""
    match error:
        case FileNotFoundError():
            return {"en": "there is no such file", "zh": "文件不存在"}
        case IsADirectoryError():
            return {"en": "it is a folder", "zh": "它是文件夹"}
        case PermissionError():
            return {"en": "the system allows no access", "zh": "系统不允许访问"}
        case _:
            said = error.strerror or str(error)
            return {"en": said, "zh": said}


class RecordingUnavailable(ChatUnavailable, OSError):
    """A file of recorded answers that can't be read, or written, as `purpose` asks."""

    code = "recording_unavailable"

    def __init__(self, path: Path, purpose: Literal["replay", "record"], reason: Mapping[Lang, str]) -> None:
        self.path = path
        self.purpose = purpose
        if purpose == "replay":
            super().__init__(
                en=f"the recording {str(path)!r} can't be read ({reason['en']}); accepted: a file that was recorded. "
                "Next: correct the path in MASKGRAD_REPLAY, or record: run once with MASKGRAD_RECORD=FILE instead",
                zh=f"无法读取录制文件 {str(path)!r}（{reason['zh']}）；可接受：已录制的文件。下一步："
                "更正 MASKGRAD_REPLAY 中的路径，或改用 MASKGRAD_RECORD=文件 运行一次以录制",
            )
        else:
            super().__init__(
                en=f"nothing can be recorded in {str(path)!r} ({reason['en']}); accepted: a file in a folder that "
                "exists and can be written. Next: make the folder, or correct the path in MASKGRAD_RECORD",
                zh=f"无法录制到 {str(path)!r}（{reason['zh']}）；可接受：位于已存在且可写的文件夹中的文件。下一步："
                "建立该文件夹，或更正 MASKGRAD_RECORD 中的路径",
            )
