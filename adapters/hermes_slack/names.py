"""Knows what people are called, and who reads a channel; it is learnt beside the way, never before an ack."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

from hermes_bot.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from hermes_bot.messages import Place
    from hermes_bot.ports import Records
    from hermes_slack.errands import Errands
    from hermes_slack.workspaces import Workspace, Workspaces

log = logging.getLogger(__name__)

PLACE = "place"  # the kind of record: who reads a channel
TYPES = "public_channel,private_channel,mpim,im"
PAGE = 200
PAGES = 5  # of a thousand people or channels at the start; who is beyond is learnt when they come along
MOST = 5_000  # names kept; then they are learnt anew


class Names:
    """What ids stand for.

    Attributes:
        known: names of people and channels, by id.
        places: who reads a channel, by ``team/channel``.
    """

    def __init__(self, workspaces: Workspaces, records: Records, errands: Errands, seconds: float) -> None:
        self._seconds = seconds
        self._workspaces = workspaces
        self._records = records
        self._errands = errands
        self._asked: set[str] = set()
        self.known: dict[str, str] = {}
        self.places: dict[str, Place] = {}
        self._kept: dict[str, Place] = {}

    async def load(self) -> None:
        """Read what was learnt in earlier lives, and what Slack tells of everybody at once."""
        for channel, place in (await self._records.all(PLACE)).items():
            self.places[channel] = self._kept[channel] = cast("Place", place)
        try:
            async with asyncio.timeout(self._seconds):
                for workspace in self._workspaces:
                    await self._load_channels(workspace)
                    await self._load_people(workspace)
        except TimeoutError:
            log.info("slack.names_cut_short")

    async def _load_channels(self, workspace: Workspace) -> None:
        """Learn of the conversations we are in; a mention alone does not say who reads it."""
        args = {"types": TYPES, "exclude_archived": True, "limit": PAGE}
        async for channel in self._all(workspace, "users.conversations", args, "channels"):
            self.met(str(channel["id"]), str(channel.get("name") or ""))
            self.places[f"{workspace.identity.team}/{channel['id']}"] = _place(channel)

    async def _load_people(self, workspace: Workspace) -> None:
        async for person in self._all(workspace, "users.list", {"limit": PAGE}, "members"):
            self.met(str(person["id"]), _name(person))

    async def _all(
        self, workspace: Workspace, method: str, args: Mapping[str, Any], key: str
    ) -> AsyncIterator[Mapping[str, Any]]:
        try:
            async for answer in workspace.api.pages(method, args, PAGES):
                for one in answer.get(key) or ():
                    if isinstance(one, dict) and one.get("id"):
                        yield one
        except AdapterError as error:  # what is not known is learnt when it comes along
            log.info("slack.unlearnt", extra={"method": method, "error": str(error)})

    def met(self, user: str, name: str) -> None:
        """Note a name that came along."""
        if name:
            self._trim()
            self.known[user] = name

    def seen(self, team: str, channel: str, place: Place) -> None:
        """Note who reads a channel, as an event or Slack itself says."""
        key = f"{team}/{channel}"
        self.places[key] = place
        if self._kept.get(key) != place:
            self._kept[key] = place
            self._errands.start("keep_place", self._records.put(PLACE, key, place))

    def called(self, team: str, name: str) -> str:
        """Return the id of an open channel by its name; what is closed is not to be found by guessing."""
        wanted = name.lower()
        open_ones = (key.partition("/") for key, place in self.places.items() if place == "channel")
        ids = (channel for its, _, channel in open_ones if its == team)
        return next((id_ for id_ in ids if self.known.get(id_, "").lower() == wanted), "")

    def want_person(self, team: str, user: str) -> None:
        """Learn a person's name soon, where it is not known."""
        if user and user not in self.known and user not in self._asked:
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
        for user in users - self.known.keys() - self._asked:
            self._asked.add(user)
            await self._learn_person(team, user)

    async def _learn_person(self, team: str, user: str) -> None:
        found = await self._ask(team, "users.info", {"user": user})
        self.met(user, _name(found.get("user") or {}))

    async def _learn_place(self, team: str, channel: str) -> None:
        await self.learn_place(team, channel)

    async def learn_place(self, team: str, channel: str) -> Place:
        """Ask who reads a channel; one that nobody describes counts as open."""
        if f"{team}/{channel}" not in self.places:
            found = (await self._ask(team, "conversations.info", {"channel": channel})).get("channel")
            if found:
                self.met(channel, str(found.get("name") or ""))
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
        if len(self.known) > MOST or len(self._asked) > MOST:
            self.known.clear()
            self._asked.clear()


def _name(person: Mapping[str, Any]) -> str:
    profile = person.get("profile") or {}
    return str(profile.get("display_name") or person.get("real_name") or person.get("name") or "")


def _place(channel: Mapping[str, Any]) -> Place:
    if channel.get("is_im"):
        return "direct"
    return (
        "private"
        if channel.get("is_private") or channel.get("is_mpim") or channel.get("is_group")
        else "channel"
    )
