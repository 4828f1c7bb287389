"""Knows what may be asked of schedules over the admin socket: made, listed, changed, run, and what became."""

from __future__ import annotations

from dataclasses import asdict, fields
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from hermes_bot import timing
from hermes_bot.admin import AdminError
from hermes_bot.errors import ScheduleError
from hermes_bot.schedules import Draft
from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hermes_bot.ports import Clock, Emit, Op
    from hermes_bot.schedules import Past, Schedules
    from hermes_bot.store.schedules import Schedule

Json = dict[str, Any]
SHOWN = 3  # planned moments
MOST_SHOWN = 100  # firings of a history
_TERMS = {field.name: field for field in fields(Terms)}
_TEXTS = ("when", "zone", "skill", "text", "profile", "name", "owner")


class Host(Protocol):
    """The program, as far as this goes."""

    schedules: Schedules
    clock: Clock

    @property
    def is_local(self) -> bool:
        """Whether it serves this machine alone, for the time of a command."""
        ...


def schedule_ops(host: Host, user: str) -> Mapping[str, Op]:
    """Return the operations by name; ``user`` is who uses this machine."""
    door = host.schedules

    async def check(args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        found = await door.check(_draft(args, user))
        coming = [at.isoformat() for at in found.next]
        return {
            "schedule": told(found.schedule, host.clock.now()) | {"next": coming},
            "warning": found.warning,
        }

    async def add(args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        return {"schedule": told(await door.add(_draft(args, user)), host.clock.now())}

    async def every(args: Mapping[str, Any], emit: Emit) -> Json:
        del args, emit
        return {"schedules": [told(one, host.clock.now()) for one in await door.all()]}

    async def show(args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        one = await door.get(str(args["name"]))
        return {"schedule": told(one, host.clock.now()), "last": await _past(door, one.name, 1)}

    async def history(args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        one = await door.get(str(args["name"]))
        limit = min(int(args.get("limit", 20)), MOST_SHOWN)
        return {"schedule": told(one, host.clock.now()), "firings": await _past(door, one.name, limit)}

    async def change(args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        name = str(args["name"])
        match args["to"]:
            case "pause":
                one = await door.pause(name, user)
            case "resume":
                one = await door.resume(name, user)
            case _:
                one = await door.remove(name, user)
        return {"schedule": told(one, host.clock.now())}

    async def run(args: Mapping[str, Any], emit: Emit) -> Json:
        del emit
        fired = await door.run_now(str(args["name"]), user)
        return {"firing": fired.seq, "is_local": host.is_local}

    return {
        "schedules.check": check,
        "schedules.add": add,
        "schedules.list": every,
        "schedules.show": show,
        "schedules.history": history,
        "schedules.change": change,
        "schedules.run": run,
    }


async def _past(door: Schedules, name: str, limit: int) -> list[Json]:
    return [_firing(past) for past in await door.history(name, limit)]


def _firing(past: Past) -> Json:
    one = past.firing
    return {
        "planned_at": one.planned_at.isoformat(),
        "fired_at": one.at.isoformat(),
        "kind": one.kind,
        "work": one.state,
        "why": one.why,
        "run": one.run,
        "late": one.late,
        "asked_by": one.asked_by,
        "ended_at": one.ended_at.isoformat() if one.ended_at else None,
        "deliveries": [
            {"target": it.target.replace("/", ":"), "state": it.state, "posted": it.posted, "why": it.why}
            for it in past.deliveries
        ],
    }


def told(one: Schedule, now: datetime) -> Json:
    """Return a schedule as it is told: channels as people write them, its rule in words too."""
    try:
        rule = timing.Rule.parse(one.rule)
        words = timing.in_words(rule, one.zone)
        is_active = one.state == "active"
        coming = list(islice(timing.occurrences(rule, one.zone, now), SHOWN)) if is_active else []
    except ScheduleError:  # a row that something else wrote; it is paused when it is due
        words, coming = one.rule, []
    return {
        "name": one.name,
        "state": one.state,
        "why": one.why,
        "when": words,
        "rule": one.rule,
        "said": one.said,
        "zone": one.zone,
        "channels": [target.replace("/", ":") for target in one.targets],
        "skill": one.request.skill,
        "params": dict(one.request.params),
        "text": one.text,
        "profile": one.request.profile,
        "terms": asdict(one.terms),
        "owner": one.owner,
        "origin": one.origin,
        "failures": one.failures,
        "made_at": one.at.isoformat(),
        "planned_at": one.planned_at.isoformat() if one.planned_at else None,
        "next": [at.isoformat() for at in coming],
    }


def _draft(args: Mapping[str, Any], user: str) -> Draft:
    """Return what somebody at this machine asks for.

    Raises:
        AdminError: its terms are of a wrong kind, or none that there are.
    """
    terms = dict(args.get("terms", {}))
    if unknown := [name for name in terms if name not in _TERMS]:
        raise AdminError("bad_request", f"There is no {unknown[0]!r} among a schedule's terms.")
    terms["escalate_to"] = tuple(map(str, terms.get("escalate_to", ())))
    texts = {name: str(args.get(name, "")) for name in _TEXTS}
    texts["owner"] = texts["owner"] or user
    channels = tuple(map(str, args.get("channels", ())))
    params = {str(name): str(value) for name, value in dict(args.get("params", {})).items()}
    return Draft(**texts, targets=channels, params=params, terms=Terms(**terms), origin="shell")
