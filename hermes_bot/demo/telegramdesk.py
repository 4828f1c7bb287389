"""Knows how the page shows the Telegram-like chats, and what a seat does in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.demo.desk import Author, Desk, Json, Said, drawn, excerpt
from hermes_bot.demo.entities import read_entities
from hermes_bot.demo.world import BOT_USERNAME, SEATS
from hermes_bot.simulator.telegram.identity import shown_commands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.demo.world import Seat
    from hermes_bot.simulator import Entry, Ledger, TelegramSimulator
    from hermes_bot.simulator.telegram.world import Chat

PRESS_SECONDS = 8.0


@dataclass(slots=True)
class TelegramDesk(Desk):
    """The Telegram-like side."""

    telegram: TelegramSimulator
    name: str = "telegram"
    keeps_notices: bool = False  # they are shown in a box, and gone

    @property
    def ledger(self) -> Ledger:
        """All that people see."""
        return self.telegram.ledger

    def to_json(self, seat: Seat) -> Json:
        """Return the chats of a seat, its own with the bot first."""
        mine: Json = {"id": str(seat.telegram), "name": "hermes", "kind": "direct", "topics": []}
        mine["about"] = "A private chat: everything you write here is for the bot."
        groups = [_place(chat) for chat in self.telegram.state.chats.values() if chat.id < 0]
        return {
            "me": str(seat.telegram),
            "bot": f"@{BOT_USERNAME}",
            "title": "Chats",
            "channels": [mine, *(one for one in groups if self.is_seen(seat, one["id"]))],
            "commands": self._commands(seat),
        }

    def _commands(self, seat: Seat) -> dict[str, list[Json]]:
        """Return the menu of commands by chat, as the bot set it."""
        chats = [seat.telegram, *(chat for chat in self.telegram.state.chats if chat < 0)]
        return {str(chat): self._menu(chat, seat) for chat in chats}

    def _menu(self, chat: int, seat: Seat) -> list[Json]:
        found = shown_commands(self.telegram.state, chat, seat.telegram)
        suffix = f"@{BOT_USERNAME}" if chat < 0 else ""
        return [
            {"text": f"/{str(one['command']).lstrip('/')}{suffix}", "about": str(one["description"])}
            for one in found
        ]

    def is_seen(self, seat: Seat, channel: str) -> bool:
        """Return whether a seat is in a chat."""
        if not channel.removeprefix("-").isdecimal():
            return False
        chat = self.telegram.state.chats.get(int(channel))
        if chat is None or chat.kind == "private":
            return channel == str(seat.telegram)
        return chat.has(seat.telegram)

    def message(self, seat: Seat, entry: Entry) -> Json:
        """Return a message as the page draws it."""
        me = str(seat.telegram)
        author = self._author(entry).to_json(is_me=entry.author == me)
        more = {
            "buttons": _rows(entry.buttons),
            "replyTo": self._quoted(entry),
            "source": entry.text,
            "asks": bool((entry.raw.get("markup") or {}).get("force_reply")),
        }
        return drawn(entry, author, read_entities(entry.text, entry.raw.get("entities") or []), more)

    def _author(self, entry: Entry) -> Author:
        if entry.from_bot:
            return Author(entry.author, "hermes", "bot")
        person = self.telegram.state.people.get(int(entry.author))
        kind = "person" if any(str(seat.telegram) == entry.author for seat in SEATS) else "app"
        return Author(entry.author, person.name if person else entry.author, kind)

    def _quoted(self, entry: Entry) -> Json | None:
        found = self.ledger.find(entry.channel, entry.reply_to) if entry.reply_to else None
        if found is None:
            return None
        text = "Deleted message" if found.deleted else excerpt(found.text) or "File"
        return {"id": found.id, "name": self._author(found).name, "text": text}

    def busy(self) -> Sequence[Json]:
        """Return nothing: what is typing shows for a few seconds only."""
        return ()

    async def file(self, file: Mapping[str, Any]) -> bytes:
        """Return a file's content."""
        return self.telegram.state.files.known(str(file["id"])).data

    async def say(self, seat: Seat, said: Said) -> Json:
        """Write a message."""
        files = [(one.name, one.content, _kind(one.kind)) for one in said.files]
        message = await self.telegram.say(
            seat.telegram,
            int(said.channel),
            said.text,
            topic=_number(said.thread),
            reply_to=_number(said.reply_to),
            files=files,
        )
        return {"id": str(message)}

    async def edit(self, seat: Seat, channel: str, message: str, text: str) -> None:
        """Edit a message of one's own."""
        await self.telegram.edit(seat.telegram, int(channel), _number(message), text)

    async def delete(self, seat: Seat, channel: str, message: str) -> None:
        """Delete a message of one's own."""
        await self.telegram.delete(seat.telegram, int(channel), _number(message))

    async def press(self, seat: Seat, channel: str, message: str, action: str) -> Json:
        """Press a button, and return what the bot shows for it."""
        answer = await self.telegram.press(
            seat.telegram, int(channel), _number(message), action, wait_seconds=PRESS_SECONDS
        )
        return {"notice": answer.text, "alert": answer.is_alert}

    async def shortcut(self, seat: Seat, channel: str, message: str) -> Json:
        """Refuse: there are none here."""
        raise ValueError(f"{self.name} has no shortcuts on messages ({seat.key}, {channel}, {message}).")


def _place(chat: Chat) -> Json:
    topics = [{"id": "", "name": "General"}] if chat.is_forum else []
    topics += [{"id": str(number), "name": topic.name} for number, topic in chat.topics.items()]
    about = "A forum: each topic is a conversation of its own." if chat.is_forum else "A group."
    hint = f"{about} The bot hears what mentions it, what replies to it, and commands."
    kind = "forum" if chat.is_forum else "group"
    return {"id": str(chat.id), "name": chat.title, "kind": kind, "topics": topics, "about": hint}


def _rows(buttons: Sequence[dict[str, Any]]) -> list[list[Json]]:
    rows: dict[int, list[Json]] = {}
    for one in buttons:
        shown = {"label": one["label"], "action": one["action"], "url": one.get("url", "")}
        rows.setdefault(int(one.get("row", 0)), []).append(shown)
    return list(rows.values())


def _number(text: str) -> int:
    """Return the id that a text names, 0 for an empty one.

    Raises:
        ValueError: it names none.
    """
    if text and not text.isdecimal():
        raise ValueError(f"There is no message or topic {text!r} here.")
    return int(text or 0)


def _kind(mime: str) -> str:
    return "photo" if mime in ("image/png", "image/jpeg") else "document"
