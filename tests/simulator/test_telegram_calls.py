"""The simulated Telegram, called by the unmodified python-telegram-bot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup

from hermes_bot.simulator.telegram import TelegramSimulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TEAM = -1001
ANN = 7


@pytest.fixture
async def sim() -> AsyncIterator[TelegramSimulator]:
    async with TelegramSimulator() as simulator:
        simulator.add_user(ANN, "Ann", "ann")
        simulator.add_chat(TEAM, title="Team", members=(ANN,))
        yield simulator


@pytest.fixture
async def bot(sim: TelegramSimulator) -> AsyncIterator[Bot]:
    async with Bot(sim.token, base_url=sim.base_url, base_file_url=sim.file_base_url) as client:
        yield client


async def test_a_mention_is_fetched_and_its_answer_is_seen(sim: TelegramSimulator, bot: Bot) -> None:
    asked = await sim.say(ANN, TEAM, "😀 @my_bot hi")
    (update,) = await bot.get_updates()
    assert update.message is not None
    assert update.message.message_id == asked
    assert [(one.type, one.offset, one.length) for one in update.message.entities] == [("mention", 3, 7)]

    yes = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])
    sent = await bot.send_message(TEAM, "<b>1 &lt; 2</b>?", parse_mode="HTML", reply_markup=yes)
    await bot.edit_message_text("Done.", TEAM, sent.message_id)

    answer = await sim.ledger.wait_for(lambda entry: entry.text == "Done.")
    assert answer.from_bot
    assert answer.history == ["1 < 2?"]
    assert answer.buttons == []
    assert sim.complaints == []
