"""The gate: may this call be made, must a person be asked, is it only pretended, or is it refused?

Pure: a call, the tool's contract, the rules and where the arguments come from go in, a decision comes out. Reading
passes where it is granted, whatever writes or acts outside is asked about each time (seed 003, 2.3), and whatever is
unknown, unclear or incomplete is refused or asked about, never passed. Nothing that a model or a document says is an
input here, except as the text of an argument.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from agents.json_schema import schema_problems
from agents.tools.contract import Profile, ToolCall, ToolSpec
from agents.tools.effects import name_words
from agents.tools.gate_reasons import Reason
from agents.tools.known_texts import accounts, addresses, is_address
from agents.tools.outgoing import is_listed
from agents.tools.taint import DEEPEST, ArgumentOrigin, depth_of, scalars
from agents.tools.texts.calls import REFUSALS
from agents.tools.texts.contract import say

Tier = Literal["read", "draft", "write", "external", "highest"]
"""How much a person should look at before saying yes, least first: the classes of side effects (seed 004, 4.1), and
above them `highest`. Shown to whoever is asked, with the reasons, which hold the text that an argument comes from; each
tier needs the same one word."""

TIERS: Final[tuple[Tier, ...]] = ("read", "draft", "write", "external", "highest")

OutsideGrants = Literal["deny", "ask"]

DeniedAs = Literal["DECISION_INVALID", "ACTION_DENIED", "UNAVAILABLE"]
"""`DECISION_INVALID`: there is no such call; `ACTION_DENIED`: it may not be made; `UNAVAILABLE`: not now."""

LONGEST_QUERY_OUT: Final = 200
"""Characters of all arguments of a call together that a tool may take outside unasked where the user did not write
them: enough for a search, too little for a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """What holds for an agent's calls in a sub-task: from the approved proposal and the user's settings only."""

    granted: frozenset[str]
    """Tools that the agent may call: those that read pass, the others are asked about."""
    profile: Profile = "production"
    outside_grants: OutsideGrants = "deny"
    """What happens to a known tool that is not granted."""
    forbidden: tuple[str, ...] = ()
    """Entries of the contract; one that names the tool, its permission or its class refuses it."""
    approval_required: tuple[str, ...] = ()
    """Entries of the contract; one that names the tool, its permission or its class has each call asked about."""
    unavailable: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Tools that can't be used now, each with the reason."""
    allowed_hosts: frozenset[str] = frozenset()
    """Hosts that the user allows to be read from whoever names them, in small letters, exactly; with `:port` for
    another port than the scheme's own. Text of a document, or a long one, is asked about there too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """The call may be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A person decides about this call with these arguments."""

    tier: Tier
    reasons: tuple[Reason, ...]
    """Why it is asked, at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mock:
    """The call is only pretended (profile `evaluate`)."""

    instead_of: Ask | None
    """What would have been asked; `None`: it would have been made unasked, as a draft is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call is refused."""

    error_type: DeniedAs
    message: str
    """For models and people: what was proposed and what is accepted; in English, see `agents.tools.told`."""


Decision = Pass | Ask | Mock | Deny


def judge_call(
    call: ToolCall, spec: ToolSpec | None, rules: GateRules, origins: Sequence[ArgumentOrigin]
) -> Decision:
    """Return what happens to `call` of the tool with the contract `spec` (`None`: there is no such tool).

    `origins` is `argument_origins` of the same arguments; a value without one counts as taken from untrusted text. In
    order: unknown, malformed, forbidden, unavailable, profile, grants; then by what the call may do.

    Raises nothing for whatever a model may propose.
    """
    refused = _refusal(call, spec, rules)
    if spec is None or refused is not None:
        return refused or _unknown(call, rules)
    asked = _asked(call, spec, rules, _complete(call, spec, origins))
    if rules.profile == "evaluate" and spec.side_effect != "read":
        return Mock(instead_of=asked)
    return asked or Pass()


def names_tool(entry: str, spec: ToolSpec) -> bool:
    """Return whether an entry of a contract means this tool: by its name, its permission or its class.

    Names may stand in a sentence; a class (`write`, `external`) has to be the whole entry.

    >>> from agents.tools.builtin.notes import READ_NOTE
    >>> names_tool("Never use read_note here", READ_NOTE), names_tool("reading", READ_NOTE)
    (True, False)
    """
    text = unicodedata.normalize("NFKC", entry).casefold().strip()
    if text.removeprefix("tool:").strip() in (
        spec.name.casefold(),
        spec.permission.casefold(),
        spec.side_effect,
    ):
        return True
    return any(
        re.search(rf"(?<![\w.\-]){re.escape(name.casefold())}(?![\w\-]|\.\w)", text, re.ASCII)
        for name in (spec.name, spec.permission)
        # A name of one plain word ("search") is also a word of the language: it has to be the whole entry.
        if len(name_words(name)) > 1
    )


def _refusal(call: ToolCall, spec: ToolSpec | None, rules: GateRules) -> Deny | None:
    if spec is None or spec.name != call.tool:
        return _unknown(call, rules)
    if depth_of(call.arguments) > DEEPEST:
        message = say(REFUSALS, "too_deep", tool=repr(call.tool), most=DEEPEST)
        return Deny(error_type="DECISION_INVALID", message=message)
    problems = schema_problems(
        dict(call.arguments), {"additionalProperties": False, **spec.input_schema}, at="arguments"
    )
    if problems:
        message = say(REFUSALS, "malformed", tool=repr(call.tool), problems="; ".join(problems))
        return Deny(error_type="DECISION_INVALID", message=message)
    if forbidding := next((entry for entry in rules.forbidden if names_tool(entry, spec)), None):
        message = say(REFUSALS, "forbidden", tool=repr(call.tool), entry=repr(forbidding))
        return Deny(error_type="ACTION_DENIED", message=message)
    if call.tool in rules.unavailable:
        message = say(REFUSALS, "unavailable", tool=repr(call.tool), why=rules.unavailable[call.tool])
        return Deny(error_type="UNAVAILABLE", message=message)
    if rules.profile == "debug" and spec.side_effect != "read":
        message = say(REFUSALS, "debug", tool=repr(call.tool), effect=repr(spec.side_effect))
        return Deny(error_type="ACTION_DENIED", message=message)
    if call.tool not in rules.granted and rules.outside_grants != "ask":
        message = say(REFUSALS, "not_granted", tool=repr(call.tool), known=_listed(rules))
        return Deny(error_type="ACTION_DENIED", message=message)
    return None


def _unknown(call: ToolCall, rules: GateRules) -> Deny:
    message = say(REFUSALS, "unknown", tool=repr(call.tool[:80]), known=_listed(rules))
    return Deny(error_type="DECISION_INVALID", message=message)


def _listed(rules: GateRules) -> str:
    return ", ".join(sorted(rules.granted - rules.unavailable.keys())) or say(REFUSALS, "none")


def _asked(
    call: ToolCall, spec: ToolSpec, rules: GateRules, origins: tuple[ArgumentOrigin, ...]
) -> Ask | None:
    """What a person is asked; `None`: nothing."""
    effect: Tier = spec.side_effect if spec.side_effect in TIERS else "external"
    reasons: list[Reason] = []
    if call.tool not in rules.granted:
        reasons.append(Reason(code="outside_the_task", tool=call.tool))
    if any(names_tool(entry, spec) for entry in rules.approval_required):
        reasons.append(Reason(code="contract_requires_approval", tool=call.tool))
    if effect == "read":
        carried = _carried_out(call, spec, rules, origins)
        if carried:
            effect = "external"
            reasons += [Reason(code="carries_data_out", tool=call.tool, argument=path) for path in carried]
    else:
        if effect != "draft":
            code: Literal["acts_outside", "changes_files"] = (
                "changes_files" if effect == "write" else "acts_outside"
            )
            reasons.append(Reason(code=code, tool=call.tool))
        tainted = [one for one in origins if one.origin == "source"]
        invented = [one for one in origins if one.origin == "parametric" and _is_target(one)]
        reasons += [
            Reason(code="from_untrusted_text", tool=call.tool, argument=one.path, text=one.excerpt)
            for one in tainted
        ]
        reasons += [Reason(code="said_by_nobody", tool=call.tool, argument=one.path) for one in invented]
    if not reasons:
        return None
    return Ask(tier=_tier(effect, reasons), reasons=tuple(reasons))


def _tier(effect: Tier, reasons: Sequence[Reason]) -> Tier:
    """One tier above that of the effect where an argument stems from text that is not trusted."""
    raised = any(one.code in ("from_untrusted_text", "said_by_nobody") for one in reasons)
    return TIERS[min(TIERS.index(effect) + raised, len(TIERS) - 1)]


def _is_target(origin: ArgumentOrigin) -> bool:
    """Whether a value says where something goes or how much of it: nobody said it, so nobody meant it.

    The words of a message are a model's to write; whom it reaches is not.
    """
    if isinstance(origin.value, str):
        # Where an address is asked for, what could be a file's name is one (`evil.zip`).
        host = _is_address_parameter(origin.path) and is_address(origin.value)
        return host or bool(addresses(origin.value) or accounts(origin.value))
    return isinstance(origin.value, int | float) and not isinstance(origin.value, bool)


def _carried_out(
    call: ToolCall, spec: ToolSpec, rules: GateRules, origins: tuple[ArgumentOrigin, ...]
) -> list[str]:
    """The paths with which reading would tell somebody outside something: an address that the user did not write.

    And, for a tool that reaches outside, text of a document or a long text in place of a search.
    """
    outward = reaches_outside(spec)
    found = []
    for one in origins:
        if one.taint == "trusted" or not isinstance(one.value, str):
            continue
        address = is_address(one.value) and (
            outward or "://" in one.value or one.value.casefold().startswith("www.")
        )
        if address or _is_address_parameter(one.path):
            told = one.takes_along or len(one.value) > LONGEST_QUERY_OUT
            if told or not is_listed(one.value, rules.allowed_hosts):
                found.append(one.path)
        elif outward and one.origin == "source":
            found.append(one.path)
    return list(dict.fromkeys([*found, *_too_much(call, spec, origins)])) if outward else found


def _too_much(call: ToolCall, spec: ToolSpec, origins: tuple[ArgumentOrigin, ...]) -> list[str]:
    """The paths, largest first, without which a call takes no more outside than a search does.

    All that the user did not write counts, for a text can also be told in pieces, numbers, names or switches. The
    entries of a list are one path.
    """
    written = {one.path for one in origins if one.origin == "user"}
    sizes: dict[str, int] = {}
    for path, value in scalars(call.arguments, spec.input_schema):
        if path not in written:
            size = len(value) if isinstance(value, str) else len(json.dumps(value))
            listed = path.partition("[")[0]
            sizes[listed] = sizes.get(listed, 0) + size
    found: list[str] = []
    for path in sorted(sizes, key=lambda each: (-sizes[each], each)):
        if sum(sizes.values()) <= LONGEST_QUERY_OUT:
            break
        del sizes[path]
        found.append(path)
    return found


_ADDRESS_PARAMETER: Final = frozenset(
    "url urls uri uris link links href host hostname endpoint webhook website site domain".split()  # noqa: SIM905
)
_OUTWARD: Final = frozenset(
    """web webpage webpages website websites internet http https url urls online browser browse download fetch crawl
    scrape""".split()  # noqa: SIM905
)
_OUTWARD_ZH: Final = re.compile(r"网页|网站|互联网|联网|网址|上网|在线|下载")


def reaches_outside(spec: ToolSpec) -> bool:
    """Return whether a tool that reads tells its arguments to somebody outside this machine: the web above all.

    By its name, purpose, scope, permission and parameters.
    """
    properties = spec.input_schema.get("properties")
    named = properties.keys() if isinstance(properties, Mapping) else ()
    if any(set(name_words(str(name))) & _ADDRESS_PARAMETER for name in named):
        return True
    words = {
        word for text in (spec.name, spec.purpose, spec.scope, spec.permission) for word in name_words(text)
    }
    return bool(words & _OUTWARD) or bool(_OUTWARD_ZH.search(f"{spec.name}{spec.purpose}{spec.scope}"))


def _is_address_parameter(path: str) -> bool:
    last = re.split(r"[.{]", re.sub(r"\[\d+\]", "", path))[-1]
    return bool(set(name_words(last)) & _ADDRESS_PARAMETER)


def _complete(
    call: ToolCall, spec: ToolSpec, origins: Sequence[ArgumentOrigin]
) -> tuple[ArgumentOrigin, ...]:
    """The origins, with each value that none speaks of as one from untrusted text."""
    known = {one.path: one for one in origins}
    missing = [
        ArgumentOrigin(path=path, value=value, origin="source", taint="untrusted")
        for path, value in scalars(call.arguments, spec.input_schema)
        if value is not None
        and not isinstance(value, bool)
        and (path not in known or known[path].value != value)
    ]
    kept = [one for one in origins if one.path not in {gap.path for gap in missing}]
    return (*kept, *missing)
