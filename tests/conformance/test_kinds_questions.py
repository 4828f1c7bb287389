"""Questions and who answers them with what: B-30 and B-32 to B-35, on Slack and on Telegram.

B-30: a platform that refuses posts, or the card. B-32: text settles the same row as a button. B-33: options.
B-34: open questions. B-35: presses at once, late, of another question, by a stranger.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, finish
from kinds import asked, open_questions, press_again, presses, record, ticked
from places import CHAT
from stages import stage

from hermes_bot.simulator import FaultPlan
from hermes_bot.simulator.faults import ALWAYS, Fault
from hermes_bot.store import audit

if TYPE_CHECKING:
    from pathlib import Path

each_chat = pytest.mark.parametrize("platform", CHAT)
WHERE = act("request_info", question="Where?", options=["staging", "production"])
SURE = act("request_info", question="Sure?", options=["yes", "no"])
HOW_MANY = act("request_info", question="How many retries?")
POSTS = {"slack": "chat.postMessage", "telegram": "sendMessage"}
CARDS = {
    "slack": Fault("chat.postMessage", "refuse", error="invalid_blocks"),
    "telegram": Fault("editMessageText", "refuse", error="400", description="BUTTON_DATA_INVALID"),
}
OVER = "That question was already answered or has expired. Nothing was changed."


@each_chat
@pytest.mark.parametrize(("question", "buttons"), [(WHERE, ("staging", "production")), (HOW_MANY, ())])
async def test_a_question_counts_as_asked_with_its_receipt_and_is_there_once(
    platform: str, question: Any, buttons: tuple[str, ...], tmp_path: Path
) -> None:
    clock = JumpClock()
    faults = FaultPlan(Fault(POSTS[platform], "server_error", times=3))
    async with stage(platform, tmp_path, [question], faults=faults, clock=clock) as it:
        thread = await it.mention("deploy")
        await clock.pass_until(lambda: it.now(thread))
        await it.settle()
        (card,) = it.now(thread)
        assert card.buttons == buttons
        (seen,) = await open_questions(it)
        assert seen.asked_at
        assert seen.asked_at - seen.created_at > timedelta(seconds=1)
        assert seen.asked_at.timestamp() > it.everything()[0].at
        assert seen.remind_after == seen.asked_at + timedelta(hours=1)
        assert seen.expires_at == seen.asked_at + timedelta(days=3)
        assert faults.hits["server_error"] == 3
        assert len(it.everything()) == 1


@each_chat
async def test_reminders_count_from_the_receipt_however_late_it_comes(platform: str, tmp_path: Path) -> None:
    clock = JumpClock()
    faults = FaultPlan(Fault(POSTS[platform], "server_error", times=ALWAYS))
    async with stage(platform, tmp_path, [WHERE], faults=faults, clock=clock) as it:
        thread = await it.mention("deploy")
        begun = clock.now()
        await clock.pass_until(lambda: clock.now() - begun > timedelta(minutes=50), step=30)
        faults.clear()
        await clock.pass_until(lambda: it.now(thread), step=30)
        await it.settle()
        clock.advance(3_300)
        await ticked(it)
        assert len(it.now(thread)) == 1
        clock.advance(400)
        reminder = (await it.heard(thread, 2))[1]
        assert reminder.text == "Still waiting for an answer: Where?"
        assert reminder.buttons == ("staging", "production")


@each_chat
async def test_a_refused_card_is_asked_in_plain_text_and_answered_by_number(
    platform: str, tmp_path: Path
) -> None:
    faults = FaultPlan(CARDS[platform])
    async with stage(platform, tmp_path, [WHERE, finish("done")], faults=faults) as it:
        thread, question = await asked(it)
        (card,) = it.now(thread)
        assert card.buttons == ()
        assert card.text.splitlines()[0] == "Where?"
        assert card.text.splitlines()[-2:] == ["1. staging", "2. production"]
        await it.follow(thread, "2")
        await it.until(lambda: it.now(thread)[-1].text == "done")
        assert (await record(it, question)).answer == "production"


@each_chat
async def test_text_settles_the_same_row_as_a_button_and_starts_nothing(
    platform: str, tmp_path: Path
) -> None:
    script = [act("request_info", question="Which service?"), finish("done")]
    async with stage(platform, tmp_path, script) as it:
        thread, question = await asked(it)
        await it.follow(thread, "checkout")
        await it.until(lambda: it.now(thread)[-1].text == "done")
        await it.settle()
        answered = await record(it, question)
        assert (answered.state, answered.answer) == ("answered", "checkout")
        assert answered.answered_by.endswith(f":{it.people['asker']}")
        assert [(run.text, run.status) for run in await it.runs()] == [("go on", "finished")]
        assert len(it.endpoint.requests) == 2
        assert [post.text for post in it.now(thread)][1:] == ["done"]


@each_chat
@pytest.mark.parametrize("said", ["2", " PRODUCTION ", "production", "2 ", "Production"])
async def test_a_number_or_a_label_in_any_case_is_the_option(
    platform: str, said: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, [WHERE, finish("done")]) as it:
        thread, question = await asked(it)
        await it.follow(thread, said)
        await it.until(lambda: it.now(thread)[-1].text == "done")
        assert (await record(it, question)).answer == "production"


@each_chat
async def test_any_other_words_leave_options_open_and_are_told_what_is_taken(
    platform: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, [WHERE, finish("done")]) as it:
        thread, question = await asked(it)
        for number, prose in enumerate(("7", "0", "whatever you think", "staging or production"), 1):
            await it.follow(thread, prose)
            await it.until(lambda n=number: len(it.whispers()) + len(it.now(thread)) == 1 + n)
            told = (it.whispers() or [post.text for post in it.now(thread)])[-1]
            assert "1. staging, 2. production" in told
            assert "number" in told
        assert (await record(it, question)).state == "open"
        assert len(it.endpoint.requests) == 1
        await it.press(thread, "staging")
        await it.until(lambda: it.now(thread)[-1].text == "done")
        assert (await record(it, question)).answer == "staging"


@each_chat
@pytest.mark.parametrize("said", ["0", "no", "none", "-1", "7 or so"])
async def test_every_text_answers_an_open_question(platform: str, said: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [HOW_MANY, finish("done")]) as it:
        thread, question = await asked(it)
        await it.follow(thread, said)
        await it.until(lambda: it.now(thread)[-1].text == "done")
        assert (await record(it, question)).answer == said
        assert len(await it.runs()) == 1


@each_chat
async def test_a_command_is_no_answer_and_the_question_stays_open(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [HOW_MANY, finish("done")]) as it:
        thread, question = await asked(it)
        await it.mention("skills", thread=thread)
        await it.until(lambda: len(it.whispers()) + len(it.now(thread)) == 2)
        said = (it.whispers() or [post.text for post in it.now(thread)])[-1]
        assert "log-diagnosis" in said
        assert (await record(it, question)).state == "open"
        assert len(it.endpoint.requests) == 1
        await it.mention("3", thread=thread)
        await it.until(lambda: it.now(thread)[-1].text == "done")
        assert (await record(it, question)).answer == "3"


@each_chat
async def test_of_two_presses_in_one_instant_one_is_the_answer(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [WHERE, finish("done")]) as it:
        thread, question = await asked(it)
        actions = presses(it, thread)

        async def press(label: str, who: str) -> None:
            if platform == "slack":
                await it.sim.press(it.people[who], "C1", it.now(thread)[0].id, actions[label])
            else:
                await it.sim.press(int(it.people[who]), -1001, int(it.now(thread)[0].id), actions[label])

        async with asyncio.TaskGroup() as group:
            group.create_task(press("staging", "asker"))
            group.create_task(press("production", "other"))
        await it.until(lambda: it.now(thread)[-1].text == "done")
        await it.settle()
        settled = await record(it, question)
        chose = {"staging": "asker", "production": "other"}[settled.answer]
        assert settled.answered_by.endswith(f":{it.people[chose]}")
        assert len(it.endpoint.requests) == 2
        card = it.now(thread)[0]
        assert card.buttons == ()
        assert settled.answer in card.text
        if platform == "slack":
            late = "other" if chose == "asker" else "asker"
            await it.until(lambda: it.whispers(late) == [OVER])
            assert it.whispers(chose) == []


@each_chat
async def test_a_press_of_an_expired_question_does_not_answer_the_one_that_is_open(
    platform: str, tmp_path: Path
) -> None:
    clock = JumpClock()
    first = act("request_info", question="Where?", options=["staging", "production"], default="staging")
    async with stage(platform, tmp_path, [first, SURE, finish("done")], clock=clock) as it:
        thread, question = await asked(it)
        action = presses(it, thread)["production"]
        clock.advance(73 * 3_600)
        await it.until(lambda: it.now(thread)[-1].text.startswith("Sure?"))
        await it.settle()
        assert await press_again(it, thread, 0, "production", action) == OVER
        assert (await record(it, question)).answer in ("", "staging")
        (still,) = await open_questions(it)
        assert still.question.text == "Sure?"
        assert len(it.endpoint.requests) == 2


@each_chat
async def test_a_press_after_a_typed_answer_changes_nothing(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [WHERE, finish("done")]) as it:
        thread, question = await asked(it)
        action = presses(it, thread)["production"]
        await it.follow(thread, "staging")
        await it.until(lambda: it.now(thread)[-1].text == "done")
        await it.settle()
        shown = it.now(thread)
        assert await press_again(it, thread, 0, "production", action, "other") == OVER
        await it.settle()
        assert (await record(it, question)).answer == "staging"
        assert it.now(thread) == shown
        assert len(it.endpoint.requests) == 2


@each_chat
async def test_a_press_by_a_stranger_is_refused_in_private_and_says_who_may(
    platform: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path, [WHERE, finish("done")]) as it:
        thread, question = await asked(it)
        action = presses(it, thread)["staging"]
        shown = it.now(thread)
        told = await press_again(it, thread, 0, "staging", action, "stranger")
        assert "Only members may" in told
        await it.settle()
        assert it.now(thread) == shown
        assert (await record(it, question)).state == "open"
        assert len(it.endpoint.requests) == 1
        noted = await it.app.db.read(lambda db: audit.list_rows(db, 10))
        assert [(one.entry.verb, one.entry.outcome) for one in noted] == [("access.answer", "refused")]
