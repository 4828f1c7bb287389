"""Knows how to be a chat platform on loopback, for whoever writes or tests a bot.

A simulator speaks the platform's own protocol, so the unmodified client libraries connect to it. It refuses
what the platform refuses, fails when a ``FaultPlan`` says so, and keeps a ``Ledger`` of what people can see::

    async with SlackSimulator() as slack:
        slack.add_user("U1", name="ann")
        slack.add_channel("C1", name="general", members=("U1", "UBOT"))
        ...  # start the bot with slack.base_url, slack.bot_token and slack.app_token
        asked = await slack.say("U1", "C1", "<@UBOT> hello")
        answer = await slack.ledger.wait_for(lambda entry: entry.from_bot and entry.thread == asked)
"""

from hermes_bot.simulator.faults import Fault, FaultPlan
from hermes_bot.simulator.ledger import Change, Entry, Ledger
from hermes_bot.simulator.slack import SlackSimulator
from hermes_bot.simulator.telegram import TelegramSimulator

__all__ = ["Change", "Entry", "Fault", "FaultPlan", "Ledger", "SlackSimulator", "TelegramSimulator"]
