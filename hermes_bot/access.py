"""Knows who may do what where: roles from stable ids, deny by default; one answer for every surface. Pure.

What a person is called, and what anybody writes, gives no right; only ids do (platforms.md P56). A place
that is not listed gets no word from us, so that nobody learns there who we are and who may ask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hermes_bot.config import Access, Approval
    from hermes_bot.messages import Place, ThreadKey

T = TypeVar("T")
HOOK = "webhook:"  # how the identity of a webhook begins, before its name
Verb: TypeAlias = Literal[
    "ask", "command", "answer", "approve", "stop", "continue", "overspend", "post", "use", "manage"
]
"""What somebody wants: give a task or add to one, read a list, answer a run's question, consent to one exact
action, end a run, have a run go on with a fresh allowance, or beyond a budget that runs share, have the bot
post in a place, use a tool, change what all of a workspace share: its schedules, skills and memory."""


MOVES = 5  # ids of one place that are looked at; a platform changes it once


class Role(IntEnum):
    """What somebody is to the bot, in rising order.

    A guest has no identity that a right could hang on: an anonymous administrator, a channel's own post, a
    program.
    """

    NOBODY = 0
    GUEST = 1
    MEMBER = 2
    OPERATOR = 3
    ADMIN = 4


_NEEDS: Mapping[Verb, Role] = {
    "ask": Role.GUEST,
    "command": Role.GUEST,
    "answer": Role.GUEST,
    "stop": Role.MEMBER,
    "continue": Role.MEMBER,
    "post": Role.MEMBER,
    "approve": Role.OPERATOR,
    "overspend": Role.OPERATOR,
    "use": Role.GUEST,
    "manage": Role.OPERATOR,
}
_OF_HOOKS: tuple[Verb, ...] = ("ask", "use")
_RISKS = ("read", "write", "danger")
_ROLES: Mapping[str, Role] = {
    "guest": Role.GUEST,
    "member": Role.MEMBER,
    "operator": Role.OPERATOR,
    "admin": Role.ADMIN,
}
_DEEDS: Mapping[Verb, str] = {
    "ask": "give me work here",
    "command": "use my commands here",
    "answer": "answer my questions here",
    "stop": "stop my work",
    "continue": "let my work go on",
    "overspend": "let me go on beyond a budget",
    "post": "have me post there",
    "approve": "approve this",
    "use": "use that here",
    "manage": "change that for all",
}


@dataclass(frozen=True, slots=True)
class Where:
    """A place that people share with the bot: a channel, a chat.

    Attributes:
        kind: ``direct`` where one person alone reads it.
    """

    platform: str
    workspace: str
    channel: str
    kind: Place = "channel"

    @classmethod
    def of(cls, thread: ThreadKey, kind: Place = "channel") -> Self:
        """Return the place that a thread is in."""
        return cls(thread.platform, thread.workspace, thread.channel, kind)

    def __str__(self) -> str:
        return f"{self.platform}:{self.workspace}:{self.channel}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether somebody may.

    Attributes:
        why: why not, in a sentence or two for whoever asked: it names a role to ask, never a person.
        is_silent: nothing at all is said to them: the place is not ours, or a program would answer back.
    """

    ok: bool
    why: str = ""
    is_silent: bool = False


_YES = Verdict(ok=True)
_NO_PLACE = "{} is not among the places where I may work. An admin can add it to [access] channels."


@dataclass(frozen=True, slots=True)
class Pattern:
    """One entry of a list: ``platform:workspace:id``, or ``platform:id`` where a platform has no workspaces.

    Attributes:
        workspace: None where the pattern names none; a thread then may carry any, the bot's own id say.
        id: ``*`` is every id.
    """

    platform: str
    workspace: str | None
    id: str

    @staticmethod
    @lru_cache(maxsize=10_000)  # each message asks for its author several times
    def parse(text: str) -> Pattern:
        """Read what the configuration has checked."""
        platform, *workspace, id_ = text.split(":", 2)
        return Pattern(platform, workspace[0] if workspace else None, id_)

    def holds(self, where: Where) -> bool:
        """Whether a place is meant."""
        is_there = self.platform == where.platform and self.workspace in (None, where.workspace)
        return is_there and self.id in ("*", where.channel)

    def names(self, person: str) -> bool:
        """Whether a person is meant; an identity without a workspace is another than one with it."""
        one = Pattern.parse(person) if ":" in person else None
        if one is None or (self.platform, self.workspace) != (one.platform, one.workspace):
            return False
        return self.id in ("*", one.id)

    def __str__(self) -> str:
        return ":".join(part for part in (self.platform, self.workspace, self.id) if part is not None)


_OWNER = Pattern("console", "local", "*")  # who owns the machine owns the bot


@dataclass(frozen=True, slots=True)
class Policy:
    """What ``[access]`` says; empty, nobody but the machine's owner may do anything.

    Attributes:
        named: the lists of people by the role they give.
        channels: where the bot works at all.
        bots: other programs that may speak to us, as guests.
        tools: the tools of a role, as globs; see ``sections.Access``.
        places: the tools of a channel.
        risks: the worst that a role's tools may do.
        hooks: the one place of each webhook, by its name: it may give work there, as a guest, nothing else.
        moved: what the platform called a place before it gave it another id, by the place as text; shared
            with whoever is told of such a move while we work.
    """

    named: Mapping[Role, tuple[Pattern, ...]] = field(default_factory=dict)
    channels: tuple[Pattern, ...] = ()
    bots: tuple[Pattern, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[Pattern, tuple[str, ...]] = field(default_factory=dict)
    risks: Mapping[Role, str] = field(default_factory=dict)
    answers: str = "anyone"
    hooks: Mapping[str, Pattern] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        access: Access,
        moved: Mapping[str, str] | None = None,
        hooks: Mapping[str, str] | None = None,
    ) -> Self:
        """Return the policy of a configuration; ``moved`` is kept as it is, not copied.

        ``hooks`` is the channel of each webhook, by its name.
        """
        named = {
            Role.ADMIN: _parsed(access.admins),
            Role.OPERATOR: _parsed(access.operators),
            Role.MEMBER: _parsed(access.members),
        }
        return cls(
            named,
            _parsed(access.channels),
            _parsed(access.bots),
            {} if moved is None else moved,
            tools={_ROLES[name]: globs for name, globs in access.tools.items()},
            places={Pattern.parse(place): globs for place, globs in access.places.items()},
            risks={_ROLES[name]: risk for name, risk in access.risks.items()},
            answers=access.answers,
            hooks={name: Pattern.parse(place) for name, place in (hooks or {}).items()},
        )

    def allowed(self, person: str, verb: Verb, where: Where) -> Verdict:
        """Say whether somebody may do something in a place; ``person`` is empty for who has no identity."""
        is_listed = self._lists(where)
        if _OWNER.names(person) and (is_listed or verb != "post"):
            return _YES
        if person.startswith(HOOK) and verb not in _OF_HOOKS:
            return Verdict(ok=False, why="A webhook gives work to do, nothing else.", is_silent=True)
        role = self.role(person, where)
        is_own = where.kind == "direct" and role >= Role.MEMBER and _is_home(person, where)
        if not is_listed and (verb == "post" or not is_own):
            return Verdict(ok=False, why=_NO_PLACE.format(where), is_silent=True)
        if role >= _NEEDS[verb]:
            return _YES
        return Verdict(ok=False, why=_refusal(person, verb, role), is_silent=self.is_bot(person))

    def may_use(self, person: str, tool: str, risk: str, where: Where) -> Verdict:
        """Say whether somebody's run may use a tool in a place.

        Without lists it may use every tool: who reads a listed channel is the team, and what is dangerous or
        leads out waits for consent in any case. The machine's owner is held to a channel's list too.
        """
        verdict = self.allowed(person, "use", where)
        if not verdict.ok:
            return verdict
        role = self.role(person, where)
        allowed, globs = self._of_role(self.risks, role) or _RISKS[-1], self._of_role(self.tools, role)
        if globs is not None and not _matches(tool, globs):
            return Verdict(ok=False, why=f"[access.tools] does not let {_named(role)} use {tool}.")
        if _RISKS.index(risk) > _RISKS.index(allowed):
            why = f"[access.risks] lets {_named(role)} use tools of risk {allowed} at most; {tool} is {risk}."
            return Verdict(ok=False, why=why)
        for place, listed in self.places.items():
            if self._is_at(where, place) and not _matches(tool, listed):
                return Verdict(ok=False, why=f"[access.places] does not list {tool} for this channel.")
        return _YES

    def may_answer(self, person: str, asker: str, where: Where) -> Verdict:
        """Say whether somebody may answer what the run of ``asker`` asks in a place."""
        verdict = self.allowed(person, "answer", where)
        is_theirs = self.answers == "anyone" or person == asker or self.role(person, where) >= Role.OPERATOR
        if verdict.ok and not is_theirs:
            return Verdict(ok=False, why="Only whoever gave me this task, or an operator, may answer that.")
        return verdict

    def _of_role(self, given: Mapping[Role, T], role: Role) -> T | None:
        """Return what was set for a role, else for the next one above it."""
        return next((given[one] for one in Role if one >= role and one in given), None)

    def hears(self, person: str, thread: ThreadKey, kind: Place) -> bool:
        """Whether what somebody says in a thread may reach our work there."""
        return self.allowed(person, "ask", Where.of(thread, kind)).ok

    def may_approve(self, person: str, where: Where, terms: Approval, *askers: str) -> Verdict:
        """Say whether somebody may consent to an action that ``askers`` want done in a place."""
        if terms.separate and person in askers:
            return Verdict(ok=False, why="You asked for this yourself, so somebody else must approve it.")
        if any(Pattern.parse(text).names(person) for text in terms.people):
            return self.allowed(person, "ask", where)
        verdict = self.allowed(person, "approve" if terms.role != "member" else "continue", where)
        if verdict.ok and self.role(person, where) < _ROLES[terms.role]:
            return Verdict(ok=False, why=f"Only {terms.role}s may approve this. Ask one of them.")
        return verdict

    def approvers(self, where: Where, terms: Approval, *askers: str) -> float:
        """Return how many people could consent to an action at most, as far as the lists tell."""
        if where.platform == _OWNER.platform:
            return 0 if terms.separate else 1
        if terms.role == "member" and not self.named.get(Role.MEMBER):
            return math.inf
        named = [one for role, ones in self.named.items() if role >= _ROLES[terms.role] for one in ones]
        found = {one for one in (*named, *_parsed(terms.people)) if one.platform == where.platform}
        if any(one.id == "*" for one in found):
            return math.inf
        return len([one for one in found if not (terms.separate and any(map(one.names, askers)))])

    def role(self, person: str, where: Where) -> Role:  # noqa: PLR0911 - one for each kind of somebody
        """Return what somebody is to the bot in a place.

        Without a list of members everybody of a listed channel is one; people from outside its workspace are
        not, unless a list names them (platforms.md §16).
        """
        if _OWNER.names(person):
            return Role.ADMIN
        if person.startswith(HOOK):  # before every list: none makes more of it
            return Role.GUEST if self._has_hook(person, where) else Role.NOBODY
        if self.is_bot(person):
            return Role.GUEST
        for role in (Role.ADMIN, Role.OPERATOR, Role.MEMBER):
            if any(pattern.names(person) for pattern in self.named.get(role, ())):
                return role
        if self.named.get(Role.MEMBER) or not self._lists(where):
            return Role.NOBODY
        if not person:
            return Role.GUEST
        return Role.MEMBER if _is_home(person, where) else Role.NOBODY

    def is_bot(self, person: str) -> bool:
        """Whether somebody is one of the programs that may speak to us."""
        return any(pattern.names(person) for pattern in self.bots)

    def _has_hook(self, person: str, where: Where) -> bool:
        place = self.hooks.get(person.removeprefix(HOOK))
        return place is not None and self._is_at(where, place) and self._lists(where)

    def _lists(self, where: Where) -> bool:
        """Whether a place is listed, by its id or one it had before (a group that became a supergroup)."""
        return self._is_at(where, *self.channels)

    def names_of(self, where: Where) -> Iterator[Where]:
        """Yield a place as it is called now, then as it was called before, newest first."""
        for _ in range(MOVES):
            yield where
            before = self.moved.get(str(where))
            if before is None:
                return
            where = replace(where, channel=before)

    def today(self, where: Where) -> Where:
        """Return a place as it is called now, by any id it had."""
        for _ in range(MOVES):
            places = (name.rsplit(":", 1) for name, before in self.moved.items() if before == where.channel)
            later = [new for place, new in places if place == f"{where.platform}:{where.workspace}"]
            if not later:
                break
            where = replace(where, channel=later[-1])
        return where

    def _is_at(self, where: Where, *patterns: Pattern) -> bool:
        return any(pattern.holds(name) for name in self.names_of(where) for pattern in patterns)


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, one) for one in globs)


def _named(role: Role) -> str:
    return f"{role.name.lower()}s"


def _parsed(texts: Iterable[str]) -> tuple[Pattern, ...]:
    return tuple(Pattern.parse(text) for text in texts)


def _is_home(person: str, where: Where) -> bool:
    """Whether somebody belongs to a place's workspace, or to its platform where that has none."""
    if ":" not in person:
        return False
    one = Pattern.parse(person)
    return one.platform == where.platform and one.workspace in (None, where.workspace)


def _refusal(person: str, verb: Verb, role: Role) -> str:
    who = "operators and admins" if _NEEDS[verb] > Role.MEMBER else "members"
    if not person:
        hint = f"I cannot tell who you are. Write under your own name, or ask one of the {who}."
    elif role < Role.MEMBER:
        hint = "Ask an admin to add you to them."
    else:
        hint = "Ask one of them."
    return f"Only {who} may {_DEEDS[verb]}. {hint}"
