from agents.models.scripted import Reply, Say, SayJson
from graphs.lint import LintCode, errors, lint
from tests.agents.planning.model.script import INTENT, kinds, plan_with, shape, step, steps, told

QUESTIONS = [f"What is the {word}?" for word in ("cost", "area", "height", "owner", "age", "yield", "risk")]
LONG = " ".join(QUESTIONS)


def stages(*listed: tuple[str, list[str], list[str]]) -> SayJson:
    return SayJson(
        data={
            "stages": [
                {
                    "id": name,
                    "title": f"Stage {name}",
                    "aim": f"Do {name}",
                    "questions": asked,
                    "after": after,
                }
                for name, asked, after in listed
            ]
        }
    )


def one_level(*questions: str) -> SayJson:
    return steps(*(step(f"t{n}", "research", questions=[text]) for n, text in enumerate(questions, 1)))


STAGES = stages(("S1", QUESTIONS[:3], []), ("S2", QUESTIONS[3:6], []), ("S3", QUESTIONS[6:], ["S1", "S2"]))
LAST = steps(
    step("t1", "research", questions=[QUESTIONS[6]]),
    step("t2", "synthesise", ["t1", "S1"]),
)


def test_a_long_goal_is_planned_in_stages_each_with_its_own_details_only() -> None:
    planned, model = plan_with(
        LONG, INTENT, STAGES, one_level(*QUESTIONS[:3]), one_level(*QUESTIONS[3:6]), LAST
    )
    assert planned.repairs == ()
    assert errors(lint(planned.plan, planned.contract)) == ()
    assert shape(planned.plan) == [
        ("n1", "research", []),
        ("n2", "research", []),
        ("n3", "research", []),
        ("n4", "synthesise", ["n1", "n2", "n3"]),
        ("n5", "research", []),
        ("n6", "research", []),
        ("n7", "research", []),
        ("n8", "synthesise", ["n5", "n6", "n7"]),
        ("n9", "research", []),
        ("n10", "synthesise", ["n9", "n4", "n8"]),
        ("n11", "report", ["n10"]),
    ]
    asked = [c.question for c in planned.contract.acceptance if c.question]
    assert sorted(asked) == sorted(QUESTIONS)
    # The call for the second stage shows its own questions and no other's; of the first stage, the name.
    second = "\n".join(str(message.content) for message in model.requests[3][:2])
    assert all(question in second for question in QUESTIONS[3:6])
    assert not any(question in second for question in (*QUESTIONS[:3], QUESTIONS[6]))
    assert "S1: Stage S1" in second


def test_a_stage_without_usable_steps_becomes_one_step_with_its_questions() -> None:
    bad = [Say(text="no")] * 3
    replies: list[Reply] = [INTENT, STAGES, *bad, one_level(*QUESTIONS[3:6]), LAST]
    planned, _ = plan_with(LONG, *replies)
    assert kinds(planned) == ["asked_again", "asked_again", "stage_unplanned"]
    assert planned.plan.subtasks[0].params["questions"] == QUESTIONS[:3]


def test_stages_in_a_circle_are_mended_and_one_stage_alone_is_asked_again() -> None:
    circle = stages(("S1", QUESTIONS[:4], ["S2"]), ("S2", QUESTIONS[4:], ["S1"]))
    planned, model = plan_with(
        LONG,
        INTENT,
        stages(("S1", QUESTIONS, [])),
        circle,
        one_level(*QUESTIONS[:4]),
        one_level(*QUESTIONS[4:]),
    )
    assert kinds(planned) == ["asked_again", "cycle"]
    assert "1 stages; asked for are 2 to 4" in told(model, 2)
    assert errors(lint(planned.plan, planned.contract)) == ()


def test_no_stages_at_all_is_the_embedded_plan() -> None:
    planned, _ = plan_with(LONG, INTENT, Say(text="a"), Say(text="b"), Say(text="c"))
    assert kinds(planned) == ["asked_again", "asked_again", "fallback"]


def test_a_plan_with_a_longer_chain_than_a_level_holds_is_planned_in_stages() -> None:
    chain = steps(
        *(
            step(f"t{n}", "research", [f"t{n - 1}"] if n > 1 else [], questions=[f"Part {n}?"])
            for n in range(1, 8)
        )
    )
    two = stages(("S1", ["Who pays?"], []), ("S2", [], ["S1"]))
    planned, _ = plan_with(
        "Who pays?",
        INTENT,
        chain,
        two,
        one_level("Who pays?"),
        steps(step("t1", "gather", ["S1"], topic="payment")),
    )
    assert kinds(planned) == ["staged"]
    assert planned.notes[0] == (
        "Repaired: the longest chain had 7 steps, more than the 5 of one level; the goal was planned in stages."
    )
    assert LintCode.TOO_MANY_STEPS not in {found.code for found in lint(planned.plan, planned.contract)}


def test_without_usable_stages_the_long_chain_stays_and_the_review_warns() -> None:
    chain = steps(
        *(
            step(f"t{n}", "research", [f"t{n - 1}"] if n > 1 else [], questions=[f"Part {n}?"])
            for n in range(1, 8)
        )
    )
    planned, _ = plan_with("Who pays?", INTENT, chain, Say(text="a"), Say(text="b"), Say(text="c"))
    assert kinds(planned) == ["asked_again", "asked_again", "chain_kept", "task_added"]
    assert LintCode.TOO_MANY_STEPS in {found.code for found in lint(planned.plan, planned.contract)}
