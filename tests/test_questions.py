"""Questions that wait: how they are asked, who answers them with what, and what time does to them."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from endpoint import act, finish
from world import Bench, World, scripted

from hermes_bot.errors import ContentRefused, PlaceGone, Transient
from hermes_bot.store import questions

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running, Talk

    from hermes_bot.store.questions import QuestionRecord

WHICH = act("request_info", question="Which environment?", options=["staging", "production"])
HOW_MANY = act("request_info", question="How many retries?")


async def open_questions(bot: Running) -> list[QuestionRecord]:
    return await bot.app.db.read(questions.list_open)


async def asked(bot: Running, talk: Talk) -> str:
    """Start a task and return the id of the question it asks, once its receipt is stored."""
    await talk.say("go")
    await talk.heard()
    await bot.quiet()
    (one,) = await open_questions(bot)
    return one.question.id


async def test_a_question_with_options_has_a_button_for_each(tmp_path: Path) -> None:
    async with scripted(tmp_path, [WHICH]) as bot:
        talk = bot.talk()
        await talk.say("go", message_id="m1")
        post = await talk.heard()
        assert (post.kind, post.reply_to) == ("question", "m1")
        assert post.text == "Which environment?\n\n_Choose one._"
        assert [button.label for button in post.buttons] == ["staging", "production"]
        (run,) = await bot.runs()
        assert run.status == "waiting"


@pytest.mark.parametrize("said", ["2", " PRODUCTION ", "production"])
async def test_a_number_or_a_label_in_any_case_is_the_option(tmp_path: Path, said: str) -> None:
    async with scripted(tmp_path, [WHICH, finish("done", evidence=["round 1"])]) as bot:
        talk = bot.talk()
        await asked(bot, talk)
        assert await talk.say(said, addressed=False) is None
        assert (await talk.heard()).text == "done"
        (run,) = await bot.runs()
        assert (await bot.state(run.id)).answers[0].text == "production"
    assert "u1 answered: production" in bot.prompts[1]


@pytest.mark.parametrize("said", ["7", "0", "whatever you think", "-1", "\uff12", "99999999999"])
async def test_any_other_words_leave_a_question_with_options_open(tmp_path: Path, said: str) -> None:
    async with scripted(tmp_path, [WHICH]) as bot:
        talk = bot.talk()
        await asked(bot, talk)
        reply = await talk.say(said)
        assert reply
        assert (
            reply.text == "I can take one of these: 1. staging, 2. production. Send its number or its name."
        )
        assert len(await open_questions(bot)) == 1
        assert len(bot.prompts) == 1


@pytest.mark.parametrize("said", ["0", "no", "none", "checkout", "continue"])
async def test_every_text_answers_an_open_question(tmp_path: Path, said: str) -> None:
    async with scripted(tmp_path, [HOW_MANY, finish("done", evidence=["round 1"])]) as bot:
        talk = bot.talk()
        await asked(bot, talk)
        await talk.say(said, addressed=False)
        assert (await talk.heard()).text == "done"
        assert len(await bot.runs()) == 1
    assert f"u1 answered: {said}\n" in bot.prompts[1]


async def test_a_command_is_no_answer(tmp_path: Path) -> None:
    async with scripted(tmp_path, [HOW_MANY]) as bot:
        talk = bot.talk()
        await asked(bot, talk)
        reply = await talk.say("skills")
        assert reply
        assert "log-diagnosis" in reply.text
        assert len(await open_questions(bot)) == 1


async def test_words_of_a_bystander_are_no_answer(tmp_path: Path) -> None:
    async with scripted(tmp_path, [HOW_MANY]) as bot:
        talk = bot.talk()
        await asked(bot, talk)
        assert await talk.say("ok", "u7", addressed=False) is None
        assert len(await open_questions(bot)) == 1


async def test_of_two_presses_in_one_instant_one_is_the_answer(tmp_path: Path) -> None:
    async with scripted(tmp_path, [WHICH, finish("done", evidence=["round 1"])]) as bot:
        talk = bot.talk()
        question = await asked(bot, talk)
        replies = await asyncio.gather(talk.press(question, 0), talk.press(question, 1, "u2"))
        assert sum(reply is None for reply in replies) == 1
        assert (await talk.heard()).text == "done"
        await bot.quiet()
        (run,) = await bot.runs()
        assert len((await bot.state(run.id)).answers) == 1
        assert len(bot.world.posts) == 2


async def test_a_press_after_a_typed_answer_changes_nothing(tmp_path: Path) -> None:
    async with scripted(tmp_path, [WHICH, finish("done", evidence=["round 1"])]) as bot:
        talk = bot.talk()
        question = await asked(bot, talk)
        await talk.say("staging")
        await talk.heard()
        reply = await talk.press(question, 1)
        assert reply
        assert reply.text == "That question was already answered or has expired. Nothing was changed."
        (run,) = await bot.runs()
        assert [note.text for note in (await bot.state(run.id)).answers] == ["staging"]


async def test_a_press_of_an_old_button_does_not_answer_the_question_that_is_open(tmp_path: Path) -> None:
    second = act("request_info", question="Which region?", options=["eu", "us"])
    async with scripted(tmp_path, [WHICH, second]) as bot:
        talk = bot.talk()
        first = await asked(bot, talk)
        await talk.press(first, 0)
        await talk.heard()
        assert await talk.press(first, 1) is not None
        (still,) = await open_questions(bot)
        assert still.question.text == "Which region?"


@pytest.mark.parametrize(("thread", "option"), [("2", 0), ("1", 2), ("1", -1)])
async def test_a_foreign_or_impossible_press_changes_nothing(
    tmp_path: Path, thread: str, option: int
) -> None:
    async with scripted(tmp_path, [WHICH]) as bot:
        question = await asked(bot, bot.talk())
        assert await bot.talk(thread).press(question, option) is not None
        assert len(await open_questions(bot)) == 1


async def test_a_question_counts_as_asked_from_its_receipt_on(tmp_path: Path) -> None:
    world = World(faults=deque([Transient("503")] * 3))
    async with scripted(tmp_path, [WHICH], world=world) as bot:
        talk = bot.talk()
        await talk.say("go")
        await bot.until(lambda: len(world.faults) == 2)
        (waiting,) = await open_questions(bot)
        assert waiting.asked_at is None
        await bot.pass_time(30, step=1)
        await talk.heard()
        await bot.quiet()
        (seen,) = await open_questions(bot)
        assert seen.asked_at
        assert seen.asked_at > waiting.created_at
        assert seen.remind_after == seen.asked_at + timedelta(hours=1)
        assert len(world.posts) == 1


async def test_a_refused_card_falls_back_to_plain_text(tmp_path: Path) -> None:
    world = World(refuses=lambda it: ContentRefused("invalid_blocks") if it.buttons else None)
    async with scripted(tmp_path, [WHICH, finish("done", evidence=["round 1"])], world=world) as bot:
        talk = bot.talk()
        await talk.say("go")
        post = await talk.heard()
        assert post.text == "Which environment?\n\n_Choose one._\n\n1. staging\n2. production"
        await talk.say("2")
        assert (await talk.heard()).text == "done"


async def test_a_question_that_no_platform_takes_ends_its_run_instead_of_waiting_for_days(
    tmp_path: Path,
) -> None:
    world = World(refuses=lambda it: ContentRefused("no") if it.kind == "question" else None)
    async with scripted(tmp_path, [WHICH], world=world) as bot:
        talk = bot.talk()
        await talk.say("go")
        assert "my question could not be posted (no)" in (await talk.heard()).text
        (run,) = await bot.runs()
        assert (run.status, run.reason) == ("failed", "unposted")


async def test_a_question_waits_without_task_lane_slot_or_working_time(tmp_path: Path) -> None:
    script = [WHICH] * 5
    async with scripted(tmp_path, script, otherwise=finish("new"), bot={"max_running": 2}) as bot:
        for number in range(5):
            await asked_in(bot.talk(str(number)))
        await bot.quiet()
        assert (bot.app.dispatcher.running, bot.app.dispatcher._lanes) == (0, {})
        await bot.talk("new").say("go")
        assert (await bot.talk("new").heard()).text == "new"
        await bot.pass_time(2 * 86_400, step=43_200)
        bot.endpoint.script = [finish("done", evidence=["round 1"])]
        await bot.talk("0").say("staging")
        while (said := await bot.talk("0").heard()).kind == "notice":
            pass
        assert said.text == "done"


async def asked_in(talk: Talk) -> None:
    await talk.say("go")
    await talk.heard()


async def test_a_reminder_comes_after_an_hour_then_daily_and_the_run_stops_after_three_days(
    tmp_path: Path,
) -> None:
    async with scripted(tmp_path, [WHICH]) as bot:
        talk = bot.talk()
        question = await asked(bot, talk)
        await bot.pass_time(3_540, step=60)
        assert len(bot.world.posts) == 1
        await bot.pass_time(120, step=60)  # 1 h
        reminder = await talk.heard()
        assert reminder.text == "Still waiting for an answer: Which environment?"
        assert [button.press.question for button in reminder.buttons] == [question] * 2
        await bot.pass_time(24 * 3_600, step=3_600)  # 25 h
        await talk.heard()
        await bot.pass_time(48 * 3_600, step=3_600)  # 73 h
        assert (await talk.heard()).text.startswith("Still waiting")
        report = await talk.heard()
        assert (report.kind, "My question was not answered in time." in report.text) == ("report", True)
        (run,) = await bot.runs()
        assert (run.status, run.reason) == ("stopped", "unanswered")
        assert len(bot.prompts) == 1
        assert await talk.press(question, 0) is not None


async def test_at_its_expiry_the_default_is_the_answer(tmp_path: Path) -> None:
    ask = act(
        "request_info", question="Which environment?", options=["staging", "production"], default="staging"
    )
    async with scripted(tmp_path, [ask, finish("done", evidence=["round 1"])]) as bot:
        talk = bot.talk()
        await asked(bot, talk)
        await bot.pass_time(73 * 3_600, step=3_600)
        while (said := await talk.heard()).kind == "notice":
            pass
        assert said.text == "done"
        (run,) = await bot.runs()
        assert [note.text for note in (await bot.state(run.id)).answers] == ["staging"]
    assert "default (nobody answered) answered: staging" in bot.prompts[1]


async def test_a_question_outlives_restarts_and_nothing_before_it_runs_again(tmp_path: Path) -> None:
    bench = Bench()
    script = [act("send", word="it"), WHICH]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        question = await asked(bot, bot.talk())
    for _ in range(2):
        async with scripted(tmp_path, tools=bench.tools()) as bot:
            await bot.quiet()
            assert (bot.prompts, bot.world.posts) == ([], [])
    async with scripted(tmp_path, [finish("done", evidence=["send"])], tools=bench.tools()) as bot:
        await bot.talk().press(question, 1)
        assert (await bot.talk().heard()).text == "done"
        assert await bot.talk().press(question, 1) is not None
    assert bench.ran == ["it"]
    assert "u1 answered: production" in bot.prompts[0]


async def test_a_dead_place_is_not_told_in_that_place(tmp_path: Path) -> None:
    world = World(refuses=lambda _: PlaceGone("is_archived"))
    async with scripted(tmp_path, [WHICH], world=world) as bot:
        await bot.talk().say("go")
        await bot.quiet()
        (run,) = await bot.runs()
        assert (run.status, run.reason, world.posts) == ("failed", "unposted", [])


async def test_a_default_that_is_none_of_the_options_is_no_answer(tmp_path: Path) -> None:
    ask = act("request_info", question="Which?", options=["staging", "production"], default="whatever")
    async with scripted(tmp_path, [ask]) as bot:
        await asked(bot, bot.talk())
        (one,) = await open_questions(bot)
        assert one.question.default == ""
