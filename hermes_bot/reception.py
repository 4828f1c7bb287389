"""Knows what becomes of a message once it is stored: which part gets it, and what the asker hears at once."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hermes_bot.access import HOOK
from hermes_bot.dispatch import Job
from hermes_bot.errors import HermesError
from hermes_bot.inbox import STALE_AFTER
from hermes_bot.logs import fields
from hermes_bot.masking import masked_incoming
from hermes_bot.messages import HOOK_EVENT, Outgoing, Reply, Request
from hermes_bot.outbox import OPENING
from hermes_bot.ports import CONTINUE_PREFIX, STOP_PREFIX
from hermes_bot.router import (
    Answer,
    Command,
    GoOn,
    NoAnswer,
    NotForUs,
    Pressed,
    Route,
    Task,
    UnknownCommand,
    View,
    names_a_vote,
    planned_task,
    route,
    skill_task,
)
from hermes_bot.runs.posts import LEAVE
from hermes_bot.skills.saving import SAVE_SKILL
from hermes_bot.state import OVER
from hermes_bot.store import inbox, outbox, questions, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_bot.commands import Commands
    from hermes_bot.dispatch import Dispatcher, Lane
    from hermes_bot.gate import Gate
    from hermes_bot.inbox import Accepted, Beside, Inbox
    from hermes_bot.messages import Incoming, Press, ThreadKey
    from hermes_bot.outbox import Outbox
    from hermes_bot.ports import Clock
    from hermes_bot.redaction import Vault
    from hermes_bot.runs import Runs
    from hermes_bot.runs.answering import Settled
    from hermes_bot.store.database import Database
    from hermes_bot.store.inbox import Stored
    from hermes_bot.telling import Teller

log = logging.getLogger(__name__)

IDLE = timedelta(seconds=30)  # what was not touched for so long, and nobody holds, was left behind
EXPIRED = "That question was already answered or has expired. Nothing was changed."
BROKE = "something in me broke. The operator's log says where."


@dataclass(frozen=True, slots=True)
class Rooms:
    """The parts a message may be handed to."""

    db: Database
    clock: Clock
    inbox: Inbox
    dispatcher: Dispatcher
    runs: Runs
    outbox: Outbox
    commands: Commands
    gate: Gate
    teller: Teller
    vault: Vault


class Reception:
    """Takes messages from adapters, stores them and hands them on.

    Attributes:
        is_open: whether messages are taken; closed when the program stops.
        on_task: called with the thread of a task that is taken, before there is a run.
        on_over: called with the thread and id of a run that was ended from here; the id is empty where the
            task could not even become a run.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._since = rooms.clock.now()  # what is older is another process's, until ``recover`` takes it over
        self.is_open = True
        rooms.inbox.is_for_us = lambda accepted: not isinstance(self._route(accepted), NotForUs)
        self.on_task: Callable[[ThreadKey], None] | None = None
        self.on_over: Callable[[ThreadKey, str], None] | None = None

    async def accept(self, incoming: Incoming, beside: Beside | None = None) -> Reply | None:
        """Take a message: stored, then routed. Returns once it is safe.

        ``beside`` is as ``Inbox.accept`` has it: what is stored in the same transaction.

        Raises:
            HermesError: it was not stored; the platform must deliver it again.
        """
        try:
            # first of all: what stands in it goes no further than here, into no row, prompt or list
            reply = await self._accept(masked_incoming(incoming, self._rooms.vault), beside)
            return None if reply is None else Reply(self._rooms.vault.redactor.text(reply.text))
        except HermesError:
            raise
        except Exception:  # delivered again it would break again, and hold up all that is behind it
            log.exception("inbox.poison", extra=fields(thread=incoming.thread, event=incoming.event_id))
            return Reply(f"I could not take this: {BROKE}")

    async def _accept(self, incoming: Incoming, beside: Beside | None) -> Reply | None:
        if not self.is_open:
            raise HermesError("The bot is stopping; this message was not taken.")
        if not await self._rooms.gate.admits(incoming):
            # nothing is said here, but whoever waits for a thread to begin is not to be told that one does
            return Reply("") if incoming.thread.is_new else None
        if incoming.kind in ("edit", "delete"):
            await self._change(incoming)
            return None
        if incoming.request is not None:
            self._rooms.runs.beginnings.check(incoming.request)
        accepted = await self._rooms.inbox.accept(incoming, beside)
        return None if accepted is None else await self._handle(accepted)

    async def answer(self, question: str, text: str, said: Incoming, inbox_id: int = 0) -> Settled | None:
        """Settle a question and let its run go on; None where it was not open any more."""
        text = self._rooms.vault.text(text, str(said.thread))
        said = masked_incoming(said, self._rooms.vault)
        settled = await self._rooms.runs.questions.answer(question, text, said, inbox_id)
        self._rooms.outbox.wake()
        if settled is None:
            return None
        match settled.then:
            case "goes on":
                self._rooms.dispatcher.submit(settled.thread, Job(run=settled.run))
            case "is over":
                self._over(settled.thread, settled.run)
            case "waits":
                pass
        return settled

    async def continue_run(self, run: str, user: str, inbox_id: int = 0, name: str = "") -> str | None:
        """Go on from a stopped run; None where that was done already."""
        new = await self._rooms.runs.beginnings.continue_run(run, user, inbox_id, name)
        if new is not None:
            view = await self._rooms.runs.view(new)
            self._rooms.dispatcher.submit(view.record.thread, Job(run=new))
        return new

    async def recover(self) -> None:
        """Go on with what the last process left: its runs first, then the messages it had not begun."""
        for thread, run in await self._rooms.runs.recover():
            self._rooms.dispatcher.submit(thread, Job(run=run))
        for stored in await self._rooms.inbox.pending():
            await self._again(stored)
        self._since = datetime.min.replace(tzinfo=UTC)

    async def see_to_questions(self) -> None:
        """Settle the questions whose time is over, and remind of those that wait for long."""
        for thread, run in await self._rooms.runs.questions.expire():
            self._rooms.dispatcher.submit(thread, Job(run=run))
        await self._rooms.runs.questions.remind()
        self._rooms.outbox.wake()

    async def take_up(self) -> None:
        """Go on with what was put aside in this process, because the store could not write, say."""
        held, rows = self._rooms.dispatcher.held()
        before = self._rooms.clock.now() - IDLE
        for thread, run in await self._rooms.runs.recover(held, (self._since, before)):
            self._rooms.dispatcher.submit(thread, Job(run=run))
        for stored in await self._rooms.inbox.pending():
            if stored.id not in rows and self._since <= stored.at <= before:
                await self._again(stored)

    async def crashed(self, job: Job, lane: Lane, error: Exception) -> None:
        """Say in the thread that a job broke, and settle what it leaves open."""
        say = self._rooms.vault.redactor.text(str(error)) if isinstance(error, HermesError) else BROKE
        if lane.run:
            await self._rooms.runs.fail(lane.run, say)
            self._rooms.outbox.wake()
        elif job.inbox:
            await self._rooms.teller.unbegun(lane.thread, lane.in_hand, say)
            self._over(lane.thread, "")

    async def opened(self, inbox_id: int) -> None:
        """Go on with a message whose thread is there now, or with the task of a firing."""
        if not self.is_open:  # it is stored; the next start goes on with it
            return
        stored = await self._rooms.db.read(lambda db: inbox.get(db, inbox_id))
        if stored is not None and stored.state == "queued":
            await self._again(stored)

    async def _again(self, stored: Stored) -> None:
        try:
            reply = await self._handle(await self._rooms.inbox.place(stored))
            if reply is not None:  # whoever asked is gone meanwhile, so it is posted
                await self._rooms.teller.notice(stored.incoming.thread, f"reply-{stored.id}", reply.text)
        except HermesError as error:  # one message that cannot be handled now must not hold up the others
            names = fields(thread=stored.incoming.thread, inbox=stored.id, error=str(error))
            log.error("inbox.put_aside", extra=names)  # noqa: TRY400 - no bug, so no trace

    async def _handle(self, accepted: Accepted) -> Reply | None:  # noqa: PLR0911 - one for each way on
        said, routed = accepted.incoming, self._route(accepted)
        refusal = await self._rooms.gate.refuses(said, routed, accepted.question)
        if refusal is not None:
            if said.firing:
                await self._rooms.teller.unbegun(said.thread, (accepted.id,), refusal or "its owner may not.")
                return None
            return await self._rooms.teller.reply(Reply(refusal) if refusal else None, accepted)
        if isinstance(routed, Task | GoOn | Command) and self._is_late(said):
            await self._rooms.teller.late(accepted)
            return None
        if said.thread.is_new and not said.firing and self._is_work(routed):
            await self._open(accepted)
            return None
        match routed:
            case Task(request):
                self._submit(accepted.id, replace(said, request=request))
                return None
            case GoOn():
                return await self._go_on(accepted)
            case Command("run", args) | Command("schedule", ("add", _, *_) as args) if args:
                return await self._begin_asked(accepted, routed.verb, args)
            case Command("save-skill", args) if args:
                return await self._save_skill(accepted, args)
            case Answer(question, text) if settled := await self.answer(question, text, said, accepted.id):
                return await self._rooms.teller.reply(Reply(settled.say), accepted) if settled.say else None
            case _:
                return await self._rooms.teller.reply(await self._reply(routed, accepted), accepted)

    def _route(self, accepted: Accepted) -> Route:
        said = accepted.incoming
        if said.firing:  # whatever its words are like, nobody says them
            return Task(said.request)
        if not self._rooms.gate.takes_part(said):
            return route(said, View(accepted.question))
        is_vote = names_a_vote(accepted.question, said.text)  # whoever may agree need not have spoken before
        # nobody but a program began it, so whoever answers what is asked there is heard
        is_orphan = accepted.question is not None and all(it.startswith(HOOK) for it in accepted.participants)
        known = (*accepted.participants, said.user) if is_vote or is_orphan else accepted.participants
        return route(said, View(accepted.question, known))

    async def _open(self, accepted: Accepted) -> None:
        """Post what will be the root of the message's thread; the work begins when it stands."""
        said = accepted.incoming
        root = Outgoing(f"{OPENING}{accepted.id}", said.thread, said.opens or said.text, "notice")
        now = self._rooms.clock.now()
        await self._rooms.db.transact("thread.open", lambda db: outbox.put(db, root, now))
        self._rooms.outbox.wake()

    async def _reply(self, routed: Route, accepted: Accepted) -> Reply | None:
        commands, said = self._rooms.commands, accepted.incoming
        match routed:
            case Command("stop"):
                text = await self._stop(accepted)
            case Command(verb, args):
                text = await commands.answer(verb, args, said)
            case UnknownCommand(verb, nearest):
                text = commands.unknown(verb, nearest)
            case NoAnswer(_, say):
                text = say
            case Answer():
                text = EXPIRED
            case Pressed(press):
                text = await self._pressed(press, accepted)
            case NotForUs() | Task() | GoOn():
                text = ""
        return Reply(text) if text else None

    def _submit(self, number: int, said: Incoming) -> None:
        if self.on_task is not None and not said.firing:
            self.on_task(said.thread)
        job = Job(inbox=(number,), messages=(said,), received=self._rooms.clock.monotonic())
        self._rooms.dispatcher.submit(said.thread, job)

    async def _begin_asked(self, accepted: Accepted, verb: str, args: tuple[str, ...]) -> Reply | None:
        """Begin what was asked for by name: a skill now, or something to be planned."""
        if verb == "schedule":
            self._submit(accepted.id, planned_task(accepted.incoming))
            return None
        if refusal := self._rooms.commands.unknown_skill(args[0]):
            return await self._rooms.teller.reply(Reply(refusal), accepted)
        self._submit(accepted.id, skill_task(accepted.incoming, args))
        return None

    async def _save_skill(self, accepted: Accepted, args: tuple[str, ...]) -> Reply | None:
        said = accepted.incoming
        run = await self._rooms.commands.run_to_save(args[1] if len(args) > 1 else "", said.thread)
        if run is None:
            say = (
                "There is no finished run here that a skill could be made of. Name one: save-skill NAME RUN."
            )
            return await self._rooms.teller.reply(Reply(say), accepted)
        wanted = Request(skill=SAVE_SKILL, params={"name": args[0], "run": run})
        self._submit(accepted.id, replace(said, request=wanted, complete=True))
        return None

    async def _go_on(self, accepted: Accepted) -> Reply | None:
        """Continue the thread's last run where a guard stopped it; else the word is a task like any other."""
        said = accepted.incoming
        newest = await self._rooms.db.read(lambda db: runs.list_runs(db, 1, said.thread))
        is_stopped = bool(newest) and newest[0].status == "stopped"
        if not (is_stopped and await self.continue_run(newest[0].id, said.user, accepted.id)):
            self._submit(accepted.id, said)
        return None

    def _is_work(self, routed: Route) -> bool:
        """Whether a message needs a thread: it is no question about what is stored, and no slip."""
        match routed:
            case Command("run", args) if args:
                return not self._rooms.commands.unknown_skill(args[0])
            case Command("save-skill", args) if args:
                return True
            case Command("schedule", ("add", _, *_)):
                return True
            case _:
                return isinstance(routed, Task | GoOn)

    def _is_late(self, said: Incoming) -> bool:
        if said.firing or said.event_id.startswith(
            HOOK_EVENT
        ):  # told to us while we were there: never too late
            return False
        return self._rooms.clock.now() - said.sent_at > STALE_AFTER

    async def _pressed(self, press: Press, accepted: Accepted) -> str:
        said = accepted.incoming
        if press.question.startswith(CONTINUE_PREFIX):
            return await self._pressed_continue(press, accepted)
        if press.question.startswith(STOP_PREFIX):
            return await self._pressed_stop(press.question.removeprefix(STOP_PREFIX), accepted)
        asked = await self._rooms.db.read(lambda db: questions.get(db, press.question))
        if asked is None or asked.thread != said.thread:
            return EXPIRED
        if not 0 <= press.option < len(asked.question.options):
            return EXPIRED
        settled = await self.answer(press.question, asked.question.options[press.option], said, accepted.id)
        return settled.say if settled else EXPIRED

    async def _pressed_continue(self, press: Press, accepted: Accepted) -> str:
        said, run = accepted.incoming, press.question.removeprefix(CONTINUE_PREFIX)
        record = await self._rooms.db.read(lambda db: runs.get(db, run))
        is_ours = record is not None and record.thread == said.thread and record.status == "stopped"
        if is_ours and press.option == LEAVE:
            await self._rooms.runs.leave(run, said)
            self._rooms.outbox.wake()
            return ""
        going = await self.continue_run(run, said.user, accepted.id, said.user_name) if is_ours else None
        return "" if going else "That run was continued already, or is not stopped."

    async def _pressed_stop(self, run: str, accepted: Accepted) -> str:
        """Stop a run by the button under its status line; the button of an old run stops no newer one."""
        record = await self._rooms.db.read(lambda db: runs.get(db, run))
        if record is None or record.thread != accepted.incoming.thread or record.status in OVER:
            return "That run is over already."
        return await self._stop(accepted)

    async def _stop(self, accepted: Accepted) -> str:
        said = accepted.incoming
        # interrupted first: a run that is just being made is in the store before this asks for its runs
        dropped = self._rooms.dispatcher.halt(said.thread)
        stopped = await self._rooms.runs.stop(said, accepted.id, dropped)
        self._rooms.outbox.wake()
        for run in stopped.runs:
            self._over(said.thread, run)
        if stopped.runs:
            return ""
        return "Stopped before I began." if stopped.unbegun else "Nothing is running in this thread."

    async def _change(self, incoming: Incoming) -> None:
        changed = await self._rooms.inbox.change(incoming)
        if changed is None:
            if incoming.kind == "delete" and (run := await self._rooms.runs.take_back(incoming)):
                self._rooms.outbox.wake()
                self._over(incoming.thread, run)
            return
        said = changed.incoming
        if incoming.kind == "delete":
            self._rooms.dispatcher.withdraw(said.thread, changed.id)
            return
        match route(said, View(participants=(said.user,))):
            case Command("run", args) if args:
                said = skill_task(said, args)
            case Command("schedule", ("add", _, *_)):
                said = planned_task(said)
            case _:
                pass
        self._rooms.dispatcher.replace(said.thread, changed.id, said)

    def _over(self, thread: ThreadKey, run: str) -> None:
        if self.on_over is not None:
            self.on_over(thread, run)
