"""Knows the calls about the bot itself: who it is, and its menu of commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.refusal import bad_request

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram

MOST_COMMANDS = 100
LONGEST_DESCRIPTION = 256
_COMMAND = re.compile(r"[a-z0-9_]{1,32}")
_SCOPES = {
    "default": (),
    "all_private_chats": (),
    "all_group_chats": (),
    "all_chat_administrators": (),
    "chat": ("chat_id",),
    "chat_administrators": ("chat_id",),
    "chat_member": ("chat_id", "user_id"),
}


def get_me(telegram: Telegram, _args: Arguments) -> dict[str, Any]:
    """``getMe``."""
    return telegram.bot.to_json() | {
        "can_join_groups": True,
        "can_read_all_group_messages": not telegram.privacy,
        "supports_inline_queries": False,
        "has_topics_enabled": telegram.has_topics,
    }


def set_commands(telegram: Telegram, args: Arguments) -> bool:
    """``setMyCommands``."""
    commands = args.nested("commands", "commands")
    if not isinstance(commands, list) or not all(isinstance(one, dict) for one in commands):
        raise bad_request("can't parse commands JSON object")
    if len(commands) > MOST_COMMANDS:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for one in commands:
        if not _COMMAND.fullmatch(str(one.get("command", "")).removeprefix("/")):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(str(one.get("description", ""))) <= LONGEST_DESCRIPTION:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    telegram.commands[_scope(telegram, args)] = commands
    return True


def get_commands(telegram: Telegram, args: Arguments) -> list[dict[str, Any]]:
    """``getMyCommands``."""
    return telegram.commands.get(_scope(telegram, args), [])


def delete_commands(telegram: Telegram, args: Arguments) -> bool:
    """``deleteMyCommands``."""
    telegram.commands.pop(_scope(telegram, args), None)
    return True


def shown_commands(telegram: Telegram, chat: int, user: int) -> list[dict[str, Any]]:
    """Return the menu one person sees in a chat: the narrowest set there is, as a whole."""
    place = telegram.chats.get(chat)
    is_private = place is None or place.kind == "private"
    is_admin = place is not None and place.status(user) in ("administrator", "creator")
    names = [f"chat_member:{chat}:{user}"]
    names += [f"chat_administrators:{chat}"] if is_admin else []
    names += [f"chat:{chat}"]
    names += ["all_chat_administrators"] if is_admin else []
    names += ["all_private_chats" if is_private else "all_group_chats", "default"]
    return next((telegram.commands[name] for name in names if name in telegram.commands), [])


def _scope(telegram: Telegram, args: Arguments) -> str:
    scope = args.nested("scope", "bot command scope") or {"type": "default"}
    parts = [str(scope.get("type"))] if isinstance(scope, dict) else [""]
    if parts[0] not in _SCOPES:
        raise bad_request("unsupported type of BotCommandScope specified")
    for field in _SCOPES[parts[0]]:
        if field == "chat_id":
            telegram.chat(scope.get("chat_id"))
        parts.append(str(scope.get(field, "")))
    language = args.text("language_code")
    return ":".join(parts) + (f"/{language}" if language else "")
