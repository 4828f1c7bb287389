"""Knows the platform of an evaluation: one thread in memory, and the person who speaks there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from hermes_bot.messages import Incoming, Request, ThreadKey
from hermes_bot.ports import Plain

if TYPE_CHECKING:
    from hermes_bot.evaluation.clock import FastClock
    from hermes_bot.evaluation.tasks import Task
    from hermes_bot.messages import Outgoing
    from hermes_bot.ports import Accept

NAME = "eval"
PROFILE = "eval"
THREAD = ThreadKey(NAME, "T1", "C1", "1")
NOTICED = 10.0
NEVER_ANSWERED = 4 * 86_400.0  # seconds: a question waits for three days
USER = "eval:T1:U1"


@dataclass
class Place(Plain):
    """Implements ``ports.Adapter``: it asks for the task, answers questions, and waits for the last post.

    Attributes:
        asked: the questions that came.
        last: the post that ended the run.
    """

    name: ClassVar[str] = NAME

    task: Task
    clock: FastClock
    asked: list[str] = field(default_factory=list)
    last: asyncio.Future[Outgoing] = field(default_factory=asyncio.Future)
    _questions: asyncio.Queue[Outgoing] = field(default_factory=asyncio.Queue)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    async def run(self, accept: Accept) -> None:
        """Say the task, then answer what is asked."""
        await accept(self._said(self.task.task, request=Request(profile=PROFILE)))
        while True:
            question = await self._questions.get()
            said = self._answer(question)
            if said is not None:
                await accept(said)
                continue
            while not self.last.done():  # days pass; a question's time begins when its post is confirmed
                await self.clock.sleep(NOTICED)
                self.clock.skip(NEVER_ANSWERED)

    async def post(self, message: Outgoing) -> str:
        """Take a post."""
        if message.kind == "question":
            self.asked.append(message.text)
            self._questions.put_nowait(message)
        elif message.key.endswith("/answer") and not self.last.done():
            self.last.set_result(message)
        return f"id-{message.key}"

    async def edit(self, posted: str, message: Outgoing) -> None:
        """Take a changed post: cards that are over."""

    async def find(self, message: Outgoing) -> str | None:
        """Return nothing: no post is ever lost here."""

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        """Show no status line: nobody watches."""

    def _answer(self, question: Outgoing) -> Incoming | None:
        known = next((one for one in self.task.people if one.to.lower() in question.text.lower()), None)
        said = known.says if known is not None else _usual(question)
        if not said:
            return None
        for button in question.buttons:
            if button.label.casefold() == said.casefold():
                return self._said("", kind="press", press=button.press)
        return self._said(said, addressed=False)

    def _said(self, text: str, **fields: Any) -> Incoming:
        event = f"e{next(self._numbers)}"
        return Incoming(
            event_id=event,
            thread=THREAD,
            user=USER,
            text=text,
            sent_at=self.clock.now(),
            message_id=event,
            user_name="Kim",
            complete=True,
            **fields,
        )


def _usual(question: Outgoing) -> str:
    """Return what a person says who has nothing particular to say: no fresh budget, else the first choice."""
    labels = [button.label for button in question.buttons]
    return "Stop" if "Stop" in labels else (labels[0] if labels else "I do not know either.")
