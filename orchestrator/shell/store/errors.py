"""Say what a run store refused or could not do, in both languages.

StoreError                 everything below; catch it to catch all of them
├── RefusedWrite           the write does not fit what is stored; nothing of it was written
│   ├── UnknownRun         (LookupError) no run has this id
│   ├── RunExists          (ValueError)  a run has this id already
│   ├── HeadMoved          somebody appended since the head was read
│   ├── AlreadyRecorded    the name of an event or message is taken by another content
│   ├── RunBusy            another process executes the run
│   ├── StaleLease         another process took the run over
│   └── NotStorable        (ValueError)  a value cannot be kept as it was given
├── ArtefactUnreadable     kept content can't be had back; what a run built on it can be made anew only
│   ├── ArtefactMissing    (LookupError) no artefact has this digest
│   └── ArtefactCorrupted  the bytes of an artefact are not those that were stored
└── StoreUnavailable       (OSError)     the store itself cannot do it now; nothing of the write is there
    ├── StoreFull          the disk, or the size set for the store, is used up
    ├── StoreBusy          another process kept the store locked for too long
    ├── StoreBroken        the file cannot be read or written, or is no run store
    │   └── StoreMoved     the file is no longer where it was opened
    ├── StoreTooNew        a newer version of the product wrote the store
    └── StoreClosed        the store or its writer was closed

`str(error)` is English; `error.message(lang)` gives either language. Each message names the value got, what is
accepted and the next step. `error.code` is stable. After a `RefusedWrite` the caller reads again and decides; after a
`StoreUnavailable` it pauses the run, for which nothing is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, Self

from masks.language import Lang


class StoreError(Exception):
    """Carry one message in two languages and a stable code."""

    code: ClassVar[str] = "store_error"

    def __init__(self, *, en: str, zh: str) -> None:
        super().__init__(en)
        self._messages: dict[Lang, str] = {"en": en, "zh": zh}

    def message(self, lang: Lang) -> str:
        """Return the message in `lang`."""
        return self._messages[lang]


class RefusedWrite(StoreError):
    """Report a write that does not fit what is stored."""

    code = "store_write_refused"


class UnknownRun(RefusedWrite, LookupError):
    """Report an id that no run has; `run` is the id."""

    code = "run_unknown"

    def __init__(self, run: str) -> None:
        self.run = run
        super().__init__(
            en=f"No run has the id {run!r}. Accepted: an id that `maskgrad runs` lists.",
            zh=f"没有标识为 {run!r} 的运行。可接受：`maskgrad runs` 列出的标识。",
        )


class RunExists(RefusedWrite, ValueError):
    """Report a new run under an id that is taken; `run` is the id."""

    code = "run_exists"

    def __init__(self, run: str) -> None:
        self.run = run
        super().__init__(
            en=f"A run with the id {run!r} exists. Accepted: a new id. Open it with `maskgrad show {run}`.",
            zh=f"标识 {run!r} 已有运行。可接受：新的标识。可用 `maskgrad show {run}` 打开它。",
        )


class HeadMoved(RefusedWrite):
    """Report an append to a head that is no longer the head; `expected` and `actual` are `seq` values."""

    code = "run_head_moved"

    def __init__(self, run: str, expected: int, actual: int) -> None:
        self.run = run
        self.expected = expected
        self.actual = actual
        super().__init__(
            en=(
                f"Run {run!r} ends at event {actual!r}, not at {expected!r}: somebody appended in between. "
                f"Accepted: an append to {actual!r}. Read the run again and repeat the step."
            ),
            zh=(
                f"运行 {run!r} 的末尾是事件 {actual!r}，而不是 {expected!r}：其间有人追加了事件。"
                f"可接受：接在 {actual!r} 之后的追加。请重新读取该运行后重做这一步。"
            ),
        )


class AlreadyRecorded(RefusedWrite):
    """Report a name that stands for another content already; `where` is the `seq` or message id that holds it."""

    code = "store_already_recorded"

    def __init__(self, run: str, name: str, where: int) -> None:
        self.run = run
        self.name = name
        self.where = where
        super().__init__(
            en=(
                f"Run {run!r} has {name!r} recorded already, at {where!r}, with another content. Accepted: the same "
                f"content again, or another name. See what is recorded with `maskgrad show {run}`."
            ),
            zh=(
                f"运行 {run!r} 已在 {where!r} 处记录了 {name!r}，但内容不同。可接受：相同的内容，或另一个名称。"
                f"可用 `maskgrad show {run}` 查看已记录的内容。"
            ),
        )


class RunBusy(RefusedWrite):
    """Report a run that another process executes; `holder` and `expires` are those of its lease."""

    code = "run_busy"

    def __init__(self, run: str, holder: str, expires: float) -> None:
        self.run = run
        self.holder = holder
        self.expires = expires
        until = f"{datetime.fromtimestamp(expires, UTC):%Y-%m-%d %H:%M:%S} UTC"
        who_en, who_zh = _holder_words(holder)
        super().__init__(
            en=(
                f"Run {run!r} is being executed by {who_en} until {until} or longer. Accepted: one executor at a "
                f"time. Follow it with `maskgrad watch {run}`, or try again after that time."
            ),
            zh=(
                f"运行 {run!r} 正由{who_zh}执行，至少到 {until}。可接受：同一时间只有一个执行者。"
                f"可用 `maskgrad watch {run}` 跟踪它，或在该时间之后重试。"
            ),
        )


def _holder_words(holder: str) -> tuple[str, str]:
    """Say who a holder is; what is behind its process number tells machines whether that process is still the same."""
    host, _, pid = holder.partition("@")[0].rpartition(":")
    if not (host and pid.isdecimal()):
        return repr(holder), f" {holder!r} "
    return f"process {pid} on {host!r}", f" {host!r} 上的进程 {pid} "


class StaleLease(RefusedWrite):
    """Report a write under a lease that was taken over or released; `epoch` was given, `current` stands."""

    code = "run_lease_stale"

    def __init__(self, run: str, epoch: int, current: int) -> None:
        self.run = run
        self.epoch = epoch
        self.current = current
        super().__init__(
            en=(
                f"Another process took run {run!r} over while this one was stopped or held up; nothing that this one "
                f"came to since then was written. Accepted: writes of the process that holds the run. Follow it: "
                f"`maskgrad watch {run}`."
            ),
            zh=(
                f"运行 {run!r} 已在本进程停住或受阻期间被另一个进程接管；本进程此后的结果均未写入。"
                f"可接受：持有该运行的进程的写入。跟踪它：`maskgrad watch {run}`。"
            ),
        )


class NotStorable(RefusedWrite, ValueError):
    """Report a value that cannot be kept exactly as it was given; `what` names it."""

    code = "store_value_refused"

    def __init__(self, what: str, value: object, *, accepted_en: str, accepted_zh: str) -> None:
        self.what = what
        self.value = value
        super().__init__(
            en=f"{what} {value!r} cannot be stored. Accepted: {accepted_en}. Convert it before it is stored.",
            zh=f"{what} {value!r} 无法存储。可接受：{accepted_zh}。请在存储前转换。",
        )


def not_unicode(error: UnicodeEncodeError) -> NotStorable:
    """Return the error for a text that UTF-8 cannot hold, showing where."""
    return NotStorable(
        "The text",
        error.object[max(0, error.start - 20) : error.end + 20],
        accepted_en="Unicode without lone surrogates",
        accepted_zh="不含孤立代理码位的 Unicode 文本",
    )


class ArtefactUnreadable(StoreError):
    """Report kept content that can't be had back: `digest` names it, `run` the run that needs it, `None` if unknown."""

    code = "artefact_unreadable"

    def __init__(self, digest: str, *, en: str, zh: str) -> None:
        self.digest = digest
        self.run: str | None = None
        super().__init__(en=en, zh=zh)

    def needed_by(self, run: str) -> Self:
        """Add to the message which run needs the content and how to go on without it; only the first call does."""
        if self.run is not None:
            return self
        self.run = run
        self._messages = {
            "en": f"{self._messages['en']} Run {run!r} needs it. {self._anew_en(run)}",
            "zh": f"{self._messages['zh']}运行 {run!r} 需要它。{self._anew_zh(run)}",
        }
        self.args = (self._messages["en"],)
        return self

    def _anew_en(self, run: str) -> str:
        return (
            f"Without a copy, make the run anew from its approved proposal: `maskgrad run {run} --again`, after "
            f"`maskgrad cancel {run}` if it has not ended."
        )

    def _anew_zh(self, run: str) -> str:
        return (
            f"没有备份时，请以其已批准的方案新建运行：`maskgrad run {run} --again`；"
            f"如果该运行尚未结束，请先 `maskgrad cancel {run}`。"
        )


class ArtefactMissing(ArtefactUnreadable, LookupError):
    """Report a digest under which nothing is kept; `digest` is what was asked for."""

    code = "artefact_missing"

    def __init__(self, digest: str) -> None:
        super().__init__(
            digest,
            en=(
                f"No artefact {digest!r} is in the store. Accepted: the SHA-256, in hex, of content that was stored. "
                "If a run names it, the store was cut: see with `maskgrad doctor` what else is damaged, and restore "
                "the file from a copy."
            ),
            zh=(
                f"存储中没有内容 {digest!r}。可接受：已存储内容的 SHA-256（十六进制）。"
                "如果某个运行引用了它，说明存储不完整：请用 `maskgrad doctor` 检查其他损坏，并从备份恢复该文件。"
            ),
        )


class ArtefactCorrupted(ArtefactUnreadable):
    """Report an artefact whose bytes changed; `digest` names it."""

    code = "artefact_corrupted"

    def __init__(self, digest: str) -> None:
        super().__init__(
            digest,
            en=(
                f"The content of artefact {digest!r} is not what was stored. Accepted: bytes with this SHA-256. Check "
                "the disk with `maskgrad doctor` and restore the file from a copy."
            ),
            zh=(
                f"内容 {digest!r} 与存储时不一致。可接受：SHA-256 相符的字节。"
                "请用 `maskgrad doctor` 检查磁盘，并从备份恢复该文件。"
            ),
        )

    # Not in the same store: what is kept under a digest is not written again.
    def _anew_en(self, run: str) -> str:
        return (
            f"Without a copy, make the run anew in another store: `maskgrad export {run} --format yaml`, then "
            "`maskgrad run FILE` with another MASKGRAD_HOME."
        )

    def _anew_zh(self, run: str) -> str:
        return (
            f"没有备份时，请在另一个存储中新建运行：先 `maskgrad export {run} --format yaml`，"
            "再以另一个 MASKGRAD_HOME 执行 `maskgrad run FILE`。"
        )


class StoreUnavailable(StoreError, OSError):
    """Report that the store cannot do its work now; `location` says which store.

    `run` is the run that it stopped, `kept` the last event of it that is stored, both `None` where that is not known;
    `step` is the command that goes on when the store works again.
    """

    code = "store_unavailable"

    def __init__(self, location: str, *, en: str, zh: str) -> None:
        self.location = location
        self.run: str | None = None
        self.kept: int | None = None
        self.step: str | None = None
        super().__init__(en=en, zh=zh)

    def stopped(self, run: str, *, kept: int | None, step: str) -> Self:
        """Add to the message which run was stopped, what is kept of it and how it goes on; only the first call does."""
        if self.run is not None:
            return self
        self.run, self.kept, self.step = run, kept, step
        what = ("", "") if kept is None else (f" up to event {kept}", f"（到第 {kept} 个事件为止）")
        self._messages = {
            "en": f"{self._messages['en']} Run {run!r} was stopped; what was committed{what[0]} is kept and is not "
            f"done again. When the store works again, go on with `{step}`.",
            "zh": f"{self._messages['zh']}运行 {run!r} 已停止；已提交的内容{what[1]}会保留，不会重做。"
            f"存储恢复后，请用 `{step}` 继续。",
        }
        self.args = (self._messages["en"],)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much room a store has, in bytes."""

    size: int
    """What its files take."""
    free: int
    """What is free on its disk."""
    limit: int | None = None
    """The size that was set for it; `None`: the disk is the limit."""


class StoreFull(StoreUnavailable):
    """Report that there is no room; the write is not there, everything before it is. `room` says how much there is."""

    code = "store_full"

    def __init__(self, location: str, room: Room | None = None) -> None:
        self.room = room
        en, zh = _full_words(room)
        super().__init__(
            location,
            en=f"The run store {location!r} {en}, then try again; nothing committed is lost.",
            zh=f"运行存储 {location!r} {zh}，然后重试；已提交的内容不会丢失。",
        )


def _full_words(room: Room | None) -> tuple[str, str]:
    """What is used up, and what to do about it: a limit that the disk has room for is what stopped the store."""
    if room is None:
        return (
            "is full. Accepted: free space on its disk, and files below MASKGRAD_STORE_MB if that is set. Free some "
            "space or raise the limit",
            "已满。可接受：磁盘有空间，且未超过 MASKGRAD_STORE_MB（如果已设置）。请腾出空间或提高上限",
        )
    if room.limit is not None and room.free >= room.limit:
        return (
            f"is full: its files take {room.size:,} bytes, its limit is {room.limit:,}, and what comes next does "
            "not fit. Accepted: files up to MASKGRAD_STORE_MB. Raise MASKGRAD_STORE_MB",
            f"已满：其文件占用 {room.size:,} 字节，上限为 {room.limit:,} 字节，容不下接下来的内容。"
            "可接受：不超过 MASKGRAD_STORE_MB 的文件。请提高 MASKGRAD_STORE_MB",
        )
    used = (
        f"is full: its files take {room.size:,} bytes, and {room.free:,} bytes are free on its disk",
        f"已满：其文件占用 {room.size:,} 字节，磁盘剩余 {room.free:,} 字节",
    )
    if room.limit is None:
        return (
            f"{used[0]}. Accepted: free space on its disk. Free some space",
            f"{used[1]}。可接受：磁盘有空间。请腾出空间",
        )
    return (
        f"{used[0]}; its limit is {room.limit:,} bytes. Accepted: free space on its disk, and files up to "
        "MASKGRAD_STORE_MB. Free some space, and raise MASKGRAD_STORE_MB where the limit is reached",
        f"{used[1]}；上限为 {room.limit:,} 字节。可接受：磁盘有空间，且文件不超过 MASKGRAD_STORE_MB。"
        "请腾出空间；已达到上限时请提高 MASKGRAD_STORE_MB",
    )


class StoreBusy(StoreUnavailable):
    """Report that another process kept the store locked."""

    code = "store_busy"

    def __init__(self, location: str, waited_s: float) -> None:
        super().__init__(
            location,
            en=(
                f"The run store {location!r} was locked by another process for more than {waited_s!r} seconds. "
                "Accepted: short writes by several processes. End the program that holds it, then try again."
            ),
            zh=(
                f"运行存储 {location!r} 被其他进程锁定超过 {waited_s!r} 秒。可接受：多个进程的短时写入。"
                "请结束占用它的程序后重试。"
            ),
        )


class StoreBroken(StoreUnavailable):
    """Report a file that cannot be used; `reason` is what the operating system or SQLite said."""

    code = "store_broken"

    def __init__(self, location: str, reason: str) -> None:
        self.reason = reason
        super().__init__(
            location,
            en=(
                f"The run store {location!r} cannot be used: {reason}. Accepted: a file that this program wrote, on a "
                "local disk that it may write to. Check it with `maskgrad doctor`, or set MASKGRAD_HOME elsewhere."
            ),
            zh=(
                f"运行存储 {location!r} 无法使用：{reason}。可接受：由本程序写入、位于可写本地磁盘上的文件。"
                "请用 `maskgrad doctor` 检查，或将 MASKGRAD_HOME 设为其他位置。"
            ),
        )


class StoreMoved(StoreBroken):
    """Report that the file is not where it was when it was opened: deleted, moved or replaced."""

    def __init__(self, location: str) -> None:
        self.reason = "the file was deleted, moved or replaced while it was open"
        StoreUnavailable.__init__(
            self,
            location,
            en=(
                f"The run store {location!r} cannot be used: {self.reason}. Accepted: the file that was opened, at its "
                "place. Put its folder back, from a copy if it is lost."
            ),
            zh=(
                f"运行存储 {location!r} 无法使用：打开期间该文件被删除、移动或替换。可接受：所打开的文件，位于原处。"
                "请将其文件夹放回原处；若已丢失，请从备份恢复。"
            ),
        )


class StoreTooNew(StoreUnavailable):
    """Report a store of a later schema; `found` and `known` are schema versions."""

    code = "store_too_new"

    def __init__(self, location: str, found: int, known: int) -> None:
        self.found = found
        self.known = known
        super().__init__(
            location,
            en=(
                f"The run store {location!r} has schema version {found!r}. Accepted: up to {known!r}. Update maskgrad, "
                "or set MASKGRAD_HOME to another folder."
            ),
            zh=(
                f"运行存储 {location!r} 的结构版本为 {found!r}。可接受：不高于 {known!r}。请升级 maskgrad，"
                "或将 MASKGRAD_HOME 设为其他文件夹。"
            ),
        )


class StoreClosed(StoreUnavailable):
    """Report the use of a store or writer after it was closed."""

    code = "store_closed"

    def __init__(self, location: str) -> None:
        super().__init__(
            location,
            en=f"The run store {location!r} was closed. Accepted: an open store. Open it again.",
            zh=f"运行存储 {location!r} 已关闭。可接受：处于打开状态的存储。请重新打开。",
        )
