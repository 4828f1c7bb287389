"""Knows what a message event means: which are for the core, and how they look there. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hermes_bot.messages import Earlier, Incoming, IncomingKind, Place, ThreadKey
from hermes_slack import content
from hermes_slack.texts import mentions, without_mention

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_slack.wire import Message
    from hermes_slack.workspaces import Identity

PLATFORM = "slack"

# platforms.md 5.3: an allow-list, because Slack invents new ones; ``bot_message`` is for the bots' list
_SAID = frozenset({None, "file_share", "thread_broadcast", "me_message", "bot_message"})
_NOBODY = frozenset({"USLACKBOT", "USLACK"})
_KINDS: Mapping[str, Place] = {"channel": "channel", "im": "direct"}  # all else is a closed circle
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Site:
    """What an event is read with.

    Attributes:
        team: the workspace whose channels these are; the identity's own, but for an organisation's app.
        bots: the other programs that may speak to us.
        places: who reads a channel, by ``team/channel``; for what an event does not say.
        names: of people and channels, by id.
    """

    me: Identity
    team: str
    bots: frozenset[str] = frozenset()
    places: Mapping[str, Place] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def thread(self, channel: str, root: str) -> ThreadKey:
        """Return the thread of a root."""
        return ThreadKey(PLATFORM, self.team, channel, root)

    def place(self, channel: str, channel_type: str | None) -> Place:
        """Return who reads a channel; one that nobody described yet counts as open."""
        if channel_type:
            return _KINDS.get(channel_type, "private")
        return self.known_place(channel) or "channel"

    def known_place(self, channel: str) -> Place | None:
        """Return who reads a channel where that was learnt."""
        return self.places.get(f"{self.team}/{channel}")


def moment(ts: str) -> datetime:
    """Return the moment of a ``ts``, in UTC; a ``ts`` never goes through a float.

    Raises:
        ValueError: it is none.
    """
    seconds, _, micros = ts.partition(".")
    return _EPOCH + timedelta(seconds=int(seconds), microseconds=int((micros + "000000")[:6]))


def order(ts: str) -> tuple[int, int]:
    """Return what sorts messages of one channel in their order."""
    seconds, _, micros = ts.partition(".")
    return int(seconds), int(micros or 0)


def person(site: Site, message: Message) -> str:
    """Return the stable identity of an author; in a shared channel it is of the author's own workspace.

    A program has two, its bot's and its user's: it is called by the one that the access list has.
    """
    if message.bot_id and (listed := site.bots & _identities(message, site)):
        return min(listed)
    if message.bot_id and not message.user:
        return f"{PLATFORM}:{site.team}:{message.bot_id}"
    team = message.user_team or message.source_team or message.team or site.team
    if team == site.me.enterprise:
        team = site.team
    return f"{PLATFORM}:{team}:{message.user}" if message.user else ""


def read(event: Message, event_id: str, site: Site) -> Incoming | None:
    """Return what the core is handed of a message event; None where it is not for us."""
    if event.type == "message" and event.subtype == "message_changed":
        return _changed(event, event_id, site)
    if event.type == "message" and event.subtype == "message_deleted":
        return _deleted(event, event_id, site)
    if event.subtype not in _SAID or not _may_speak(event, site):
        return None
    return _said(event, event_id, site)


def _may_speak(message: Message, site: Site) -> bool:
    """Return whether an author counts: people do, programs only where they are listed, we never."""
    if is_ours(message, site) or message.user in _NOBODY:
        return False
    if message.bot_id or message.subtype == "bot_message":
        return not site.bots.isdisjoint(_identities(message, site))
    return bool(message.user)


def is_ours(message: Message, site: Site) -> bool:
    """Return whether our own bot wrote it."""
    return message.user == site.me.user or bool(message.bot_id and message.bot_id == site.me.bot)


def _identities(message: Message, site: Site) -> set[str]:
    return {f"{PLATFORM}:{site.team}:{one}" for one in (message.bot_id, message.user) if one}


def _said(event: Message, event_id: str, site: Site) -> Incoming | None:
    raw, root = event.text or "", event.thread_ts or event.ts
    place = site.place(event.channel, event.channel_type)
    is_mention = event.type == "app_mention" or mentions(raw, site.me.user)
    is_addressed = is_mention or place == "direct"
    if not is_addressed and root == event.ts:
        return None  # chatter at a channel's top is nobody's business of ours
    # an edit that brings the mention counts from the edit on; the core drops it where the message was handled
    at = event.edited.ts if event.edited and event.edited.ts else event.ts
    return Incoming(
        event_id=event_id,
        thread=site.thread(event.channel, root),
        user=person(site, event),
        text=_task(event, site),
        sent_at=moment(at),
        message_id=event.ts,
        user_name=_name(event, site),
        addressed=is_addressed,
        files=content.files(event, site.team),
        place=place,
        joins=root != event.ts,
        is_bot=bool(event.bot_id),
        quotes=bool(event.attachments),
    )


def _task(message: Message, site: Site) -> str:
    return content.content(message, without_mention(message.text or "", site.me.user), site.names)


def _name(message: Message, site: Site) -> str:
    return site.names.get(message.user or message.bot_id or "", message.username or "")


def _changed(event: Message, event_id: str, site: Site) -> Incoming | None:
    """Read a change: a real edit by a person, or a root that is gone; previews and counts are neither."""
    new, old = event.message, event.previous_message
    if new is None or not new.ts:
        return None
    if new.subtype == "tombstone":
        return _gone(old if old is not None and old.user else new, new.ts, (event, event_id), site)
    is_edit = new.edited is not None and (old is None or (new.text or "") != (old.text or ""))
    if not is_edit or new.subtype not in _SAID or not _may_speak(new, site):
        return None
    edit = _about(new, (event, event_id), site, "edit")
    was_addressed = mentions((old and old.text) or "", site.me.user)
    return edit if edit.addressed or edit.joins or was_addressed else None


def _deleted(event: Message, event_id: str, site: Site) -> Incoming | None:
    return _gone(event.previous_message or event, event.deleted_ts or "", (event, event_id), site)


def _gone(old: Message, ts: str, about: tuple[Message, str], site: Site) -> Incoming | None:
    if not ts or is_ours(old, site):
        return None
    return _about(old.model_copy(update={"ts": ts, "text": ""}), about, site, "delete")


def _about(subject: Message, about: tuple[Message, str], site: Site, kind: IncomingKind) -> Incoming:
    """Return what is said about a message by an event and its id."""
    event, event_id = about
    root = subject.thread_ts or subject.ts
    place = site.place(event.channel, event.channel_type)
    return Incoming(
        event_id=event_id,
        thread=site.thread(event.channel, root),
        user=person(site, subject),
        text=_task(subject, site),
        sent_at=moment(event.ts or subject.ts),
        message_id=subject.ts,
        user_name=_name(subject, site),
        kind=kind,
        addressed=place == "direct" or mentions(subject.text or "", site.me.user),
        place=place,
        joins=root != subject.ts,
        is_bot=bool(subject.bot_id),
    )


def earlier(message: Message, site: Site) -> Earlier | None:
    """Return what a message of a thread's history said; None where it says nothing."""
    text = _task(message, site)
    if not text or not message.ts or message.subtype == "tombstone":
        return None
    is_person = bool(message.user) and not message.bot_id
    return Earlier(
        message_id=message.ts,
        user=person(site, message) if is_person else "",
        user_name=_name(message, site),
        text=text,
        sent_at=moment(message.ts),
        from_bot=is_ours(message, site),
    )
