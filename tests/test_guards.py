"""Every run ends: finished, or stopped by a named guard with a report and a way to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, finish, say
from world import Bench, request, scripted

from hermes_bot.errors import ToolError
from hermes_bot.store import inbox
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.tools.declare import Tool
from guarded import ended, unlike, worker


async def test_twenty_tool_rounds_finish(tmp_path: Path) -> None:
    def mind(asked: dict[str, Any]) -> Answer:
        is_last = "This is round 20;" in asked["messages"][-1]["content"]
        return finish("all twenty", evidence=["echo"]) if is_last else worker(asked)

    async with scripted(tmp_path, mind, tools=Bench().tools()) as bot:
        run, post = await ended(bot)
    assert (run.status, run.rounds, post.text) == ("finished", 20, "all twenty")


@pytest.mark.parametrize(("profile", "rounds"), [("chat", 5), ("task", 20), ("code", 30)])
async def test_a_model_that_never_finishes_is_stopped_after_the_rounds_of_its_profile(
    tmp_path: Path, profile: str, rounds: int
) -> None:
    async with scripted(tmp_path, worker, tools=Bench().tools()) as bot:
        run, post = await ended(bot, request=request(profile=profile))
    assert (run.status, run.reason, run.rounds, len(bot.prompts)) == ("stopped", "rounds", rounds, rounds)
    assert post.kind == "report"
    assert post.text.startswith(f"**Stopped (rounds).** I used all {rounds} rounds")
    assert [button.label for button in post.buttons] == ["Continue", "Stop"]
    assert "This is the last round" in bot.prompts[-1]
    assert "complete" not in post.text.lower()


@pytest.mark.parametrize("way", ["press", "text", "word"])
async def test_continue_goes_on_from_the_stored_state_with_a_fresh_allowance(
    tmp_path: Path, way: str
) -> None:
    bench = Bench()
    script = [act("send", word="it"), *[act("echo", word=unlike(number)) for number in range(4)]]
    async with scripted(
        tmp_path, script, otherwise=finish("now it is done", evidence=["send"]), tools=bench.tools()
    ) as bot:
        talk = bot.talk()
        await talk.say("the whole task", request=request(profile="chat"))
        report = await talk.heard()
        if way == "press":
            assert await talk.press(report.buttons[0].press.question, 0) is None
        else:
            await talk.say("Continue" if way == "text" else "go on.", addressed=False)
        assert (await talk.heard()).text == "now it is done"
        first, second = await bot.runs()
        assert (first.status, second.status, second.continues) == ("stopped", "finished", first.id)
        assert "[round 1]" in bot.prompts[5] or "send" in bot.prompts[5]
        assert "the whole task" in bot.prompts[5]
        assert "5 of 5 are left" in bot.prompts[5]
        # its message joined the run in the same commit: after a kill it is not asked for a second time
        (asked,) = await bot.app.db.read(lambda db: inbox.of_run(db, second.id))
        assert asked.incoming.kind == ("press" if way == "press" else "message")
        again = await talk.press(report.buttons[0].press.question, 0)
        assert again
        assert "continued already" in again.text
    assert bench.ran.count("it") == 1


async def test_an_effect_done_before_continue_is_not_done_again_after_it(tmp_path: Path) -> None:
    bench = Bench()
    script = [act("send", word="it"), *[act("echo", word=unlike(number)) for number in range(4)]]
    script += [act("send", word="it"), finish("I sent it.", evidence=["send"])]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        talk = bot.talk()
        await talk.say("go", request=request(profile="chat"))
        report = await talk.heard()
        await talk.press(report.buttons[0].press.question, 0)
        assert (await talk.heard()).text == "I sent it."
    assert bench.ran.count("it") == 1


async def test_the_word_continue_is_a_task_where_nothing_was_stopped(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("with what?")) as bot:
        run, post = await ended(bot, "continue")
        assert (run.status, post.text) == ("finished", "with what?")


async def test_a_continue_pressed_in_another_thread_changes_nothing(tmp_path: Path) -> None:
    async with scripted(tmp_path, worker, tools=Bench().tools()) as bot:
        _, report = await ended(bot, request=request(profile="chat"))
        assert await bot.talk("2").press(report.buttons[0].press.question, 0) is not None
        assert len(await bot.runs()) == 1


async def test_the_same_call_for_ever_runs_twice_and_the_third_stops_the_run(tmp_path: Path) -> None:
    bench = Bench()
    async with scripted(tmp_path, otherwise=act("echo", word="same"), tools=bench.tools()) as bot:
        run, post = await ended(bot)
    assert (run.status, run.reason, bench.ran) == ("stopped", "repetition", ["same", "same"])
    assert "same call as in round 1" in bot.prompts[2]
    assert "What would help" in post.text
    assert "Not run: the same call as in rounds 1, 2." in post.text


async def test_a_b_a_b_a_is_stopped_by_round_five(tmp_path: Path) -> None:
    bench = Bench()
    one, two = act("echo", word="a"), act("echo", word="b")
    async with scripted(tmp_path, [one, two, one, two, one, two], tools=bench.tools()) as bot:
        run, _ = await ended(bot)
    assert (run.reason, run.rounds, bench.ran) == ("repetition", 5, ["a", "b", "a", "b"])


async def test_key_order_and_spelled_defaults_make_no_other_call(tmp_path: Path) -> None:
    ran = []

    @tool(risk="read", example={"a": 1, "b": 2})
    async def pair(a: int, b: int = 2) -> str:
        """Return the pair."""
        ran.append((a, b))
        return f"{a} {b}"

    script = [act("pair", a=1, b=2), act("pair", b="2", a="1"), act("pair", a=1)]
    async with scripted(tmp_path, script, tools=[pair]) as bot:
        run, _ = await ended(bot)
    assert (run.reason, len(ran)) == ("repetition", 2)


async def test_results_that_hardly_change_are_stagnation(tmp_path: Path) -> None:
    @tool(risk="read", example={"page": 1})
    async def look(page: int) -> str:
        """Look at one page."""
        return f"nothing new here on page {page}, as on all the others before and after it"

    script = [act("look", page=number) for number in range(100, 110)]
    async with scripted(tmp_path, script, tools=[look]) as bot:
        run, post = await ended(bot)
    assert (run.reason, run.rounds) == ("stagnation", 3)
    assert "What would help" in post.text


async def test_pages_that_look_alike_and_bring_other_values_are_no_stagnation(tmp_path: Path) -> None:
    @tool(risk="read", example={"page": 1})
    async def incidents(page: int) -> dict[str, int]:
        """Return the counts of one page."""
        return {"page": page, "count": 20, "severe": page * 7 % 5, "next": page + 1}

    script = [act("incidents", page=number) for number in range(1, 7)]
    async with scripted(
        tmp_path, script, otherwise=finish("all", evidence=["incidents"]), tools=[incidents]
    ) as bot:
        run, post = await ended(bot)
    assert (run.status, run.rounds, post.text) == ("finished", 7, "all")


async def test_a_call_that_failed_for_a_passing_reason_may_be_made_again_up_to_five_failures(
    tmp_path: Path,
) -> None:
    ran: list[str] = []

    def source(good_from: int) -> Tool:
        @tool(risk="read", example={"word": "a"})
        async def source(word: str) -> str:
            """Return what a source has, when it is there."""
            ran.append(word)
            if len(ran) < good_from:
                raise ConnectionResetError
            return "here it is"

        return source

    again = act("source", word="same")
    end = finish("here it is", evidence=["round 4"])
    async with scripted(tmp_path / "a", [again] * 4, otherwise=end, tools=[source(4)]) as bot:
        run, post = await ended(bot)
    assert (run.status, len(ran), post.text) == ("finished", 4, "here it is")
    ran.clear()
    async with scripted(tmp_path / "b", otherwise=again, tools=[source(99)]) as bot:
        run, post = await ended(bot)
    assert (run.reason, len(ran)) == ("failures", 5)


async def test_a_finish_is_refused_again_after_more_work_but_not_for_ever(tmp_path: Path) -> None:
    unsure = [finish("It may be so.", confidence=0.2, evidence=["echo"])]
    work = [[act("echo", word=unlike(number))] for number in range(5)]
    script = [one for step in work for one in (*step, *unsure)]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        run, post = await ended(bot)
    assert (run.status, run.rounds) == ("finished", 8)  # three refused, the fourth taken
    assert post.text.startswith("_Unverified")


async def test_a_finish_that_is_insisted_on_is_taken_as_unverified(tmp_path: Path) -> None:
    unsure = finish("It may be so.", confidence=0.2, evidence=["echo"])
    script = [act("echo", word="a"), unsure, unsure]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        run, post = await ended(bot)
    assert (run.status, run.rounds) == ("finished", 3)
    assert post.text.startswith("_Unverified")


async def test_a_call_that_brought_nothing_legible_may_be_made_again(tmp_path: Path) -> None:
    came = ["", "\x00\x01\x02\x03" * 20, "here it is"]

    @tool(risk="read", example={"word": "a"})
    async def source(word: str) -> str:
        """Return what a source has."""
        del word
        return came.pop(0)

    end = finish("here it is", evidence=["round 3"])
    async with scripted(tmp_path, [act("source", word="x")] * 3, otherwise=end, tools=[source]) as bot:
        run, post = await ended(bot)
    assert (run.status, run.rounds, post.text) == ("finished", 4, "here it is")


async def test_an_effect_that_was_refused_for_the_moment_happens_once_it_is_asked_for_again(
    tmp_path: Path,
) -> None:
    tried: list[str] = []

    @tool(risk="write", example={"word": "a"})
    async def send(word: str) -> str:
        """Send a word, when the service is not busy."""
        tried.append(word)
        if len(tried) == 1:
            raise ToolError("busy", "The service is busy.", retryable=True)
        return "sent"

    script = [act("send", word="it"), act("send", word="it"), act("send", word="it")]
    async with scripted(
        tmp_path, script, otherwise=finish("I sent it.", evidence=["send"]), tools=[send]
    ) as bot:
        run, post = await ended(bot)
    assert (run.status, post.text, tried) == ("finished", "I sent it.", ["it", "it"])


async def test_an_effect_that_was_refused_for_good_is_not_tried_again(tmp_path: Path) -> None:
    tried: list[str] = []

    @tool(risk="write", example={"word": "a"})
    async def send(word: str) -> str:
        """Send a word; nobody may."""
        tried.append(word)
        raise ToolError("forbidden", "Nobody may send.", retryable=False)

    script = [act("send", word="it"), act("send", word="it")]
    async with scripted(tmp_path, script, otherwise=finish("It was refused."), tools=[send]) as bot:
        await ended(bot)
    assert tried == ["it"]


async def test_an_effect_or_a_sub_goal_done_resets_stagnation(tmp_path: Path) -> None:
    def looking(number: int, status: str) -> Answer:
        plan = [{"goal": f"page {number}", "done_when": "seen", "status": "doing"}]
        if number > 10:
            plan.insert(0, {"goal": f"page {number - 1}", "done_when": "seen", "status": status})
        action = {"name": "echo", "args": {"word": f"nothing new here on page {number} as on all before"}}
        return say({"thought": "", "plan": plan, "action": action})

    async def rounds_of(folder: Path, script: list[Answer]) -> int:
        async with scripted(
            folder, script, otherwise=finish("ok", evidence=["round 1"]), tools=Bench().tools()
        ) as bot:
            return (await ended(bot))[0].rounds

    assert await rounds_of(tmp_path / "todo", [looking(number, "todo") for number in range(10, 18)]) == 3
    assert await rounds_of(tmp_path / "done", [looking(number, "done") for number in range(10, 18)]) == 9
    effects = [act("send", word=f"the same old words number {number}") for number in range(10, 18)]
    assert await rounds_of(tmp_path / "effect", effects) == 9


async def test_five_failed_actions_in_a_row_stop_the_run(tmp_path: Path) -> None:
    script = [act("nothing_like_it", number=number) for number in range(9)]
    async with scripted(tmp_path, script) as bot:
        run, post = await ended(bot)
    assert (run.status, run.reason, run.rounds) == ("stopped", "failures", 5)
    assert "Where it is stuck" in post.text


async def test_a_good_action_between_failures_counts_them_anew(tmp_path: Path) -> None:
    bad = [act("nothing_like_it", number=number) for number in range(8)]
    script = [*bad[:4], act("echo", word="fine"), *bad[4:], finish("ok", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        run, _ = await ended(bot)
    assert (run.status, run.rounds) == ("finished", 10)


@tool(risk="danger", example={})
async def wipe() -> str:
    """Wipe everything."""
    raise AssertionError


async def test_a_dangerous_tool_is_not_run_without_a_person(tmp_path: Path) -> None:
    script = [act("wipe"), finish("It needs an approval.", evidence=[])]
    async with scripted(tmp_path, script, otherwise=finish("It needs an approval."), tools=[wipe]) as bot:
        await ended(bot)
    assert "nobody_to_ask" in bot.prompts[1]


async def test_noise_of_a_result_does_not_reach_the_prompt(tmp_path: Path) -> None:
    @tool(risk="read", example={})
    async def build() -> str:
        """Return a build log."""
        noise = "".join(f"\x1b[32mstep {number}\x1b[0m\r" for number in range(1_000))
        return f"{noise}\nERROR: INC-4711 failed\n\x89PNG\x00\x01\x02"

    async with scripted(
        tmp_path, [act("build")], otherwise=finish("ok", evidence=["build"]), tools=[build]
    ) as bot:
        await ended(bot)
    assert "ERROR: INC-4711 failed" in bot.prompts[1]
    assert "\x1b" not in bot.prompts[1]
    assert "step 500" not in bot.prompts[1]
