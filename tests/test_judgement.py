"""Intake, plan, look back and check of an answer, in whole runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from endpoint import Answer, act, finish, say
from guarded import ended, unlike
from world import Bench, running, scripted

from hermes_bot.messages import Result
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    from pathlib import Path

from judging import GOAL, decision, looking

INTAKE = "say how you read the task"
LOOK_BACK = "A look back is due"


# --- intake ----------------------------------------------------------------------------------------


async def test_the_first_decision_says_how_the_task_is_read(tmp_path: Path) -> None:
    plan = [{"goal": "read the log", "done_when": "errors named", "status": "doing"}]
    script = [looking(1, goal=GOAL, plan=plan), looking(2), finish("DNS.", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        await ended(bot, "find out who is on call  (twice)")
    assert [INTAKE in prompt for prompt in bot.prompts] == [True, False, False]
    assert "find out who is on call  (twice)" in bot.prompts[1]
    assert "as understood: Find why checkout fails.\n- change nothing" in bot.prompts[1]
    assert "1. [doing] read the log (done when errors named) <- next" in bot.prompts[1]
    assert len(bot.prompts) == 3  # no call of its own


async def test_an_unreadable_first_answer_is_asked_for_it_again(tmp_path: Path) -> None:
    script = [say("no"), say("no"), looking(1, goal=GOAL), finish("DNS.", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        await ended(bot)
    assert [INTAKE in prompt for prompt in bot.prompts] == [True, True, True, False]


async def test_what_is_missing_is_asked_in_one_question_before_anything_runs(tmp_path: Path) -> None:
    missing = [
        {"question": "Which service?", "field": "service", "options": ["checkout", "payments"]},
        {"question": "Since when?", "field": "since"},
    ]
    bench = Bench()
    script = [
        looking(1, goal={**GOAL, "missing": missing}),
        looking(2),
        finish("DNS.", evidence=["echo"]),
    ]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        talk = bot.talk()
        await talk.say("look into it")
        asked = await talk.heard()
        assert asked.text == (
            "Before I begin, I need to know:\n1. Which service? (checkout / payments)\n2. Since when?"
        )
        assert (asked.kind, asked.buttons, bench.ran) == ("question", (), [])
        await talk.say("payments, since nine")
        assert (await talk.heard()).text == "DNS."
        assert bench.ran == [unlike(2)]
        assert "u1 answered: payments, since nine" in bot.prompts[1]
        (run,) = await bot.runs()
        reason = next(row for row in await bot.rows(run.id) if row.phase == "reason")
        assert reason.data["put_off"] == {"name": "echo", "args": {"word": unlike(1)}}


async def test_one_missing_fact_has_its_options_as_buttons(tmp_path: Path) -> None:
    missing = {"question": "Which service?", "field": "service", "options": ["checkout", "payments"]}
    script = [looking(1, goal={"missing": missing}), finish("DNS.")]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        talk = bot.talk()
        await talk.say("look into it")
        asked = await talk.heard()
        assert [button.label for button in asked.buttons] == ["checkout", "payments"]
        await talk.press(asked.buttons[1].press.question, 1)
        assert (await talk.heard()).text == "DNS."
        assert "u1 answered: payments" in bot.prompts[1]


@pytest.mark.parametrize("first", [finish("42."), decision("request_info", question="Which?")])
async def test_an_answer_or_a_question_of_its_own_goes_before_missing_facts(
    tmp_path: Path, first: Answer
) -> None:
    async with scripted(tmp_path, [first], tools=Bench().tools()) as bot:
        talk = bot.talk()
        await talk.say("go")
        assert (await talk.heard()).text in ("42.", "Which?")


async def test_later_rounds_do_not_ask_by_way_of_missing(tmp_path: Path) -> None:
    late = {"objective": "Something else.", "missing": ["Which?"]}
    script = [looking(1, goal=GOAL), looking(2, goal=late), finish("DNS.", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        run, _ = await ended(bot)
        assert run.rounds == 3
        assert (await bot.state(run.id)).goal.objective == GOAL["objective"]


async def test_without_a_model_there_is_no_intake(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        run, _ = await ended(bot, "hello")
        state = await bot.state(run.id)
    assert (state.goal.objective, state.plan, state.used.tokens) == ("", (), 0)


# --- plan ------------------------------------------------------------------------------------------


async def test_people_see_the_plan_as_a_checklist_under_what_is_done(tmp_path: Path) -> None:
    goals = [{"goal": "read the log", "status": "doing"}, {"goal": "name the cause", "depends_on": ["1"]}]
    done = [{"goal": "read the log", "status": "done"}, {"goal": "name the cause", "status": "doing"}]
    bench = Bench(lets=0)
    script = [looking(1, plan=goals), looking(2, plan=done), finish("DNS.", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        await bot.talk().say("go")
        await bench.begun.wait()
        await bot.pass_time(15, step=5)
        assert bot.world.statuses[-1] == "echo\n▸ read the log\n○ name the cause"
        bench.lets = 1
        bench.begun.clear()
        bench.gate.set()
        await bench.begun.wait()
        await bot.pass_time(15, step=5)
        assert bot.world.statuses[-1] == "echo\n✔ read the log\n▸ name the cause"
        bench.gate.set()
        await bot.quiet()
        await bot.until(lambda: bot.world.statuses[-1] == "")


async def test_replacing_unfinished_goals_is_told_to_the_model_and_kept_back(tmp_path: Path) -> None:
    first = [{"goal": "read the log", "status": "doing"}, {"goal": "name the cause"}]
    other = [{"goal": "ask the owner", "status": "doing"}]
    script = [looking(1, plan=first), looking(2, plan=other), finish("DNS.", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        await ended(bot)
    last = bot.prompts[2]
    assert "The plan's unfinished goals stay" in last
    assert "1. [doing] read the log <- next\n2. [todo] name the cause\n3. [doing] ask the owner" in last


async def test_after_an_error_from_outside_the_plan_may_change(tmp_path: Path) -> None:
    @tool(risk="read", example={})
    async def broken() -> Result:
        """Fail."""
        raise OSError("the disk is gone")

    first = [{"goal": "read the log", "status": "doing"}]
    other = [{"goal": "ask the owner", "status": "doing"}]
    script = [decision("broken", {"plan": first}), looking(2, plan=other), finish("DNS.", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=[*Bench().tools(), broken]) as bot:
        await ended(bot)
    assert "1. [dropped] read the log\n2. [doing] ask the owner <- next" in bot.prompts[2]


# --- look back -------------------------------------------------------------------------------------


async def test_every_four_rounds_a_look_back_is_asked_for_and_not_each_round(tmp_path: Path) -> None:
    script = [looking(number) for number in range(1, 10)]
    async with scripted(
        tmp_path, script, otherwise=finish("DNS.", evidence=["echo"]), tools=Bench().tools()
    ) as bot:
        await ended(bot)
    assert [number for number, prompt in enumerate(bot.prompts, 1) if LOOK_BACK in prompt] == [5, 9]


async def test_stop_ends_the_run_with_its_report_and_its_action_is_not_run(tmp_path: Path) -> None:
    bench = Bench()
    stop = {"verdict": "stop", "reason": "Rounds 1 to 4 of echo brought nothing that helps."}
    script = [*(looking(number) for number in range(1, 5)), looking(5, reflection=stop)]
    async with scripted(
        tmp_path, script, otherwise=finish("Now.", evidence=["echo"]), tools=bench.tools()
    ) as bot:
        run, post = await ended(bot)
        assert (run.status, run.reason, run.rounds, len(bench.ran)) == ("stopped", "reflection", 5, 4)
        assert post.text.startswith("**Stopped (reflection).** I looked back and see no way on from here.")
        assert "Why: `Rounds 1 to 4 of echo brought nothing that helps.`" in post.text
        assert "What would help" in post.text
        assert [button.label for button in post.buttons] == ["Continue", "Stop"]
        await bot.talk().press(post.buttons[0].press.question, 0)
        await bot.quiet()
        assert bot.world.posts[-1].text == "Now."


async def test_a_vague_stop_is_dropped_and_noted(tmp_path: Path) -> None:
    vague = {"verdict": "stop", "reason": "It does not seem to work out at all."}
    script = [*(looking(number) for number in range(1, 5)), looking(5, reflection=vague)]
    async with scripted(
        tmp_path, script, otherwise=finish("DNS.", evidence=["echo"]), tools=Bench().tools()
    ) as bot:
        run, post = await ended(bot)
        assert (run.status, post.text) == ("finished", "DNS.")
        dropped = [row.data["dropped"] for row in await bot.rows(run.id) if "dropped" in row.data]
    assert dropped == ["stop: its reason names no round, tool or sub-goal of this run"]


async def test_a_pivot_stays_before_the_models_eyes_and_lets_the_plan_change(tmp_path: Path) -> None:
    first = [{"goal": "read the log", "status": "doing"}]
    other = [{"goal": "ask the owner", "status": "doing"}]
    pivot = {"verdict": "pivot", "reason": "Round 3 shows that the log is empty."}
    script = [
        looking(1, plan=first),
        *(looking(number) for number in range(2, 5)),
        looking(5, reflection=pivot, plan=other),
        looking(6),
    ]
    async with scripted(
        tmp_path, script, otherwise=finish("DNS.", evidence=["echo"]), tools=Bench().tools()
    ) as bot:
        await ended(bot)
    for prompt in bot.prompts[5:]:
        assert "In round 5 you decided to pivot: Round 3 shows that the log is empty." in prompt
    assert "1. [dropped] read the log\n2. [doing] ask the owner <- next" in bot.prompts[5]


async def test_two_failures_of_one_tool_call_for_a_look_back(tmp_path: Path) -> None:
    script = [act("nothing_like_it", number=number) for number in range(2)]
    async with scripted(tmp_path, script, otherwise=finish("DNS.", evidence=["echo"])) as bot:
        await ended(bot)
    assert "A look back is due (nothing_like_it failed twice)" in bot.prompts[2]


# --- freshness -------------------------------------------------------------------------------------


async def test_an_answer_on_stale_data_says_of_when_it_is(tmp_path: Path) -> None:
    @tool(risk="read", example={}, fresh_seconds=600, fresher="sample with live=true")
    async def sample() -> Result:
        """Return the last sample."""
        return Result("ok", {"orders": 41}, as_of="2026-01-01T00:00:00Z")

    script = [act("sample"), finish("There are 41 orders.", evidence=["sample"])]
    async with scripted(tmp_path, script, tools=[sample]) as bot:
        _, post = await ended(bot, "how many orders?")
    assert "d old, older than what was asked for. For fresher data: sample with live=true." in bot.prompts[1]
    assert post.text.startswith("There are 41 orders.\n\n_As of 2026-01-01 00:00 UTC: what this rests on is ")
