"""Knows Telegram: a Bot API server on loopback, with people who write and press.

::

    async with TelegramSimulator() as telegram:
        telegram.add_user(7, name="Ann", username="ann")
        telegram.add_chat(-1001, title="Team", members=(7,))
        ...  # start the bot with telegram.base_url and telegram.token
        await telegram.say(7, -1001, "@my_bot hello")
        answer = await telegram.ledger.wait_for(lambda entry: entry.from_bot)
"""

from hermes_bot.simulator.telegram.people import PressAnswer
from hermes_bot.simulator.telegram.simulator import TelegramSimulator
from hermes_bot.simulator.telegram.state import Call, ChatAction

__all__ = ["Call", "ChatAction", "PressAnswer", "TelegramSimulator"]
