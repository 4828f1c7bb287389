"""Knows what becomes of a message once it is stored: which part gets it, and what the asker hears at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hermes_bot.dispatch import Job
from hermes_bot.errors import HermesError
from hermes_bot.inbox import STALE_AFTER, Accepted
from hermes_bot.messages import Outgoing, Reply, Request
from hermes_bot.router import Answer, Command, NoAnswer, Pressed, Route, Task, UnknownCommand, View, route
from hermes_bot.runs.journal import post
from hermes_bot.runs.posts import CONTINUE_PREFIX
from hermes_bot.store import questions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from hermes_bot.commands import Commands
    from hermes_bot.dispatch import Dispatcher
    from hermes_bot.inbox import Inbox
    from hermes_bot.messages import Incoming, Press, ThreadKey
    from hermes_bot.outbox import Outbox
    from hermes_bot.ports import Clock
    from hermes_bot.runs import Runs
    from hermes_bot.store.database import Database
    from hermes_bot.store.inbox import Stored

EXPIRED = "That question was already answered or has expired. Nothing was changed."
LATE = (
    "I was away when you wrote, over an hour ago, so I did not act on it. Say it again if it still matters."
)


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


class Reception:
    """Takes messages from adapters, stores them and hands them on.

    Attributes:
        is_open: whether messages are taken; closed when the program stops.
        on_over: called with the thread and id of a run that was ended from here.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self.is_open = True
        self.on_over: Callable[[ThreadKey, str], None] | None = None

    async def accept(self, incoming: Incoming) -> Reply | None:
        """Take a message: stored, then routed. Returns once it is safe.

        Raises:
            HermesError: it was not stored; the platform must deliver it again.
        """
        if not self.is_open:
            raise HermesError("The bot is stopping; this message was not taken.")
        if incoming.kind in ("edit", "delete"):
            await self._change(incoming)
            return None
        accepted = await self._rooms.inbox.accept(incoming)
        return None if accepted is None else await self._handle(accepted)

    async def answer(self, question: str, text: str, said: Incoming, inbox_id: int = 0) -> bool:
        """Settle a question and let its run go on; False where it was not open any more."""
        settled = await self._rooms.runs.answer(question, text, said, inbox_id)
        self._rooms.outbox.wake()
        if settled is None:
            return False
        if settled.goes_on:
            self._rooms.dispatcher.submit(settled.thread, Job(run=settled.run))
        else:
            self._over(settled.thread, settled.run)
        return True

    async def continue_run(self, run: str, user: str) -> str | None:
        """Go on from a stopped run; None where that was done already."""
        new = await self._rooms.runs.continue_run(run, user)
        if new is not None:
            view = await self._rooms.runs.view(new)
            self._rooms.dispatcher.submit(view.record.thread, Job(run=new))
        return new

    async def recover(self) -> None:
        """Go on with what the last process left: its runs first, then the messages it had not begun."""
        for thread, run in await self._rooms.runs.recover():
            self._rooms.dispatcher.submit(thread, Job(run=run))
        told: set[ThreadKey] = set()
        for stored in await self._rooms.inbox.pending():
            said = stored.incoming
            if self._rooms.clock.now() - said.sent_at <= STALE_AFTER:
                await self._again(stored)
                continue
            await self._rooms.inbox.finish(stored.id)
            if said.thread not in told:
                told.add(said.thread)
                await self.notice(said.thread, f"late-{stored.id}", LATE)

    async def notice(self, thread: ThreadKey, key: str, text: str) -> None:
        """Post a line of the program's own; the same key is posted once."""

        def store(db: sqlite3.Connection) -> None:
            post(db, Outgoing(f"notice/{key}", thread, text, kind="notice"), "", self._rooms.clock.now())

        await self._rooms.db.transact("notice", store)
        self._rooms.outbox.wake()

    async def _again(self, stored: Stored) -> None:
        number, said = stored.id, stored.incoming
        asked = await self._rooms.db.read(lambda db: questions.open_of_thread(db, said.thread))
        known = [one for one in asked if one.created_at <= stored.at]  # a later one it cannot be an answer to
        reply = await self._handle(Accepted(number, said, known[-1] if known else None, (said.user,)))
        if reply is not None:  # whoever asked is gone meanwhile, so it is posted
            await self.notice(said.thread, f"reply-{number}", reply.text)

    async def _handle(self, accepted: Accepted) -> Reply | None:
        said = accepted.incoming
        match route(said, View(accepted.question, accepted.participants)):
            case Task(request):
                self._submit(accepted.id, replace(said, request=request))
                return None
            case Command("run", args) if args:
                return await self._run_skill(accepted, args)
            case Answer(question, text) if await self.answer(question, text, said, accepted.id):
                return None
            case routed:
                reply = await self._reply(routed, accepted)
                await self._rooms.inbox.finish(accepted.id)
                return reply

    async def _reply(self, routed: Route, accepted: Accepted) -> Reply | None:
        commands, said = self._rooms.commands, accepted.incoming
        match routed:
            case Command("stop"):
                text = await self._stop(said)
            case Command(verb, args):
                text = await commands.answer(verb, args, said.thread)
            case UnknownCommand(verb, nearest):
                text = commands.unknown(verb, nearest)
            case NoAnswer(_, say):
                text = say
            case Answer():
                text = EXPIRED
            case Pressed(press):
                text = await self._pressed(press, accepted)
            case _:
                text = ""
        return Reply(text) if text else None

    def _submit(self, number: int, said: Incoming) -> None:
        job = Job(inbox=(number,), messages=(said,), received=self._rooms.clock.monotonic())
        self._rooms.dispatcher.submit(said.thread, job)

    async def _run_skill(self, accepted: Accepted, args: tuple[str, ...]) -> Reply | None:
        if refusal := self._rooms.commands.unknown_skill(args[0]):
            await self._rooms.inbox.finish(accepted.id)
            return Reply(refusal)
        params = dict(pair.split("=", 1) for pair in args[1:] if "=" in pair)
        request = Request(skill=args[0], params=params)
        self._submit(accepted.id, replace(accepted.incoming, request=request, complete=True))
        return None

    async def _pressed(self, press: Press, accepted: Accepted) -> str:
        said = accepted.incoming
        if press.question.startswith(CONTINUE_PREFIX):
            run = press.question.removeprefix(CONTINUE_PREFIX)
            going = await self.continue_run(run, said.user)
            return "" if going else "That run was continued already, or is not stopped."
        asked = await self._rooms.db.read(lambda db: questions.get(db, press.question))
        if asked is None or asked.thread != said.thread:
            return EXPIRED
        if not 0 <= press.option < len(asked.question.options):
            return EXPIRED
        is_taken = await self.answer(press.question, asked.question.options[press.option], said, accepted.id)
        return "" if is_taken else EXPIRED

    async def _stop(self, said: Incoming) -> str:
        stopped = await self._rooms.runs.stop(said.thread, said.user)
        self._rooms.dispatcher.cancel(said.thread)
        self._rooms.outbox.wake()
        for run in stopped:
            self._over(said.thread, run)
        return "" if stopped else "Nothing is running in this thread."

    async def _change(self, incoming: Incoming) -> None:
        changed = await self._rooms.inbox.change(incoming)
        if changed is None:
            return
        if incoming.kind == "delete":
            self._rooms.dispatcher.withdraw(changed.incoming.thread, changed.id)
        else:
            self._rooms.dispatcher.replace(changed.incoming.thread, changed.id, changed.incoming)

    def _over(self, thread: ThreadKey, run: str) -> None:
        if self.on_over is not None:
            self.on_over(thread, run)
