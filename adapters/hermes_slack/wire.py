"""Knows the JSON that Slack sends, as far as we read it; unknown fields are none of our business."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

# What JSON of another shape leads to: too large a number and too deep a nesting among it
MALFORMED = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


class Wire(BaseModel):
    """One shape of Slack's JSON. Ids and ``ts`` are strings and stay strings."""

    model_config = ConfigDict(extra="ignore")


class Edited(Wire):
    """By whom and when a message was edited."""

    user: str = ""
    ts: str = ""


class Message(Wire):
    """A message, in an event or in a channel's history, and the event about it.

    Attributes:
        blocks: of any shape; so are ``attachments`` and ``files``: one that is malformed costs itself only.
        message: what ``message_changed`` is about.
    """

    type: str = ""
    subtype: str | None = None
    channel: str = ""
    channel_type: str | None = None
    user: str | None = None
    bot_id: str | None = None
    username: str | None = None
    text: str | None = None
    ts: str = ""
    thread_ts: str | None = None
    team: str | None = None
    user_team: str | None = None
    source_team: str | None = None
    edited: Edited | None = None
    deleted_ts: str | None = None
    blocks: list[Any] | None = None
    attachments: list[Any] | None = None
    files: list[Any] | None = None
    metadata: dict[str, Any] | None = None
    message: Message | None = None
    previous_message: Message | None = None


class Authorization(Wire):
    """The installation an event is delivered for."""

    team_id: str | None = None
    enterprise_id: str | None = None


class Envelope(Wire):
    """What carries an event; which event it is decides how it is read."""

    team_id: str | None = None
    enterprise_id: str | None = None
    event_id: str | None = None
    authorizations: list[Authorization] | None = None
    event: dict[str, Any]

    @property
    def team(self) -> str:
        """The team of the installation; the other fields may name the author's, in a shared channel."""
        first = self.authorizations[0] if self.authorizations else None
        return (first and first.team_id) or self.team_id or ""

    @property
    def enterprise(self) -> str:
        """The organisation of the installation; empty outside one."""
        first = self.authorizations[0] if self.authorizations else None
        return (first and first.enterprise_id) or self.enterprise_id or ""


class Command(Wire):
    """A slash command."""

    team_id: str
    enterprise_id: str | None = None
    channel_id: str
    channel_name: str = ""
    user_id: str
    user_name: str = ""
    command: str
    text: str | None = None
    response_url: str = ""
    trigger_id: str = ""


class Person(Wire):
    """Who pressed, or chose a shortcut."""

    id: str
    name: str = ""
    username: str = ""
    team_id: str | None = None


class Team(Wire):
    """The workspace in which it was done; none where the app is installed in a whole organisation."""

    id: str


class Place(Wire):
    """The channel in which it was done."""

    id: str
    name: str = ""


class Container(Wire):
    """The message with the pressed button; an ephemeral one has no ``message`` of its own."""

    message_ts: str = ""
    channel_id: str = ""
    thread_ts: str | None = None


class Action(Wire):
    """One pressed button."""

    action_id: str = ""
    value: str | None = None
    action_ts: str = ""


class Interaction(Wire):
    """A press (``block_actions``) or a message shortcut (``message_action``)."""

    type: str
    callback_id: str = ""
    trigger_id: str = ""
    response_url: str = ""
    action_ts: str = ""
    user: Person
    team: Team | None = None
    enterprise: dict[str, Any] | None = None
    channel: Place | None = None
    container: Container | None = None
    message: Message | None = None
    actions: list[Action] = Field(default_factory=list)

    @property
    def in_thread(self) -> bool:
        """Whether the message stands in a thread."""
        return bool(self.container and self.container.thread_ts)


class Moved(Wire):
    """A channel got another id."""

    old_channel_id: str
    new_channel_id: str


class Lost(Wire):
    """A channel is gone, or somebody left it; ``user`` is who."""

    type: str
    channel: str
    user: str = ""


class Me(Wire):
    """The answer of ``auth.test``."""

    team_id: str
    user_id: str
    bot_id: str = ""
    user: str = ""
    team: str = ""
    enterprise_id: str | None = None
    is_enterprise_install: bool = False
