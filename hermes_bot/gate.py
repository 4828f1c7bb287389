"""Knows who is let in: asks the policy about everything people do, and writes down who was turned away."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.access import Where
from hermes_bot.config import Approvals
from hermes_bot.consent import terms_for
from hermes_bot.fold import fold
from hermes_bot.ports import CONTINUE_PREFIX, STOP_PREFIX
from hermes_bot.router import Answer, Command, GoOn, NoAnswer, NotForUs, Pressed, Task, UnknownCommand
from hermes_bot.store import approvals, audit, journal, questions, runs, threads
from hermes_bot.store.audit import Entry
from hermes_bot.store.turns import turns_of_bots

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime

    from hermes_bot.access import Policy, Verb, Verdict
    from hermes_bot.messages import Incoming, Press
    from hermes_bot.ports import Clock
    from hermes_bot.router import Route
    from hermes_bot.state import QuestionKind
    from hermes_bot.store.database import Database
    from hermes_bot.store.questions import QuestionRecord

log = logging.getLogger(__name__)

BOT_TURNS = 3  # of programs in a thread without a person between (platforms.md P32)
ONE_ROW = timedelta(hours=1)  # between two audit rows about a place that is not ours
MOST_NOTICES, NOTICES_WITHIN = 5, timedelta(minutes=10)  # to one person in one place; then silence
MOST_PLACES = 1_000  # that are remembered so; more of them are a flood, and get no rows
# a question on a budget asks for a fresh allowance; on one that is shared, for what is others' too
TO_ANSWER: Mapping[QuestionKind, Verb] = {
    "info": "answer",
    "approval": "approve",
    "budget": "continue",
    "overspend": "overspend",
}
_COMMANDS: Mapping[str, Verb] = {"stop": "stop", "save-skill": "ask"}
_OTHERS: Mapping[type[Route], Verb | None] = {
    Task: "ask",
    GoOn: "continue",
    UnknownCommand: "command",
    NotForUs: None,
}
Refusal: TypeAlias = "str | None"
"""What to tell somebody who may not; empty where nothing is told, None where they may."""


class Gate:
    """One check for mentions, commands, buttons, answers and what comes over the admin socket."""

    def __init__(self, policy: Policy, db: Database, clock: Clock, terms: Approvals | None = None) -> None:
        self.policy = policy
        self._terms = terms or Approvals()
        self._db = db
        self._clock = clock
        self._told: dict[str, datetime] = {}
        self._notices: dict[str, list[datetime]] = {}

    async def admits(self, said: Incoming) -> bool:
        """Whether something may be stored at all; what may not leaves an audit row an hour and nothing else.

        An edit or a deletion must also be by somebody who may give work: it would change some.
        """
        where = await self._where(said)
        verdict = self.policy.allowed(said.user, "ask", where)
        is_stranger = said.is_bot and not self.policy.is_bot(said.user)
        is_change = said.kind in ("edit", "delete")
        if not is_stranger and (verdict.ok or not (verdict.is_silent or is_change)):
            return True
        if said.addressed:
            await self._note_outside(said, where)
        return False

    def takes_part(self, said: Incoming) -> bool:
        """Whether words without a mention may go on with our conversation: those of people we work for."""
        is_bot = said.is_bot or self.policy.is_bot(said.user)
        return not is_bot and self.policy.allowed(said.user, "ask", Where.of(said.thread, said.place)).ok

    async def refuses(self, said: Incoming, routed: Route, question: QuestionRecord | None) -> Refusal:
        """Say why somebody may not do what their stored message is; ``question`` is open in its thread."""
        verb = await self._verb(routed, question)
        if verb is None:
            return None
        if self.policy.is_bot(said.user) and await self._has_had_its_turns(said):
            return ""
        about = said.press.question if said.press else str(said.thread)
        where = await self._where(said)
        if verb == "answer" and self.policy.answers == "asker":
            verdict = await self._may_answer(said, where, question)
            if not verdict.ok and said.kind == "message" and not said.addressed:
                return ""  # people may talk while a question is open
        elif verb == "approve":
            asked = said.press.question if said.press else question.question.id if question else ""
            verdict = await self._may_approve(said.user, where, asked)
        else:
            verdict = await self.may(said.user, verb, where, about)
        if verdict.ok:
            return None
        return "" if verdict.is_silent or self._is_told(said, where) else verdict.why

    def _is_told(self, said: Incoming, where: Where) -> bool:
        """Whether somebody has had their notices here for a while; a press is always answered."""
        if said.kind != "message":
            return False
        now, key = self._clock.now(), f"{said.user} {where}"
        told = [at for at in self._notices.get(key, ()) if now - at < NOTICES_WITHIN]
        if len(self._notices) > MOST_PLACES:
            self._notices.clear()
        self._notices[key] = [*told, now][-MOST_NOTICES:]
        return len(told) >= MOST_NOTICES

    async def _may_answer(self, said: Incoming, where: Where, question: QuestionRecord | None) -> Verdict:
        """Ask whether somebody may answer, where only the asker of the task may; write down a no."""
        pressed = said.press.question if said.press else ""

        def asker(db: sqlite3.Connection) -> tuple[str, str]:
            asked = questions.get(db, pressed) if pressed else question
            run = runs.get(db, asked.run) if asked else None
            return (run.asker, asked.question.id) if run and asked else (said.user, str(said.thread))

        who, about = await self._db.read(asker)
        verdict = self.policy.may_answer(said.user, who, where)
        if not verdict.ok:
            await self._note(Entry(said.user or "nobody", "access.answer", about, "refused", str(where)))
        return verdict

    async def _may_approve(self, person: str, where: Where, asked: str) -> Verdict:
        """Ask whether somebody may consent to what an approval is about, and write down a no."""
        ballot = await self._db.read(lambda db: approvals.get(db, asked))
        if ballot is None:
            return await self.may(person, "approve", where, asked)
        terms = terms_for(self._terms, ballot.tool, where, self.policy, ballot.rule, ballot.asker)
        rows = await self._db.read(lambda db: journal.of_run(db, ballot.run))
        askers = (ballot.asker, *(fold(rows).askers if terms.separate else ()))
        verdict = self.policy.may_approve(person, where, terms, *askers)
        if not verdict.ok:
            await self._note(Entry(person or "nobody", "access.approve", asked, "refused", str(where)))
        return verdict

    async def may(self, person: str, verb: Verb, where: Where, about: str) -> Verdict:
        """Ask the policy, and write down a no; ``about`` is the id of what it was about."""
        verdict = self.policy.allowed(person, verb, where)
        if not verdict.ok:
            await self._note(Entry(person or "nobody", f"access.{verb}", about, "refused", str(where)))
        return verdict

    async def _verb(self, routed: Route, question: QuestionRecord | None) -> Verb | None:
        match routed:
            case Command(verb, args):
                is_plan = verb == "schedule" and args[:1] == ("add",)
                return "ask" if is_plan or (verb == "run" and args) else _COMMANDS.get(verb, "command")
            case Answer() | NoAnswer():
                return TO_ANSWER[question.question.kind if question else "info"]
            case Pressed(press):
                return await self._verb_of_press(press)
            case Task() | GoOn() | UnknownCommand() | NotForUs():
                return _OTHERS[type(routed)]

    async def _verb_of_press(self, press: Press) -> Verb:
        if press.question.startswith(CONTINUE_PREFIX):
            return "continue"
        if press.question.startswith(STOP_PREFIX):
            return "stop"
        asked = await self._db.read(lambda db: questions.get(db, press.question))
        return TO_ANSWER[asked.question.kind] if asked else "answer"

    async def _where(self, said: Incoming) -> Where:
        """Return where something happened; what a thread was when it began, its presses know no better."""
        where = Where.of(said.thread, said.place)
        if said.kind == "message" or self.policy.allowed(said.user, "ask", where).ok:
            return where
        known = await self._db.read(lambda db: threads.get(db, said.thread))
        return Where.of(said.thread, known.place) if known else where

    async def _has_had_its_turns(self, said: Incoming) -> bool:
        if not said.text.strip():
            return True  # it stands in no transcript, so it cannot be counted
        key = said.message_id or said.event_id
        is_bot = self.policy.is_bot
        turns = await self._db.read(lambda db: turns_of_bots(db, said.thread, key, is_bot))
        return turns > BOT_TURNS

    async def _note_outside(self, said: Incoming, where: Where) -> None:
        now, place = self._clock.now(), str(where)
        self._told = {one: at for one, at in self._told.items() if now - at < ONE_ROW}
        if place not in self._told and len(self._told) < MOST_PLACES:
            self._told[place] = now
            await self._note(Entry(said.user or "nobody", "access.enter", place, "refused"))

    async def _note(self, entry: Entry) -> None:
        now = self._clock.now()
        await self._db.transact("access.refused", lambda db: audit.note(db, entry, now))
        log.info("access.refused", extra={"actor": entry.actor, "verb": entry.verb, "about": entry.object})
