"""Knows the workspaces the bot is installed in: who it is there, and the token it calls with.

One app serves several workspaces over one connection; each has a token of its own. An organisation's
installation has one token for all its workspaces.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.errors import PlaceGone
from hermes_slack.wire import Me

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_slack.api import Answer, Api


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is in one workspace, as ``auth.test`` says.

    Attributes:
        user: the user people mention.
        bot: the bot record that its posts carry.
        enterprise: the organisation the workspace belongs to; empty outside one.
        serves_all: it is installed in the whole organisation.
        scopes: what its token may; empty where Slack does not say.
    """

    team: str
    user: str
    bot: str
    name: str = ""
    team_name: str = ""
    enterprise: str = ""
    serves_all: bool = False
    scopes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, answer: Answer) -> Identity:
        """Read the answer of ``auth.test``.

        Raises:
            ValueError: it names no user or team.
        """
        me = Me.model_validate(answer.data)
        granted = answer.headers.get("x-oauth-scopes") or ""
        scopes = frozenset(scope.strip() for scope in granted.split(",") if scope.strip())
        return cls(
            me.team_id,
            me.user_id,
            me.bot_id,
            me.user,
            me.team,
            me.enterprise_id or "",
            me.is_enterprise_install,
            scopes,
        )

    def __str__(self) -> str:
        return f"{self.name or 'bot'} ({self.user}) in {self.team_name or 'workspace'} ({self.team})"


@dataclass(frozen=True, slots=True)
class Workspace:
    """One installation."""

    identity: Identity
    api: Api = field(repr=False)


class Workspaces:
    """Every installation, by team."""

    def __init__(self, found: list[Workspace]) -> None:
        self._by_team = {one.identity.team: one for one in found}
        self._by_enterprise = {one.identity.enterprise: one for one in found if one.identity.serves_all}

    def __iter__(self) -> Iterator[Workspace]:
        return iter(self._by_team.values())

    def __len__(self) -> int:
        return len(self._by_team)

    def find(self, team: str, enterprise: str = "") -> Workspace | None:
        """Return the installation that serves a team: its own, or its organisation's.

        Where nobody says which organisation a team belongs to, it is of the one we have.
        """
        if found := self._by_team.get(team):
            return found
        if enterprise or len(self._by_enterprise) != 1:
            return self._by_enterprise.get(enterprise)
        return next(iter(self._by_enterprise.values()))

    def get(self, team: str) -> Workspace:
        """Return the installation that serves a team.

        Raises:
            PlaceGone: there is none.
        """
        found = self.find(team)
        if found is None:
            raise PlaceGone(f"I have no bot token for the Slack workspace {team}.")
        return found

    def drop(self, team: str) -> None:
        """Forget an installation that was taken away."""
        gone = self._by_team.pop(team, None)
        if gone is not None:
            self._by_enterprise.pop(gone.identity.enterprise, None)
