"""What the bot promises, on every platform alike: the real adapters over the platforms' real protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, fail, finish
from stages import Stage, stage
from world import Bench

if TYPE_CHECKING:
    from pathlib import Path

PLATFORMS = ("console", "slack", "telegram")
CHAT = ("slack", "telegram")
each = pytest.mark.parametrize("platform", PLATFORMS)
each_chat = pytest.mark.parametrize("platform", CHAT)


def ask(question: str, *options: str) -> Any:
    return act("request_info", question=question, **({"options": list(options)} if options else {}))


@each
async def test_an_answer_goes_to_its_thread_and_nowhere_else(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [finish("AMBER"), finish("BLUE")]) as it:
        one = await it.mention("the first")
        await it.heard(one)
        two = await it.mention("the second")
        await it.heard(two)
        assert [post.text for post in it.now(one)] == ["AMBER"]
        assert [post.text for post in it.now(two)] == ["BLUE"]
        assert "AMBER" not in it.prompts[1]


@each
async def test_a_follow_up_without_a_mention_knows_the_first_answer(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [finish("May: 4711 EUR"), finish("April: less")]) as it:
        thread = await it.mention("revenue in May?")
        await it.heard(thread)
        await it.follow(thread, "and last month?")
        assert [post.text for post in await it.heard(thread, 2)] == ["May: 4711 EUR", "April: less"]
        assert "4711" in it.prompts[1]


@each
async def test_a_question_is_answered_by_its_button(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [ask("Which one?", "checkout", "search"), finish("done")]) as it:
        thread = await it.mention("go on")
        (asked,) = await it.heard(thread)
        assert "Which one?" in asked.text
        assert asked.buttons == ("checkout", "search")
        assert await it.press(thread, "search") == ""
        assert (await it.heard(thread, 2))[1].text == "done"
        assert "search" in it.prompts[-1]
        assert len(await it.runs()) == 1


@each
async def test_a_question_is_answered_by_its_label_and_its_number_and_nothing_else(
    platform: str, tmp_path: Path
) -> None:
    script = [
        ask("Where?", "staging", "production"),
        ask("Sure where?", "staging", "production"),
        finish("ok"),
    ]
    async with stage(platform, tmp_path, script) as it:
        thread = await it.mention("deploy it")
        await it.heard(thread)
        await it.follow(thread, " PRODUCTION ")
        await it.heard(thread, 2)
        for prose in ("7", "whatever you think"):
            await it.follow(thread, prose)
        await it.settle()
        assert len(it.endpoint.requests) == 2
        await it.follow(thread, "2")
        await it.until(lambda: it.now(thread)[-1].text == "ok")
        assert len(await it.runs()) == 1


@each
async def test_any_text_answers_an_open_question(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [ask("How many retries?"), finish("none then")]) as it:
        thread = await it.mention("set the retries")
        await it.heard(thread)
        await it.follow(thread, "0")
        await it.until(lambda: it.now(thread)[-1].text == "none then")
        assert len(await it.runs()) == 1


@each_chat
async def test_an_answered_card_says_who_chose_what_and_a_late_press_changes_nothing(
    platform: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, [ask("Which one?", "checkout", "search"), finish("done")]) as it:
        thread = await it.mention("go on")
        await it.heard(thread)
        await it.follow(thread, "checkout")
        await it.until(lambda: it.now(thread)[-1].text == "done")
        await it.settle()
        card = it.now(thread)[0]
        assert card.buttons == ()
        assert "checkout" in card.text
        assert len(it.endpoint.requests) == 2


@each
async def test_stop_ends_the_work_with_one_message_and_the_thread_goes_on(
    platform: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("a new task")]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        thread = await it.mention("work for long")
        await bench.begun.wait()
        await it.mention("stop", thread=thread)
        (told,) = await it.heard(thread)
        assert "Stopped as asked" in told.text
        bench.gate.set()
        await it.settle()
        await it.follow(thread, "now this")
        assert (await it.heard(thread, 2))[1].text == "a new task"
        assert [run.status for run in await it.runs()] == ["cancelled", "finished"]


@each
async def test_messages_for_a_busy_thread_reach_the_run_and_none_is_lost(
    platform: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("all seen", evidence=["echo"])]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        thread = await it.mention("m1")
        await bench.begun.wait()
        for number in range(2, 6):
            await it.mention(f"m{number}", thread=thread)
        await it.stored(5)
        bench.gate.set()
        (answer,) = await it.heard(thread)
        assert answer.text.startswith("all seen")
        assert all(f"m{number}" in it.prompts[1] for number in range(2, 6))
        assert bench.ran == ["x"]


@each
async def test_verbs_are_answered_from_storage_without_a_model_call(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path) as it:
        assert "log-diagnosis" in await it.verb("skills")
        assert "stop" in await it.verb("help")
        assert it.endpoint.requests == []


@each
async def test_a_stopped_run_goes_on_by_its_button(platform: str, tmp_path: Path) -> None:
    script = [act("now"), act("now"), act("now")]
    done = finish("got there", evidence=["now"])
    async with stage(platform, tmp_path, script, otherwise=done) as it:
        thread = await it.mention("go round")
        await it.until(lambda: any("Continue" in post.buttons for post in it.now(thread)))
        await it.press(thread, "Continue")
        await it.until(lambda: it.now(thread)[-1].text.startswith("got there"))
        assert [run.status for run in await it.runs()] == ["stopped", "finished"]


@each
async def test_a_failure_is_said_with_the_runs_id(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, otherwise=fail(401)) as it:
        thread = await it.mention("go")
        (told,) = await it.heard(thread)
        (run,) = await it.runs()
        assert run.id in told.text
        assert run.status == "failed"


@each
async def test_an_answer_over_the_limit_comes_whole_in_order(platform: str, tmp_path: Path) -> None:
    lines = [f"line {number:03} " + "x" * 60 for number in range(90)]
    async with stage(platform, tmp_path, [finish("\n\n".join(lines))]) as it:
        thread = await it.mention("tell me everything")
        await it.heard(thread)
        await it.settle()
        whole = "\n".join(post.text for post in it.now(thread))
        places = [whole.find(f"line {number:03}") for number in range(90)]
        assert -1 not in places
        assert places == sorted(places)


@each_chat
async def test_nothing_of_the_inner_life_is_posted(platform: str, tmp_path: Path) -> None:
    bench = Bench()
    script = [act("echo", word="x"), act("echo", word="y"), finish("the answer", evidence=["echo"])]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        thread = await it.mention("work")
        await it.heard(thread)
        await it.settle()
        assert [post.text for post in it.now(thread)] == ["the answer"]
        assert not [entry for entry in it.sim.ledger.entries if entry.from_bot and '{"' in entry.text]


@each_chat
async def test_a_stranger_gets_no_work_done_on_any_way(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [ask("Which one?", "a", "b"), finish("done")]) as it:
        thread = await it.mention("go")
        await it.heard(thread)
        await it.press(thread, "a", "stranger")
        await it.follow(thread, "a", "stranger")
        await it.mention("and me?", "stranger")
        await it.settle()
        assert len(it.endpoint.requests) == 1
        assert [run.status for run in await it.runs()] == ["waiting"]


def test_the_stage_has_one_way_for_each_platform() -> None:
    assert {kind.__name__ for kind in Stage.__subclasses__()} == {"OnConsole", "OnSlack", "OnTelegram"}
