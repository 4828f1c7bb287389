"""Knows what one commit of a run stores: rows, effect, question, posts and spend, or none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.errors import RunOver
from hermes_bot.fold import apply, fold
from hermes_bot.runs.posts import budget_post, final_post, question_post, share_post, tame_question
from hermes_bot.runs.reporting import report
from hermes_bot.runs.spending import shares_of
from hermes_bot.state import OVER, Note, Row, Share
from hermes_bot.store import (
    approvals,
    audit,
    effects,
    inbox,
    journal,
    messages,
    outbox,
    questions,
    runs,
    spend,
)
from hermes_bot.store.audit import Entry
from hermes_bot.store.columns import channel_of
from hermes_bot.store.effects import Intent
from hermes_bot.store.messages import Line
from hermes_bot.store.runs import Progress
from hermes_bot.store.spend import Payer, Spent

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime, tzinfo

    from hermes_bot.messages import Incoming, Outgoing, Result, ThreadKey
    from hermes_bot.ports import Clock, Outcome, Prepared, Prior
    from hermes_bot.state import Consent, RunState, Status
    from hermes_bot.store.database import Database

Added: TypeAlias = "tuple[tuple[int, Incoming], ...]"
QUOTED = "a message that quotes somebody"
AT_WORK: tuple[Status, ...] = ("queued", "running")


@dataclass(frozen=True, slots=True)
class StoreDesk:
    """What storing needs.

    Attributes:
        zone: the zone in which a day of spending ends.
        limits: the limited budgets that runs share, by their keys in ``[budgets]``.
        after: stores what else a run's state brings with it, in the same transaction.
    """

    db: Database
    clock: Clock
    zone: tzinfo
    limits: Mapping[str, float] = field(default_factory=dict)
    after: Callable[[sqlite3.Connection, RunState], None] | None = None

    def shares(self, db: sqlite3.Connection, user: str, thread: ThreadKey) -> tuple[Share, ...]:
        """Return what is used today of the budgets that limit a person's run in a thread."""
        day = self.clock.now().astimezone(self.zone).date()
        return shares_of(db, self.limits, day, user, channel_of(thread))


class RunJournal:
    """One run's record while it is carried; implements ``ports.Journal``.

    Args:
        added: hands over, once, what people wrote to the run meanwhile, with its inbox rows.
        show: shows a text in the run's status line.
        shares: what is used of the shared budgets before the first commit.
    """

    def __init__(
        self,
        desk: StoreDesk,
        *,
        added: Callable[[], Added],
        show: Callable[[str], None],
        shares: tuple[Share, ...] = (),
    ) -> None:
        self._desk = desk
        self._added = added
        self._show = show
        self._taken: list[int] = []
        self._prefix: tuple[str, str] | None = None
        self._kept = ""  # the prefix that is stored already, and need not be bound again each round
        self._is_calm = False
        self._shares = shares

    def added(self) -> tuple[Note, ...]:
        """Return what people wrote since the last call; its inbox rows join the run with the next commit."""
        added = self._added()
        self._taken.extend(number for number, _ in added)
        return tuple(
            Note(
                said.user,
                said.user_name,
                said.text,
                message=said.message_id or said.event_id,
                outside=QUOTED if said.is_outside else "",
            )
            for _, said in added
        )

    def keep_prefix(self, digest: str, text: str) -> None:
        """Store a prompt's prefix with the next commit."""
        self._prefix = (digest, text) if digest != self._kept else None

    def shares(self) -> tuple[Share, ...]:
        """Return what was used of the shared budgets at the last commit of a phase."""
        return self._shares

    def show(self, text: str) -> None:
        """Show what the run is doing."""
        self._show(text)

    async def commit(
        self,
        state: RunState,
        rows: Sequence[Row],
        *,
        intent: Prepared | None = None,
        outcome: Outcome | None = None,
    ) -> Prior | None:
        """Store everything that follows from the rows, in one transaction; see ``ports.Journal``."""
        taken, self._taken = self._taken, []
        prefix, self._prefix = self._prefix, None
        calms = not self._is_calm and bool(state.traces) and any(row.phase == "judge" for row in rows)

        def store(db: sqlite3.Connection) -> Prior | None:
            now = self._desk.clock.now()
            advance(db, state, AT_WORK, now)
            if taken:
                inbox.take(db, taken, state.run)
            if prefix:
                journal.keep_prefix(db, *prefix)
            journal.append(db, rows)
            prior = _begin_effect(db, state, intent, now) if intent else None
            if calms:
                runs.calm(db, state.parent or state.run)  # a child's progress is its parent's
            if outcome:
                _settle(db, state, outcome, rows, now)
            for row in rows:
                if row.status == "denied" and row.phase in ("absorb", "step"):
                    audit.note(db, _denied(state, row), now)
            _book(db, state, rows, self._desk.zone)
            if any(row.phase == "judge" or row.tokens_in or row.tokens_out for row in rows):
                self._shares = self._desk.shares(db, state.asker, state.thread)
            follow(db, state, now)
            if self._desk.after is not None:
                self._desk.after(db, state)
            return prior

        prior = await self._desk.db.transact(_name(rows), store)
        self._kept = prefix[0] if prefix else self._kept
        self._is_calm = self._is_calm or calms
        return prior


def _name(rows: Sequence[Row]) -> str:
    phases = {row.phase for row in rows}
    if "judge" in phases:
        return "run.settled"
    return "run.step" if "step" in phases else "run.decided"


def advance(db: sqlite3.Connection, state: RunState, expect: Collection[Status], now: datetime) -> None:
    """Write the run's standing beside its rows.

    Raises:
        RunOver: it is not in one of the expected statuses any more.
    """
    used = state.used
    progress = Progress(state.status, state.reason, used.rounds, used.tokens, used.cost)
    if not runs.advance(db, state.run, progress, now, expect):
        raise RunOver(f"Run {state.run} was ended meanwhile; this step of it was not stored.")


def follow(db: sqlite3.Connection, state: RunState, now: datetime) -> None:
    """Store what follows from a state: the question it waits for, or the post it ends with."""
    if state.status != "waiting" and state.status not in OVER:
        return
    if state.parent:  # its parent asks and tells
        return
    if state.status in OVER:
        state = state.changed(unknowns=(*state.unknowns, *end_children(db, state.run, now)))
    if (now_in := runs.thread_of(db, state.run)) not in (None, state.thread):
        state = state.changed(thread=now_in)  # the platform gave the channel another id while it worked
    if state.status == "waiting" and state.question is not None:
        question = tame_question(state, state.question)
        questions.ask(db, question, state.run, now)
        if question.consent is not None:
            approvals.ask(db, question.id, question.consent, state.run, now)
            audit.note(db, _asked(state, question.consent), now)
        asked = question_post(state, question, _answered_message(db, state.run))
        post(db, asked, state.run, now, outside=asks_for_outsiders(state))
    elif state.status in OVER:
        answers = _answered_message(db, state.run)
        if state.planned:
            report(db, state, answers, now)
        else:
            post(db, final_post(state, answers), state.run, now, outside=state.is_tainted)
        inbox.finish(db, [stored.id for stored in inbox.of_run(db, state.run)])


def asks_for_outsiders(state: RunState) -> bool:
    """Whether the words of a run's question, and its options, may be those of outsiders."""
    return state.is_tainted or (state.question is not None and state.question.outside)


def end_children(db: sqlite3.Connection, parent: str, now: datetime) -> list[str]:
    """End the delegated runs of a run that is over; return the tools whose effect was under way."""
    begun: list[str] = []
    for child in runs.open_children(db, parent):
        before = fold(journal.of_run(db, child.id))
        row = Row(child.id, before.round, "judge", now, {"verdict": "cancel", "reason": "parent"})
        advance(db, apply(before, row), (*AT_WORK, "waiting"), now)
        journal.append(db, [row])
        begun += effects.under_way(db, child.id)
        effects.mark_unknown(db, child.id)
    return begun


def _asked(state: RunState, consent: Consent) -> Entry:
    detail = f"run={state.run} action={consent.key} rule={consent.rule} needed={consent.needed}"
    return Entry(state.asker or "nobody", "approval.ask", consent.tool, "asked", detail)


def _denied(state: RunState, row: Row) -> Entry:
    """Return the audit row of a call that was not let through: which, and by which rule."""
    data = row.data.get("data")
    code = row.data.get("code") or (data.get("code", "") if isinstance(data, Mapping) else "")
    detail = f"run={state.run} action={row.action_hash}{_signs(state)} rule={code or 'denied'}"
    return Entry(state.asker or "nobody", "tool.denied", row.action, "refused", detail)


def _signs(state: RunState) -> str:
    marks = (("tainted", state.is_tainted), ("private", state.is_private))
    return "".join(f" {sign}" for sign, is_on in marks if is_on)


def _settle(
    db: sqlite3.Connection, state: RunState, outcome: Outcome, rows: Sequence[Row], now: datetime
) -> None:
    if outcome.result is None:
        effects.take_back(db, outcome.key)
    elif effects.settle(db, outcome.key, outcome.result, now):
        audit.note(db, _done(state, outcome.result, rows), now)


def _done(state: RunState, result: Result, rows: Sequence[Row]) -> Entry:
    """Return the audit row of an effect: which call, under what signs, and how it ended; no contents."""
    row = next((row for row in rows if row.action_hash), rows[-1])
    detail = f"run={state.run} action={row.action_hash}{_signs(state)}"
    return Entry(state.asker or "nobody", "tool.run", row.action, effects.state_of(result), detail)


def _answered_message(db: sqlite3.Connection, run: str) -> str:
    """Return the platform's id of the message that a run answers."""
    taken = inbox.of_run(db, run)
    return taken[0].incoming.message_id if taken else ""


def post(
    db: sqlite3.Connection, message: Outgoing, run: str, now: datetime, *, outside: bool = False
) -> None:
    """Put a post into the outbox and into our own transcript; one without a word is none."""
    if not message.text.strip():
        return
    if outbox.put(db, message, now, run):
        line = Line(message.thread, "bot", "", message.text, now, message.key, from_bot=True, run=run)
        line = replace(line, outside=outside)
        messages.add(db, line)


def _begin_effect(db: sqlite3.Connection, state: RunState, prepared: Prepared, now: datetime) -> Prior | None:
    action = prepared.action
    intent = Intent(prepared.key, state.root, state.run, action.name, prepared.risk, action.text)
    return effects.begin(db, intent, now)


def _book(db: sqlite3.Connection, state: RunState, rows: Sequence[Row], zone: tzinfo) -> None:
    for row in rows:
        if row.tokens_in or row.tokens_out:
            payer = Payer(state.run, state.asker, channel_of(state.thread))
            day = row.at.astimezone(zone).date()
            spend.book(db, day, payer, Spent(row.tokens_in, row.tokens_out, row.cost))
        if state.planned and state.thread.is_new:  # its report is the one post that is due there
            continue
        for told in row.data.get("told_shares", ()):
            say = share_post(state, Share(**told), row.at.astimezone(zone).date())
            post(db, say, state.run, row.at)
        if row.data.get("told_budget"):
            post(db, budget_post(state, row.round, _answered_message(db, state.run)), state.run, row.at)
