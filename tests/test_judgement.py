"""Intake, plan, look back and check of an answer, in whole runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, fail, finish, held, say
from test_guards import ended, unlike
from world import Bench, request, running, scripted

from hermes_bot.config import Profile
from hermes_bot.messages import Request, Result
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

    from hermes_bot.state import Row

INTAKE = "say how you read the task"
LOOK_BACK = "A look back is due"
GOAL = {"objective": "Find why checkout fails.", "constraints": ["change nothing"]}
OK = say('{"ok": true, "problem": ""}', usage=(300, 20))
NOT_OK = say('Sure: {"ok": false, "problem": "no round says that `it` is DNS"}', usage=(300, 20))


def decision(name: str, /, beside: dict[str, Any] | None = None, **args: Any) -> Answer:
    return say({"thought": "", **(beside or {}), "action": {"name": name, "args": args}})


def looking(number: int, **beside: Any) -> Answer:
    return decision("echo", beside, word=unlike(number))


async def judged(bot: Running) -> list[Row]:
    (run,) = await bot.runs()
    return [row for row in await bot.rows(run.id) if row.phase == "judge"]


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


# --- the check of an answer ------------------------------------------------------------------------

CHECKED = {"task": Profile(verify=True)}


async def test_an_answer_is_checked_once_before_it_is_posted_and_paid_for(tmp_path: Path) -> None:
    script = [act("echo", word="DNS fails"), finish("It is DNS.", evidence=["round 1"]), OK]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        run, post = await ended(bot, "go there")
        assert (post.text, len(bot.prompts)) == ("It is DNS.", 3)
        assert "[task]\ngo there" in bot.prompts[2]
        assert "[answer]\nIt is DNS." in bot.prompts[2]
        assert "DNS fails" in bot.prompts[2]
        assert run.tokens == 2 * 15 + 320
        (_, last) = await judged(bot)
        assert (last.data["check"], last.tokens_in, last.tokens_out) == ("ok", 300, 20)


async def test_a_problem_is_told_once_and_the_second_answer_is_labelled(tmp_path: Path) -> None:
    again = finish("It is DNS.", evidence=["round 1"])
    script = [act("echo", word="a"), again, NOT_OK, again, NOT_OK]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        run, post = await ended(bot)
    assert "Not accepted: a check found: no round says that `it` is DNS" in bot.prompts[3]
    assert post.text.startswith("_Unverified")
    assert post.text.endswith("_A check found:_ `no round says that 'it' is DNS`")
    assert (run.status, run.rounds, len(bot.prompts)) == ("finished", 3, 5)


async def test_a_better_second_answer_is_posted_without_a_label(tmp_path: Path) -> None:
    script = [
        act("echo", word="a"),
        finish("It is DNS.", evidence=["round 1"]),
        NOT_OK,
        finish("It is not known.", evidence=["round 1"]),
        OK,
    ]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        _, post = await ended(bot)
    assert post.text == "It is not known."


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (say("I would say yes."), "unreadable"),
        (say('{"ok": "perhaps"}'), "unreadable"),
        (say('{"ok": true'), "unreadable"),
        (fail(401, body={"error": {"message": "no"}}), "failed: unauthorized"),
    ],
)
async def test_a_checker_that_fails_holds_nothing_up(tmp_path: Path, said: Answer, note: str) -> None:
    script = [act("echo", word="a"), finish("It is DNS.", evidence=["round 1"]), said]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        _, post = await ended(bot)
        assert post.text == "It is DNS."
        assert (await judged(bot))[-1].data["check"] == note


async def test_a_check_that_the_process_died_in_is_made_again_and_the_answer_posted_once(
    tmp_path: Path,
) -> None:
    bench = Bench()
    script = [act("echo", word="a"), finish("It is DNS.", evidence=["round 1"]), held(OK, asyncio.Event())]
    async with scripted(tmp_path, script, tools=bench.tools(), profiles=CHECKED) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: len(bot.prompts) == 3)
    async with scripted(tmp_path, [OK], tools=bench.tools(), profiles=CHECKED) as bot:
        assert (await bot.talk().heard()).text == "It is DNS."
        await bot.quiet()
        assert (len(bot.world.posts), len(bot.prompts)) == (1, 1)
        assert "[answer]\nIt is DNS." in bot.prompts[0]
        (run,) = await bot.runs()
        assert (run.rounds, run.tokens) == (2, 2 * 15 + 320)
    assert bench.ran == ["a"]


async def test_what_the_rules_refuse_is_not_checked(tmp_path: Path) -> None:
    script = [act("echo", word="a"), finish("I restarted payments.", evidence=["round 1"])]
    async with scripted(
        tmp_path,
        script,
        otherwise=finish("It is DNS.", evidence=["round 1"]),
        tools=Bench().tools(),
        profiles=CHECKED,
    ) as bot:
        await ended(bot)
        assert [row.data.get("check") for row in await judged(bot)] == [None, None, "unreadable"]


async def test_a_long_answer_and_long_evidence_are_checked_within_the_context(tmp_path: Path) -> None:
    long = "字" * 40_000
    script = [act("echo", word="a" * 60_000), finish(long, evidence=["round 1"]), OK]
    async with scripted(tmp_path, script, tools=Bench().tools(), profiles=CHECKED) as bot:
        await ended(bot, "go " * 9_000)
    assert len(bot.endpoint.bodies[2]) <= 16_000 * 3


# --- profiles, skills, requests --------------------------------------------------------------------


async def test_a_profile_says_which_tools_there_are(tmp_path: Path) -> None:
    script = [act("send", word="a"), finish("Cannot.", evidence=[])]
    profiles = {"narrow": Profile(tools=("ech*", "now"))}
    async with scripted(
        tmp_path, script, otherwise=finish("Cannot."), tools=Bench().tools(), profiles=profiles
    ) as bot:
        await ended(bot, request=request(profile="narrow"))
    system = str(bot.endpoint.requests[0]["messages"][0]["content"])
    assert "- echo:" in system
    assert "- now:" in system
    assert "- send:" not in system
    assert "- run_skill:" not in system
    assert "denied: The profile 'narrow' of this run does not offer send." in bot.prompts[1]


async def test_a_request_changes_limits_of_its_profile_and_continue_keeps_them(tmp_path: Path) -> None:
    wanted = Request(profile="chat", limits={"rounds": 2, "reflect_every": 0, "tools": ["echo"]})
    script = [looking(number) for number in range(1, 9)]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        run, post = await ended(bot, request=wanted)
        assert (run.reason, run.rounds) == ("rounds", 2)
        await bot.talk().press(post.buttons[0].press.question, 0)
        await bot.quiet()
        second = (await bot.runs())[-1]
        limits = (await bot.state(second.id)).limits
    assert (second.rounds, limits.profile, limits.rounds, limits.tools) == (4, "chat", 2, ("echo",))


def skill_folder(folder: Path, head: str) -> Path:
    (folder / "look").mkdir(parents=True)
    steps = 'steps:\n  - {id: word, say: "All is well."}\n'
    (folder / "look" / "chain.yaml").write_text(steps)
    text = f"---\nname: look\ndescription: Look whether all is well.\nexample: run look\n{head}\n---\n"
    (folder / "look" / "SKILL.md").write_text(text)
    return folder


async def test_a_skill_brings_its_profile_and_limits(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "skills", "profile: code\nlimits: {rounds: 7, seconds: 90}")
    async with running(tmp_path / "a", skills={"folders": (folder,)}) as bot:
        run, _ = await ended(bot, "run look")
        limits = (await bot.state(run.id)).limits
        assert (run.profile, limits.rounds, limits.seconds) == ("code", 7, 90)
        await bot.talk("2").say("run look", request=request("look", profile="chat"))
        await bot.quiet()
        limits = (await bot.state((await bot.runs())[-1].id)).limits
    assert (limits.profile, limits.rounds) == ("chat", 7)


@pytest.mark.parametrize("verdict", [OK, NOT_OK])
async def test_a_skill_may_want_its_report_checked(tmp_path: Path, verdict: Answer) -> None:
    folder = skill_folder(tmp_path / "skills", "verify: true")
    async with scripted(tmp_path / "a", [verdict], skills={"folders": (folder,)}) as bot:
        _, post = await ended(bot, "run look")
        assert len(bot.prompts) == 1
    assert "[answer]\nAll is well." in bot.prompts[0]
    if verdict is OK:
        assert post.text == "All is well."
    else:
        assert post.text.startswith("_Unverified")
        assert "All is well." in post.text


async def test_without_a_model_a_skill_that_wants_a_check_runs_unchecked(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "skills", "verify: true")
    async with running(tmp_path / "a", skills={"folders": (folder,)}) as bot:
        _, post = await ended(bot, "run look")
    assert post.text == "All is well."


async def test_a_skill_the_model_chose_has_the_answer_checked(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "skills", "verify: true")
    script = [act("run_skill", name="look"), finish("All is well.", evidence=["round 1"]), OK]
    async with scripted(tmp_path / "a", script, skills={"folders": (folder,)}) as bot:
        _, post = await ended(bot, "anything new?")
        assert (await judged(bot))[-1].data["check"] == "ok"
    assert post.text == "All is well."


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


async def test_a_channel_has_its_usual_profile_and_a_skill_or_a_caller_goes_over_it(tmp_path: Path) -> None:
    folder = skill_folder(tmp_path / "skills", "profile: code")
    profiles = {
        "brief": Profile(rounds=3, channels=("world:T1:*",)),
        "chat": Profile(channels=("world:T1:C1",)),
    }
    settings: dict[str, Any] = {"profiles": profiles, "skills": {"folders": (folder,)}}
    async with running(tmp_path / "a", **settings) as bot:
        for channel, text, asked in (
            ("C1", "hello", None),
            ("C2", "hello", None),
            ("C2", "run look", None),
            ("C2", "hello", request(profile="task")),
        ):
            await bot.talk(channel=channel).say(text, request=asked)
            await bot.quiet()
        await bot.talk(workspace="T2").say("hello")
        await bot.quiet()
        found = [(run.profile, (await bot.state(run.id)).limits.rounds) for run in await bot.runs()]
    assert found == [("chat", 5), ("brief", 3), ("code", 30), ("task", 20), ("task", 20)]


async def test_guards_are_set_by_a_profile(tmp_path: Path) -> None:
    profiles = {"strict": Profile(failures=2, repeats=2)}
    script = [act("nothing_like_it", number=number) for number in range(9)]
    async with scripted(tmp_path / "a", script, profiles=profiles) as bot:
        run, _ = await ended(bot, request=request(profile="strict"))
    assert (run.reason, run.rounds) == ("failures", 2)
    async with scripted(
        tmp_path / "b", [act("echo", word="a")] * 3, tools=Bench().tools(), profiles=profiles
    ) as bot:
        run, _ = await ended(bot, request=request(profile="strict"))
    assert (run.reason, run.rounds) == ("repetition", 2)
