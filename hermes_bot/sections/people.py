"""Knows the sections of platforms and people: where the bot is, who may, and who must agree."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hermes_bot.keys import Address, Patterns, PlaceName
from hermes_bot.sections.section import Section

RoleName = Literal["guest", "member", "operator", "admin"]


class SlackSection(Section):
    """``[adapters.slack]``: Socket Mode, or a server of our own that Slack posts to (``mode = "http"``)."""

    mode: Literal["socket", "http"] = "socket"
    base_url: Address = "https://slack.com/api/"
    host: str = "127.0.0.1"
    port: int = Field(default=3000, ge=0, le=65_535)
    path: str = Field(default="/slack/events", pattern=r"^/\S*$")


class TelegramSection(Section):
    """``[adapters.telegram]``: long polling, or a server of our own behind ``webhook_url``."""

    mode: Literal["polling", "webhook"] = "polling"
    base_url: Address = "https://api.telegram.org/bot"
    file_base_url: Address = "https://api.telegram.org/file/bot"
    webhook_url: str = ""
    host: str = "127.0.0.1"
    port: int = Field(default=8443, ge=0, le=65_535)
    path: str = Field(default="/telegram", pattern=r"^/\S*$")


class Adapters(Section):
    """``[adapters.NAME]``: a platform is on where its section and its secrets are there."""

    slack: SlackSection | None = None
    telegram: TelegramSection | None = None


class Pacing(Section):
    """``[pacing]``: ``speed`` divides every pace and pause that platforms ask for; 1 with real ones."""

    speed: float = Field(default=1.0, gt=0)


class Access(Section):
    """``[access]``: who may, and where; lists of stable ids like ``slack:T1:U1`` and ``telegram:7``.

    ``*`` stands for any last part (``slack:T1:*``). An empty list is nobody, but for ``members``: where that
    is empty, everybody in the listed channels is a member. ``bots`` are other programs that may speak to us.

    Attributes:
        answers: who may answer what a run asks: anyone who may speak there, or the asker alone.
        tools: the tools of a role, by name or glob; a role without a list has the list of the one above it.
        places: the tools of a channel, by ``platform:workspace:id``; a channel without a list has all.
        risks: the worst that a role's tools may do; a role without one has that of the one above it.
    """

    admins: Patterns = ()
    operators: Patterns = ()
    members: Patterns = ()
    channels: Patterns = ()
    bots: Patterns = ()
    answers: Literal["anyone", "asker"] = "anyone"
    tools: dict[RoleName, tuple[str, ...]] = Field(default_factory=dict)
    places: dict[PlaceName, tuple[str, ...]] = Field(default_factory=dict)
    risks: dict[RoleName, Literal["read", "write", "danger"]] = Field(default_factory=dict)


class Approval(Section):
    """Who must agree before an action runs.

    Attributes:
        role: from which on somebody may approve; ``people`` may in any case.
        approvers: how many different people must agree.
        separate: whoever gave the task, or added to it, is none of them.
        always: nobody is asked; only the operator's file can say so.
    """

    role: Literal["member", "operator", "admin"] = "operator"
    people: Patterns = ()
    approvers: int = Field(default=1, ge=1, le=9)
    separate: bool = False
    always: bool = False


class Approvals(Section):
    """``[approvals]``: who consents to what is dangerous; by tool, else by channel, else for all.

    ``[approvals.default]``, ``[approvals.tools."deploy.*"]`` (a name or a glob, the first that fits) and
    ``[approvals.places."slack:T1:C1"]`` hold the same keys.
    """

    expires_hours: float = Field(default=24.0, gt=0)
    default: Approval = Approval()
    tools: dict[str, Approval] = Field(default_factory=dict)
    places: dict[str, Approval] = Field(default_factory=dict)
