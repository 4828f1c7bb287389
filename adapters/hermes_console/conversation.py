"""Knows a terminal's conversation: what a typed line means, which posts were shown, what can be chosen."""

from __future__ import annotations

import asyncio
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hermes_console.wire import thread_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    OnEvent = Callable[[Mapping[str, Any]], None]

HISTORY_LINES = 50
LOCAL = {
    "/thread": "list the threads; with a name go to one, or begin it",
    "/history": "show this thread from its beginning",
    "/help": "what can be typed here, and what the bot can do",
    "/quit": "leave; so does Ctrl-D",
}

# Posts quote logs, and a log may hold what moves a cursor or renames a window: only tab and newline pass.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # the last turn text


class Client(Protocol):
    """Whoever carries operations to the bot."""

    async def call(
        self, op: str, args: Mapping[str, Any] | None = None, on_event: OnEvent | None = None
    ) -> Mapping[str, Any]:
        """Ask for one operation; events come while it lasts."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the conversation as it is shown."""

    name: str
    text: str
    from_bot: bool = True
    choices: tuple[str, ...] = ()
    is_new: bool = True


class Screen(Protocol):
    """Whoever shows it: a terminal, or a plain stream."""

    def show(self, line: Line) -> None:
        """Show what somebody said."""
        ...

    def note(self, text: str) -> None:
        """Show a word of the terminal's own."""
        ...

    def set_status(self, text: str) -> None:
        """Show what the bot does right now; empty when it does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """What a typed number presses."""

    label: str
    question: str
    option: int


class Conversation:
    """One terminal in one thread at a time.

    Attributes:
        thread: the thread's name.
        status: what the bot does in it right now.
        bot: the bot's name.
    """

    def __init__(self, client: Client, screen: Screen, *, thread: str = "main", bot: str = "hermes") -> None:
        self.thread = thread
        self.status = ""
        self.bot = bot
        self._client = client
        self._screen = screen
        self._shown: set[str] = set()
        self._choices: tuple[Choice, ...] = ()
        self._offered_by = ""  # the post whose choices they are
        self._awaited = 0
        self._settled = asyncio.Event()
        self._moved = asyncio.Event()
        self.attached = asyncio.Event()

    async def follow(self) -> None:
        """Show what is posted in the thread of the moment, until cancelled or the bot goes away."""
        while True:
            self._moved.clear()
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(self._watch())
                await self._moved.wait()
                watch.cancel()

    async def enter(self, text: str) -> bool:
        """Act on a typed line; False where the person wants to leave."""
        text = text.strip()
        match text.split(maxsplit=1):
            case []:
                pass
            case ["/quit" | "/exit"]:
                return False
            case ["/thread"]:
                await self._list_threads()
            case ["/thread", name]:
                await self._move(name.strip())
            case ["/history"]:
                await self._draw(everything=True)
            case ["/help"]:
                self._screen.note("\n".join(f"{name:8}  {what}" for name, what in LOCAL.items()))
                await self.say("/help")
            case _:
                if not await self._press(text):
                    await self.say(text)
        return True

    async def say(self, text: str) -> None:
        """Say something to the bot in this thread."""
        # Awaited before it is sent: the answer may be posted before the acknowledgement is here.
        self._await_post()
        event_id = f"said-{secrets.token_hex(8)}"
        self._shown.add(event_id)  # the person saw it as it was typed
        said = {"thread": self.thread, "text": text, "event_id": event_id}
        self._take(await self._client.call("console.say", said))

    async def settled(self) -> None:
        """Return once what was said is answered, asked about, or needed nothing."""
        if self._awaited:
            await self._settled.wait()

    async def _press(self, text: str) -> bool:
        if not text.isascii() or not text.isdigit() or not 1 <= int(text[:4]) <= len(self._choices):
            return False
        choice = self._choices[int(text) - 1]
        pressed = {"thread": self.thread, "question": choice.question, "option": choice.option}
        self._await_post()
        self._take(await self._client.call("console.press", pressed))
        return True

    def _await_post(self) -> None:
        self._awaited += 1
        self._settled.clear()

    def _take(self, answer: Mapping[str, Any]) -> None:
        """Show an immediate reply; without one the bot went to work, and old choices are over."""
        if reply := answer.get("reply"):
            self._awaited = max(0, self._awaited - 1)
            if not self._awaited:
                self._settled.set()
            self._screen.show(Line(self.bot, clean(reply)))
        else:
            self._choices = ()

    async def _move(self, name: str) -> None:
        self.thread = name
        self._shown.clear()
        self._choices = ()
        self._awaited = 0
        self._settled.set()
        self.attached.clear()
        self._moved.set()
        await self.attached.wait()

    async def _list_threads(self) -> None:
        found = (await self._client.call("threads.list", {"limit": 200}))["threads"]
        when = {it["thread"]: _when(it) for it in found if it["channel"] == thread_key("").channel}
        when.setdefault(self.thread, "new")
        lines = [f"{'*' if name == self.thread else ' '} {name}  {at}" for name, at in when.items()]
        self._screen.note(clean("\n".join(lines)))

    async def _watch(self) -> None:
        events: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._attach(events))
            while True:
                await self._on_event(await events.get())

    async def _attach(self, events: asyncio.Queue[Mapping[str, Any]]) -> None:
        while True:  # it returns only where this terminal fell too far behind
            await self._client.call("console.attach", {"thread": self.thread}, events.put_nowait)

    async def _on_event(self, event: Mapping[str, Any]) -> None:
        match event:
            case {"type": "attached"}:
                await self._draw(everything=False)
                self.attached.set()
            case {"type": "status", "text": str(text)}:
                self.status = clean(text)
                self._screen.set_status(self.status)
            case {"type": "post" | "edit" as how, "id": str(key)} if how == "edit" or key not in self._shown:
                self._shown.add(key)
                self._show_post(event)
            case _:
                pass

    def _show_post(self, event: Mapping[str, Any]) -> None:
        choices = tuple(Choice(it["label"], it["question"], it["option"]) for it in event["buttons"])
        if (
            event["type"] == "edit"
        ):  # an answered question's card, say: the word to what was said comes after it
            if event["id"] == self._offered_by:
                self._choices = choices
        elif choices or event["kind"] != "notice":
            self._choices, self._offered_by = choices, event["id"]
        if event["type"] == "post" and event["kind"] != "notice":
            self._awaited = 0
            self._settled.set()
        files = "".join(f"\n\nFile: {it['path']}" for it in event["files"])
        self._screen.show(Line(self.bot, clean(event["text"] + files), choices=_labels(choices)))

    async def _draw(self, *, everything: bool) -> None:
        """Show the stored history, and the choices of a question that is still open."""
        asked = {"thread": self.thread, "limit": HISTORY_LINES}
        history = await self._client.call("threads.history", asked)
        lines: Sequence[Mapping[str, Any]] = history["lines"]
        question = history.get("question") or {}
        self._choices = tuple(
            Choice(label, question["id"], number) for number, label in enumerate(question.get("options", ()))
        )
        self._offered_by = next((line["key"] for line in reversed(lines) if line["from_bot"]), "")
        labels, unseen_from = _labels(self._choices), _tail_start(lines)
        for at, line in enumerate(lines):
            if line["key"] in self._shown and not everything:
                continue
            self._shown |= {line["key"]} - {""}
            name = self.bot if line["from_bot"] else line["name"]
            text, choices = clean(line["text"]), labels if line["from_bot"] and line is lines[-1] else ()
            self._screen.show(Line(name, text, line["from_bot"], choices, is_new=at >= unseen_from))
        if labels and lines and not lines[-1]["from_bot"]:
            self._screen.show(Line(self.bot, clean(question["text"]), choices=labels))


def clean(text: str) -> str:
    """Return a text without what a terminal would act on instead of show."""
    return _CONTROL.sub("", text)


def _labels(choices: Sequence[Choice]) -> tuple[str, ...]:
    return tuple(clean(choice.label) for choice in choices)


def _tail_start(lines: Sequence[Mapping[str, Any]]) -> int:
    """Return where a person's last word ends: what follows may not have been seen yet."""
    return max((at + 1 for at, line in enumerate(lines) if not line["from_bot"]), default=0)


def _when(thread: Mapping[str, Any]) -> str:
    return str(thread["last_at"])[:16].replace("T", " ")
