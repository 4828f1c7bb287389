"""Knows what is outside the program that gets killed: a platform, and the things that tools change.

A server on loopback in the test's process. It delivers each message until it is acknowledged, shows posts,
counts what tools really did, and keeps all of it in one ledger that is only ever appended to. People who are
asked a question answer it, once. One JSON object a line, one request a connection, but for ``listen``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

Line = dict[str, Any]


@dataclass
class Ledger:
    """What happened in the world, in order.

    Attributes:
        tasks: messages that want an answer, as they were sent.
        answered: texts with which questions were answered, by question post's key.
        ran: what tools really did: ``tool``, ``word``, ``key`` (empty for a read).
        asked: model requests: ``label`` of the task and ``round``.
        placed: how many empty posts were placed; one that nothing was edited into is nothing people read.
    """

    tasks: list[Line] = field(default_factory=list)
    posts: list[Line] = field(default_factory=list)
    ran: list[Line] = field(default_factory=list)
    asked: list[Line] = field(default_factory=list)
    answered: dict[str, str] = field(default_factory=dict)
    placed: int = 0
    kills: int = 0

    def answers_to(self, message: str) -> list[Line]:
        """Return the posts that end the run of a message."""
        return [
            post
            for post in self.posts
            if post["reply_to"] == message and post["kind"] in ("answer", "report")
        ]


class Outside:
    """The world's server.

    Args:
        seed: decides which messages the platform delivers twice, and how people answer.

    Attributes:
        changed: set by whatever happens.
        left: how many firings and posts of reports the program said last that it has not settled; None
            before it said so, and whenever it has posted since.
        ahead: so much later than the machine says it is.
        presses: how many of the questions with options are answered by a button, from 0 to 1.
    """

    def __init__(self, seed: int) -> None:
        self.ledger = Ledger()
        self.changed = asyncio.Event()
        self.ahead = timedelta()
        self.left: int | None = None
        self.port = 0
        self.presses = 0.7
        self._random = random.Random(seed)
        self._waiting: dict[str, Line] = {}  # not acknowledged yet, in the order they were sent
        self._again: list[Line] = []
        self._numbers = Counter[str]()
        self._listeners: set[asyncio.Queue[Line]] = set()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    def say(self, thread: str, kind: str) -> Line:
        """Let a person give the bot a task in a thread (``channel/thread``)."""
        label = f"{kind}-{self._next('task')}"
        message = self._message(thread, text=f"errand {kind} {label}")
        self.ledger.tasks.append({**message, "label": label, "task": kind})
        self._send(message)
        return message

    def is_done(self) -> bool:
        """Whether every task was answered and every message taken."""
        return not self._waiting and all(map(self._is_answered, self.ledger.tasks))

    def is_done_in(self, thread: str) -> bool:
        """Whether every task of a thread was answered."""
        place = f"outside/T1/{thread}"
        return all(self._is_answered(task) for task in self.ledger.tasks if task["thread"] == place)

    def _is_answered(self, task: Line) -> bool:
        return bool(self.ledger.answers_to(task["message_id"]))

    def _message(self, thread: str, **fields: Any) -> Line:
        number = self._next("message")
        return {
            "event_id": f"e{number}",
            "message_id": f"m{number}",
            "thread": f"outside/T1/{thread}",
            "user": "outside:T1:ann",
            "user_name": "ann",
            "text": "",
            "sent_at": (datetime.now(UTC) + self.ahead).isoformat(),
            **fields,
        }

    def _next(self, what: str) -> int:
        self._numbers[what] += 1
        return self._numbers[what]

    def _send(self, message: Line) -> None:
        self._waiting[message["event_id"]] = message
        for listener in self._listeners:
            listener.put_nowait(message)
        self.changed.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with contextlib.suppress(ConnectionError):  # the other side is killed at any time
            while line := await reader.readline():
                asked = json.loads(line)
                if asked["op"] == "listen":
                    await self._deliver(reader, writer)
                else:
                    writer.write(_encoded(getattr(self, f"_op_{asked['op']}")(asked)))
                    self.changed.set()
        self._writers.discard(writer)
        writer.close()

    async def _deliver(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Deliver what was not acknowledged, some old messages again, and all that comes."""
        queue: asyncio.Queue[Line] = asyncio.Queue()
        again, self._again = self._again, []
        for message in (*again, *self._waiting.values()):
            queue.put_nowait(message)
        with self._listening(queue):
            gone = asyncio.ensure_future(reader.read())
            while not gone.done():
                more = asyncio.ensure_future(queue.get())
                await asyncio.wait((gone, more), return_when=asyncio.FIRST_COMPLETED)
                if more.done():
                    writer.write(_encoded(more.result()))
                more.cancel()
            gone.cancel()

    @contextlib.contextmanager
    def _listening(self, queue: asyncio.Queue[Line]) -> Iterator[None]:
        self._listeners.add(queue)
        try:
            yield
        finally:
            self._listeners.discard(queue)

    def _op_ack(self, asked: Line) -> Line:
        message = self._waiting.pop(asked["event_id"], None)
        if message is not None and self._random.random() < 0.3:
            self._again.append(message)
        return {}

    def _op_post(self, asked: Line) -> Line:
        self._show(f"p{len(self.ledger.posts) + 1}", asked)
        return {"id": f"p{len(self.ledger.posts)}"}

    def _op_place(self, asked: Line) -> Line:
        """Show something short, that a post will be edited into."""
        del asked
        self.ledger.placed += 1
        return {"id": f"d{self.ledger.placed}"}

    def _op_edit(self, asked: Line) -> Line:
        """Let a text take the place of what stands there; doing it again changes nothing."""
        shown = next((post for post in self.ledger.posts if post["id"] == asked["id"]), None)
        if shown is None:
            self._show(asked["id"], asked)
        else:
            shown["text"] = asked["text"]
        return {}

    def _show(self, posted: str, asked: Line) -> None:
        names = ("key", "thread", "text", "kind", "reply_to", "buttons")
        post = {"id": posted, **{name: asked[name] for name in names}}
        self.ledger.posts.append(post)
        self.left = None
        if post["kind"] == "question" and post["key"] not in self.ledger.answered:
            self._answer(post)

    def _answer(self, post: Line) -> None:
        channel, _, thread = post["thread"].removeprefix("outside/T1/").partition("/")
        thread = f"{channel}/{post['id'] if thread.startswith('new:') else thread}"  # a post opens its thread
        buttons = post["buttons"]
        word = f"word{self._next('word')}"
        if buttons:
            question, option, word = buttons[self._random.randrange(len(buttons))]
        self.ledger.answered[post["key"]] = word
        if buttons and self._random.random() < self.presses:
            self._send(self._message(thread, press=[question, option]))
        else:
            self._send(self._message(thread, text=word))

    def _op_find(self, asked: Line) -> Line:
        found = (post["id"] for post in self.ledger.posts if post["key"] == asked["key"])
        return {"id": next(found, None)}

    def _op_ran(self, asked: Line) -> Line:
        self.ledger.ran.append({name: asked[name] for name in ("tool", "word", "key")})
        return {"count": len(self.ledger.ran)}

    def _op_left(self, asked: Line) -> Line:
        self.left = asked["count"]
        return {}

    def _op_did(self, asked: Line) -> Line:
        return {"did": any(one["key"] == asked["key"] for one in self.ledger.ran)}


def _encoded(line: Line) -> bytes:
    return json.dumps(line).encode() + b"\n"
