"""Knows what people are told of schedules by commands, and what they change of them so.

In a channel people see what reports there and what is their own; who manages schedules sees all. What is
planned for another channel, which may be private, is told only where the asker alone reads it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.access import Where
from hermes_bot.errors import ScheduleError
from hermes_bot.schedules.moments import moment
from hermes_bot.schedules.rendering import details_of, history_of, line_of
from hermes_bot.schedules.sentences import HELP
from hermes_bot.schedules.targets import channel_in
from hermes_bot.store.columns import channel_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_bot.gate import Gate
    from hermes_bot.messages import Incoming
    from hermes_bot.schedules import Schedules
    from hermes_bot.store.schedules import Schedule

SHOWN = 30
DOES = {
    "add": "plan something: schedule add weekdays at 9 run error-digest",
    "list": "what is planned here, and what is yours; list all for who manages schedules",
    "show": "all about one: schedule show NAME",
    "history": "what became of its last times: schedule history NAME",
    "pause": "have it do nothing until resumed: schedule pause NAME",
    "resume": "have it go on from its next time: schedule resume NAME",
    "run": "do it now, beside what is planned: schedule run NAME",
    "remove": "end it for good: schedule remove NAME",
}
_CHANGES = ("pause", "resume", "run", "remove")


@dataclass(frozen=True, slots=True)
class ScheduleCommands:
    """Answers ``schedule …``.

    Attributes:
        is_alone: says whether the reply to a message reaches its author alone.
    """

    door: Schedules
    gate: Gate
    is_alone: Callable[[Incoming], bool]

    async def told(self, args: Sequence[str], said: Incoming) -> str:
        """Return the answer to ``schedule`` and its words; ``add`` with something to plan is a task."""
        verb, *rest = [word.lower() for word in args] or ["list"]
        if verb == "list":
            return await self._list(said, wants_all=rest[:1] == ["all"])
        if verb in ("help", "add"):
            return HELP if verb == "add" else _help()
        if verb not in DOES:
            return _unknown(verb)
        if len(rest) != 1:
            return f"Name one schedule: `schedule {verb} NAME`. `schedule list` shows them."
        try:
            return await (self._changed if verb in _CHANGES else self._shown)(verb, rest[0], said)
        except ScheduleError as error:
            return str(error)

    async def _list(self, said: Incoming, *, wants_all: bool) -> str:
        here = channel_of(said.thread)
        if wants_all:
            where = Where.of(said.thread, said.place)
            verdict = await self.gate.may(said.user, "manage", where, "schedules")
            if not verdict.ok:
                return f"`schedule list all` is for who manages schedules. {verdict.why}".strip()
            if not self._is_private(said):
                return "That is not for everybody here. Ask me in a private chat: `schedule list all`."
        every = await self.door.all()
        known = [one for one in every if wants_all or _is_in(one, here) or _is_of(one, said)]
        shown = [one for one in known if self._may_be_shown(one, said)]
        lines = [line_of(one, here) for one in shown[:SHOWN]]
        if (more := len(shown) - SHOWN) > 0:
            lines.append(f"_… and {more} more._")
        if hidden := len(known) - len(shown):
            lines.append(f"_{hidden} of yours report elsewhere; ask me in a private chat._")
        if not lines:
            return "Nothing is planned here. For example: `schedule add weekdays at 9 run error-digest`"
        return "\n".join(lines)

    async def _shown(self, verb: str, name: str, said: Incoming) -> str:
        one = await self._find(name, said, self._may_be_shown)
        here = channel_of(said.thread)
        if verb == "history":
            return history_of(one, await self.door.history(one.name))
        past = await self.door.history(one.name, 1)
        return details_of(one, here, past[0] if past else None)

    async def _changed(self, verb: str, name: str, said: Incoming) -> str:
        one = await self._find(name, said, self._may_be_known)
        where = Where.of(said.thread, said.place)
        if not self.door.may_change(said.user, one, where).ok:
            verdict = await self.gate.may(said.user, "manage", where, f"schedule/{one.name}")
            return f"`{one.name}` is not yours. {verdict.why}".strip()
        match verb:
            case "pause":
                await self.door.pause(one.name, said.user, f"{_name(said)} paused it.")
                return f"**{one.name}** is paused. `schedule resume {one.name}` has it go on."
            case "resume":
                fresh = await self.door.resume(one.name, said.user)
                coming = f" Next: {moment(fresh.planned_at, fresh.zone)}." if fresh.planned_at else ""
                return f"**{one.name}** goes on.{coming} What was passed over is not made up for."
            case "remove":
                await self.door.remove(one.name, said.user)
                return f"**{one.name}** is removed."
            case _:
                await self.door.run_now(one.name, said.user)
                return f"**{one.name}** runs now; its report comes where it always does."

    async def _find(self, name: str, said: Incoming, may: Callable[[Schedule, Incoming], bool]) -> Schedule:
        """Return the schedule of a name among those that somebody may know of.

        Raises:
            ScheduleError: there is none; names the nearest of these.
        """
        wanted = name.strip("`").lower()
        known = {one.name: one for one in await self.door.all() if may(one, said)}
        if wanted in known:
            return known[wanted]
        near = difflib.get_close_matches(wanted, known, 1, 0.5)
        hint = f"Did you mean `{near[0]}`?" if near else "`schedule list` shows what is planned."
        raise ScheduleError(f"I know no schedule {wanted[:60]!r} here. {hint}")

    def _may_be_shown(self, one: Schedule, said: Incoming) -> bool:
        """Whether the reply to a message may say what a schedule does and where."""
        if _is_in(one, channel_of(said.thread)):
            return True
        return self._is_private(said) and self._may_be_known(one, said)

    def _may_be_known(self, one: Schedule, said: Incoming) -> bool:
        """Whether somebody may know at all that there is such a schedule."""
        is_here = _is_in(one, channel_of(said.thread))
        return is_here or self.door.may_change(said.user, one, Where.of(said.thread, said.place)).ok

    def _is_private(self, said: Incoming) -> bool:
        return said.place == "direct" or self.is_alone(said)


def _is_in(one: Schedule, channel: str) -> bool:
    return any(channel_in(target) == channel for target in one.targets)


def _is_of(one: Schedule, said: Incoming) -> bool:
    return bool(said.user) and one.owner == said.user


def _name(said: Incoming) -> str:
    return said.user_name or said.user or "Somebody"


def _help() -> str:
    return "\n".join([*(f"- `{name}`: {does}" for name, does in DOES.items()), "", HELP])


def _unknown(verb: str) -> str:
    near = difflib.get_close_matches(verb, DOES, 1, 0.5)
    hint = f"Did you mean `schedule {near[0]}`?" if near else f"There are: {', '.join(DOES)}."
    return f"I know no `schedule {verb[:40]}`. {hint} To plan something, begin with `schedule add`."
