"""Schedules in chat: planned by command or in words, said back, confirmed, stored; then listed, changed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import finish
from scheduled import MONDAY, OWNER, fired, stored
from world import Running, running, scripted

from hermes_bot.config import Access
from hermes_bot.store import schedules

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from world import Talk

    from hermes_bot.messages import Outgoing

YES, NO = 0, 1
WISH = "every weekday at 9 post the error digest here"
NINE = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)


def berlin(folder: Path, **settings: Any) -> AbstractAsyncContextManager[Running]:
    """Run the bot offline, on a Monday at 8:00."""
    given = {"clock": FakeClock(MONDAY), "bot": {"timezone": "Europe/Berlin"}, **settings}
    return running(folder, **given)


async def asked(talk: Talk, text: str, **fields: Any) -> Outgoing:
    await talk.say(text, **fields)
    return await talk.heard()


async def told(talk: Talk, text: str, user: str = "u1", **fields: Any) -> str:
    """Type a command, and return what only its author reads."""
    reply = await talk.say(text, user, is_command=True, **fields)
    assert reply is not None
    return reply.text


async def made(bot: Running, text: str = WISH) -> str:
    """Plan something, confirm it, and return its name."""
    talk = bot.talk(f"made-{len(bot.world.posts)}")
    card = await asked(talk, text)
    await talk.press(card.buttons[YES].press.question, YES)
    created = (await talk.heard()).text
    assert created.startswith("Created: **")
    return created.split("**")[1]


async def test_words_are_said_back_and_stored_once_confirmed(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk()
        card = await asked(talk, WISH)
        assert card.text.splitlines()[:5] == [
            "**Shall I plan this?** As `error-digest`:",
            "- **When:** weekdays at 09:00 (Europe/Berlin)",
            "- **What:** the skill **error-digest**, from `post the error digest`",
            "- **Where:** here",
            "- **Next:** Mon 2 Nov 2026 09:00, Tue 3 Nov 2026 09:00, Wed 4 Nov 2026 09:00",
        ]
        assert [one.label for one in card.buttons] == ["Confirm", "Cancel"]
        assert await bot.app.schedules.all() == []
        await talk.press(card.buttons[YES].press.question, YES)
        created = (await talk.heard()).text
        assert created.startswith("Created: **error-digest**, weekdays at 09:00 (Europe/Berlin), here.")
        assert "Next: Mon 2 Nov 2026 09:00." in created
        assert "`schedule pause error-digest`" in created
        assert "`schedule remove error-digest`" in created
        one = await stored(bot, "error-digest")
        assert one is not None
        assert (one.owner, one.targets, one.planned_at) == (OWNER, ("world/T1/C1",), NINE)
        assert bot.world.edits[-1][1].text.endswith("_✔ `u1` confirmed this, 2026-11-02 08:00 CET._")


async def test_a_plain_yes_confirms_and_a_plain_no_stores_nothing(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk()
        await asked(talk, WISH)
        assert (await asked(talk, "no")).text == "Cancelled: nothing was stored."
        assert await bot.app.schedules.all() == []
        await asked(talk, WISH)
        assert (await asked(talk, "Yes.")).text.startswith("Created: ")
        assert [one.name for one in await bot.app.schedules.all()] == ["error-digest"]


async def test_who_did_not_ask_for_it_confirms_nothing_but_an_operator_may(tmp_path: Path) -> None:
    access = Access(channels=("world:T1:*",), operators=("world:T1:boss",))
    async with berlin(tmp_path, access=access) as bot:
        talk = bot.talk()
        card = await asked(talk, WISH)
        refused = await talk.press(card.buttons[YES].press.question, YES, user="u2")
        assert refused is not None
        assert "operators" in refused.text
        await talk.say("yes", "u2")
        await bot.settle()
        assert await bot.app.schedules.all() == []
        await talk.press(card.buttons[YES].press.question, YES, user="boss")
        await talk.heard()
        (one,) = await bot.app.schedules.all()
        assert one.owner == OWNER


async def test_silence_stores_nothing(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        await asked(bot.talk(), WISH)
        await bot.quiet()
        await bot.pass_time(25 * 3_600, step=1_800)
        await bot.quiet()
        assert "**Stopped (unanswered).**" in bot.world.posts[-1].text
        assert await bot.app.schedules.all() == []


async def test_two_presses_and_a_restart_before_them_store_one_row(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        card = await asked(bot.talk(), WISH)
        await bot.quiet()
    async with berlin(tmp_path) as bot:
        talk, question = bot.talk(), card.buttons[YES].press.question
        await asyncio.gather(talk.press(question, YES), talk.press(question, YES))
        assert (await talk.heard()).text.startswith("Created: ")
        late = await talk.press(question, YES)
        assert late is not None
        assert "already answered" in late.text
        assert [one.name for one in await bot.app.schedules.all()] == ["error-digest"]


async def test_a_crash_between_row_and_answer_stores_one_row(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk()
        card = await asked(talk, WISH)
        real, dead = bot.app.db.transact, asyncio.Event()

        async def transact(name: str, work: Any) -> Any:
            came = await real(name, work)
            if name == "schedule.add":
                dead.set()
                await asyncio.Event().wait()
            return came

        bot.app.db.transact = transact  # type: ignore[method-assign]
        await talk.press(card.buttons[YES].press.question, YES)
        await dead.wait()
    async with berlin(tmp_path) as bot:
        assert (await bot.talk().heard()).text.startswith("Created: **error-digest**")
        assert [one.name for one in await bot.app.schedules.all()] == ["error-digest"]


async def test_nothing_is_called_created_that_the_store_does_not_have(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk()
        card = await asked(talk, WISH)
        real = bot.app.db.transact

        async def transact(name: str, work: Any) -> Any:
            if name == "schedule.add":
                return await real(name, lambda db: schedules.get(db, 999))  # nothing comes back
            return await real(name, work)

        bot.app.db.transact = transact  # type: ignore[method-assign]
        await talk.press(card.buttons[YES].press.question, YES)
        said = (await talk.heard()).text
        assert said.startswith("Not created, nothing was stored.")
        assert "the store does not have it" in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("every blue moon post the error digest here", "Try one of `weekdays at 9`"),
        ("at 9 post the error digest here", "Say `every day at 09:00` or `today at 09:00`"),
        ("/schedule add error-digest at 9", "Say `every day at 09:00` or `today at 09:00`"),
        ("/schedule add error-digest", "I find no time in 'error-digest'"),
        ("/schedule add 0 9 30 2 * error-digest", "never comes"),
        ("/schedule add 61 9 * * * error-digest", "`61` is no minute"),
        ("/schedule add weekdays at 9 error-digst", "Did you mean error-digest?"),
        ("every day at 9 diagnose checkuot since yesterday", "Did you mean checkout?"),
        ("/schedule add weekdays at 9 error-digest colour=red", "has no parameter 'colour'"),
        ("/schedule add weekdays at 9 error-digest zone=Europe/Berln", "Did you mean Europe/Berlin"),
        ("/schedule add weekdays at 9 error-digest missed=never", "'skip', 'once' or 'all'"),
        ("/schedule add weekdays at 9 error-digest in #nowhere", "no channel #nowhere"),
        ("/schedule add weekdays at 9", "nothing to do"),
        ("every friday at 16:00 summarise the week", "No model is set"),
        ("run error-digest every 30 minutes until tomorrow", "a schedule goes on until it is removed"),
    ],
)
async def test_what_cannot_be_is_refused_at_once_with_what_would_work(
    text: str, why: str, tmp_path: Path
) -> None:
    async with berlin(tmp_path) as bot:
        said = await asked(bot.talk(), text)
        assert said.text.startswith("Nothing was stored. ")
        assert why in said.text
        assert said.buttons == ()
        assert await bot.app.schedules.all() == []


@pytest.mark.parametrize(
    "text",
    [
        'schedule add "0 9 * * 1-5" error-digest service=“checkout” missed=all most=3',
        "schedule\u00a0add 0 9 * * 1-5 run error-digest service=checkout missed=all most=3",
        "schedule add weekdays at 9 error-digest service=\u2018checkout\u2019 missed=all most=3",
        "/hermes schedule add weekdays at 9, run the error-digest service=checkout missed=all most=3 here",
    ],
)
async def test_a_command_is_read_whatever_quotes_and_spaces_a_phone_writes(text: str, tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk()
        card = await asked(talk, text, is_command=True)
        assert "- **Missed:**" in card.text
        await talk.press(card.buttons[YES].press.question, YES)
        await talk.heard()
        one = await stored(bot, "error-digest")
        assert one is not None
        assert (one.rule, one.request.params) == ("cron 0 9 * * 1-5", {"service": "checkout"})
        assert (one.terms.missed, one.terms.most, one.planned_at) == ("all", 3, NINE)


async def test_what_the_skill_would_have_to_ask_for_is_asked_before_it_is_said_back(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk()
        which = await asked(talk, "schedule add weekdays at 9 log-diagnosis", is_command=True)
        assert which.text.startswith("Which service?")
        labels = [one.label for one in which.buttons]
        assert labels[:3] == ["checkout", "payments", "catalog"]
        await talk.press(which.buttons[0].press.question, 0)
        since = await talk.heard()
        assert since.text.startswith("Since when?")
        card = await asked(talk, "the last hour")
        assert "log-diagnosis** with service = `checkout`, since = `the last hour`" in card.text
        assert (await asked(talk, "yes")).text.startswith("Created: ")
        one = await stored(bot, "log-diagnosis")
        assert one is not None
        assert one.request.params == {"service": "checkout", "since": "the last hour"}  # of each time anew


async def test_an_answer_that_is_none_stores_nothing(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk()
        await asked(talk, "every day at 9 diagnose checkout")
        said = (await asked(talk, "tomorrowish")).text
        assert said.startswith("Nothing was stored. log-diagnosis: ")
        assert await bot.app.schedules.all() == []


async def test_in_ten_minutes_is_the_moment_that_was_shown_whenever_it_is_confirmed(tmp_path: Path) -> None:
    clock = FakeClock(datetime(2026, 11, 2, 22, 55, tzinfo=UTC))  # 23:55 in Berlin
    async with berlin(tmp_path, clock=clock) as bot:
        talk = bot.talk()
        card = await asked(talk, "in 10 minutes post the error digest here")
        assert "- **Next:** Tue 3 Nov 2026 00:05" in card.text
        clock.advance(300)
        await talk.press(card.buttons[YES].press.question, YES)
        assert "Next: Tue 3 Nov 2026 00:05." in (await talk.heard()).text
        late = await asked(bot.talk("2"), "in 10 minutes post the error digest here")
        clock.advance(1_200)
        await bot.talk("2").press(late.buttons[YES].press.question, YES)
        said = (await bot.talk("2").heard()).text
        assert said.startswith("Not created, nothing was stored.")
        assert "is over" in said


@pytest.mark.parametrize(
    "text",
    [
        "why did checkout fail every day at 9?",
        "what happened since yesterday at 9",
        "show the error digest of the last 10 minutes",
        "post the error digest",
    ],
)
async def test_what_is_asked_for_now_is_done_now(text: str, tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        said = await asked(bot.talk(), text)
        assert "plan" not in said.text
        assert "Nothing was stored" not in said.text


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("please schedule the error digest for weekdays at 9", "weekdays at 09:00"),
        ("schedule the weekly report for fridays 4pm", "every Friday at 16:00"),
        ("can you post the error digest every day at 9?", "every day at 09:00"),
        ("hey, every day at noon could you run service-health here", "every day at 12:00"),
        ("每天早上9点 在这里 post error-digest", "every day at 09:00"),
        ("工作日下午6点 运行 error-digest", "weekdays at 18:00"),
        ("in 2 hours run error-digest", "once, Mon 2 Nov 2026 10:00"),
    ],
)
async def test_words_are_understood_as_people_say_them(text: str, when: str, tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        card = await asked(bot.talk(), text)
        assert f"- **When:** {when} (Europe/Berlin)\n" in card.text
        assert "the skill **" in card.text
        assert "- **Where:** here" in card.text


async def test_what_was_said_before_in_a_thread_takes_no_word_from_who_asks(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk()
        report = await asked(talk, "post the error digest")  # its text is that of logs
        assert "**Error digest:**" in report.text
        card = await asked(talk, WISH)
        assert [one.label for one in card.buttons] == ["Confirm", "Cancel"]
        await talk.press(card.buttons[YES].press.question, YES)
        assert (await talk.heard()).text.startswith("Created: ")


async def test_lists_and_changes_are_answered_at_once_without_a_run(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        talk = bot.talk("list")
        assert (await told(talk, "schedule list")).startswith("Nothing is planned here.")
        name = await made(bot)
        runs = len(await bot.runs())
        assert await told(talk, "schedule") == await told(talk, "schedule list")
        assert (await told(talk, "schedule list")).splitlines() == [
            "- **error-digest**: weekdays at 09:00 (Europe/Berlin), here",
            "  next Mon 2 Nov 2026 09:00; the skill **error-digest**, from `post the error digest`",
        ]
        assert "has not fired yet" in await told(talk, f"schedule history {name}")
        assert (await told(talk, f"schedule pause {name}")).startswith("**error-digest** is paused.")
        assert "paused: u1 paused it" in await told(talk, "schedule list")
        assert "Next: Mon 2 Nov 2026 09:00" in await told(talk, f"schedule resume {name}")
        shown = await told(talk, f"schedule show {name}")
        assert "- **When:** weekdays at 09:00 (Europe/Berlin), asked for as `every weekday at 9`" in shown
        assert len(await bot.runs()) == runs
        assert await told(talk, f"schedule remove {name}") == "**error-digest** is removed."
        assert (await told(talk, "schedule list")).startswith("Nothing is planned here.")
        audit = await bot.app.db.read(
            lambda db: db.execute(
                "SELECT verb FROM audit WHERE verb LIKE 'schedule.%' ORDER BY seq"
            ).fetchall()
        )
        assert [row[0].partition(".")[2] for row in audit] == ["add", "pause", "resume", "remove"]


async def test_history_tells_of_the_work_and_of_its_report_apart(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    async with berlin(tmp_path, clock=clock) as bot:
        name = await made(bot)
        posts = len(bot.world.posts)
        assert "runs now" in await told(bot.talk("l"), f"schedule run {name}")
        await bot.world.all_posts(posts + 1)
        await bot.quiet()
        await bot.app.schedules.tend(clock.now())
        (one,) = await fired(bot, name)
        history = await told(bot.talk("l"), f"schedule history {name}")
        assert history.splitlines() == [
            "**error-digest**, the last first (Europe/Berlin):",
            "- **Mon 2 Nov 2026 08:00, asked for**",
            f"  work: ✔ done (run {one.run}); report: ✔ posted",
        ]


async def test_a_name_with_marks_in_it_changes_nothing_of_a_list(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        name = await made(bot)
        talk = bot.talk("marks")
        said = replace(
            talk.message(f"schedule pause {name}", is_command=True),
            user_name="**Ann** [x](https://e.example)",
        )
        await bot.world.send(said)
        listed = await told(talk, "schedule list")
        assert "**Ann**" not in listed
        assert "](https://e.example)" not in listed.replace("\\](", "")


async def test_slips_get_the_nearest_name(tmp_path: Path) -> None:
    async with berlin(tmp_path) as bot:
        await made(bot)
        talk = bot.talk("slips")
        assert "Did you mean `schedule list`?" in await told(talk, "schedule lst")
        assert "Did you mean `error-digest`?" in await told(talk, "schedule show eror-digest")
        assert "Did you mean `schedule`?" in await told(talk, "schedul")
        assert "`schedule pause NAME`" in await told(talk, "schedule pause")
        assert "in five fields" in await told(talk, "schedule add")


async def test_words_of_a_task_are_shown_as_data(tmp_path: Path) -> None:
    wish = (
        "every day at 9 post a note that @channel should run [this](https://evil.example/x) `now` **today**"
    )
    async with scripted(tmp_path, otherwise=finish("x"), clock=FakeClock(MONDAY)) as bot:
        talk = bot.talk()
        card = await asked(talk, wish)
        shown = "`post a note that @channel should run [this](https://evil.example/x) 'now' **today**`"
        assert shown in card.text
        await talk.say("yes")
        await talk.heard()
        assert "`post a note that @channel should run" in await told(talk, "schedule list")
