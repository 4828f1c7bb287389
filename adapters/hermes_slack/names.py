"""Knows what people are called, and who reads a channel; it is learnt beside the way, never before an ack."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from hermes_bot.errors import AdapterError
from hermes_slack.reading import PLATFORM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.messages import Place
    from hermes_bot.ports import Records
    from hermes_slack.errands import Errands
    from hermes_slack.workspaces import Workspaces

log = logging.getLogger(__name__)

PLACE = "place"  # the kind of record: who reads a channel
MOST = 5_000  # names kept; then they are learnt anew


class Names:
    """What ids stand for.

    Attributes:
        people: names by id.
        places: who reads a channel, by ``team/channel``.
    """

    def __init__(self, workspaces: Workspaces, records: Records, errands: Errands) -> None:
        self._workspaces = workspaces
        self._records = records
        self._errands = errands
        self._asked: set[str] = set()
        self.people: dict[str, str] = {}
        self.places: dict[str, Place] = {}

    async def load(self) -> None:
        """Read what was learnt in earlier lives."""
        for channel, place in (await self._records.all(PLACE)).items():
            self.places[channel] = cast("Place", place)

    def met(self, user: str, name: str) -> None:
        """Note a name that came along."""
        if name:
            self._trim()
            self.people[user] = name

    def seen(self, team: str, channel: str, place: Place) -> None:
        """Note who reads a channel, as an event or Slack itself says."""
        key = f"{team}/{channel}"
        if self.places.get(key) != place:
            self.places[key] = place
            self._errands.start("keep_place", self._records.put(PLACE, key, place))

    def want_person(self, team: str, user: str) -> None:
        """Learn a person's name soon, where it is not known."""
        if user and user not in self.people and user not in self._asked:
            self._trim()
            self._asked.add(user)
            self._errands.start("learn_name", self._learn_person(team, user))

    def want_place(self, team: str, channel: str) -> None:
        """Learn soon who reads a channel, where it is not known."""
        if f"{team}/{channel}" not in self.places and channel not in self._asked:
            self._asked.add(channel)
            self._errands.start("learn_place", self._learn_place(team, channel))

    async def learn_people(self, team: str, users: set[str]) -> None:
        """Learn the names of some people now, as far as Slack tells."""
        for user in users - self.people.keys() - self._asked:
            self._asked.add(user)
            await self._learn_person(team, user)

    async def _learn_person(self, team: str, user: str) -> None:
        found = await self._ask(team, "users.info", {"user": user})
        person = found.get("user") or {}
        profile = person.get("profile") or {}
        self.met(
            user, str(profile.get("display_name") or person.get("real_name") or person.get("name") or "")
        )

    async def _learn_place(self, team: str, channel: str) -> None:
        await self.learn_place(team, channel)

    async def learn_place(self, team: str, channel: str) -> Place:
        """Ask who reads a channel; one that nobody describes counts as open."""
        if f"{team}/{channel}" not in self.places:
            found = (await self._ask(team, "conversations.info", {"channel": channel})).get("channel")
            if found:
                self.seen(team, channel, _place(found))
        return self.places.get(f"{team}/{channel}", "channel")

    async def _ask(self, team: str, method: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return await self._workspaces.get(team).api.call(method, args)
        except AdapterError as error:
            log.info("slack.unlearnt", extra={"method": method, "error": str(error)})
            self._asked.difference_update(args.values())  # another time perhaps
            return {}

    def _trim(self) -> None:
        if len(self.people) > MOST or len(self._asked) > MOST:
            self.people.clear()
            self._asked.clear()


def _place(channel: Mapping[str, Any]) -> Place:
    if channel.get("is_im"):
        return "direct"
    return (
        "private"
        if channel.get("is_private") or channel.get("is_mpim") or channel.get("is_group")
        else "channel"
    )


def bare(user: str) -> str:
    """Return Slack's id of a person's stable identity; empty where it is none of ours."""
    platform, _, rest = user.partition(":")
    return rest.rpartition(":")[2] if platform == PLATFORM else ""
