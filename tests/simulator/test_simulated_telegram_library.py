"""The unmodified python-telegram-bot, run against the simulated Telegram in each way it can receive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from simulator.telegram_place import ANN, BOB, FORUM, REPORTS, TEAM, client, populate, team
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, Update
from telegram.ext import (
    Application,
    ApplicationBuilder,
    CallbackQueryHandler,
    CommandHandler,
    ContextTypes,
    MessageHandler,
    filters,
)

from hermes_bot.simulator.telegram import TelegramSimulator

if TYPE_CHECKING:
    from hermes_bot.simulator.ledger import Entry

WANTED = ["message", "edited_message", "callback_query", "my_chat_member"]


async def ask(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    assert update.message is not None
    markup = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])
    await update.message.reply_text("Sure?", reply_markup=markup, do_quote=True)


async def decide(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    query = update.callback_query
    assert query is not None
    await query.answer("Thanks")
    await query.edit_message_text("✔")


async def echo(update: Update, _context: ContextTypes.DEFAULT_TYPE) -> None:
    message = update.effective_message
    assert message is not None
    await message.reply_text(f"<b>{message.text}</b>", parse_mode="HTML")


def application(sim: TelegramSimulator, **builder: Any) -> Application[Any, Any, Any, Any, Any, Any]:
    made = ApplicationBuilder().bot(client(sim)).job_queue(None)
    for name, value in builder.items():
        made = getattr(made, name)(value)
    app = made.build()
    app.add_handler(CommandHandler("run", ask, filters=filters.UpdateType.MESSAGE))
    app.add_handler(CallbackQueryHandler(decide))
    app.add_handler(MessageHandler(filters.TEXT, echo))
    return app


def said(text: str) -> Any:
    def holds(entry: Entry) -> bool:
        return entry.from_bot and entry.text == text

    return holds


async def converse(sim: TelegramSimulator) -> None:
    """Play a command, a press on its question, and a message in a topic, and see each answered in place."""
    asked = await sim.say(ANN, TEAM, "/run@my_bot weekly")
    question = await sim.ledger.wait_for(said("Sure?"))
    assert (question.channel, question.reply_to) == (str(TEAM), str(asked))
    answer = await sim.press(BOB, TEAM, int(question.id), label="Yes")
    assert answer.text == "Thanks"
    assert (await sim.ledger.wait_for(said("✔"))).id == question.id

    await sim.say(ANN, FORUM, "@my_bot hi", topic=REPORTS)
    echoed = await sim.ledger.wait_for(said("@my_bot hi"))
    assert (echoed.channel, echoed.thread) == (str(FORUM), str(REPORTS))
    assert sim.complaints == []


async def test_the_updater_polls_and_its_handlers_answer() -> None:
    async with team() as (sim, _bot):
        app = application(sim)
        async with app:
            assert app.updater is not None
            await app.updater.start_polling(timeout=30, allowed_updates=WANTED, drop_pending_updates=False)
            await app.start()
            await converse(sim)
            await app.updater.stop()
            await app.stop()
        assert {call.method for call in sim.calls} >= {"deleteWebhook", "getUpdates"}


async def test_a_loop_of_ones_own_without_updater_confirms_what_it_has_stored() -> None:
    async with team() as (sim, bot):
        app = application(sim, updater=None)

        async def receive() -> None:
            offset = 0
            while True:
                for update in await bot.get_updates(offset=offset, timeout=30, allowed_updates=WANTED):
                    offset = update.update_id + 1
                    await app.process_update(Update.de_json(update.to_dict(), app.bot))

        async with app, asyncio.TaskGroup() as group:
            receiving = group.create_task(receive())
            await converse(sim)
            receiving.cancel()
        assert sim.confirmed > 0


@pytest.mark.filterwarnings("ignore:Please use 'Bot.getUpdates':UserWarning")
async def test_updates_can_be_fetched_raw() -> None:
    async with team() as (sim, bot):
        sim.push({"message": {"message_id": 1, "date": 1, "chat": "broken"}})
        await sim.say(ANN, ANN, "hi")
        updates = await bot.do_api_request(
            "getUpdates", api_kwargs={"timeout": 30, "allowed_updates": WANTED}, read_timeout=40
        )
        assert [update["message"].get("text") for update in updates] == [None, "hi"]
        assert sim.complaints == []


async def test_its_builder_takes_the_simulators_addresses() -> None:
    async with TelegramSimulator(speed=1e6) as sim:
        populate(sim)
        app = (
            ApplicationBuilder()
            .token(sim.token)
            .base_url(sim.base_url)
            .base_file_url(sim.file_base_url)
            .job_queue(None)
            .updater(None)
            .build()
        )
        async with app:
            assert (await app.bot.send_message(TEAM, "hi")).chat.title == "Team"


async def test_two_simulators_run_side_by_side() -> None:
    async with (
        TelegramSimulator(username="one_bot") as one,
        TelegramSimulator(username="two_bot") as two,
        client(one) as first,
        client(two) as second,
    ):
        assert [bot.username for bot in (first, second)] == ["one_bot", "two_bot"]
