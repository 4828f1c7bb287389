"""Knows how a draft becomes a schedule, and what none is made of: each refusal says what would work."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from hermes_bot import timing
from hermes_bot.access import Pattern, Where
from hermes_bot.errors import AdapterError, ConfigError, ScheduleError, SkillError
from hermes_bot.messages import NEW, Request, ThreadKey
from hermes_bot.schedules import rights
from hermes_bot.schedules.due import due_of
from hermes_bot.schedules.targets import channel_in, new_thread, said_of
from hermes_bot.skills.params import Words, fill, merge, take
from hermes_bot.store.columns import channel_of
from hermes_bot.store.schedules import Schedule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from hermes_bot.schedules.drafts import Draft
    from hermes_bot.schedules.rooms import Rooms
    from hermes_bot.skills.chain import Parameter
    from hermes_bot.skills.params import Filled

REACH_SECONDS = 5.0  # a platform that takes longer to say whether we can post there is not waited for
NOT_ASKED = "No daemon runs, so whether I can post there shows when it fires."
SHOWN = 3  # planned moments
LOOKED_AT = 400  # planned moments among which those outside its quiet hours and holidays are looked for
MOST_TARGETS = 20
MADE_CHARS = 30  # of a name that nobody chose
MOST_TEXT = 4_000
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")
_ODD = re.compile(r"[^a-z0-9]+")
_PARTS = 3


def schedule_of(rooms: Rooms, draft: Draft, now: datetime) -> Schedule:
    """Return what a draft means; what it points at is not looked for.

    Raises:
        ScheduleError: it means nothing, or two things.
    """
    zone = draft.zone or rooms.zone
    targets = draft.targets or ((channel_of(ThreadKey.parse(draft.thread)),) if draft.thread else ())
    found = (_with_topic(rooms, draft, target_of(rooms, text)) for text in targets)
    rule = timing.read_rule(draft.when, zone, now)
    return Schedule(
        draft.name or _made_name(draft),
        str(rule),
        zone,
        tuple(dict.fromkeys(found)),
        draft.owner,
        now,
        now,
        Request(draft.skill, dict(draft.params), draft.profile),
        draft.text.strip(),
        draft.when,
        draft.terms,
        draft.owner_name,
        draft.origin,
        draft.thread,
    )


def target_of(rooms: Rooms, text: str) -> str:
    """Return a channel as columns write it, ``slack/T1/C1``, by the id it has today.

    Raises:
        ScheduleError: it is no channel's id, or of a platform that is not on.
    """
    text = text.strip()
    if ":" in text and not text.endswith("*"):
        pattern = Pattern.parse(text)
        platform, workspace, channel = pattern.platform, pattern.workspace or "", pattern.id
    elif text.count("/") >= _PARTS - 1:
        platform, workspace, channel = text.split("/", _PARTS - 1)
    else:
        raise ScheduleError(f"{text!r} is no channel's id. One looks like slack:T1:C1 or telegram:-1001.")
    adapter = rooms.adapters.get(platform)
    if adapter is None:
        on = " and ".join(sorted(rooms.adapters)) or "none"
        raise ScheduleError(f"{text}: the platform {platform!r} is not on here. Those that are: {on}.")
    channel, _, topic = channel.partition("/")
    where = rooms.policy.today(Where(platform, workspace or adapter.workspace or "-", channel))
    target = f"{where.platform}/{where.workspace}/{where.channel}" + (f"/{topic}" if topic else "")
    if topic and adapter.topic_of(new_thread(target, "")) != topic:
        raise ScheduleError(
            f"{text}: {topic!r} is no topic's id there. Name the channel alone: {said_of(channel_in(target))}"
        )
    return target


def _with_topic(rooms: Rooms, draft: Draft, target: str) -> str:
    """Return a target in the topic that it is asked for in, where it names the channel of that."""
    asked = ThreadKey.parse(draft.thread) if draft.thread else None
    if asked is None or target != channel_of(asked) or asked.platform not in rooms.adapters:
        return target
    topic = rooms.adapters[asked.platform].topic_of(asked)
    return f"{target}/{topic}" if topic else target


async def planned(
    rooms: Rooms, one: Schedule, now: datetime, *, asks: bool = True
) -> tuple[Schedule, tuple[datetime, ...], str]:
    """Return a schedule with its next planned moment, the next three, and what could not be looked at.

    ``asks``: the platforms are there to say whether the bot can post in a place.

    Raises:
        ScheduleError: it cannot be: it never fires, its skill or a target is not there, it may not.
    """
    one, moments = sound(rooms, one, now)
    found = await rooms.db.read(lambda db: rights.places(db, one))
    verdict = rights.may_make(rooms.policy, one, found)
    if not verdict.ok:
        raise ScheduleError(verdict.why)
    if len(found) > 1 and found[0].kind != "channel":  # it works there, and would keep its report there
        private = said_of(one.targets[0])
        raise ScheduleError(
            f"{private} is private: nothing of it is posted elsewhere. Name it last, or alone."
        )
    if not asks:
        return one, moments, NOT_ASKED
    warnings = [said for where in found if (said := await _out_of_reach(rooms, where))]
    return one, moments, " ".join(warnings)


def sound(rooms: Rooms, one: Schedule, now: datetime) -> tuple[Schedule, tuple[datetime, ...]]:
    """Return a schedule with its next planned moment, and the next three, as far as it says so itself.

    Raises:
        ScheduleError: as ``planned``, but for what has to be looked up.
    """
    moments = _moments(one, now)
    _check_work(rooms, one, now)
    if not one.targets:
        raise ScheduleError("Nobody would see it: name a channel, such as slack:T1:C1 or telegram:-1001.")
    if len(one.targets) > MOST_TARGETS:
        raise ScheduleError(f"It names {len(one.targets)} channels; {MOST_TARGETS} is the most.")
    if not _NAME.match(one.name):
        raise ScheduleError(
            f"{one.name[:60]!r} is no name: use up to 40 lower-case letters, digits and hyphens, such as "
            "error-digest."
        )
    first = replace(one, planned_at=moments[0])
    return replace(first, due_at=due_of(first, moments[0])), moments


def _moments(one: Schedule, now: datetime) -> tuple[datetime, ...]:
    """Return the next moments at which something would be done."""
    rule, calendar = timing.Rule.parse(one.rule), timing.Calendar.parse(one.terms.quiet, one.terms.holidays)
    coming = list(islice(timing.occurrences(rule, one.zone, now), LOOKED_AT))
    if not coming:
        raise ScheduleError(f"“{one.said or one.rule}” never comes again. Say a time that is still to come.")
    met = tuple(islice((at for at in coming if not calendar.closed(at, one.zone)), SHOWN))
    if not met:
        why = calendar.closed(coming[0], one.zone)
        raise ScheduleError(f"It would never do anything: every planned time is left out ({why}).")
    return met


def _check_work(rooms: Rooms, one: Schedule, now: datetime) -> None:
    if not one.request.skill and not one.text:
        raise ScheduleError("There is nothing to do: name a skill, or say the task in words.")
    if len(one.text) > MOST_TEXT:
        raise ScheduleError(f"Its task has {len(one.text):,} characters; {MOST_TEXT:,} is the most.")
    try:
        rooms.check(one.request)
    except ConfigError as error:
        raise ScheduleError(str(error)) from error
    if one.request.skill:
        check_skill(rooms, one, now)
    elif one.request.params:
        raise ScheduleError("It names parameters, but no skill that takes them.")


def check_skill(rooms: Rooms, one: Schedule, now: datetime) -> None:
    """Look whether a schedule's skill is there and has all that it would have to ask for.

    Raises:
        ScheduleError: it is not.
    """
    _, filled = _filled(rooms, one, now)
    for name, problem in filled.problems.items():
        near = filled.suggestions.get(name, ())
        hint = f" Did you mean {' or '.join(near[:3])}?" if near else ""
        raise ScheduleError(f"{one.request.skill}: {problem}{hint}")
    if filled.missing:
        lacks = " and ".join(filled.missing)
        given = " ".join(f"{name}=VALUE" for name in filled.missing)
        raise ScheduleError(
            f"{one.request.skill} needs {lacks}, and nobody is there to be asked: say {given}."
        )


def lacking(rooms: Rooms, one: Schedule, now: datetime) -> Parameter | None:
    """Return the first thing that a schedule's skill would have to ask for; None where it has all.

    Raises:
        ScheduleError: there is no such skill, or it has no such parameter.
    """
    if not one.request.skill:
        return None
    parameters, filled = _filled(rooms, one, now)
    missing = [it for it in parameters if it.name in filled.missing and it.name not in filled.problems]
    return None if filled.problems else next(iter(missing), None)


def _filled(rooms: Rooms, one: Schedule, now: datetime) -> tuple[Sequence[Parameter], Filled]:
    """Return the parameters of a schedule's skill, and what its firings will know of them."""
    try:
        skill = rooms.registry.find(one.request.skill)
    except SkillError as error:
        raise ScheduleError(str(error)) from error
    parameters = skill.chain.parameters if skill.chain else ()
    names = [it.name for it in parameters]
    if unknown := [name for name in one.request.params if name not in names]:
        takes = f"It takes: {', '.join(names)}." if names else "It takes none."
        raise ScheduleError(f"{skill.name} has no parameter {unknown[0]!r}. {takes}")
    words = Words(now, ZoneInfo(one.zone), rooms.options)
    filled = take(parameters, one.request.params, words)
    if one.text:  # a run reads what it lacks out of its task's words
        rest = [it for it in parameters if it.name not in filled.values and it.name not in filled.problems]
        filled = merge(parameters, fill(rest, one.text, words), filled)
    return parameters, filled


async def _out_of_reach(rooms: Rooms, where: Where) -> str:
    """Return a warning where a platform cannot be asked just now whether the bot can post in a place."""
    adapter = rooms.adapters[where.platform]
    thread = ThreadKey(where.platform, where.workspace, where.channel, f"{NEW}reach")
    try:
        async with asyncio.timeout(REACH_SECONDS):
            why = await adapter.reach(thread)
    except (AdapterError, TimeoutError) as error:
        said = str(error) or "it did not answer in time"
        return f"I could not ask {where.platform} whether I can post in {where}: {said.rstrip('.')}."
    if why:
        raise ScheduleError(f"I cannot post in {where}: {why}")
    return ""


def _made_name(draft: Draft) -> str:
    words = _ODD.sub("-", (draft.skill or draft.text).lower()).strip("-")
    if len(words) > MADE_CHARS:
        words = words[: MADE_CHARS + 1].rpartition("-")[0] or words[:MADE_CHARS]
    return words or "task"


def free_name(wanted: str, taken: set[str]) -> str:
    """Return a name that is free: the wanted one, else with the first free number behind it."""
    return next(name for name in _numbered(wanted) if name not in taken)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name[:36]}-{number}"
        number += 1
