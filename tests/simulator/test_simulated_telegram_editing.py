"""What the simulated Telegram lets a bot change afterwards, and what presses come back as."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from simulator.telegram_place import ANN, BOB, BOT, EVE, TEAM, Clock, heard, refusal, team
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Message

YES_NO = InlineKeyboardMarkup(
    [[InlineKeyboardButton("Yes", callback_data="y"), InlineKeyboardButton("No", callback_data="n")]]
)
UNCHANGED = "Message is not modified: specified new message content and reply markup are exactly the same"


async def test_an_edit_replaces_the_text_and_takes_the_keyboard_away() -> None:
    async with team() as (sim, bot):
        sent = await bot.send_message(TEAM, "?", reply_markup=YES_NO)
        edited = await bot.edit_message_text("✔ Ann chose yes", TEAM, sent.message_id)
        assert isinstance(edited, Message)
        assert (edited.text, edited.reply_markup) == ("✔ Ann chose yes", None)
        assert edited.edit_date is not None
        (entry,) = sim.ledger.entries
        assert (entry.text, entry.buttons, entry.history) == ("✔ Ann chose yes", [], ["?"])


async def test_an_edit_that_changes_nothing_says_so() -> None:
    async with team() as (_sim, bot):
        sent = await bot.send_message(TEAM, "<b>a</b>", parse_mode="HTML", reply_markup=YES_NO)
        for text, markup, is_same in (
            ("<b>a</b>", YES_NO, True),
            ("<strong>a</strong> ", YES_NO, True),
            ("a", YES_NO, False),
            ("a", None, False),
            ("a", None, True),
        ):
            call = bot.edit_message_text(text, TEAM, sent.message_id, parse_mode="HTML", reply_markup=markup)
            if is_same:
                assert (await refusal(call)).startswith(UNCHANGED)
            else:
                await call


async def test_the_same_limits_hold_for_edits() -> None:
    async with team() as (_sim, bot):
        sent = await bot.send_message(TEAM, "a")
        edit = bot.edit_message_text
        assert await refusal(edit("x" * 4097, TEAM, sent.message_id)) == "Message is too long"
        assert await refusal(edit(" ", TEAM, sent.message_id)) == "Message text is empty"
        wrong = edit("<br>", TEAM, sent.message_id, parse_mode="HTML")
        assert "can't parse entities" in (await refusal(wrong)).lower()


async def test_only_what_is_there_and_ones_own_can_be_edited() -> None:
    async with team() as (sim, bot):
        others = await sim.say(ANN, TEAM, "hi")
        assert await refusal(bot.edit_message_text("x", TEAM, 999)) == "Message to edit not found"
        assert await refusal(bot.edit_message_text("x", TEAM, others)) == "Message can't be edited"
        sent = await bot.send_message(TEAM, "a")
        await bot.delete_message(TEAM, sent.message_id)
        assert await refusal(bot.edit_message_text("x", TEAM, sent.message_id)) == "Message to edit not found"
        assert "identifier" in await refusal(bot.edit_message_text("x", TEAM))


async def test_captions_and_texts_are_edited_each_by_its_own_method() -> None:
    async with team() as (sim, bot):
        text = await bot.send_message(TEAM, "a")
        file = await bot.send_document(TEAM, b"x", filename="a.txt", caption="a")
        call = bot.edit_message_text("b", TEAM, file.message_id)
        assert await refusal(call) == "There is no text in the message to edit"
        wrong = bot.edit_message_caption(TEAM, text.message_id, caption="b")
        assert await refusal(wrong) == "There is no caption in the message to edit"
        edited = await bot.edit_message_caption(TEAM, file.message_id, caption="b")
        assert isinstance(edited, Message)
        assert edited.caption == "b"
        assert sim.ledger.entries[-1].history == ["a"]


async def test_a_keyboard_alone_can_be_changed() -> None:
    async with team() as (sim, bot):
        sent = await bot.send_message(TEAM, "<b>a</b>", parse_mode="HTML", reply_markup=YES_NO)
        edited = await bot.edit_message_reply_markup(TEAM, sent.message_id)
        assert isinstance(edited, Message)
        assert (edited.text, edited.reply_markup) == ("a", None)
        assert sim.ledger.entries[0].buttons == []
        assert sim.ledger.entries[0].raw["html"] == "<b>a</b>"
        call = bot.edit_message_reply_markup(TEAM, sent.message_id)
        assert (await refusal(call)).startswith(UNCHANGED)


async def test_a_bot_deletes_its_own_for_two_days_and_others_as_admin() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot):
        others = await sim.say(ANN, TEAM, "hi")
        mine, late = [(await bot.send_message(TEAM, "a")).message_id for _ in range(2)]
        await bot.delete_message(TEAM, mine)
        assert await refusal(bot.delete_message(TEAM, mine)) == "Message to delete not found"
        assert await refusal(bot.delete_message(TEAM, others)) == "Message can't be deleted"
        clock.now += 49 * 3600
        assert await refusal(bot.delete_message(TEAM, late)) == "Message can't be deleted"
        sim.set_status(TEAM, BOT, "administrator")
        await bot.delete_message(TEAM, others)
        assert [entry.deleted for entry in sim.ledger.entries] == [True, True, False]


async def test_a_press_reaches_the_bot_and_its_answer_the_presser_alone() -> None:
    async with team() as (sim, bot), asyncio.TaskGroup() as group:
        sent = await bot.send_message(TEAM, "Deploy?", reply_markup=YES_NO)
        press = group.create_task(sim.press(BOB, TEAM, sent.message_id, label="No"))
        (update,) = await bot.get_updates(timeout=5)
        query = update.callback_query
        assert query is not None
        assert (query.data, query.from_user.id) == ("n", BOB)
        assert query.message is not None
        assert query.message.message_id == sent.message_id
        await query.answer("Only Ann may say that.", show_alert=True)
        answer = await press
        assert (answer.text, answer.is_alert, answer.is_answered) == ("Only Ann may say that.", True, True)
        assert [entry.text for entry in sim.ledger.seen(str(TEAM))] == ["Deploy?"]
        assert [entry.text for entry in sim.ledger.seen(str(TEAM), viewer=str(BOB))][1:] == [answer.text]


async def test_a_press_nobody_answers_is_just_that() -> None:
    async with team() as (sim, bot):
        sent = await bot.send_message(TEAM, "?", reply_markup=YES_NO)
        answer = await sim.press(ANN, TEAM, sent.message_id, label="Yes", wait_seconds=0)
        assert not answer.is_answered


async def test_an_answer_comes_once_in_time_and_short() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot):
        sent = await bot.send_message(TEAM, "?", reply_markup=YES_NO)

        async def pressed() -> str:
            await sim.press(ANN, TEAM, sent.message_id, "y", wait_seconds=0)
            return str((await heard(bot))[-1]["callback_query"]["id"])

        number = await pressed()
        assert "too_long" in (await refusal(bot.answer_callback_query(number, "x" * 201))).lower()
        await bot.answer_callback_query(number, "x" * 200)
        for late in (number, "nonsense"):
            assert (await refusal(bot.answer_callback_query(late))).startswith("Query is too old")
        number = await pressed()
        clock.now += 901
        assert (await refusal(bot.answer_callback_query(number))).startswith("Query is too old")


async def test_a_press_may_carry_data_that_is_not_there_any_more() -> None:
    async with team() as (sim, bot):
        sent = await bot.send_message(TEAM, "?", reply_markup=YES_NO)
        await bot.edit_message_text("gone", TEAM, sent.message_id)
        await sim.press(ANN, TEAM, sent.message_id, "y", wait_seconds=0)
        assert (await heard(bot))[0]["callback_query"]["data"] == "y"
        await bot.delete_message(TEAM, sent.message_id)
        await sim.press(ANN, TEAM, sent.message_id, "y", wait_seconds=0)
        assert (await heard(bot))[0]["callback_query"]["message"]["date"] == 0


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        ({"user": ANN, "label": "Perhaps"}, LookupError, "no button 'Perhaps'.*'Yes', 'No'"),
        ({"user": EVE, "label": "Yes"}, ValueError, "9 is not in chat"),
        ({"user": ANN, "message": 99, "label": "Yes"}, LookupError, "no message 99"),
    ],
)
async def test_a_press_that_cannot_be_made_is_an_error_of_the_script(
    what: dict[str, Any], error: type[Exception], words: str
) -> None:
    async with team() as (sim, bot):
        sent = await bot.send_message(TEAM, "?", reply_markup=YES_NO)
        with pytest.raises(error, match=words):
            await sim.press(**({"chat": TEAM, "message": sent.message_id} | what))


async def test_people_edit_and_delete_their_own_only() -> None:
    async with team() as (sim, bot):
        asked = await sim.say(ANN, TEAM, "hi")
        for act in (sim.edit(BOB, TEAM, asked, "x"), sim.delete(BOB, TEAM, asked)):
            with pytest.raises(ValueError, match="is not 8's"):
                await act
        sent = await bot.send_message(TEAM, "a")
        sim.set_status(TEAM, BOB, "administrator")
        await sim.delete(BOB, TEAM, sent.message_id)
        assert sim.ledger.entries[-1].deleted
