"""Knows the one path by which messages come, change and go, whoever does it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.ledger import Entry
from hermes_bot.simulator.slack import events
from hermes_bot.simulator.slack.blocks import buttons_of
from hermes_bot.simulator.slack.workspace import Message, Shown

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.workspace import Channel, Team

PLATFORM = "slack"


@dataclass(slots=True, kw_only=True)
class Draft:
    """What is to be posted.

    Attributes:
        bot: the bot record that posts it; empty for a person.
        raw: what the API was sent, for the ledger.
        extra: further fields of the message: ``subtype``, ``attachments``, ``files`` and so on.
        seen_by: the one person who will see it; empty for everybody.
        ago: how many seconds back it was written.
    """

    user: str
    text: str
    thread_ts: str = ""
    bot: str = ""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)
    seen_by: str = ""
    ago: float = 0.0


@dataclass(slots=True)
class Posting:
    """Puts messages into channels, and tells the bot where it may know of it.

    Attributes:
        swaps_pairs: whether ``message`` comes before ``app_mention`` where one message gives both.
        pair_delay: seconds between these two.
    """

    site: Site
    swaps_pairs: bool = False
    pair_delay: float = 0.0
    _whispers: dict[tuple[str, str, str], Message] = field(default_factory=dict)
    _clearing: dict[tuple[str, str], asyncio.TimerHandle] = field(default_factory=dict)

    def post(self, team: Team, channel: Channel, draft: Draft) -> Message:
        """Add a message to a channel, and tell the bot.

        A ``thread_ts`` that names no message is left out without a word, as Slack does.
        """
        message = self._make(team, channel, draft)
        channel.take(message)
        self._note_reply(team, channel, message)
        self.site.ledger.add(message.entry)
        if draft.bot == team.bot_id and message.is_reply:
            self.show_status(channel.id, message.root, "")
        self._tell_of(team, channel, message)
        return message

    def whisper(self, team: Team, channel: Channel, draft: Draft) -> Message:
        """Show a message that no event tells of and nothing reads back, to one person mostly."""
        message = self._make(team, channel, draft)
        self._whispers[channel.team, channel.id, message.ts] = message
        self.site.ledger.add(message.entry)
        return message

    def whispered(self, channel: Channel, ts: str) -> Message | None:
        """Return what one person was shown."""
        return self._whispers.get((channel.team, channel.id, ts))

    def forget(self, message: Message) -> None:
        """Take away what one person was shown."""
        self.site.ledger.delete(message.entry)

    def change(self, team: Team, channel: Channel, message: Message, **fields: Any) -> None:
        """Edit a message: replace fields of it, an empty list or None removing one."""
        before = dict(message.body)
        stamp = self.site.stamps.next()
        message.body = {name: value for name, value in (before | fields).items() if value not in ([], None)}
        message.body["edited"] = {"user": before.get("user", ""), "ts": stamp}
        self.refresh(message)
        self.tell(team, channel, events.changed(channel, message.body, before, stamp))
        if message.bot != team.bot_id and events.mentions(team, message.body["text"]):
            self._tell_mention(team, channel, events.mentioned(channel, message, stamp))

    def touch(self, team: Team, channel: Channel, message: Message, **fields: Any) -> None:
        """Change a message without an edit: a preview attached, a count of replies."""
        before = message.body
        message.body = before | fields
        self.tell(team, channel, events.changed(channel, message.body, before, self.site.stamps.next()))

    def remove(self, team: Team, channel: Channel, message: Message) -> None:
        """Delete a message; a root with replies leaves a tombstone behind."""
        stamp = self.site.stamps.next()
        before = message.body
        del channel.messages[message.ts]
        self.site.ledger.delete(message.entry)
        if channel.has_replies(message.ts):
            tombstone = {"type": "message", "subtype": "tombstone", "hidden": True, "user": "USLACKBOT"}
            tombstone |= {"text": "This message was deleted.", "ts": message.ts, "thread_ts": message.ts}
            self.tell(team, channel, events.changed(channel, tombstone, before, stamp))
        else:
            self.tell(team, channel, events.deleted(channel, before, stamp))

    def refresh(self, message: Message) -> None:
        """Bring the ledger's entry up to what the message says now."""
        body = message.body
        buttons = buttons_of(body.get("blocks", []))
        message.shown += [Shown(button, body["blocks"]) for button in buttons]
        raw = message.entry.raw | {name: body.get(name, []) for name in ("blocks", "attachments")}
        self.site.ledger.edit(
            message.entry, body["text"], buttons=buttons, raw=raw, key=_key(message.metadata)
        )

    def tell(self, team: Team, channel: Channel, event: dict[str, Any], after: float = 0.0) -> None:
        """Send a ``message`` event, if the bot is there and may know of it."""
        if team.bot_user in channel.members and events.HISTORY_SCOPES[channel.kind] in self.site.scopes:
            self.send(team, event, after)

    def send(self, team: Team, event: dict[str, Any], after: float = 0.0) -> None:
        """Send any event of a team."""
        if not team.is_revoked:
            self.site.delivery.event(events.callback(self.site, team, event), after)

    def react(self, team: Team, channel: Channel, message: Message, user: str, name: str) -> None:
        """Tell the bot of a reaction."""
        if team.bot_user in channel.members and "reactions:read" in self.site.scopes:
            self.send(team, events.reacted(channel, message, user, name))

    def show_status(self, channel: str, thread: str, status: str) -> None:
        """Show an assistant status under a thread for two minutes; an empty one clears it."""
        shown = self.site.statuses[channel, thread] if status else self.site.statuses.get((channel, thread))
        if (timer := self._clearing.pop((channel, thread), None)) is not None:
            timer.cancel()
        if shown is None or (not status and not (shown and shown[-1])):
            return
        shown.append(status)
        self.site.ledger.tell("status", {"channel": channel, "thread": thread, "status": status})
        if status:
            clear = asyncio.get_running_loop().call_later
            self._clearing[channel, thread] = clear(
                self.site.windows.status, self.show_status, channel, thread, ""
            )

    def close(self) -> None:
        """Let no status change any more."""
        for timer in self._clearing.values():
            timer.cancel()
        self._clearing.clear()

    def _make(self, team: Team, channel: Channel, draft: Draft) -> Message:
        ts = self.site.stamps.next(draft.ago)
        body: dict[str, Any] = {
            "type": "message",
            "user": draft.user,
            "text": draft.text,
            "ts": ts,
            "team": team.id,
        }
        if draft.bot:
            body["bot_id"] = draft.bot
        else:
            body["client_msg_id"] = self.site.number("cmi-")
        if draft.thread_ts in channel.messages:
            body["thread_ts"] = draft.thread_ts
        body |= {name: value for name, value in (("blocks", draft.blocks), ("files", draft.files)) if value}
        body |= draft.extra
        buttons = buttons_of(draft.blocks)
        entry = Entry(
            at=float(ts),
            platform=PLATFORM,
            workspace=team.id,
            channel=channel.id,
            thread=body.get("thread_ts", ""),
            id=ts,
            author=draft.user,
            from_bot=draft.bot == team.bot_id,
            text=draft.text,
            raw=draft.raw or {"blocks": draft.blocks, **draft.extra},
            only_for=draft.seen_by,
            files=draft.files,
            buttons=buttons,
            key=_key(draft.metadata),
        )
        return Message(
            body, entry, draft.bot, draft.metadata, [Shown(button, draft.blocks) for button in buttons]
        )

    def _note_reply(self, team: Team, channel: Channel, message: Message) -> None:
        root = channel.messages.get(message.root)
        if root is None or root is message:
            return
        replies = len(channel.replies[root.ts])
        counted = {"thread_ts": root.ts, "reply_count": replies, "latest_reply": message.ts}
        if self.site.tells_roots:
            self.touch(team, channel, root, **counted)
        else:
            root.body = root.body | counted

    def _tell_of(self, team: Team, channel: Channel, message: Message) -> None:
        said = events.said(channel, message)
        is_mention = channel.kind != "im" and events.mentions(team, message.body["text"])
        if not is_mention or message.bot == team.bot_id:
            self.tell(team, channel, said)
            return
        pair = [(self._tell_mention, events.mentioned(channel, message)), (self.tell, said)]
        if self.swaps_pairs:
            pair.reverse()
        for delay, (tell, event) in zip((0.0, self.pair_delay), pair, strict=True):
            tell(team, channel, event, delay)

    def _tell_mention(self, team: Team, channel: Channel, event: dict[str, Any], after: float = 0.0) -> None:
        if team.bot_user in channel.members and "app_mentions:read" in self.site.scopes:
            self.send(team, event, after)


def _key(metadata: dict[str, Any] | None) -> str:
    return str((metadata or {}).get("event_payload", {}).get("key", ""))
