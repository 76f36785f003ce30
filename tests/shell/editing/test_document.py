"""The editable document: nothing is lost, and everything that is wrong is said at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.spec import ModelPolicy
from graphs.contract import Lang
from graphs.plan import Dependency, structural_boundary
from masks.bands import Thresholds
from masks.design import MaskOrigin, MaskOriginKind
from masks.domains import DomainId
from masks.vector import MaskChange
from orchestrator.core.errors import InvalidProposal
from orchestrator.core.proposal import Envelope, Proposal, proposal_sha256
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.editing.document import SECTIONS, from_document, goal_of_document, to_document
from tests.shell.editing.builders import (
    A1,
    A2,
    CLIMATE,
    ENERGY,
    FINANCE,
    N1,
    N2,
    N3,
    PROPOSAL,
    REGISTRY,
    V1,
    document,
    edited,
)
from tests.shell.editing.strategies import proposals

SLOW = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def read(text: str, base: Proposal = PROPOSAL) -> Proposal:
    return from_document(text, base, REGISTRY)


def problems(text: str, lang: Lang = "en", base: Proposal = PROPOSAL) -> tuple[str, ...]:
    with pytest.raises(InvalidProposal) as caught:
        from_document(text, base, REGISTRY)
    assert len(caught.value.problems["en"]) == len(caught.value.problems["zh"])
    return caught.value.problems[lang]


@SLOW
@given(proposals(), st.sampled_from(["en", "zh"]))
def test_a_document_that_nobody_edited_gives_the_same_proposal(proposal: Proposal, lang: Lang) -> None:
    text = to_document(proposal, REGISTRY, lang, run="r-1", sha256=proposal_sha256(proposal))
    again = from_document(text, proposal, REGISTRY)
    assert again == proposal
    assert proposal_sha256(again) == proposal_sha256(proposal)
    assert check_proposal(again, REGISTRY).errors == ()
    _another_yaml_reader_finds_the_same_words(text, proposal)


def _another_yaml_reader_finds_the_same_words(text: str, proposal: Proposal) -> None:
    found = yaml.safe_load(text)
    assert tuple(found) == ("based_on", *SECTIONS)
    assert found["goal"]["text"] == proposal.goal.text
    assert [entry["id"] for entry in found["contract"]["acceptance"]] == [
        criterion.id for criterion in proposal.contract.acceptance
    ]
    for subtask in proposal.plan.subtasks:
        assert found["plan"]["subtasks"][subtask.id]["title"] == subtask.title
        assert found["plan"]["subtasks"][subtask.id].get("instruction", "") == subtask.instruction
    for agent in proposal.roster.agents:
        shown = found["roster"][agent.id]["mask"]
        assert {domain: round(value * 100) for domain, value in shown.items()} == dict(agent.mask.values)


def test_the_document_says_what_may_be_edited_and_how_to_leave() -> None:
    english, chinese = document(lang="en"), document(lang="zh")
    assert "close without saving" in english
    assert "不保存直接关闭" in chinese
    assert "# Assumption: Only the notes count." in english
    assert 'based_on: "r-1@3-' + proposal_sha256(PROPOSAL)[:8] in english
    assert "env.energy: 0.95  # main; Energy; required by its sub-tasks (relevance 0.80)" in english
    assert "n1: A1  # or: A2 1.00" in english
    assert [
        line for line in english.splitlines() if not line.lstrip().startswith("#")
    ] != chinese.splitlines()


def test_comments_can_not_break_out_of_their_line() -> None:
    sly = replace(PROPOSAL, notes=("nothing\nassignment: {n1: A2}",))
    assert from_document(document(sly), sly, REGISTRY) == sly


def test_a_changed_mask_value_is_a_recorded_operation_of_the_user_and_changes_the_hash() -> None:
    new = read(edited("env.energy: 0.95", "env.energy: 0.40"))
    mask = new.roster.get("A1").mask
    assert mask.version == 2
    assert mask.changes == (
        MaskChange(
            version=2,
            domain=ENERGY,
            old=95,
            new=40,
            author="user",
            reason="set in the review",
            operation="set",
        ),
    )
    assert new.mask_origins[A1][ENERGY] == MaskOrigin(kind=MaskOriginKind.USER)
    assert new.mask_origins[A1][CLIMATE] == PROPOSAL.mask_origins[A1][CLIMATE]
    assert proposal_sha256(new) != proposal_sha256(PROPOSAL)


def test_a_value_taken_out_of_a_mask_is_zero() -> None:
    new = read(edited("      env.climate: 0.50", "      # env.climate: 0.50"))
    assert new.roster.get("A1").mask.value(CLIMATE) == 0
    assert new.mask_origins[A1][CLIMATE].kind is MaskOriginKind.USER


def test_a_group_of_domains_sets_its_leaves_and_a_leaf_beats_it() -> None:
    new = read(edited("env.climate: 0.50", "env: -0.25"))
    mask = new.roster.get("A1").mask
    leaves = REGISTRY.leaves_under(DomainId("env"))
    assert len(leaves) > 2
    assert {leaf: mask.value(leaf) for leaf in leaves} == dict.fromkeys(leaves, -25) | {ENERGY: 95}


def test_a_domain_may_be_named_in_either_language() -> None:
    name = REGISTRY.get(FINANCE).names["zh"]
    new = read(edited("env.climate: 0.50", f'env.climate: 0.50\n      "{name}": 0.35'))
    assert new.roster.get("A1").mask.value(FINANCE) == 35


def test_a_newly_forbidden_domain_is_suppressed_in_every_mask() -> None:
    new = read(edited("forbidden: []", "forbidden: [domain:env.climate]"))
    assert new.contract.forbidden == ("domain:env.climate",)
    assert [agent.mask.value(CLIMATE) for agent in new.roster.agents] == [-100, -100, -100]
    assert new.mask_origins[V1][CLIMATE].kind is MaskOriginKind.FORBIDDEN
    assert new.roster.get("A1").mask.changes[-1].operation == "suppress"


def test_a_forbidden_domain_can_not_be_opened_by_the_same_edit() -> None:
    text = edited("forbidden: []", "forbidden: [domain:env.climate]")
    (problem,) = problems(edited("env.climate: 0.50", "env.climate: 0.60", text=text))
    assert "'env.climate' is at 0.60 for agent 'A1'" in problem


def test_a_new_agent_has_a_mask_of_version_one_set_by_the_user() -> None:
    new = read(
        edited(
            "\n# Sub-task: agent.",
            "\n  A3:\n    responsibility: Looks.\n    role: generate\n    operations: [research]\n"
            "    tools: [search_notes, read_note]\n    mask: {econ.finance: 0.9}\n\n# Sub-task: agent.",
        ).replace("n2: A2", "n2: A3")
        + "  A3: [search_notes, read_note]\n"
    )
    agent = new.roster.get("A3")
    assert (agent.mask.version, agent.mask.values, agent.mask.changes) == (1, ((FINANCE, 90),), ())
    assert new.mask_origins[agent.id] == {FINANCE: MaskOrigin(kind=MaskOriginKind.USER)}
    assert new.assignment[N2] == agent.id
    assert [candidate.agent for candidate in new.candidates[N2]] == ["A3", "A2", "A1"]


def test_everything_else_can_be_edited_too() -> None:
    text = document()
    for old, new in (
        ("title: Report", "title: 2026-01-31"),
        ("estimate: 0.5", "estimate: 2"),
        ("env.energy: 0.8", "env.energy: 0.3"),
        ("main: 0.70", "main: 0.80"),
        ("allow_unresolved: false", "allow_unresolved: true"),
        ("max_tool_calls: 18", "max_tool_calls: 6"),
        ("delta_max: 0.05", "delta_max: 0.1"),
        ("ceilings: {}", "ceilings: {A1: {econ.finance: 0.35}}"),
        ("reassign: true", "reassign: false"),
        ("    model_policy: {kind: embedded}", '    model_policy: {kind: model, model: "openai:gpt"}'),
        ("max_concurrency: 2", "max_concurrency: 1"),
        ("n3: A1", "n3: A2"),
        ('question: "What does it cost?"', 'question: "What, in € 1,000?"'),
        ('- "What does it cost?"', '- "What, in € 1,000?"'),
    ):
        text = edited(old, new, text=text)
    found = read(text)
    assert found.plan.subtasks[2].title == "2026-01-31"
    assert found.plan.subtasks[2].estimate == 2.0
    assert found.plan.subtasks[0].required_domains == {ENERGY: 0.3}
    assert found.thresholds == Thresholds(main=80, background=30)
    assert found.contract.allow_unresolved is True
    assert (found.contract.limits.max_tool_calls, found.contract.delta_max) == (6, 0.1)
    assert found.envelope == Envelope(ceilings={A1: {FINANCE: 35}}, reassign=False)
    assert found.roster.get("A1").model_policy == ModelPolicy(kind="model", model="openai:gpt")
    assert found.roster.get("A1").max_concurrency == 1
    assert found.assignment == {N1: A1, N2: A2, N3: A2}
    assert found.contract.acceptance[1].question == "What, in € 1,000?"
    assert found.contract.outputs == PROPOSAL.contract.outputs


def test_the_boundary_follows_an_edited_edge() -> None:
    text = edited("- n2.claims -> n3.claims", "- n1.claims -> n2.more\n    - n2.claims -> n3.claims")
    text = text.replace("n2:", "N2:", 0)
    second = text.index("    n2:")
    text = text[:second] + text[second:].replace(
        "- {name: notes, type: documents}",
        "- {name: notes, type: documents}\n        - {name: more, type: claims}",
        1,
    )
    found = read(text)
    assert Dependency(source=N1, target=N2, output="claims", input="more") in found.plan.dependencies
    boundaries = {subtask.id: subtask.boundary for subtask in found.plan.subtasks}
    assert boundaries == {
        N1: structural_boundary(has_predecessors=False, has_successors=True),
        N2: "inner",
        N3: "exit",
    }


def test_limits_that_are_left_out_take_their_defaults() -> None:
    base = replace(
        PROPOSAL,
        contract=replace(PROPOSAL.contract, limits=replace(PROPOSAL.contract.limits, max_actions=77)),
    )
    found = from_document(edited("    max_actions: 77\n", "", text=document(base)), base, REGISTRY)
    assert found.contract.limits == PROPOSAL.contract.limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """One thing that a person may get wrong, and what has to be said about it."""

    id: str
    old: str
    new: str
    says: tuple[str, ...]


SLIPS = (
    Slip(
        id="range", old="env.energy: 0.95", new="env.energy: 1.2", says=("roster.A1.mask.env.energy", "'1.2'")
    ),
    Slip(id="grid", old="env.energy: 0.95", new="env.energy: 0.555", says=("'0.555'", "steps of 0.01")),
    Slip(id="no number", old="env.energy: 0.95", new="env.energy: high", says=("'high'", "-1.00 to 1.00")),
    Slip(id="nothing", old="env.energy: 0.95", new="env.energy:", says=("nothing", "-1.00 to 1.00")),
    Slip(
        id="unknown domain",
        old="env.climate: 0.50",
        new="env.climat: 0.50",
        says=("'env.climat'", "Close: 'env.climate'"),
    ),
    Slip(
        id="one domain twice",
        old="env.climate: 0.50",
        new="env.climate: 0.50\n      气候与环境: 0.40",
        says=("both name the domain 'env.climate'",),
    ),
    Slip(
        id="unknown key",
        old="operation: report",
        new="operatoin: report",
        says=("'operatoin'", "Did you mean 'operation'"),
    ),
    Slip(id="unknown section", old="grants:", new="grantz:", says=("'grantz'", "Did you mean 'grants'")),
    Slip(id="missing section", old="goal:", new="x_goal:", says=("'x_goal'", "goal, contract")),
    Slip(id="key twice", old="n3: A1", new="n3: A1\n  n3: A2", says=("assignment.n3", "'n3' occurs twice")),
    Slip(id="flag", old="reassign: true", new="reassign: yes", says=("'yes'", "true or false")),
    Slip(id="whole", old="max_actions: 24", new="max_actions: 24.5", says=("'24.5'", "a whole number")),
    Slip(id="number", old="estimate: 0.5", new="estimate: soon", says=("'soon'", "a number")),
    Slip(id="infinite", old="estimate: 0.5", new="estimate: 1e999", says=("'1e999'", "a number")),
    Slip(
        id="choice",
        old="      kind: function",
        new="      kind: funktion",
        says=("'funktion'", "function, call, loop"),
    ),
    Slip(id="list", old="acceptance: [c1, c2]", new="acceptance: c1", says=("'c1'", "a list")),
    Slip(id="mapping", old="ceilings: {}", new="ceilings: [A1]", says=("a list", "a mapping")),
    Slip(id="text", old="title: Report", new="title: [Report]", says=("a list", "text")),
    Slip(
        id="thresholds",
        old="main: 0.70",
        new="main: 0.20",
        says=("main 0.20 and background 0.30", "0.00 <= background < main < 1.00"),
    ),
    Slip(id="unknown agent", old="n3: A1", new="n3: A7", says=("assignment.n3", "'A7'", "A1, A2, V1")),
    Slip(id="verifier at work", old="n3: A1", new="n3: V1", says=("'V1' verifies and generates nothing",)),
    Slip(id="unassigned", old="\n  n3: A1", new="", says=("assignment", "Sub-task 'n3' has no agent")),
    Slip(id="unknown node", old="n3: A1", new="n3: A1\n  n9: A1", says=("'n9'", "n1, n2, n3")),
    Slip(
        id="edge",
        old="- n1.claims -> n3.claims",
        new="- n1 to n3",
        says=("'n1 to n3'", "n1.claims -> n3.claims"),
    ),
    Slip(
        id="dangling",
        old="- n1.claims -> n3.claims",
        new="- n1.claims -> n3.claims\n    - n1.claims -> n8.x",
        says=("'n8'", "not in the plan"),
    ),
    Slip(id="goal", old="and cost?", new="and earn?", says=("goal (line", "read-only", "maskgrad plan GOAL")),
    Slip(
        id="stale",
        old="r-1@3-",
        new="r-1@2-",
        says=("based_on", "'r-1@2-", "maskgrad edit ID"),
    ),
    Slip(
        id="alias", old="title: Report", new="title: *x", says=("aliases (*) are not accepted", "column 14")
    ),
    Slip(id="tag", old="title: Report", new="title: !!str x", says=("tags (!) are not accepted",)),
    Slip(id="syntax", old="title: Report", new="title: a: b", says=("no valid YAML", "column 15")),
    Slip(id="control", old="title: Report", new="title: \x07", says=("no valid YAML", "column 14", "\\x07")),
    Slip(
        id="grant",
        old="A2: [search_notes, read_note]",
        new="A2: [search_notes]",
        says=("'n2' needs the tool 'read_note'", "'A2' may not call"),
    ),
    Slip(id="roles", old="operations: [verify]", new="operations: [verify, report]", says=("'V1'", "report")),
)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.id)
def test_a_slip_is_named_with_its_place_its_value_and_what_is_accepted(slip: Slip) -> None:
    text = edited(slip.old, slip.new)
    found = problems(text)
    assert len(found) == 1, found
    for part in slip.says:
        assert part in found[0]
    assert "line " in found[0] or slip.id == "missing section"


def test_a_cycle_is_named_with_its_path() -> None:
    text = edited("- n1.claims -> n3.claims", "- n1.claims -> n3.claims\n    - n3.report -> n1.notes")
    assert any(
        line.startswith("plan.dependencies (line ") and "n1 -> n3 -> n1" in line for line in problems(text)
    )


def test_a_criterion_that_another_sub_task_covers_may_leave_this_one() -> None:
    """The control of the cases above: not every edit is a slip."""
    assert read(edited("acceptance: [c1, c2]", "acceptance: [c1]")).plan.subtasks[2].acceptance == ("c1",)


def test_every_problem_is_reported_at_once_by_line_in_both_languages() -> None:
    text = document()
    for old, new in (
        ("env.energy: 0.95", "env.energy: 1.2"),
        ("env.climate: 0.50", "env.climat: 0.555"),
        ("n3: A1", "n3: A9"),
        ("\n  n2: A2", ""),
        ("- n1.claims -> n3.claims", "- n1.claims -> n3.claims\n    - n3.report -> n1.notes"),
        ("reassign: true", "reassign: maybe"),
    ):
        text = edited(old, new, text=text)
    english, chinese = problems(text, "en"), problems(text, "zh")
    for part in (
        "'1.2'",
        "'env.climat'",
        "'0.555'",
        "'A9'",
        "'n2' has no agent",
        "n1 -> n3 -> n1",
        "'maybe'",
    ):
        assert sum(part in line for line in english) == 1, part
    assert len(english) == 8, "seven, and the type that the closing edge carries"
    assert all("第" in line and "行" in line for line in chinese)
    lines = [int(line.split("(line ")[1].split(")")[0]) for line in english]
    assert lines == sorted(lines)
    assert text.splitlines()[lines[0] - 1].strip().startswith(("dependencies", "- n3"))


def test_what_only_follows_from_an_unreadable_part_is_not_reported() -> None:
    found = problems(edited("operation: report", "operation: [report]"))
    assert found == tuple(line for line in found if "operation" in line)
    assert len(found) == 1


def test_an_empty_document_says_how_to_leave() -> None:
    for text in ("", "# only a comment\n"):
        (problem,) = problems(text)
        assert "close it without saving" in problem


@pytest.mark.parametrize(
    "text", ["just words", "- a\n- b", "a: b\n---\nc: d", "[" * 5000, "{" * 5000, "a: 'open"]
)
def test_no_input_is_more_than_a_problem(text: str) -> None:
    assert problems(text)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_damaged_document_is_read_or_refused_and_never_breaks(data: st.DataObject) -> None:
    text = document()
    place = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 12))
    junk = data.draw(
        st.text(max_size=6) | st.sampled_from([": ", "- ", "{", "]", "\n", "\n  ", "null", "\t"])
    )
    found, said = outcome(text[:place] + junk + text[place + length :])
    assert (found is None) == bool(said)
    assert found is None or check_proposal(found, REGISTRY).errors == ()


def outcome(text: str) -> tuple[Proposal | None, tuple[str, ...]]:
    """The proposal that is read, or the problems; any other exception is a bug."""
    try:
        return read(text), ()
    except InvalidProposal as error:
        return None, error.problems["en"]


def test_a_document_of_another_revision_can_be_put_in_place_on_purpose() -> None:
    base = replace(PROPOSAL, notes=("changed since",))
    assert "r-1@3-" in problems(document(), base=base)[0]
    assert from_document(document(), base, REGISTRY, rebase=True) == base
    without = "\n".join(line for line in document().splitlines() if not line.startswith("based_on"))
    assert from_document(without, base, REGISTRY) == base


def test_the_goal_of_a_document_can_be_read_alone() -> None:
    assert goal_of_document(document(lang="zh")) == PROPOSAL.goal
    with pytest.raises(InvalidProposal, match="'goal' is missing"):
        goal_of_document("plan: {}")
