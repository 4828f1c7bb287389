"""Knows what must be right on Telegram's side, and how to look without taking anything from anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.errors import AdapterError, BotBroken
from hermes_bot.ports import Finding
from hermes_telegram.api import SCOPES
from hermes_telegram.faults import TOKEN, TwoReceivers
from hermes_telegram.intake import WANTED
from hermes_telegram.menu import menu
from hermes_telegram.polling import SECOND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from telegram import User, WebhookInfo

    from hermes_bot.ports import Health, Setup
    from hermes_telegram.api import Api

LISTEN_SECONDS = 3  # another program that fetches asks again within so long, and ends our fetch
MANY = 100


async def look_at(api: Api, setup: Setup, health: Health) -> Sequence[Finding]:
    """Return what was found; nothing is confirmed, so nothing is lost."""
    try:
        me = await api.me()
    except BotBroken as error:
        return (Finding("bad", "Telegram token", str(error)),)
    except AdapterError as error:
        return (
            Finding("bad", "Telegram", f"It cannot be reached now, so nothing else was looked at: {error}"),
        )
    found = [Finding("ok", "Telegram token", f"{TOKEN} is the bot @{me.username} ({me.id}).")]
    try:
        found += [_hearing(me), *_receiving(await api.webhook(), setup)]
        found += await _second(api, setup, health)
        found.append(await _menu(api, setup))
    except AdapterError as error:
        found.append(Finding("warning", "Telegram", f"Not everything could be looked at: {error}"))
    return found


def _hearing(me: User) -> Finding:
    what = "Telegram groups"
    if not me.can_join_groups:
        return Finding(
            "warning", what, "The bot may not be added to groups. BotFather's /setjoingroups allows it."
        )
    if me.can_read_all_group_messages:
        return Finding("ok", what, "Privacy mode is off: it hears all that is said in its groups.")
    return Finding(
        "ok",
        what,
        "Privacy mode is on: in groups it hears commands, mentions and answers to its messages only. To have "
        "it follow a talk without them, switch it off with BotFather's /setprivacy, then add the bot again.",
    )


def _receiving(info: WebhookInfo, setup: Setup) -> list[Finding]:
    what, wanted = "Telegram updates", setup.settings["webhook_url"]
    found = []
    if setup.settings["mode"] == "polling" and info.url:
        found.append(Finding("warning", what, "A webhook is set, and is removed when the bot starts."))
    elif setup.settings["mode"] == "webhook" and info.url != wanted:
        found.append(Finding("warning", what, f"The webhook is not {wanted}; it is set when the bot starts."))
    if info.url and info.last_error_message:
        found.append(Finding("warning", what, f"Telegram's last try to deliver: {info.last_error_message}."))
    waiting = info.pending_update_count
    found.append(
        Finding(
            "warning" if waiting > MANY else "ok",
            what,
            f"{waiting} wait to be taken; Telegram keeps them for a day.",
        )
    )
    return found


async def _second(api: Api, setup: Setup, health: Health) -> list[Finding]:
    """Look for another program that fetches: it and we would end each other's fetches."""
    what = "Telegram receivers"
    if setup.settings["mode"] == "webhook":
        return []
    if health.heard_at is not None:
        return [
            Finding("warning" if health.why else "ok", what, health.why or "This bot alone fetches updates.")
        ]
    try:
        # without an offset nothing is confirmed; what waits is answered with at once, and comes again
        await api.updates(None, WANTED, LISTEN_SECONDS)
    except TwoReceivers:
        return [Finding("bad", what, f"{SECOND} If this bot is running just now, it is that program.")]
    return [Finding("ok", what, "No other program was seen fetching updates.")]


async def _menu(api: Api, setup: Setup) -> Finding:
    wanted = menu(setup.verbs)
    for scope in SCOPES:
        if await api.commands(scope) != wanted:
            return Finding(
                "ok", "Telegram menu", "It differs from the commands, and is set when the bot starts."
            )
    return Finding("ok", "Telegram menu", f"It shows the {len(wanted)} commands.")
