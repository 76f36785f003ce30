"""Say what is wrong with a mask, a domain, a marker or a registry, in both languages.

MaskError                 everything below; catch it to catch all of them
├── UnknownDomain         (LookupError) a text names no domain of the registry
├── RegistryError         (ValueError)  the domain records contradict each other or miss something
├── MaskValueError        (ValueError)  a number is no mask value
├── ThresholdError        (ValueError)  two numbers are no thresholds
├── MaskShapeError        (ValueError)  a mask is not sparse, not sorted, or wrongly versioned
├── GradientError         (ValueError)  an operation on a mask does not apply
│   ├── SuppressedDomain                the domain is at -1 and only a person may lift that
│   └── NothingToUndo                   the mask has no change left that could be undone
├── DesignError           (ValueError)  a mask cannot be designed from these requirements
└── CalibrationError      (ValueError)  no calibration fits this embedder and registry

`str(error)` is English; `error.message(lang)` gives either language. Each message names the value got,
what is accepted and the next step. `error.code` is stable and may be shown or searched for.
"""

from collections.abc import Sequence
from typing import ClassVar

from masks.language import Lang


class MaskError(Exception):
    """Carry one message in two languages and a stable code."""

    code: ClassVar[str] = "mask_error"

    def __init__(self, *, en: str, zh: str) -> None:
        super().__init__(en)
        self._messages: dict[Lang, str] = {"en": en, "zh": zh}

    def message(self, lang: Lang) -> str:
        """Return the message in `lang`."""
        return self._messages[lang]


class UnknownDomain(MaskError, LookupError):
    """Report a text that names no domain; `value` is the text, `matches` are the closest ids."""

    code = "unknown_domain"

    def __init__(self, value: str, matches: Sequence[str] = ()) -> None:
        self.value = value
        self.matches = tuple(matches)
        near_en = f" Close: {', '.join(map(repr, self.matches))}." if self.matches else ""
        near_zh = f"相近的有：{'、'.join(map(repr, self.matches))}。" if self.matches else ""
        super().__init__(
            en=(
                f"Unknown knowledge domain {value!r}. Accepted: an id, a name or an alias of the registry, "
                "in "
                f"English or Chinese.{near_en} List them with `maskgrad domains`."
            ),
            zh=(
                f"未知的知识域 {value!r}。可接受：注册表中的标识、名称或别名（中文或英文）。{near_zh}"
                f"可用 `maskgrad domains` 查看全部。"
            ),
        )


class RegistryError(MaskError, ValueError):
    """Report domain records that cannot form a registry."""

    code = "domain_registry_invalid"


class MaskValueError(MaskError, ValueError):
    """Report a value that is no mask value; `value` is what was given."""

    code = "mask_value_invalid"

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(
            en=(
                f"Mask value {value!r} is not accepted. Accepted: -1.00 to 1.00 in steps of 0.01. "
                f"Give a number such as 0.55."
            ),
            zh=f"蒙版值 {value!r} 不可用。可接受：-1.00 到 1.00，步长 0.01。请给出如 0.55 的数。",
        )


class ThresholdError(MaskError, ValueError):
    """Report two numbers that divide nothing into three bands."""

    code = "thresholds_invalid"

    def __init__(self, main: object, background: object) -> None:
        self.main = main
        self.background = background
        super().__init__(
            en=(
                f"Thresholds main={main!r}, background={background!r} (hundredths) are not accepted. "
                "Accepted: "
                f"whole hundredths with 0 <= background < main < 100. The default is main=70, background=30."
            ),
            zh=(
                f"阈值 main={main!r}、background={background!r}（单位：百分之一）不可用。可接受：整数且 "
                f"0 <= background < main < 100。默认值为 main=70、background=30。"
            ),
        )


class MaskShapeError(MaskError, ValueError):
    """Report a mask document that is not in canonical form."""

    code = "mask_shape_invalid"


class GradientError(MaskError, ValueError):
    """Report an operation that does not apply to this mask."""

    code = "mask_operation_refused"


class SuppressedDomain(GradientError):
    """Report an attempt to raise a domain that is at -1."""

    code = "mask_domain_suppressed"

    def __init__(self, agent: str, domain: str) -> None:
        self.agent = agent
        self.domain = domain
        super().__init__(
            en=(
                f"Domain {domain!r} of agent {agent!r} is suppressed (-1.00) and is never raised by a "
                "repair. "
                f"Accepted: any other domain. Let a person set it in the review, or choose another agent."
            ),
            zh=(
                f"agent {agent!r} 的知识域 {domain!r} 已被抑制（-1.00），修复流程不会提升它。可接受："
                "其他知识域。"
                f"请由人在审核中设定，或改用其他 agent。"
            ),
        )


class NothingToUndo(GradientError):
    """Report a mask without a recorded change."""

    code = "mask_nothing_to_undo"

    def __init__(self, agent: str, version: int) -> None:
        super().__init__(
            en=(
                f"The mask of agent {agent!r} at version {version!r} has no recorded change to undo. "
                "Accepted: "
                f"a mask that was changed after its design. Set the value you want instead."
            ),
            zh=(
                f"agent {agent!r} 的蒙版（版本 {version!r}）没有可撤销的修改。可接受："
                "设计之后被修改过的蒙版。"
                f"请直接设定所需的值。"
            ),
        )


class DesignError(MaskError, ValueError):
    """Report requirements that no mask can meet."""

    code = "mask_design_conflict"


class CalibrationError(MaskError, ValueError):
    """Report an embedder and registry for which no calibration is known or possible."""

    code = "leak_calibration_missing"
