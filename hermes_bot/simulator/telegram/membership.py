"""Knows who is in a chat and what the bot is told of it: joining, rights, kicks, blocks, moving."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.state import Telegram
    from hermes_bot.simulator.telegram.world import Chat, ChatKind


def new_chat(telegram: Telegram, chat_id: int, kind: ChatKind, title: str) -> Chat:
    """Make a chat that the bot is in."""
    chat = telegram.new_chat(chat_id, kind, title or f"Chat {abs(chat_id)}")
    chat.members[telegram.bot.id] = "administrator" if kind == "channel" else "member"
    return chat
