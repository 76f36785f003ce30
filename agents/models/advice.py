"""What a person is told of a model that could not be asked: which one, where, what was wrong, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agents.models.contract import ModelError, ModelErrorCause, ModelErrorType
from graphs.contract import Lang


def explained(error: ModelError, *, model: str, lang: Lang, elapsed_ms: float = 0.0) -> str:
    """Return `error` of `model` (`provider:model`) in one line of `lang`; what its server said stands as it came.

    It ends with the next step, which follows from what a person can remove (`ModelError.cause`), else from the kind of
    the error, never from the text of a server. Of what took too long it says how long it took (`elapsed_ms`).
    """
    at = _WHERE[lang].format(address=error.address) if error.address else ""
    if error.cause is None:
        said, step = _KINDS[error.error_type][lang], _STEPS_OF_KINDS[error.error_type][lang]
    else:
        said, step = _CAUSES[error.cause][lang], _STEPS[error.cause][lang]
    if error.error_type == "timeout" and elapsed_ms >= _SECOND_MS:
        said += _AFTER[lang].format(seconds=elapsed_ms / _SECOND_MS)
    told = error.message.rstrip(" .。")
    step = step.format(provider=model.partition(":")[0])
    return (
        f"{model}{at}：{said}（{told}）。下一步：{step}"
        if lang == "zh"
        else f"{model}{at}: {said} ({told}). Next: {step}"
    )


_SECOND_MS: Final = 1000.0
_AFTER: Final[Mapping[Lang, str]] = {
    "en": ", given up after {seconds:.0f} s",
    "zh": "，{seconds:.0f} 秒后放弃",
}


_WHERE: Final[Mapping[Lang, str]] = {"en": " at {address}", "zh": "（地址 {address}）"}

_KINDS: Final[Mapping[ModelErrorType, Mapping[Lang, str]]] = {
    "timeout": {"en": "no answer in time", "zh": "未在限定时间内回答"},
    "rate_limited": {"en": "the provider takes no more calls for now", "zh": "服务方暂不接受更多调用"},
    "unavailable": {"en": "it can't answer now", "zh": "目前无法回答"},
    "bad_request": {"en": "the request is not accepted", "zh": "请求未被接受"},
    "refused": {"en": "it refuses", "zh": "拒绝回答"},
    "overflow": {"en": "the request is too long for it", "zh": "请求超出其长度上限"},
    "misconfigured": {"en": "it can't be asked as it is set up", "zh": "按目前的配置无法使用"},
    "unknown": {"en": "it failed for an unknown reason", "zh": "因未知原因失败"},
}

_STEPS_OF_KINDS: Final[Mapping[ModelErrorType, Mapping[Lang, str]]] = {
    "timeout": {
        "en": "try again, or let a call be silent for longer: MASKGRAD_MODEL_TIMEOUT=600 (seconds) in the environment",
        "zh": "请重试，或允许每次调用静默更久：在环境变量中设置 MASKGRAD_MODEL_TIMEOUT=600（秒）",
    },
    "rate_limited": {
        "en": "try again later, or ask for less in a minute: MASKGRAD_RATE_LIMITS={provider}=30rpm in the environment",
        "zh": "请稍后重试，或减少每分钟的调用：在环境变量中设置 MASKGRAD_RATE_LIMITS={provider}=30rpm",
    },
    "unavailable": {
        "en": "look at its server, or wait, then try again; without models: maskgrad models off",
        "zh": "请检查其服务器或稍候再重试；不使用模型：maskgrad models off",
    },
    "bad_request": {
        "en": "see in brackets what its server objects to; mend that there and try again, or plan anew with another "
        "--model or --base-url",
        "zh": "括号中是服务器的意见；请在服务器上解决后重试，或用另外的 --model 或 --base-url 重新规划",
    },
    "refused": {
        "en": "word the goal in another way, or plan anew with another --model; a quota that is used up is renewed at "
        "the provider",
        "zh": "请换一种方式表述目标，或用另外的 --model 重新规划；若是额度用尽，请到服务方处补充",
    },
    "overflow": {
        "en": "serve it with a longer context and try again, or plan anew with a --model that takes more",
        "zh": "请为其设置更长的上下文后重试，或用能接受更长请求的 --model 重新规划",
    },
    "misconfigured": {
        "en": "correct its name, address or key, then try again; without models: maskgrad models off",
        "zh": "请更正其名称、地址或密钥后重试；不使用模型：maskgrad models off",
    },
    "unknown": {
        "en": "try again; if it stays so, plan anew with another --model; without models: maskgrad models off",
        "zh": "请重试；若仍如此，请用另外的 --model 重新规划；不使用模型：maskgrad models off",
    },
}

_CAUSES: Final[Mapping[ModelErrorCause, Mapping[Lang, str]]] = {
    "no_connection": {"en": "no connection to its server", "zh": "无法连接其服务器"},
    "key_refused": {"en": "the server refuses the key", "zh": "服务器拒绝该密钥"},
    "not_found": {"en": "the server has no such model or address", "zh": "服务器没有该模型或该地址"},
    "no_completion": {"en": "the answer is no chat completion", "zh": "返回的内容不是对话模型的回答"},
    "not_recorded": {"en": "no recorded reply to this request", "zh": "录制中没有对此请求的回复"},
}

_STEPS: Final[Mapping[ModelErrorCause, Mapping[Lang, str]]] = {
    "no_connection": {
        "en": "start the server or mend the network, then try again; the address is part of the plan, so for another "
        "one plan anew with --base-url; without models: maskgrad models off",
        "zh": "请启动服务器或修复网络后重试；地址属于计划的一部分，若要更换，请用 --base-url 重新规划；"
        "不使用模型：maskgrad models off",
    },
    "key_refused": {
        "en": "set the right key in the environment (for a server of your own MASKGRAD_API_KEY), then try again; "
        "without models: maskgrad models off",
        "zh": "请在环境变量中设置正确的密钥（自建服务器用 MASKGRAD_API_KEY）后重试；不使用模型：maskgrad models off",
    },
    "not_found": {
        "en": "plan anew with the right --model or --base-url (most servers want /v1 at its end), or serve the model "
        "and try again",
        "zh": "请用正确的 --model 或 --base-url 重新规划（多数服务器的地址以 /v1 结尾），或启用该模型后重试",
    },
    "no_completion": {
        "en": "look whether a model server with this interface answers there (most want /v1 at the end of "
        "--base-url), then try again",
        "zh": "请确认该地址上是具有此接口的模型服务器（多数要求 --base-url 以 /v1 结尾）后重试",
    },
    "not_recorded": {
        "en": "record it: run the same once with MASKGRAD_RECORD=FILE instead of MASKGRAD_REPLAY; other notes, another "
        "goal, plan or version ask other requests",
        "zh": "请录制：用 MASKGRAD_RECORD=文件 代替 MASKGRAD_REPLAY，将同样的运行执行一次；笔记、目标、计划或版本不同，"
        "请求也就不同",
    },
}
