"""Knows the sections of what happens without a person asking: schedules, webhooks, the server for these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hermes_bot.keys import Patterns, PlaceName, Places, Zone
from hermes_bot.sections.section import Section


def _one_channel(text: str) -> str:
    if text.endswith("*"):
        raise ValueError(f"{text!r} is no one channel")
    return text


Channel = Annotated[PlaceName, AfterValidator(_one_channel)]
Named = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]


class ScheduleSection(Section):
    """``[schedules.NAME]``: a skill or a task at planned times, its answer posted to channels (design §11).

    Attributes:
        when: a cron expression, ``@daily``, ``every 90m``, a moment (ISO 8601) or plain words.
        zone: whose clock that means; without one the team's.
        channels: where it is reported, by ids like those of ``[access]``; a topic of
            Telegram as ``telegram:-1002/5``.
        text: the task, where ``skill`` names none.
        missed: what becomes of moments at which no daemon ran: none is made up for, one report for all, or
            each, the last ``most`` of them.
        overlap: of a moment at which the last run still works: left out, done after it, or beside it.
        jitter: seconds, up to which each firing is put off by chance.
        quiet: ``22:00-07:00``: what is planned inside fires nothing.
        holidays: a country, or ``DE-BY`` with its part, whose public holidays fire nothing.
        only_on_change: what reads as it did last time is not posted.
        alert_after: so many failures in a row, and the owner is told; 0 never.
        pause_after: so many, and it is paused; 0 never.
        owner: whose rights it has; without one the machine's owner.
        escalate_to: who is told where nobody answers what it asks; people's ids.
    """

    when: str
    zone: Zone = ""
    channels: Places = ()
    skill: str = ""
    params: dict[str, str] = Field(default_factory=dict)
    text: str = ""
    profile: str = ""
    missed: Literal["skip", "once", "all"] = "once"
    most: int = Field(default=5, ge=1, le=100)
    overlap: Literal["skip", "queue", "parallel"] = "skip"
    jitter: float = Field(default=0.0, ge=0, le=3_600)
    quiet: str = ""
    holidays: str = ""
    only_on_change: bool = False
    alert_after: int = Field(default=3, ge=0)
    pause_after: int = Field(default=10, ge=0)
    owner: str = ""
    escalate_to: Patterns = ()
    paused: bool = False


class WebhookSection(Section):
    """``[webhooks.NAME]``: signed events of another program; each becomes a run in a channel.

    Its secret is ``HERMES_WEBHOOK_NAME_SECRET``, its address ``/hooks/NAME`` at the server of ``[http]``.

    Attributes:
        form: how its body reads.
        channel: where its events are worked on, an id like those of ``[access]``.
        skill: what works on them; without one ``text`` is the task.
        params: the skill's parameters: texts, in which ``{{ event… }}`` stands for the body's values,
            ``{{ alert… }}`` for what every form has; what is not there is empty, an empty one is not given.
        text: the task, filled in the same way; without a skill and a text its events are only shown.
        max_bytes: of a body.
        window_seconds: how old, and how far ahead, a signature's moment may be.
        bearer: ``Authorization: Bearer`` with the secret is enough, for senders that cannot sign.
        most_threads: begun in ten minutes; further alerts are listed together, and nobody looks into them.
    """

    form: Literal["generic", "alertmanager", "grafana"] = "generic"
    channel: Channel
    skill: str = ""
    params: dict[str, str] = Field(default_factory=dict)
    text: str = ""
    profile: str = ""
    max_bytes: int = Field(default=256 * 1024, ge=1_000, le=8 * 1024 * 1024)
    window_seconds: int = Field(default=300, ge=10, le=3_600)
    bearer: bool = False
    most_threads: int = Field(default=10, ge=1, le=1_000)


class Http(Section):
    """``[http]``: the server that webhooks are sent to; it is on where there is a ``[webhooks.NAME]``."""

    host: str = "127.0.0.1"
    port: int = Field(default=8930, ge=0, le=65_535)


def webhook_variable(name: str) -> str:
    """Return the name of the variable, or systemd credential, that holds a webhook's secret."""
    return f"HERMES_WEBHOOK_{name.upper().replace('-', '_')}_SECRET"
